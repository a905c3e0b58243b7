//! Windows: the channel is two named pipes with random names; the worker has a console and a process group of its own,
//! and a job that ends with this process.

use std::io;
use std::path::Path;

use tokio::process::{Child, Command};
use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW};

use super::Started;
use crate::engine::confine::{self, Job, Pipe};
use crate::engine::{LibrarySource, TailReader};

pub(in crate::session) type Reader = Pipe;
pub(in crate::session) type Writer = Pipe;

/// `ERROR_INTERNAL_ERROR`: the system failed inside while it started a process, and nothing was started. Wine does that now
/// and then; a second try works.
const INTERNAL_ERROR: i32 = 1359;

/// What ends with the worker.
#[derive(Debug)]
pub(in crate::session) struct Family(Job);

pub(super) async fn start(mut command: Command, _library: &LibrarySource) -> io::Result<Started> {
    let name = format!(r"\\.\pipe\{}", confine::random_name()?);
    let (requests, answers) = (format!("{name}-requests"), format!("{name}-answers"));
    let writer = confine::create_pipe(&requests, true)?;
    let reader = confine::create_pipe(&answers, false)?;
    command
        .arg("--requests")
        .arg(&requests)
        .arg("--answers")
        .arg(&answers);
    let (tail, key) = TailReader::create()?;
    if let Some(key) = key {
        command.arg("--tail").arg(key);
    }
    // Relative names that reach the worker must not mean files beside whatever project the client was started in.
    let program = Path::new(command.as_std().get_program());
    if let Some(folder) = program.parent().filter(|folder| folder.is_absolute()) {
        let folder = folder.to_owned();
        command.current_dir(folder);
    }
    // A console, because break requests are console events, but no window.
    command.creation_flags(CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP);
    confine::keep_standard_handles();
    let job = Job::new()?;
    let mut child = match command.spawn() {
        Err(error) if error.raw_os_error() == Some(INTERNAL_ERROR) => command.spawn()?,
        spawned => spawned?,
    };
    // Until the pipes are connected the worker starts nothing. One that is gone already is noticed below.
    if let Some(process) = child.raw_handle()
        && let Err(error) = job.add(process)
        && !matches!(child.try_wait(), Ok(Some(_)))
    {
        return Err(error);
    }
    tokio::select! {
        connected = async { tokio::try_join!(writer.connect(), reader.connect()) } => { connected?; }
        status = child.wait() => {
            return Err(io::Error::other(format!("the worker ended before it connected ({})", status?)));
        }
    }
    for pipe in [&writer, &reader] {
        let client = confine::client_pid(pipe)?;
        if Some(client) != child.id() {
            return Err(io::Error::other(format!(
                "process {client} took the place of the worker"
            )));
        }
    }
    Ok(Started {
        child,
        reader,
        writer,
        tail,
        family: Family(job),
    })
}

/// Kills the worker and whatever it started.
pub(in crate::session) fn kill(child: &mut Child, family: &Family) {
    let _ = family.0.kill();
    let _ = child.start_kill();
}
