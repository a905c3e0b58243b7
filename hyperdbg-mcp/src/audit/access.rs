//! Files that only their owner can use.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens or makes a file for reading and writing, for its owner only. One that was there before may have been open to
/// others.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    let file = system::open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a file")),
    }
}

/// Makes a folder and those above it, for their owner only; those that are there stay as they are.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    system::make_folder(path)
}

#[cfg(windows)]
use windows as system;

#[cfg(windows)]
mod windows {
    pub(super) use crate::engine::confine::{make_folder, open_file as open};
}

#[cfg(unix)]
use unix as system;

#[cfg(unix)]
mod unix {
    use std::fs::{DirBuilder, File, OpenOptions, Permissions};
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    pub(super) fn open(path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600);
        let file = options.open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }

    pub(super) fn make_folder(path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }
}
