//! `hd_exec_command`: one line of HyperDbg's own language.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use hyperdbg_mcp_macros::composite_tool;

use super::execution::{self, RunState};
use super::{calls, stop};
use crate::generated::{Call, RunCommandArgs};
use crate::tier::Destructive;
use crate::tool::typed::Answer;
use crate::tool::{Cx, ToolError, complaint};

/// How long a command that lets the target run is waited for.
const RESUME_WAIT: Duration = Duration::from_secs(10);

/// Forms of commands that return at the target's next stop in debugger mode.
const RESUMING: [&str; 6] = ["go", "continue", "start", "attach", "detach", "restart"];

#[derive(Deserialize, JsonSchema)]
struct CommandInput {
    /// One command line. Numbers as 0x….
    command: String,
}

#[derive(Serialize, JsonSchema)]
struct CommandOutput {
    /// The line that was run.
    command: String,
    /// Another machine ran it.
    forwarded: bool,
    /// `running` when the command let the target run and it has not stopped yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<RunState>,
    /// What to know about the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Runs one HyperDbg command line, such as `lm`, `!pte nt!x` or `events`, and returns the text that it printed. Use it
/// for what no other tool does: results of other tools are structured and cheaper. Bare digits are hexadecimal: write
/// 0x… or 0n…. A line that HyperDbg rejects is an error with the meaning of its code. Commands such as `g` that let the
/// target run are waited for a few seconds and then answered with state `running`. What the line can do is judged before it
/// is sent: one that only reads runs, one that can destroy or is not understood counts as destructive, and `exit`, `cls`
/// and `.listen` are never sent. `.help COMMAND` prints a command's usage.
#[composite_tool(
    name = "hd_exec_command",
    title = "Run a debugger command",
    group = "exec",
    tier = "destructive",
    open_world = true,
    uses(
        hyperdbg_u_run_command,
        hyperdbg_u_read_target_register,
        hyperdbg_u_read_memory
    )
)]
async fn command(cx: Cx<Destructive>, input: CommandInput) -> Result<Answer<CommandOutput>, ToolError> {
    let cleared = cx.cleared(&input.command)?;
    let line = cleared.text.clone();
    let note = cleared.note();
    let connection = cx.connection().await?;
    let resumes = cleared
        .form
        .as_deref()
        .is_some_and(|form| RESUMING.contains(&form));
    let (printed, forwarded, state) = if resumes && connection.is_debugger() {
        let call = Call::RunCommand(RunCommandArgs {
            command: line.as_bytes().to_vec(),
        });
        cx.resume(call).await?;
        match cx.wait(RESUME_WAIT).await? {
            Some(outcome) => (outcome.text, false, Some(RunState::Stopped)),
            None => (Vec::new(), false, Some(RunState::Running)),
        }
    } else {
        let (printed, forwarded) = calls::run_command(&cx.engine().await?, &line).await?;
        (printed, forwarded, None)
    };
    let position = match state {
        Some(RunState::Stopped) => execution::position(&cx).await,
        _ => None,
    };
    // Who reads registers is halted: a complaint is then that of a script, and the stop must not be lost.
    if position.is_none()
        && let Some(mut error) = complaint(&printed)
    {
        if let Some(note) = note {
            error.message = format!("{} {note}", error.message);
        }
        return Err(error);
    }
    let mut words = vec![format!(
        "Ran `{line}`{}.",
        if forwarded { " on the other machine" } else { "" }
    )];
    match state {
        Some(RunState::Running) => words.push("The target is running.".to_owned()),
        Some(RunState::Stopped) => words.push(stop::describe(&stop::parse(&printed), position.as_ref())),
        None if printed.iter().all(u8::is_ascii_whitespace) => words.push("It printed nothing.".to_owned()),
        None => {}
    }
    words.extend(note.clone());
    let output = CommandOutput {
        command: line,
        forwarded,
        state,
        note,
    };
    Ok(Answer::new(output, words.join(" ")).captured(printed))
}
