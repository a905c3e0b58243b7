//! What belongs beside the library: the libraries that it needs, its kernel drivers, its data and headers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::image::{Image, Loader};
use super::{Library, read};

/// The driver's files, which the library looks for beside the **host program**: the driver and the kernel DLLs that it
/// links to.
pub const DRIVER_FILES: [&str; 7] = [
    "hyperkd.sys",
    "hyperhv.dll",
    "hyperlog.dll",
    "hypertrace.dll",
    "hyperevade.dll",
    "hyperperf.dll",
    "kdserial.dll",
];

/// Libraries that are followed, at most.
const FOLLOWED: usize = 64;

/// Longest path, in bytes, that may be given to `hyperdbg_u_set_custom_driver_path`: its check lets 260 pass, and the
/// copy that follows ends the process then.
pub const DRIVER_PATH_BYTES: usize = 259;

/// Where a needed library lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "place")]
pub enum Place {
    /// In the library's own folder.
    Beside,
    /// In the system's folders.
    System,
    /// Not seen in either.
    NotSeen,
    /// Beside the library, but not loadable.
    Unfit {
        /// Why.
        why: String,
    },
}

/// A library that the library needs, directly or through another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dependency {
    /// Its file name.
    pub name: String,
    /// What needs it.
    pub needed_by: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
}

/// A file that is there or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Presence {
    /// Its name, relative to the folder.
    pub name: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// Whether it is there.
    pub present: bool,
}

/// Follows what the library needs, through everything that lies beside it.
pub fn dependencies(library: &Library) -> Vec<Dependency> {
    let folder = library.folder();
    let own = file_name(&library.path);
    let mut seen: BTreeSet<String> = BTreeSet::from([fold(&own)]);
    let mut queue: Vec<(String, Vec<String>)> = vec![(own, library.image.dependencies.clone())];
    let mut found = Vec::new();
    while let Some((needed_by, names)) = queue.pop() {
        for name in names {
            // A name with a separator would lead out of the folder.
            if name.contains(['/', '\\']) || !seen.insert(fold(&name)) || found.len() == FOLLOWED {
                continue;
            }
            let file = folder.join(&name);
            let place = if file.is_file() {
                match read(&file)
                    .map_err(|error| error.to_string())
                    .and_then(|data| Image::parse(&data, Loader::THIS).map_err(|error| error.to_string()))
                {
                    Ok(image) => {
                        queue.push((name.clone(), image.dependencies));
                        Place::Beside
                    }
                    Err(why) => Place::Unfit { why },
                }
            } else if in_system(&name) {
                Place::System
            } else {
                Place::NotSeen
            };
            found.push(Dependency {
                name,
                needed_by: needed_by.clone(),
                place,
            });
        }
    }
    found
}

/// The data and headers that a release puts beside the library.
pub fn extras(folder: &Path) -> Vec<Presence> {
    let there = |name, purpose, path: PathBuf| Presence {
        name,
        purpose,
        present: path.exists(),
    };
    let mut extras = vec![there(
        "SDK",
        "the headers of that very build, against which the layouts can be checked",
        folder.join("SDK").join("headers"),
    )];
    if cfg!(windows) {
        extras.push(there(
            "pdbex.dll",
            "symbols of structures (dt, struct)",
            folder.join("pdbex.dll"),
        ));
        extras.push(there(
            "constants/pci.ids",
            "names of devices in !pcitree and !pcicam; looked up beside the host program",
            folder.join("constants").join("pci.ids"),
        ));
    }
    extras
}

/// The driver's files that a folder lacks.
pub fn missing_driver_files(folder: &Path) -> Vec<&'static str> {
    DRIVER_FILES
        .into_iter()
        .filter(|name| !folder.join(name).is_file())
        .collect()
}

/// Why a driver's path cannot be given to `hyperdbg_u_set_custom_driver_path`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverPathError {
    /// Too long.
    #[error(
        "the driver's path has {bytes} bytes, and the library takes at most {DRIVER_PATH_BYTES}: at 260 it ends its \
         process. Move HyperDbg to a shorter path."
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Not expressible.
    #[error(
        "the driver's path holds letters outside of ASCII, and the library takes it in the system's code page only. \
         Move HyperDbg to a path of plain letters."
    )]
    NotAscii,
    /// Verbatim.
    #[error(
        "the driver's path has the form \\\\?\\, which the service manager does not take. Use a plain path."
    )]
    Verbatim,
}

/// Checks a driver's path before it is given to the library.
///
/// # Errors
/// Why the library, or the service manager behind it, would not take it.
pub fn driver_path(path: &Path) -> Result<String, DriverPathError> {
    let text = path.to_str().filter(|text| text.is_ascii());
    let text = text.ok_or(DriverPathError::NotAscii)?;
    if text.starts_with(r"\\?\") {
        return Err(DriverPathError::Verbatim);
    }
    match text.len() {
        bytes if bytes > DRIVER_PATH_BYTES => Err(DriverPathError::TooLong { bytes }),
        _ => Ok(text.to_owned()),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Names of files as the system compares them.
fn fold(name: &str) -> String {
    match cfg!(windows) {
        true => name.to_lowercase(),
        false => name.to_owned(),
    }
}

#[cfg(windows)]
fn in_system(name: &str) -> bool {
    let lower = name.to_lowercase();
    // API sets are names without files.
    lower.starts_with("api-ms-")
        || lower.starts_with("ext-ms-")
        || crate::engine::system::system_folder().is_ok_and(|folder| folder.join(name).is_file())
}

#[cfg(not(windows))]
fn in_system(name: &str) -> bool {
    [
        "/lib/x86_64-linux-gnu",
        "/usr/lib/x86_64-linux-gnu",
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
        "/usr/local/lib",
    ]
    .iter()
    .any(|folder| Path::new(folder).join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_librarys_limit_on_driver_paths_is_kept() {
        let path = |bytes: usize| PathBuf::from(format!("/{}", "d".repeat(bytes - 1)));
        assert!(driver_path(&path(259)).is_ok());
        assert_eq!(
            driver_path(&path(260)),
            Err(DriverPathError::TooLong { bytes: 260 })
        );
        assert_eq!(
            driver_path(Path::new("/ü/hyperkd.sys")),
            Err(DriverPathError::NotAscii)
        );
        assert_eq!(
            driver_path(Path::new(r"\\?\C:\hyperkd.sys")),
            Err(DriverPathError::Verbatim)
        );
    }

    #[test]
    fn a_folder_lacks_the_driver_files_that_are_not_in_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(missing_driver_files(folder.path()), DRIVER_FILES);
        for name in &DRIVER_FILES[..6] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(missing_driver_files(folder.path()), ["kdserial.dll"]);
    }
}
