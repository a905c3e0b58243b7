//! Every folder in `tests/diff` with an `old` and a `new` SDK holds what their comparison says, in each form.
//!
//! `BLESS=1 cargo test` writes the expectations anew.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use hyperdbg_codegen::annotations;
use hyperdbg_codegen::diff::{self, Decisions, Report, Side};
use hyperdbg_codegen::import::import_whole;
use serde_json::Value;
use support::{golden, misfits, tests_folder};

const PRELUDE: &str = include_str!("../../api/prelude.h");

fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(tests_folder("diff")).unwrap();
    let mut cases: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("old").is_dir())
        .collect();
    cases.sort();
    assert!(cases.len() > 30);
    cases
}

fn decisions() -> Decisions {
    let (annotations, findings) = annotations::load(&tests_folder("diff").join("api"));
    assert!(findings.is_empty(), "{findings:?}");
    Decisions::of(&annotations)
}

fn compare(case: &std::path::Path) -> Report {
    let read = |side: &str| {
        import_whole(&case.join(side), PRELUDE).unwrap_or_else(|findings| {
            let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
            panic!("{}: {}", case.display(), shown.join("\n"))
        })
    };
    let (old, new) = (read("old"), read("new"));
    diff::compare(Side::from(&old), Side::from(&new), &decisions())
}

#[test]
fn each_kind_of_change_is_reported_as_expected() {
    let mut wrong = Vec::new();
    for case in cases() {
        let report = compare(&case);
        for (file, text) in [
            ("expected.txt", diff::text(&report)),
            ("expected.json", diff::json(&report)),
            ("expected.md", diff::markdown(&report)),
            ("expected.github", diff::github(&report)),
        ] {
            if !golden(&case.join(file), &text) {
                wrong.push(format!("{}/{file}", case.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "differ: {wrong:#?}\nrun `BLESS=1 cargo test` when this is meant"
    );
}

#[test]
fn two_sides_that_are_the_same_are_in_step() {
    for case in cases() {
        for side in ["old", "new"] {
            let whole = import_whole(&case.join(side), PRELUDE).unwrap();
            let report = diff::compare(Side::from(&whole), Side::from(&whole), &decisions());
            assert_eq!(report.changes, [], "{}", case.display());
        }
    }
}

#[test]
fn a_committed_catalog_says_the_same_of_what_the_exports_reach() {
    for case in cases() {
        let (old, new) = (
            import_whole(&case.join("old"), PRELUDE).unwrap(),
            import_whole(&case.join("new"), PRELUDE).unwrap(),
        );
        let within = |report: Report| -> Vec<String> {
            let changes = report.changes.into_iter();
            let within = changes.filter(|change| {
                !matches!(change.layer, diff::Layer::Outside | diff::Layer::Version)
                    // The old catalog does not hold what only new functions reach.
                    && !change.functions.is_empty()
            });
            within
                .map(|change| format!("{:?} {}", change.kind, change.message))
                .collect()
        };
        let whole = within(diff::compare(Side::from(&old), Side::from(&new), &decisions()));
        let catalog = within(diff::compare(
            Side::from(&old.catalog),
            Side::from(&new),
            &decisions(),
        ));
        assert_eq!(catalog, whole, "{}", case.display());
    }
}

/// The words that the schema allows for a key of a change.
fn allowed(schema: &Value, key: &str) -> BTreeSet<String> {
    let list = schema["$defs"]["change"]["properties"][key]["enum"]
        .as_array()
        .unwrap();
    list.iter()
        .map(|word| word.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_json_form_is_what_its_schema_says() {
    let schema: Value = serde_json::from_str(diff::SCHEMA).unwrap();
    let keys = |value: &Value| -> BTreeSet<String> { value.as_object().unwrap().keys().cloned().collect() };
    let required = |value: &Value| -> BTreeSet<String> {
        let list = value["required"].as_array().unwrap().iter();
        list.map(|key| key.as_str().unwrap().to_owned()).collect()
    };
    let mut kinds = BTreeSet::new();
    for case in cases() {
        let text = diff::json(&compare(&case));
        assert_eq!(
            misfits(diff::SCHEMA, &text),
            Vec::<String>::new(),
            "{}",
            case.display()
        );
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(keys(&document), required(&schema));
        assert_eq!(document["format"], schema["properties"]["format"]["const"]);
        assert_eq!(
            keys(&document["counts"]),
            required(&schema["properties"]["counts"])
        );
        assert_eq!(keys(&document["old"]), required(&schema["$defs"]["side"]));
        for change in document["changes"].as_array().unwrap() {
            assert_eq!(keys(change), required(&schema["$defs"]["change"]));
            for key in ["severity", "layer", "kind"] {
                let word = change[key].as_str().unwrap();
                assert!(allowed(&schema, key).contains(word), "{key} {word}");
            }
            kinds.insert(change["kind"].as_str().unwrap().to_owned());
        }
    }
    // The commands of a checkout have tests of their own.
    let elsewhere =
        |kind: &String| kind.starts_with("command_") || kind.starts_with("script_") || kind == "not_readable";
    let missing: Vec<String> = allowed(&schema, "kind")
        .into_iter()
        .filter(|kind| !kinds.contains(kind) && !elsewhere(kind))
        .collect();
    assert!(missing.is_empty(), "no fixture shows {missing:?}");
}
