//! What a call costs, as ratios within one run: `cargo bench -p hyperdbg-mcp --bench cost`.
//!
//! The program is its own server, worker and yardstick: it runs the real server's `main` when started with serving
//! flags, and a bare rmcp server with one trivial tool when started with `bare`. On Linux everything is pinned to one
//! core, so that a run says the same whatever else the machine does. `--smoke` makes a short run that checks that all
//! of it works, `--write` puts the table and the machine's description into `docs/cost.md`.

// A benchmark fails by panicking and prints its table.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::cast_precision_loss)]

mod bare;
mod client;
mod machine;
mod soak;

use std::fmt::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use client::Client;
use hyperdbg_mcp::engine::LibrarySource;
use hyperdbg_mcp::generated::{
    Call, ConnectRemoteDebuggerUsingNamedPipeArgs, ReadMemoryArgs, RunCommandArgs,
};
use hyperdbg_mcp::session::{Session, SessionConfig, WorkerProgram};
use hyperdbg_sys::DEBUGGER_READ_MEMORY_TYPE;
use serde_json::json;

/// Where the simulated debuggee waits.
const PIPE: &str = r"\\.\pipe\HyperDbgPipe";
/// How the server is started.
const SERVE: [&str; 2] = ["--simulator", "--allow-writes"];
const DEADLINE: Duration = Duration::from_secs(30);
const MIB: usize = 1 << 20;
/// As much as one read from a debuggee may hold.
const PIECE: usize = 64 << 10;

/// How often things are done.
struct Effort {
    calls: usize,
    starts: usize,
    soak: usize,
}

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("worker" | "--simulator") => return hyperdbg_mcp::cli::main(),
        Some("bare") => return bare::serve(),
        _ => {}
    }
    let effort = if std::env::args().any(|argument| argument == "--smoke") {
        Effort {
            calls: 50,
            starts: 2,
            soak: 200,
        }
    } else {
        Effort {
            calls: 2_000,
            starts: 20,
            soak: 100_000,
        }
    };
    let machine = machine::describe();
    pin();
    let table = table(&effort);
    println!("{machine}\n\n{table}");
    if std::env::args().any(|argument| argument == "--write") {
        machine::write(&machine, &table);
    }
    ExitCode::SUCCESS
}

