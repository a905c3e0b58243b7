//! Ends: of the worker, of the session, of the supervisor.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hyperdbg_mcp::engine::LibrarySource;
use hyperdbg_mcp::session::{Session, SessionConfig, WorkerProgram, shutdown_all};
use hyperdbg_mcp::tool::Category;
use libtest_mimic::Trial;

use crate::process::system::kill;
use crate::world::*;

pub(crate) fn add(trials: &mut Vec<Trial>) {
    trials.extend([
        trial("a_worker_that_ends_is_told_with_how_and_its_last_text", faults),
        trial("a_session_closes_gracefully_and_its_worker_is_gone", close),
        trial("a_session_with_a_hung_library_still_closes_in_time", close_hung),
        trial("several_sessions_are_shut_down_together", shut_down_together),
        trial("a_library_that_cannot_be_opened_is_a_loud_error", cannot_open),
        trial(
            "a_library_that_hangs_or_dies_while_opening_is_told",
            opening_faults,
        ),
        trial("a_program_that_is_no_worker_is_told", no_worker),
        trial(
            "a_worker_killed_from_outside_is_told_with_how",
            killed_from_outside,
        ),
        trial("a_dropped_session_leaves_no_process", dropped),
        trial("what_the_library_started_dies_with_the_worker", group_is_killed),
        trial("a_worker_does_not_outlive_its_supervisor", supervisor_killed),
    ]);
    // The channel of this script is a descriptor.
    #[cfg(unix)]
    trials.push(trial(
        "garbage_on_the_channel_costs_the_worker_and_nothing_else",
        garbage,
    ));
}

async fn faults() {
    let faults: &[(&str, &str, &str)] = &[
        #[cfg(unix)]
        ("crash", "SIGSEGV", "about to crash\n"),
        #[cfg(unix)]
        ("abort", "SIGABRT", "about to abort\nterminate called\n"),
        #[cfg(windows)]
        ("crash", "0xc0000005 (access violation)", "about to crash\n"),
        #[cfg(windows)]
        (
            "abort",
            "0xc0000409 (fast failure",
            "about to abort\nterminate called\n",
        ),
        ("exit 0", "exited with code 0", "about to exit\n"),
        ("exit 7", "exited with code 7", "about to exit\n"),
    ];
    for (fault, how, text) in faults {
        let session = open().await;
        let result = run(&session, fault).await;
        assert_category(&result, Category::WorkerLost);
        let error = result.unwrap_err();
        assert!(error.message.contains(how), "{error}");
        assert!(error.message.contains("hyperdbg_u_run_command"), "{error}");
        if cfg!(any(target_os = "linux", windows)) {
            assert_eq!(
                String::from_utf8(error.captured.unwrap().bytes().to_vec()).unwrap(),
                *text,
                "{fault}"
            );
        }
        let status = session.status();
        assert!(!status.alive && status.ended.unwrap().contains(how));
        assert_category(&run(&session, "echo no").await, Category::WorkerLost);
        assert_eq!(say(&*open().await, "echo next").await, "next");
    }
}

async fn close() {
    let session = open().await;
    run(&session, "echo x").await.unwrap();
    let started = Instant::now();
    let closed = session.close().await;
    assert!(closed.graceful && closed.interrupted.is_none(), "{closed:?}");
    assert!(started.elapsed() < Duration::from_secs(1));
    assert_category(&run(&session, "echo no").await, Category::NotConnected);
    assert!(!session.status().alive);
    assert!(!runs(session.status().worker_pid));
    assert!(
        !session.close().await.graceful,
        "a second close finds nothing to end"
    );
}

async fn close_hung() {
    let session = open().await;
    session.resume(command("hang"), LONG).await.unwrap();
    let started = Instant::now();
    let closed = session.close().await;
    assert!(
        !closed.graceful && closed.interrupted == Some("hyperdbg_u_run_command"),
        "{closed:?}"
    );
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(!session.status().alive);
}

async fn shut_down_together() {
    let sessions = [open().await, open().await, open().await];
    sessions[1].resume(command("hang"), LONG).await.unwrap();
    let started = Instant::now();
    let closed = shutdown_all(sessions.iter().cloned()).await;
    assert_eq!(
        closed.iter().map(|closed| closed.graceful).collect::<Vec<_>>(),
        [true, false, true]
    );
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(sessions.iter().all(|session| !session.status().alive));
}

