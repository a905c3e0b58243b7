//! `hd_exec_step`: instructions of the halted target, one by one.

use std::time::{Duration, Instant};

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::halted;
use super::stop::{self, Reason};
use crate::engine::Engine;
use crate::generated::{
    self, SteppingInstrumentationStepInArgs, SteppingRegularStepInArgs, SteppingStepOverArgs,
};
use crate::output::Untrusted;
use crate::policy;
use crate::tier::State;
use crate::tool::typed::Answer;
use crate::tool::value::Hex;
use crate::tool::{Category, Cx, FunctionInfo, Run, ToolError, verdict};

/// How long several steps may take together; a single one has its own bound.
const TOGETHER: Duration = Duration::from_secs(20);

/// How to step.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    #[default]
    In,
    Over,
    Instrumentation,
}

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// `in` enters calls, `over` runs them to their return, `instrumentation` runs exactly one instruction on this core
    /// while the others stay halted.
    #[serde(default)]
    kind: Kind,
    /// Steps to take.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 64))]
    count: u32,
}

fn one() -> u32 {
    1
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// Steps taken.
    steps: u32,
    /// Why fewer were taken than asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    reason: Option<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Hex>,
    path: Vec<Position>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Position {
    rip: Hex,
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<String>,
}

async fn take(
    engine: &Engine<State>,
    kind: Kind,
) -> Result<(&'static FunctionInfo, i128, Untrusted), ToolError> {
    Ok(match kind {
        Kind::In => {
            let outcome = engine
                .stepping_regular_step_in(SteppingRegularStepInArgs {})
                .await?;
            (
                &generated::STEPPING_REGULAR_STEP_IN,
                outcome.reply.returned.into(),
                outcome.text,
            )
        }
        Kind::Over => {
            let outcome = engine.stepping_step_over(SteppingStepOverArgs {}).await?;
            (
                &generated::STEPPING_STEP_OVER,
                outcome.reply.returned.into(),
                outcome.text,
            )
        }
        Kind::Instrumentation => {
            let outcome = engine
                .stepping_instrumentation_step_in(SteppingInstrumentationStepInArgs {})
                .await?;
            (
                &generated::STEPPING_INSTRUMENTATION_STEP_IN,
                outcome.reply.returned.into(),
                outcome.text,
            )
        }
    })
}

/// Executes instructions of the halted target one by one, and tells rip and the next instruction after each. Other cores
/// run meanwhile, except with `instrumentation`. A breakpoint or event on the way ends it, with its reason.
#[composite_tool(
    name = "hd_exec_step",
    title = "Step the target",
    group = "exec",
    tier = "state",
    uses(
        hyperdbg_u_stepping_regular_step_in,
        hyperdbg_u_stepping_step_over,
        hyperdbg_u_stepping_instrumentation_step_in,
        hyperdbg_u_read_all_registers,
        hyperdbg_u_show_signature,
        hyperdbg_u_read_memory
    )
)]
async fn step(cx: Cx<State>, input: Input) -> Result<Answer<Output>, ToolError> {
    let engine = cx.engine().await?;
    // Told after a step, it would be told with a place where the target no longer is.
    if cx.session().is_some_and(|session| session.run == Run::StopUntold) {
        return Err(ToolError::new(
            Category::Busy,
            "The target has stopped since it was last resumed, and that stop has not been read.",
        )
        .next_step("Wait for the stop (it is there at once), then step."));
    }
    let since = Instant::now();
    let mut path = Vec::new();
    let mut printed = Untrusted::default();
    let mut output = Output {
        steps: 0,
        reason: None,
        id: None,
        path: Vec::new(),
        changed: Vec::new(),
    };
    while output.steps < input.count && (output.steps == 0 || since.elapsed() < TOGETHER) {
        let (function, returned, text) = take(&engine, input.kind).await?;
        if let Err(mut error) = verdict(function, Some(returned), None, &text) {
            error.message = format!(
                "{} Steps taken before: {}.",
                policy::sentence(&error.message),
                output.steps
            );
            return Err(error);
        }
        output.steps += 1;
        let stop = stop::parse(text.bytes());
        printed.append(&stop.rest);
        if let Some(current) = cx.current()
            && let Some(position) = halted::position(&cx, &current).await
        {
            path.push(Position {
                rip: Hex(position.rip),
                instruction: position.next.into_iter().next(),
            });
            output.changed = position.changed;
        }
        if stop.reason != Reason::Other {
            output.reason = Some(stop.reason);
            output.id = stop.id.map(Hex);
            break;
        }
    }
    let mut text = format!(
        "Took {} step{}",
        output.steps,
        if output.steps == 1 { "" } else { "s" }
    );
    match (output.reason, output.id) {
        (Some(Reason::Breakpoint), Some(id)) => text.push_str(&format!("; breakpoint {id} was hit")),
        (Some(Reason::Event), Some(id)) => text.push_str(&format!("; event {id} stopped it")),
        (Some(_), _) => text.push_str("; something else stopped it"),
        (None, _) if output.steps < input.count => text.push_str("; the time for all of them was up"),
        _ => {}
    }
    text.push('.');
    for position in &path {
        let instruction = position.instruction.as_deref().unwrap_or("(cannot be read)");
        text.push_str(&format!("\n{}  {instruction}", position.rip));
    }
    if !output.changed.is_empty() {
        text.push_str(&format!("\nChanged: {}", output.changed.join(" ")));
    }
    output.path = path;
    Ok(Answer::new(output, text).captured(printed))
}
