#[path = "../support/mod.rs"]
mod support;
use hyperdbg_mcp_macros::composite_tool;
use support::{tier, tool};
use tier::*;
use tool::Cx;

#[derive(Default)]
struct In;

/// Reads.
#[composite_tool(name = "hd_mem_read", title = "Read", group = "mem")]
async fn read(_: Cx<Read>, _: In) -> Result<u32, String> {
    Ok(0)
}

/// Writes.
#[composite_tool(name = "hd_mem_write", title = "Write", group = "mem", tier = "write")]
async fn write(_: Cx<Destructive>, _: In) -> Result<u32, String> {
    Ok(0)
}

fn main() {}
