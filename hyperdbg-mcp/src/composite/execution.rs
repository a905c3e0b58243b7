//! Run control: continue, wait, pause, step.

use std::time::{Duration, Instant};

use hyperdbg_mcp_macros::composite_tool;
use hyperdbg_sys::REGS_ENUM;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calls::{self, Place};
use super::disassemble;
use super::stop::{self, Reason};
use crate::engine::Outcome;
use crate::generated::{
    self, Call, ContinueDebuggeeArgs, PauseDebuggeeArgs, Reply, SteppingInstrumentationStepInArgs,
    SteppingRegularStepInArgs, SteppingStepOverArgs,
};
use crate::tier::{Permits, Read, State};
use crate::tool::typed::Answer;
use crate::tool::value::Hex;
use crate::tool::{Cx, Run, ToolError, complaint, verdict};

/// How long a halt is waited for after it was asked for.
const PAUSE_WAIT: Duration = Duration::from_secs(5);
const DEFAULT_WAIT_MS: u32 = 10_000;
/// The longest instruction.
const MAX_INSTRUCTION_BYTES: u32 = 15;

/// Whether the target runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum RunState {
    Stopped,
    Running,
}

/// Where the halted core stands.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Position {
    pub(super) rip: Hex,
    pub(super) instruction: Option<String>,
}

/// The instruction pointer and the instruction there; nothing where they cannot be read.
pub(super) async fn position<T: Permits<Read>>(cx: &Cx<T>) -> Option<Position> {
    let engine = cx.engine().await.ok()?;
    let rip = calls::read_register(&engine, REGS_ENUM::REGISTER_RIP)
        .await
        .ok()?;
    let place = Place {
        address: rip,
        physical: false,
        pid: 0,
    };
    // Not over the page's end, behind which nothing may be.
    let size =
        MAX_INSTRUCTION_BYTES.min(u32::try_from(0x1000 - (rip & 0xfff)).unwrap_or(MAX_INSTRUCTION_BYTES));
    let bytes = calls::read_memory(&engine, place, size).await.unwrap_or_default();
    Some(Position {
        rip: Hex(rip),
        instruction: disassemble::first(rip, &bytes),
    })
}

#[derive(Serialize, JsonSchema)]
struct StopOutput {
    /// `running` is a normal answer: wait again, or pause.
    state: RunState,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    /// Number of the breakpoint or event.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Hex>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rip: Option<Hex>,
    /// At rip.
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<String>,
    waited_ms: u32,
}

fn running(waited: Instant) -> Answer<StopOutput> {
    let waited_ms = elapsed_ms(waited);
    let output = StopOutput {
        state: RunState::Running,
        reason: None,
        id: None,
        rip: None,
        instruction: None,
        waited_ms,
    };
    Answer::new(
        output,
        format!("The target is running; it has not stopped within {waited_ms} ms."),
    )
}

/// The answer where there is nothing that halts.
fn unhalted(since: Instant, text: &str, printed: Vec<u8>) -> Answer<StopOutput> {
    Answer {
        text: text.to_owned(),
        ..running(since)
    }
    .captured(printed)
}

fn elapsed_ms(since: Instant) -> u32 {
    u32::try_from(since.elapsed().as_millis()).unwrap_or(u32::MAX)
}

/// The record of a stop that a resumed call ended with.
async fn stopped<T: Permits<Read>>(
    cx: &Cx<T>,
    outcome: Outcome<Reply>,
    waited: Instant,
) -> Result<Answer<StopOutput>, ToolError> {
    let position = position(cx).await;
    // Who reads registers is halted: a complaint in the text is then that of a script, and the stop must not be lost.
    if position.is_none()
        && let Some(error) = complaint(&outcome.text)
    {
        return Err(error);
    }
    let stop = stop::parse(&outcome.text);
    let text = stop::describe(&stop, position.as_ref());
    let output = StopOutput {
        state: RunState::Stopped,
        reason: Some(stop.reason),
        id: stop.id.map(Hex),
        rip: position.as_ref().map(|position| position.rip),
        instruction: position.and_then(|position| position.instruction),
        waited_ms: elapsed_ms(waited),
    };
    Ok(Answer::new(output, text).captured(outcome.text))
}

