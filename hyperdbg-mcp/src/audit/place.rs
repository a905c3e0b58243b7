//! Where the log lies.

use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where calls are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// In the user's state directory.
    Default,
    /// Nowhere.
    Off,
    /// This file.
    File(PathBuf),
}

impl FromStr for Destination {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            // An empty variable counts as none.
            "" | "default" => Self::Default,
            "off" => Self::Off,
            path => Self::File(path.into()),
        })
    }
}

/// The file in [`state_folder`].
pub fn default_file() -> Result<PathBuf, String> {
    Ok(state_folder()?.join("audit.jsonl"))
}

/// This program's folder in the user's state directory: `~/.local/state/hyperdbg-mcp`, or `%LOCALAPPDATA%\hyperdbg-mcp`
/// on Windows.
pub fn state_folder() -> Result<PathBuf, String> {
    use etcetera::BaseStrategy;
    let strategy = etcetera::choose_base_strategy()
        .map_err(|error| format!("the user's state directory cannot be found: {error}"))?;
    // Windows has no state directory; what it calls the local one does not roam.
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.cache_dir());
    Ok(folder.join("hyperdbg-mcp"))
}

/// The same file name with `number` before its extension: the log of a further server of the same user.
pub(super) fn numbered(path: &Path, number: u32) -> PathBuf {
    let stem = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let extension = path
        .extension()
        .map(|extension| format!(".{}", extension.to_string_lossy()))
        .unwrap_or_default();
    path.with_file_name(format!("{stem}-{number}{extension}"))
}

/// A file beside the log.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_from_the_logs() {
        assert_eq!(
            numbered(Path::new("/x/audit.jsonl"), 2),
            Path::new("/x/audit-2.jsonl")
        );
        assert_eq!(beside(Path::new("/x/a.b"), "head"), Path::new("/x/a.b.head"));
        assert_eq!("off".parse(), Ok(Destination::Off));
        assert_eq!("a".parse(), Ok(Destination::File("a".into())));
        assert_eq!("".parse(), Ok(Destination::Default));
    }
}
