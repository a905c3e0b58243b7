//! Finds HyperDbg's library.

use std::path::{Path, PathBuf};

/// The library's file name on this system.
pub(super) const FILE_NAME: &str = if cfg!(windows) {
    "libhyperdbg.dll"
} else {
    "libhyperdbg.so"
};

/// The library's absolute path: what was named, else the first of the usual places that holds it.
pub(super) fn find(named: Option<&Path>) -> Result<PathBuf, String> {
    match named {
        Some(named) => at(named).ok_or_else(|| {
            format!(
                "there is no library at {}: --library takes the path of {FILE_NAME} or of the folder that holds it",
                named.display()
            )
        }),
        None => search(&usual_places()),
    }
}

fn search(places: &[PathBuf]) -> Result<PathBuf, String> {
    places.iter().find_map(|place| at(place)).ok_or_else(|| {
        let list: Vec<String> = places.iter().map(|place| format!("  {}", place.join(FILE_NAME).display())).collect();
        format!(
            "cannot find HyperDbg's library. Looked at:\n{}\nName it with --library PATH or HYPERDBG_LIBRARY, or use --simulator for the built-in simulated machine.",
            list.join("\n")
        )
    })
}

/// The folder of the program, then the entries of PATH.
fn usual_places() -> Vec<PathBuf> {
    let own = std::env::current_exe()
        .ok()
        .and_then(|program| program.parent().map(Path::to_owned));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = Vec::new();
    for place in own.into_iter().chain(std::env::split_paths(&path)) {
        if place.is_absolute() && !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn at(place: &Path) -> Option<PathBuf> {
    let file = if place.is_dir() {
        place.join(FILE_NAME)
    } else {
        place.to_owned()
    };
    // The worker runs elsewhere, so the path must not depend on where this process was started.
    file.is_file().then(|| std::path::absolute(&file).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_the_library_in_it() {
        let folder = tempfile::tempdir().unwrap();
        assert!(find(Some(folder.path())).unwrap_err().contains("--library"));
        let file = folder.path().join(FILE_NAME);
        std::fs::write(&file, b"").unwrap();
        assert_eq!(find(Some(folder.path())), Ok(file.clone()));
        assert_eq!(find(Some(&file)), Ok(file.clone()));
        assert_eq!(
            search(&[folder.path().join("none"), folder.path().to_owned()]),
            Ok(file)
        );
    }

    #[test]
    fn the_error_lists_each_place_looked_at() {
        let error = search(&[PathBuf::from("/first"), PathBuf::from("/second")]).unwrap_err();
        for part in ["/first", "/second", FILE_NAME, "--simulator", "HYPERDBG_LIBRARY"] {
            assert!(error.contains(part), "{error}");
        }
        assert!(!usual_places().is_empty());
    }
}