#[derive(Deserialize, JsonSchema)]
struct WaitInput {
    /// How long to wait for a stop.
    #[serde(default = "default_wait")]
    #[schemars(range(min = 0, max = 20_000))]
    wait_ms: u32,
}

fn default_wait() -> u32 {
    DEFAULT_WAIT_MS
}

/// Lets the halted target run, and waits at most wait_ms for its next stop (breakpoint, event). State `stopped` comes
/// with reason, rip and instruction; state `running` means that it has not stopped yet, which is no failure. While it
/// runs, registers and memory of a debuggee cannot be read. A second resume is refused.
#[composite_tool(
    name = "hd_exec_continue",
    title = "Continue the target",
    group = "exec",
    tier = "state",
    uses(
        hyperdbg_u_continue_debuggee,
        hyperdbg_u_read_target_register,
        hyperdbg_u_read_memory
    )
)]
async fn resume(cx: Cx<State>, input: WaitInput) -> Result<Answer<StopOutput>, ToolError> {
    let connection = cx.connection().await?;
    let since = Instant::now();
    if !connection.is_debugger() {
        let outcome = cx
            .engine()
            .await?
            .continue_debuggee(ContinueDebuggeeArgs {})
            .await?;
        verdict(&generated::CONTINUE_DEBUGGEE, None, None, &outcome.text)?;
        return Ok(unhalted(
            since,
            "Nothing is halted in this mode; messages of the kernel flow again.",
            outcome.text,
        ));
    }
    cx.resume(Call::ContinueDebuggee(ContinueDebuggeeArgs {})).await?;
    match cx.wait(Duration::from_millis(input.wait_ms.into())).await? {
        Some(outcome) => stopped(&cx, outcome, since).await,
        None => Ok(running(since)),
    }
}

/// Waits at most wait_ms for the stop of a target that was set running. A stop that came between calls is delivered at
/// once, and only once. State `running` means that it has not stopped yet, which is no failure.
#[composite_tool(
    name = "hd_exec_wait",
    title = "Wait for a stop",
    group = "exec",
    tier = "read",
    uses(hyperdbg_u_read_target_register, hyperdbg_u_read_memory)
)]
async fn wait(cx: Cx<Read>, input: WaitInput) -> Result<Answer<StopOutput>, ToolError> {
    let since = Instant::now();
    match cx.wait(Duration::from_millis(input.wait_ms.into())).await? {
        Some(outcome) => stopped(&cx, outcome, since).await,
        None => Ok(running(since)),
    }
}

#[derive(Deserialize, JsonSchema)]
struct NoInput {}

/// Halts the running target and reports where it stopped. In debugger mode a break is sent, and its stop is waited for
/// a few seconds: state `running` then means that the halt was asked for and not seen yet. A target that is halted
/// already stays as it is. A local or remote machine is not halted by this; only its messages are held back.
#[composite_tool(
    name = "hd_exec_pause",
    title = "Halt the target",
    group = "exec",
    tier = "state",
    uses(
        hyperdbg_u_pause_debuggee,
        hyperdbg_u_read_target_register,
        hyperdbg_u_read_memory
    )
)]
async fn pause(cx: Cx<State>, _: NoInput) -> Result<Answer<StopOutput>, ToolError> {
    let since = Instant::now();
    let connection = cx.connection().await?;
    if !connection.is_debugger() {
        let outcome = cx.engine().await?.pause_debuggee(PauseDebuggeeArgs {}).await?;
        verdict(&generated::PAUSE_DEBUGGEE, None, None, &outcome.text)?;
        return Ok(unhalted(
            since,
            "Nothing is halted in this mode; messages of the kernel are held back until the target is continued.",
            outcome.text,
        ));
    }
    let run = cx.session().map_or(Run::Settled, |session| session.run);
    if run == Run::Settled {
        let position = position(&cx).await;
        let output = StopOutput {
            state: RunState::Stopped,
            reason: None,
            id: None,
            rip: position.as_ref().map(|position| position.rip),
            instruction: position.and_then(|position| position.instruction),
            waited_ms: 0,
        };
        return Ok(Answer::new(output, "The target was halted already."));
    }
    // A stop that is there already needs no break.
    if run == Run::Running {
        cx.interrupt().await?;
    }
    match cx.wait(PAUSE_WAIT).await? {
        Some(outcome) => stopped(&cx, outcome, since).await,
        None => Ok(running(since)),
    }
}

