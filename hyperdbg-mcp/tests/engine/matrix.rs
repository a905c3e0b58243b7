//! Every fault of the simulator, loaded as a shared library, in every moment of a session: each cell is answered with
//! the right category in bounded time, and the next session works.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyperdbg_mcp::engine::LibrarySource;
use hyperdbg_mcp::generated::{
    Call, ConnectRemoteDebuggerUsingNamedPipeArgs, ContinueDebuggeeArgs, ReadTargetRegisterArgs,
};
use hyperdbg_mcp::session::{Mode, Session, SessionConfig, StopWait};
use hyperdbg_mcp::tool::{Category, ToolError};
use hyperdbg_sys::REGS_ENUM;
use libtest_mimic::Trial;

use crate::simulator::{shared_library, simulated};
use crate::world::*;

/// What a fault does to the call in which it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The process ends.
    Deadly,
    /// The call does not return.
    Endless,
    /// The call returns after its deadline.
    Late,
    /// The call returns as if nothing were.
    Harmless,
}

const FAULTS: [(&str, Effect); 16] = [
    ("hang", Effect::Endless),
    ("flood", Effect::Endless),
    ("crash", Effect::Deadly),
    ("abort", Effect::Deadly),
    ("exit", Effect::Deadly),
    ("stdout", Effect::Harmless),
    ("stderr-flood", Effect::Harmless),
    ("long-chunk", Effect::Harmless),
    ("invalid-utf8", Effect::Harmless),
    ("split-utf8", Effect::Harmless),
    ("late-event", Effect::Harmless),
    ("foreign-text", Effect::Harmless),
    ("endless-events", Effect::Harmless),
    ("late-reply=450", Effect::Late),
    ("short-read", Effect::Harmless),
    ("wrong-return", Effect::Harmless),
];

const CONNECT: &str = "connect_remote_debugger_using_named_pipe";
const READ: &str = "read_target_register";
const CONTINUE: &str = "continue_debuggee";

/// The longest that a cell may take: a deadline, the grace after it, and a machine that does other things as well.
const BOUND: Duration = Duration::from_secs(15);

pub(crate) fn add(trials: &mut Vec<Trial>) {
    trials.extend([
        trial("every_fault_while_nothing_is_in_flight", idle),
        trial("every_fault_while_a_read_is_in_flight", read_in_flight),
        trial("every_fault_while_the_target_runs", continue_in_flight),
        trial("every_fault_while_a_session_is_being_connected", open_in_flight),
        trial("every_fault_while_a_session_is_being_closed", close_in_flight),
        trial(
            "every_fault_in_a_call_that_was_taken_back_leaves_a_session_or_says_so",
            abandoned,
        ),
    ]);
}

fn connect() -> Call {
    Call::ConnectRemoteDebuggerUsingNamedPipe(ConnectRemoteDebuggerUsingNamedPipeArgs {
        pipe: br"\\.\pipe\HyperDbgPipe".to_vec(),
        pause: true,
    })
}

fn read() -> Call {
    Call::ReadTargetRegister(ReadTargetRegisterArgs {
        register: REGS_ENUM::REGISTER_RIP,
    })
}

/// A session whose library commits `fault` in the export `at`.
async fn armed(fault: &str, effect: Effect, at: &str) -> Arc<Session> {
    // What changes other calls is armed as such; what acts at once waits for its export.
    let plain = effect == Effect::Harmless && matches!(fault, "short-read" | "wrong-return");
    let entry = if plain {
        fault.to_owned()
    } else {
        format!("{fault}@{at}")
    };
    let session = Session::open(SessionConfig {
        environment: vec![("HYPERDBG_SIM_FAULT".into(), entry.into())],
        ..simulated(LibrarySource::Path(shared_library()))
    })
    .await
    .unwrap();
    session.set_mode(Some(Mode::Debugger));
    session
}

async fn connected(fault: &str, effect: Effect, at: &str) -> Arc<Session> {
    let session = armed(fault, effect, at).await;
    session.call(connect(), LONG).await.unwrap();
    session
}

fn judge<T: std::fmt::Debug>(fault: &str, effect: Effect, result: &Result<T, ToolError>) {
    match effect {
        Effect::Deadly => assert_category(result, Category::WorkerLost),
        Effect::Endless | Effect::Late => assert_category(result, Category::Timeout),
        Effect::Harmless => assert!(result.is_ok(), "{fault}: {result:?}"),
    }
}

/// The session closes in time, and another one works.
async fn ends_well(fault: &str, session: Arc<Session>, started: Instant) {
    let closing = Instant::now();
    session.close().await;
    assert!(
        closing.elapsed() < Duration::from_secs(3),
        "{fault}: closed in {:?}",
        closing.elapsed()
    );
    assert!(!session.status().alive, "{fault}");
    let next = Session::open(simulated(LibrarySource::Path(shared_library())))
        .await
        .unwrap();
    assert!(say(&next, ".formats 0x41").await.contains("41"), "{fault}");
    next.close().await;
    assert!(started.elapsed() < BOUND, "{fault}: {:?}", started.elapsed());
}

