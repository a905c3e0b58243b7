//! The answer of the classification: what a text can do, and why.

use serde::{Deserialize, Serialize};

use crate::tier::Tier;

/// What a text can do, in ascending order of harm; above the tiers stands what is never sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Observes only.
    Read,
    /// Changes the debugger's or the target's state in a way that can be undone.
    State,
    /// Can destroy the target's state or the machine, or could not be understood.
    Destructive,
    /// Must not reach the library in any mode.
    Never,
}

impl Level {
    /// The tier of a call with this text; none when it is never sent.
    pub fn tier(self) -> Option<Tier> {
        match self {
            Self::Read => Some(Tier::Read),
            Self::State => Some(Tier::State),
            Self::Destructive => Some(Tier::Destructive),
            Self::Never => None,
        }
    }
}

impl From<Tier> for Level {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Read => Self::Read,
            Tier::State => Self::State,
            Tier::Destructive => Self::Destructive,
        }
    }
}

/// What kind of thing a [`Note`] tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// A number that looks decimal is hexadecimal.
    HexNumber,
    /// It can hold up cores or the session.
    MayStall,
    /// It can wait without a limit.
    Waits,
    /// In debugger mode the guest runs for a moment to carry it out.
    ResumesGuest,
    /// It can print more than is useful.
    Output,
    /// What it could do besides the reason given.
    Also,
}

/// Something worth knowing before the text is sent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// One sentence.
    pub text: String,
}

/// What a text can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The highest level of anything in the text.
    #[serde(rename = "tier")]
    pub level: Level,
    /// Why it has that level.
    pub reason: String,
    /// The form of the command, as `api/commands.json` calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// What an operator can put after `--allow` to have this text sent although it is never sent by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<String>,
    /// In the order in which they were found, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// The highest level of anything beside the form itself: what an operator who allows the form has not allowed.
    #[serde(skip)]
    pub(crate) beside: Level,
}

impl Verdict {
    /// A verdict without notes.
    pub(crate) fn new(level: Level, reason: impl Into<String>) -> Self {
        Self {
            level,
            reason: reason.into(),
            form: None,
            allow: None,
            notes: Vec::new(),
            beside: Level::Read,
        }
    }

    /// The verdict of a text that could not even be taken in.
    pub fn unreadable(why: &str) -> Self {
        Self::new(Level::Never, why)
    }

    /// The same verdict as one of a form.
    pub(crate) fn form(mut self, form: &str) -> Self {
        self.form = Some(form.to_owned());
        self
    }

    /// Raises the verdict; a reason that does not raise it, but is above Read, becomes a note.
    pub(crate) fn raise(&mut self, level: Level, reason: impl Into<String>) {
        let reason = reason.into();
        self.beside = self.beside.max(level);
        if level > self.level {
            let before = std::mem::replace(&mut self.reason, reason);
            if self.level > Level::Read {
                self.note(NoteKind::Also, before);
            }
            self.level = level;
        } else if level > Level::Read && reason != self.reason {
            self.note(NoteKind::Also, reason);
        }
    }

    /// Takes over what a part of the text can do.
    pub(crate) fn include(&mut self, part: Self) {
        self.raise(part.level, part.reason);
        if part.allow.is_some() && part.level == self.level {
            self.allow = part.allow;
        }
        for note in part.notes {
            self.note(note.kind, note.text);
        }
    }

    /// Adds a note once; only the first few are worth their room.
    pub(crate) fn note(&mut self, kind: NoteKind, text: impl Into<String>) {
        const MOST: usize = 12;
        let note = Note {
            kind,
            text: text.into(),
        };
        if self.notes.len() < MOST && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Notes a number without a mark that looks decimal; the first one stands for all.
    pub(crate) fn hex_number(&mut self, digits: &[u8]) {
        const LONGEST: usize = 20;
        if self.notes.iter().any(|note| note.kind == NoteKind::HexNumber) {
            return;
        }
        let shown = match digits.get(..LONGEST) {
            Some(head) => format!("{}…", String::from_utf8_lossy(head)),
            None => String::from_utf8_lossy(digits).into_owned(),
        };
        let example = if digits.is_empty() {
            String::new()
        } else {
            format!("`{shown}` is read as 0x{shown}: ")
        };
        self.note(
            NoteKind::HexNumber,
            format!(
                "{example}numbers without a mark are hexadecimal; write 0n before a decimal one and \
                 0x before a hexadecimal one"
            ),
        );
    }

    /// Whether it can hold up cores or the session.
    pub fn may_stall(&self) -> bool {
        self.notes.iter().any(|note| note.kind == NoteKind::MayStall)
    }
}
