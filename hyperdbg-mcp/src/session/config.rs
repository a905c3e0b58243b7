//! What a session is opened with.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::engine::LibrarySource;
use crate::sdk;

/// The program that becomes the worker, and the arguments that make it one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    /// Executable.
    pub program: PathBuf,
    /// Arguments before those that name the channel.
    pub arguments: Vec<OsString>,
}

impl WorkerProgram {
    /// This very program with its hidden subcommand `worker`.
    pub fn this_program() -> io::Result<Self> {
        // The link leads to the running image even after the file was replaced by another version.
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe()?
        };
        Ok(Self {
            program,
            arguments: vec!["worker".into()],
        })
    }
}

/// How a session is opened, and its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionConfig {
    /// Where the functions come from.
    pub library: LibrarySource,
    /// Where the headers of its SDK are, and what is made of them.
    pub sdk: sdk::Choice,
    /// What is started as the worker.
    pub worker: WorkerProgram,
    /// Variables that the worker gets besides the inherited ones.
    pub environment: Vec<(OsString, OsString)>,
    /// Time for starting the worker, loading the library and its first command.
    pub open_deadline: Duration,
    /// Time between breaking into a call and killing the worker.
    pub grace: Duration,
    /// Text kept of one call, at most.
    pub call_text_bytes: usize,
    /// Text kept in the event log, at most.
    pub event_bytes: usize,
    /// Text kept of what went past the callback, at most.
    pub stray_bytes: usize,
}

impl SessionConfig {
    /// The usual bounds.
    pub fn new(library: LibrarySource, worker: WorkerProgram) -> Self {
        Self {
            library,
            sdk: sdk::Choice::default(),
            worker,
            environment: Vec::new(),
            open_deadline: Duration::from_secs(20),
            grace: Duration::from_millis(1500),
            call_text_bytes: 8 << 20,
            event_bytes: 4 << 20,
            stray_bytes: 256 << 10,
        }
    }
}
