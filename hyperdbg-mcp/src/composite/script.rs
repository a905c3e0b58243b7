//! Expressions and scripts in HyperDbg's language.

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calls;
use crate::tier::Destructive;
use crate::tool::typed::Answer;
use crate::tool::value::Hex;
use crate::tool::{Cx, ToolError};

#[derive(Deserialize, JsonSchema)]
struct EvalInput {
    /// Such as @rax + 0x10, poi(@rsp) or nt!NtCreateFile.
    expression: String,
}

#[derive(Serialize, JsonSchema)]
struct EvalOutput {
    expression: String,
    value: Hex,
    /// The same, unsigned.
    decimal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Evaluates an expression of HyperDbg's script language in the target and returns its 64-bit value. Bare digits are
/// hexadecimal: write 0x… or 0n…. An expression with a function that writes, or that is not understood, counts as
/// destructive. With nothing attached it is evaluated in the debugger's own process, and a dereference is refused.
#[composite_tool(
    name = "hd_script_eval",
    title = "Evaluate an expression",
    group = "script",
    tier = "destructive",
    uses(hyperdbg_u_eval_expression)
)]
async fn eval(cx: Cx<Destructive>, input: EvalInput) -> Result<Answer<EvalOutput>, ToolError> {
    let cleared = cx.cleared(&input.expression)?;
    let expression = cleared.text.clone();
    let note = cleared.note();
    let (value, printed) = calls::evaluate(&cx.engine().await?, &expression).await?;
    let mut words = format!("{expression} = {} ({value})", Hex(value));
    if let Some(note) = &note {
        words = format!("{words}\n{note}");
    }
    let output = EvalOutput {
        expression,
        value: Hex(value),
        decimal: value.to_string(),
        note,
    };
    Ok(Answer::new(output, words).captured(printed))
}

#[derive(Deserialize, JsonSchema)]
struct RunInput {
    /// Statements, each with its semicolon.
    script: String,
    /// Gives the printed bytes as hexadecimal digits.
    #[serde(default)]
    hex: bool,
}

#[derive(Serialize, JsonSchema)]
struct RunOutput {
    /// Bytes of the script.
    size: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Runs statements of HyperDbg's script language once in the halted target and returns what they print. It runs at the
/// highest privilege with interrupts off; one that writes memory or registers, or is not understood, counts as
/// destructive. A loop ends after 1,000,000 steps. An error while it runs shows only in the printed text. Bare digits are
/// hexadecimal.
#[composite_tool(
    name = "hd_script_run",
    title = "Run a script",
    group = "script",
    tier = "destructive",
    uses(hyperdbg_u_run_script)
)]
async fn run(cx: Cx<Destructive>, input: RunInput) -> Result<Answer<RunOutput>, ToolError> {
    let cleared = cx.cleared(&input.script)?;
    let note = cleared.note();
    let printed = calls::run_script(&cx.engine().await?, &cleared.text).await?;
    let mut words = "The script ran.".to_owned();
    if printed.bytes().trim_ascii().is_empty() {
        words.push_str(" It printed nothing.");
    }
    if let Some(note) = &note {
        words = format!("{words}\n{note}");
    }
    let output = RunOutput {
        size: u32::try_from(cleared.text.len()).unwrap_or(u32::MAX),
        note,
    };
    let printed = if input.hex { printed.hex() } else { printed };
    Ok(Answer::new(output, words).captured(printed))
}
