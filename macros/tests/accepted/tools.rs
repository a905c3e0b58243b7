#[path = "../support/mod.rs"]
mod support;
use hyperdbg_mcp_macros::composite_tool;
use support::{tier, tool};
use tier::*;
use tool::Cx;

#[derive(Default)]
struct In;

/// Lists what is loaded.
/// In one paragraph.
///
/// And another.
#[composite_tool(
    name = "hd_mod_list",
    title = "List modules",
    group = "mod",
    tier = "read",
    open_world = true,
    uses(hyperdbg_u_run_command("lm"), hyperdbg_u_read_memory),
)]
async fn list(_: Cx<Read>, _: In) -> Result<u32, String> {
    // What is declared may be called, and a method of another name means nothing.
    Engine.read_memory();
    let _ = format!("{:?} {:?}", Engine.read_memory(), "".len());
    Ok(7)
}

struct Engine;
impl Engine {
    fn read_memory(&self) {}
}

/// Writes.
#[composite_tool(name = "hd_mem_write", title = "Write", group = "mem", tier = "destructive", uses(hyperdbg_u_write_memory))]
async fn write(_: Cx<Destructive>, _: In) -> Result<u32, String> {
    Ok(8)
}

fn main() {
    let spec = HD_MOD_LIST.spec;
    assert_eq!(spec.name, "hd_mod_list");
    assert_eq!(spec.title, "List modules");
    assert_eq!(spec.group, "mod");
    assert_eq!(spec.description, "Lists what is loaded. In one paragraph.\nAnd another.");
    assert_eq!(spec.tier, tier::Tier::Read);
    assert!(spec.hints.idempotent && spec.hints.open_world && spec.default);
    assert_eq!(spec.functions, ["hyperdbg_u_run_command", "hyperdbg_u_read_memory"]);
    assert!(!HD_MEM_WRITE.spec.hints.idempotent);
    let waker = std::task::Waker::noop();
    let mut context = std::task::Context::from_waker(waker);
    let mut future = (HD_MOD_LIST.run)(tool::Host, tool::Arguments);
    assert!(matches!(future.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(7))));
}
