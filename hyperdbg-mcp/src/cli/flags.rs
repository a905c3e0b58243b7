//! The flags of serving, which every verb takes.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use clap::builder::FalseyValueParser;

use crate::audit::{self, Destination, Masker};
use crate::discovery::Request;
use crate::policy::decision::{Confirm, Permit, Rules};
use crate::sdk;
use crate::server::Policy;
use crate::tier::Tier;
use crate::tool::Connection;
use crate::tool::surface::{Groups, Selection};

/// What is served, and over which library.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Serving")]
pub struct ServeFlags {
    /// HyperDbg's library, or the folder that holds it; else it is searched in the usual places
    #[arg(long, global = true, env = "HYPERDBG_LIBRARY", value_name = "PATH")]
    pub library: Option<PathBuf>,

    /// Headers of the library's SDK, by which calls are checked and translated; else the folder SDK beside the library
    #[arg(long, global = true, env = "HYPERDBG_MCP_SDK", value_name = "DIR")]
    pub sdk: Option<PathBuf>,

    /// Do not translate what only moved in the library's SDK: disable what needs it
    #[arg(long, global = true, env = "HYPERDBG_MCP_NO_RELOCATION", value_parser = FalseyValueParser::new())]
    pub no_relocation: bool,

    /// Use the built-in simulated machine instead of a library; its session opens by itself
    #[arg(long, global = true, env = "HYPERDBG_MCP_SIMULATOR", value_parser = FalseyValueParser::new(), conflicts_with = "library")]
    pub simulator: bool,

    /// Take a library that everyone on this machine can replace, or plant something beside
    #[arg(long, global = true, env = "HYPERDBG_MCP_ALLOW_WRITABLE_FOLDER", value_parser = FalseyValueParser::new())]
    pub allow_writable_folder: bool,

    /// Open a session at the first call that needs one: offline, local, debugger=PIPE, debugger=COM1:115200 or
    /// remote=ADDRESS:PORT
    #[arg(long, global = true, env = "HYPERDBG_MCP_OPEN", value_name = "MODE", value_parser = connection)]
    pub open: Option<Connection>,

    /// Let nothing through that does more than observe, whatever other flags say
    #[arg(long, global = true, env = "HYPERDBG_MCP_READ_ONLY", value_parser = FalseyValueParser::new())]
    pub read_only: bool,

    /// Let something run that is else confirmed by a person: a tier (destructive), a tool (hd_mem_write) or a form of a
    /// command (listen); repeat it or separate with commas
    #[arg(long, global = true, env = "HYPERDBG_MCP_ALLOW", value_name = "TIER|TOOL|FORM", value_delimiter = ',', value_parser = Permit::parse)]
    pub allow: Vec<Permit>,

    /// The same as --allow destructive
    #[arg(long, global = true, env = "HYPERDBG_MCP_ALLOW_WRITES", value_parser = FalseyValueParser::new())]
    pub allow_writes: bool,

    /// Whether people confirm what can destroy the target; `never` is for laboratories without people, and unsafe
    #[arg(
        long,
        global = true,
        env = "HYPERDBG_MCP_CONFIRM",
        value_enum,
        default_value = "ask"
    )]
    pub confirm: ConfirmFlag,

    /// How long the client's person is waited for
    #[arg(long, global = true, env = "HYPERDBG_MCP_CONFIRM_SECONDS", value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub confirm_seconds: u64,

    /// How long a request can be confirmed and used, also by `hyperdbg-mcp approve`
    #[arg(long, global = true, env = "HYPERDBG_MCP_APPROVAL_SECONDS", value_name = "SECONDS", default_value = "300", value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub approval_seconds: u64,

    /// Send commands, expressions and scripts without looking at what they can do; unsafe
    #[arg(long, global = true, env = "HYPERDBG_MCP_UNCLASSIFIED", value_parser = FalseyValueParser::new())]
    pub unclassified: bool,

    /// Groups of tools beside the default ones, separated by commas, or `all`
    #[arg(long, global = true, env = "HYPERDBG_MCP_TOOLS", value_name = "GROUP,…", value_parser = Groups::parse)]
    pub tools: Option<Groups>,

    /// Record every call in this file, or `off`; else in the user's state directory
    #[arg(long, global = true, env = "HYPERDBG_MCP_AUDIT", value_name = "FILE|off", value_parser = Destination::from_str)]
    pub audit: Option<Destination>,

    /// Where the server notes what its sessions set in their targets, so that the next one can say what was left when
    /// this one is ended by force, or `off`; else in the user's state directory
    #[arg(long, global = true, env = "HYPERDBG_MCP_STATE", value_name = "DIR|off", value_parser = StateFolder::from_str)]
    pub state: Option<StateFolder>,

    /// Environment variables whose values are masked, beside those that are called like secrets (…TOKEN, …SECRET, …)
    #[arg(
        long,
        global = true,
        env = "HYPERDBG_MCP_MASK_ENV",
        value_name = "NAME,…",
        value_delimiter = ','
    )]
    pub mask_env: Vec<String>,
}

/// Where the server's own notes lie.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StateFolder {
    /// In the user's state directory.
    #[default]
    Usual,
    /// Nowhere.
    Off,
    /// Here.
    Folder(PathBuf),
}

