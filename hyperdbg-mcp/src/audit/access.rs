//! Files that only their owner can read.
//!
//! On Windows a file takes over the access list of its folder: the default folder lies in the user's profile, which
//! only the user, the system and administrators can read. A file named by `--audit` elsewhere is as private as the
//! folder it lies in.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens or makes a file for reading and writing, for its owner only.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // One that was there before may be open to others.
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(file)
}

/// Makes a folder and those above it, for their owner only.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}
