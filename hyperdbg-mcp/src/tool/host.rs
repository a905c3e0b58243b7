//! What a tool may ask of the server: the current session's engine, its run control, kept output.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::{BoxFuture, Link};
use crate::generated::Call;
use crate::output::OutputStore;
use crate::output::Untrusted;
use crate::policy::Cleared;
use crate::session::{LogPage, Observed, RunState};

use super::{Book, Delivery, Meter, ToolError};

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

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offline | Self::Local => f.write_str(self.mode()),
            Self::DebuggerPipe { pipe } => write!(f, "debugger on {pipe}"),
            Self::DebuggerSerial { port, baud } => write!(f, "debugger on {port} at {baud}"),
            Self::Remote { address, port } => write!(f, "remote at {address}:{port}"),
        }
    }
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
    /// Exports that are not called, because the library is of another SDK.
    pub disabled: Vec<String>,
    /// The driver that lies beside the library: its path as the library was told it, or why it was not.
    pub driver: Option<String>,
    /// What the target does, and how that is known.
    pub observed: Option<Observed>,
    /// The library says of itself that it is the simulator.
    pub simulator: bool,
    /// The last failure of a call that was not HyperDbg's own.
    pub last_error: Option<String>,
    /// Number of the newest record of the event log.
    pub events: u64,
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

    /// Starts a call that returns at the target's next stop, and gives its number. A second one while the first is
    /// pending is refused.
    fn resume(&self, call: Call) -> BoxFuture<'_, Result<u64, ToolError>>;

    /// Number of the last resume; 0 where there was none.
    fn last_exec(&self) -> u64;

    /// How far the last resume is.
    fn run(&self) -> Run;

    /// Waits for the resumed call's end; `None` when the target still runs after `timeout`. Each stop is delivered
    /// once.
    fn wait(&self, timeout: Duration) -> BoxFuture<'_, Result<Option<Delivery>, ToolError>>;

    /// Asks the running target to halt, by the console path that the library listens to.
    fn interrupt(&self) -> BoxFuture<'_, Result<(), ToolError>>;

    /// The worker's end, where it came by itself and nobody has been told of it; told once.
    fn untold_loss(&self) -> Option<ToolError>;

    /// At most `limit` records of the event log after number `since`, after waiting at most `wait` for one.
    fn events(&self, since: u64, limit: usize, wait: Duration) -> BoxFuture<'_, LogPage>;

    /// Counts what the library says from now on against a budget, and drops what comes after it is used up.
    fn count(&self, meter: &Arc<Meter>);

    /// Adds the server's own words to the event log.
    fn log(&self, words: &str);

    /// Ends the worker.
    fn close(&self) -> BoxFuture<'_, ()>;

    /// Tells how the library is connected now.
    fn connected(&self, connection: &Connection);
}

/// One session.
#[derive(Clone)]
pub struct Current {
    /// Its id, such as `s1`; never used again.
    pub id: Arc<str>,
    /// Its worker.
    pub target: Arc<dyn Target>,
    /// How it is connected.
    pub connection: Connection,
    /// What a person calls it.
    pub label: Option<String>,
    /// What the server knows of it.
    pub book: Arc<Book>,
}

impl Current {
    /// What the target does, and how that is known.
    pub fn observed(&self) -> Observed {
        let state = self.target.state();
        if let Some(observed) = state.observed {
            return observed;
        }
        let (state, by) = match (self.connection.is_debugger(), self.target.run()) {
            (false, _) => (RunState::NotApplicable, "a kernel is not halted in this mode"),
            (true, Run::Running) => (
                RunState::Running,
                "a call that resumes the target has not returned",
            ),
            (true, _) => (
                RunState::Paused,
                "the last call that resumes the target has returned",
            ),
        };
        Observed { state, by }
    }

    /// Id, epoch and observed run state, as results carry them.
    pub fn stamp(&self) -> String {
        let epoch = self.book.pages().epoch;
        format!("{}, epoch {epoch}, {}", self.id, self.observed().state.name())
    }
}

/// How a session is to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// How it is connected.
    pub connection: Connection,
    /// What a person calls it.
    pub label: Option<String>,
    /// Where HyperDbg looks for symbols, as `.sympath` takes it.
    pub symbol_path: Option<String>,
    /// Values that are masked wherever they would be shown.
    pub secrets: Vec<String>,
}

impl From<Connection> for Opening {
    fn from(connection: Connection) -> Self {
        Self {
            connection,
            label: None,
            symbol_path: None,
            secrets: Vec::new(),
        }
    }
}

/// The sessions of a server, seen by a call that names one of them or none: then it is the one that was opened last.
pub trait Sessions: Send + Sync {
    /// Brings up a worker and connects it. Refused while as many sessions are open as there may be.
    fn open(&self, opening: Opening) -> BoxFuture<'_, Result<(Current, Untrusted), ToolError>>;

    /// The session; opens one where the server was told to.
    fn current(&self) -> BoxFuture<'_, Result<Current, ToolError>>;

    /// The session, if it is open and its worker lives; never opens or waits.
    fn peek(&self) -> Option<Current>;

    /// The end of the session's worker, where it came by itself and nobody has been told of it; told once.
    fn untold_loss(&self) -> Option<ToolError> {
        self.last()?.target.untold_loss()
    }

    /// What earlier servers left in their targets, a sentence or more each.
    fn left_before(&self) -> &[String];

    /// The session, also when its worker has ended.
    fn last(&self) -> Option<Current>;

    /// Every session whose worker lives, in the order in which they were opened.
    fn all(&self) -> Vec<Current>;

    /// Takes the session out and ends its worker.
    fn close(&self) -> BoxFuture<'_, Option<Current>>;

    /// What `--library` or `--simulator` names, for people.
    fn library(&self) -> String;

    /// How the session opens by itself, where it does.
    fn opens_by_itself(&self) -> Option<Connection>;

    /// The opening that a profile of the configuration describes.
    fn profile(&self, name: &str) -> Result<Opening, ToolError>;
}
