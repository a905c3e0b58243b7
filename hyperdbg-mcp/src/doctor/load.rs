//! Loading the library, in a worker process that may die of it. Nothing is connected and no driver is touched.

use std::time::Duration;

use serde::Serialize;

use super::Finding;
use crate::engine::LibrarySource;
use crate::generated::{Call, RunCommandArgs};
use crate::sdk;
use crate::session::{Session, SessionConfig, WorkerProgram};
use crate::tool::Category;

/// Time for one call; an empty command needs none.
const CALL: Duration = Duration::from_secs(10);

/// How loading went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Load {
    /// The library is loaded, its callback set, its first command run.
    pub loaded: bool,
    /// What went wrong, or is strange.
    pub error: Option<String>,
    /// What to do about it.
    pub next_step: Option<String>,
    /// Functions that the loader did not find.
    pub unresolved: Vec<String>,
    /// Whether text came back through the callback.
    pub text_arrives: bool,
}

/// Loads the library and lets it say something.
pub(super) async fn attempt(source: LibrarySource, sdk: sdk::Choice, worker: WorkerProgram) -> Load {
    let mut load = Load {
        loaded: false,
        error: None,
        next_step: None,
        unresolved: Vec::new(),
        text_arrives: false,
    };
    let config = SessionConfig {
        sdk,
        ..SessionConfig::new(source, worker)
    };
    let session = match Session::open(config).await {
        Ok(session) => session,
        Err(error) => {
            load.error = Some(error.message);
            load.next_step = match error.category {
                // What the session advises is for calls that somebody made.
                Category::WorkerLost | Category::Timeout => Some(
                    "Unpack or build HyperDbg again, with all libraries beside it from the same release."
                        .to_owned(),
                ),
                _ => error.next_step,
            };
            return load;
        }
    };
    load.loaded = true;
    load.unresolved = session.missing_exports().to_vec();
    // The empty command does nothing but print a line break.
    let empty = Call::RunCommand(RunCommandArgs { command: Vec::new() });
    match session.call(empty, CALL).await {
        Ok(outcome) => load.text_arrives = !outcome.text.is_empty(),
        Err(error) => {
            load.error = Some(error.message);
            load.next_step = error.next_step;
        }
    }
    session.close().await;
    load
}

pub(super) fn judge(load: &Load) -> Finding {
    const ID: &str = "library.load";
    let todo = |finding: Finding| match &load.next_step {
        Some(step) => finding.todo(step.clone()),
        None => finding,
    };
    match (load.loaded, &load.error, load.text_arrives) {
        (false, error, _) => {
            let error = error.as_deref().unwrap_or("for an unknown reason");
            todo(Finding::problem(ID, format!("it cannot be loaded: {error}")))
        }
        (true, Some(error), _) => todo(Finding::problem(
            ID,
            format!("it loads, but the empty command failed: {error}"),
        )),
        (true, None, false) => Finding::problem(ID, "it loads, but no text arrives through its callback")
            .why("all output of HyperDbg comes that way")
            .todo("Use the release of HyperDbg that this program was made for."),
        (true, None, true) => {
            Finding::ok(ID, "it loads in a worker process, and its text arrives").why(format!(
                "{} functions resolved, {} not",
                hyperdbg_sys::Exports::SYMBOLS.len()
                    - load.unresolved.len().min(hyperdbg_sys::Exports::SYMBOLS.len()),
                load.unresolved.len()
            ))
        }
    }
}
