//! One step from one release to another: what is written, what is left alone, and that it can be taken back.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use hyperdbg_codegen::replay;
use support::{codegen, copy, finding, golden, snapshot, tests_folder, workspace_of};

fn sync(root: &Path, sdk: &str) -> (i32, String, String) {
    let sdk = tests_folder("sync").join(sdk);
    codegen(root, &["sync", "--sdk", sdk.to_str().unwrap()])
}

/// A workspace in step with the release `one`.
fn workspace() -> tempfile::TempDir {
    workspace_of(&tests_folder("sync/api"), &tests_folder("sync/one"))
}

fn edit(root: &Path, file: &str, edits: &[(&str, &str)]) {
    let mut text = fs::read_to_string(root.join(file)).unwrap();
    for (old, new) in edits {
        assert!(text.contains(old), "{file} does not hold {old}\n{text}");
        text = text.replace(old, new);
    }
    fs::write(root.join(file), text).unwrap();
}

#[test]
fn the_same_release_changes_nothing() {
    let root = workspace();
    let before = snapshot(root.path());
    let (code, stdout, stderr) = sync(root.path(), "one");
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(
        stdout.ends_with("in step: nothing differs\n\nin step with SDK 1.0.0\n"),
        "{stdout}"
    );
    assert_eq!(snapshot(root.path()), before);
}

#[test]
fn a_step_back_and_forth_ends_byte_for_byte_where_it_began() {
    let root = workspace();
    let before = snapshot(root.path());
    let (code, stdout, stderr) = sync(root.path(), "older");
    assert_eq!((code, stderr.as_str()), (0, ""));
    for line in [
        "retired DEBUGGER_ERROR_TOO_LATE: its entry stays in api/ and is not used\n",
        "retired hyperdbg_u_self_test: its entry stays in api/ and is not used\n",
        "retired hyperdbg_u_stop_driver: its entry stays in api/ and is not used\n",
        "wrote api/retired.json\n",
        "in step with SDK 0.9.0\n",
    ] {
        assert!(stdout.contains(line), "{line} in\n{stdout}");
    }
    assert_ne!(snapshot(root.path()), before);
    assert_eq!(codegen(root.path(), &["generate", "--check"]).0, 0);
    // What is retired is used by nothing.
    let tools = fs::read_to_string(root.path().join("hyperdbg-mcp/src/generated/tools.rs")).unwrap();
    assert!(tools.contains("hd_demo_ping") && !tools.contains("hd_demo_stop"));
    // A second run keeps what the first one knew.
    let between = snapshot(root.path());
    assert_eq!(sync(root.path(), "older").0, 0);
    assert_eq!(snapshot(root.path()), between);

    // What is retired was decided on.
    let one = tests_folder("sync/one");
    let back = ["diff", "--fail-on", "decision", "--sdk", one.to_str().unwrap()];
    assert_eq!(codegen(root.path(), &back).0, 0);

    let (code, stdout, _) = sync(root.path(), "one");
    assert_eq!(code, 0);
    assert!(stdout.contains("took back hyperdbg_u_stop_driver\n"), "{stdout}");
    assert!(stdout.contains("removed api/retired.json\n"), "{stdout}");
    assert_eq!(snapshot(root.path()), before);
}

#[test]
fn new_functions_get_scaffolds_with_marked_guesses_and_nothing_else_is_written() {
    let root = workspace();
    let before = snapshot(root.path());
    let (code, stdout, stderr) = sync(root.path(), "newer");
    assert_eq!(code, 1);
    assert!(stdout.ends_with("\nwrote api/tools/demo.json\n"), "{stdout}");
    let demo = root.path().join("api/tools/demo.json");
    let mut after = snapshot(root.path());
    assert_eq!(after.remove(&demo).is_some(), before.contains_key(&demo));
    let mut rest = before.clone();
    rest.remove(&demo);
    assert_eq!(after, rest);
    let folder = tests_folder("sync");
    let mut same = golden(
        &folder.join("newer.tools.json"),
        &fs::read_to_string(&demo).unwrap(),
    );
    same &= golden(&folder.join("newer.places.txt"), &stderr);
    assert!(same, "run `BLESS=1 cargo test` when this is meant");
    // A second run without an answer asks the same, and adds nothing.
    let scaffolded = snapshot(root.path());
    let (code, _, again) = sync(root.path(), "newer");
    assert_eq!((code, again), (1, stderr));
    assert_eq!(snapshot(root.path()), scaffolded);
    assert_eq!(codegen(root.path(), &["generate"]).0, 2);
    assert_eq!(snapshot(root.path()), scaffolded);
}

