//! What a tool may ask of the server: the current session's engine, its run control, kept output.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::{BoxFuture, Link, Outcome};
use crate::generated::{Call, Reply};
use crate::output::OutputStore;
use crate::policy::Cleared;

use super::ToolError;

/// The server's side of a tool call.
pub trait Host: Send + Sync + 'static {
    /// The link of the current session; opens it where the server was told to, else says `not_connected`.
    fn link(&self) -> BoxFuture<'_, Result<Arc<dyn Link>, ToolError>>;

    /// The sessions of the server.
    fn sessions(&self) -> &dyn Sessions;

    /// Output that did not fit in a page.
    fn outputs(&self) -> &OutputStore;

    /// The text of this call that was classified and may be sent; none where the tool takes no such text.
    fn cleared(&self) -> Option<&Cleared> {
        None
    }
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

/// Baud rates that HyperDbg accepts.
const BAUD_RATES: [u32; 15] = [
    110, 300, 600, 1_200, 2_400, 4_800, 9_600, 14_400, 19_200, 38_400, 56_000, 57_600, 115_200, 128_000,
    256_000,
];

impl Connection {
    /// A debuggee behind a named pipe.
    pub fn pipe(name: &str) -> Result<Self, String> {
        let plain = name.bytes().all(|byte| (0x21..0x7f).contains(&byte));
        if name.is_empty() || name.len() > 256 || !plain {
            return Err(format!(
                r"`{}` is no pipe name: write it like \\.\pipe\name",
                super::arguments::echo(name)
            ));
        }
        Ok(Self::DebuggerPipe {
            pipe: name.to_owned(),
        })
    }

    /// A debuggee behind a serial port.
    pub fn serial(port: &str, baud: u32) -> Result<Self, String> {
        let port = port.to_ascii_uppercase();
        if !["COM1", "COM2", "COM3", "COM4"].contains(&port.as_str()) {
            return Err("the serial port is COM1, COM2, COM3 or COM4".to_owned());
        }
        if !BAUD_RATES.contains(&baud) {
            let rates: Vec<String> = BAUD_RATES.iter().map(u32::to_string).collect();
            return Err(format!(
                "{baud} is no baud rate that HyperDbg accepts: {}",
                rates.join(", ")
            ));
        }
        Ok(Self::DebuggerSerial { port, baud })
    }

    /// Another HyperDbg that listens.
    pub fn remote(address: &str, port: u16) -> Result<Self, String> {
        if address.parse::<std::net::Ipv4Addr>().is_err() {
            return Err(format!(
                "`{}` is no IPv4 address; HyperDbg takes no names",
                super::arguments::echo(address)
            ));
        }
        if port == 0 {
            return Err("0 is no TCP port".to_owned());
        }
        Ok(Self::Remote {
            address: address.to_owned(),
            port,
        })
    }

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
    /// How it ended.
    pub ended: Option<String>,
    /// Its process id.
    pub pid: Option<u32>,
    /// The export being called, and for how long.
    pub in_flight: Option<(&'static str, Duration)>,
    /// Exports that the loaded library lacks.
    pub missing: Vec<String>,
}

/// How far a resume is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Nothing is pending: the target was not resumed, or its stop has been told.
    Settled,
    /// The target runs.
    Running,
    /// It stopped, and nobody has been told yet.
    StopUntold,
}

/// A session's worker: carries calls, and can be resumed, interrupted and ended beside them.
pub trait Target: Link {
    /// What the worker is doing; never waits.
    fn state(&self) -> WorkerState;

    /// Starts a call that returns at the target's next stop. A second one while the first is pending is refused.
    fn resume(&self, call: Call) -> BoxFuture<'_, Result<(), ToolError>>;

    /// How far the last resume is.
    fn run(&self) -> Run;

    /// Waits for the resumed call's end; `None` when the target still runs after `timeout`. Each stop is delivered
    /// once.
    fn wait(&self, timeout: Duration) -> BoxFuture<'_, Result<Option<Outcome<Reply>>, ToolError>>;

    /// Asks the running target to halt, by the console path that the library listens to.
    fn interrupt(&self) -> BoxFuture<'_, Result<(), ToolError>>;

    /// The worker's end, where it came by itself and nobody has been told of it; told once.
    fn untold_loss(&self) -> Option<ToolError>;

    /// Ends the worker.
    fn close(&self) -> BoxFuture<'_, ()>;

    /// Tells how the library is connected now.
    fn connected(&self, connection: &Connection);
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

    /// The end of the last session's worker, where it came by itself and nobody has been told of it; told once.
    fn untold_loss(&self) -> Option<ToolError> {
        self.last()?.target.untold_loss()
    }

    /// The session that was opened last, also when its worker has ended.
    fn last(&self) -> Option<Current>;

    /// Takes the current session out and ends its worker.
    fn close(&self) -> BoxFuture<'_, Option<Current>>;

    /// What `--library` or `--simulator` names, for people.
    fn library(&self) -> String;

    /// How the session opens by itself, where it does.
    fn opens_by_itself(&self) -> Option<Connection>;
}
