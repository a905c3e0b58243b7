//! Opening, closing and looking at the session.

use std::fmt::Write;
use std::sync::Arc;

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, Link};
use crate::generated::{
    self, ConnectLocalDebuggerArgs, ConnectRemoteDebuggerArgs, ConnectRemoteDebuggerUsingComPortArgs,
    ConnectRemoteDebuggerUsingNamedPipeArgs, DebugCloseRemoteDebuggerArgs, IsAnyModuleLoadedArgs,
    ShowSignatureArgs,
};
use crate::tier::{Destructive, Read, State};
use crate::tool::typed::Answer;
use crate::tool::{Category, Connection, Cx, Run, SessionView, ToolError, verdict};

/// Connects a fresh worker; gives back what the library printed.
pub(crate) async fn connect(link: Arc<dyn Link>, connection: &Connection) -> Result<Vec<u8>, ToolError> {
    let engine = Engine::<State>::new(link);
    let bytes = |text: &str| text.as_bytes().to_vec();
    let (function, returned, text) = match connection {
        Connection::Offline => return Ok(Vec::new()),
        Connection::Local => {
            let outcome = engine.connect_local_debugger(ConnectLocalDebuggerArgs {}).await?;
            (&generated::CONNECT_LOCAL_DEBUGGER, None, outcome.text)
        }
        // Paused after the connection, always: the call would otherwise wait for the first stop.
        Connection::DebuggerPipe { pipe } => {
            let args = ConnectRemoteDebuggerUsingNamedPipeArgs {
                pipe: bytes(pipe),
                pause: true,
            };
            let outcome = engine.connect_remote_debugger_using_named_pipe(args).await?;
            let returned = Some(outcome.reply.returned.into());
            (
                &generated::CONNECT_REMOTE_DEBUGGER_USING_NAMED_PIPE,
                returned,
                outcome.text,
            )
        }
        Connection::DebuggerSerial { port, baud } => {
            let args = ConnectRemoteDebuggerUsingComPortArgs {
                port: bytes(port),
                baudrate: *baud,
                pause: true,
            };
            let outcome = engine.connect_remote_debugger_using_com_port(args).await?;
            let returned = Some(outcome.reply.returned.into());
            (
                &generated::CONNECT_REMOTE_DEBUGGER_USING_COM_PORT,
                returned,
                outcome.text,
            )
        }
        Connection::Remote { address, port } => {
            let args = ConnectRemoteDebuggerArgs {
                ip: bytes(address),
                port: Some(bytes(&port.to_string())),
            };
            let outcome = engine.connect_remote_debugger(args).await?;
            (
                &generated::CONNECT_REMOTE_DEBUGGER,
                Some(outcome.reply.returned.into()),
                outcome.text,
            )
        }
    };
    verdict(function, returned, None, &text)?;
    // The return value is not believed: a refused connection counts as success too. The prompt tells.
    let expected = match connection {
        Connection::DebuggerPipe { .. } | Connection::DebuggerSerial { .. } => Prompt::Debugger,
        Connection::Remote { .. } => Prompt::Remote,
        _ => return Ok(text),
    };
    let prompt = engine.show_signature(ShowSignatureArgs {}).await?.text;
    if Prompt::read(&prompt) != Some(expected) {
        return Err(ToolError::new(
            Category::NotConnected,
            format!("HyperDbg did not connect to the target in mode {}.", connection.mode()),
        )
        .next_step("Check that the target is up, waits for a debugger on this endpoint, and runs the same build of HyperDbg.")
        .captured([text, prompt].concat()));
    }
    Ok(text)
}

/// The connection, by the shape of HyperDbg's prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Prompt {
    /// Local, or nothing.
    Plain,
    Remote,
    Debugger,
    UserProcess,
}

