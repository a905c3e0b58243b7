//! `hd_bp_set`: a breakpoint, and its number from the listings before and after.

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calls;
use crate::generated::SetBreakpointArgs;
use crate::output::Untrusted;
use crate::tier::{Permits, Read, State};
use crate::tool::typed::Answer;
use crate::tool::value::Hex;
use crate::tool::{Category, Cx, Listing, ToolError};

/// "Any", as the library takes it.
const ANY: u32 = u32::MAX;

#[derive(Deserialize, JsonSchema)]
struct Input {
    address: Hex,
    /// Only in this process.
    pid: Option<u32>,
    /// Only in this thread.
    tid: Option<u32>,
    /// Only on this core.
    core: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// Its number.
    id: Hex,
    address: Hex,
    enabled: bool,
    /// All that are set.
    breakpoints: Vec<Breakpoint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Breakpoint {
    pub(super) id: Hex,
    pub(super) address: Hex,
    pub(super) enabled: bool,
}

/// Sets a software breakpoint at a virtual address of the halted debuggee and returns its number. It hits when the
/// target runs into it after it was continued; HyperDbg hides the changed byte. Needs a session in debugger mode.
#[composite_tool(
    name = "hd_bp_set",
    title = "Set a breakpoint",
    group = "bp",
    tier = "state",
    uses(hyperdbg_u_set_breakpoint, hyperdbg_u_run_command("bl"))
)]
async fn set(cx: Cx<State>, input: Input) -> Result<Answer<Output>, ToolError> {
    needs_debuggee(&cx).await?;
    let before = parse(calls::list(&cx, Listing::Breakpoints).await?.bytes());
    let args = SetBreakpointArgs {
        pid: input.pid.unwrap_or(ANY),
        tid: input.tid.unwrap_or(ANY),
        core: input.core.unwrap_or(ANY),
        ..anywhere(input.address)
    };
    let printed = calls::set_breakpoint(&cx.engine().await?, args).await?;
    let breakpoints = parse(calls::list(&cx, Listing::Breakpoints).await?.bytes());
    let new = new_one(&before, &breakpoints, input.address, printed)?;
    if let Some(current) = cx.current() {
        current.book.pages().breakpoints.insert(new.id.0, new.address.0);
    }
    let text = format!(
        "Breakpoint {} is set at {}. {} in all.",
        new.id,
        new.address,
        breakpoints.len()
    );
    let output = Output {
        id: new.id,
        address: new.address,
        enabled: new.enabled,
        breakpoints,
    };
    Ok(Answer::new(output, text))
}

/// Refused where there is no debuggee that could be halted.
pub(super) async fn needs_debuggee<T: Permits<Read>>(cx: &Cx<T>) -> Result<(), ToolError> {
    let connection = cx.connection().await?;
    if connection.is_debugger() {
        return Ok(());
    }
    Err(ToolError::new(
        Category::WrongMode,
        format!(
            "Breakpoints need a debuggee, and this session is in mode {}.",
            connection.mode()
        ),
    )
    .next_step("Use a session in debugger mode."))
}

/// A breakpoint at `address` for every process, thread and core.
pub(super) fn anywhere(address: Hex) -> SetBreakpointArgs {
    SetBreakpointArgs {
        address: address.0,
        pid: ANY,
        tid: ANY,
        core: ANY,
    }
}

/// The breakpoint at `address` that is listed now and was not before.
pub(super) fn new_one(
    before: &[Breakpoint],
    now: &[Breakpoint],
    address: Hex,
    printed: Untrusted,
) -> Result<Breakpoint, ToolError> {
    now.iter()
        .find(|breakpoint| breakpoint.address == address && !before.iter().any(|old| old.id == breakpoint.id))
        .copied()
        .ok_or_else(|| {
            ToolError::new(
                Category::Debugger,
                format!("HyperDbg accepted the request, but lists no new breakpoint at {address}."),
            )
            .next_step(
                "There may be one at this address already; otherwise check that the address is mapped.",
            )
            .captured(printed)
        })
}

/// Numbers of the breakpoints at `address` in what `bl` printed.
pub(crate) fn at(text: &[u8], address: u64) -> Vec<u64> {
    let listed = parse(text);
    listed
        .iter()
        .filter(|one| one.address.0 == address)
        .map(|one| one.id.0)
        .collect()
}

/// Reads the rows of `bl`: number, address, state, and what they are limited to.
pub(super) fn parse(text: &[u8]) -> Vec<Breakpoint> {
    let number = |digits: &str| u64::from_str_radix(digits, 16).ok().map(Hex);
    String::from_utf8_lossy(text)
        .lines()
        .filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let (id, address, state) = (words.next()?, words.next()?, words.next()?);
            let enabled = match state {
                "enabled" => true,
                "disabled" => false,
                _ => return None,
            };
            Some(Breakpoint {
                id: number(id)?,
                address: number(address).filter(|_| address.len() == 16)?,
                enabled,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_listing_are_read() {
        let text = b"Id   Address           Status\n--   ---------------   --------\n\
            01   fffff80000002000  enabled core = 1 \n1f   fffff80000002010  disabled pid = 4  tid = 8 \n";
        assert_eq!(
            parse(text),
            [
                Breakpoint {
                    id: Hex(1),
                    address: Hex(0xffff_f800_0000_2000),
                    enabled: true
                },
                Breakpoint {
                    id: Hex(0x1f),
                    address: Hex(0xffff_f800_0000_2010),
                    enabled: false
                },
            ]
        );
        assert!(parse(b"Breakpoints list is empty\n").is_empty());
        assert!(parse(b"\xff\n01 2 enabled\n").is_empty());
    }
}
