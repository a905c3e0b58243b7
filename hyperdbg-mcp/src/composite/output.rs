//! `hd_output_read`: the rest of a result that was cut.

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::output::{NotKept, Untrusted};
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
}

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
    let offset = usize::try_from(input.offset).unwrap_or(usize::MAX);
    let page = cx
        .outputs()
        .page(&input.id, offset, input.limit as usize)
        .map_err(|why| {
            let error = |message: String| ToolError::new(Category::InvalidArgument, message);
            match why {
                NotKept::Dropped => error(format!(
                    "The output {} made room for newer ones.",
                    echo(&input.id)
                ))
                .next_step("Repeat the call that made it, for less."),
                NotKept::Unknown => error(format!("There is no output {}.", echo(&input.id)))
                    .next_step("Use the id from the `output` field of a result that was cut."),
            }
        })?;
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
    let output = Output {
        id: input.id,
        offset: page.offset as u64,
        next_offset: page.next_offset.map(|next| next as u64),
        total: page.total as u64,
        captured: page.text.clone(),
    };
    Ok(Answer::new(output, text).view(Untrusted::kept(page.text)))
}
