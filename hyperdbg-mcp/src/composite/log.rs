//! `hd_event_read`: the event log of a session.

use std::time::{Duration, Instant};

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::output::{Captured, Filter, Untrusted};
use crate::session::{LogPage, LogRecord, Origin};
use crate::tier::Read;
use crate::tool::typed::Answer;
use crate::tool::{Category, Cx, ToolError};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The `next` of the answer before; 0 for the oldest that is kept.
    #[serde(default)]
    since: u64,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200))]
    limit: u32,
    /// Only records with this text, in any case, or that match a /regex/.
    #[schemars(length(min = 1, max = 200))]
    filter: Option<String>,
    /// Gives the bytes of the texts as hexadecimal digits.
    #[serde(default)]
    hex: bool,
    /// How long to wait for a record where there is none yet.
    #[serde(default)]
    #[schemars(range(min = 0, max = 20_000))]
    wait_ms: u32,
}

fn default_limit() -> u32 {
    50
}

#[derive(Serialize, JsonSchema)]
struct Output {
    records: Vec<Record>,
    /// The cursor to go on with.
    next: u64,
    /// Records that were dropped before they were read.
    missed: u64,
    more: bool,
}

#[derive(Serialize, JsonSchema)]
struct Record {
    sequence: u64,
    /// Since the session began to open.
    at_ms: u64,
    /// calling_thread or library_thread.
    origin: &'static str,
    /// The call that was being made: then the text is in that call's answer too, and may be that call's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    during: Option<&'static str>,
    /// Bytes that were lost before it.
    lost_before: u64,
    /// Cut after 512 characters; whole in the text half.
    text: Captured,
}

/// Reads the event log of a session: what the debugger printed outside of calls and from other threads (event output,
/// messages of the kernel), with a cursor. Works while the target runs.
#[composite_tool(
    name = "hd_event_read",
    title = "Read the event log",
    group = "event",
    tier = "read",
    opt_in = true
)]
async fn read(cx: Cx<Read>, input: Input) -> Result<Answer<Output>, ToolError> {
    let Some(current) = cx.last() else {
        return Err(ToolError::new(Category::NotConnected, "No session is open.")
            .next_step("Open a session first; its event log begins there."));
    };
    let filter = input.filter.as_deref().map(Filter::new).transpose()?;
    let wait = Duration::from_millis(input.wait_ms.into());
    let limit = input.limit as usize;
    let page = match &filter {
        Some(filter) => {
            let events = |since, limit, wait| current.target.events(since, limit, wait);
            let finds = |text: &Untrusted| filter.finds_in(text, cx.outputs());
            filtered(events, input.since, limit, wait, finds).await
        }
        None => current.target.events(input.since, limit, wait).await,
    };
    let mut view = Vec::new();
    let records: Vec<Record> = page
        .records
        .iter()
        .map(|record| {
            let text = if input.hex {
                record.text.hex()
            } else {
                record.text.clone()
            };
            view.extend(line(record, &text));
            Record {
                sequence: record.sequence,
                at_ms: at_ms(record),
                origin: record.origin.name(),
                during: record.during,
                lost_before: record.lost_before,
                text: Captured::new(text.bytes()),
            }
        })
        .collect();
    let words = filter.map_or_else(String::new, |filter| format!(" that {}", filter.words()));
    let mut text = format!("{} records{words}; go on from {}.", records.len(), page.next);
    if page.missed > 0 {
        text.push_str(&format!(" {} were dropped before they were read.", page.missed));
    }
    if page.more {
        text.push_str(" There are more.");
    }
    let output = Output {
        records,
        next: page.next,
        missed: page.missed,
        more: page.more,
    };
    Ok(Answer::new(output, text).view(view))
}

/// Records that are looked at between two looks at the clock.
const STRIDE: usize = 200;
/// How long one call looks at records that are there; a search that is not done goes on in the next.
const SEARCH: Duration = Duration::from_millis(500);

/// At most `limit` records after `since` in whose text `finds` finds something, waited for where there is none. The cursor
/// moves past the others. `events` reads the log, as [`Target::events`](crate::tool::Target::events).
async fn filtered<F: Future<Output = LogPage>>(
    events: impl Fn(u64, usize, Duration) -> F,
    since: u64,
    limit: usize,
    wait: Duration,
    finds: impl Fn(&Untrusted) -> bool,
) -> LogPage {
    let until = Instant::now() + wait;
    let mut found = LogPage {
        records: Vec::new(),
        next: since,
        missed: 0,
        more: false,
    };
    let mut search = Instant::now() + SEARCH;
    loop {
        let left = match found.records.is_empty() {
            true => until.saturating_duration_since(Instant::now()),
            false => Duration::ZERO,
        };
        let page = events(found.next, STRIDE, left).await;
        found.missed += page.missed;
        found.next = page.next;
        found.more = page.more;
        let waited = page.records.is_empty();
        for record in page.records {
            if !finds(&record.text) {
                continue;
            }
            if found.records.len() == limit {
                // It is the first of the next page.
                found.next = record.sequence - 1;
                found.more = true;
                return found;
            }
            found.records.push(record);
        }
        let now = Instant::now();
        if found.more {
            if now >= search {
                return found;
            }
            tokio::task::yield_now().await;
        } else if waited || !found.records.is_empty() || now >= until {
            return found;
        } else {
            search = now + SEARCH;
        }
    }
}

fn at_ms(record: &LogRecord) -> u64 {
    u64::try_from(record.at.as_millis()).unwrap_or(u64::MAX)
}

/// A record for a reader, with `text` for what it says. Only the first line of a record begins with a `#` at the margin, whatever its text says.
pub(crate) fn line(record: &LogRecord, text: &Untrusted) -> Vec<u8> {
    let mut line = format!("#{} +{} ms", record.sequence, at_ms(record));
    if record.origin == Origin::Server {
        line.push_str(", the server");
    }
    if record.lost_before > 0 {
        line.push_str(&format!(", {} bytes lost before it", record.lost_before));
    }
    line.push_str(": ");
    let mut line = line.into_bytes();
    let text = text.bytes();
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    for (at, part) in text.split(|byte| *byte == b'\n').enumerate() {
        if at > 0 {
            line.extend_from_slice(b"\n  ");
        }
        line.extend_from_slice(part);
    }
    line.push(b'\n');
    line
}

#[cfg(test)]
#[path = "log/tests.rs"]
mod tests;
