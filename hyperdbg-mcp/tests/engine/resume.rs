//! Resuming a target and waiting for its stop.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyperdbg_mcp::session::{Interrupted, Mode, Observed, RunState, Session, StopWait};
use hyperdbg_mcp::tool::Category;
use libtest_mimic::Trial;

use crate::world::*;

pub(crate) fn add(trials: &mut Vec<Trial>) {
    trials.extend([
        trial(
            "a_resume_returns_at_once_and_its_stop_is_told_once",
            stop_is_told_once,
        ),
        trial("a_stop_that_came_between_calls_is_not_lost", stop_between_calls),
        trial(
            "while_the_target_runs_other_calls_are_told_so_at_once",
            target_running,
        ),
        trial(
            "a_call_that_waits_as_the_target_is_resumed_is_told_so",
            waiting_call_is_told,
        ),
        trial("an_unread_stop_is_not_run_over_by_the_next_resume", unread_stop),
        trial(
            "interrupting_nothing_says_so_and_harms_nothing",
            interrupt_nothing,
        ),
        trial(
            "a_worker_lost_while_the_target_runs_is_told_to_who_waits",
            lost_while_running,
        ),
        trial(
            "a_resume_that_the_worker_refuses_is_told_instead_of_a_stop",
            refused_resume,
        ),
        trial("a_pause_releases_a_blocked_resume", pause),
    ]);
}

async fn stop(session: &Session, wait: Duration) -> String {
    match session.wait_stop(wait).await.unwrap() {
        StopWait::Stopped(delivery) => {
            String::from_utf8(delivery.tell().unwrap().text.bytes().to_vec()).unwrap()
        }
        other => panic!("no stop: {other:?}"),
    }
}

async fn stop_is_told_once() {
    let session = open().await;
    session.set_mode(Some(Mode::Debugger));
    assert!(matches!(
        session.wait_stop(Duration::ZERO).await,
        Ok(StopWait::NotResumed)
    ));
    let started = Instant::now();
    session.resume(command("g 400"), LONG).await.unwrap();
    assert!(started.elapsed() < Duration::from_millis(300));
    assert_eq!(session.status().run_state.state, RunState::Running);
    match session.wait_stop(Duration::from_millis(50)).await.unwrap() {
        StopWait::StillRunning { function, .. } => assert_eq!(function, "hyperdbg_u_run_command"),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        stop(&session, LONG).await,
        "debuggee is running...\nstopped by breakpoint\n"
    );
    assert!(matches!(
        session.wait_stop(Duration::ZERO).await,
        Ok(StopWait::NotResumed)
    ));
    assert_eq!(session.status().run_state.state, RunState::Paused);
    session.observe(Observed {
        state: RunState::Unknown,
        by: "a test",
    });
    assert_eq!(session.status().run_state.by, "a test");
}

async fn stop_between_calls() {
    let session = open().await;
    session.resume(command("g 1"), LONG).await.unwrap();
    eventually("the target stops", || session.status().unread_stop).await;
    assert_eq!(say(&session, "echo halted").await, "halted");
    assert!(stop(&session, Duration::ZERO).await.ends_with("breakpoint\n"));
}

async fn target_running() {
    let session = open().await;
    session.resume(command("g"), LONG).await.unwrap();
    let started = Instant::now();
    assert_category(&run(&session, "echo no").await, Category::TargetRunning);
    assert_category(&session.resume(command("g"), LONG).await, Category::TargetRunning);
    assert!(started.elapsed() < Duration::from_millis(200));
    assert!(session.ping(LONG).await);
}

async fn waiting_call_is_told() {
    let session = open().await;
    let blocker = {
        let session = Arc::clone(&session);
        tokio::spawn(async move { run(&session, "sleep 300").await })
    };
    eventually("the call is in flight", || session.status().in_flight.is_some()).await;
    let (resumed, _, waited) = tokio::join!(
        biased;
        session.resume(command("g"), LONG),
        async { blocker.await.unwrap().unwrap() },
        run(&session, "echo no"),
    );
    resumed.unwrap();
    assert_category(&waited, Category::TargetRunning);
}

async fn unread_stop() {
    let session = open().await;
    session.resume(command("g 1"), LONG).await.unwrap();
    eventually("the target stops", || session.status().unread_stop).await;
    assert_category(&session.resume(command("g 1"), LONG).await, Category::Busy);
    assert!(stop(&session, Duration::ZERO).await.ends_with("breakpoint\n"));
    session.resume(command("g 1"), LONG).await.unwrap();
    assert!(stop(&session, LONG).await.ends_with("breakpoint\n"));
}

async fn pause() {
    let session = open().await;
    session.resume(command("g"), LONG).await.unwrap();
    // The break is only taken once the library is in the call.
    eventually("the library runs the target", || {
        let _ = session.interrupt();
        session.status().unread_stop
    })
    .await;
    assert_eq!(
        stop(&session, LONG).await,
        "debuggee is running...\nstopped by break\n"
    );
    assert_eq!(say(&session, "echo halted").await, "halted");
}

async fn interrupt_nothing() {
    let session = open().await;
    assert_eq!(session.interrupt(), Interrupted::NothingInFlight);
    assert_eq!(say(&session, "echo on").await, "on");
    session.resume(command("g"), LONG).await.unwrap();
    assert_eq!(
        session.interrupt(),
        Interrupted::Requested {
            function: "hyperdbg_u_run_command",
            resume: true
        }
    );
}

async fn lost_while_running() {
    let session = open().await;
    session.set_mode(Some(Mode::Debugger));
    session.resume(command("g"), LONG).await.unwrap();
    let waiting = {
        let session = Arc::clone(&session);
        tokio::spawn(async move { session.wait_stop(LONG).await })
    };
    tokio::time::sleep(Duration::from_millis(50)).await;
    session.kill();
    let result = waiting.await.unwrap();
    assert_category(&result, Category::WorkerLost);
    assert!(
        result
            .unwrap_err()
            .next_step
            .unwrap()
            .contains("debuggee may stay halted")
    );
    assert_category(&session.wait_stop(LONG).await, Category::WorkerLost);
}

async fn refused_resume() {
    let session = open().await;
    session.resume(command("g\0"), LONG).await.unwrap();
    assert_category(&session.wait_stop(LONG).await, Category::InvalidArgument);
    assert!(matches!(
        session.wait_stop(Duration::ZERO).await,
        Ok(StopWait::NotResumed)
    ));
}
