//! Breakpoints and events that a line of text sets or takes back: noted in the session's book like those of typed tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{breakpoints, budget, calls, events};
use crate::tier::{Permits, Read};
use crate::tool::{Armed, Cx, Listing};

/// What was listed before the line was sent.
pub(super) enum Before {
    Breakpoints(BTreeMap<u64, u64>),
    Events(BTreeMap<u64, events::Listed>),
}

/// Lists what a line of this form may change; nothing where it changes neither, or nothing can be listed.
pub(super) async fn before<T: Permits<Read>>(cx: &Cx<T>, form: Option<&str>) -> Option<Before> {
    let form = form?;
    if matches!(form, "bp" | "bc") {
        breakpoints_of(cx).await.map(Before::Breakpoints)
    } else if form == "events.change" || form.starts_with("event.") {
        events_of(cx).await.map(Before::Events)
    } else {
        None
    }
}

async fn breakpoints_of<T: Permits<Read>>(cx: &Cx<T>) -> Option<BTreeMap<u64, u64>> {
    let listed = calls::list(cx, Listing::Breakpoints).await.ok()?;
    let listed = breakpoints::parse(listed.bytes());
    Some(listed.iter().map(|one| (one.id.0, one.address.0)).collect())
}

async fn events_of<T: Permits<Read>>(cx: &Cx<T>) -> Option<BTreeMap<u64, events::Listed>> {
    let listed = calls::list(cx, Listing::Events).await.ok()?;
    Some(
        events::parse(listed.bytes())
            .into_iter()
            .map(|row| (row.id, row))
            .collect(),
    )
}

/// Notes the difference between then and now.
pub(super) async fn after<T: Permits<Read>>(cx: &Cx<T>, before: Before) {
    let Some(current) = cx.current() else { return };
    match before {
        Before::Breakpoints(before) => {
            let Some(now) = breakpoints_of(cx).await else {
                return;
            };
            let mut pages = current.book.pages();
            pages.breakpoints.retain(|id, _| now.contains_key(id));
            let new = now.into_iter().filter(|(id, _)| !before.contains_key(id));
            pages.breakpoints.extend(new);
        }
        Before::Events(before) => {
            let Some(now) = events_of(cx).await else { return };
            let mut pages = current.book.pages();
            let epoch = pages.epoch;
            pages.events.retain(|id, _| now.contains_key(id));
            // One that its budget had ended and that the line enabled has its budget anew.
            let mut enabled = Vec::new();
            for (id, armed) in &mut pages.events {
                if armed.ended.is_some() && now.get(id).is_some_and(|row| row.enabled) {
                    armed.ended = None;
                    armed.meter = armed.meter.take().map(|old| Arc::new(old.anew()));
                    enabled.extend(armed.meter.clone().map(|meter| (*id, meter)));
                }
            }
            let new = now
                .into_iter()
                .filter(|(id, _)| !before.contains_key(id))
                .map(|(id, row)| (id, Armed::without_budget(row.command, epoch)));
            pages.events.extend(new);
            drop(pages);
            for (id, meter) in enabled {
                current.target.count(&meter);
                budget::watch(current.clone(), id, meter);
            }
        }
    }
}