/// Keeps this process and all that it starts on one core, where the system offers that.
fn pin() {
    #[cfg(target_os = "linux")]
    {
        use nix::sched::{CpuSet, sched_setaffinity};
        let mut one = CpuSet::new();
        let pinned = one
            .set(0)
            .and_then(|()| sched_setaffinity(nix::unistd::Pid::from_raw(0), &one));
        if let Err(error) = pinned {
            println!("not pinned to one core: {error}");
        }
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn repeat(times: usize, mut action: impl FnMut()) -> Duration {
    for _ in 0..times.div_ceil(10) {
        action();
    }
    median(
        (0..times)
            .map(|_| {
                let began = Instant::now();
                action();
                began.elapsed()
            })
            .collect(),
    )
}

fn micros(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}

fn ratio(time: Duration, base: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() / base.as_secs_f64())
}

fn table(effort: &Effort) -> String {
    let mut rows = String::from("| what | time | against | ratio |\n| --- | ---: | --- | ---: |\n");
    let mut row = |what: &str, time: String, against: &str, ratio: String| {
        let _ = writeln!(rows, "| {what} | {time} | {against} | {ratio} |");
    };

    let mut bare = Client::start(&["bare"]);
    let yardstick = repeat(effort.calls, || drop(bare.call("add", &json!({"a": 1, "b": 2}))));
    row(
        "bare rmcp server, one trivial tool",
        micros(yardstick),
        "itself",
        ratio(yardstick, yardstick),
    );

    let folder = tempfile::tempdir().expect("a folder for the log");
    let log = folder.path().join("audit.jsonl");
    let log = log.to_str().expect("a path in text");
    let mut ours = Client::start_in(&SERVE, &[("HYPERDBG_MCP_AUDIT", log)]);
    let mut unlogged = Client::start(&SERVE);
    let base =
        ours.call("hd_mod_kernel_base", &json!({}))["result"]["structuredContent"]["kernel_base"].clone();
    let status = repeat(effort.calls, || drop(ours.call("hd_session_status", &json!({}))));
    row(
        "a call that the supervisor answers (status)",
        micros(status),
        "bare server",
        ratio(status, yardstick),
    );
    let register = repeat(effort.calls, || {
        drop(ours.call("hd_reg_read", &json!({"register": "rip"})));
    });
    row(
        "a call through the worker (one register)",
        micros(register),
        "bare server",
        ratio(register, yardstick),
    );
    let many = repeat(effort.calls.div_ceil(20), || {
        drop(ours.call("hd_exec_command", &json!({"command": "cpu"})));
    });
    row(
        "a command with many callbacks (cpu)",
        micros(many),
        "one register",
        ratio(many, register),
    );
    let pipelined = repeat(effort.starts, || {
        ours.pipeline(200, "hd_reg_read", &json!({"register": "rip"}));
    }) / 200;
    row(
        "one of 200 calls in flight",
        micros(pipelined),
        "one register",
        ratio(pipelined, register),
    );

    let unlogged = repeat(effort.calls, || {
        drop(unlogged.call("hd_reg_read", &json!({"register": "rip"})));
    });
    row(
        "the same register without an audit log",
        micros(unlogged),
        "with it",
        ratio(unlogged, register),
    );
    let mebibyte = repeat(effort.starts, || {
        drop(ours.call("hd_mem_read", &json!({"address": base, "size": MIB})));
    });
    row(
        "1 MiB of memory as a tool's result",
        micros(mebibyte),
        "one register",
        ratio(mebibyte, register),
    );
    soak::run(effort, &mut ours, &base, &mut row);

    let start = median((0..effort.starts).map(|_| first_answer(&SERVE)).collect());
    let bare_start = median((0..effort.starts).map(|_| first_answer(&["bare"])).collect());
    row(
        "start to the first answer",
        micros(start),
        "bare server",
        ratio(start, bare_start),
    );

    hop(effort, &mut row);
    rows
}

fn first_answer(arguments: &[&str]) -> Duration {
    let began = Instant::now();
    let client = Client::start(arguments);
    let elapsed = began.elapsed();
    drop(client);
    elapsed
}

/// The hop to the worker, without MCP around it.
fn hop(effort: &Effort, row: &mut impl FnMut(&str, String, &str, String)) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let worker = WorkerProgram::this_program().expect("this program has a path");
        let session = Session::open(SessionConfig::new(LibrarySource::Embedded, worker))
            .await
            .expect("a session");
        let connect = ConnectRemoteDebuggerUsingNamedPipeArgs {
            pipe: PIPE.as_bytes().to_vec(),
            pause: true,
        };
        session
            .call(Call::ConnectRemoteDebuggerUsingNamedPipe(connect), DEADLINE)
            .await
            .expect("the simulator connects");
        let mut inside = Vec::new();
        let mut around = Vec::new();
        for _ in 0..effort.calls {
            let began = Instant::now();
            let call = Call::RunCommand(RunCommandArgs {
                command: b"bl".to_vec(),
            });
            let outcome = session.call(call, DEADLINE).await.expect("the call returns");
            around.push(began.elapsed());
            inside.push(outcome.elapsed);
        }
        let (inside, around) = (median(inside), median(around));
        row(
            "a command through the hop (bl)",
            micros(around),
            "inside the library",
            ratio(around, inside),
        );

        let address = session
            .call(
                Call::GetKernelBase(hyperdbg_mcp::generated::GetKernelBaseArgs {}),
                DEADLINE,
            )
            .await
            .map(|outcome| match outcome.reply {
                hyperdbg_mcp::generated::Reply::GetKernelBase(reply) => reply.returned,
                _ => 0,
            })
            .expect("the kernel has a base");
        for (name, size) in [("64 KiB", PIECE), ("1 MiB", MIB)] {
            let mut inside = Vec::new();
            let mut around = Vec::new();
            for _ in 0..effort.calls.div_ceil(20) {
                let began = Instant::now();
                let mut spent = Duration::ZERO;
                for piece in 0..size / PIECE {
                    let call = Call::ReadMemory(ReadMemoryArgs {
                        address: address + (piece * PIECE) as u64,
                        memory_type: DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_VIRTUAL_ADDRESS,
                        pid: 0,
                        size: u32::try_from(PIECE).expect("a piece fits"),
                        want_address_mode: false,
                    });
                    spent += session
                        .call(call, DEADLINE)
                        .await
                        .expect("the read returns")
                        .elapsed;
                }
                around.push(began.elapsed());
                inside.push(spent);
            }
            let (inside, around) = (median(inside), median(around));
            let rate = size as f64 / 1e6 / around.saturating_sub(inside).as_secs_f64();
            row(
                &format!("{name} of memory through the hop ({rate:.0} MB/s without the library's own time)"),
                micros(around),
                "inside the library",
                ratio(around, inside),
            );
        }
        session.close().await;
    });
}
