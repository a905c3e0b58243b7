#[path = "../support/mod.rs"]
mod support;
use hyperdbg_mcp_macros::composite_tool;
use support::{tier, tool};
use tier::*;
use tool::Cx;

#[derive(Default)]
struct In;

struct Engine;
impl Engine {
    async fn read_memory(&self) {}
    async fn write_memory(&self) {}
    async fn read_target_register(&self) {}
}
enum Call {
    ContinueDebuggee,
}
enum Listing {
    Modules,
    KernelModules,
}

/// Writes behind the declaration's back.
#[composite_tool(
    name = "hd_mem_write", title = "Write", group = "mem", tier = "destructive",
    uses(hyperdbg_u_read_memory, hyperdbg_u_run_command("lm")),
)]
async fn write(_: Cx<Destructive>, _: In) -> Result<u32, String> {
    let engine = Engine;
    engine.read_memory().await;
    engine.write_memory().await;
    let _ = (Listing::Modules, Listing::KernelModules, Call::ContinueDebuggee);
    let _ = Engine::write_memory(&engine);
    assert!(std::matches!(engine.read_target_register().await, ()));
    Ok(0)
}

fn main() {}
