//! Windows: the channel is two named pipes with random names, the worker has a hidden console and process group.

use std::io;

use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
use tokio::process::{Child, Command};
use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW};

use super::Started;
use crate::engine::{LibrarySource, TailReader};

pub(in crate::session) type Reader = NamedPipeServer;
pub(in crate::session) type Writer = NamedPipeServer;

pub(super) async fn start(mut command: Command, _library: &LibrarySource) -> io::Result<Started> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let name = format!(r"\\.\pipe\hyperdbg-mcp-{:032x}", u128::from_ne_bytes(random));
    let (requests, answers) = (format!("{name}-requests"), format!("{name}-answers"));
    let pipe = |outbound: bool, name: &str| {
        ServerOptions::new()
            .access_outbound(outbound)
            .access_inbound(!outbound)
            .first_pipe_instance(true)
            .reject_remote_clients(true)
            .max_instances(1)
            .create(name)
    };
    let writer = pipe(true, &requests)?;
    let reader = pipe(false, &answers)?;
    command
        .arg("--requests")
        .arg(&requests)
        .arg("--answers")
        .arg(&answers)
        .creation_flags(CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP);
    let mut child = command.spawn()?;
    tokio::select! {
        connected = async { tokio::try_join!(writer.connect(), reader.connect()) } => { connected?; }
        status = child.wait() => {
            return Err(io::Error::other(format!("the worker ended before it connected ({})", status?)));
        }
    }
    Ok(Started {
        child,
        reader,
        writer,
        tail: TailReader::create()?.0,
    })
}

/// Kills the worker. The caller has not reaped it yet.
pub(in crate::session) fn kill(child: &mut Child) {
    let _ = child.start_kill();
}
