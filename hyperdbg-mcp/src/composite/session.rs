//! Opening and closing sessions.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::execution;
use crate::engine::Link;
use crate::generated::{self, Call, ContinueDebuggeeArgs, DebugCloseRemoteDebuggerArgs};
use crate::output::Untrusted;
use crate::tier::{Destructive, State};
use crate::tool::typed::Answer;
use crate::tool::{Category, Connection, Current, Cx, Run, ToolError, Undo, sweep, undo, verdict};

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Offline,
    Local,
    Debugger,
    Remote,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Local => "local",
            Self::Debugger => "debugger",
            Self::Remote => "remote",
        }
    }
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
    /// What else says how the target is connected.
    fn beside_profile(&self) -> Option<&'static str> {
        [
            ("mode", self.mode.is_some()),
            ("pipe", self.pipe.is_some()),
            ("serial_port", self.serial_port.is_some()),
            ("address", self.address.is_some()),
        ]
        .into_iter()
        .find_map(|(name, given)| given.then_some(name))
    }

    fn connection(&self) -> Result<Connection, ToolError> {
        let missing = |message: &str| {
            ToolError::new(Category::InvalidArgument, message)
                .next_step("Ask the person how the target is connected; do not guess.")
        };
        let Some(mode) = self.mode else {
            return Err(missing("Neither `mode` nor `profile` is given."));
        };
        // What belongs to another mode is not passed over: `local` with an address may mean another machine than this one.
        for (name, given, takes) in [
            ("pipe", &self.pipe, matches!(mode, Mode::Debugger)),
            ("serial_port", &self.serial_port, matches!(mode, Mode::Debugger)),
            ("address", &self.address, matches!(mode, Mode::Remote)),
        ] {
            if given.is_some() && !takes {
                return Err(missing(&format!("Mode {} takes no `{name}`.", mode.name())));
            }
        }
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
    let opening = match &input.profile {
        Some(name) => {
            if let Some(other) = input.beside_profile() {
                return Err(ToolError::new(
                    Category::InvalidArgument,
                    format!("`profile` and `{other}` exclude each other."),
                )
                .next_step("Leave one of them out."));
            }
            cx.profile(name)?
        }
        None => input.connection()?.into(),
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
        let message = match (cx.last(), cx.last_end()) {
            (Some(last), Some(end)) => format!("Session {} has ended already: its worker {end}.", last.id),
            _ => "No session is open.".to_owned(),
        };
        return Err(ToolError::new(Category::NotConnected, message).next_step("There is nothing to close."));
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
        let _ = match observed {
            "unknown" => write!(
                text,
                " Whether the debuggee was left halted or running is not known."
            ),
            _ => write!(text, " The debuggee was left {observed}."),
        };
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
