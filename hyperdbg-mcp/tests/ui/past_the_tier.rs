//! No capability of a higher tier can be made from one of a lower, and what is behind it cannot be reached.
use std::sync::Arc;

use hyperdbg_mcp::engine::{Engine, Link};
use hyperdbg_mcp::generated::Call;
use hyperdbg_mcp::tier::{Destructive, Permits, Read, Tier, TierType};
use hyperdbg_mcp::tool::{Cx, Host};

fn made(link: Arc<dyn Link>) -> Engine<Destructive> {
    Engine::new(link)
}

fn raised(engine: Engine<Read>) -> Engine<Destructive> {
    engine
}

async fn invoked(engine: Engine<Read>, call: Call) {
    let _ = engine.invoke(call).await;
}

fn taken_apart(engine: Engine<Read>) -> Arc<dyn Link> {
    engine.link
}

fn context_made(host: Arc<dyn Host>) -> Cx<Destructive> {
    Cx::new(host)
}

fn context_taken_apart(cx: Cx<Read>) -> Arc<dyn Host> {
    cx.host
}

struct Own;

impl TierType for Own {
    const TIER: Tier = Tier::Read;
}

impl Permits<Destructive> for Own {}

impl Permits<Destructive> for Read {}

fn main() {}
