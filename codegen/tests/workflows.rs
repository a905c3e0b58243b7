//! What runs on GitHub: pinned, with no more rights than it needs, and shell that parses.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};

fn github() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github")
}

/// Name and text of each workflow.
fn workflows() -> Vec<(String, String)> {
    let entries = fs::read_dir(github().join("workflows")).unwrap();
    let mut found: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap().replace("\r\n", "\n"))
        })
        .collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

#[test]
fn actions_are_pinned_by_commit_and_say_their_version() {
    for (name, text) in workflows() {
        for line in text.lines().filter(|line| line.contains("uses:")) {
            let (_, pin) = line.split_once('@').unwrap();
            let (commit, version) = pin.split_once(" # v").unwrap();
            let hex = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(commit.len() == 40 && hex && !version.is_empty(), "{name}: {line}");
        }
    }
}

#[test]
fn only_the_job_that_writes_an_issue_may_write() {
    for (name, text) in workflows() {
        let (_, rest) = text.split_once("\npermissions:\n").unwrap();
        let mut rights = rest.lines().take_while(|line| line.starts_with("  "));
        let expected: &[&str] = match name.as_str() {
            "upstream-drift.yml" => &["  contents: read", "  issues: write"],
            _ => &["  contents: read"],
        };
        assert!(rights.by_ref().eq(expected.iter().copied()), "{name}");
        assert_eq!(text.matches("permissions:").count(), 1, "{name}");
        let checkouts = text.matches("actions/checkout@").count();
        assert_eq!(
            text.matches("persist-credentials: false").count(),
            checkouts,
            "{name}"
        );
        assert!(
            !text.contains("${{ github.event"),
            "{name}: what strangers write is no code"
        );
    }
}

/// The text of each `run: |`.
#[cfg(unix)]
fn shell(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(indent) = line.find("run: |") else {
            continue;
        };
        let inside = " ".repeat(indent + 1);
        let mut block = String::new();
        while let Some(line) = lines.next_if(|line| line.is_empty() || line.starts_with(&inside)) {
            block.push_str(line);
            block.push('\n');
        }
        found.push(block);
    }
    found
}

#[cfg(unix)]
#[test]
fn shell_parses() {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let parses = |name: &str, text: &str| {
        let mut bash = Command::new("bash")
            .arg("-n")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        bash.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(bash.wait().unwrap().success(), "{name}:\n{text}");
    };
    let script = github().join("upstream-drift.sh");
    parses("upstream-drift.sh", &fs::read_to_string(script).unwrap());
    let mut blocks = 0;
    for (name, text) in workflows() {
        for block in shell(&text) {
            parses(&name, &block);
            blocks += 1;
        }
    }
    assert!(blocks >= 2, "only {blocks} blocks of shell were found");
}
