//! Calls, turns, deadlines, cancellation.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyperdbg_mcp::session::{RunState, Session};
use hyperdbg_mcp::tool::Category;
use libtest_mimic::Trial;

use crate::world::*;

pub(crate) fn add(trials: &mut Vec<Trial>) {
    trials.extend([
        trial("a_call_brings_back_its_value_and_its_text", round_trip),
        trial("an_argument_that_c_cannot_hold_is_refused_by_name", inner_nul),
        trial("the_status_answers_while_a_call_runs", status_during_a_call),
        trial("a_blocked_worker_still_answers_pings", ping_during_a_call),
        trial("a_call_that_does_not_get_its_turn_is_told_who_has_it", busy),
        trial("two_hundred_calls_at_once_are_all_answered", many_at_once),
        trial("a_call_larger_than_the_channel_arrives_whole", large_call),
        trial(
            "a_large_call_given_up_while_it_is_sent_harms_no_other",
            large_call_given_up,
        ),
        trial("a_hanging_call_costs_the_worker_within_bounds", deadline_killed),
        trial(
            "a_call_cancelled_before_its_turn_is_never_made",
            cancelled_before_its_turn,
        ),
        trial(
            "a_cancelled_call_that_ends_soon_is_not_interrupted",
            cancelled_but_soon_done,
        ),
        trial(
            "a_call_over_its_deadline_is_broken_off_and_the_session_works_on",
            deadline_broken_off,
        ),
        trial(
            "a_cancelled_call_is_interrupted_and_its_reply_goes_to_nobody",
            cancelled,
        ),
    ]);
}

async fn round_trip() {
    let session = open().await;
    let outcome = run(&session, "echo hello").await.unwrap();
    assert_eq!(
        (outcome.reply, outcome.text),
        (returned(0), b"hello".to_vec().into())
    );
    assert_eq!((outcome.text_lost, outcome.foreign_text), (0, false));
    assert_eq!(run(&session, "returns 2").await.unwrap().reply, returned(2));
    assert_eq!(
        run(&session, "bytes").await.unwrap().text.bytes(),
        [0xff, 0x1b, 0xc3]
    );
    let status = session.status();
    assert!(
        status.alive && status.in_flight.is_none() && status.simulator,
        "{status:?}"
    );
    assert_eq!((status.calls, status.run_state.state), (3, RunState::Unknown));
}

async fn inner_nul() {
    let session = open().await;
    let result = run(&session, "echo a\0b").await;
    assert_category(&result, Category::InvalidArgument);
    assert!(result.unwrap_err().message.contains("`command`"));
    assert_eq!(say(&session, "echo on").await, "on");
}

async fn in_flight(session: &Session) {
    eventually("the call is in flight", || session.status().in_flight.is_some()).await;
}

fn start(session: &Arc<Session>, text: &'static str) -> tokio::task::JoinHandle<()> {
    let session = Arc::clone(session);
    tokio::spawn(async move {
        let _ = run(&session, text).await;
    })
}

async fn status_during_a_call() {
    let session = open().await;
    let call = start(&session, "sleep 400");
    in_flight(&session).await;
    let flight = session.status().in_flight.unwrap();
    assert_eq!(
        (flight.function, flight.resume, flight.interrupted),
        ("hyperdbg_u_run_command", false, false)
    );
    call.await.unwrap();
    assert!(session.status().in_flight.is_none());
}

async fn ping_during_a_call() {
    let session = open().await;
    let call = start(&session, "sleep 400");
    in_flight(&session).await;
    let (one, two) = tokio::join!(session.ping(LONG), session.ping(LONG));
    assert!(one && two);
    assert!(
        session.status().in_flight.is_some(),
        "the ping waited for the call"
    );
    call.await.unwrap();
}

async fn busy() {
    let session = open().await;
    let call = start(&session, "sleep 1000");
    in_flight(&session).await;
    let started = Instant::now();
    let result = session.call(command("echo no"), SHORT).await;
    assert_within(started, SHORT, SHORT * 2);
    assert_category(&result, Category::Busy);
    assert!(result.unwrap_err().message.contains("hyperdbg_u_run_command"));
    call.await.unwrap();
    assert_eq!(say(&session, "echo yes").await, "yes");
}

async fn many_at_once() {
    let session = open().await;
    let calls: Vec<_> = (0..200)
        .map(|number| {
            let session = Arc::clone(&session);
            tokio::spawn(async move { say(&session, &format!("echo {number}")).await })
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), number.to_string());
    }
}

async fn deadline_broken_off() {
    let session = open().await;
    let started = Instant::now();
    let result = session.call(command("g"), SHORT).await;
    assert_within(started, SHORT, SHORT + Duration::from_millis(400));
    assert_category(&result, Category::Timeout);
    let captured = String::from_utf8(result.unwrap_err().captured.unwrap().bytes().to_vec()).unwrap();
    assert_eq!(captured, "debuggee is running...\nstopped by break\n");
    assert_eq!(say(&session, "echo on").await, "on");
    assert!(session.status().last_error.unwrap().starts_with("timeout"));
}

fn large() -> String {
    (0..600_000).map(|number| format!("{number:07} ")).collect()
}

async fn large_call() {
    let session = open().await;
    let result = run(&session, &format!("echo {}", large())).await;
    assert_category(&result, Category::InvalidArgument);
    assert!(result.unwrap_err().message.contains("4800005 bytes"));
    assert_eq!(say(&session, "echo next").await, "next");
}

async fn large_call_given_up() {
    let session = open().await;
    let text = format!("echo {}", large());
    for delay in [0, 1, 2, 5] {
        let call = run(&session, &text);
        let _ = tokio::time::timeout(Duration::from_millis(delay), call).await;
        assert_eq!(say(&session, "echo next").await, "next");
    }
}

async fn deadline_killed() {
    for fault in ["hang", "spin"] {
        let session = open().await;
        let started = Instant::now();
        let result = session.call(command(fault), SHORT).await;
        assert_within(started, SHORT, SHORT + Duration::from_millis(1500));
        assert_category(&result, Category::Timeout);
        assert!(result.unwrap_err().message.contains("killed"));
        assert!(!session.status().alive);
        assert_category(&run(&session, "echo no").await, Category::WorkerLost);
        assert_eq!(say(&*open().await, "echo next").await, "next");
    }
}

async fn cancelled() {
    let session = open().await;
    let dropped = tokio::time::timeout(Duration::from_millis(50), session.call(command("g"), LONG)).await;
    assert!(dropped.is_err());
    assert_eq!(
        session.status().in_flight.unwrap().function,
        "hyperdbg_u_run_command"
    );
    let started = Instant::now();
    assert_eq!(say(&session, "echo next").await, "next");
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(session.status().alive);
}

async fn cancelled_before_its_turn() {
    let session = open().await;
    let call = start(&session, "sleep 300");
    in_flight(&session).await;
    let dropped = tokio::time::timeout(Duration::from_millis(50), run(&session, "exit 1")).await;
    assert!(dropped.is_err());
    call.await.unwrap();
    assert_eq!(say(&session, "echo alive").await, "alive");
    assert_eq!(session.status().calls, 2);
}

async fn cancelled_but_soon_done() {
    let session = open().await;
    let dropped = tokio::time::timeout(Duration::from_millis(20), run(&session, "g 100")).await;
    assert!(dropped.is_err());
    eventually("the call ends", || session.status().in_flight.is_none()).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    // A break that came too late would end this one.
    let outcome = run(&session, "g 50").await.unwrap();
    assert!(outcome.text.bytes().ends_with(b"stopped by breakpoint\n"));
}
