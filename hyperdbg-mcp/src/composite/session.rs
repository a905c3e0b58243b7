//! Opening, closing and looking at the session.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::execution;
use crate::engine::{Engine, Link};
use crate::generated::{
    self, Call, ConnectLocalDebuggerArgs, ConnectRemoteDebuggerArgs, ConnectRemoteDebuggerUsingComPortArgs,
    ConnectRemoteDebuggerUsingNamedPipeArgs, ContinueDebuggeeArgs, DebugCloseRemoteDebuggerArgs,
    IsAnyModuleLoadedArgs, RunCommandArgs, ShowSignatureArgs,
};
use crate::output::Untrusted;
use crate::tier::{Destructive, Read, State};
use crate::tool::typed::Answer;
use crate::tool::{Category, Connection, Current, Cx, Run, ToolError, Undo, sweep, undo, verdict};

/// Connects a fresh worker, and tells the library where symbols are; gives back what the library printed.
pub(crate) async fn connect(
    link: Arc<dyn Link>,
    connection: &Connection,
    symbol_path: Option<&str>,
) -> Result<Untrusted, ToolError> {
    let mut text = attach(Arc::clone(&link), connection).await?;
    if let Some(path) = symbol_path {
        // A line of the person's own configuration, checked when that was read.
        let command = format!(".sympath {path}").into_bytes();
        let outcome = Engine::<Destructive>::new(link)
            .run_command(RunCommandArgs { command })
            .await?;
        verdict(&generated::RUN_COMMAND, None, None, &outcome.text)?;
        text.append(&outcome.text);
    }
    Ok(text)
}

async fn attach(link: Arc<dyn Link>, connection: &Connection) -> Result<Untrusted, ToolError> {
    let engine = Engine::<State>::new(link);
    let bytes = |text: &str| text.as_bytes().to_vec();
    let (function, returned, mut text) = match connection {
        Connection::Offline => return Ok(Untrusted::default()),
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
    if Prompt::read(prompt.bytes()) != Some(expected) {
        text.append(&prompt);
        return Err(ToolError::new(
            Category::NotConnected,
            format!("HyperDbg did not connect to the target in mode {}.", connection.mode()),
        )
        .next_step("Check that the target is up, waits for a debugger on this endpoint, and runs the same build of HyperDbg.")
        .captured(text));
    }
    Ok(text)
}

/// The connection, by the shape of HyperDbg's prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Prompt {
    /// Local, or nothing.
    Plain,
    Remote,
    Debugger,
    UserProcess,
}

impl Prompt {
    /// The core that a halted debuggee's prompt names; it names none while it runs.
    pub(super) fn core(text: &[u8]) -> Option<u32> {
        let text = String::from_utf8_lossy(text);
        let line = text
            .lines()
            .rev()
            .find(|line| line.contains("kHyperDbg>"))?
            .trim();
        let (core, _) = line.split_once(':')?;
        u32::from_str_radix(core, 16)
            .ok()
            .filter(|core| *core != u32::MAX)
    }

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
    mode: Option<Mode>,
    /// Name of a profile in the configuration file, instead of all else.
    profile: Option<String>,
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
        let Some(mode) = self.mode else {
            return Err(missing("Neither `mode` nor `profile` is given."));
        };
        let endpoint = match mode {
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
    session_id: String,
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    library: String,
    /// Functions that this library lacks; their tools do not work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    /// The driver that installing would take, where it does not lie beside this program.
    #[serde(skip_serializing_if = "Option::is_none")]
    driver: Option<String>,
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
    let opening = match (&input.profile, input.mode) {
        (Some(name), None) => cx.profile(name)?,
        (Some(_), Some(_)) => {
            return Err(ToolError::new(
                Category::InvalidArgument,
                "`profile` and `mode` exclude each other.",
            )
            .next_step("Leave one of them out."));
        }
        (None, _) => input.connection()?.into(),
    };
    let (current, printed) = cx.open(opening).await?;
    let worker = current.target.state();
    let output = OpenOutput {
        session_id: current.id.to_string(),
        mode: current.connection.mode(),
        label: current.label.clone(),
        library: cx.library(),
        missing: worker.missing,
        driver: worker.driver,
    };
    let mut text = format!(
        "Session {} is open in mode {}, over {}.",
        current.id, output.mode, output.library
    );
    if let Some(driver) = &output.driver {
        let _ = write!(text, " Its driver: {driver}.");
    }
    Ok(Answer::new(output, text).captured(printed))
}

#[derive(Deserialize, JsonSchema)]
struct NoInput {}

// What becomes of a debuggee when its session is closed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Debuggee {
    /// As it is: halted or running.
    #[default]
    Keep,
    Continue,
    Halt,
}

