//! One session on this machine's own kernel at a time, whichever server opens it.

use std::fs::{File, TryLockError};
use std::path::PathBuf;

use crate::tool::{Category, ToolError};

const NAME: &str = "hyperdbg-mcp-local.lock";

/// Held while a session on this machine is open; the system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct LocalLock {
    _file: File,
}

/// A folder that all users of the machine share.
fn file() -> PathBuf {
    let shared = if cfg!(windows) {
        std::env::var_os("ProgramData").map(PathBuf::from)
    } else {
        ["/run/lock", "/var/lock"]
            .into_iter()
            .map(PathBuf::from)
            .find(|folder| folder.is_dir())
    };
    shared.unwrap_or_else(std::env::temp_dir).join(NAME)
}

impl LocalLock {
    /// Takes it.
    ///
    /// # Errors
    /// `busy` while another session holds it.
    pub(super) fn take() -> Result<Self, ToolError> {
        Self::take_at(&file())
    }

    fn take_at(path: &std::path::Path) -> Result<Self, ToolError> {
        let cannot = |error: std::io::Error| {
            ToolError::new(
                Category::NotConnected,
                format!(
                    "The lock of this machine's session cannot be taken ({}): {error}.",
                    path.display()
                ),
            )
            .next_step(
                "A person must make that file accessible; it keeps two servers from driving one kernel.",
            )
        };
        // Made by another user, it may be there for reading only.
        let file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .or_else(|_| File::open(path))
            .map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(ToolError::new(
                Category::Busy,
                "A session on this machine is open already, here or in another server; there can be one.",
            )
            .next_step("Use that session, or close it first.")),
            Err(TryLockError::Error(error)) => Err(cannot(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_held_once_and_free_again_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let held = LocalLock::take_at(&path).unwrap();
        assert_eq!(LocalLock::take_at(&path).unwrap_err().category, Category::Busy);
        drop(held);
        LocalLock::take_at(&path).unwrap();
        assert!(file().ends_with(NAME));
    }
}
