use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::place::beside;
use super::writer::rotated;
use super::{Audit, Call, Decision, Destination, Masker, Report, Server, Session, verify};
use crate::output::Rendered;
use crate::tier::Tier;
use crate::tool::Category;

const ROOMY: u64 = 1 << 30;

struct Log {
    folder: tempfile::TempDir,
}

impl Log {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("audit.jsonl")
    }

    fn open(&self, max_bytes: u64) -> Audit {
        let destination = Destination::File(self.path());
        Audit::open_sized(
            Some(&destination),
            &Server::default(),
            Masker::default(),
            max_bytes,
        )
    }

    /// A log of two runs with `calls` calls each, both closed in order.
    fn written(calls: u32) -> Self {
        let log = Self::new();
        for _ in 0..2 {
            let audit = log.open(ROOMY);
            (0..calls).for_each(|number| record(&audit, number));
            audit.close();
        }
        log
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(self.path())
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    fn write(&self, lines: &[String]) {
        fs::write(self.path(), lines.concat_lines()).unwrap();
    }

    fn verify(&self) -> Report {
        verify(&self.path(), true).unwrap()
    }

    fn places(&self) -> Vec<String> {
        self.verify().findings.iter().map(ToString::to_string).collect()
    }
}

trait ConcatLines {
    fn concat_lines(&self) -> String;
}

impl ConcatLines for [String] {
    fn concat_lines(&self) -> String {
        self.iter().fold(String::new(), |text, line| text + line + "\n")
    }
}

fn arguments(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => panic!("no object"),
    }
}

fn call(arguments: &Map<String, Value>, tier: Tier) -> Call<'_> {
    Call {
        tool: "hd_mem_read",
        tier: Some(tier),
        arguments,
        decision: Decision::allowed(),
        command: None,
        session: Session::default(),
    }
}

fn rendered() -> Rendered {
    Rendered {
        text: "fine".to_owned(),
        fields: None,
        failure: None,
    }
}

fn record(audit: &Audit, number: u32) {
    let arguments = arguments(json!({"address": format!("{number:#x}"), "size": 4}));
    audit
        .intent(&call(&arguments, Tier::Read))
        .unwrap()
        .finish(&rendered());
}

#[test]
fn an_untouched_log_verifies_and_says_what_was_done() {
    let log = Log::written(3);
    let report = log.verify();
    assert_eq!(
        (report.findings, report.notes, report.lines),
        (vec![], vec![], 16)
    );
    let intent: Value = serde_json::from_str(&log.lines()[1]).unwrap();
    assert_eq!(
        (
            &intent["kind"],
            &intent["tool"],
            &intent["tier"],
            &intent["address"],
            &intent["size"]
        ),
        (
            &json!("intent"),
            &json!("hd_mem_read"),
            &json!("read"),
            &json!("0x0"),
            &json!(4)
        )
    );
    assert_eq!(
        (&intent["decision"], &intent["decided_by"]),
        (&json!("allowed"), &json!("policy"))
    );
    let outcome: Value = serde_json::from_str(&log.lines()[2]).unwrap();
    assert_eq!(
        (&outcome["outcome"], &outcome["intent"]),
        (&json!("ok"), &json!(2))
    );
}

