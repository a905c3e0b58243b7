//! Reading and writing memory of the target.

mod dump;
mod read;

use std::fmt::Write;

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use read::read;

use super::calls::{self, Place};
use crate::tier::{Destructive, Permits, Read};
use crate::tool::typed::Answer;
use crate::tool::value::{Hex, HexBytes};
use crate::tool::{Arguments, Category, Cx, ToolError};

/// Bytes of one read by the tool.
const MAX_READ: u32 = 1 << 20;
/// Bytes that the structured half holds; the text half pages through all of them.
const SHOWN: usize = 4_096;
/// Bytes of one write: well below what fits in a packet to the debuggee.
const MAX_WRITE: usize = 4_096;

// Kind of address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Space {
    #[default]
    Virtual,
    Physical,
}

impl Space {
    fn name(self) -> &'static str {
        match self {
            Self::Virtual => "virtual",
            Self::Physical => "physical",
        }
    }
}

/// The place in the form that the library takes: a read in local mode needs a real process.
pub(super) async fn place<T: Permits<Read>>(
    cx: &Cx<T>,
    address: Hex,
    physical: bool,
    pid: Option<u32>,
) -> Result<Place, ToolError> {
    let connection = cx.connection().await?;
    let local = connection.mode() == "local";
    if pid.is_some() && !local && !physical {
        return Err(ToolError::new(
            Category::InvalidArgument,
            "`pid` works in local mode only: a debuggee's memory is read as its current process sees it.",
        )
        .next_step("Leave `pid` out, or switch the debuggee to the process first."));
    }
    let own = cx
        .session()
        .and_then(|session| session.worker.pid)
        .filter(|_| local);
    Ok(Place {
        address: address.0,
        physical,
        pid: pid.or(own).unwrap_or(0),
    })
}

/// Refuses a range that passes the end of the address space.
pub(super) fn check_range(address: Hex, size: u64) -> Result<(), ToolError> {
    match address.0.checked_add(size.saturating_sub(1)) {
        Some(_) => Ok(()),
        None => Err(ToolError::new(
            Category::InvalidArgument,
            format!("{size} bytes from {address} pass the end of the address space."),
        )
        .next_step("Ask for fewer bytes.")),
    }
}

#[derive(Deserialize, JsonSchema)]
struct ReadInput {
    address: Hex,
    /// Bytes.
    #[schemars(range(min = 1, max = MAX_READ))]
    #[serde(default = "default_size")]
    size: u32,
    #[serde(default)]
    space: Space,
    /// Process, in local mode only.
    pid: Option<u32>,
}

fn default_size() -> u32 {
    128
}

#[derive(Serialize, JsonSchema)]
struct ReadOutput {
    address: Hex,
    space: Space,
    size: u32,
    /// Bytes that could be read.
    read: u32,
    /// Readable parts; at most 4096 bytes of them.
    segments: Vec<Segment>,
    /// Parts that cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<Range>,
}

#[derive(Serialize, JsonSchema)]
struct Segment {
    address: Hex,
    bytes: HexBytes,
}

#[derive(Serialize, JsonSchema)]
struct Range {
    address: Hex,
    size: u32,
}

/// Reads memory of the target: bytes as hex, and as a hex dump with an ASCII column. Where a part of the range is not
/// mapped, the readable parts are returned and the holes are named. Large reads are split as the library needs it; the
/// dump is cut to a page and can be read on. Breakpoints set by HyperDbg do not show. A debuggee must be halted.
#[composite_tool(
    name = "hd_mem_read",
    title = "Read memory",
    group = "mem",
    tier = "read",
    uses(hyperdbg_u_read_memory)
)]
async fn read_tool(cx: Cx<Read>, input: ReadInput) -> Result<Answer<ReadOutput>, ToolError> {
    check_range(input.address, input.size.into())?;
    let place = place(&cx, input.address, input.space == Space::Physical, input.pid).await?;
    let parts = read(&cx, place, input.size).await?;
    let count = parts.len();
    if count == 0 {
        return Err(parts.failure.unwrap_or_else(|| {
            ToolError::new(
                Category::Unreadable,
                format!("Nothing can be read at {}.", input.address),
            )
            .next_step("Check the address; it may belong to another process or be paged out.")
        }));
    }
    let mut text = format!(
        "{count} bytes of {} memory at {}",
        input.space.name(),
        input.address
    );
    if count < input.size {
        let _ = write!(text, ", of {} asked for", input.size);
    }
    text.push('.');
    for hole in &parts.holes {
        let _ = write!(
            text,
            " {:#x} bytes at {} cannot be read.",
            hole.size,
            Hex(hole.address)
        );
    }
    let mut room = SHOWN;
    let mut segments = Vec::new();
    for part in &parts.parts {
        let shown = part.bytes.len().min(room);
        if shown == 0 {
            break;
        }
        room -= shown;
        segments.push(Segment {
            address: Hex(part.address),
            bytes: HexBytes(part.bytes[..shown].to_vec()),
        });
    }
    if count as usize > SHOWN {
        let _ = write!(text, " The `segments` field holds the first {SHOWN}.");
    }
    let view = dump::dump(&parts);
    let output = ReadOutput {
        address: input.address,
        space: input.space,
        size: input.size,
        read: count,
        segments,
        unreadable: parts
            .holes
            .iter()
            .map(|hole| Range {
                address: Hex(hole.address),
                size: hole.size,
            })
            .collect(),
    };
    Ok(Answer::new(output, text).view(view.into_bytes()))
}

