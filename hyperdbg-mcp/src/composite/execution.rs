//! Run control: continue, wait, pause.

use std::time::{Duration, Instant};

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::Deserialize;

use super::halted::{self, StopOutput};
use super::stop::{Reason, Stop};
use crate::generated::{self, Call, ContinueDebuggeeArgs, PauseDebuggeeArgs};
use crate::output::Untrusted;
use crate::session::RunState;
use crate::tier::{Permits, Read, State};
use crate::tool::arguments::echo;
use crate::tool::typed::Answer;
use crate::tool::{Category, Current, Cx, Delivery, Run, ToolError, verdict};

/// How long a halt is waited for after it was asked for.
const PAUSE_WAIT: Duration = Duration::from_secs(5);
/// How often the state is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long one break is given before the next.
const BREAK_AGAIN: Duration = Duration::from_millis(500);

pub(super) fn elapsed_ms(since: Instant) -> u32 {
    u32::try_from(since.elapsed().as_millis()).unwrap_or(u32::MAX)
}

pub(super) fn default_timeout() -> u32 {
    10_000
}

/// The id of a resume, as clients see it: the session is part of it, so that a stale one is told from a wrong one.
pub(super) fn exec_id<T: Permits<Read>>(cx: &Cx<T>, exec: u64) -> Option<String> {
    (exec > 0)
        .then(|| cx.last().map(|current| format!("{}.{exec}", current.id)))
        .flatten()
}

#[derive(Deserialize, JsonSchema)]
struct ContinueInput {
    /// Also wait so long for its next stop.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20_000))]
    wait_ms: u32,
}

/// Lets the halted target run and returns at once with the exec_id of this run; its stop (breakpoint, event) is told when
/// waited for. While it runs, registers and memory of a debuggee cannot be read, and a second resume is refused.
#[composite_tool(
    name = "hd_exec_continue",
    title = "Continue the target",
    group = "exec",
    tier = "state",
    uses(
        hyperdbg_u_continue_debuggee,
        hyperdbg_u_read_all_registers,
        hyperdbg_u_show_signature,
        hyperdbg_u_read_memory
    )
)]
async fn resume(cx: Cx<State>, input: ContinueInput) -> Result<Answer<StopOutput>, ToolError> {
    let connection = cx.connection().await?;
    let since = Instant::now();
    if !connection.is_debugger() {
        let outcome = cx
            .engine()
            .await?
            .continue_debuggee(ContinueDebuggeeArgs {})
            .await?;
        verdict(&generated::CONTINUE_DEBUGGEE, None, None, &outcome.text)?;
        return Ok(halted::running(
            None,
            elapsed_ms(since),
            "Nothing is halted in this mode; messages of the kernel flow again.",
        )
        .captured(outcome.text));
    }
    let exec = cx.resume(Call::ContinueDebuggee(ContinueDebuggeeArgs {})).await?;
    let id = exec_id(&cx, exec);
    if input.wait_ms > 0
        && let Some(delivery) = cx.wait(Duration::from_millis(input.wait_ms.into())).await?
    {
        return halted::told(&cx, delivery, elapsed_ms(since)).await;
    }
    let text = format!(
        "The target runs; {} names this run.",
        id.as_deref().unwrap_or("nothing")
    );
    Ok(halted::running(id, elapsed_ms(since), text))
}

#[derive(Deserialize, JsonSchema)]
struct WaitInput {
    /// Of the run; the last one by default.
    #[schemars(length(min = 1, max = 40))]
    exec_id: Option<String>,
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 0, max = 20_000))]
    timeout_ms: u32,
}

/// Whether `id` names the run whose stop can still be told.
fn check_exec<T: Permits<Read>>(cx: &Cx<T>, id: &str) -> Result<(), ToolError> {
    let shown = echo(id);
    let parsed = id
        .split_once('.')
        .and_then(|(session, exec)| Some((session, exec.parse::<u64>().ok()?)));
    let Some((session, exec)) = parsed else {
        return Err(ToolError::new(
            Category::InvalidArgument,
            format!("{shown} is no exec_id: they look like s1.7."),
        )
        .next_step("Use the exec_id of the run's answer, or leave it out."));
    };
    let Some(last) = cx.last() else {
        return Err(ToolError::new(Category::NotConnected, "No session is open.")
            .next_step("Open a session first; the exec_id is stale."));
    };
    if *last.id != *session {
        return Err(ToolError::new(
            Category::InvalidArgument,
            format!(
                "{shown} belongs to session {}, and this is {}.",
                echo(session),
                last.id
            ),
        )
        .next_step("Name that session by session_id; if it has ended, the exec_id is stale."));
    }
    let newest = last.target.last_exec();
    match exec.cmp(&newest) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Less => Err(ToolError::new(
            Category::WrongMode,
            format!("{shown} is over: the last run is {}.{newest}.", last.id),
        )
        .next_step("Its stop was told before the next run began. Wait for the last run.")),
        std::cmp::Ordering::Greater => Err(ToolError::new(
            Category::InvalidArgument,
            format!("There has been no run {shown}."),
        )
        .next_step("Use the exec_id of the run's answer, or leave it out.")),
    }
}

