//! `hd_exec_command`: one line of HyperDbg's own language.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use hyperdbg_mcp_macros::composite_tool;

use super::execution::elapsed_ms;
use super::halted::{self, RunState};
use super::{calls, noted};
use crate::generated::{Call, RunCommandArgs};
use crate::output::Untrusted;
use crate::policy;
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
    /// Gives the printed bytes as hexadecimal digits.
    #[serde(default)]
    hex: bool,
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
/// for what no other tool does: their results are structured and cheaper. Bare digits are hexadecimal: write 0x… or 0n….
/// A line that HyperDbg rejects is an error with the meaning of its code. What the line can do is judged before it is sent:
/// one that only reads runs, one that can destroy or is not understood counts as destructive, and `exit`, `cls` and
/// `.listen` are never sent. `.help COMMAND` prints a command's usage.
#[composite_tool(
    name = "hd_exec_command",
    title = "Run a debugger command",
    group = "exec",
    tier = "destructive",
    open_world = true,
    uses(
        hyperdbg_u_run_command,
        hyperdbg_u_read_all_registers,
        hyperdbg_u_show_signature,
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
    let before = noted::before(&cx, cleared.form.as_deref()).await;
    let mut state = None;
    let mut told = None;
    let (printed, forwarded) = if resumes && connection.is_debugger() {
        let call = Call::RunCommand(RunCommandArgs {
            command: line.as_bytes().to_vec(),
        });
        cx.resume(call).await?;
        let since = Instant::now();
        match cx.wait(RESUME_WAIT).await? {
            Some(delivery) => {
                let printed = Untrusted::new(delivery.text());
                let answer = halted::told(&cx, delivery, elapsed_ms(since)).await;
                told = Some(answer.map_err(|error| noted(error, note.as_deref()))?.text);
                state = Some(RunState::Stopped);
                (printed, false)
            }
            None => {
                state = Some(RunState::Running);
                (Untrusted::default(), false)
            }
        }
    } else {
        let ran = calls::run_command(&cx.engine().await?, &line).await;
        if let Some(before) = before {
            noted::after(&cx, before).await;
        }
        ran?
    };
    // A complaint in the text of a stop is that of a script, and the stop must not be lost.
    if told.is_none()
        && let Some(error) = complaint(&printed)
    {
        return Err(noted(error, note.as_deref()));
    }
    let mut words = vec![format!(
        "Ran `{line}`{}.",
        if forwarded { " on the other machine" } else { "" }
    )];
    // A stop's record has lines of its own and comes last.
    let stopped = state == Some(RunState::Stopped);
    words.extend(note.clone().filter(|_| stopped));
    match state {
        Some(RunState::Running) => words.push("The target is running.".to_owned()),
        Some(RunState::Stopped) => words.extend(told),
        None if printed.bytes().trim_ascii().is_empty() => words.push("It printed nothing.".to_owned()),
        None => {}
    }
    words.extend(note.clone().filter(|_| !stopped));
    let output = CommandOutput {
        command: line,
        forwarded,
        state,
        note,
    };
    let printed = if input.hex { printed.hex() } else { printed };
    Ok(Answer::new(output, words.join(" ")).captured(printed))
}

/// The error with the note about numbers, which may explain it.
fn noted(mut error: ToolError, note: Option<&str>) -> ToolError {
    if let Some(note) = note {
        error.message = format!("{} {note}", policy::sentence(&error.message));
    }
    error
}
