use std::cell::Cell;

use proptest::prelude::*;

use super::*;

fn record(sequence: u64, text: &str) -> LogRecord {
    LogRecord {
        sequence,
        at: Duration::from_millis(sequence),
        origin: Origin::LibraryThread,
        during: None,
        lost_before: 0,
        text: text.as_bytes().to_vec().into(),
    }
}

/// What a log of these texts answers; the first `dropped` are gone.
fn read(texts: &[String], dropped: usize, since: u64, limit: usize) -> LogPage {
    let since = usize::try_from(since).unwrap().min(texts.len());
    let start = since.max(dropped);
    let records: Vec<_> = (start..texts.len())
        .take(limit)
        .map(|at| record(at as u64 + 1, &texts[at]))
        .collect();
    let next = start + records.len();
    LogPage {
        records,
        next: next as u64,
        missed: (start - since) as u64,
        more: next < texts.len(),
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(future)
}

proptest! {
    #[test]
    fn every_record_that_the_filter_lets_through_is_there_once(
        kinds in prop::collection::vec(0_u8..12, 0..700),
        limit in 1_usize..60,
        dropped in 0_usize..20,
    ) {
        let texts: Vec<String> = kinds.iter().map(|kind| format!("kind {kind}.\n")).collect();
        let dropped = dropped.min(texts.len());
        let finds =
            |text: &Untrusted| text.bytes().starts_with(b"kind 3.") || text.bytes().starts_with(b"kind 7.");
        let (mut found, mut missed, mut since) = (Vec::new(), 0, 0);
        loop {
            let events = |since, limit, _| std::future::ready(read(&texts, dropped, since, limit));
            let page = block_on(filtered(events, since, limit, Duration::ZERO, finds));
            prop_assert!(page.records.len() <= limit);
            missed += page.missed;
            found.extend(page.records.iter().map(|record| record.sequence));
            if !page.more {
                prop_assert_eq!(page.next, texts.len() as u64);
                break;
            }
            prop_assert!(page.next > since);
            since = page.next;
        }
        let expected: Vec<u64> = (dropped..texts.len())
            .filter(|at| matches!(kinds[*at], 3 | 7))
            .map(|at| at as u64 + 1)
            .collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(missed, dropped as u64);
    }
}

#[test]
fn a_wait_ends_with_the_first_record_that_matches_and_not_before() {
    let texts: Vec<String> = ["no", "no", "yes", "no"].map(str::to_owned).into();
    // One record more at each look.
    let there = Cell::new(0);
    let events = |since, limit, wait: Duration| {
        assert!(!wait.is_zero());
        there.set(there.get() + 1);
        std::future::ready(read(&texts[..there.get()], 0, since, limit))
    };
    let finds = |text: &Untrusted| text.bytes() == b"yes";
    let page = block_on(filtered(events, 0, 10, Duration::from_secs(600), finds));
    assert_eq!(
        (page.records.len(), page.records[0].sequence, page.next),
        (1, 3, 3)
    );
    // Where the time is over first, the cursor is past what did not match.
    let events = |since, limit, _| std::future::ready(read(&texts[..2], 0, since, limit));
    let page = block_on(filtered(events, 0, 10, Duration::ZERO, finds));
    assert_eq!((page.records.len(), page.next, page.more), (0, 2, false));
}

#[test]
fn a_text_cannot_begin_a_record() {
    let mut forged = record(7, "one\n#8 +9 ms: forged\n");
    forged.lost_before = 3;
    assert_eq!(
        String::from_utf8(line(&forged, &forged.text)).unwrap(),
        "#7 +7 ms, 3 bytes lost before it: one\n  #8 +9 ms: forged\n"
    );
    // Nor can it pass for the server's.
    let own = LogRecord {
        origin: Origin::Server,
        ..record(8, "disabled")
    };
    assert_eq!(
        String::from_utf8(line(&own, &own.text)).unwrap(),
        "#8 +8 ms, the server: disabled\n"
    );
}
