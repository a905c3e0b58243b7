//! What a tool may ask of the server: the current session's engine, its run control, kept output.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::{BoxFuture, Link, Outcome};
use crate::generated::{Call, Reply};
use crate::output::OutputStore;

use super::ToolError;

/// The server's side of a tool call.
pub trait Host: Send + Sync + 'static {
    /// The link of the current session; opens it where the server was told to, else says `not_connected`.
    fn link(&self) -> BoxFuture<'_, Result<Arc<dyn Link>, ToolError>>;

    /// The sessions of the server.
    fn sessions(&self) -> &dyn Sessions;

    /// Output that did not fit in a page.
    fn outputs(&self) -> &OutputStore;
}

/// How a session is connected to what it debugs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// The library alone, connected to nothing.
    Offline,
    /// This machine.
    Local,
    /// A debuggee in debugger mode, halted.
    DebuggerPipe {
        /// Name of the pipe that is the debuggee's serial port.
        pipe: String,
    },
    /// A debuggee in debugger mode, halted.
    DebuggerSerial {
        /// `COM1` to `COM4`.
        port: String,
        /// Baud rate of both ends.
        baud: u32,
    },
    /// Another HyperDbg that listens on TCP.
    Remote {
        /// IPv4 address.
        address: String,
        /// TCP port.
        port: u16,
    },
}

impl Connection {
    /// The mode's name, as `hd_session_open` and `--open` take it.
    pub fn mode(&self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Local => "local",
            Self::DebuggerPipe { .. } | Self::DebuggerSerial { .. } => "debugger",
            Self::Remote { .. } => "remote",
        }
    }

    /// Whether the target can be halted and its registers read.
    pub fn is_debugger(&self) -> bool {
        self.mode() == "debugger"
    }
}

/// A worker process and what it is doing, known without asking it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkerState {
    /// The process is there.
    pub alive: bool,
    /// Its process id.
    pub pid: Option<u32>,
    /// The export being called, and for how long.
    pub in_flight: Option<(&'static str, Duration)>,
    /// Exports that the loaded library lacks.
    pub missing: Vec<&'static str>,
}

/// A session's worker: carries calls, and can be resumed, interrupted and ended beside them.
pub trait Target: Link {
    /// What the worker is doing; never waits.
    fn state(&self) -> WorkerState;

    /// Starts a call that returns at the target's next stop. A second one while the first is pending is refused.
    fn resume(&self, call: Call) -> BoxFuture<'_, Result<(), ToolError>>;

    /// Whether a resumed call has not been collected yet.
    fn is_resumed(&self) -> bool;

    /// Waits for the resumed call's end; `None` when the target still runs after `timeout`. Each stop is delivered
    /// once.
    fn wait(&self, timeout: Duration) -> BoxFuture<'_, Result<Option<Outcome<Reply>>, ToolError>>;

    /// Asks the running target to halt, by the console path that the library listens to.
    fn interrupt(&self) -> BoxFuture<'_, Result<(), ToolError>>;

    /// Ends the worker.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// The current session, for those who need more than its engine.
#[derive(Clone)]
pub struct Current {
    /// Its worker.
    pub target: Arc<dyn Target>,
    /// How it is connected.
    pub connection: Connection,
}

/// The sessions of a server.
pub trait Sessions: Send + Sync {
    /// Brings up a worker and connects it. Refused while another session is open.
    fn open(&self, connection: Connection) -> BoxFuture<'_, Result<(Current, Vec<u8>), ToolError>>;

    /// The current session; opens one where the server was told to.
    fn current(&self) -> BoxFuture<'_, Result<Current, ToolError>>;

    /// The session that is open now, if one is; never opens or waits.
    fn peek(&self) -> Option<Current>;

    /// Takes the current session out and ends its worker.
    fn close(&self) -> BoxFuture<'_, Option<Current>>;

    /// What `--library` or `--simulator` names, for people.
    fn library(&self) -> String;

    /// How the session opens by itself, where it does.
    fn opens_by_itself(&self) -> Option<Connection>;
}
