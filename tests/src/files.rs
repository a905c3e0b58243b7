//! Where the built programs and the golden files are.

use std::path::{Path, PathBuf};

/// The folder into which cargo built this test's siblings (`target/<profile>`).
fn build_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let deps = test.parent().expect("a program lies in a folder");
    assert!(
        deps.ends_with("deps"),
        "{} is not cargo's deps folder",
        deps.display()
    );
    deps.parent().expect("deps lies in the build folder").to_owned()
}

fn existing(path: PathBuf) -> PathBuf {
    assert!(
        path.is_file(),
        "{} is not built: run the tests with `cargo test --workspace`, which builds it",
        path.display()
    );
    path
}

/// The server, as `cargo test --workspace` built it.
pub fn program() -> PathBuf {
    existing(build_folder().join(format!("hyperdbg-mcp{}", std::env::consts::EXE_SUFFIX)))
}

/// The simulator as a shared library.
pub fn simulator_library() -> PathBuf {
    let name = format!(
        "{}hyperdbg_simulator{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let beside = build_folder().join(&name);
    if beside.is_file() {
        beside
    } else {
        existing(build_folder().join("deps").join(name))
    }
}

/// Whether goldens are to be written instead of compared: `BLESS=1`, refused under `CI`.
pub fn bless() -> bool {
    let wanted = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    assert!(
        !(wanted && std::env::var_os("CI").is_some()),
        "goldens are not blessed under CI"
    );
    wanted
}

/// Compares `actual` with the golden file `goldens/<name>` of this package, or writes it when blessing.
///
/// Line endings are normalised. The message of a failure says how to accept the new text.
pub fn golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("goldens").join(name);
    if bless() {
        std::fs::create_dir_all(path.parent().expect("a golden lies in a folder")).expect("folder is made");
        std::fs::write(&path, actual).expect("golden is written");
        return;
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert!(
        expected == actual,
        "{} differs from what the program shows now.\nTo accept it: BLESS=1 cargo test -p hyperdbg-mcp-tests\n--- expected\n{expected}\n+++ actual\n{actual}",
        path.display()
    );
}