/// A deadline that passes where the fault is about time.
fn deadline(effect: Effect) -> Duration {
    match effect {
        Effect::Endless | Effect::Late => SHORT,
        Effect::Deadly | Effect::Harmless => LONG,
    }
}

/// Whether a session outlives a call with the fault.
fn outlives(effect: Effect) -> bool {
    matches!(effect, Effect::Late | Effect::Harmless)
}

/// The fault acts on another thread of the library, when nothing is in flight.
async fn idle() {
    for (fault, effect) in FAULTS {
        let started = Instant::now();
        let acts_later = effect != Effect::Late && !matches!(fault, "short-read" | "wrong-return");
        let entry = if acts_later {
            format!("{fault}=100")
        } else {
            fault.to_owned()
        };
        let session = connected(&entry, effect, READ).await;
        assert!(session.call(read(), LONG).await.is_ok(), "{fault}: before");
        if effect == Effect::Deadly {
            eventually("the end is seen", || !session.status().alive).await;
            assert_category(&session.call(read(), LONG).await, Category::WorkerLost);
        } else {
            tokio::time::sleep(Duration::from_millis(200)).await;
            assert!(session.status().alive, "{fault}");
            let text = say(&session, ".formats 0x41").await;
            assert!(text.contains("41"), "{fault}: {text}");
        }
        ends_well(fault, session, started).await;
    }
}

async fn read_in_flight() {
    for (fault, effect) in FAULTS {
        let started = Instant::now();
        let session = connected(fault, effect, READ).await;
        let result = session.call(read(), deadline(effect)).await;
        judge(fault, effect, &result);
        assert_eq!(session.status().alive, outlives(effect), "{fault}");
        ends_well(fault, session, started).await;
    }
}

async fn continue_in_flight() {
    for (fault, effect) in FAULTS {
        let started = Instant::now();
        let session = connected(fault, effect, CONTINUE).await;
        session
            .resume(Call::ContinueDebuggee(ContinueDebuggeeArgs {}), LONG)
            .await
            .unwrap();
        let waited = session
            .wait_stop(if effect == Effect::Deadly { LONG } else { SHORT })
            .await;
        match effect {
            Effect::Deadly => {
                assert_category(&waited.map(|_| ()), Category::WorkerLost);
                // Told once as the end of the run; from then on as the end of the session.
                assert_category(&session.call(read(), LONG).await, Category::WorkerLost);
            }
            // The target runs, as far as anybody can tell.
            Effect::Endless => assert!(matches!(waited, Ok(StopWait::StillRunning { .. })), "{fault}"),
            Effect::Late | Effect::Harmless => assert!(
                matches!(waited, Ok(StopWait::StillRunning { .. } | StopWait::Stopped(_))),
                "{fault}: {waited:?}"
            ),
        }
        ends_well(fault, session, started).await;
    }
}

async fn open_in_flight() {
    for (fault, effect) in FAULTS {
        let started = Instant::now();
        let session = armed(fault, effect, CONNECT).await;
        judge(fault, effect, &session.call(connect(), deadline(effect)).await);
        ends_well(fault, session, started).await;
    }
}

async fn close_in_flight() {
    for (fault, effect) in FAULTS {
        let started = Instant::now();
        let session = connected(fault, effect, READ).await;
        let call = {
            let session = Arc::clone(&session);
            tokio::spawn(async move { session.call(read(), LONG).await })
        };
        tokio::time::sleep(Duration::from_millis(20)).await;
        ends_well(fault, Arc::clone(&session), started).await;
        let result = call.await.unwrap();
        match effect {
            Effect::Late | Effect::Harmless => assert!(
                result.is_ok() || matches!(&result, Err(error) if error.category == Category::NotConnected),
                "{fault}: {result:?}"
            ),
            Effect::Endless => assert_category(&result, Category::NotConnected),
            Effect::Deadly => assert!(
                matches!(&result, Err(error) if matches!(error.category, Category::WorkerLost | Category::NotConnected)),
                "{fault}: {result:?}"
            ),
        }
    }
}

async fn abandoned() {
    for (fault, effect) in FAULTS {
        let started = Instant::now();
        let session = connected(fault, effect, READ).await;
        // The caller goes away: what comes of the call is nobody's answer.
        let _ = tokio::time::timeout(Duration::from_millis(20), session.call(read(), SHORT)).await;
        match effect {
            Effect::Late | Effect::Harmless => {
                let text = say(&session, ".formats 0x41").await;
                assert!(text.contains("41"), "{fault}: {text}");
            }
            _ => {
                eventually("the worker is gone", || !session.status().alive).await;
                assert_category(&session.call(read(), LONG).await, Category::WorkerLost);
            }
        }
        ends_well(fault, session, started).await;
    }
}
