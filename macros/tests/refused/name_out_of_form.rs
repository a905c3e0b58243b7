#[path = "../support/mod.rs"]
mod support;
use hyperdbg_mcp_macros::composite_tool;
use support::{tier, tool};
use tier::*;
use tool::Cx;

#[derive(Default)]
struct In;

/// Reads.
#[composite_tool(name = "hd_reg_read", title = "Read", group = "mem", tier = "read")]
async fn group(_: Cx<Read>, _: In) -> Result<u32, String> {
    Ok(0)
}

/// Reads.
#[composite_tool(name = "hd_mem_read_a_great_deal_of_memory", title = "Read", group = "mem", tier = "read")]
async fn long(_: Cx<Read>, _: In) -> Result<u32, String> {
    Ok(0)
}

/// Reads.
#[composite_tool(name = "hd_mem_Read", title = "Read", group = "mem", tier = "read")]
async fn case(_: Cx<Read>, _: In) -> Result<u32, String> {
    Ok(0)
}

fn main() {}
