//! What is kept, as MCP resources: outputs that did not fit in a page, and the event logs of sessions.
//!
//! ```text
//! hyperdbg://output/{id}{?offset}                    a page of a kept output
//! hyperdbg://session/{session_id}/events{?since}     the newest records of a log, or those after a number
//! ```
//!
//! A resource is read without a tool, so it says by itself that its text is captured data and how to read on.

mod address;
mod watch;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ErrorData, ListResourceTemplatesResult, ListResourcesResult, Resource, ResourceTemplate,
    SubscriptionFilter,
};
use rmcp::service::{Peer, SubscriptionContext};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::address::{Address, NoAddress};
use self::watch::{Sink, Watch, watch_events, watch_list};
use super::{Ending, Manager};
use crate::composite::log_line;
use crate::output::{NotKept, PAGE_CHARS, Untrusted, render_text};
use crate::session::LogPage;
use crate::tool::arguments::echo;
use crate::tool::{Current, Sessions, ToolError};

/// Bytes of captured data in one reading: room is left for the envelope and our own words.
const PAGE_BYTES: usize = PAGE_CHARS - 1_500;
/// Records in one reading of an event log.
const PAGE_RECORDS: usize = 200;
/// Outputs on one page of the list.
const LISTED: usize = 50;
/// Resources that one listener can name.
const WATCHED: usize = 64;
const PLAIN: &str = "text/plain";

/// The resources of a server, and who of one connection is told of their changes.
pub(super) struct Resources {
    manager: Arc<Manager>,
    ending: Ending,
    watches: Mutex<Watches>,
}

#[derive(Default)]
struct Watches {
    events: HashMap<String, Watch>,
    list: Option<Watch>,
}

/// A clone serves another connection: nobody is told anything there yet.
impl Clone for Resources {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.manager), self.ending.clone())
    }
}

impl Resources {
    pub(super) fn new(manager: Arc<Manager>, ending: Ending) -> Self {
        Self {
            manager,
            ending,
            watches: Mutex::default(),
        }
    }

    /// The sessions' logs and then the outputs, newest first; `cursor` is the id of the output that came last.
    pub(super) fn list(&self, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
        let outputs = self.manager.outputs();
        let mut kept = outputs
            .listed(cursor, LISTED + 1)
            .ok_or_else(|| ErrorData::invalid_params("the cursor is none that this server gave", None))?;
        let has_more = kept.len() > LISTED;
        kept.truncate(LISTED);
        let next = kept.last().filter(|_| has_more).map(|(id, _)| id.clone());
        let mut resources = Vec::new();
        if cursor.is_none() {
            resources.extend(self.living().iter().map(|current| {
                Resource::new(Address::events(&current.id, None).to_string(), format!("{}-events", current.id))
                    .with_title(format!("Event log of session {}", current.id))
                    .with_description(
                        "The newest records of what was printed outside of calls. Captured data. Can be subscribed to.",
                    )
                    .with_mime_type(PLAIN)
            }));
        }
        resources.extend(kept.into_iter().map(|(id, bytes)| {
            Resource::new(Address::output(&id, None).to_string(), id.as_str())
                .with_title(format!("Output {id}"))
                .with_description("The whole of a result that was cut. Captured data.")
                .with_mime_type(PLAIN)
                .with_size(bytes as u64)
        }));
        let mut list = ListResourcesResult::with_all_items(resources);
        list.next_cursor = next;
        Ok(list)
    }

    /// How the URIs are made.
    pub(super) fn templates() -> ListResourceTemplatesResult {
        ListResourceTemplatesResult::with_all_items(vec![
            ResourceTemplate::new("hyperdbg://output/{id}{?offset}", "output")
                .with_title("A kept output")
                .with_description(
                    "A result that was cut names its `id`. Without `offset` from its beginning; each page says where the next \
                     begins. Captured data.",
                )
                .with_mime_type(PLAIN),
            ResourceTemplate::new("hyperdbg://session/{session_id}/events{?since}", "events")
                .with_title("The event log of a session")
                .with_description(
                    "Without `since` the newest records, else those after that number; each page says the number to go on \
                     with. Captured data.",
                )
                .with_mime_type(PLAIN),
        ])
    }

    /// The text of a resource: at most a page.
    pub(super) async fn read(&self, uri: &str) -> Result<String, ErrorData> {
        match self.address(uri)? {
            Address::Output { id, offset } => self.read_output(uri, &id, offset.unwrap_or(0)),
            Address::Events { session, since } => {
                let current = self.session(uri, &session)?;
                Ok(self.read_events(&current, since).await)
            }
        }
    }

