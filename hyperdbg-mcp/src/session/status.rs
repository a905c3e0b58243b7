//! A session as the supervisor sees it: answered without asking the worker, so always and at once.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::LibrarySource;
use crate::sdk::Compatibility;

/// How the library is connected to what it debugs; told by the code that connected it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The library alone.
    Offline,
    /// This machine, through its driver.
    Local,
    /// The kernel of another machine, over serial.
    Debugger,
    /// Another machine's HyperDbg, over TCP.
    Remote,
}

/// What the target does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It runs until its next stop.
    Running,
    /// It is halted.
    Paused,
    /// Nothing tells.
    Unknown,
    /// There is nothing that could be halted.
    NotApplicable,
}

impl RunState {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Unknown => "unknown",
            Self::NotApplicable => "not_applicable",
        }
    }
}

/// A run state and how it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Observed {
    /// What the target does.
    pub state: RunState,
    /// How that is known.
    pub by: &'static str,
}

/// A call in the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct InFlight {
    /// Exported symbol.
    pub function: &'static str,
    /// Milliseconds since it was sent.
    pub age_ms: u64,
    /// Whether it is a resume, which ends at the target's next stop.
    pub resume: bool,
    /// Whether it was told to break off.
    pub interrupted: bool,
}

/// Everything known of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// Where the functions come from.
    pub library: LibrarySource,
    /// Whether the library says of itself that it is the simulator.
    pub simulator: bool,
    /// Exports that the catalog knows and the library lacks.
    pub missing_exports: Vec<String>,
    /// How the library fits this program, once it is open.
    pub compatibility: Option<Compatibility>,
    /// The driver beside the library: its path as the library was told it, or why it was not.
    pub driver: Option<String>,
    /// Process id of the worker.
    pub worker_pid: u32,
    /// Whether the worker lives.
    pub alive: bool,
    /// How the worker ended.
    pub ended: Option<String>,
    /// Milliseconds since the session began to open.
    pub age_ms: u64,
    /// The call that is being made.
    pub in_flight: Option<InFlight>,
    /// How the library is connected, where that was told.
    pub mode: Option<Mode>,
    /// What the target does.
    pub run_state: Observed,
    /// Whether the target stopped and nobody has read it yet.
    pub unread_stop: bool,
    /// Calls that were sent.
    pub calls: u64,
    /// The last failure of a call that was the engine's, not HyperDbg's.
    pub last_error: Option<String>,
    /// Number of the newest event record.
    pub events: u64,
    /// Bytes that the worker wrote to stdout and stderr, past the callback.
    pub stray_bytes: u64,
}

/// Whole milliseconds.
pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
