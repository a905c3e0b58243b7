//! What belongs beside the library: the libraries that it needs, its kernel drivers, its data and headers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::image::{Image, Loader, Unfit, check_driver};
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

/// The driver that a library's session would install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Driver {
    /// The one beside this program, where the library looks by itself.
    BesideProgram,
    /// The one beside the library; the library must be told its path.
    BesideLibrary {
        /// The path as the library takes it.
        path: String,
    },
    /// The one beside the library, which cannot be installed from there.
    Unusable {
        /// Why.
        why: DriverError,
    },
    /// It is in neither place.
    Absent,
}

/// Why a driver cannot be installed from where it lies.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// Too long.
    #[error(
        "its path has {bytes} bytes, and the library takes at most {DRIVER_PATH_BYTES}: at 260 it ends its process"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Not expressible.
    #[error(
        "its path holds letters outside of ASCII, and the library takes it in the system's code page only"
    )]
    NotAscii,
    /// Verbatim.
    #[error("its path has the form \\\\?\\, which the service manager does not take")]
    Verbatim,
    /// Not readable.
    #[error("it cannot be read: {why}")]
    Unreadable {
        /// The system's words.
        why: String,
    },
    /// Something else of that name.
    #[error("{0}")]
    Unfit(Unfit),
}

impl DriverError {
    /// What to do about it.
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::TooLong { .. } | Self::NotAscii | Self::Verbatim => {
                "Move HyperDbg to a short path of plain letters, or put this program into its folder."
            }
            Self::Unreadable { .. } | Self::Unfit(_) => {
                "Unpack the whole release again; antivirus software likes to take drivers away."
            }
        }
    }
}

/// Which driver a session of the library in `folder` would install, started by a program in the folder `program`.
pub fn driver(folder: &Path, program: Option<&Path>) -> Driver {
    let beside = |folder: &Path| folder.join(DRIVER_FILES[0]);
    if program.is_some_and(|program| beside(program).is_file()) {
        return Driver::BesideProgram;
    }
    let file = beside(folder);
    if !file.is_file() {
        return Driver::Absent;
    }
    let judged = read(&file)
        .map_err(|error| DriverError::Unreadable {
            why: error.to_string(),
        })
        .and_then(|data| check_driver(&data).map_err(DriverError::Unfit))
        .and_then(|()| driver_path(&file));
    match judged {
        Ok(path) => Driver::BesideLibrary { path },
        Err(why) => Driver::Unusable { why },
    }
}

/// The path of a driver as the library takes it; where it would not, the short one that the file system may have.
///
/// # Errors
/// Why the library, or the service manager behind it, would not take it.
fn driver_path(path: &Path) -> Result<String, DriverError> {
    let plain = dunce::simplified(path);
    acceptable(plain).or_else(|error| {
        short(plain)
            .and_then(|short| acceptable(&short).ok())
            .ok_or(error)
    })
}

fn acceptable(path: &Path) -> Result<String, DriverError> {
    let text = path.to_str().filter(|text| text.is_ascii());
    let text = text.ok_or(DriverError::NotAscii)?;
    if text.starts_with(r"\\?\") {
        return Err(DriverError::Verbatim);
    }
    match text.len() {
        bytes if bytes > DRIVER_PATH_BYTES => Err(DriverError::TooLong { bytes }),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(windows)]
fn short(path: &Path) -> Option<PathBuf> {
    crate::engine::system::short_path(path).ok()
}

#[cfg(not(windows))]
fn short(_path: &Path) -> Option<PathBuf> {
    None
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
    use crate::discovery::image::sample::Sample;

    #[test]
    fn the_librarys_limit_on_driver_paths_is_kept() {
        let path = |bytes: usize| PathBuf::from(format!("/{}", "d".repeat(bytes - 1)));
        assert!(driver_path(&path(259)).is_ok());
        assert_eq!(driver_path(&path(260)), Err(DriverError::TooLong { bytes: 260 }));
        assert_eq!(
            driver_path(Path::new("/nowhere/ü/hyperkd.sys")),
            Err(DriverError::NotAscii)
        );
        let verbatim = format!(r"\\?\{}\hyperkd.sys", "d".repeat(10));
        assert_eq!(driver_path(Path::new(&verbatim)), Err(DriverError::Verbatim));
    }

    #[test]
    fn a_driver_is_taken_from_beside_the_program_or_else_from_beside_the_library() {
        let root = tempfile::tempdir().unwrap();
        let (library, program) = (root.path().join("hyperdbg"), root.path().join("program"));
        for folder in [&library, &program] {
            std::fs::create_dir(folder).unwrap();
        }
        let chosen = || driver(&library, Some(&program));
        assert_eq!(chosen(), Driver::Absent);

        let file = library.join("hyperkd.sys");
        std::fs::write(&file, "text").unwrap();
        assert!(
            matches!(
                &chosen(),
                Driver::Unusable {
                    why: DriverError::Unfit(_)
                }
            ),
            "{:?}",
            chosen()
        );
        std::fs::write(&file, Sample::driver()).unwrap();
        match chosen() {
            Driver::BesideLibrary { path } => assert_eq!(std::fs::read(path).unwrap(), Sample::driver()),
            other => panic!("{other:?}"),
        }
        std::fs::write(program.join("hyperkd.sys"), Sample::driver()).unwrap();
        assert_eq!(chosen(), Driver::BesideProgram);
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
