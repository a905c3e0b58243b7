//! Where the program and the library may lie, and how their paths may be written.
// A test fails by panicking.
#![allow(clippy::expect_used)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use hyperdbg_mcp_tests::{Client, Protocol, program, simulator_library};
use serde_json::{Value, json};

/// Name of a folder that is hard on whoever forgets quotes or takes text for ASCII.
const HARD: &str = "Hyper Dbg ünï 測試 проба";

/// What the library is called where it is searched.
fn library_name() -> String {
    format!("libhyperdbg{}", std::env::consts::DLL_SUFFIX)
}

/// A folder with the program and the library in it.
struct Installed {
    _folder: tempfile::TempDir,
    program: PathBuf,
    library: PathBuf,
}

fn install(below: &Path) -> Installed {
    let folder = tempfile::tempdir().expect("a folder is made");
    let place = folder.path().join(below);
    std::fs::create_dir_all(&place).expect("folders are made");
    let library = place.join(library_name());
    std::fs::copy(simulator_library(), &library).expect("the library is copied");
    let copy = place.join(program().file_name().expect("a program has a name"));
    std::fs::copy(program(), &copy).expect("the program is copied");
    Installed {
        _folder: folder,
        program: copy,
        library,
    }
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_remove("HYPERDBG_LIBRARY")
        // Temporary folders can be everybody's.
        .env("HYPERDBG_MCP_ALLOW_WRITABLE_FOLDER", "1")
        .stdin(Stdio::null());
    command
}

fn shown(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Evaluates `1+2` with that library.
fn evaluate(program: &Path, folder: &Path, library: &OsStr) -> Output {
    command(program)
        .current_dir(folder)
        .args(["call", "hd_script_eval", r#"{"expression": "1+2"}"#, "--json"])
        .args(["--open", "offline", "--allow-writes", "--library"])
        .arg(library)
        .output()
        .expect("the program runs")
}

#[track_caller]
fn works(output: &Output) {
    let told = shown(output);
    assert!(output.status.success() && told.contains("\"0x3\""), "{told}");
}

#[test]
fn a_folder_with_spaces_and_letters_of_any_script_serves_every_verb() {
    let installed = install(Path::new(HARD));
    let library = installed.library.as_os_str();
    let here = installed.program.parent().expect("a program lies in a folder");

    let demo = command(&installed.program)
        .arg("demo")
        .output()
        .expect("demo runs");
    assert!(demo.status.success(), "{}", shown(&demo));

    let tools = command(&installed.program)
        .args(["tools", "--json", "--library"])
        .arg(library)
        .output()
        .expect("tools runs");
    assert!(tools.status.success(), "{}", shown(&tools));
    serde_json::from_slice::<Value>(&tools.stdout).expect("--json prints JSON");

    works(&evaluate(&installed.program, here, library));

    let mut session = command(&installed.program);
    session.args(["--allow-writes", "--library"]).arg(library);
    let mut client = Client::start_command(Protocol::V2025November, &mut session);
    client.handshake();
    client
        .call("hd_session_open", json!({"mode": "offline"}))
        .fields();
    let status = client.call("hd_session_status", json!({}));
    assert!(status.text().contains("測試"), "{}", status.text());
    let sum = client.call("hd_script_eval", json!({"expression": "1+2"}));
    assert_eq!(sum.fields()["value"], "0x3");
}

#[test]
fn a_library_is_taken_from_any_spelling_of_its_path() {
    let installed = install(Path::new(HARD));
    let here = installed.program.parent().expect("a program lies in a folder");
    let mut spellings: Vec<OsString> = vec![
        here.into(),
        here.join("..").join(HARD).join(library_name()).into(),
        // Its full form; on Windows with the prefix of long paths.
        std::fs::canonicalize(&installed.library)
            .expect("it is there")
            .into(),
        Path::new(".").join(library_name()).into(),
    ];
    if cfg!(windows) {
        let text = installed.library.to_str().expect("a path that is text");
        spellings.push(text.replace('\\', "/").into());
        spellings.push(text.to_ascii_uppercase().into());
    }
    for spelling in spellings {
        let output = evaluate(&installed.program, here, &spelling);
        assert!(
            output.status.success(),
            "{}: {}",
            spelling.display(),
            shown(&output)
        );
        works(&output);
    }
}

#[test]
fn a_path_longer_than_windows_usually_takes_works() {
    let deep: PathBuf = std::iter::repeat_n("a folder with a long name", 12).collect();
    let installed = install(&deep);
    // Only the library lies there: to start a program so deep down is the starter's affair.
    works(&evaluate(
        &program(),
        Path::new("."),
        installed.library.as_os_str(),
    ));
}

#[test]
fn a_path_that_leads_to_no_library_is_named() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let mut nowhere: Vec<OsString> = vec![folder.path().join("absent").into(), folder.path().into()];
    if cfg!(windows) {
        nowhere.push(r"\\nowhere.invalid\share\libhyperdbg.dll".into());
        nowhere.push(r"\\?\UNC\nowhere.invalid\share\libhyperdbg.dll".into());
        nowhere.push(r"Q:libhyperdbg.dll".into());
        nowhere.push(r"\no such folder\libhyperdbg.dll".into());
    }
    for path in nowhere {
        let output = evaluate(&program(), folder.path(), &path);
        let told = shown(&output);
        assert!(!output.status.success(), "{}: {told}", path.display());
        assert!(
            told.contains("--simulator") || told.contains("--library"),
            "{}: {told}",
            path.display()
        );
    }
}

#[test]
fn a_library_in_the_current_folder_is_not_found_there() {
    let installed = install(Path::new("planted"));
    let here = installed.library.parent().expect("a file lies in a folder");
    let output = command(&program())
        .current_dir(here)
        .env("PATH", "")
        .args([
            "call",
            "hd_session_open",
            r#"{"mode": "offline"}"#,
            "--allow-writes",
        ])
        .output()
        .expect("the program runs");
    let told = shown(&output);
    assert!(!output.status.success(), "{told}");
    assert!(told.contains("--library"), "{told}");
    assert!(
        !told.contains("planted"),
        "the current folder was searched: {told}"
    );
}
