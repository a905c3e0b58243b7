//! Looking at the sessions without waiting for any.

use std::fmt::Write;

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::connect::Prompt;
use super::session::changes;
use crate::generated::{IsAnyModuleLoadedArgs, ShowSignatureArgs};
use crate::tier::Read;
use crate::tool::typed::Answer;
use crate::tool::{Current, Cx, Run, ToolError};

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
        let last_end = cx.last_end();
        let mut text = match (cx.last(), &last_end) {
            // Others live: this one was named.
            (Some(named), Some(end)) if !all.is_empty() => {
                let open: Vec<&str> = all.iter().map(|current| &*current.id).collect();
                format!(
                    "Session {} has ended: its worker {end}. Open now: {}.",
                    named.id,
                    open.join(", ")
                )
            }
            (_, Some(end)) => {
                format!("No session is open. Library: {library}. The worker of the last one {end}.")
            }
            _ => format!("No session is open. Library: {library}."),
        };
        if all.is_empty()
            && let Some(connection) = cx.opens_by_itself()
        {
            let _ = write!(
                text,
                " One opens by itself in mode {} at the first call that needs it.",
                connection.mode()
            );
        }
        if let Some(step) = cx.opening() {
            let _ = write!(text, " One is being opened: {step}.");
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
    if let Some(step) = cx.opening() {
        let _ = write!(text, " Another one is being opened: {step}.");
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
