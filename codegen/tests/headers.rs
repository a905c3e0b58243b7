//! Every folder in `tests/headers` is a small header with what must come of it.
//!
//! `read/CASE/expected.json` is the catalog of everything that `input.h` declares; `refused/CASE/expected.err` holds the
//! diagnostics. `BLESS=1 cargo test` writes the expectations anew.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use hyperdbg_codegen::diagnostic::Diagnostics;
use hyperdbg_codegen::import;

const PRELUDE: &str = include_str!("../../api/prelude.h");

fn cases(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/headers")
        .join(kind);
    let mut cases: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

fn show(findings: &Diagnostics) -> String {
    findings
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Compares with the golden file, or writes it under `BLESS`.
fn golden(path: &Path, actual: &str, wrong: &mut String) {
    if std::env::var_os("BLESS").is_some() {
        assert!(
            std::env::var_os("CI").is_none(),
            "expectations are not written under CI"
        );
        fs::write(path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    if expected != actual {
        let differing = expected.lines().zip(actual.lines()).position(|(a, b)| a != b);
        let line = differing.unwrap_or(expected.lines().count().min(actual.lines().count()));
        let at = |text: &str| text.lines().nth(line).unwrap_or("(nothing)").to_owned();
        let _ = writeln!(
            wrong,
            "{}:{}\n  expected: {}\n  actual:   {}",
            path.display(),
            line + 1,
            at(&expected),
            at(actual)
        );
    }
}

#[test]
fn headers_are_read_as_expected() {
    let mut wrong = String::new();
    for case in cases("read") {
        match import::describe(&case, "input.h", PRELUDE) {
            Ok(catalog) => {
                let text = import::render(&catalog);
                match import::read(&text, "expected.json") {
                    Ok(again) => assert_eq!(again, catalog, "{}", case.display()),
                    Err(findings) => {
                        let _ = writeln!(
                            wrong,
                            "{} contradicts itself:\n{}",
                            case.display(),
                            show(&findings)
                        );
                    }
                }
                golden(&case.join("expected.json"), &text, &mut wrong);
            }
            Err(findings) => {
                let _ = writeln!(wrong, "{} is refused:\n{}", case.display(), show(&findings));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong}\nrun `BLESS=1 cargo test -p hyperdbg-codegen` when this is meant"
    );
}

#[test]
fn headers_are_refused_with_a_place_and_a_way_out() {
    let mut wrong = String::new();
    for case in cases("refused") {
        match import::describe(&case, "input.h", PRELUDE) {
            Ok(_) => {
                let _ = writeln!(wrong, "{} is not refused", case.display());
            }
            Err(findings) => {
                assert!(
                    findings.iter().all(|finding| finding.help.is_some()),
                    "{}",
                    show(&findings)
                );
                golden(&case.join("expected.err"), &show(&findings), &mut wrong);
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong}\nrun `BLESS=1 cargo test -p hyperdbg-codegen` when this is meant"
    );
}
