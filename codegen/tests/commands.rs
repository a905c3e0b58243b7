//! The commands and the script language of a checkout against `api/commands.json` and `api/script.json`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs;
use std::path::Path;

use hyperdbg_codegen::diff::{self, Change, Report};
use support::{finding, misfits};

const TABLE: &str = "hyperdbg/libhyperdbg/code/debugger/core/interpreter.cpp";
const ATTRIBUTES: &str = "hyperdbg/libhyperdbg/header/debugger/commands/commands.h";
const GRAMMAR: &str = "hyperdbg/script-engine/python/Grammar.txt";

const TABLE_TEXT: &str = r#"
VOID Fill()
{
    g_CommandsList["g"]  = {&CommandG, &CommandGHelp, G_FLAGS};
    g_CommandsList["go"] = {&CommandG, &CommandGHelp, G_FLAGS};
    // g_CommandsList["old"] = {&CommandOld, &CommandOldHelp, NULL};
    g_CommandsList["lm"] = {&CommandLm, &CommandLmHelp, NULL};
    g_CommandsList["help"] = {NULL, &CommandHelpHelp, LOCAL_FLAGS};
    if (g_CommandsList["g"].Attributes) { }
}
"#;
const ATTRIBUTES_TEXT: &str = "#define DEBUGGER_COMMAND_ATTRIBUTE_LOCAL_COMMAND_IN_DEBUGGER_MODE 0x1\n\
    #define DEBUGGER_COMMAND_ATTRIBUTE_WONT_STOP_DEBUGGER_AGAIN 0x10\n\
    #define LOCAL_FLAGS \\\n    DEBUGGER_COMMAND_ATTRIBUTE_LOCAL_COMMAND_IN_DEBUGGER_MODE /* here */\n\
    #define G_FLAGS (DEBUGGER_COMMAND_ATTRIBUTE_WONT_STOP_DEBUGGER_AGAIN | 0x8)\n";
const GRAMMAR_TEXT: &str = "# functions\n.OneOpFunc1->poi neg\n.VarArgFunc1->printf\n.Registers->rax rip\n\
    .PseudoRegisters->pid\n.ScriptVariableType->int\n.SemantiRules->mov\nS->OneOpFunc1 S\n";

const COMMANDS_JSON: &str = r#"{"commands": [
    {"names": ["g", "go"], "resumes": true},
    {"names": ["lm"], "forwarded": true},
    {"names": ["help"]}
]}"#;
const SCRIPT_JSON: &str = r#"{
    "functions": {"poi": {}, "neg": {}, "printf": {}},
    "registers": ["rax", "rip"], "pseudo_registers": ["pid"], "types": ["int"]
}"#;

/// A workspace and a checkout that agree.
fn folders() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("api/commands.json", COMMANDS_JSON),
        ("api/script.json", SCRIPT_JSON),
        (TABLE, TABLE_TEXT),
        (ATTRIBUTES, ATTRIBUTES_TEXT),
        (GRAMMAR, GRAMMAR_TEXT),
    ] {
        write(folder.path(), path, text);
    }
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn shown(changes: &[Change]) -> Vec<String> {
    changes
        .iter()
        .map(|change| {
            let details: String = change
                .details
                .iter()
                .map(|detail| format!("; {detail}"))
                .collect();
            let origin = change
                .origin
                .as_deref()
                .and_then(|origin| origin.rsplit(['/']).next());
            format!("{}{details} ({})", change.message, origin.unwrap_or("nowhere"))
        })
        .collect()
}

fn compare(folder: &Path) -> Vec<String> {
    shown(&diff::commands(folder, folder).unwrap())
}

#[test]
fn a_checkout_that_the_tables_know_is_in_step() {
    let folder = folders();
    assert_eq!(compare(folder.path()), Vec::<String>::new());
    // The folder `hyperdbg` itself will do.
    assert_eq!(
        diff::commands(folder.path(), &folder.path().join("hyperdbg")).unwrap(),
        []
    );
}

#[test]
fn new_and_gone_commands_are_named_with_their_line() {
    let folder = folders();
    let table = TABLE_TEXT.replace("\"go\"", "\"gu\"");
    write(folder.path(), TABLE, &table);
    assert_eq!(
        compare(folder.path()),
        [
            "the command `gu` is new; runs the same code as `g` (interpreter.cpp:5)",
            "the command `go` is gone (nowhere)",
        ]
    );
}

#[test]
fn attributes_that_differ_are_named() {
    let folder = folders();
    let table = TABLE_TEXT
        .replace("&CommandLmHelp, NULL", "&CommandLmHelp, LOCAL_FLAGS")
        .replace("&CommandHelpHelp, LOCAL_FLAGS", "&CommandHelpHelp, G_FLAGS");
    write(folder.path(), TABLE, &table);
    assert_eq!(
        compare(folder.path()),
        [
            "the command `lm` has other attributes; in debugger mode it is no longer sent to the debuggee \
             (interpreter.cpp:7)",
            "the command `help` has other attributes; the debuggee runs on after it; in debugger mode it is sent to \
             the debuggee (interpreter.cpp:8)",
        ]
    );
}

