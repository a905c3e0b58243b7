//! The budgets of armed events: an event that says too much, or is armed too long, is disabled by the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::Link;
use crate::tool::{Current, Run, Undo, undo};

/// How often the log is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// Records taken at once.
const RECORDS: usize = 256;
/// How often a break is sent, and how many, until a running debuggee halts.
const BREAK: Duration = Duration::from_millis(500);
const BREAKS: u32 = 10;

/// Watches an event until its budget is used up, it is removed, or its session ends.
pub(super) fn watch(current: Current, id: u64) {
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(LOOK).await;
            if !current.target.state().alive || !count(&current, id).await {
                return;
            }
            let why = match current.book.pages().events.get(&id) {
                Some(armed) if armed.ended.is_none() => armed.exhausted(Instant::now()),
                _ => return,
            };
            // What cannot be disabled now is tried again.
            if let Some(why) = why
                && disable(&current, id).await
            {
                end(&current, id, why);
            }
        }
    });
}

/// Adds what the log has gained; false when the event is gone.
async fn count(current: &Current, id: u64) -> bool {
    loop {
        let Some(since) = current.book.pages().events.get(&id).map(|armed| armed.since) else {
            return false;
        };
        let page = current.target.events(since, RECORDS, Duration::ZERO).await;
        let mut pages = current.book.pages();
        let Some(armed) = pages.events.get_mut(&id) else {
            return false;
        };
        armed.since = page.next;
        for record in &page.records {
            armed.bytes += record.text.len() as u64 + record.lost_before;
            armed.hits += record.text.bytes().iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        // What the ring lost was said as well.
        armed.hits += page.missed;
        if !page.more {
            return true;
        }
    }
}

fn end(current: &Current, id: u64, why: &'static str) {
    if let Some(armed) = current.book.pages().events.get_mut(&id) {
        armed.ended = Some(why);
    }
}

/// Disables an event. A running debuggee is halted first, and stays so: its stop waits to be told.
async fn disable(current: &Current, id: u64) -> bool {
    for _ in 0..BREAKS {
        if current.target.run() != Run::Running {
            break;
        }
        if current.target.interrupt().await.is_err() {
            return false;
        }
        let until = Instant::now() + BREAK;
        while current.target.run() == Run::Running && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    undo(
        Arc::clone(&current.target) as Arc<dyn Link>,
        Undo::DisableEvent(id),
    )
    .await
    .is_ok()
}

/// Counts a stop that an event brought about, and disables the event where that was its last.
pub(super) async fn count_stop(current: &Current, id: u64) -> Option<&'static str> {
    let why = {
        let mut pages = current.book.pages();
        let armed = pages.events.get_mut(&id).filter(|armed| armed.ended.is_none())?;
        armed.hits += 1;
        armed.exhausted(Instant::now())?
    };
    if disable(current, id).await {
        end(current, id, why);
        return Some(why);
    }
    None
}
