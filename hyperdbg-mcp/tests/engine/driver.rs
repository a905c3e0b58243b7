//! Which driver a session would install.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperdbg_mcp::engine::LibrarySource;
use hyperdbg_mcp::session::Session;
use libtest_mimic::{Failed, Trial};
use serde_json::json;

use crate::process::{Server, program};
use crate::simulator::{moved, shared_library, simulated};
use crate::world::*;

pub(crate) fn add(trials: &mut Vec<Trial>) {
    trials.extend([
        trial(
            "the_library_is_told_of_the_driver_beside_it_before_anything_else",
            beside_library,
        ),
        trial(
            "a_driver_that_the_library_cannot_take_costs_nothing_but_its_use",
            unusable,
        ),
        Trial::test("opening_a_session_says_which_driver_it_would_install", told),
    ]);
}

/// Something that looks like a driver: the simulator with the subsystem of one.
fn driver() -> Vec<u8> {
    let mut image = std::fs::read(shared_library()).unwrap();
    let header = u32::from_le_bytes(image[0x3c..0x40].try_into().unwrap()) as usize;
    image[header + 24 + 68] = 1;
    image
}

/// What the simulator says where it was told of no driver.
const NONE: &str = "the driver beside the program\n";

async fn open(library: &Path) -> Arc<Session> {
    Session::open(simulated(LibrarySource::Path(library.to_owned())))
        .await
        .unwrap()
}

async fn beside_library() {
    let folder = tempfile::Builder::new().prefix("Hyper Dbg ").tempdir().unwrap();
    let library = folder.path().join("libhyperdbg.dll");
    std::fs::copy(shared_library(), &library).unwrap();
    let session = open(&library).await;
    assert_eq!(session.status().driver, None);
    assert_eq!(say(&session, "!sim driver").await, NONE);
    session.close().await;

    let file = folder.path().join("hyperkd.sys");
    std::fs::write(&file, driver()).unwrap();
    is_chosen(&library).await;

    // Letters that the library does not take: a file system that keeps short names has one for it.
    let (folder, library) = moved();
    std::fs::write(folder.path().join("hyperkd.sys"), driver()).unwrap();
    is_chosen_or(&library, "outside of ASCII").await;
}

/// The library was told of the driver beside it by a path that it survives.
async fn is_chosen(library: &Path) {
    let session = open(library).await;
    let path = session.status().driver.unwrap();
    assert!(path.is_ascii() && path.len() < 260, "{path}");
    assert_eq!(std::fs::read(&path).unwrap(), driver());
    assert_eq!(
        say(&session, "!sim driver").await,
        format!("driver {path}, service hyperkd\n")
    );
    session.close().await;
}

/// The same, or it was not told, for that reason.
async fn is_chosen_or(library: &Path, reason: &str) {
    let session = open(library).await;
    let told = session.status().driver.unwrap();
    let chosen = say(&session, "!sim driver").await;
    session.close().await;
    match told.contains("cannot be installed from there") {
        true => assert!(told.contains(reason) && chosen == NONE, "{told}: {chosen}"),
        false => is_chosen(library).await,
    }
}

async fn unusable() {
    let (folder, library) = moved();
    std::fs::write(folder.path().join("hyperkd.sys"), "a text").unwrap();
    let session = open(&library).await;
    let why = session.status().driver.unwrap();
    assert!(why.contains("cannot be installed from there"), "{why}");
    assert_eq!(
        say(&session, "!sim driver").await,
        "the driver beside the program\n"
    );
    session.close().await;

    // So long that the library would end the worker.
    let deep: PathBuf = std::iter::once(folder.path())
        .chain(std::iter::repeat_n(Path::new("a folder with a long name"), 12))
        .collect();
    std::fs::create_dir_all(&deep).unwrap();
    let library = deep.join("libhyperdbg.dll");
    std::fs::copy(shared_library(), &library).unwrap();
    std::fs::write(deep.join("hyperkd.sys"), driver()).unwrap();
    is_chosen_or(&library, "at most 259").await;
}

fn told() -> Result<(), Failed> {
    let (folder, library) = moved();
    std::fs::write(folder.path().join("hyperkd.sys"), driver())?;
    let mut command = program();
    command
        .args(["--allow-writes", "--tools", "all", "--library"])
        .arg(&library);
    let mut server = Server::start_in("2025-06-18", &mut command);
    let opened = server.fields("hd_session_open", json!({"mode": "local"}));
    let path = opened["driver"].as_str().unwrap();
    assert!(path.to_ascii_lowercase().ends_with("hyperkd.sys"), "{opened}");
    Ok(())
}
