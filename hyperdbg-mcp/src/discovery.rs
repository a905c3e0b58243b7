//! Finding HyperDbg's library, and judging it before anything is loaded.
//!
//! Whoever is named the library (`--library`, a variable, the configuration) gets that one or an error that says why
//! not; otherwise the first one that passes in a fixed order of places is taken. The current directory is no such place.
//! Nothing here loads or runs anything: a file is read, and its headers are believed as little as possible.

pub mod companions;
pub mod config;
pub mod folder;
pub mod image;
pub mod path;
pub mod places;
pub mod profile;
pub mod release;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use hyperdbg_sys::Exports;
use serde::Serialize;
use sha2::{Digest, Sha256};

use folder::Access;
use image::{Image, Loader, Unfit};
use path::Writer;
pub use places::{Origin, Surroundings};
use release::Release;

/// Name of the library's file.
pub const FILE_NAME: &str = if cfg!(windows) {
    "libhyperdbg.dll"
} else {
    "libhyperdbg.so"
};

/// A library larger than this is not one: the real one has a few megabytes.
const SIZE_BYTES: u64 = 256 << 20;

/// An export that only the simulator has.
const SIMULATOR_MARK: &str = "hyperdbg_simulator_version";

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The library that the command line names: its file, or the folder that holds it.
    pub library: Option<PathBuf>,
    /// Take a library that others can replace.
    pub allow_writable_folder: bool,
}

/// Why a file was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "snake_case", tag = "code")]
pub enum Refusal {
    /// The path, or the configuration that should hold it, is not right.
    #[error("{why}")]
    BadPath {
        /// What is wrong.
        why: String,
    },
    /// It was named, and is not there.
    #[error("there is no such file")]
    NotThere,
    /// It is there and cannot be read.
    #[error("it cannot be read: {why}")]
    Unreadable {
        /// The system's words.
        why: String,
    },
    /// A folder that was named holds no library.
    #[error("the folder holds no {FILE_NAME}")]
    EmptyFolder,
    /// Neither a file nor a folder.
    #[error("it is not a regular file")]
    NotAFile,
    /// Too large to be it.
    #[error("it is {size_bytes} bytes large, which no such library is")]
    TooLarge {
        /// Its size.
        size_bytes: u64,
    },
    /// Not loadable here.
    #[error("{0}")]
    Unfit(Unfit),
    /// A library of something else, or of a HyperDbg before v0.9.1.
    #[error("{why}")]
    NotHyperDbg {
        /// What it is instead.
        why: &'static str,
    },
    /// The simulator, which must be named.
    #[error(
        "it is the simulator, which is taken only when it is named (--simulator, or --library with its path)"
    )]
    Simulator,
    /// Others can replace it.
    #[error("{} can be written by {}: {}", .0.place.display(), .0.who, .0.how)]
    WritableByOthers(folder::Exposed),
}

impl Refusal {
    /// What to do about it.
    pub fn next_step(&self) -> String {
        match self {
            Self::BadPath { .. } => "Correct the path.".to_owned(),
            Self::NotThere | Self::EmptyFolder => {
                format!("Name the folder that holds {FILE_NAME}, or the file itself.")
            }
            Self::Unreadable { .. } => "Give the user of this program read access to it.".to_owned(),
            Self::NotAFile | Self::TooLarge { .. } => format!("Name the real {FILE_NAME}."),
            Self::Unfit(Unfit::OtherFormat { .. } | Unfit::OtherMachine { .. }) => {
                format!("Use HyperDbg's {} build.", Loader::THIS.machine)
            }
            Self::Unfit(_) => "Unpack or build HyperDbg again.".to_owned(),
            Self::NotHyperDbg { .. } => "Use HyperDbg v0.9.1 or later, v0.23 at best.".to_owned(),
            Self::Simulator => "Start with --simulator to use the built-in one.".to_owned(),
            Self::WritableByOthers(exposed) => format!(
                "Take the access away ({}), move HyperDbg to a folder of your own, or accept the risk with \
                 --allow-writable-folder.",
                exposed.remedy
            ),
        }
    }
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// It is the library.
    Taken,
    /// Nothing is there.
    Absent,
    /// Something is there and was passed over.
    Refused {
        /// Why.
        reason: Refusal,
        /// The same in words.
        why: String,
    },
    /// An earlier place decided.
    NotTried,
}

