//! Starting a worker with its channel. Each system's file prepares and connects the channel in its own way.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(super) use system::{Family, Reader, Writer, kill};

use std::io;
use std::process::Stdio;

use tokio::process::{Child, Command};

use super::config::SessionConfig;
use crate::engine::TailReader;

/// A worker that runs, and the supervisor's ends of what connects them.
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) reader: Reader,
    pub(super) writer: Writer,
    pub(super) tail: TailReader,
    /// To be kept as long as the worker.
    pub(super) family: Family,
}

/// Starts the worker and connects its channel.
pub(super) async fn start(config: &SessionConfig) -> io::Result<Started> {
    let mut command = Command::new(&config.worker.program);
    command
        .args(&config.worker.arguments)
        .envs(config.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    system::start(command, &config.library).await
}
