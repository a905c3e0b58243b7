//! The budgets of armed events: an event that says too much, or is armed too long, is disabled by the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::Link;
use crate::tool::{Armed, Current, Meter, Run, Undo, undo};

/// How often the time is looked at, and a disabling that failed is tried again.
const LOOK: Duration = Duration::from_millis(200);
/// How often a break is sent, and how many, until a running debuggee halts.
const BREAK: Duration = Duration::from_millis(500);
const BREAKS: u32 = 10;

/// Watches an event until its budget is used up, it is removed, or its session ends.
pub(super) fn watch(current: Current, id: u64, meter: Arc<Meter>) {
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = meter.used_up() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
            // It is another event's by now, or nobody's.
            let is_watched = |armed: &Armed| {
                armed.ended.is_none() && armed.meter.as_ref().is_some_and(|own| Arc::ptr_eq(own, &meter))
            };
            let watched = current.book.pages().events.get(&id).is_some_and(is_watched);
            if !watched || !current.target.state().alive {
                return;
            }
            if let Some(why) = meter.exhausted(Instant::now()) {
                if disable(&current, id).await {
                    end(&current, id, why);
                } else {
                    tokio::time::sleep(LOOK).await;
                }
            }
        }
    });
}

fn end(current: &Current, id: u64, why: &'static str) {
    let mut pages = current.book.pages();
    let Some(armed) = pages.events.get_mut(&id).filter(|armed| armed.ended.is_none()) else {
        return;
    };
    armed.ended = Some(why);
    let Some(meter) = armed.meter.clone() else { return };
    meter.stop();
    let dropped = match meter.counts().dropped {
        0 => String::new(),
        lines => format!("; {lines} more lines came before it was off, and were dropped"),
    };
    drop(pages);
    current.target.log(&format!(
        "Event {id:#x} was disabled: its budget {why} is used up{dropped}."
    ));
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
    let meter = {
        let pages = current.book.pages();
        let armed = pages.events.get(&id)?;
        // Its report was text as well, and can have used up the budget before it was told.
        if armed.ended.is_some() {
            return armed.ended;
        }
        armed.meter.clone()?
    };
    meter.hit();
    let why = meter.exhausted(Instant::now())?;
    if disable(current, id).await {
        end(current, id, why);
        return Some(why);
    }
    None
}