impl Prompt {
    fn read(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        let line = text.lines().rev().find(|line| line.contains("HyperDbg>"))?.trim();
        if line.starts_with('[') {
            Some(Self::Remote)
        } else if line.ends_with("u64HyperDbg>") || line.ends_with("u86HyperDbg>") {
            Some(Self::UserProcess)
        } else if line.ends_with("kHyperDbg>") {
            Some(Self::Debugger)
        } else {
            Some(Self::Plain)
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Offline,
    Local,
    Debugger,
    Remote,
}

#[derive(Deserialize, JsonSchema)]
struct OpenInput {
    /// offline: the library alone. local: this machine, with HyperDbg's driver. debugger: the kernel of another machine,
    /// halted. remote: another HyperDbg over TCP.
    mode: Mode,
    /// debugger: named pipe of the target's serial port, such as \\.\pipe\HyperDbgPipe.
    pipe: Option<String>,
    /// debugger: COM1 to COM4, instead of a pipe.
    serial_port: Option<String>,
    /// Of the serial port.
    #[serde(default = "default_baud")]
    baud: u32,
    /// remote: IPv4 address.
    address: Option<String>,
    /// remote.
    #[serde(default = "default_port")]
    #[schemars(range(min = 1, max = 65_535))]
    tcp_port: u16,
}

fn default_baud() -> u32 {
    115_200
}

fn default_port() -> u16 {
    50_000
}

impl OpenInput {
    fn connection(&self) -> Result<Connection, ToolError> {
        let missing = |message: &str| {
            ToolError::new(Category::InvalidArgument, message)
                .next_step("Ask the person how the target is connected; do not guess.")
        };
        let endpoint = match self.mode {
            Mode::Offline => Ok(Connection::Offline),
            Mode::Local => Ok(Connection::Local),
            Mode::Debugger => match (&self.pipe, &self.serial_port) {
                (Some(pipe), None) => Connection::pipe(pipe),
                (None, Some(port)) => Connection::serial(port, self.baud),
                (None, None) => return Err(missing("Mode debugger needs `pipe` or `serial_port`.")),
                (Some(_), Some(_)) => return Err(missing("`pipe` and `serial_port` exclude each other.")),
            },
            Mode::Remote => match &self.address {
                Some(address) => Connection::remote(address, self.tcp_port),
                None => return Err(missing("Mode remote needs `address`.")),
            },
        };
        endpoint.map_err(|problem| missing(&format!("{problem}.")))
    }
}

#[derive(Serialize, JsonSchema)]
struct OpenOutput {
    mode: &'static str,
    library: String,
    /// Functions that this library lacks; their tools do not work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
}

/// Opens the session: starts a worker, loads HyperDbg's library in it, and connects as asked. In mode debugger the
/// target is halted afterwards. Nothing is installed or loaded on any machine. Ask the person how the target is
/// connected; do not guess.
#[composite_tool(
    name = "hd_session_open",
    title = "Open a session",
    group = "session",
    tier = "state",
    open_world = true,
    uses(
        hyperdbg_u_connect_local_debugger,
        hyperdbg_u_connect_remote_debugger,
        hyperdbg_u_connect_remote_debugger_using_com_port,
        hyperdbg_u_connect_remote_debugger_using_named_pipe,
        hyperdbg_u_show_signature
    )
)]
async fn open(cx: Cx<State>, input: OpenInput) -> Result<Answer<OpenOutput>, ToolError> {
    let connection = input.connection()?;
    let mode = connection.mode();
    let printed = cx.open(connection).await?;
    let output = OpenOutput {
        mode,
        library: cx.library(),
        missing: cx
            .session()
            .map(|session| session.worker.missing)
            .unwrap_or_default(),
    };
    let text = format!(
        "The session is open in mode {}, over {}.",
        output.mode, output.library
    );
    Ok(Answer::new(output, text).captured(printed))
}

#[derive(Deserialize, JsonSchema)]
struct NoInput {}

#[derive(Serialize, JsonSchema)]
struct CloseOutput {
    /// The mode it was in.
    mode: &'static str,
    /// The debuggee was told to let go.
    debuggee_released: bool,
}

/// Closes the session and ends its worker. A halted debuggee is told that the debugger leaves, which unloads HyperDbg
/// there. A running one is left as it is and may stay under HyperDbg's control.
#[composite_tool(
    name = "hd_session_close",
    title = "Close the session",
    group = "session",
    tier = "destructive",
    uses(hyperdbg_u_debug_close_remote_debugger)
)]
async fn close(cx: Cx<Destructive>, _: NoInput) -> Result<Answer<CloseOutput>, ToolError> {
    let Some(session) = cx.session() else {
        return Err(ToolError::new(Category::NotConnected, "No session is open.")
            .next_step("There is nothing to close."));
    };
    let mode = session.connection.mode();
    let mut text = format!("The session in mode {mode} is closed.");
    let (released, printed) = release(&cx, &session, &mut text).await;
    cx.close().await;
    let output = CloseOutput {
        mode,
        debuggee_released: released,
    };
    Ok(Answer::new(output, text).captured(printed))
}

async fn release(cx: &Cx<Destructive>, session: &SessionView, text: &mut String) -> (bool, Vec<u8>) {
    if !session.connection.is_debugger() {
        return (false, Vec::new());
    }
    if session.run == Run::Running {
        text.push_str(" The debuggee was running and was left so; it could not be told.");
        return (false, Vec::new());
    }
    let told = tell(cx).await;
    match told {
        Ok(printed) => {
            text.push_str(" The debuggee was told.");
            (true, printed)
        }
        Err(error) => {
            let _ = write!(
                text,
                " The debuggee could not be told ({}): it may stay halted.",
                error.category
            );
            (false, Vec::new())
        }
    }
}

async fn tell(cx: &Cx<Destructive>) -> Result<Vec<u8>, ToolError> {
    let args = DebugCloseRemoteDebuggerArgs {};
    let outcome = cx.engine().await?.debug_close_remote_debugger(args).await?;
    let returned = Some(outcome.reply.returned.into());
    verdict(
        &generated::DEBUG_CLOSE_REMOTE_DEBUGGER,
        returned,
        None,
        &outcome.text,
    )?;
    Ok(outcome.text)
}

