#[path = "../support/mod.rs"]
mod support;
use hyperdbg_mcp_macros::composite_tool;
use support::{tier, tool};
use tier::*;
use tool::Cx;

#[derive(Default)]
struct In;

#[composite_tool(name = "hd_mem_read", title = "Read", group = "mem", tier = "read")]
async fn missing(_: Cx<Read>, _: In) -> Result<u32, String> {
    Ok(0)
}

/// This line is repeated until the description is longer than what clients are known to read of it.
/// This line is repeated until the description is longer than what clients are known to read of it.
/// This line is repeated until the description is longer than what clients are known to read of it.
/// This line is repeated until the description is longer than what clients are known to read of it.
/// This line is repeated until the description is longer than what clients are known to read of it.
/// This line is repeated until the description is longer than what clients are known to read of it.
/// This line is repeated until the description is longer than what clients are known to read of it.
/// This line is repeated until the description is longer than what clients are known to read of it.
/// This line is repeated until the description is longer than what clients are known to read of it.
/// This line is repeated until the description is longer than what clients are known to read of it.
/// This line is repeated until the description is longer than what clients are known to read of it.
/// This line is repeated until the description is longer than what clients are known to read of it.
#[composite_tool(name = "hd_mem_read", title = "Read", group = "mem", tier = "read")]
async fn long(_: Cx<Read>, _: In) -> Result<u32, String> {
    Ok(0)
}

fn main() {}
