//! What a command, an expression or a script can do, before anything is sent to the library.
//!
//! HyperDbg has no way to ask: one reader cuts a command line into tokens, another one scans whatever a command
//! evaluates, and both have corners in which a writer hides. [`classify`] reads a text the way they do, looks the
//! command up by form in `api/commands.json`, and follows each expression with the effects of `api/script.json`.
//! What it does not know to be Read is not Read. It is a pure function: no session, no transport.

pub mod approval;
mod arguments;
mod command;
pub mod decision;
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
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Expression => "expression",
            Self::Script => "script",
        }
    }

    /// The longest text that is sent, in bytes: longer ones end the process or overrun a buffer.
    pub fn limit_bytes(self) -> usize {
        match self {
            Self::Command | Self::Expression => 2000,
            Self::Script => 16 * 1024,
        }
    }
}

/// Which argument of which tool is a text that is classified at each call.
const TEXTS: [(&str, Kind, &str); 3] = [
    ("hd_exec_command", Kind::Command, "command"),
    ("hd_script_eval", Kind::Expression, "expression"),
    ("hd_script_run", Kind::Script, "script"),
];

/// What kind of text a tool takes and in which argument, where its calls are classified.
pub fn text_of(tool: &str) -> Option<(Kind, &'static str)> {
    TEXTS
        .iter()
        .find(|(name, _, _)| *name == tool)
        .map(|(_, kind, argument)| (*kind, *argument))
}

/// A text that was classified and may be sent: exactly these bytes, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleared {
    /// What is sent.
    pub text: String,
    /// The form of the command, as `api/commands.json` calls it.
    pub form: Option<String>,
    /// What to know about it.
    pub notes: Vec<Note>,
}

impl Cleared {
    /// The notes in one line.
    pub fn note(&self) -> Option<String> {
        let notes: Vec<String> = self.notes.iter().map(|note| sentence(&note.text)).collect();
        (!notes.is_empty()).then(|| notes.join(" "))
    }
}

/// `text` as a sentence.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars
        .next()
        .map(char::to_uppercase)
        .into_iter()
        .flatten()
        .collect();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// What is wrong with the form of `text`, whatever it means, and what to do about it.
pub fn complaint(kind: Kind, text: &str) -> Option<(String, &'static str)> {
    let name = kind.name();
    if text.is_empty() {
        return Some((format!("The {name} is empty."), "Write what is to be done."));
    }
    if text.len() > kind.limit_bytes() {
        let (is, takes) = (text.len(), kind.limit_bytes());
        return Some((
            format!("The {name} has {is} bytes; HyperDbg takes {takes} safely."),
            "Shorten it, or split it.",
        ));
    }
    let plain = |ch: char| (' '..='~').contains(&ch) || matches!(ch, '\n' | '\r' | '\t');
    if let Some((at, ch)) = text.char_indices().find(|(_, ch)| !plain(*ch)) {
        let code = u32::from(ch);
        return Some((
            format!(
                "The {name} holds the character U+{code:04X} at byte {at}; HyperDbg takes plain ASCII only."
            ),
            "Write it with ASCII characters only.",
        ));
    }
    if kind == Kind::Command && text.contains('\n') {
        return Some((
            "The command has several lines; a newline does not separate words or commands in HyperDbg."
                .to_owned(),
            "Send one command at a time, on one line.",
        ));
    }
    None
}

/// The level that the form with this identifier has by itself; an unknown one has none.
pub fn form_level(id: &str) -> Option<Level> {
    tables::commands()
        .iter()
        .flat_map(|command| &command.forms)
        .find(|form| form.id == id)
        .map(|form| form.tier)
}

/// The identifier of the form that a command line has, where it has one.
pub fn form_of(line: &[u8]) -> Option<String> {
    classify(Kind::Command, line, &Options::default()).form
}

/// The identifiers of all forms of commands.
pub fn forms() -> impl Iterator<Item = &'static str> {
    tables::commands()
        .iter()
        .flat_map(|command| &command.forms)
        .map(|form| form.id.as_str())
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
