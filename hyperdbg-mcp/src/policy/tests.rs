//! What the classification promises.

use super::*;

fn level(kind: Kind, text: &str) -> Level {
    classify(kind, text, &Options::default()).level
}

#[test]
fn plain_reads_are_read() {
    for line in [
        "lm",
        "db 0x1000 l 20",
        "u nt!NtCreateFile",
        "? print(@rax);",
        "bl",
        "k",
    ] {
        assert_eq!(
            level(Kind::Command, line),
            Level::Read,
            "{line}: {:?}",
            classify(Kind::Command, line, &Options::default())
        );
    }
}
