//! `hd_event_read`: the event log of a session.

use std::time::Duration;

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::output::Captured;
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
    /// Only records whose text holds this, in any case.
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
    let wait = Duration::from_millis(input.wait_ms.into());
    let page = current
        .target
        .events(input.since, input.limit as usize, wait)
        .await;
    let wanted = input.filter.as_deref().map(str::to_ascii_lowercase);
    let mut view = Vec::new();
    let records: Vec<Record> = page
        .records
        .iter()
        .filter(|record| {
            wanted.as_deref().is_none_or(|wanted| {
                let text = String::from_utf8_lossy(record.text.bytes()).to_ascii_lowercase();
                text.contains(wanted)
            })
        })
        .map(|record| {
            let at_ms = u64::try_from(record.at.as_millis()).unwrap_or(u64::MAX);
            view.extend_from_slice(format!("#{} +{at_ms} ms: ", record.sequence).as_bytes());
            let text = if input.hex {
                record.text.hex()
            } else {
                record.text.clone()
            };
            view.extend_from_slice(text.bytes());
            if !text.bytes().ends_with(b"\n") {
                view.push(b'\n');
            }
            Record {
                sequence: record.sequence,
                at_ms,
                origin: record.origin.name(),
                during: record.during,
                lost_before: record.lost_before,
                text: Captured::new(text.bytes()),
            }
        })
        .collect();
    let mut text = format!("{} records; go on from {}.", records.len(), page.next);
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
