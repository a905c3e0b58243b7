//! What a command, an expression or a script can do, before anything is sent to the library.
//!
//! HyperDbg has no way to ask: one reader cuts a command line into tokens, another one scans whatever a command
//! evaluates, and both have corners in which a writer hides. [`classify`] reads a text the way they do, looks the
//! command up by form in `api/commands.json`, and follows each expression with the effects of `api/script.json`.
//! What it does not know to be Read is not Read. It is a pure function: no session, no transport.

mod arguments;
mod command;
mod effects;
mod event;
mod file;
mod line;
mod scanner;
mod structure;
mod tables;
mod tokens;
mod verdict;

use serde::{Deserialize, Serialize};

pub use verdict::{Level, Note, NoteKind, Verdict};

/// Which of the library's three text entries a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A command line, for `hyperdbg_u_run_command`.
    Command,
    /// An expression, for `hyperdbg_u_eval_expression`.
    Expression,
    /// Statements, for `hyperdbg_u_run_script`.
    Script,
}

impl Kind {
    /// The longest text that is sent, in bytes: longer ones end the process or overrun a buffer.
    pub fn limit_bytes(self) -> usize {
        match self {
            Self::Command | Self::Expression => 2000,
            Self::Script => 16 * 1024,
        }
    }
}

/// Gives the bytes of a file of commands, or says why it cannot.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// What the caller knows and permits.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Whether expressions are evaluated in a debuggee: a kernel debuggee is connected, or a process is debugged.
    /// Otherwise the library evaluates them in its own process. None when the caller does not know.
    pub attached: Option<bool>,
    /// Reads the file of a `.script` command; without it such a command is never sent.
    pub read_file: Option<ReadFile<'a>>,
    /// Forms that the operator allows although they are never sent by default, by [`Verdict::allow`].
    pub allow: &'a [String],
}

/// What `text` can do.
pub fn classify(kind: Kind, text: impl AsRef<[u8]>, options: &Options<'_>) -> Verdict {
    let text = text.as_ref();
    if let Some(refusal) = malformed(kind, text) {
        return refusal;
    }
    let mut verdict = match kind {
        Kind::Command => command::classify(text, options, command::Origin::Caller),
        Kind::Expression => effects::pasted("formats", text, options),
        Kind::Script => effects::script(text, options),
    };
    if !text.is_ascii() {
        verdict.raise(
            Level::Destructive,
            "holds bytes that are not ASCII, on which the library's readers do not agree",
        );
    }
    verdict
}

/// Refuses what no reader gets right, whatever it means.
fn malformed(kind: Kind, text: &[u8]) -> Option<Verdict> {
    if text.contains(&0) {
        return Some(Verdict::new(
            Level::Never,
            "holds a NUL, at which the library stops reading; leave it out",
        ));
    }
    if text.len() > kind.limit_bytes() {
        let limit = kind.limit_bytes();
        return Some(Verdict::new(
            Level::Never,
            format!("longer than {limit} bytes, which the library does not survive; split it"),
        ));
    }
    None
}

#[cfg(test)]
mod tests;
