//! Profiles: how targets are connected, by name, in the configuration file.

use serde::Deserialize;

use crate::tool::{Connection, Opening};

/// One `[profiles.NAME]` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    mode: Mode,
    /// Mode debugger: named pipe of the target's serial port.
    pipe: Option<String>,
    /// Mode debugger: COM1 to COM4, instead of a pipe.
    serial_port: Option<String>,
    baud: Option<u32>,
    /// Mode remote: IPv4 address.
    address: Option<String>,
    tcp_port: Option<u16>,
    /// As `.sympath` takes it.
    symbol_path: Option<String>,
    /// What people call the target, and what it is for.
    label: Option<String>,
    role: Option<String>,
    /// Values that are masked wherever they would be shown, such as a password in `symbol_path`.
    #[serde(default)]
    secrets: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Offline,
    Local,
    Debugger,
    Remote,
}

/// Characters of a label or role.
const WORDS: usize = 80;
/// Bytes of the shortest secret that is masked.
const SECRET: usize = 8;

impl Profile {
    /// What a session is opened with.
    ///
    /// # Errors
    /// What is missing or wrong, in words.
    pub fn opening(&self) -> Result<Opening, String> {
        let connection = match (self.mode, &self.pipe, &self.serial_port, &self.address) {
            (Mode::Offline, None, None, None) => Connection::Offline,
            (Mode::Local, None, None, None) => Connection::Local,
            (Mode::Debugger, Some(pipe), None, None) => Connection::pipe(pipe)?,
            (Mode::Debugger, None, Some(port), None) => {
                Connection::serial(port, self.baud.unwrap_or(115_200))?
            }
            (Mode::Debugger, None, None, _) => {
                return Err("mode debugger needs pipe or serial_port".to_owned());
            }
            (Mode::Remote, None, None, Some(address)) => {
                Connection::remote(address, self.tcp_port.unwrap_or(50_000))?
            }
            (Mode::Remote, None, None, None) => return Err("mode remote needs address".to_owned()),
            _ => return Err("it names endpoints of several modes".to_owned()),
        };
        if let Some(path) = &self.symbol_path {
            let plain = path
                .chars()
                .all(|ch| (' '..='~').contains(&ch) && !matches!(ch, '"' | '{' | '}'));
            if path.trim().is_empty() || path.len() > 1_000 || !plain {
                return Err("symbol_path is no plain path without quotes".to_owned());
            }
        }
        if self.secrets.iter().any(|secret| secret.trim().len() < SECRET) {
            return Err(format!(
                "one of its secrets is shorter than {SECRET} bytes, too short to be masked wherever it appears"
            ));
        }
        let words: Vec<&str> = [&self.label, &self.role]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        let label = words.join(", ");
        if label.chars().count() > WORDS || label.chars().any(char::is_control) {
            return Err(format!(
                "label and role are at most {WORDS} characters on one line"
            ));
        }
        Ok(Opening {
            connection,
            label: (!label.is_empty()).then_some(label),
            symbol_path: self.symbol_path.clone(),
            secrets: self.secrets.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(text: &str) -> Result<Opening, String> {
        toml::from_str::<Profile>(text)
            .map_err(|error| error.message().to_owned())?
            .opening()
    }

    #[test]
    fn a_profile_says_how_a_target_is_connected() {
        let lab = opening(
            "mode = 'debugger'\npipe = '\\\\.\\pipe\\lab'\nsymbol_path = 'SRV*C:\\sym*https://example.org'\nlabel = 'lab'\nrole = 'victim'\nsecrets = ['correct horse']\n",
        );
        assert_eq!(
            lab,
            Ok(Opening {
                connection: Connection::pipe(r"\\.\pipe\lab").unwrap(),
                label: Some("lab, victim".to_owned()),
                symbol_path: Some(r"SRV*C:\sym*https://example.org".to_owned()),
                secrets: vec!["correct horse".to_owned()],
            })
        );
        assert_eq!(
            opening("mode = 'remote'\naddress = '10.0.0.1'\n")
                .unwrap()
                .connection,
            Connection::remote("10.0.0.1", 50_000).unwrap()
        );
    }

    #[test]
    fn a_profile_that_leaves_something_open_is_told() {
        for text in [
            "mode = 'debugger'",
            "mode = 'remote'",
            "mode = 'local'\npipe = 'x'",
            "mode = 'debugger'\nserial_port = 'COM9'",
            "mode = 'offline'\nsymbol_path = '\"'",
            "mode = 'offline'\nlabel = \"a\\nb\"",
            "mode = 'offline'\npassword = 'x'",
            "mode = 'offline'\nsecrets = ['short']",
            "mode = 'kernel'",
        ] {
            assert!(opening(text).is_err(), "{text}");
        }
    }
}