/// One place that was, or would have been, looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// Why it is a candidate.
    pub origin: Origin,
    /// The path, as it was found or written.
    pub path: PathBuf,
    /// What became of it.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// A library that may be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Library {
    /// Absolute, behind symbolic links.
    pub path: PathBuf,
    /// Why this one.
    pub origin: Origin,
    /// Size of the file.
    pub size_bytes: u64,
    /// SHA-256 of the file, in lower-case hex.
    pub sha256: String,
    /// What its headers say.
    #[serde(flatten)]
    pub image: Image,
    /// Functions of the catalog that it exports.
    pub present: usize,
    /// Functions of the catalog that it lacks, in the header's order.
    pub missing: Vec<&'static str>,
    /// Which release it is.
    pub release: Option<Release>,
    /// Whether it is the simulator.
    pub simulator: bool,
    /// Whether it lies on another machine.
    pub on_network: bool,
    /// Who can replace it.
    pub access: Access,
}

impl Library {
    /// The folder that holds it.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

/// How a search went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Search {
    /// Every place in order.
    pub candidates: Vec<Candidate>,
    /// The library.
    pub library: Option<Library>,
}

/// No library passed. Its text lists every place, what was there, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// Every place in order.
    pub candidates: Vec<Candidate>,
}

impl std::fmt::Display for NotFound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let refused = |candidate: &&Candidate| matches!(candidate.verdict, Verdict::Refused { .. });
        match self.candidates.iter().find(refused) {
            Some(candidate) if candidate.origin.is_named() => {
                let Verdict::Refused { reason, why } = &candidate.verdict else {
                    return Ok(());
                };
                write!(
                    f,
                    "the library named by {} cannot be used: {}: {why}. {}",
                    candidate.origin,
                    candidate.path.display(),
                    reason.next_step()
                )
            }
            _ => {
                write!(f, "HyperDbg's library ({FILE_NAME}) was not found. Looked at:")?;
                f.write_str(&list(&self.candidates))?;
                write!(
                    f,
                    "\nName it with --library PATH or the variable {}, or try the built-in simulator with --simulator; \
                     `hyperdbg-mcp doctor` tells more.",
                    places::VARIABLE
                )
            }
        }
    }
}

impl std::error::Error for NotFound {}

/// Candidates, one a line, each line beginning with a line break.
pub fn list(candidates: &[Candidate]) -> String {
    let mut text = String::new();
    for candidate in candidates {
        let what = match &candidate.verdict {
            Verdict::Taken => "taken".to_owned(),
            Verdict::Absent => "not there".to_owned(),
            Verdict::Refused { why, .. } => format!("passed over: {why}"),
            Verdict::NotTried => "not tried".to_owned(),
        };
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\n  {}: {}: {what}",
            candidate.origin,
            candidate.path.display()
        );
    }
    text
}

/// Finds the library.
///
/// # Errors
/// Where it was looked for, and why nothing there would do.
pub fn locate(request: &Request) -> Result<Library, NotFound> {
    let search = search(request, &Surroundings::of_this_process());
    search.library.ok_or(NotFound {
        candidates: search.candidates,
    })
}

