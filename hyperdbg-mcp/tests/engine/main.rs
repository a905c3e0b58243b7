//! The engine as a real worker process under a real supervisor, with a library that misbehaves on command.
//!
//! The program is its own worker: started with `worker` it becomes one, so there is no test harness to take the
//! arguments; `libtest-mimic` gives the usual ones back.

// A failed assumption fails the test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod calls;
#[cfg(windows)]
mod console;
mod death;
#[cfg(windows)]
mod driver;
mod fake;
#[path = "../headers/mod.rs"]
mod headers;
#[cfg(windows)]
mod inherited;
mod matrix;
mod model;
mod moved;
mod planted;
#[path = "../process/mod.rs"]
mod process;
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
            #[cfg(windows)]
            console::leave_if_told();
            return hyperdbg_mcp::engine::worker::run_with(arguments, fake::lookup);
        }
        Some(role) if role == "simulator-worker" => return hyperdbg_mcp::engine::worker::run(arguments),
        Some(role) if role == "moved-worker" => {
            return hyperdbg_mcp::engine::worker::run_with(arguments, moved::lookup);
        }
        Some(role) if role == "supervisor" => return death::supervise(arguments.next()),
        Some(role) if role == "opener" => return planted::open(arguments.next()),
        #[cfg(windows)]
        Some(role) if role == "ctrl-c" => return console::press_ctrl_c(arguments.next()),
        Some(role) if role == "sleeper" => std::thread::sleep(world::LONG * 10),
        _ => {}
    }
    let mut trials: Vec<Trial> = Vec::new();
    calls::add(&mut trials);
    #[cfg(windows)]
    console::add(&mut trials);
    death::add(&mut trials);
    #[cfg(windows)]
    driver::add(&mut trials);
    #[cfg(windows)]
    inherited::add(&mut trials);
    matrix::add(&mut trials);
    model::add(&mut trials);
    moved::add(&mut trials);
    planted::add(&mut trials);
    resume::add(&mut trials);
    simulator::add(&mut trials);
    text::add(&mut trials);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
