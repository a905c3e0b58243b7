//! Command lines with a fixed form that list or take back: they have a tier of their own, whatever the function that
//! sends them has. `#[composite_tool]` knows the same lines.

use std::fmt;
use std::sync::Arc;

use super::{Current, ToolError, verdict};
use crate::engine::{Engine, Link, Outcome};
use crate::generated::{self, RunCommandArgs};
use crate::output::Untrusted;
use crate::tier::Destructive;

/// Lines that only list: tier Read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// User and kernel modules.
    Modules,
    /// Kernel modules.
    KernelModules,
    /// User modules.
    UserModules,
    /// Breakpoints.
    Breakpoints,
    /// Events.
    Events,
}

impl Listing {
    fn line(self) -> &'static str {
        match self {
            Self::Modules => "lm",
            Self::KernelModules => "lm km",
            Self::UserModules => "lm um",
            Self::Breakpoints => "bl",
            Self::Events => "events",
        }
    }
}

/// Lines that take back or switch what was set: tier State.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undo {
    /// Removes a breakpoint.
    ClearBreakpoint(u64),
    /// Switches an event on.
    EnableEvent(u64),
    /// Switches an event off.
    DisableEvent(u64),
    /// Removes an event.
    ClearEvent(u64),
}

impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClearBreakpoint(id) => write!(f, "bc {id:#x}"),
            Self::EnableEvent(id) => write!(f, "events e {id:#x}"),
            Self::DisableEvent(id) => write!(f, "events d {id:#x}"),
            Self::ClearEvent(id) => write!(f, "events c {id:#x}"),
        }
    }
}

async fn send(link: Arc<dyn Link>, line: &str) -> Result<Outcome<Untrusted>, ToolError> {
    let engine = Engine::<Destructive>::new(link);
    let command = line.as_bytes().to_vec();
    let outcome = engine.run_command(RunCommandArgs { command }).await?;
    let text = outcome.text.clone();
    outcome.try_map(|_| Ok(text))
}

/// What a listing printed; judged by the caller.
pub(crate) async fn list(link: Arc<dyn Link>, listing: Listing) -> Result<Outcome<Untrusted>, ToolError> {
    send(link, listing.line()).await
}

/// Takes something back, and gives what was printed.
pub(crate) async fn undo(link: Arc<dyn Link>, undo: Undo) -> Result<Untrusted, ToolError> {
    let text = send(link, &undo.to_string()).await?.reply;
    verdict(&generated::RUN_COMMAND, None, None, &text)?;
    Ok(text)
}

/// Removes the breakpoints of the session that were set for one hit. The target is halted. One that cannot be removed
/// stays noted, for the next time.
pub(crate) async fn sweep(current: &Current) {
    let noted: Vec<(u64, Option<u64>)> = {
        let pages = current.book.pages();
        pages
            .one_shot
            .iter()
            .map(|(address, id)| (*address, *id))
            .collect()
    };
    for (address, id) in noted {
        let link = || Arc::clone(&current.target) as Arc<dyn Link>;
        let found = match id {
            Some(id) => Ok(vec![id]),
            // Its number was never learned: whoever set it went away meanwhile.
            None => list(link(), Listing::Breakpoints).await.map(|listed| {
                let own = current.book.pages().breakpoints.clone();
                crate::composite::breakpoints_at(listed.reply.bytes(), address)
                    .into_iter()
                    .filter(|id| !own.contains_key(id))
                    .collect()
            }),
        };
        let Ok(found) = found else { continue };
        let mut gone = true;
        for id in found {
            gone &= undo(link(), Undo::ClearBreakpoint(id)).await.is_ok();
        }
        if gone {
            current.book.pages().one_shot.remove(&address);
        }
    }
}