/// Waits at most timeout_ms for the stop of a target that was set running, and tells it once: reason, core, rip, symbol,
/// changed registers, next instructions. State `running` is a normal answer: wait again, or halt it.
#[composite_tool(
    name = "hd_exec_wait",
    title = "Wait for a stop",
    group = "exec",
    tier = "read",
    uses(
        hyperdbg_u_read_all_registers,
        hyperdbg_u_show_signature,
        hyperdbg_u_read_memory
    )
)]
async fn wait(cx: Cx<Read>, input: WaitInput) -> Result<Answer<StopOutput>, ToolError> {
    if let Some(id) = &input.exec_id {
        check_exec(&cx, id)?;
    }
    let since = Instant::now();
    match cx.wait(Duration::from_millis(input.timeout_ms.into())).await? {
        Some(delivery) => halted::told(&cx, delivery, elapsed_ms(since)).await,
        None => Ok(still_running(&cx, since)),
    }
}

/// The answer where no stop came in time.
pub(super) fn still_running<T: Permits<Read>>(cx: &Cx<T>, since: Instant) -> Answer<StopOutput> {
    let waited_ms = elapsed_ms(since);
    let id = exec_id(cx, cx.last().map_or(0, |current| current.target.last_exec()));
    halted::running(
        id,
        waited_ms,
        format!("The target is running; it has not stopped within {waited_ms} ms."),
    )
}

/// Asks the running target to halt and waits for its stop, a few seconds. A stop that is there already needs no break;
/// a break that comes before the library has let the target run is ignored by it, so it is repeated.
pub(super) async fn halt(cx: &Cx<State>) -> Result<Option<Delivery>, ToolError> {
    let since = Instant::now();
    while since.elapsed() < PAUSE_WAIT {
        if cx.session().is_some_and(|session| session.run == Run::Running) {
            cx.interrupt().await?;
        }
        if let Some(delivery) = cx.wait(BREAK_AGAIN).await? {
            return Ok(Some(delivery));
        }
    }
    Ok(None)
}

#[derive(Deserialize, JsonSchema)]
struct NoInput {}

/// Halts the running target and tells where it stopped. State `running` means that the halt was requested and not seen
/// yet: wait for it. A local or remote machine is not halted; only its messages are held back.
#[composite_tool(
    name = "hd_exec_pause",
    title = "Halt the target",
    group = "exec",
    tier = "state",
    uses(
        hyperdbg_u_pause_debuggee,
        hyperdbg_u_read_all_registers,
        hyperdbg_u_show_signature,
        hyperdbg_u_read_memory
    )
)]
async fn pause(cx: Cx<State>, _: NoInput) -> Result<Answer<StopOutput>, ToolError> {
    let since = Instant::now();
    let connection = cx.connection().await?;
    if !connection.is_debugger() {
        let outcome = cx.engine().await?.pause_debuggee(PauseDebuggeeArgs {}).await?;
        verdict(&generated::PAUSE_DEBUGGEE, None, None, &outcome.text)?;
        return Ok(halted::running(
            None,
            elapsed_ms(since),
            "Nothing is halted in this mode; messages of the kernel are held back until the target is continued.",
        )
        .captured(outcome.text));
    }
    let run = cx.session().map_or(Run::Settled, |session| session.run);
    if run == Run::Settled
        && let Some(current) = cx.current()
    {
        if current.observed().state == RunState::Unknown {
            needs_known(&cx, &current).await?;
        }
        return Ok(halted_already(&cx, &current).await);
    }
    match halt(&cx).await {
        Ok(Some(delivery)) => halted::told(&cx, delivery, elapsed_ms(since)).await,
        Ok(None) => Ok(Answer {
            text: format!(
                "A halt was requested; the target was still running after {} ms. Wait for its stop.",
                elapsed_ms(since)
            ),
            ..still_running(&cx, since)
        }),
        // Another call has told the stop: what was asked for is so.
        Err(error) => match cx.current() {
            Some(current)
                if error.category == Category::WrongMode && current.target.run() == Run::Settled =>
            {
                Ok(halted_already(&cx, &current).await)
            }
            _ => Err(error),
        },
    }
}

/// A command in flight may have let the target run: sends a break, and refuses to say that the target is halted where
/// that cannot be seen.
async fn needs_known(cx: &Cx<State>, current: &Current) -> Result<(), ToolError> {
    let since = Instant::now();
    cx.interrupt().await?;
    while since.elapsed() < PAUSE_WAIT {
        if current.observed().state != RunState::Unknown || !current.target.state().alive {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    let running = match current.target.state().in_flight {
        Some((function, age)) => format!("{function} has been running for {} ms", age.as_millis()),
        None => "it was not observed".to_owned(),
    };
    Err(ToolError::new(
        Category::Busy,
        format!("A halt was requested; whether the target runs is not known: {running}."),
    )
    .next_step("Wait for the answer of that call, cancel it, or close the session."))
}

/// The answer where the target is halted and its stop has been told.
async fn halted_already(cx: &Cx<State>, current: &Current) -> Answer<StopOutput> {
    let position = halted::position(cx, current).await;
    let stop = Stop {
        reason: Reason::Other,
        id: None,
        stage: None,
        symbol: None,
        rest: Untrusted::default(),
    };
    let mut answer = halted::record(current, &stop, position, 0);
    answer.value.reason = None;
    answer.text = answer
        .text
        .replacen("The target stopped", "The target was halted already", 1);
    answer
}
