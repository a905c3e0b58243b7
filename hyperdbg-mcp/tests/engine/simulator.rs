//! The simulator as the library, linked in and loaded, in every way that it misbehaves.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyperdbg_mcp::engine::LibrarySource;
use hyperdbg_mcp::generated::{Call, ContinueDebuggeeArgs, Reply};
use hyperdbg_mcp::session::{Mode, Session, SessionConfig, StopWait, WorkerProgram};
use hyperdbg_mcp::tool::Category;
use libtest_mimic::Trial;

use crate::world::*;

pub(crate) fn add(trials: &mut Vec<Trial>) {
    trials.extend([
        trial("the_simulator_answers_linked_in_and_loaded", answers),
        trial("every_fault_of_the_simulator_is_answered_in_time", faults),
        trial("faults_in_the_first_command_are_told_by_open", opening_faults),
        trial("the_simulated_debuggee_runs_until_it_is_paused", pause),
    ]);
}

/// The shared library that cargo built along with this program.
pub(crate) fn shared_library() -> PathBuf {
    let file = format!("{DLL_PREFIX}hyperdbg_simulator{DLL_SUFFIX}");
    std::env::current_exe().unwrap().with_file_name(file)
}

pub(crate) fn simulated(library: LibrarySource) -> SessionConfig {
    SessionConfig {
        library,
        worker: WorkerProgram {
            program: std::env::current_exe().unwrap(),
            arguments: vec!["simulator-worker".into()],
        },
        ..config()
    }
}

async fn open_simulator(library: LibrarySource) -> Arc<Session> {
    Session::open(simulated(library)).await.unwrap()
}

/// The shared library in a folder whose name is not easy.
pub(crate) fn moved() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::Builder::new()
        .prefix("Hyper Dbg ünï ")
        .tempdir()
        .unwrap();
    let path = folder.path().join(format!("libhyperdbg{DLL_SUFFIX}"));
    std::fs::copy(shared_library(), &path).unwrap();
    (folder, path)
}

async fn answers() {
    let (folder, path) = moved();
    // Longer than Windows takes without being told.
    let deep: PathBuf = std::iter::once(folder.path())
        .chain(std::iter::repeat_n(Path::new("a folder with a long name"), 12))
        .collect();
    std::fs::create_dir_all(&deep).unwrap();
    let deep = deep.join(path.file_name().unwrap());
    std::fs::copy(&path, &deep).unwrap();
    for library in [
        LibrarySource::Embedded,
        LibrarySource::Path(path),
        LibrarySource::Path(deep),
    ] {
        let session = open_simulator(library.clone()).await;
        let status = session.status();
        assert!(status.simulator && status.library == library);
        assert_eq!(status.missing_exports, Vec::<String>::new());
        let text = say(&session, ".formats 0x41").await;
        assert!(text.contains("0000000000000041") || text.contains("41"), "{text}");
        assert!(say(&session, "no_such_command").await.starts_with("err, "));
        let closed = session.close().await;
        assert!(closed.graceful, "{closed:?}");
    }
}

async fn faults() {
    for library in [LibrarySource::Embedded, LibrarySource::Path(shared_library())] {
        let lost = [
            ("hang", Category::Timeout),
            ("flood", Category::Timeout),
            ("crash", Category::WorkerLost),
            ("abort", Category::WorkerLost),
            ("exit", Category::WorkerLost),
        ];
        for (fault, category) in lost {
            let session = open_simulator(library.clone()).await;
            let started = Instant::now();
            let deadline = if category == Category::Timeout {
                SHORT
            } else {
                LONG
            };
            let result = session.call(command(&format!("!sim {fault}")), deadline).await;
            assert!(
                category != Category::Timeout || started.elapsed() < Duration::from_secs(4),
                "{fault}: {:?}",
                started.elapsed()
            );
            assert_category(&result, category);
            assert!(!session.status().alive, "{fault}");
        }

        let session = open_simulator(library).await;
        for fault in ["stdout", "stderr-flood"] {
            let before = session.status().stray_bytes;
            let outcome = run(&session, &format!("!sim {fault}")).await.unwrap();
            assert!(outcome.text.len() < 1000, "{fault}");
            eventually("the stray output is kept", || {
                session.status().stray_bytes > before
            })
            .await;
        }
        assert_eq!(run(&session, "!sim long-chunk").await.unwrap().text.len(), 4355);
        let invalid = run(&session, "!sim invalid-utf8").await.unwrap().text;
        assert!(std::str::from_utf8(invalid.bytes()).is_err());
        let split = run(&session, "!sim split-utf8").await.unwrap();
        assert!(std::str::from_utf8(split.text.bytes()).is_ok());
        let before = session.status().events;
        run(&session, "!sim late-event").await.unwrap();
        let page = session.wait_events(before, 10, LONG).await;
        assert_eq!(
            (page.records.len(), page.records[0].during),
            (1, None),
            "{page:?}"
        );
        // Its thread may come too late for the call that started it.
        let mut foreign = false;
        for _ in 0..20 {
            foreign |= run(&session, "!sim foreign-text").await.unwrap().foreign_text;
        }
        assert!(foreign);
        assert!(session.close().await.graceful);
    }
}

async fn opening_faults() {
    for (fault, category) in [
        ("hang@hyperdbg_u_run_command", Category::Timeout),
        ("crash@hyperdbg_u_run_command", Category::WorkerLost),
    ] {
        let result = Session::open(SessionConfig {
            environment: vec![("HYPERDBG_SIM_FAULT".into(), fault.into())],
            open_deadline: if category == Category::Timeout {
                SHORT * 4
            } else {
                LONG
            },
            ..simulated(LibrarySource::Embedded)
        })
        .await;
        assert_category(&result.map(|_| ()), category);
    }
}

async fn pause() {
    let session = open_simulator(LibrarySource::Path(shared_library())).await;
    let connected = say(&session, r".debug remote namedpipe \\.\pipe\HyperDbgPipe pause").await;
    assert!(!connected.starts_with("err, "), "{connected}");
    session.set_mode(Some(Mode::Debugger));
    for _ in 0..3 {
        session
            .resume(Call::ContinueDebuggee(ContinueDebuggeeArgs {}), LONG)
            .await
            .unwrap();
        assert!(matches!(
            session.wait_stop(Duration::from_millis(100)).await.unwrap(),
            StopWait::StillRunning { .. }
        ));
        assert_category(&run(&session, "r").await, Category::TargetRunning);
        let _ = session.interrupt();
        match session.wait_stop(LONG).await.unwrap() {
            StopWait::Stopped(outcome) => {
                let outcome = outcome.tell().unwrap();
                assert!(matches!(outcome.reply, Reply::ContinueDebuggee(_)));
                assert!(outcome.text.bytes().starts_with(b"debuggee is running...\n"));
            }
            other => panic!("{other:?}"),
        }
        let registers = say(&session, "r").await;
        assert!(registers.to_ascii_lowercase().contains("rip"), "{registers}");
    }
    assert!(session.close().await.graceful);
}
