//! A tool of tier Read can neither call what writes, nor resume, nor end the session.
use hyperdbg_mcp::engine::Engine;
use hyperdbg_mcp::generated::{Call, ContinueDebuggeeArgs, RunCommandArgs, SteppingStepOverArgs, WriteTargetRegisterArgs};
use hyperdbg_mcp::tier::{Read, State};
use hyperdbg_mcp::tool::Cx;

async fn writes(engine: Engine<Read>, args: WriteTargetRegisterArgs) {
    let _ = engine.write_target_register(args).await;
}

async fn commands(engine: Engine<Read>, args: RunCommandArgs) {
    let _ = engine.run_command(args).await;
}

async fn steps(engine: Engine<Read>) {
    let _ = engine.stepping_step_over(SteppingStepOverArgs {}).await;
}

async fn state_tool_writes(engine: Engine<State>, args: WriteTargetRegisterArgs) {
    let _ = engine.write_target_register(args).await;
}

async fn resumes(cx: Cx<Read>) {
    let _ = cx.resume(Call::ContinueDebuggee(ContinueDebuggeeArgs {})).await;
}

async fn ends(cx: Cx<Read>) {
    cx.close().await;
}

fn main() {}
