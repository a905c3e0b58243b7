//! Connecting a fresh worker, and what HyperDbg's prompt says of the connection.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::{Engine, Link};
use crate::generated::{
    self, ConnectLocalDebuggerArgs, ConnectRemoteDebuggerArgs, ConnectRemoteDebuggerUsingComPortArgs,
    ConnectRemoteDebuggerUsingNamedPipeArgs, RunCommandArgs, ShowSignatureArgs,
};
use crate::output::Untrusted;
use crate::tier::{Destructive, State};
use crate::tool::{Category, Connection, ToolError, verdict};

/// What to do where nothing was connected.
const CHECK: &str = "Check that the target is up, waits for a debugger on this endpoint, and runs the same build of HyperDbg.";

/// Connects a fresh worker, and tells the library where symbols are; gives back what the library printed.
pub(crate) async fn connect(
    link: Arc<dyn Link>,
    connection: &Connection,
    symbol_path: Option<&str>,
) -> Result<Untrusted, ToolError> {
    let mut text = attach(Arc::clone(&link), connection).await?;
    if let Some(path) = symbol_path {
        // A line of the person's own configuration, checked when that was read.
        let command = format!(".sympath {path}").into_bytes();
        let outcome = Engine::<Destructive>::new(link)
            .run_command(RunCommandArgs { command })
            .await?;
        verdict(&generated::RUN_COMMAND, None, None, &outcome.text)?;
        text.append(&outcome.text);
    }
    Ok(text)
}

async fn attach(link: Arc<dyn Link>, connection: &Connection) -> Result<Untrusted, ToolError> {
    let engine = Engine::<State>::new(link);
    let bytes = |text: &str| text.as_bytes().to_vec();
    let (function, returned, mut text) = match connection {
        Connection::Offline => return Ok(Untrusted::default()),
        Connection::Local => {
            let outcome = engine.connect_local_debugger(ConnectLocalDebuggerArgs {}).await?;
            (&generated::CONNECT_LOCAL_DEBUGGER, None, outcome.text)
        }
        // Paused after the connection, always: the call would otherwise wait for the first stop.
        Connection::DebuggerPipe { pipe } => {
            let args = ConnectRemoteDebuggerUsingNamedPipeArgs {
                pipe: bytes(pipe),
                pause: true,
            };
            let outcome = engine.connect_remote_debugger_using_named_pipe(args).await?;
            let returned = Some(outcome.reply.returned.into());
            (
                &generated::CONNECT_REMOTE_DEBUGGER_USING_NAMED_PIPE,
                returned,
                outcome.text,
            )
        }
        Connection::DebuggerSerial { port, baud } => {
            let args = ConnectRemoteDebuggerUsingComPortArgs {
                port: bytes(port),
                baudrate: *baud,
                pause: true,
            };
            let outcome = engine.connect_remote_debugger_using_com_port(args).await?;
            let returned = Some(outcome.reply.returned.into());
            (
                &generated::CONNECT_REMOTE_DEBUGGER_USING_COM_PORT,
                returned,
                outcome.text,
            )
        }
        Connection::Remote { address, port } => {
            let args = ConnectRemoteDebuggerArgs {
                ip: bytes(address),
                port: Some(bytes(&port.to_string())),
            };
            let outcome = engine.connect_remote_debugger(args).await?;
            (
                &generated::CONNECT_REMOTE_DEBUGGER,
                Some(outcome.reply.returned.into()),
                outcome.text,
            )
        }
    };
    verdict(function, returned, None, &text).map_err(|error| match error.category {
        Category::Debugger => ToolError {
            category: Category::NotConnected,
            next_step: Some(CHECK.to_owned()),
            ..error
        },
        _ => error,
    })?;
    // The return value is not believed: a refused connection counts as success too. The prompt tells.
    let expected = match connection {
        Connection::DebuggerPipe { .. } | Connection::DebuggerSerial { .. } => Prompt::Debugger,
        Connection::Remote { .. } => Prompt::Remote,
        _ => return Ok(text),
    };
    let prompt = engine.show_signature(ShowSignatureArgs {}).await?.text;
    if Prompt::read(prompt.bytes()) != Some(expected) {
        text.append(&prompt);
        return Err(ToolError::new(
            Category::NotConnected,
            format!(
                "HyperDbg did not connect to the target in mode {}.",
                connection.mode()
            ),
        )
        .next_step(CHECK)
        .captured(text));
    }
    Ok(text)
}

/// The connection, by the shape of HyperDbg's prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Prompt {
    /// Local, or nothing.
    Plain,
    Remote,
    Debugger,
    UserProcess,
}

impl Prompt {
    /// The core that a halted debuggee's prompt names; it names none while it runs.
    pub(super) fn core(text: &[u8]) -> Option<u32> {
        let text = String::from_utf8_lossy(text);
        let line = text
            .lines()
            .rev()
            .find(|line| line.contains("kHyperDbg>"))?
            .trim();
        let (core, _) = line.split_once(':')?;
        u32::from_str_radix(core, 16)
            .ok()
            .filter(|core| *core != u32::MAX)
    }

    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        let line = text.lines().rev().find(|line| line.contains("HyperDbg>"))?.trim();
        if line.starts_with('[') {
            Some(Self::Remote)
        } else if line.ends_with("u64HyperDbg>") || line.ends_with("u86HyperDbg>") {
            Some(Self::UserProcess)
        } else if line.ends_with("kHyperDbg>") {
            Some(Self::Debugger)
        } else {
            Some(Self::Plain)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prompt_tells_its_connection() {
        for (text, prompt) in [
            ("HyperDbg> ", Prompt::Plain),
            ("\n[192.168.1.2:50000] HyperDbg> ", Prompt::Remote),
            ("0: kHyperDbg> ", Prompt::Debugger),
            ("ffffffff: kHyperDbg> ", Prompt::Debugger),
            ("1a4:9c (paused) u64HyperDbg> ", Prompt::UserProcess),
            ("1a4:9c (running) u86HyperDbg> ", Prompt::UserProcess),
        ] {
            assert_eq!(Prompt::read(text.as_bytes()), Some(prompt), "{text}");
        }
        assert_eq!(Prompt::core(b"\n1f: kHyperDbg> "), Some(0x1f));
        assert_eq!(Prompt::core(b"ffffffff: kHyperDbg> "), None);
        assert_eq!(Prompt::core(b"HyperDbg> "), None);
        assert_eq!(Prompt::read(b"nothing"), None);
    }
}