/// Looks at every place in order, to the first library that passes; what is named ends the search either way.
pub fn search(request: &Request, around: &Surroundings) -> Search {
    let mut library: Option<Library> = None;
    let mut decided = false;
    let mut candidates = Vec::new();
    for place in places::places(request.library.as_deref(), around) {
        let origin = place.origin;
        let mut path = place.path;
        let verdict = if decided {
            Verdict::NotTried
        } else {
            let judged = match place.problem {
                Some(why) => Err(Refusal::BadPath { why }),
                None => examine(&path, origin, request.allow_writable_folder),
            };
            match judged {
                Ok(found) => {
                    decided = true;
                    path.clone_from(&found.path);
                    library = Some(found);
                    Verdict::Taken
                }
                Err(Refusal::NotThere) if !origin.is_named() => Verdict::Absent,
                Err(reason) => {
                    decided = origin.is_named();
                    Verdict::Refused {
                        why: reason.to_string(),
                        reason,
                    }
                }
            }
        };
        candidates.push(Candidate {
            origin,
            path,
            verdict,
        });
    }
    Search { candidates, library }
}

/// Judges one file.
///
/// # Errors
/// Why it must not be loaded.
pub fn examine(written: &Path, origin: Origin, allow_writable_folder: bool) -> Result<Library, Refusal> {
    let writer = match origin {
        Origin::Flag => Writer::CommandLine,
        _ => Writer::Standing,
    };
    let mut named = path::absolute(written, writer).map_err(|why| Refusal::BadPath { why })?;
    let mut metadata = std::fs::metadata(&named).map_err(|error| unreadable(&error))?;
    if metadata.is_dir() {
        named.push(FILE_NAME);
        metadata = std::fs::metadata(&named).map_err(|error| match unreadable(&error) {
            Refusal::NotThere => Refusal::EmptyFolder,
            other => other,
        })?;
    }
    if !metadata.is_file() {
        return Err(Refusal::NotAFile);
    }
    let path = dunce::canonicalize(&named).map_err(|error| unreadable(&error))?;
    let data = read(&path)?;
    let image = Image::parse(&data, Loader::THIS).map_err(Refusal::Unfit)?;

    let (present, missing): (Vec<_>, Vec<_>) = Exports::SYMBOLS
        .into_iter()
        .partition(|symbol| image.exports.contains(*symbol));
    if present.is_empty() {
        let old = image.exports.iter().any(|name| name.starts_with("HyperDbg"));
        return Err(Refusal::NotHyperDbg {
            why: match old {
                true => "it is the library of a HyperDbg before v0.9.1, whose functions have other names",
                false => "it exports none of HyperDbg's functions",
            },
        });
    }
    let simulator = image.exports.contains(SIMULATOR_MARK);
    if simulator && !origin.is_named() {
        return Err(Refusal::Simulator);
    }

    let mut access = folder::access(&path);
    if access == Access::Closed && path != named {
        // Whoever can change the link decides as much as whoever can change the file.
        access = folder::access(&named);
    }
    if let Access::Exposed(exposed) = &access
        && !allow_writable_folder
    {
        return Err(Refusal::WritableByOthers(exposed.clone()));
    }

    Ok(Library {
        on_network: path::on_network(&path),
        origin,
        size_bytes: u64::try_from(data.len()).unwrap_or(u64::MAX),
        sha256: hex(&Sha256::digest(&data)),
        release: release::guess(&image.exports),
        present: present.len(),
        missing,
        simulator,
        access,
        image,
        path,
    })
}

fn unreadable(error: &std::io::Error) -> Refusal {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Refusal::NotThere,
        _ => Refusal::Unreadable {
            why: error.to_string(),
        },
    }
}

/// Reads a whole file, within bounds.
fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let size_bytes = file.metadata().map_err(|error| unreadable(&error))?.len();
    let mut data = Vec::new();
    if size_bytes <= SIZE_BYTES {
        file.take(SIZE_BYTES + 1)
            .read_to_end(&mut data)
            .map_err(|error| unreadable(&error))?;
    }
    let size_bytes = size_bytes.max(u64::try_from(data.len()).unwrap_or(u64::MAX));
    match size_bytes > SIZE_BYTES {
        true => Err(Refusal::TooLarge { size_bytes }),
        false => Ok(data),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