#[derive(Deserialize, JsonSchema)]
struct CloseInput {
    /// How a debuggee is left.
    #[serde(default)]
    debuggee: Debuggee,
}

#[derive(Serialize, JsonSchema)]
struct CloseOutput {
    session_id: String,
    mode: &'static str,
    requested: Debuggee,
    // As it was left.
    observed: &'static str,
    // What the session had set and was removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
    /// What it had set and could not be removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<String>,
}

/// What a session had set in its target, and what became of it.
#[derive(Debug, Default)]
pub(crate) struct TakenBack {
    removed: Vec<String>,
    left: Vec<String>,
}

/// Removes the breakpoints and events that a session has set; its target is halted, or never is.
pub(crate) async fn take_back(current: &Current) -> TakenBack {
    let mut taken = TakenBack::default();
    sweep(current).await;
    let (breakpoints, events): (Vec<u64>, Vec<u64>) = {
        let pages = current.book.pages();
        taken.left.extend(
            pages
                .one_shot
                .keys()
                .map(|address| format!("breakpoint at {address:#x}")),
        );
        (
            pages.breakpoints.keys().copied().collect(),
            pages.events.keys().copied().collect(),
        )
    };
    let undos = breakpoints
        .iter()
        .map(|id| (format!("breakpoint {id:#x}"), Undo::ClearBreakpoint(*id)))
        .chain(
            events
                .iter()
                .map(|id| (format!("event {id:#x}"), Undo::ClearEvent(*id))),
        );
    for (name, what) in undos {
        match undo(Arc::clone(&current.target) as Arc<dyn Link>, what).await {
            Ok(_) => {
                let mut pages = current.book.pages();
                match what {
                    Undo::ClearBreakpoint(id) => drop(pages.breakpoints.remove(&id)),
                    Undo::ClearEvent(id) => drop(pages.events.remove(&id)),
                    _ => {}
                }
                taken.removed.push(name);
            }
            // What somebody else removed meanwhile is gone as well.
            Err(error) if error.category == Category::Debugger => taken.removed.push(name),
            Err(_) => taken.left.push(name),
        }
    }
    taken
}

/// How long a target that was let run is watched before the session is closed.
const LET_RUN: Duration = Duration::from_millis(200);

