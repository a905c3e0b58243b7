//! `hd_exec_run_to`: a breakpoint for one hit, gone again on every path.

use std::time::{Duration, Instant};

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::execution::{default_timeout, elapsed_ms, halt, still_running};
use super::halted::{self, StopOutput};
use super::{breakpoints, calls};
use crate::generated::{Call, ContinueDebuggeeArgs};
use crate::tier::State;
use crate::tool::typed::Answer;
use crate::tool::value::Hex;
use crate::tool::{Cx, Listing, ToolError, sweep};

#[derive(Deserialize, JsonSchema)]
struct Input {
    address: Hex,
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 20_000))]
    timeout_ms: u32,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    reached: bool,
    #[serde(flatten)]
    stop: StopOutput,
}

/// Lets the halted debuggee run until it reaches a virtual address, at most timeout_ms: then it is halted where it is.
/// Another breakpoint or an event may stop it before. Its own breakpoint is removed in every case.
#[composite_tool(
    name = "hd_exec_run_to",
    title = "Run to an address",
    group = "exec",
    tier = "state",
    uses(
        hyperdbg_u_set_breakpoint,
        hyperdbg_u_continue_debuggee,
        hyperdbg_u_run_command("bl"),
        hyperdbg_u_run_command("bc"),
        hyperdbg_u_read_all_registers,
        hyperdbg_u_show_signature,
        hyperdbg_u_read_memory
    )
)]
async fn run_to(cx: Cx<State>, input: Input) -> Result<Answer<Output>, ToolError> {
    breakpoints::needs_debuggee(&cx).await?;
    let Some(current) = cx.current() else {
        return Err(ToolError::internal("a session that was there has no place"));
    };
    let since = Instant::now();
    let address = input.address;
    let set = breakpoints::parse(calls::list(&cx, Listing::Breakpoints).await?.bytes());
    if !set.iter().any(|one| one.address == address && one.enabled) {
        // Noted before it is set: whatever becomes of this call, the next stop or the close removes it.
        current.book.pages().one_shot.insert(address.0, None);
        let made = async {
            let args = breakpoints::anywhere(address);
            let printed = calls::set_breakpoint(&cx.engine().await?, args).await?;
            let now = breakpoints::parse(calls::list(&cx, Listing::Breakpoints).await?.bytes());
            breakpoints::new_one(&set, &now, address, printed)
        };
        match made.await {
            Ok(new) => {
                current.book.pages().one_shot.insert(address.0, Some(new.id.0));
            }
            Err(error) => {
                sweep(&current).await;
                return Err(error);
            }
        }
    }
    if let Err(error) = cx.resume(Call::ContinueDebuggee(ContinueDebuggeeArgs {})).await {
        sweep(&current).await;
        return Err(error);
    }
    let timeout = Duration::from_millis(input.timeout_ms.into());
    let mut late = false;
    let delivery = match cx.wait(timeout).await? {
        Some(delivery) => Some(delivery),
        None => {
            late = true;
            halt(&cx).await?
        }
    };
    let Some(delivery) = delivery else {
        let mut answer = still_running(&cx, since);
        answer.text = format!(
            "The target did not reach {address}, and a halt that was requested has not been seen: it is running. The \
             breakpoint is removed at its next stop."
        );
        return Ok(with(answer, false));
    };
    let mut answer = halted::told(&cx, delivery, elapsed_ms(since)).await?;
    let reached = answer.value.rip == Some(address);
    if !reached {
        let why = if late { " in time" } else { "" };
        answer.text = format!("{address} was not reached{why}. {}", answer.text);
    }
    Ok(with(answer, reached))
}

fn with(answer: Answer<StopOutput>, reached: bool) -> Answer<Output> {
    Answer {
        value: Output {
            reached,
            stop: answer.value,
        },
        text: answer.text,
        view: answer.view,
        captured: answer.captured,
    }
}