#[derive(Deserialize, JsonSchema)]
struct StatusInput {
    /// Also ask the library, where it is free: its prompt, and whether modules are loaded.
    #[serde(default)]
    probe: bool,
}

#[derive(Serialize, JsonSchema)]
struct StatusOutput {
    open: bool,
    library: String,
    /// How the worker of the last session ended, where it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_end: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_state: Option<RunState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker_pid: Option<u32>,
    /// The call that is being made.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_flight: Option<InFlight>,
    /// Functions that the library lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    /// Functions that answer abi_mismatch: the library is of another SDK, in which they are otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disabled: Vec<String>,
    /// By its prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    connected: Option<Prompt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modules_loaded: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
struct InFlight {
    function: String,
    age_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RunState {
    Running,
    Paused,
    NotApplicable,
}

impl RunState {
    fn of(session: &SessionView) -> Self {
        match (session.connection.is_debugger(), session.run) {
            (false, _) => Self::NotApplicable,
            (true, Run::Running) => Self::Running,
            (true, Run::StopUntold | Run::Settled) => Self::Paused,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Running => "the target is running",
            Self::Paused => "the target is halted",
            Self::NotApplicable => "nothing is halted in this mode",
        }
    }
}

/// Tells whether a session is open, in which mode, whether the target runs, and what the worker is doing. Answers at
/// once, also while a call is being made.
#[composite_tool(
    name = "hd_session_status",
    title = "Session status",
    group = "session",
    tier = "read",
    uses(hyperdbg_u_is_any_module_loaded, hyperdbg_u_show_signature)
)]
async fn status(cx: Cx<Read>, input: StatusInput) -> Result<Answer<StatusOutput>, ToolError> {
    let library = cx.library();
    let Some(session) = cx.session() else {
        let mut text = format!("No session is open. Library: {library}.");
        let last_end = cx.last_end();
        if let Some(end) = &last_end {
            let _ = write!(text, " The worker of the last one {end}.");
        }
        if let Some(connection) = cx.opens_by_itself() {
            let _ = write!(
                text,
                " One opens by itself in mode {} at the first call that needs it.",
                connection.mode()
            );
        }
        let output = StatusOutput {
            open: false,
            library,
            last_end,
            mode: None,
            run_state: None,
            worker_pid: None,
            in_flight: None,
            missing: Vec::new(),
            disabled: Vec::new(),
            connected: None,
            modules_loaded: None,
        };
        return Ok(Answer::new(output, text));
    };
    let run_state = RunState::of(&session);
    let mode = session.connection.mode();
    let mut text = format!(
        "A session is open in mode {mode}, over {library}; {}.",
        run_state.words()
    );
    if let Some((function, age)) = session.worker.in_flight {
        let _ = write!(text, " {function} has been in flight for {} ms.", age.as_millis());
    }
    let free = session.worker.in_flight.is_none() && session.run != Run::Running;
    let worker = session.worker;
    let (connected, modules_loaded) = if input.probe && free {
        probe(&cx).await?
    } else {
        (None, None)
    };
    let output = StatusOutput {
        open: true,
        library,
        last_end: None,
        mode: Some(mode),
        run_state: Some(run_state),
        worker_pid: worker.pid,
        in_flight: worker.in_flight.map(|(function, age)| InFlight {
            function: function.to_owned(),
            age_ms: u64::try_from(age.as_millis()).unwrap_or(u64::MAX),
        }),
        missing: worker.missing,
        disabled: worker.disabled,
        connected,
        modules_loaded,
    };
    Ok(Answer::new(output, text))
}

async fn probe(cx: &Cx<Read>) -> Result<(Option<Prompt>, Option<bool>), ToolError> {
    let engine = cx.engine().await?;
    let loaded = engine
        .is_any_module_loaded(IsAnyModuleLoadedArgs {})
        .await?
        .reply
        .returned
        != 0;
    let prompt = engine.show_signature(ShowSignatureArgs {}).await?.text;
    Ok((Prompt::read(&prompt), Some(loaded)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prompt_tells_its_connection() {
        for (text, prompt) in [
            ("HyperDbg> ", Prompt::Plain),
            ("\n[192.168.1.2:50000] HyperDbg> ", Prompt::Remote),
            ("0: kHyperDbg> ", Prompt::Debugger),
            ("ffffffff: kHyperDbg> ", Prompt::Debugger),
            ("1a4:9c (paused) u64HyperDbg> ", Prompt::UserProcess),
            ("1a4:9c (running) u86HyperDbg> ", Prompt::UserProcess),
        ] {
            assert_eq!(Prompt::read(text.as_bytes()), Some(prompt), "{text}");
        }
        assert_eq!(Prompt::read(b"nothing"), None);
    }
}
