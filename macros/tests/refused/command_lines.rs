#[path = "../support/mod.rs"]
mod support;
use hyperdbg_mcp_macros::composite_tool;
use support::{tier, tool};
use tier::*;
use tool::Cx;

#[derive(Default)]
struct In;

/// Lists.
#[composite_tool(
    name = "hd_mod_list", title = "List", group = "mod", tier = "read",
    uses(hyperdbg_u_run_command("ln"), hyperdbg_u_run_command("exit now"), hyperdbg_u_read_memory("lm")),
)]
async fn list(_: Cx<Read>, _: In) -> Result<u32, String> {
    Ok(0)
}

fn main() {}
