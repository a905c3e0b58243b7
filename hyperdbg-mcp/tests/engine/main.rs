//! The engine as a real worker process under a real supervisor, with a library that misbehaves on command.
//!
//! The program is its own worker: started with `worker` it becomes one, so there is no test harness to take the
//! arguments; `libtest-mimic` gives the usual ones back.

// A failed assumption fails the test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod calls;
mod death;
mod fake;
mod matrix;
mod model;
mod resume;
mod simulator;
mod text;
mod world;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(role) if role == "worker" => {
            return hyperdbg_mcp::engine::worker::run_with(arguments, fake::lookup);
        }
        Some(role) if role == "simulator-worker" => return hyperdbg_mcp::engine::worker::run(arguments),
        Some(role) if role == "supervisor" => return death::supervise(arguments.next()),
        _ => {}
    }
    let mut trials: Vec<Trial> = Vec::new();
    calls::add(&mut trials);
    death::add(&mut trials);
    matrix::add(&mut trials);
    model::add(&mut trials);
    resume::add(&mut trials);
    simulator::add(&mut trials);
    text::add(&mut trials);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
