//! Libraries that somebody put where a search could find them.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use hyperdbg_mcp::engine::LibrarySource;
use hyperdbg_mcp::session::{Session, SessionConfig};
use hyperdbg_mcp::tool::Category;
use libtest_mimic::Trial;

use crate::simulator::{moved, simulated};
use crate::world::*;

pub(crate) fn add(trials: &mut Vec<Trial>) {
    trials.push(trial("a_library_is_never_searched_by_its_bare_name", bare_name));
    trials.push(Trial::test(
        "a_library_in_the_current_folder_is_not_taken",
        current_folder,
    ));
    #[cfg(windows)]
    trials.push(Trial::test(
        "a_dependency_is_taken_from_beside_the_library_and_from_nowhere_else",
        windows::dependency,
    ));
}

async fn bare_name() {
    // A library of the right name where a bare name would be searched.
    let (folder, path) = moved();
    let search: OsString = folder.path().into();
    let result = Session::open(SessionConfig {
        environment: vec![
            ("LD_LIBRARY_PATH".into(), search.clone()),
            ("PATH".into(), search),
        ],
        ..simulated(LibrarySource::Path(path.file_name().unwrap().into()))
    })
    .await;
    assert_category(&result.map(|_| ()), Category::NotConnected);
}

/// The role of a supervisor in a folder of somebody else: opens the library and says how that went.
pub(crate) fn open(library: Option<OsString>) -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let library = LibrarySource::Path(library.unwrap().into());
    let told = match runtime.block_on(Session::open(simulated(library))) {
        Ok(session) => {
            let closed = runtime.block_on(session.close());
            format!("opened, closed gracefully: {}", closed.graceful)
        }
        Err(error) => error.to_string(),
    };
    let mut out = std::io::stdout().lock();
    out.write_all(told.as_bytes()).and_then(|()| out.flush()).unwrap();
    ExitCode::SUCCESS
}

/// Opens `library` from `folder`, which also stands first in `PATH`.
fn open_from(folder: &Path, library: &Path) -> String {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&inherited)))
            .unwrap();
    let Output { stdout, stderr, .. } = Command::new(std::env::current_exe().unwrap())
        .arg("opener")
        .arg(library)
        .env("PATH", path)
        .current_dir(folder)
        .output()
        .unwrap();
    format!(
        "{}{}",
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr)
    )
}

const OPENED: &str = "opened, closed gracefully: true";

fn current_folder() -> Result<(), libtest_mimic::Failed> {
    let (planted, path) = moved();
    let name = path.file_name().unwrap().to_str().unwrap();
    let relative = [name.to_owned(), format!("./{name}")];
    // On the current drive, and in the current folder of a drive.
    let of_drives = [format!(r"\{name}"), format!("C:{name}"), format!("Z:{name}")];
    let of_drives: &[String] = if cfg!(windows) { &of_drives } else { &[] };
    for written in relative.iter().chain(of_drives) {
        let told = open_from(planted.path(), Path::new(written));
        assert!(told.contains("its path is not absolute"), "{written}: {told}");
    }
    // The real one, with something of the same name in the current folder that no system loads.
    std::fs::write(&path, "planted").unwrap();
    let (_folder, path) = moved();
    let told = open_from(planted.path(), &path);
    assert!(told.contains(OPENED), "{told}");
    Ok(())
}

#[cfg(windows)]
mod windows {
    use std::path::PathBuf;

    use super::*;

    /// A library of the system that the simulator depends on, and that is only asked for a function or two.
    const SYSTEM: &str = "bcryptprimitives.dll";

    /// A library that depends on one which no system has: the simulator, with a name in its import table replaced by
    /// one of the same length.
    fn with_dependency(path: &Path, dependency: &str) {
        assert_eq!(SYSTEM.len(), dependency.len());
        let mut image = std::fs::read(path).unwrap();
        let places: Vec<usize> = image
            .windows(SYSTEM.len())
            .enumerate()
            .filter(|(_, bytes)| bytes.eq_ignore_ascii_case(SYSTEM.as_bytes()))
            .map(|(place, _)| place)
            .collect();
        assert!(!places.is_empty(), "the simulator does not depend on {SYSTEM}");
        for place in places {
            image[place..place + SYSTEM.len()].copy_from_slice(dependency.as_bytes());
        }
        std::fs::write(path, image).unwrap();
    }

    fn system_library() -> PathBuf {
        let root = std::env::var_os("SystemRoot").unwrap();
        [Path::new(&root), Path::new("System32"), Path::new(SYSTEM)]
            .iter()
            .collect()
    }

    pub(super) fn dependency() -> Result<(), libtest_mimic::Failed> {
        let name = format!("planted-{:08x}.dll", std::process::id());
        let (beside, library) = moved();
        with_dependency(&library, &name);
        let planted = tempfile::tempdir().unwrap();
        let system = system_library();

        // One that works, in the current folder, in PATH, and in the folder of the program, which is the worker's
        // current one: it is not found.
        std::fs::copy(&system, planted.path().join(&name)).unwrap();
        let beside_program = std::env::current_exe().unwrap().with_file_name(&name);
        std::fs::copy(&system, &beside_program).unwrap();
        let told = open_from(planted.path(), &library);
        std::fs::remove_file(beside_program).unwrap();
        assert!(told.contains("could not be opened"), "{told}");
        assert!(!told.contains(OPENED), "{told}");

        // Beside the library it is.
        std::fs::copy(&system, beside.path().join(&name)).unwrap();
        let told = open_from(planted.path(), &library);
        assert!(told.contains(OPENED), "{told}");

        // And it is that one: what now lies elsewhere could not be loaded.
        std::fs::write(planted.path().join(&name), "planted").unwrap();
        let told = open_from(planted.path(), &library);
        assert!(told.contains(OPENED), "{told}");
        Ok(())
    }
}
