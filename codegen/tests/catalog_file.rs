//! Reading the catalog file: what is damaged is refused with a place.
#![allow(clippy::unwrap_used)]

use hyperdbg_codegen::import;

const CATALOG: &str = include_str!("../../api/mcp_api_meta.json");

/// The codes and lines of what is wrong with the catalog after one replacement.
fn after(from: &str, to: &str) -> Vec<(&'static str, u32)> {
    assert!(CATALOG.contains(from), "{from}");
    let findings = import::read(&CATALOG.replacen(from, to, 1), "mcp_api_meta.json").unwrap_err();
    assert!(findings.iter().all(|finding| finding.help.is_some()));
    findings
        .iter()
        .map(|finding| (finding.code, finding.span.as_ref().map_or(0, |span| span.line)))
        .collect()
}

fn codes(from: &str, to: &str) -> Vec<&'static str> {
    let mut codes: Vec<&str> = after(from, to).into_iter().map(|(code, _)| code).collect();
    codes.dedup();
    codes
}

#[test]
fn broken_json_is_refused_at_its_place() {
    assert_eq!(after("\"format\": 1,", "\"format\": 1"), [("HDR050", 3)]);
    assert_eq!(after("\"abi\":", "\"api\":"), [("HDR050", 4)]);
    assert_eq!(codes("\"CHAR *\"", "\"CHAR [\""), ["HDR050"]);
    assert!(import::read("", "empty.json").is_err());
}

#[test]
fn another_format_is_refused() {
    assert_eq!(codes("\"format\": 1,", "\"format\": 2,"), ["HDR051"]);
}

#[test]
fn contradictions_are_refused() {
    for (from, to) in [
        // A type that nothing declares.
        ("\"returns\": \"BOOLEAN\"", "\"returns\": \"BOOLEAM\""),
        // Two declarations of one name.
        (
            "{ \"name\": \"BYTE\", \"is\": \"unsigned char\" }",
            "{ \"name\": \"CHAR\", \"is\": \"BYTE\" }",
        ),
        (
            "\"name\": \"hyperdbg_u_load_all_modules\"",
            "\"name\": \"hyperdbg_u_unload_all_modules\"",
        ),
        // A typedef that stands for itself.
        (
            "{ \"name\": \"UCHAR\", \"is\": \"unsigned char\" }",
            "{ \"name\": \"UCHAR\", \"is\": \"BOOLEAN\" }",
        ),
        // Layouts that cannot be.
        ("\"size\": 32,", "\"size\": 33,"),
        (
            "{ \"name\": \"RIP\", \"type\": \"UINT64\", \"offset\": 24 }",
            "{ \"name\": \"RIP\", \"type\": \"UINT64\", \"offset\": 8 }",
        ),
        (
            "\"bits\": { \"start\": 63, \"width\": 1 }",
            "\"bits\": { \"start\": 63, \"width\": 2 }",
        ),
        ("\"bit_offsets\": [0, 1, 8, 64]", "\"bit_offsets\": [0, 1, 8]"),
    ] {
        assert_eq!(codes(from, to), ["HDR052"], "{from} -> {to}");
    }
}