#[test]
fn every_tampering_is_found_at_its_place() {
    let mut seen = Vec::new();
    let mut tamper = |how: &dyn Fn(&mut Vec<String>)| {
        let log = Log::written(3);
        let mut lines = log.lines();
        how(&mut lines);
        log.write(&lines);
        let places = log.places();
        assert_eq!(places.len(), 1, "{places:?}");
        seen.extend(places);
    };
    tamper(&|lines| drop(lines.remove(4)));
    tamper(&|lines| lines[4] = lines[4].replace("\"ok\"", "\"no\""));
    tamper(&|lines| lines.swap(4, 5));
    tamper(&|lines| lines.truncate(12));
    tamper(&|lines| lines.push(lines[4].clone()));
    tamper(&|lines| lines[4] = "{}".to_owned());
    tamper(&|lines| lines.insert(4, "garbage".to_owned()));
    tamper(&|lines| drop(lines.remove(0)));
    tamper(&|lines| {
        let last = lines.len() - 1;
        lines[last] = lines[last].replace("\"end\"", "\"enx\"");
    });
    let expected = [
        "audit.jsonl:5: line 5 of the chain is missing before here: it was deleted",
        "audit.jsonl:5: line 5 of the chain was changed",
        "audit.jsonl:6: line 5 of the chain does not stand in its place: lines were swapped",
        "audit.jsonl: the log ends with line 12 of the chain, and 16 were written: lines were cut off its end",
        "audit.jsonl:17: line 5 of the chain stands here again: it was put in",
        "audit.jsonl:5: this is no line of the log: it was changed or put in",
        "audit.jsonl:5: this is no line of the log: it was changed or put in",
        "audit.jsonl:1: line 1 of the chain is missing before here: it was deleted",
        "audit.jsonl:16: line 16 of the chain was changed",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_line_that_is_forged_with_a_right_hash_is_found_too() {
    // Appended: it fits the chain, and the head file does not know it.
    let log = Log::written(1);
    let mut lines = log.lines();
    let last: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    let forged = arguments(json!({"seq": last["seq"].as_u64().unwrap() + 1, "kind": "end"}));
    lines.push(super::chain::seal(forged, last["hash"].as_str().unwrap()).0);
    log.write(&lines);
    assert_eq!(
        log.places(),
        [
            "audit.jsonl: the log ends with line 9 of the chain, and only 8 were written: lines were appended or replaced"
        ]
    );

    // The last line replaced by another that fits.
    let log = Log::written(1);
    let mut lines = log.lines();
    let mut forged = arguments(serde_json::from_str(lines.last().unwrap()).unwrap());
    let prev = forged["prev"].as_str().unwrap().to_owned();
    forged.shift_remove("hash");
    forged.insert("kind".to_owned(), "start".into());
    *lines.last_mut().unwrap() = super::chain::seal(forged, &prev).0;
    log.write(&lines);
    assert_eq!(
        log.places(),
        ["audit.jsonl: line 8 of the chain is not the one that was written: lines were replaced"]
    );

    // Replaced: the line after it does not follow on it.
    let log = Log::written(1);
    let mut lines = log.lines();
    let mut forged = arguments(serde_json::from_str(&lines[1]).unwrap());
    let prev = forged["prev"].as_str().unwrap().to_owned();
    forged.shift_remove("hash");
    forged.insert("tool".to_owned(), "hd_mem_write".into());
    lines[1] = super::chain::seal(forged, &prev).0;
    log.write(&lines);
    assert_eq!(
        log.places(),
        [
            "audit.jsonl:3: line 3 of the chain does not follow on the one before: one of both was put in or replaced"
        ]
    );
}

#[test]
fn a_tampering_stays_visible_after_the_next_start() {
    for cut in [true, false] {
        let log = Log::written(2);
        if cut {
            let mut lines = log.lines();
            lines.truncate(9);
            log.write(&lines);
        } else {
            fs::remove_file(beside(&log.path(), "head")).unwrap();
        }
        log.open(ROOMY).close();
        let places = log.places().join("\n");
        let expected = if cut {
            "lines up to 12 were written, and the log ends at line 9"
        } else {
            "the head file was missing"
        };
        assert!(places.contains(expected), "{places}");
    }
    // A whole log that disappears leaves its head.
    let log = Log::written(2);
    fs::remove_file(log.path()).unwrap();
    log.open(ROOMY).close();
    assert!(
        log.places()
            .join("\n")
            .contains("lines 1 to 12 of the chain are missing"),
        "{:?}",
        log.places()
    );
}

#[test]
fn a_torn_line_is_closed_by_the_next_start() {
    let log = Log::new();
    let audit = log.open(ROOMY);
    record(&audit, 1);
    let head_before = fs::read(beside(&log.path(), "head")).unwrap();
    drop(audit);
    // As a kill leaves it: the head names the line to come, and half of the line is there.
    let mut head: Value = serde_json::from_slice(&head_before).unwrap();
    head["next"] = json!("ab".repeat(32));
    fs::write(beside(&log.path(), "head"), head.to_string()).unwrap();
    let torn = r#"{"arguments":{"addr"#;
    fs::write(log.path(), fs::read_to_string(log.path()).unwrap() + torn).unwrap();
    let report = log.verify();
    assert_eq!(report.findings, []);
    assert!(report.notes[0].message.contains("torn"), "{report:?}");

    let audit = log.open(ROOMY);
    record(&audit, 2);
    audit.close();
    let report = log.verify();
    assert_eq!(report.findings, []);
    assert_eq!(report.lines, 8);
    let recovered: Value = serde_json::from_str(&log.lines()[4]).unwrap();
    assert_eq!(recovered["kind"], "recovered");
    assert_eq!(recovered["torn"]["bytes"], torn.len());
    // Its content cannot be altered afterwards.
    let altered = fs::read_to_string(log.path())
        .unwrap()
        .replacen(torn, r#"{"arguments":{"xddr"#, 1);
    fs::write(log.path(), altered).unwrap();
    assert_eq!(log.places().len(), 1, "{:?}", log.places());
}

#[test]
fn garbage_after_the_end_is_not_taken_for_a_torn_line() {
    let log = Log::written(1);
    fs::write(log.path(), fs::read_to_string(log.path()).unwrap() + "{\"x\"").unwrap();
    assert_eq!(log.places().len(), 1);
    log.open(ROOMY).close();
    assert!(
        log.places()[0].contains("bytes were added after the end"),
        "{:?}",
        log.places()
    );
}

#[test]
fn a_start_after_a_kill_names_the_calls_that_were_not_finished() {
    let log = Log::new();
    let audit = log.open(ROOMY);
    record(&audit, 1);
    let arguments = arguments(json!({}));
    let pending = audit.intent(&call(&arguments, Tier::Destructive)).unwrap();
    let bytes = fs::read(log.path()).unwrap();
    let head = fs::read(beside(&log.path(), "head")).unwrap();
    drop(pending);
    drop(audit);
    fs::write(log.path(), bytes).unwrap();
    fs::write(beside(&log.path(), "head"), head).unwrap();
    log.open(ROOMY).close();
    let recovered: Value = serde_json::from_str(&log.lines()[4]).unwrap();
    assert_eq!(
        (&recovered["kind"], &recovered["unfinished"]),
        (&json!("recovered"), &json!([4]))
    );
    assert_eq!(log.places(), [""; 0]);
}

#[test]
fn a_call_that_is_dropped_has_an_outcome() {
    let log = Log::new();
    let audit = log.open(ROOMY);
    let arguments = arguments(json!({}));
    drop(audit.intent(&call(&arguments, Tier::Read)).unwrap());
    audit.close();
    assert!(log.lines()[2].contains("\"outcome\":\"cancelled\""));
}

#[test]
fn rotation_does_not_break_the_chain() {
    let log = Log::new();
    let audit = log.open(4_000);
    (0..60).for_each(|number| record(&audit, number));
    audit.close();
    let files = rotated(&log.path()).len();
    assert!(files > 3, "{files}");
    let report = log.verify();
    assert_eq!((report.findings, report.notes), (vec![], vec![]));
    assert_eq!(report.files.len(), files + 1);

    // A closed file verifies by itself, up to what is before it.
    let third = verify(&beside(&log.path(), "3"), true).unwrap();
    assert_eq!((third.findings, third.files.len()), (vec![], 3));
    // A line of an old file, and a whole one, are missed.
    let second = beside(&log.path(), "2");
    let text = fs::read_to_string(&second).unwrap();
    let without: Vec<String> = text
        .lines()
        .enumerate()
        .filter(|(at, _)| *at != 3)
        .map(|(_, line)| line.to_owned())
        .collect();
    fs::write(&second, without.concat_lines()).unwrap();
    let places = log.places();
    assert_eq!(places.len(), 1, "{places:?}");
    assert!(places[0].starts_with("audit.jsonl.2:4: "), "{places:?}");
    let head_of_text: Vec<String> = text.lines().take(3).map(str::to_owned).collect();
    fs::write(&second, head_of_text.concat_lines()).unwrap();
    assert!(
        log.places()
            .iter()
            .any(|place| place.starts_with("audit.jsonl.2: the file ends before")),
        "{:?}",
        log.places()
    );
    fs::remove_file(&second).unwrap();
    let report = log.verify();
    assert!(
        report.findings.is_empty() && report.notes[0].message.contains("audit.jsonl.2, is not here"),
        "{report:?}"
    );
}

#[test]
fn a_kill_between_two_files_does_not_break_the_chain() {
    // Killed after the closing line, before the file was moved; and after that, before the next one was begun.
    for moved in [false, true] {
        let log = Log::new();
        let audit = log.open(1);
        audit.close();
        let last = *rotated(&log.path()).last().unwrap();
        let closed = beside(&log.path(), &last.to_string());
        let end: Value =
            serde_json::from_str(fs::read_to_string(&closed).unwrap().lines().last().unwrap()).unwrap();
        let head = json!({"seq": end["seq"], "hash": end["hash"], "next": null});
        fs::write(beside(&log.path(), "head"), head.to_string()).unwrap();
        if moved {
            fs::remove_file(log.path()).unwrap();
        } else {
            fs::rename(&closed, log.path()).unwrap();
        }
        log.open(ROOMY).close();
        assert_eq!(log.places(), [""; 0], "{moved}");
    }
}

#[test]
fn calls_from_many_threads_make_one_chain() {
    let log = Log::new();
    let audit = Arc::new(log.open(20_000));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let audit = Arc::clone(&audit);
            std::thread::spawn(move || (0..100).for_each(|number| record(&audit, number)))
        })
        .collect();
    // Whoever verifies meanwhile sees no alteration.
    while threads.iter().any(|thread| !thread.is_finished()) {
        assert_eq!(log.places(), [""; 0]);
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    audit.close();
    let report = log.verify();
    assert_eq!(report.findings, []);
    assert_eq!(report.lines, 1_602 + 2 * (report.files.len() as u64 - 1));
}

#[test]
fn a_log_has_one_writer() {
    let log = Log::new();
    let first = log.open(ROOMY);
    let second = log.open(ROOMY);
    assert!(second.broken().unwrap().contains("another server writes it"));
    first.close();
    drop(first);
    assert_eq!(log.open(ROOMY).broken(), None);
}

#[test]
fn without_a_log_only_calls_that_observe_are_made() {
    let folder = tempfile::tempdir().unwrap();
    // A folder where the file should be.
    let destination = Destination::File(folder.path().to_owned());
    let audit = Audit::open(Some(&destination), &Server::default(), Masker::default());
    let arguments = arguments(json!({}));
    assert!(audit.intent(&call(&arguments, Tier::Read)).is_ok());
    for tier in [Tier::State, Tier::Destructive] {
        let error = audit.intent(&call(&arguments, tier)).unwrap_err();
        assert_eq!(error.category, Category::PolicyDenied);
        assert!(error.next_step.unwrap().contains("--audit"));
    }
    let off = Audit::open(Some(&Destination::Off), &Server::default(), Masker::default());
    assert!(off.intent(&call(&arguments, Tier::Destructive)).is_ok());
}

#[test]
fn secrets_and_what_acts_on_a_terminal_do_not_reach_the_file() {
    let log = Log::new();
    let masker = Masker::new(["s3cr3t-t0ken-value".to_owned()]);
    let server = Server {
        library: "/home/s3cr3t-t0ken-value/lib".to_owned(),
        ..Server::default()
    };
    let audit = Audit::open(Some(&Destination::File(log.path())), &server, masker);
    let hostile = arguments(
        json!({"filter": "\u{1b}[2J\u{202e}\u{7f}ü", "s3cr3t-t0ken-value": ["s3cr3t-t0ken-value"]}),
    );
    audit
        .intent(&call(&hostile, Tier::Read))
        .unwrap()
        .finish(&rendered());
    let large = arguments(json!({"script": "x".repeat(10_000)}));
    audit
        .intent(&call(&large, Tier::Read))
        .unwrap()
        .finish(&rendered());
    audit.close();
    let text = fs::read_to_string(log.path()).unwrap();
    assert!(!text.contains("s3cr3t") && text.contains("[masked]"), "{text}");
    assert!(text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')));
    assert!(text.lines().all(|line| line.len() < 2_000) && text.contains("arguments_sha256"));
    assert_eq!(log.places(), [""; 0]);
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let log = Log::new();
    fs::write(log.path(), "").unwrap();
    fs::set_permissions(log.path(), fs::Permissions::from_mode(0o666)).unwrap();
    let audit = log.open(1_000);
    (0..10).for_each(|number| record(&audit, number));
    let mut files = 0;
    for entry in fs::read_dir(log.folder.path()).unwrap() {
        assert_eq!(
            entry.unwrap().metadata().unwrap().permissions().mode() & 0o777,
            0o600
        );
        files += 1;
    }
    assert!(files > 3);
    let inner = log.folder.path().join("a").join("b");
    let destination = Destination::File(inner.join("audit.jsonl"));
    drop(Audit::open(
        Some(&destination),
        &Server::default(),
        Masker::default(),
    ));
    assert_eq!(fs::metadata(&inner).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn the_log_is_shown_readably_and_from_a_point_in_time() {
    let log = Log::written(1);
    let text = super::show(&log.path(), &super::ShowOptions::default()).unwrap();
    assert!(
        text.contains("hd_mem_read [read] allowed by policy {\"address\":\"0x0\",\"size\":4}"),
        "{text}"
    );
    assert!(text.contains("hd_mem_read of 2: ok after"), "{text}");
    let later = super::ShowOptions {
        since: Some(super::ShowOptions::point("2999-01-01").unwrap()),
        json: true,
    };
    assert_eq!(super::show(&log.path(), &later).unwrap(), "");
    let point = super::ShowOptions::point;
    for time in [
        "2h",
        "30m",
        "7d",
        "1w",
        "2026-01-31",
        "2026-01-31 12:00",
        "2026-01-31T12:00:00Z",
    ] {
        assert!(point(time).is_ok(), "{time}");
    }
    for time in ["soon", "", "-1h", "2", "2026-02-30"] {
        assert!(point(time).is_err(), "{time}");
    }
    let midday = point("2026-01-31 12:00").unwrap();
    assert_eq!(midday, point("2026-01-31T12:00:00Z").unwrap());
    let json = super::ShowOptions {
        json: true,
        ..Default::default()
    };
    assert_eq!(
        super::show(&log.path(), &json).unwrap(),
        log.lines().concat_lines()
    );
}