#[test]
fn a_second_run_finishes_once_the_places_are_filled_in() {
    let root = workspace();
    assert_eq!(sync(root.path(), "newer").0, 1);
    let filled = fs::read_to_string(tests_folder("sync").join("newer.filled.json")).unwrap();
    fs::write(root.path().join("api/tools/demo.json"), filled).unwrap();
    let (code, stdout, stderr) = sync(root.path(), "newer");
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert!(stdout.contains("retired hyperdbg_u_stop_driver"), "{stdout}");
    assert!(stdout.ends_with("in step with SDK 1.1.0\n"), "{stdout}");
    assert_eq!(codegen(root.path(), &["generate", "--check"]).0, 0);
    let tools = fs::read_to_string(root.path().join("hyperdbg-mcp/src/generated/tools.rs")).unwrap();
    assert!(tools.contains("hd_demo_fill"), "{tools}");
}

/// A step that must fail in this state, and change nothing; what it says, with `DIR` for the workspace.
fn refused(prepare: impl Fn(&Path), sdk: &str) -> String {
    let root = workspace();
    prepare(root.path());
    let before = snapshot(root.path());
    let (code, stdout, stderr) = sync(root.path(), sdk);
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    assert_eq!(snapshot(root.path()), before);
    stderr.replace(&root.path().display().to_string(), "DIR")
}

#[test]
fn an_error_leaves_everything_as_it_was() {
    let broken = refused(|root| edit(root, "api/errors.json", &[("{", "[")]), "newer");
    assert!(broken.contains("error[RES002]"), "{broken}");
    let no_sdk = refused(|_| (), "api");
    assert!(no_sdk.contains("error[HDR002]"), "{no_sdk}");
    let no_catalog = refused(
        |root| fs::remove_file(root.join("api/mcp_api_meta.json")).unwrap(),
        "newer",
    );
    assert!(finding("SYN001", &no_catalog, Path::new("DIR")), "{no_catalog}");
    // A folder in the place of a file is found before anything is written.
    let in_the_way = refused(
        |root| {
            fs::remove_file(root.join("macros/src/catalog.rs")).unwrap();
            fs::create_dir(root.join("macros/src/catalog.rs")).unwrap();
        },
        "older",
    );
    assert!(in_the_way.contains("error[SYN001]"), "{in_the_way}");
}

#[test]
fn without_a_group_a_new_function_has_no_place() {
    let stderr = refused(
        |root| fs::remove_file(root.join("api/tools/demo.json")).unwrap(),
        "newer",
    );
    assert!(finding("SYN002", &stderr, Path::new("DIR")), "{stderr}");
}

#[test]
fn the_new_name_of_a_parameter_is_carried_into_its_entry_and_back() {
    let root = workspace();
    let before = snapshot(root.path());
    let (code, stdout, stderr) = sync(root.path(), "renamed");
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    for line in [
        "the parameter `address` of `hyperdbg_u_read` is now called `start`",
        "wrote api/tools/demo.json\n",
    ] {
        assert!(stdout.contains(line), "{line} in\n{stdout}");
    }
    let entry = fs::read_to_string(root.path().join("api/tools/demo.json")).unwrap();
    assert!(entry.contains("\"start\": { \"role\": \"value\""), "{entry}");
    assert_eq!(codegen(root.path(), &["generate", "--check"]).0, 0);
    assert_eq!(sync(root.path(), "one").0, 0);
    assert_eq!(snapshot(root.path()), before);
}