    fn read_output(&self, uri: &str, id: &str, offset: u64) -> Result<String, ErrorData> {
        let outputs = self.manager.outputs();
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let page = outputs.page(id, offset, PAGE_BYTES).map_err(|why| match why {
            NotKept::Dropped => self.not_found(uri, "it made room for newer ones"),
            NotKept::Unknown => self.not_found(uri, "there has never been one of that id"),
        })?;
        let end = page.offset + page.text.len();
        let head = format!("{id} from {} to {end} of {}.", page.offset, page.total);
        let rest = match page.next_offset {
            Some(next) => format!(
                "[read on: {}, or hd_output_read {{\"id\": \"{id}\", \"offset\": {next}}}]",
                Address::output(id, Some(next as u64))
            ),
            None => "[this is its end]".to_owned(),
        };
        Ok(render_text(&head, &Untrusted::kept(page.text), &rest, outputs))
    }

    async fn read_events(&self, current: &Current, since: Option<u64>) -> String {
        let target = &current.target;
        let state = target.state();
        let after = since.unwrap_or(state.events.saturating_sub(PAGE_RECORDS as u64));
        let page = target.events(after, PAGE_RECORDS, Duration::ZERO).await;
        let shown = Shown::of(page, since.is_none());
        let newest = state.events.max(shown.next);
        let mut head = match shown.range {
            Some((first, last)) => format!(
                "Event log of session {}: records {first} to {last} of {newest}.",
                current.stamp()
            ),
            None => format!(
                "Event log of session {}: no records{}.",
                current.stamp(),
                match since {
                    Some(since) => format!(" after {since} of {newest}"),
                    None => String::new(),
                }
            ),
        };
        if let Some(how) = &state.ended {
            head.push_str(&format!(" Its worker {how}."));
        }
        // All that the ring has dropped, or what it dropped behind the reader's number.
        let lost = match since {
            Some(_) => shown.missed,
            None => target.events(0, 0, Duration::ZERO).await.missed,
        };
        if lost > 0 {
            head.push_str(&format!(" {lost} records before them made room and are gone."));
        }
        if since.is_none() && shown.range.is_some_and(|(first, _)| first > lost + 1) {
            head.push_str(&format!(
                " Older ones: {}.",
                Address::events(&current.id, Some(lost))
            ));
        }
        let rest = format!(
            "[{}: {}]",
            if shown.next < newest {
                "read on"
            } else {
                "later ones"
            },
            Address::events(&current.id, Some(shown.next))
        );
        render_text(&head, &Untrusted::new(shown.text), &rest, self.manager.outputs())
    }

    /// Tells `peer` when the log at `uri` gains records.
    pub(super) fn subscribe(&self, uri: &str, peer: Peer<RoleServer>) -> Result<(), ErrorData> {
        let current = self.watchable(uri)?;
        let seen = current.target.state().events;
        let mut watches = self.lock();
        watches.events.retain(|_, watch| !watch.is_over());
        watches.events.entry(uri.to_owned()).or_insert_with(|| {
            let uri = uri.to_owned();
            Watch::start(|stop| watch_events(uri, current, seen, Sink::Peer(peer), stop))
        });
        Ok(())
    }

    /// The end of that. Nothing about `uri` is said after this returns.
    pub(super) async fn unsubscribe(&self, uri: &str) -> Result<(), ErrorData> {
        self.address(uri)?;
        let watch = self.lock().events.remove(uri);
        if let Some(watch) = watch {
            watch.end().await;
        }
        Ok(())
    }

    /// Tells a client that was given the list when it has changed; one that never asked for it is told nothing.
    pub(super) fn watch_list(&self, peer: Peer<RoleServer>) {
        let mut watches = self.lock();
        if watches.list.as_ref().is_none_or(Watch::is_over) {
            let (manager, seen) = (Arc::clone(&self.manager), self.manager.listed());
            watches.list = Some(Watch::start(|stop| {
                watch_list(manager, seen, Sink::Peer(peer), stop)
            }));
        }
    }

    /// What of a listener's wishes can be fulfilled.
    pub(super) fn accepted(&self, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut accepted = SubscriptionFilter::new();
        accepted.resources_list_changed = requested.resources_list_changed;
        let wanted = requested.resource_subscriptions.iter().flatten();
        let mut uris: Vec<String> = Vec::new();
        for uri in wanted {
            if uris.len() < WATCHED && !uris.contains(uri) && self.watchable(uri).is_ok() {
                uris.push(uri.clone());
            }
        }
        accepted.resource_subscriptions = (!uris.is_empty()).then_some(uris);
        accepted
    }

