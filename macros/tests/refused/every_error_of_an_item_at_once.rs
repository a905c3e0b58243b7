#[path = "../support/mod.rs"]
mod support;
use hyperdbg_mcp_macros::composite_tool;
use support::{tier, tool};
use tier::*;
use tool::Cx;

#[derive(Default)]
struct In;

#[composite_tool(nmae = "hd_mem_read", group = "mem", tier = "raed", uses(hyperdbg_u_read_memroy))]
async fn read(_: Cx<Read>, _: In) -> Result<u32, String> {
    Ok(0)
}

fn main() {}