#[test]
fn the_report_of_commands_and_script_fits_its_schema() {
    let folder = folders();
    write(
        folder.path(),
        TABLE,
        &TABLE_TEXT
            .replace("\"go\"", "\"gu\"")
            .replace("&CommandLmHelp, NULL", "&CommandLmHelp, G_FLAGS"),
    );
    write(
        folder.path(),
        GRAMMAR,
        &GRAMMAR_TEXT.replace("poi neg", "poi memcpy"),
    );
    let mut report = Report {
        old_version: "1.0.0".to_owned(),
        new_version: "1.0.0".to_owned(),
        old_exports: 1,
        new_exports: 1,
        changes: diff::commands(folder.path(), folder.path()).unwrap(),
    };
    report.finish();
    let text = diff::json(&report);
    for kind in [
        "command_added",
        "command_removed",
        "command_attributes",
        "script_added",
        "script_removed",
    ] {
        assert!(
            text.contains(&format!("\"kind\": \"{kind}\"")),
            "{kind} in\n{text}"
        );
    }
    assert_eq!(misfits(diff::SCHEMA, &text), Vec::<String>::new());
}

#[test]
fn script_names_that_differ_are_named() {
    let folder = folders();
    let grammar = GRAMMAR_TEXT
        .replace("poi neg", "poi memcpy")
        .replace("rax rip", "rax rip r16");
    write(folder.path(), GRAMMAR, &grammar);
    assert_eq!(
        compare(folder.path()),
        [
            "the script function `memcpy` is new (Grammar.txt:2)",
            "the script function `neg` is gone (nowhere)",
            "the script register `r16` is new (Grammar.txt:4)",
        ]
    );
}

#[test]
fn a_table_that_is_missing_or_broken_is_said_and_not_taken_for_agreement() {
    let folder = folders();
    fs::remove_file(folder.path().join("api/commands.json")).unwrap();
    write(folder.path(), "api/script.json", "{\"functions\": 1}");
    let found = compare(folder.path());
    assert!(
        found[0].starts_with("`api/commands.json` cannot be read"),
        "{found:?}"
    );
    assert!(
        found[1].starts_with("`api/script.json` has no `functions`"),
        "{found:?}"
    );
    write(folder.path(), "api/script.json", "no JSON");
    assert!(compare(folder.path())[1].starts_with("`api/script.json` is not JSON"));
}

/// Code, message, and line of each finding.
fn refused(path: &str, text: Option<&str>) -> Vec<String> {
    let folder = folders();
    match text {
        Some(text) => write(folder.path(), path, text),
        None => fs::remove_file(folder.path().join(path)).unwrap(),
    }
    let findings = diff::commands(folder.path(), folder.path()).unwrap_err();
    findings
        .iter()
        .map(|finding| {
            assert!(finding.help.is_some());
            let line = finding.span.as_ref().map_or(0, |span| span.line);
            format!("{} {line} {}", finding.code, finding.message)
        })
        .collect()
}

#[test]
fn a_folder_that_is_no_checkout_is_refused() {
    let one = |path| refused(path, None).join("");
    assert!(
        one(TABLE).starts_with("DIF001 0 there is no `libhyperdbg/code/debugger/core/interpreter.cpp` in ")
    );
    assert!(one(ATTRIBUTES).starts_with("DIF001"));
    assert!(one(GRAMMAR).starts_with("DIF001"));
}

#[test]
fn what_is_refused_is_shown_with_its_place() {
    let folder = folders();
    let show = || diff::commands(folder.path(), folder.path()).unwrap_err()[0].to_string();
    let broken = TABLE_TEXT.replace("{&CommandLm, &CommandLmHelp, NULL}", "Make(&CommandLm)");
    write(folder.path(), TABLE, &broken);
    assert!(finding("DIF002", &show(), folder.path()));
    fs::remove_file(folder.path().join(TABLE)).unwrap();
    assert!(finding("DIF001", &show(), folder.path()));
}

#[test]
fn a_table_of_another_form_is_refused_at_its_place() {
    let table = |old: &str, new: &str| refused(TABLE, Some(&TABLE_TEXT.replace(old, new)));
    assert_eq!(
        table("{&CommandLm, &CommandLmHelp, NULL}", "Make(&CommandLm)"),
        ["DIF002 7 the command table has an entry that is no list"]
    );
    assert_eq!(
        table("&CommandLmHelp, NULL", "&CommandLmHelp"),
        ["DIF002 7 the command table has an entry that is not made of handler, help and attributes"]
    );
    assert_eq!(
        table("&CommandLmHelp, NULL", "&CommandLmHelp, WHAT_FLAGS"),
        ["DIF002 7 the command table uses the attributes `WHAT_FLAGS`, which have no known value"]
    );
    assert!(refused(TABLE, Some("int main() {}"))[0].ends_with("fills no command table"));
    let without = ATTRIBUTES_TEXT.replace("WONT_STOP_DEBUGGER_AGAIN 0x10", "WONT_STOP 0x10");
    assert!(refused(ATTRIBUTES, Some(&without))[0].contains("does not define"));
    assert!(refused(GRAMMAR, Some("S->S"))[0].ends_with("lists no functions"));
    // A macro that stands for itself has no value.
    let circle = ATTRIBUTES_TEXT.replace("#define G_FLAGS (", "#define G_FLAGS (G_FLAGS | ");
    assert!(refused(ATTRIBUTES, Some(&circle))[0].contains("G_FLAGS"));
}
