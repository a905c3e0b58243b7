//! The history of releases in a git directory.
//!
//! What needs a git, or HyperDbg's own history, counts as ignored where that is not there, and a line says so.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on fails"
)]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use hyperdbg_codegen::codes;
use hyperdbg_codegen::replay::{self, Counts, Step};
use libtest_mimic::{Arguments, Trial};
use support::{copy, finding, golden, tests_folder};

const PRELUDE: &str = include_str!("../../api/prelude.h");
const DOCUMENT: &str = include_str!("../../hyperdbg-mcp/docs/history.md");

/// Names a git directory of HyperDbg with its tags.
const REAL: &str = "HYPERDBG_REPO";

fn main() -> ExitCode {
    let git = Command::new("git").arg("--version").output();
    if let Err(error) = &git {
        eprintln!("note: what needs git cannot run here: {error}");
    }
    let real = std::env::var_os(REAL).is_some();
    if !real {
        eprintln!("note: {REAL} does not name a git directory of HyperDbg");
    }
    let trial = |name: &str, possible: bool, test: fn()| {
        let run = move || {
            test();
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(!possible)
    };
    macro_rules! trials {
        ($($possible:expr => $($test:ident),+;)+) => {
            vec![$($(trial(stringify!($test), $possible, $test)),+),+]
        };
    }
    let trials = trials! {
        git.is_ok() => releases_are_walked_in_the_order_of_their_versions, a_range_may_end_at_any_commit,
            a_bare_git_directory_is_enough, what_cannot_be_walked_is_said;
        true => every_finding_of_diff_sync_and_replay_has_a_golden, the_document_is_as_it_was_generated;
        git.is_ok() && real => the_real_history_gives_the_committed_document;
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=Nobody", "-c", "user.email=nobody@example.com"])
        .args([
            "-c",
            "init.defaultBranch=main",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "tag.gpgsign=false",
        ])
        .args(arguments)
        .env("GIT_AUTHOR_DATE", "2024-01-02T03:04:05Z")
        .env("GIT_COMMITTER_DATE", "2024-01-02T03:04:05Z")
        .env("GIT_CONFIG_GLOBAL", "")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
}

/// A repository with the releases of the tests of `sync` as tags, and one commit after them.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    let commit = |message: &str| {
        git(folder.path(), &["add", "--all"]);
        git(
            folder.path(),
            &["commit", "--quiet", "--allow-empty", "--message", message],
        );
    };
    fs::write(folder.path().join("notes.txt"), "nothing yet").unwrap();
    commit("before there was an SDK");
    git(folder.path(), &["tag", "v0.1"]);
    let sdk = folder.path().join("hyperdbg/include/SDK");
    for (release, tag) in [("older", "v0.9.0"), ("one", "v0.10"), ("newer", "v0.11-beta")] {
        copy(&tests_folder("sync").join(release), &sdk);
        commit(tag);
        git(folder.path(), &["tag", tag]);
    }
    git(folder.path(), &["tag", "nightly"]);
    copy(&tests_folder("sync").join("one"), &sdk);
    commit("after the last release");
    git(folder.path(), &["branch", "head"]);
    folder
}

fn walk(repository: &Path, from: Option<&str>, to: Option<&str>) -> Vec<Step> {
    replay::replay(repository, from, to, PRELUDE).unwrap_or_else(|findings| {
        let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
        panic!("{}", shown.join("\n"))
    })
}

fn names(steps: &[Step]) -> Vec<&str> {
    steps.iter().map(|step| step.name.as_str()).collect()
}

fn releases_are_walked_in_the_order_of_their_versions() {
    let folder = repository();
    let steps = walk(folder.path(), None, None);
    assert_eq!(names(&steps), ["v0.9.0", "v0.10", "v0.11-beta"]);
    assert_eq!(
        steps.iter().map(|step| step.exports).collect::<Vec<_>>(),
        [3, 5, 6]
    );
    assert_eq!(steps[0].date, "2024-01-02");
    assert!(steps[0].report.is_none());
    let counts = Counts::of(steps[2].report.as_ref().unwrap());
    assert_eq!((counts.added, counts.renamed, counts.removed), (1, 1, 0));
    let folder_of_tests = tests_folder("replay");
    let mut same = golden(&folder_of_tests.join("expected.txt"), &replay::text(&steps));
    same &= golden(&folder_of_tests.join("expected.md"), &replay::markdown(&steps));
    assert!(same, "run `BLESS=1 cargo test` when this is meant");
}