/// Ends the session and its worker: removes the breakpoints and events that it has set, leaves the debuggee halted or
/// running as asked, and says what was seen. Unloads nothing on any machine.
#[composite_tool(
    name = "hd_session_close",
    title = "Close a session",
    group = "session",
    tier = "state",
    uses(
        hyperdbg_u_continue_debuggee,
        hyperdbg_u_run_command("bl"),
        hyperdbg_u_run_command("bc"),
        hyperdbg_u_run_command("events c")
    )
)]
async fn close(cx: Cx<State>, input: CloseInput) -> Result<Answer<CloseOutput>, ToolError> {
    let Some(current) = cx.current() else {
        return Err(ToolError::new(Category::NotConnected, "No session is open.")
            .next_step("There is nothing to close."));
    };
    let debugger = current.connection.is_debugger();
    let was_running = debugger && current.target.run() == Run::Running;
    let busy = current.target.state().in_flight.is_some() && !was_running;
    let mut rest = Untrusted::default();
    let must_halt = input.debuggee == Debuggee::Halt || !current.book.pages().is_clean();
    if was_running
        && must_halt
        && let Ok(Some(delivery)) = execution::halt(&cx).await
    {
        rest = delivery.tell().map(|outcome| outcome.text).unwrap_or_default();
    }
    let running = current.target.run() == Run::Running;
    let taken = if running || busy {
        left_behind(&current)
    } else {
        take_back(&current).await
    };
    let resume = match input.debuggee {
        Debuggee::Continue => true,
        Debuggee::Keep => was_running,
        Debuggee::Halt => false,
    };
    if debugger && resume && !running && !busy {
        // A stop that nobody has read is told here.
        if let Ok(Some(delivery)) = cx.wait(Duration::ZERO).await {
            rest.append(&delivery.tell().map(|outcome| outcome.text).unwrap_or_default());
        }
        if cx
            .resume(Call::ContinueDebuggee(ContinueDebuggeeArgs {}))
            .await
            .is_ok()
        {
            let _ = cx.wait(LET_RUN).await;
        }
    }
    let observed = current.observed().state.name();
    cx.close().await;
    let mut text = format!(
        "Session {} in mode {} is closed.",
        current.id,
        current.connection.mode()
    );
    if debugger {
        let _ = write!(text, " The debuggee was left {observed}.");
        if observed == "paused" {
            text.push_str(" It stays halted until a debugger connects and resumes it.");
        }
    }
    if !taken.removed.is_empty() {
        let _ = write!(text, " Removed: {}.", taken.removed.join(", "));
    }
    if !taken.left.is_empty() {
        let _ = write!(text, " Could not be removed: {}.", taken.left.join(", "));
    }
    let output = CloseOutput {
        session_id: current.id.to_string(),
        mode: current.connection.mode(),
        requested: input.debuggee,
        observed,
        removed: taken.removed,
        left: taken.left,
    };
    Ok(Answer::new(output, text).captured(rest))
}

/// Everything that a session has set, where nothing of it can be removed.
fn left_behind(current: &Current) -> TakenBack {
    TakenBack {
        removed: Vec::new(),
        left: changes(current),
    }
}

/// What a session has set in its target.
pub(crate) fn changes(current: &Current) -> Vec<String> {
    let pages = current.book.pages();
    let one_shot = pages
        .one_shot
        .keys()
        .map(|address| format!("breakpoint at {address:#x}"));
    let breakpoints = pages
        .breakpoints
        .iter()
        .map(|(id, address)| format!("breakpoint {id:#x} at {address:#x}"));
    let events = pages.events.iter().map(|(id, armed)| {
        let ended = armed
            .ended
            .map_or_else(String::new, |why| format!(", disabled by {why}"));
        format!("event {id:#x}{ended}")
    });
    breakpoints.chain(one_shot).chain(events).collect()
}

#[derive(Serialize, JsonSchema)]
struct ReleaseOutput {
    session_id: String,
}

/// Ends the connection to a halted debuggee and unloads HyperDbg there, with every breakpoint and event; unloading can
/// crash the debuggee. Then the session is closed. To leave the debuggee as it is, close the session instead.
#[composite_tool(
    name = "hd_link_release",
    title = "Unload HyperDbg from the debuggee",
    group = "link",
    tier = "destructive",
    opt_in = true,
    uses(hyperdbg_u_debug_close_remote_debugger)
)]
async fn release(cx: Cx<Destructive>, _: NoInput) -> Result<Answer<ReleaseOutput>, ToolError> {
    let connection = cx.connection().await?;
    if !connection.is_debugger() {
        return Err(ToolError::new(
            Category::WrongMode,
            format!("There is no debuggee to release in mode {}.", connection.mode()),
        )
        .next_step("Close the session instead."));
    }
    let args = DebugCloseRemoteDebuggerArgs {};
    let outcome = cx.engine().await?.debug_close_remote_debugger(args).await?;
    let returned = Some(outcome.reply.returned.into());
    verdict(
        &generated::DEBUG_CLOSE_REMOTE_DEBUGGER,
        returned,
        None,
        &outcome.text,
    )?;
    let session_id = cx
        .last()
        .map(|current| current.id.to_string())
        .unwrap_or_default();
    cx.close().await;
    let text = format!("HyperDbg was told to leave the debuggee; session {session_id} is closed.");
    Ok(Answer::new(ReleaseOutput { session_id }, text).captured(outcome.text))
}