impl FromStr for StateFolder {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "" => Self::Usual,
            "off" => Self::Off,
            folder => Self::Folder(folder.into()),
        })
    }
}

impl StateFolder {
    /// The folder; none where nothing is to be noted.
    ///
    /// # Errors
    /// The user has no state directory.
    pub fn path(&self) -> Result<Option<PathBuf>, String> {
        Ok(match self {
            Self::Usual => Some(audit::state_folder()?),
            Self::Off => None,
            Self::Folder(folder) => Some(folder.clone()),
        })
    }
}

/// Whether people are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ConfirmFlag {
    /// Every call that can destroy something
    Ask,
    /// Nothing
    Never,
}

impl ServeFlags {
    /// What the flags say about the surface.
    pub fn selection(&self) -> Selection {
        Selection {
            groups: self.tools.clone().unwrap_or_default(),
            read_only: self.read_only,
        }
    }

    /// What the flags say about calls; `operator` opens the door for `hyperdbg-mcp approve`.
    pub fn policy(&self, operator: bool) -> Policy {
        let mut permits = self.allow.clone();
        if self.allow_writes {
            permits.push(Permit::Tier(Tier::Destructive));
        }
        let rules = Rules {
            read_only: self.read_only,
            permits,
            confirm: match self.confirm {
                ConfirmFlag::Ask => Confirm::Ask,
                ConfirmFlag::Never => Confirm::Never,
            },
            unclassified: self.unclassified,
        };
        Policy {
            // Where nothing is asked for there is nothing to approve.
            operator: operator && !rules.read_only && rules.confirm == Confirm::Ask,
            rules,
            patience: Duration::from_secs(self.confirm_seconds),
            life: Duration::from_secs(self.approval_seconds),
        }
    }

    /// Where the library is looked for.
    pub fn request(&self) -> Request {
        Request {
            library: self.library.clone(),
            allow_writable_folder: self.allow_writable_folder,
        }
    }

    /// Where the library's headers are, and what is made of them.
    pub fn sdk(&self) -> sdk::Choice {
        sdk::Choice {
            folder: self.sdk.clone(),
            translate: !self.no_relocation,
        }
    }

    /// What masks the secrets that this process knows.
    pub fn masker(&self) -> Masker {
        Masker::of_environment(&self.mask_env)
    }

    /// How the session opens by itself, where it does.
    pub fn opens_by_itself(&self) -> Option<Connection> {
        self.open.clone().or_else(|| self.simulator.then(simulated))
    }
}

/// The simulated debuggee, on the pipe where the simulator waits.
fn simulated() -> Connection {
    Connection::DebuggerPipe {
        pipe: r"\\.\pipe\HyperDbgPipe".to_owned(),
    }
}

fn connection(text: &str) -> Result<Connection, String> {
    let (mode, endpoint) = match text.split_once('=') {
        Some((mode, endpoint)) => (mode, Some(endpoint)),
        None => (text, None),
    };
    match (mode, endpoint) {
        ("offline", None) => Ok(Connection::Offline),
        ("local", None) => Ok(Connection::Local),
        ("debugger", Some(endpoint)) => debugger(endpoint),
        ("remote", Some(endpoint)) => {
            let (address, port) = endpoint.rsplit_once(':').unwrap_or((endpoint, "50000"));
            Connection::remote(
                address,
                port.parse().map_err(|_| format!("`{port}` is no TCP port"))?,
            )
        }
        ("debugger", None) => {
            Err("debugger needs its endpoint: debugger=PIPE or debugger=COM1:115200".to_owned())
        }
        ("remote", None) => Err("remote needs its endpoint: remote=ADDRESS:PORT".to_owned()),
        _ => Err(
            "the modes are offline, local, debugger=PIPE, debugger=COM1:115200 and remote=ADDRESS:PORT"
                .to_owned(),
        ),
    }
}

fn debugger(endpoint: &str) -> Result<Connection, String> {
    if let Some((port, baud)) = endpoint.rsplit_once(':')
        && port.to_ascii_uppercase().starts_with("COM")
    {
        let baud = baud.parse().map_err(|_| format!("`{baud}` is no baud rate"))?;
        return Connection::serial(port, baud);
    }
    Connection::pipe(endpoint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_read_with_their_mode() {
        assert_eq!(connection("offline"), Ok(Connection::Offline));
        assert_eq!(
            connection("debugger=COM2:115200"),
            Ok(Connection::DebuggerSerial {
                port: "COM2".to_owned(),
                baud: 115_200
            })
        );
        assert_eq!(
            connection(r"debugger=\\.\pipe\kernel"),
            Ok(Connection::DebuggerPipe {
                pipe: r"\\.\pipe\kernel".to_owned()
            })
        );
        assert_eq!(
            connection("remote=10.0.0.1"),
            Ok(Connection::Remote {
                address: "10.0.0.1".to_owned(),
                port: 50_000
            })
        );
        for wrong in [
            "debugger",
            "remote",
            "remote=host:1",
            "remote=1.2.3.4:x",
            "debugger=COM9:115200",
            "debugger=COM1:7",
            "debugger=",
            "x",
        ] {
            assert!(connection(wrong).is_err(), "{wrong}");
        }
    }
}
