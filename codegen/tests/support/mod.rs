//! What several tests share.
#![allow(dead_code, reason = "not every test uses all of it")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on fails"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the program on a workspace: exit code, stdout, stderr.
pub(crate) fn codegen(root: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_codegen"));
    command
        .args(arguments)
        .arg("--root")
        .arg(root)
        .env_remove("GITHUB_STEP_SUMMARY");
    let output = match command.output() {
        // Wine fails now and then to start a process.
        Err(error) if error.raw_os_error() == Some(1359) => command.output().unwrap(),
        output => output.unwrap(),
    };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// A workspace in step with the SDK in `sdk`, of which `api` has the hand-written files.
pub(crate) fn workspace_of(api: &Path, sdk: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("api");
    copy(api, &inside);
    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/prelude.h"),
        inside.join("prelude.h"),
    )
    .unwrap();
    for verb in [&["import", "--sdk", sdk.to_str().unwrap()][..], &["generate"]] {
        let (code, _, stderr) = codegen(folder.path(), verb);
        assert_eq!((code, stderr.as_str()), (0, ""));
    }
    folder
}

/// Every file below a folder with its bytes.
pub(crate) fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut work = vec![folder.to_owned()];
    while let Some(at) = work.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                work.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                found.insert(path, bytes);
            }
        }
    }
    found
}

/// A folder beside the tests.
pub(crate) fn tests_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Where a document does not fit a JSON Schema, one line each.
pub(crate) fn misfits(schema: &str, document: &str) -> Vec<String> {
    let schema = serde_json::from_str(schema).unwrap();
    let document = serde_json::from_str(document).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    schema
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// Copies the files of a folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Compares the shown finding with `tests/findings/CODE.txt`; `folder` is written as `DIR`.
pub(crate) fn finding(code: &str, shown: &str, folder: &Path) -> bool {
    assert!(shown.contains(&format!("error[{code}]")), "{shown}");
    let shown = shown.replace(&folder.display().to_string(), "DIR");
    golden(&tests_folder("findings").join(format!("{code}.txt")), &shown)
}

/// Whether the file holds `found`; `BLESS` writes it instead, except under `CI`.
pub(crate) fn golden(path: &Path, found: &str) -> bool {
    let expected = fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    if expected == found {
        return true;
    }
    if std::env::var_os("BLESS").is_some() && std::env::var_os("CI").is_none() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, found).unwrap();
        return true;
    }
    for (number, (old, new)) in expected.lines().zip(found.lines()).enumerate() {
        if old != new {
            eprintln!("{}:{}\n- {old}\n+ {new}", path.display(), number + 1);
            break;
        }
    }
    false
}