async fn cannot_open() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("libhyperdbg.so");
    std::fs::write(&text, "no library").unwrap();
    for path in [folder.path().join("absent.so"), folder.path().to_owned(), text] {
        let result = Session::open(SessionConfig {
            library: LibrarySource::Path(path),
            ..config()
        })
        .await;
        assert_category(&result.map(|_| ()), Category::NotConnected);
    }
}

async fn opening_faults() {
    for (fault, category) in [("hang", Category::Timeout), ("crash", Category::WorkerLost)] {
        let started = Instant::now();
        let result = Session::open(SessionConfig {
            environment: vec![("FAKE_OPENING".into(), fault.into())],
            open_deadline: if category == Category::Timeout {
                SHORT * 4
            } else {
                LONG
            },
            ..config()
        })
        .await;
        assert_category(&result.map(|_| ()), category);
        // How long a crash takes is the system's affair.
        assert!(category != Category::Timeout || started.elapsed() < Duration::from_secs(4));
    }
}

async fn no_worker() {
    for (program, arguments) in [
        ("/nowhere/hyperdbg-mcp", vec![]),
        ("cargo", vec![OsString::from("--version")]),
    ] {
        let result = Session::open(SessionConfig {
            worker: WorkerProgram {
                program: program.into(),
                arguments,
            },
            ..config()
        })
        .await;
        assert_category(&result.map(|_| ()), Category::WorkerLost);
    }
}

/// The role of a supervisor that will be killed: makes a call that hangs, says so, and waits.
pub(crate) fn supervise(fault: Option<OsString>) -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let session = open().await;
        let child = say(&session, "child").await;
        let fault = fault.unwrap().into_string().unwrap();
        session.resume(command(&fault), LONG).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        use std::io::Write;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}\n{child}", session.status().worker_pid).unwrap();
        out.flush().unwrap();
        drop(out);
        std::future::pending::<()>().await;
    });
    ExitCode::SUCCESS
}

async fn killed_from_outside() {
    let session = open().await;
    let call = {
        let session = std::sync::Arc::clone(&session);
        tokio::spawn(async move { run(&session, "sleep 10000").await })
    };
    eventually("the call is in flight", || session.status().in_flight.is_some()).await;
    let started = Instant::now();
    kill(session.status().worker_pid);
    let result = call.await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(1));
    assert_category(&result, Category::WorkerLost);
    let how = if cfg!(windows) { "code 9" } else { "SIGKILL" };
    assert!(result.unwrap_err().message.contains(how));
    assert!(!session.ping(LONG).await);
}

async fn dropped() {
    let session = open().await;
    session.resume(command("hang"), LONG).await.unwrap();
    let pid = session.status().worker_pid;
    assert!(runs(pid));
    drop(session);
    eventually("the worker is gone", || !runs(pid)).await;
}

async fn group_is_killed() {
    let session = open().await;
    let child: u32 = say(&session, "child").await.parse().unwrap();
    assert!(runs(child));
    let result = session.call(command("hang"), SHORT).await;
    assert_category(&result, Category::Timeout);
    eventually("the grandchild is gone", || !runs(child)).await;
}

async fn supervisor_killed() {
    use tokio::io::{AsyncBufReadExt, BufReader};
    for fault in ["hang", "spin", "g", "endless"] {
        let mut supervisor = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["supervisor", fault])
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(supervisor.stdout.take().unwrap()).lines();
        let worker: u32 = lines.next_line().await.unwrap().unwrap().parse().unwrap();
        let child: u32 = lines.next_line().await.unwrap().unwrap().parse().unwrap();
        assert!(runs(worker) && runs(child));
        let started = Instant::now();
        supervisor.start_kill().unwrap();
        eventually("the worker is gone", || !runs(worker)).await;
        assert!(
            started.elapsed() < Duration::from_secs(2),
            "{fault}: {:?}",
            started.elapsed()
        );
        supervisor.wait().await.unwrap();
        // Elsewhere only the worker is tied to its supervisor, not what it started.
        match cfg!(windows) {
            true => eventually("what the worker started is gone", || !runs(child)).await,
            false => kill(child),
        }
    }
}

#[cfg(unix)]
async fn garbage() {
    // The first argument of the shell's script is what follows `--channel`.
    let script = r#"printf '\005\000\000\000garbage' >&"$2"; sleep 100"#;
    let result = Session::open(SessionConfig {
        worker: WorkerProgram {
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into(), "sh".into()],
        },
        ..config()
    })
    .await;
    assert_category(&result.map(|_| ()), Category::WorkerLost);
}
