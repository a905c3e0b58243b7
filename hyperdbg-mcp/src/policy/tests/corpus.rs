//! Readers, and writers that try to pass for them: each line of `corpus.jsonl` with the level that it must have.

use super::*;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) kind: Kind,
    pub(super) tier: Level,
    pub(super) input: String,
}

/// All lines of the corpus.
pub(super) fn cases() -> Vec<Case> {
    include_str!("corpus.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}

#[test]
fn every_line_has_the_level_that_its_effects_give_it() {
    let cases = cases();
    assert!(cases.len() > 500, "{}", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let verdict = classify(case.kind, &case.input, &Options::default());
            (verdict.level != case.tier)
                .then(|| format!("{:?}: {verdict:?}, wanted {:?}", case.input, case.tier))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_verdict_says_why() {
    for case in cases() {
        let verdict = classify(case.kind, &case.input, &Options::default());
        assert!(
            verdict.reason.len() > 8 && !verdict.reason.contains('\n'),
            "{:?}: {verdict:?}",
            case.input
        );
    }
}

#[test]
fn text_that_is_too_long_is_refused() {
    for (kind, text) in [
        (Kind::Command, "a".repeat(65)),
        (Kind::Command, format!("db {}", "1".repeat(2000))),
        (Kind::Expression, "1+".repeat(1001)),
        (Kind::Script, "print(1);".repeat(2000)),
    ] {
        assert_eq!(classify(kind, text, &Options::default()).level, Level::Never);
    }
}

#[test]
fn bytes_that_are_not_text_are_never_read() {
    for kind in [Kind::Command, Kind::Expression, Kind::Script] {
        for bytes in [
            &b"print(1); // \xff eq(1,1);"[..],
            b"db 1000\xff",
            b"lm\0",
            b"\x80",
            b"? print(1);\0 eq(1,1);",
        ] {
            assert!(
                classify(kind, bytes, &Options::default()).level >= Level::Destructive,
                "{bytes:?}"
            );
        }
    }
}
