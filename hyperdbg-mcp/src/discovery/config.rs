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
use serde::{Deserialize, Deserializer};

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
    /// How targets are connected, by name. One that is wrong does not take the others with it.
    #[serde(default, deserialize_with = "each")]
    pub profiles: BTreeMap<String, Result<Profile, String>>,
}

fn each<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Result<Profile, String>>, D::Error> {
    let tables = BTreeMap::<String, toml::Value>::deserialize(deserializer)?;
    let profile = |table: toml::Value| {
        table
            .try_into()
            .map_err(|error: toml::de::Error| without_values(error.message()))
    };
    Ok(tables
        .into_iter()
        .map(|(name, table)| (name, profile(table)))
        .collect())
}

/// The message without the value that it quotes, which can be a secret.
fn without_values(message: &str) -> String {
    let quotes = message.starts_with("invalid type: ") || message.starts_with("invalid value: ");
    let message = message.trim_end();
    match message.rfind(", expected ") {
        Some(at) if quotes => format!("{} was expected", &message[at + ", expected ".len()..]),
        _ if quotes => "a value has another type".to_owned(),
        _ => message.replace('\n', "; "),
    }
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
            Some(line) => format!("line {line}: {}", without_values(error.message())),
            None => without_values(error.message()),
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
    fn a_wrong_profile_leaves_the_others_and_its_values_are_not_told() {
        let config = written(
            b"[profiles.good]\nmode = 'offline'\n[profiles.bad]\nmode = 'offline'\nsecrets = 'correct horse'\n[profiles.none]\npipe = 'x'\n",
        )
        .unwrap();
        assert!(config.profiles["good"].is_ok());
        let bad = config.profiles["bad"].clone().unwrap_err();
        assert!(bad.contains("was expected") && !bad.contains("horse"), "{bad}");
        let none = config.profiles["none"].clone().unwrap_err();
        assert!(none.contains("mode"), "{none}");
        let whole = written(b"profiles = 'correct horse'\n").unwrap_err();
        assert!(
            whole.starts_with("line 1: ") && !whole.contains("horse"),
            "{whole}"
        );
    }

    #[test]
    fn the_usual_file_is_absolute() {
        if let Some(file) = usual_file() {
            assert!(file.is_absolute(), "{}", file.display());
            assert!(file.ends_with("hyperdbg-mcp/config.toml"));
        }
    }
}
