//! Findings in `api/`: each folder of `tests/resolve` but `base` holds an edit of `base` and the findings that follow.
//!
//! `edit` names a file, then the text to replace and its replacement:
//!
//! ```text
//! tools/demo.json
//! <<<
//! "tier": "read",
//! ===
//! "tier": "reed",
//! >>>
//! ```
//!
//! A line `without FILE` removes the file.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs;
use std::path::Path;

use hyperdbg_codegen::{annotations, import, resolve};
use support::{copy, golden, tests_folder};

/// The findings in a folder like `api/`, as they are shown.
fn findings(api: &Path) -> String {
    let text = fs::read_to_string(api.join("mcp_api_meta.json")).unwrap();
    let catalog = import::read(&text, "api/mcp_api_meta.json").unwrap();
    let (annotations, mut findings) = annotations::load(api);
    if let Err(more) = resolve::resolve(&catalog, &annotations) {
        findings.extend(more);
    }
    let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
    shown.join("\n")
}

fn apply_edits(api: &Path, edits: &str) {
    let mut lines = edits.lines();
    while let Some(file) = lines.next() {
        if file.is_empty() {
            continue;
        }
        if let Some(gone) = file.strip_prefix("without ") {
            fs::remove_file(api.join(gone)).unwrap();
            continue;
        }
        assert_eq!(lines.next(), Some("<<<"), "the edit of {file}");
        let mut take = |end: &str| {
            let taken: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
            taken.join("\n")
        };
        let (old, new) = (take("==="), take(">>>"));
        let path = api.join(file);
        let text = fs::read_to_string(&path).unwrap_or_default();
        if old.is_empty() {
            fs::write(&path, format!("{text}{new}\n")).unwrap();
            continue;
        }
        assert!(text.contains(&old), "{file} does not hold\n{old}");
        fs::write(&path, text.replacen(&old, &new, 1)).unwrap();
    }
}

#[test]
fn the_base_has_no_findings() {
    assert_eq!(findings(&tests_folder("resolve").join("base")), "");
}

#[test]
fn each_mistake_is_found_where_it_stands() {
    let folder = tests_folder("resolve");
    let mut cases: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "base")
        .collect();
    cases.sort();
    assert!(cases.len() >= 40, "only {} cases were found", cases.len());
    let mut stale = Vec::new();
    for case in cases {
        let temporary = tempfile::tempdir().unwrap();
        copy(&folder.join("base"), temporary.path());
        apply_edits(
            temporary.path(),
            &fs::read_to_string(folder.join(&case).join("edit")).unwrap(),
        );
        let found = findings(temporary.path());
        assert!(found.starts_with("error["), "{case}: nothing was found");
        if !golden(&folder.join(&case).join("expected.err"), &found) {
            stale.push(case);
        }
    }
    assert!(
        stale.is_empty(),
        "other findings than expected: {stale:?}; run BLESS=1 cargo test and review the diff"
    );
}

/// Every code of the resolver has a fixture, so that none can be reported without being seen.
#[test]
fn every_code_has_a_fixture() {
    let codes = fs::read_to_string(tests_folder("../src/resolve").join("codes.rs")).unwrap();
    let mut seen = String::new();
    for entry in fs::read_dir(tests_folder("resolve")).unwrap() {
        seen.push_str(&fs::read_to_string(entry.unwrap().path().join("expected.err")).unwrap_or_default());
    }
    let missing: Vec<&str> = codes
        .lines()
        .filter_map(|line| line.split_once("\"RES")?.1.split_once('"'))
        .map(|(number, _)| number)
        .filter(|number| !seen.contains(&format!("[RES{number}]")))
        .collect();
    assert!(missing.is_empty(), "no fixture reports {missing:?}");
}
