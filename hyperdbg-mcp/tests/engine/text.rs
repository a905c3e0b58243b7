//! Where the library's text goes.

use std::time::{Duration, Instant};

use hyperdbg_mcp::session::{Origin, Session, SessionConfig};
use hyperdbg_mcp::tool::Category;
use libtest_mimic::Trial;

use crate::world::*;

pub(crate) fn add(trials: &mut Vec<Trial>) {
    trials.extend([
        trial(
            "text_after_a_call_goes_to_the_event_log_not_to_the_next_call",
            late_text,
        ),
        trial(
            "text_of_another_thread_during_a_call_is_in_both_and_marked",
            foreign_text,
        ),
        trial("every_event_is_a_record_of_its_own", event_records),
        trial("what_goes_past_the_callback_is_kept_as_stray", stray_output),
        trial("a_flood_is_bounded_and_what_was_lost_is_counted", flood),
        trial(
            "a_call_that_talks_for_ever_is_ended_at_its_deadline",
            endless_call,
        ),
        trial(
            "a_thread_that_talks_for_ever_does_not_hold_up_calls",
            endless_events,
        ),
    ]);
}

fn joined(session: &Session) -> String {
    session
        .events(0, usize::MAX)
        .records
        .iter()
        .map(|record| String::from_utf8_lossy(record.text.bytes()).into_owned())
        .collect()
}

async fn late_text() {
    let session = open().await;
    assert_eq!(say(&session, "late 50 event!").await, "");
    let page = session.wait_events(0, 10, LONG).await;
    assert_eq!(page.records.len(), 1);
    let record = &page.records[0];
    assert_eq!((record.sequence, record.text.bytes()), (1, b"event!".as_slice()));
    assert_eq!((record.origin, record.during), (Origin::LibraryThread, None));
    assert_eq!(say(&session, "echo clean").await, "clean");
    assert_eq!((page.next, session.status().events), (1, 1));
}

async fn foreign_text() {
    let session = open().await;
    let outcome = run(&session, "foreign hit\n").await.unwrap();
    assert_eq!(
        (outcome.text.bytes(), outcome.foreign_text),
        (b"hit\n".as_slice(), true)
    );
    let page = session.events(0, 10);
    assert_eq!(page.records[0].during, Some("hyperdbg_u_run_command"));
    assert!(!run(&session, "echo own").await.unwrap().foreign_text);
    assert_eq!(joined(&session), "hit\n");
}

async fn event_records() {
    let session = open().await;
    run(&session, "events 500").await.unwrap();
    let mut cursor = 0;
    let mut lines = Vec::new();
    while lines.len() < 500 {
        let page = session.wait_events(cursor, 64, LONG).await;
        assert!(!page.records.is_empty() && page.records.len() <= 64 && page.missed == 0);
        cursor = page.next;
        lines.extend(
            page.records
                .into_iter()
                .map(|record| String::from_utf8(record.text.bytes().to_vec()).unwrap()),
        );
    }
    let expected: Vec<String> = (0..500).map(|number| format!("hit {number}\n")).collect();
    assert_eq!(lines, expected);
}

async fn stray_output() {
    let session = open().await;
    let outcome = run(&session, "stdout {\"jsonrpc\":1}\n").await.unwrap();
    assert!(outcome.text.is_empty());
    eventually("the stray output is kept", || session.status().stray_bytes > 0).await;
    let page = session.stray(0, 10);
    assert_eq!(page.records[0].text.bytes(), b"{\"jsonrpc\":1}\n");
    assert_eq!(page.records[0].origin, Origin::Stdout);
    assert_eq!(joined(&session), "");
    // As a library in C prints. A Windows runtime turns the newline into two bytes.
    let before = session.status().stray_bytes;
    run(&session, "c-stdout from C").await.unwrap();
    eventually("what C printed is kept", || session.status().stray_bytes > before).await;
    let page = session.stray(page.next, 10);
    assert_eq!(page.records[0].text.bytes().trim_ascii_end(), b"from C");
}

async fn flood() {
    let bound = 100_000;
    let session = Session::open(SessionConfig {
        call_text_bytes: bound,
        ..config()
    })
    .await
    .unwrap();
    let outcome = run(&session, "flood 50000").await.unwrap();
    assert!(outcome.text.len() <= bound);
    assert_eq!(outcome.text.len() as u64 + outcome.text_lost, 50_000_007);
    assert!(outcome.text.bytes().starts_with(b"xxx") && outcome.text.bytes().ends_with(b"xthe end"));
    assert_eq!(say(&session, "echo on").await, "on");
}

async fn endless_call() {
    let session = open().await;
    let started = Instant::now();
    let result = session.call(command("endless"), SHORT).await;
    assert_within(started, SHORT, SHORT + Duration::from_secs(2));
    assert_category(&result, Category::Timeout);
    let captured = result.unwrap_err().captured.unwrap();
    assert!(captured.len() <= 9 << 20 && captured.bytes().starts_with(b"yyy"));
    assert!(!session.status().alive);
}

async fn endless_events() {
    let session = open().await;
    run(&session, "chatter").await.unwrap();
    for number in 0..20 {
        let started = Instant::now();
        let text = run(&session, &format!("echo [{number}]")).await.unwrap().text;
        assert!(String::from_utf8_lossy(text.bytes()).contains(&format!("[{number}]")));
        assert!(
            started.elapsed() < Duration::from_secs(1),
            "{:?}",
            started.elapsed()
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let page = session.events(0, usize::MAX);
    let kept: usize = page.records.iter().map(|record| record.text.len()).sum();
    assert!(kept <= config().event_bytes, "{kept}");
    let started = Instant::now();
    assert!(session.close().await.graceful);
    assert!(started.elapsed() < Duration::from_secs(2));
}