/// How to step.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StepKind {
    #[default]
    In,
    Over,
    Instrumentation,
}

#[derive(Deserialize, JsonSchema)]
struct StepInput {
    /// `in` enters calls, `over` runs them to their return, `instrumentation` runs exactly one instruction on this core
    /// while the others stay halted.
    #[serde(default)]
    kind: StepKind,
    /// Steps to take.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 64))]
    count: u32,
}

fn one() -> u32 {
    1
}

#[derive(Serialize, JsonSchema)]
struct StepOutput {
    /// Steps taken.
    steps: u32,
    /// Where each step ended.
    path: Vec<StepPosition>,
}

#[derive(Serialize, JsonSchema)]
struct StepPosition {
    rip: Hex,
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<String>,
}

/// Executes instructions of the halted target one by one, and reports rip and the next instruction after each. Other
/// cores run meanwhile, except with `instrumentation`. A step over a call runs the whole call, which may take long or
/// hit a breakpoint.
#[composite_tool(
    name = "hd_exec_step",
    title = "Step the target",
    group = "exec",
    tier = "state",
    uses(
        hyperdbg_u_stepping_regular_step_in,
        hyperdbg_u_stepping_step_over,
        hyperdbg_u_stepping_instrumentation_step_in,
        hyperdbg_u_read_target_register,
        hyperdbg_u_read_memory
    )
)]
async fn step(cx: Cx<State>, input: StepInput) -> Result<Answer<StepOutput>, ToolError> {
    let engine = cx.engine().await?;
    let mut path = Vec::new();
    let mut printed = Vec::new();
    for taken in 0..input.count {
        let (function, returned, text) = match input.kind {
            StepKind::In => {
                let outcome = engine
                    .stepping_regular_step_in(SteppingRegularStepInArgs {})
                    .await?;
                (
                    &generated::STEPPING_REGULAR_STEP_IN,
                    outcome.reply.returned,
                    outcome.text,
                )
            }
            StepKind::Over => {
                let outcome = engine.stepping_step_over(SteppingStepOverArgs {}).await?;
                (
                    &generated::STEPPING_STEP_OVER,
                    outcome.reply.returned,
                    outcome.text,
                )
            }
            StepKind::Instrumentation => {
                let outcome = engine
                    .stepping_instrumentation_step_in(SteppingInstrumentationStepInArgs {})
                    .await?;
                (
                    &generated::STEPPING_INSTRUMENTATION_STEP_IN,
                    outcome.reply.returned,
                    outcome.text,
                )
            }
        };
        if let Err(mut error) = verdict(function, Some(returned.into()), None, &text) {
            error.message = format!("{} Steps taken before: {taken}.", error.message);
            return Err(error);
        }
        printed.extend_from_slice(&text);
        if let Some(position) = position(&cx).await {
            path.push(StepPosition {
                rip: position.rip,
                instruction: position.instruction,
            });
        }
    }
    let mut text = format!(
        "Took {} step{}.",
        input.count,
        if input.count == 1 { "" } else { "s" }
    );
    for position in &path {
        let instruction = position.instruction.as_deref().unwrap_or("(cannot be read)");
        text.push_str(&format!("\n{}  {instruction}", position.rip));
    }
    let output = StepOutput {
        steps: input.count,
        path,
    };
    Ok(Answer::new(output, text).captured(printed))
}
