//! What several tests share.
#![allow(dead_code, reason = "not every test uses all of it")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on fails"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// A folder beside the tests.
pub(crate) fn tests_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
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
