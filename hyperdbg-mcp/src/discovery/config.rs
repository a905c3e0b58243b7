//! The configuration file: `config.toml` in the user's folder for hyperdbg-mcp.
//!
//! ```toml
//! library = 'C:\Tools\HyperDbg\libhyperdbg.dll'
//!
//! [profiles.lab]
//! mode = 'debugger'
//! pipe = '\\.\pipe\HyperDbgPipe'
//! label = 'the Windows 11 lab machine'
//! ```

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use serde::Deserialize;

use super::profile::Profile;

/// Name of the folder and of the file in it.
const PLACE: [&str; 2] = ["hyperdbg-mcp", "config.toml"];

/// A configuration larger than this is not one.
const SIZE_BYTES: u64 = 1 << 20;

/// What the configuration says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The library, as an absolute path.
    pub library: Option<PathBuf>,
    /// How targets are connected, by name.
    #[serde(default)]
    pub profiles: BTreeMap<String, Profile>,
}

/// Where the configuration would be: `%APPDATA%\hyperdbg-mcp\config.toml`, or `~/.config/hyperdbg-mcp/config.toml`
/// (`XDG_CONFIG_HOME`). `None` when the user has no home.
pub fn usual_file() -> Option<PathBuf> {
    let folder = etcetera::choose_base_strategy().ok()?.config_dir();
    folder.is_absolute().then(|| folder.join(PLACE[0]).join(PLACE[1]))
}

/// Reads a configuration; a file that is not there is an empty one.
///
/// # Errors
/// Why it cannot be read or understood, in one line.
pub fn read(file: &Path) -> Result<Config, String> {
    let size = match std::fs::metadata(file) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Config::default()),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    if size > SIZE_BYTES {
        return Err(format!("is {size} bytes long, more than a configuration has"));
    }
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Config::default()),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    // Windows editors like to begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| {
            let before = text.bytes().take(span.start);
            before.filter(|byte| *byte == b'\n').count() + 1
        });
        match line {
            Some(line) => format!("line {line}: {}", error.message()),
            None => error.message().to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &[u8]) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        read(&file)
    }

    #[test]
    fn the_key_library_names_the_library() {
        let config = written("\u{feff}# mine\r\nlibrary = 'C:\\Täst dir\\libhyperdbg.dll'\r\n".as_bytes());
        assert_eq!(
            config.unwrap().library,
            Some(PathBuf::from("C:\\Täst dir\\libhyperdbg.dll"))
        );
    }

    #[test]
    fn no_file_and_an_empty_file_say_nothing() {
        assert_eq!(read(Path::new("/no/such/config.toml")), Ok(Config::default()));
        assert_eq!(written(b""), Ok(Config::default()));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        assert!(
            written(b"\n\nlibary = 'x'\n")
                .unwrap_err()
                .starts_with("line 3: ")
        );
        assert!(
            written(b"library = \"C:\\hyperdbg\"\n")
                .unwrap_err()
                .starts_with("line 1: ")
        );
        assert!(written(&[0xff, 0xfe, 0]).unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn the_usual_file_is_absolute() {
        if let Some(file) = usual_file() {
            assert!(file.is_absolute(), "{}", file.display());
            assert!(file.ends_with("hyperdbg-mcp/config.toml"));
        }
    }
}