    /// Tells a listener what it asked for, until it has heard enough, the sessions have ended, or the input has.
    pub(super) async fn listen(&self, listener: &SubscriptionContext) {
        let accepted = listener.accepted();
        let mut uris: Vec<&String> = accepted.resource_subscriptions.iter().flatten().collect();
        uris.sort_unstable();
        uris.dedup();
        let stop = CancellationToken::new();
        let sink = Sink::Listener(listener.sink().clone());
        let mut watches = JoinSet::new();
        for uri in uris {
            if let Ok(current) = self.watchable(uri) {
                let seen = current.target.state().events;
                watches.spawn(watch_events(
                    uri.clone(),
                    current,
                    seen,
                    sink.clone(),
                    stop.clone(),
                ));
            }
        }
        if accepted.resources_list_changed == Some(true) {
            let (manager, seen) = (Arc::clone(&self.manager), self.manager.listed());
            watches.spawn(watch_list(manager, seen, sink, stop));
        }
        let all = async { while watches.join_next().await.is_some() {} };
        tokio::select! {
            () = all => {}
            () = listener.cancelled() => {}
            () = self.ending.begun() => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, Watches> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn living(&self) -> Vec<Current> {
        self.manager.view(None).all()
    }

    fn address(&self, uri: &str) -> Result<Address, ErrorData> {
        Address::parse(uri).map_err(|why| match why {
            NoAddress::Malformed(why) => ErrorData::invalid_params(
                format!(
                    "{} is no URI of this server: {why}. {}",
                    named(uri),
                    self.there_is()
                ),
                None,
            ),
            NoAddress::Unknown => self.not_found(uri, "this server has nothing of that kind"),
        })
    }

    /// The session whose log `uri` is, also when its worker has ended.
    fn session(&self, uri: &str, id: &str) -> Result<Current, ErrorData> {
        let found = self.manager.view(Some(id.to_owned())).last();
        found.ok_or_else(|| self.not_found(uri, &self.no_session(id)))
    }

    /// The open session whose log `uri` is.
    fn watchable(&self, uri: &str) -> Result<Current, ErrorData> {
        match self.address(uri)? {
            Address::Events { session, since: None } => {
                let current = self.session(uri, &session)?;
                if current.target.state().alive {
                    return Ok(current);
                }
                Err(self.not_found(uri, &self.no_session(&session)))
            }
            Address::Events { session, .. } => Err(ErrorData::invalid_params(
                format!(
                    "subscribe to {}, without a number",
                    Address::events(&session, None)
                ),
                None,
            )),
            Address::Output { .. } => Err(ErrorData::invalid_params(
                "a kept output never changes, so there is nothing to be told of it: read it",
                None,
            )),
        }
    }

    fn no_session(&self, id: &str) -> String {
        let ToolError { message, .. } = self.manager.no_session(id);
        message
    }

    /// The protocol's error for what is not there.
    fn not_found(&self, uri: &str, why: &str) -> ErrorData {
        let why = why.trim_end_matches('.');
        ErrorData::resource_not_found(
            format!("There is no resource {}: {why}. {}", named(uri), self.there_is()),
            Some(json!({"uri": echo(uri)})),
        )
    }

    /// What can be read, in words.
    fn there_is(&self) -> String {
        let sessions = self.living();
        let outputs = self.manager.outputs().listed(None, 3).unwrap_or_default();
        let uris: Vec<String> = sessions
            .iter()
            .map(|current| Address::events(&current.id, None).to_string())
            .chain(
                outputs
                    .iter()
                    .map(|(id, _)| Address::output(id, None).to_string()),
            )
            .collect();
        match uris.as_slice() {
            [] => "There are none now: no session is open, and no result was cut.".to_owned(),
            uris => format!("There are now: {}; resources/list has all.", uris.join(", ")),
        }
    }
}

/// A URI that somebody sent, in a message.
fn named(uri: &str) -> String {
    format!("`{}`", echo(uri))
}

/// The records of a page that fit in one reading.
struct Shown {
    text: Vec<u8>,
    /// Numbers of the first and the last one.
    range: Option<(u64, u64)>,
    missed: u64,
    /// The number to go on with.
    next: u64,
}

impl Shown {
    /// The oldest of them, or the newest.
    fn of(page: LogPage, newest: bool) -> Self {
        let mut lines: Vec<(u64, Untrusted)> = page
            .records
            .iter()
            .map(|record| (record.sequence, Untrusted::new(log_line(record, &record.text))))
            .collect();
        if newest {
            lines.reverse();
        }
        // One is shown whatever its length.
        let mut bytes = 0;
        let fit = lines
            .iter()
            .take_while(|(_, line)| {
                let is_first = bytes == 0;
                bytes += line.shown_len();
                is_first || bytes <= PAGE_BYTES
            })
            .count();
        let is_all = fit == lines.len();
        lines.truncate(fit);
        if newest {
            lines.reverse();
        }
        let range = lines
            .first()
            .zip(lines.last())
            .map(|(first, last)| (first.0, last.0));
        Self {
            text: lines.iter().flat_map(|(_, line)| line.bytes().to_vec()).collect(),
            range,
            missed: page.missed,
            next: match range {
                Some((_, last)) if newest || !is_all => last,
                _ => page.next,
            },
        }
    }
}
