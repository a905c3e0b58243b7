//! Console control events: who they reach.

use std::ffi::OsString;
use std::os::windows::process::CommandExt;
use std::process::{Command, ExitCode};

use hyperdbg_mcp::session::{Session, SessionConfig, StopWait};
use libtest_mimic::{Failed, Trial};
use serde_json::json;
use windows_sys::Win32::System::Console::{
    AttachConsole, CTRL_C_EVENT, FreeConsole, GenerateConsoleCtrlEvent, SetConsoleCtrlHandler,
};
use windows_sys::Win32::System::Threading::CREATE_NO_WINDOW;

use crate::process::{Server, is_gone, program};
use crate::world::*;

pub(crate) fn add(trials: &mut Vec<Trial>) {
    trials.extend([
        Trial::test("the_server_ends_at_ctrl_c_and_its_worker_with_it", ctrl_c),
        Trial::test("a_break_reaches_the_library_and_not_the_server", break_in),
        trial("a_worker_without_a_console_gets_one", no_console),
    ]);
}

/// Names what a worker does with its console before it becomes one.
const CONSOLE: &str = "FAKE_CONSOLE";

/// In a worker: gives its console up where the test wants that.
pub(crate) fn leave_if_told() {
    if std::env::var_os(CONSOLE).is_some_and(|told| told == "none") {
        // SAFETY: no arguments.
        unsafe { FreeConsole() };
    }
}

async fn no_console() {
    let session = Session::open(SessionConfig {
        environment: vec![(CONSOLE.into(), "none".into())],
        ..config()
    })
    .await
    .unwrap();
    session.resume(command("g"), LONG).await.unwrap();
    tokio::time::sleep(SHORT).await;
    let _ = session.interrupt();
    match session.wait_stop(LONG).await.unwrap() {
        StopWait::Stopped(outcome) => assert!(outcome.text().ends_with(b"stopped by break\n")),
        other => panic!("{other:?}"),
    }
    // Its output still goes to the supervisor, not to the console.
    let before = session.status().stray_bytes;
    run(&session, "stdout here").await.unwrap();
    eventually("the stray output is kept", || {
        session.status().stray_bytes > before
    })
    .await;
}

/// A server with a console of its own, and a session.
fn server() -> Server {
    let mut command = program();
    command
        .args(["--simulator", "--allow-writes", "--tools", "all"])
        .creation_flags(CREATE_NO_WINDOW);
    let mut server = Server::start_in("2025-06-18", &mut command);
    server.fields("hd_reg_read", json!({"register": "rip"}));
    server
}

fn ctrl_c() -> Result<(), Failed> {
    let mut server = server();
    let worker = server.worker_pid();
    let pressed = Command::new(std::env::current_exe()?)
        .args(["ctrl-c", &server.pid().to_string()])
        .output()?;
    assert!(
        pressed.status.success(),
        "{}",
        String::from_utf8_lossy(&pressed.stderr)
    );
    let status = server.wait();
    assert!(status.success(), "{status}");
    assert!(is_gone(worker));
    Ok(())
}

fn break_in() -> Result<(), Failed> {
    let mut server = server();
    let worker = server.worker_pid();
    for _ in 0..2 {
        let running = server.fields("hd_exec_continue", json!({"wait_ms": 0}));
        assert_eq!(running["state"], "running");
        server.fields("hd_exec_pause", json!({}));
        server.fields("hd_reg_read", json!({"register": "rip"}));
    }
    assert_eq!(server.worker_pid(), worker);
    Ok(())
}

/// The role of a person: presses Ctrl+C in the console of that process.
pub(crate) fn press_ctrl_c(pid: Option<OsString>) -> ExitCode {
    let pid: u32 = pid.unwrap().into_string().unwrap().parse().unwrap();
    // SAFETY: no pointers; without a handler the call makes this process deaf to what it sends.
    let pressed = unsafe {
        FreeConsole();
        AttachConsole(pid) != 0
            && SetConsoleCtrlHandler(None, 1) != 0
            && GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0) != 0
    };
    if !pressed {
        eprintln!("{}", std::io::Error::last_os_error());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