fn a_range_may_end_at_any_commit() {
    let folder = repository();
    assert_eq!(
        names(&walk(folder.path(), Some("v0.10"), Some("v0.10"))),
        ["v0.10"]
    );
    let to_head = walk(folder.path(), Some("v0.10"), Some("head"));
    assert_eq!(names(&to_head), ["v0.10", "v0.11-beta", "head"]);
    assert_eq!(to_head[2].exports, 5);
    // Releases that are no part of a commit's history are left out.
    assert_eq!(
        names(&walk(folder.path(), None, Some("v0.10^{commit}"))),
        ["v0.9.0", "v0.10", "v0.10^{commit}"]
    );
}

fn a_bare_git_directory_is_enough() {
    let folder = repository();
    let bare = folder.path().join("bare.git");
    git(folder.path(), &["clone", "--quiet", "--bare", ".", "bare.git"]);
    assert_eq!(walk(&bare, None, None).len(), 3);
}

/// The findings as they are shown.
fn refused(repository: &Path, from: Option<&str>, to: Option<&str>) -> String {
    let findings = replay::replay(repository, from, to, PRELUDE).unwrap_err();
    assert!(findings.iter().all(|finding| finding.help.is_some()));
    findings[0].to_string()
}

fn what_cannot_be_walked_is_said() {
    let folder = repository();
    let root = folder.path();
    let none = tempfile::tempdir().unwrap();
    assert!(finding("RPL001", &refused(none.path(), None, None), none.path()));
    assert!(finding("RPL002", &refused(root, Some("v0.8"), None), root));
    assert!(refused(root, None, Some("nobody")).contains("error[RPL002]"));
    assert!(refused(root, None, Some("--output=x")).contains("error[RPL002]"));
    assert!(refused(root, Some("v0.10"), Some("v0.9.0")).contains("v0.10 is later than v0.9.0"));
    // A release whose headers are broken is named with the place; one without an SDK is no release.
    let header = root.join("hyperdbg/include/SDK/HyperDbgLibImports.h");
    let text = fs::read_to_string(&header).unwrap();
    fs::write(&header, text.replace("BOOLEAN\n", "WHAT\n")).unwrap();
    git(root, &["commit", "--quiet", "--all", "--message", "broken"]);
    git(root, &["tag", "v0.12"]);
    assert!(finding("RPL003", &refused(root, None, None), root));
    assert!(refused(root, Some("v0.1"), Some("v0.9.0")).contains("error[RPL003]"));
}

fn every_finding_of_diff_sync_and_replay_has_a_golden() {
    let own = ["DIF", "FIX", "RET", "RPL", "SYN"];
    let missing: Vec<&str> = codes::all()
        .map(|one| one.code)
        .filter(|code| own.iter().any(|prefix| code.starts_with(prefix)))
        .filter(|code| !tests_folder("findings").join(format!("{code}.txt")).exists())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn the_document_is_as_it_was_generated() {
    let (stated, found) = replay::digest_of(&DOCUMENT.replace("\r\n", "\n")).unwrap();
    assert_eq!(
        stated, found,
        "write it with the command in its first line, and do not edit it"
    );
}

fn the_real_history_gives_the_committed_document() {
    let folder = std::env::var_os(REAL).unwrap();
    let steps = walk(Path::new(&folder), Some("v0.9.1"), Some("v0.23"));
    let exports: Vec<usize> = steps.iter().map(|step| step.exports).collect();
    assert_eq!(
        exports,
        [
            20, 36, 47, 49, 51, 51, 54, 54, 54, 54, 54, 55, 57, 57, 57, 57, 67, 69, 70, 71, 73
        ]
    );
    assert_eq!(replay::document(&steps), DOCUMENT.replace("\r\n", "\n"));
}
