//! Whether people other than the user and the machine's administrators can replace a library, or put something beside
//! it that gets loaded with it.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::path::{Path, PathBuf};

use serde::Serialize;

#[cfg(unix)]
use unix::{inspect, owner_note};
#[cfg(windows)]
use windows::{inspect, owner_note};

/// A place that others can write to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exposed {
    /// The file or folder.
    pub place: PathBuf,
    /// Who, as the system calls them.
    pub who: String,
    /// What they can do with the library.
    pub how: &'static str,
    /// How to end it.
    pub remedy: String,
}

/// What is known of write access to a library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Access {
    /// Only the user and administrators.
    Closed,
    /// Everyone, or every user of the machine.
    Exposed(Exposed),
    /// The system would not say.
    Unknown {
        /// The file or folder.
        place: PathBuf,
        /// Why not.
        why: String,
    },
}

/// What a place is to the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The library itself.
    File,
    /// The folder that it lies in: what is planted there is loaded as a dependency.
    Folder,
    /// A folder above: whoever can rename what is in it can replace all below.
    Above,
}

impl Part {
    fn how(self) -> &'static str {
        match self {
            Self::File => "they can change the library",
            Self::Folder => "they can replace the library, or plant one that it loads",
            Self::Above => "they can put another folder in the place of the one that holds the library",
        }
    }
}

/// Looks at a file (an absolute path) and at every folder above it.
pub fn access(file: &Path) -> Access {
    let parts = std::iter::once((file, Part::File))
        .chain(file.parent().map(|folder| (folder, Part::Folder)))
        .chain(
            file.ancestors()
                .skip(2)
                .filter(|folder| folder.parent().is_some())
                .map(|folder| (folder, Part::Above)),
        );
    let mut unknown = None;
    for (place, part) in parts {
        match inspect(place, part) {
            Ok(None) => {}
            Ok(Some((who, remedy))) => {
                return Access::Exposed(Exposed {
                    place: place.to_owned(),
                    who,
                    how: part.how(),
                    remedy,
                });
            }
            Err(why) => {
                unknown.get_or_insert(Access::Unknown {
                    place: place.to_owned(),
                    why,
                });
            }
        }
    }
    unknown.unwrap_or(Access::Closed)
}

/// A place on the way to `file` that belongs to neither the user nor an administrator, in words.
pub fn foreign_owner(file: &Path) -> Option<String> {
    file.ancestors().find_map(owner_note)
}
