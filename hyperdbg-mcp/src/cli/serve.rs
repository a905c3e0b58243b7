//! Serves one client on standard input and output.

use std::io::IsTerminal;
use std::process::ExitCode;

use super::{ServeFlags, fail, launch};
use crate::server::{Ending, serve};

pub(super) async fn run(flags: ServeFlags) -> ExitCode {
    let ending = Ending::of_process();
    let handler = match launch::handler(&flags, ending, true) {
        Ok(handler) => handler,
        Err(error) => return fail(&error),
    };
    if std::io::stdin().is_terminal() {
        eprintln!(
            "hyperdbg-mcp: waiting for an MCP client on standard input (JSON-RPC, one message a line; end with {}).\n\
             It is meant to be started by a client. To look around yourself: hyperdbg-mcp demo, hyperdbg-mcp tools, \
             hyperdbg-mcp call TOOL.",
            if cfg!(windows) { "Ctrl+Z" } else { "Ctrl+D" }
        );
    }
    let manager = handler.manager().clone();
    let audit = handler.audit().clone();
    if let Some(path) = audit.path() {
        eprintln!("hyperdbg-mcp: calls are recorded in {}", path.display());
    }
    if let Some(why) = audit.broken() {
        eprintln!("hyperdbg-mcp: calls cannot be recorded: {why}. Those that change something are refused.");
    }
    let (read, write) = rmcp::transport::stdio_pipes();
    let served = tokio::select! {
        served = serve(handler, read, write) => served,
        () = stopped() => {
            manager.end().await;
            audit.close();
            Ok(())
        }
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// Done when a person or the system asks the process to end.
async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut terminate), Ok(mut hangup)) =
            (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
        {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            return;
        }
    }
    #[cfg(windows)]
    {
        use tokio::signal::windows::{ctrl_break, ctrl_close, ctrl_shutdown};
        if let (Ok(mut broken), Ok(mut closed), Ok(mut shut_down)) =
            (ctrl_break(), ctrl_close(), ctrl_shutdown())
        {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = broken.recv() => {}
                _ = closed.recv() => {}
                _ = shut_down.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