#[derive(Deserialize, JsonSchema)]
struct StatusInput {
    /// Also ask the library, where it is free: its prompt, and whether modules are loaded.
    #[serde(default)]
    probe: bool,
}

#[derive(Default, Serialize, JsonSchema)]
struct StatusOutput {
    open: bool,
    library: String,
    /// How the worker of the last session ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_end: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    known_by: Option<&'static str>,
    /// A stop that nobody has been told of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_stop: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker_pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_flight: Option<InFlight>,
    // What the session has set in the target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    set: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<String>,
    // Where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sessions: Vec<String>,
    /// What earlier servers left in their targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_before: Vec<String>,
    /// Functions that the library lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    /// Functions that answer abi_mismatch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disabled: Vec<String>,
    // By its prompt.
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

/// Tells whether a session is open, in which mode, whether the target runs, what the worker is doing and what the
/// session has set. Answers at once, also while a call is being made.
#[composite_tool(
    name = "hd_session_status",
    title = "Session status",
    group = "session",
    tier = "read",
    uses(hyperdbg_u_is_any_module_loaded, hyperdbg_u_show_signature)
)]
async fn status(cx: Cx<Read>, input: StatusInput) -> Result<Answer<StatusOutput>, ToolError> {
    let library = cx.library();
    let all = cx.all();
    let sessions: Vec<String> = match all.len() {
        0 | 1 => Vec::new(),
        _ => all.iter().map(Current::stamp).collect(),
    };
    let left_before = cx.left_before().to_vec();
    let Some(current) = cx.current() else {
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
        for left in &left_before {
            let _ = write!(text, "\n{left}");
        }
        let output = StatusOutput {
            library,
            last_end,
            sessions,
            left_before,
            ..StatusOutput::default()
        };
        return Ok(Answer::new(output, text));
    };
    let observed = current.observed();
    let mode = current.connection.mode();
    let run = current.target.run();
    let worker = current.target.state();
    let mut text = format!(
        "Session {} is open in mode {mode}, over {library}. The target's run state is {}: {}.",
        current.id,
        observed.state.name(),
        observed.by
    );
    if let Some((function, age)) = worker.in_flight {
        let _ = write!(text, " {function} has been in flight for {} ms.", age.as_millis());
    }
    let pending_stop =
        (run == Run::StopUntold).then(|| format!("{}.{}", current.id, current.target.last_exec()));
    if pending_stop.is_some() {
        text.push_str(" It stopped, and that stop waits to be told.");
    }
    let set = changes(&current);
    if !set.is_empty() {
        let _ = write!(text, " Set: {}.", set.join(", "));
    }
    if !sessions.is_empty() {
        let _ = write!(text, " All sessions: {}.", sessions.join("; "));
    }
    for left in &left_before {
        let _ = write!(text, "\n{left}");
    }
    let free = worker.in_flight.is_none() && run != Run::Running;
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
        label: current.label.clone(),
        run_state: Some(observed.state.name()),
        known_by: Some(observed.by),
        pending_stop,
        worker_pid: worker.pid,
        in_flight: worker.in_flight.map(|(function, age)| InFlight {
            function: function.to_owned(),
            age_ms: u64::try_from(age.as_millis()).unwrap_or(u64::MAX),
        }),
        set,
        last_error: worker.last_error,
        sessions,
        left_before,
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
    Ok((Prompt::read(prompt.bytes()), Some(loaded)))
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
        assert_eq!(Prompt::core(b"\n1f: kHyperDbg> "), Some(0x1f));
        assert_eq!(Prompt::core(b"ffffffff: kHyperDbg> "), None);
        assert_eq!(Prompt::core(b"HyperDbg> "), None);
        assert_eq!(Prompt::read(b"nothing"), None);
    }
}