#[derive(Deserialize, JsonSchema)]
struct WriteInput {
    address: Hex,
    /// Hex digit pairs, such as "90 90".
    #[schemars(length(min = 2))]
    bytes: HexBytes,
    #[serde(default)]
    space: Space,
    /// Process, in local mode only.
    pid: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct WriteOutput {
    address: Hex,
    space: Space,
    written: u32,
    /// What was there before.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_bytes: Option<HexBytes>,
    /// Reading back gave the new bytes.
    verified: bool,
}

/// The place of a write and what is there now; refuses what must not be written.
async fn prepare<T: Permits<Read>>(
    cx: &Cx<T>,
    input: &WriteInput,
) -> Result<(Place, u32, read::Parts), ToolError> {
    let bytes = &input.bytes.0;
    if bytes.is_empty() || bytes.len() > MAX_WRITE {
        return Err(ToolError::new(
            Category::InvalidArgument,
            format!(
                "`bytes` holds {} bytes; one write takes 1 to {MAX_WRITE}.",
                bytes.len()
            ),
        )
        .next_step("Split the write."));
    }
    let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    check_range(input.address, size.into())?;
    let place = place(cx, input.address, input.space == Space::Physical, input.pid).await?;
    let before = read(cx, place, size).await?;
    if before.len() < size {
        return Err(before.failure.unwrap_or_else(|| {
            ToolError::new(
                Category::Unreadable,
                format!(
                    "The {size} bytes at {} are not all mapped; nothing was written.",
                    input.address
                ),
            )
            .next_step("Check the address and the size.")
        }));
    }
    Ok((place, size, before))
}

/// What a write would replace, with the refusals of the write itself.
pub(super) async fn replaced(cx: &Cx<Read>, arguments: Arguments) -> Result<HexBytes, ToolError> {
    let (_, _, before) = prepare(cx, &arguments.typed()?).await?;
    Ok(HexBytes(before.joined()))
}

/// Writes up to 4096 bytes to memory of the target, and reads them back. The old bytes are returned. Nothing is written
/// to a page that cannot be read. A wrong write can crash the machine. A debuggee must be halted.
#[composite_tool(
    name = "hd_mem_write",
    title = "Write memory",
    group = "mem",
    tier = "destructive",
    uses(hyperdbg_u_write_memory, hyperdbg_u_read_memory)
)]
async fn write_tool(cx: Cx<Destructive>, input: WriteInput) -> Result<Answer<WriteOutput>, ToolError> {
    let (place, size, before) = prepare(&cx, &input).await?;
    let bytes = input.bytes.0;
    calls::write_memory(&cx.engine().await?, place, bytes.clone()).await?;
    let after = read(&cx, place, size)
        .await
        .map(read::Parts::joined)
        .unwrap_or_default();
    let verified = after == bytes;
    let text = format!(
        "Wrote {size} bytes of {} memory at {}; {}.",
        input.space.name(),
        input.address,
        if verified {
            "reading back gives the same"
        } else {
            "reading back does NOT give the same"
        }
    );
    let output = WriteOutput {
        address: input.address,
        space: input.space,
        written: size,
        old_bytes: Some(HexBytes(before.joined())),
        verified,
    };
    Ok(Answer::new(output, text))
}
