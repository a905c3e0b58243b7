//! `hd_output_read`: the rest of a result that was cut.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::output::{Filter, NotKept, Page, Untrusted, lines};
use crate::tier::Read;
use crate::tool::arguments::echo;
use crate::tool::typed::Answer;
use crate::tool::{Category, Cx, ToolError};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// Of the result, such as out-1.
    #[schemars(length(min = 1, max = 40))]
    id: String,
    /// The next_offset of the part before.
    #[serde(default)]
    offset: u64,
    /// Characters at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: u32,
    /// Text or /regex/.
    filter: Option<String>,
}

/// How long one call looks for lines; a search that is not done goes on in the next.
const SEARCH: Duration = Duration::from_millis(500);
/// Room is left for the escapes of JSON and the words around it.
const MAX_LIMIT: u32 = 11_000;

fn default_limit() -> u32 {
    MAX_LIMIT
}

#[derive(Serialize, JsonSchema)]
struct Output {
    id: String,
    offset: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    total: u64,
    /// Captured data.
    captured: String,
}

/// Reads on in a result that was cut: it named an id and a next_offset. Repeat with the next_offset of each answer until
/// there is none.
#[composite_tool(
    name = "hd_output_read",
    title = "Read on in an output",
    group = "output",
    tier = "read"
)]
async fn read(cx: Cx<Read>, input: Input) -> Result<Answer<Output>, ToolError> {
    let filter = input.filter.as_deref().map(Filter::new).transpose()?;
    let offset = usize::try_from(input.offset).unwrap_or(usize::MAX);
    let not_kept = |why| not_kept(&input.id, why);
    if let Some(filter) = filter {
        let text = cx.outputs().whole(&input.id).map_err(not_kept)?;
        return filtered(&input, offset, text, filter).await;
    }
    let page = cx
        .outputs()
        .page(&input.id, offset, input.limit as usize)
        .map_err(not_kept)?;
    let end = page.offset + page.text.len();
    let mut text = format!(
        "{} from {} to {end} of {}.",
        echo(&input.id),
        page.offset,
        page.total
    );
    if page.next_offset.is_some() {
        text.push_str(&format!(" Read on from offset {end}."));
    }
    Ok(answer(input.id, page, text))
}

/// The lines that `filter` lets through; `text` is the whole output.
async fn filtered(
    input: &Input,
    offset: usize,
    text: Arc<str>,
    filter: Filter,
) -> Result<Answer<Output>, ToolError> {
    let (words, total, limit) = (filter.words().to_owned(), text.len(), input.limit as usize);
    // A search can take a while, and other calls are served by this thread.
    let search = move || lines(&text, offset, limit, &filter, Instant::now() + SEARCH);
    let found = tokio::task::spawn_blocking(search)
        .await
        .map_err(|_| ToolError::internal("the search for lines panicked"))?;
    let mut text = format!(
        "{} from {} to {} of {total}: {} lines {words}. NUMBER@OFFSET stands before each.",
        echo(&input.id),
        found.offset,
        found.next_offset.unwrap_or(total),
        found.count,
    );
    if let Some(at) = found.cut_at {
        text.push_str(&format!(
            " The line at {at} is cut: without the filter, offset {at} gives all of it."
        ));
    }
    if let Some(next) = found.next_offset {
        text.push_str(&format!(" Search on from offset {next}, with the same filter."));
    }
    let page = Page {
        text: found.text,
        offset: found.offset,
        next_offset: found.next_offset,
        total,
    };
    Ok(answer(input.id.clone(), page, text))
}

fn answer(id: String, page: Page, text: String) -> Answer<Output> {
    let output = Output {
        id,
        offset: page.offset as u64,
        next_offset: page.next_offset.map(|next| next as u64),
        total: page.total as u64,
        captured: page.text.clone(),
    };
    Answer::new(output, text).view(Untrusted::kept(page.text))
}

fn not_kept(id: &str, why: NotKept) -> ToolError {
    let error = |message: String| ToolError::new(Category::InvalidArgument, message);
    match why {
        NotKept::Dropped => error(format!("The output {} made room for newer ones.", echo(id)))
            .next_step("Repeat the call that made it, for less."),
        NotKept::Unknown => error(format!("There is no output {}.", echo(id)))
            .next_step("Use the id from the `output` field of a result that was cut."),
    }
}
