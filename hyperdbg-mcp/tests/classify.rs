//! The verb `classify`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod process;

use std::io::Write;
use std::process::{Output, Stdio};

use process::program;
use serde_json::{Value, json};

const CORPUS: &str = include_str!("../src/policy/tests/corpus.jsonl");

fn classify(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = program()
        .arg("classify")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The program answers as it reads: a pipe that nobody reads would stop both.
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn objects(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}

#[test]
fn each_line_of_a_corpus_gets_its_answer() {
    let output = classify(&["--json", "-"], CORPUS.as_bytes());
    assert!(output.status.success());
    let answers = objects(&output);
    let lines: Vec<Value> = CORPUS
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), lines.len());
    for (line, answer) in lines.iter().zip(&answers) {
        assert_eq!(line["tier"], answer["tier"], "{line} {answer}");
        assert!(answer["reason"].is_string(), "{answer}");
    }
}

#[test]
fn a_line_that_is_no_request_is_never_and_spoils_no_other() {
    let input = b"\xef\xbb\xbf{\"input\": \"lm\"}\n\nnonsense\n{\"input\": 1}\n\xff\n{\"input\": \"\\ud800\"}\r\n{\"input\": \"bl\"}";
    let output = classify(&["--kind", "command", "--json", "-"], input);
    assert_eq!(output.status.code(), Some(2));
    let tiers: Vec<_> = objects(&output)
        .iter()
        .map(|answer| answer["tier"].clone())
        .collect();
    assert_eq!(tiers, ["read", "never", "never", "never", "never", "read"]);
}

#[test]
fn a_text_is_classified_from_the_command_line_and_from_standard_input() {
    let output = classify(&["db 0x1000 l 0x20"], b"");
    assert_eq!(output.stdout, b"read: reads memory\n");
    let output = classify(&["--kind", "expression", "--json", "eq(@rsp, 0)"], b"");
    assert_eq!(objects(&output)[0]["tier"], json!("destructive"));
    let output = classify(&["--kind", "script", "-"], b"@rax = 1;\n");
    assert!(output.stdout.starts_with(b"destructive: "), "{output:?}");
    let output = classify(&["--attached", "no", "db poi(1)"], b"");
    assert!(output.stdout.starts_with(b"never: "), "{output:?}");
}

#[test]
fn a_file_of_commands_is_followed_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ds");
    std::fs::write(&path, "lm\nbp 1000\n").unwrap();
    let line = format!(".script {}", path.display());
    let tier = |arguments: &[&str]| objects(&classify(arguments, b""))[0]["tier"].clone();
    assert_eq!(tier(&["--json", &line]), json!("never"));
    assert_eq!(tier(&["--json", "--read-files", &line]), json!("state"));
    std::fs::write(&path, "lm\nexit\n").unwrap();
    assert_eq!(tier(&["--json", "--read-files", &line]), json!("never"));
}
