//! One truth: what `diff` calls a decision stops `sync` at the place to decide, and what it calls harmless does not.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{codegen, finding, snapshot, tests_folder, workspace_of};

/// The SDK in `tests/decisions/sdk` with `new` in the place of `old`.
fn sdk(old: &str, new: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut edited = false;
    for name in ["HyperDbgSdk.h", "HyperDbgLibImports.h"] {
        let text = fs::read_to_string(tests_folder("decisions/sdk").join(name)).unwrap();
        edited |= text.contains(old);
        fs::write(folder.path().join(name), text.replace(old, new)).unwrap();
    }
    assert!(edited, "no header holds {old}");
    folder
}

fn workspace() -> tempfile::TempDir {
    workspace_of(&tests_folder("decisions/api"), &tests_folder("decisions/sdk"))
}

fn sync(root: &Path, sdk: &Path) -> (i32, String, String) {
    codegen(root, &["sync", "--sdk", sdk.to_str().unwrap()])
}

fn edit(root: &Path, old: &str, new: &str) {
    let path = root.join("api/tools/demo.json");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(old), "{text}");
    fs::write(path, text.replace(old, new)).unwrap();
}

/// The gravest severity that `diff` reports.
fn gravest(root: &Path, sdk: &Path) -> String {
    let sdk = sdk.to_str().unwrap();
    let (code, stdout, stderr) = codegen(root, &["diff", "--sdk", sdk, "--format", "json"]);
    assert_eq!((code, stderr.as_str()), (1, ""), "{stdout}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    report["changes"][0]["severity"].as_str().unwrap().to_owned()
}

/// What changes, the text of the headers before, and after.
type Case = (&'static str, &'static str, &'static str);

/// Nothing to decide.
const HARMLESS: &[Case] = &[
    ("a parameter has another name", "UINT64 address", "UINT64 start"),
    (
        "a size that others refer to has another name",
        "UINT32 size",
        "UINT32 length",
    ),
    (
        "an error code is gone",
        "#define DEBUGGER_ERROR_TOO_LATE 0xc0000002\n",
        "",
    ),
    (
        "an excluded function is gone",
        "BOOLEAN\nhyperdbg_u_self_test();",
        "BOOLEAN\nhyperdbg_u_ping();",
    ),
    ("an input is const now", "UINT8 * what", "const UINT8 * what"),
    (
        "an enum that only comes back has one value more",
        "MAKER_OTHER",
        "MAKER_OTHER, MAKER_NEW",
    ),
    (
        "an enum of a hand-written tool has one value more",
        "SPACE_PHYSICAL",
        "SPACE_PHYSICAL, SPACE_PORTS",
    ),
    (
        "a value that nobody spoke of has another name",
        "STYLE_WORDS",
        "STYLE_PAIRS",
    ),
    (
        "a field that nobody spoke of has another name",
        "UINT32 Count",
        "UINT32 Total",
    ),
];

/// Someone must decide.
const DECISIONS: &[Case] = &[
    (
        "a tool would offer one value more",
        "STYLE_TYPES",
        "STYLE_TYPES, STYLE_QUADS",
    ),
    (
        "an excluded value has another name",
        "STYLE_TYPES",
        "STYLE_LAYOUTS",
    ),
    ("a default has another name", "STYLE_BYTES", "STYLE_OCTETS"),
    (
        "a field of a record would offer one value more",
        "DEPTH_ALL",
        "DEPTH_ALL, DEPTH_SOME",
    ),
    (
        "a field that takes an argument has another name",
        "DEPTH Depth",
        "DEPTH HowDeep",
    ),
    (
        "a status has another name",
        "UINT32 KernelStatus",
        "UINT32 Status",
    ),
    ("a result is const now", "UINT8 * buffer", "const UINT8 * buffer"),
    (
        "a function is new",
        "hyperdbg_u_self_test();",
        "hyperdbg_u_self_test();\nIMPORT_EXPORT_LIBHYPERDBG BOOLEAN hyperdbg_u_new();",
    ),
    (
        "an error code is new",
        "#define DEBUGGER_ERROR_TOO_LATE",
        "#define DEBUGGER_ERROR_NEW 0xc0000009\n#define DEBUGGER_ERROR_TOO_LATE",
    ),
    (
        "an error code has another name",
        "DEBUGGER_ERROR_TOO_LATE",
        "DEBUGGER_ERROR_LATE",
    ),
];

/// The built server would call wrongly, and generating anew is enough.
const BREAKING: &[Case] = &[
    ("a value moved", "STYLE_WORDS = 2", "STYLE_WORDS = 7"),
    ("a value is gone", "STYLE_TYPES", ""),
    (
        "a function is gone",
        "BOOLEAN\nhyperdbg_u_ping();",
        "BOOLEAN\nhyperdbg_u_self_test();",
    ),
    (
        "parameters changed places",
        "UINT64 address, UINT64 limit",
        "UINT64 limit, UINT64 address",
    ),
    ("a record grew", "UINT32 Count", "UINT64 Room[4]; UINT32 Count"),
    ("a parameter has another type", "UINT32 size", "UINT64 size"),
];

/// The built server would call wrongly, and a role does not fit any more.
const BREAKING_ROLES: &[Case] = &[(
    "a pointer points to something else",
    "UINT8 * buffer",
    "INT * buffer",
)];

#[test]
fn sync_stops_for_each_decision_and_goes_through_what_is_harmless() {
    let kinds = [
        ("harmless", HARMLESS, 0),
        ("decision", DECISIONS, 1),
        ("breaking", BREAKING, 0),
        ("breaking", BREAKING_ROLES, 1),
    ];
    let cases = kinds
        .iter()
        .flat_map(|(severity, cases, code)| cases.iter().map(move |case| (*severity, case, *code)));
    for (severity, (what, old, new), code) in cases {
        let root = workspace();
        let before = snapshot(root.path());
        let changed = sdk(old, new);
        assert_eq!(gravest(root.path(), changed.path()), severity, "{what}");
        let (found, stdout, stderr) = sync(root.path(), changed.path());
        assert_eq!(found, code, "{what}\n{stdout}{stderr}");
        assert_eq!(
            stderr.contains("api/") || stderr.contains("HyperDbg"),
            code == 1,
            "{what}\n{stderr}"
        );
        assert_eq!(
            codegen(root.path(), &["generate", "--check"]).0,
            match stdout.contains("wrote api/tools") && code == 1 {
                true => 2,
                false => 0,
            },
            "{what}"
        );
        if code == 0 {
            // What was taken away is kept, so that the step can be taken back.
            let back = tests_folder("decisions/sdk");
            let (found, stdout, stderr) = sync(root.path(), &back);
            assert_eq!((found, stderr.as_str()), (0, ""), "{what} and back\n{stdout}");
            assert!(
                snapshot(root.path()) == before,
                "{what} and back leaves other files"
            );
        }
    }
}

#[test]
fn a_new_enumerator_is_offered_or_excluded_and_then_the_step_goes_through() {
    for (decision, offered) in [
        ("\"exclude\": [\"STYLE_TYPES\", \"STYLE_QUADS\"]", false),
        (
            "\"exclude\": [\"STYLE_TYPES\"], \"offer\": [\"STYLE_QUADS\"]",
            true,
        ),
    ] {
        let root = workspace();
        let before = snapshot(root.path());
        let changed = sdk("STYLE_TYPES", "STYLE_TYPES, STYLE_QUADS");
        let (code, _, stderr) = sync(root.path(), changed.path());
        assert_eq!(code, 1);
        assert!(
            finding("SYN003", &stderr, root.path()),
            "run `BLESS=1 cargo test` when this is meant"
        );
        assert_eq!(snapshot(root.path()), before);
        edit(root.path(), "\"exclude\": [\"STYLE_TYPES\"]", decision);
        let decided = snapshot(root.path());
        assert_eq!(gravest(root.path(), changed.path()), "harmless");
        let (code, stdout, stderr) = sync(root.path(), changed.path());
        assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
        let tools = fs::read_to_string(root.path().join("hyperdbg-mcp/src/generated/tools.rs")).unwrap();
        assert_eq!(tools.contains("quads"), offered, "{tools}");
        // An older release does not have it: the decision is kept for when it comes back.
        let (code, stdout, stderr) = sync(root.path(), &tests_folder("decisions/sdk"));
        assert_eq!((code, stderr.as_str()), (0, ""));
        assert!(
            stdout.contains("retired STYLE_QUADS: its entry stays"),
            "{stdout}"
        );
        assert_eq!(codegen(root.path(), &["generate", "--check"]).0, 0);
        assert_eq!(gravest(root.path(), changed.path()), "harmless");
        let (code, stdout, stderr) = sync(root.path(), changed.path());
        assert_eq!((code, stderr.as_str()), (0, ""));
        assert!(stdout.contains("took back STYLE_QUADS\n"), "{stdout}");
        let file = root.path().join("api/tools/demo.json");
        assert_eq!(snapshot(root.path())[&file], decided[&file]);
    }
}

#[test]
fn an_excluded_enumerator_is_not_offered_under_another_name() {
    let root = workspace();
    let changed = sdk("STYLE_TYPES", "STYLE_LAYOUTS");
    let (code, _, stderr) = sync(root.path(), changed.path());
    assert_eq!(code, 1);
    assert!(
        stderr.contains(
            "what is said of `STYLE_TYPES` is not said of `STYLE_LAYOUTS` (3) of `STYLE`, as it is called now"
        ),
        "{stderr}"
    );
    edit(
        root.path(),
        "[\"STYLE_TYPES\"]",
        "[\"STYLE_TYPES\", \"STYLE_LAYOUTS\"]",
    );
    assert_eq!(sync(root.path(), changed.path()).0, 0);
    let tools = fs::read_to_string(root.path().join("hyperdbg-mcp/src/generated/tools.rs")).unwrap();
    assert!(!tools.contains("layouts"), "{tools}");
}