/// Set `HYPERDBG_REPO` to a git directory of HyperDbg with its tags.
#[test]
fn the_real_releases_can_be_stepped_back_and_forth() {
    let Some(repository) = std::env::var_os("HYPERDBG_REPO") else {
        println!("not run: HYPERDBG_REPO does not name a git directory");
        return;
    };
    let sdk = |tag: &str| {
        let folder = tempfile::tempdir().unwrap();
        replay::unpack(Path::new(&repository), tag, folder.path()).unwrap();
        folder
    };
    let (older, newest) = (sdk("v0.22"), sdk("v0.23"));
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = tempfile::tempdir().unwrap();
    copy(&workspace.join("api"), &root.path().join("api"));
    let step = |sdk: &Path| {
        let (code, stdout, stderr) = codegen(root.path(), &["sync", "--sdk", sdk.to_str().unwrap()]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
        stdout
    };
    step(newest.path());
    let before = snapshot(root.path());
    for (path, bytes) in &before {
        let committed = workspace.join(path.strip_prefix(root.path()).unwrap());
        assert_eq!(&fs::read(&committed).unwrap(), bytes, "{}", committed.display());
    }
    assert!(step(older.path()).contains("retired hyperdbg_u_request_cpuid"));
    assert_ne!(snapshot(root.path()), before);
    step(newest.path());
    assert_eq!(snapshot(root.path()), before);
}

fn fixup(becomes: &str) -> String {
    format!(
        "{{ \"fixups\": [\n  {{ \"function\": \"hyperdbg_u_read\", \"param\": 1, \"type\": {becomes}, \"reason\": \"It is text\" }}\n] }}\n"
    )
}

#[test]
fn a_correction_that_no_longer_applies_names_the_line_of_the_header() {
    let write = |text: String| move |root: &Path| fs::write(root.join("api/fixups.json"), &text).unwrap();
    let read = fixup("{ \"is\": \"PVOID\", \"becomes\": \"CHAR *\" }");
    let mut same = finding("FIX003", &refused(write(read.clone()), "one"), Path::new("DIR"));
    let gone = refused(write(read.replace("_read", "_gone")), "one");
    same &= finding("FIX002", &gone, Path::new("DIR"));
    same &= finding("FIX001", &refused(write(fixup("null")), "one"), Path::new("DIR"));
    let no_json = refused(write("{".to_owned()), "one");
    assert!(no_json.contains("error[FIX001]"), "{no_json}");
    assert!(same, "run `BLESS=1 cargo test` when this is meant");
}

#[test]
fn a_correction_changes_what_is_generated_and_not_the_catalog() {
    let root = workspace();
    let catalog = fs::read(root.path().join("api/mcp_api_meta.json")).unwrap();
    let text = fixup("{ \"is\": \"UINT8 *\", \"becomes\": \"INT *\" }");
    fs::write(root.path().join("api/fixups.json"), text).unwrap();
    // The role that fitted bytes does not fit integers.
    let (code, _, stderr) = sync(root.path(), "one");
    assert_eq!(code, 1);
    assert!(stderr.contains("error[RES033]"), "{stderr}");
    assert_eq!(codegen(root.path(), &["generate"]).0, 2);
    assert_eq!(
        fs::read(root.path().join("api/mcp_api_meta.json")).unwrap(),
        catalog
    );
}

#[test]
fn a_list_of_retired_entries_that_does_not_fit_is_refused() {
    let with = |text: &str| {
        let root = workspace();
        fs::write(root.path().join("api/retired.json"), text).unwrap();
        let (code, _, stderr) = codegen(root.path(), &["generate"]);
        assert_eq!(code, 2);
        stderr
    };
    let exported = with("{\"functions\": {\"hyperdbg_u_ping\": \"a.h:1 of 0.9.0\"}}");
    assert!(finding("RET002", &exported, Path::new("DIR")), "{exported}");
    let nothing = with("{\"functions\": {\"hyperdbg_u_never\": \"a.h:1 of 0.9.0\"}}");
    assert!(finding("RET003", &nothing, Path::new("DIR")), "{nothing}");
    let form = with("{\"functions\": []}");
    assert!(finding("RET001", &form, Path::new("DIR")), "{form}");
}

#[test]
fn diff_answers_by_its_exit_code() {
    let root = workspace();
    let diff = |sdk: &str, more: &[&str]| {
        let sdk = tests_folder("sync").join(sdk);
        let mut arguments = vec!["diff", "--sdk", sdk.to_str().unwrap()];
        arguments.extend(more);
        codegen(root.path(), &arguments)
    };
    let before = snapshot(root.path());
    assert_eq!(diff("one", &[]).0, 0);
    assert_eq!(diff("newer", &[]).0, 1);
    assert_eq!(diff("renamed", &["--fail-on", "any"]).0, 1);
    assert_eq!(diff("renamed", &["--fail-on", "decision"]).0, 0);
    assert_eq!(diff("older", &["--fail-on", "breaking"]).0, 1);
    assert_eq!(diff("api", &[]).0, 2);
    let older = tests_folder("sync").join("older");
    assert_eq!(diff("older", &["--against", older.to_str().unwrap()]).0, 0);
    assert_eq!(diff("one", &["--source", older.to_str().unwrap()]).0, 2);
    assert_eq!(diff("one", &["--fail-on", "sometimes"]).0, 2);
    let (code, schema, _) = codegen(root.path(), &["diff", "--schema"]);
    assert!(code == 0 && schema.contains("\"$schema\""));
    assert_eq!(snapshot(root.path()), before);
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let root = workspace();
    let summary = root.path().join("summary.md");
    fs::write(&summary, "before\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_codegen"))
        .args(["diff", "--format", "github", "--sdk"])
        .arg(tests_folder("sync").join("older"))
        .arg("--root")
        .arg(root.path())
        .env("GITHUB_STEP_SUMMARY", &summary)
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        stdout.starts_with("::error file=HyperDbgLibImports.h,line="),
        "{stdout}"
    );
    let summary = fs::read_to_string(summary).unwrap();
    assert!(summary.starts_with("before\n## HyperDbg SDK 1.0.0"), "{summary}");
}

#[test]
fn findings_are_printed_as_asked() {
    let root = workspace();
    let sdk = tests_folder("sync").join("api");
    let sdk = sdk.to_str().unwrap();
    let (code, _, json) = codegen(root.path(), &["import", "--sdk", sdk, "--messages", "json"]);
    let finding: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, finding["code"].as_str()), (2, Some("HDR002")));
    let (_, _, github) = codegen(root.path(), &["import", "--sdk", sdk, "--messages", "github"]);
    assert!(github.starts_with("::error title=HDR002::"), "{github}");
    let (_, _, text) = codegen(root.path(), &["import", "--sdk", sdk]);
    assert!(
        text.starts_with("error[HDR002]: ") && !text.contains('\u{1b}'),
        "{text}"
    );
}
