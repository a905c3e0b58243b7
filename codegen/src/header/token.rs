//! The units that the lexer makes and everything after it reads.

use std::rc::Rc;

/// A place in one of the files of [`Sources`](super::source::Sources).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Loc {
    /// Index of the file.
    pub(crate) file: u32,
    /// Byte offset in its text.
    pub(crate) offset: u32,
    /// Length in bytes.
    pub(crate) len: u32,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Identifier or keyword.
    Word,
    /// Preprocessing number: its value is read only where it is used.
    Number,
    /// Character constant with its quotes and prefix.
    Char,
    /// String literal with its quotes and prefix.
    Str,
    /// Operator or punctuation.
    Punct,
    /// Something that is no token; an error only where it is used, because skipped groups may hold prose.
    Bad(&'static str),
    /// A `#pragma pack` line.
    Pack(Pack),
    /// A visibility macro that is kept by name.
    Marker,
    /// End of the input.
    End,
}

/// What a `#pragma pack` line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pack {
    /// Remember the value in force, and set another one where it is given.
    Push(Option<u64>),
    /// Return to the value that was remembered last.
    Pop,
    /// Set the value.
    Set(u64),
    /// Return to the compiler's default.
    Reset,
}

/// One token.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Kind,
    /// Its spelling without line continuations.
    pub(crate) text: Rc<str>,
    /// Where it stands; for a token of a macro's body, where the outermost macro is used.
    pub(crate) loc: Loc,
    /// Whether it is the first token of its line.
    pub(crate) line_start: bool,
    /// Whether white space stands before it.
    pub(crate) spaced: bool,
    /// Macros that must not be expanded in it again.
    pub(crate) hidden: Hidden,
    /// The outermost macro that it comes from.
    pub(crate) from: Option<Rc<str>>,
}

impl Token {
    /// Whether it is the punctuation or word `text`.
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Punct | Kind::Word) && &*self.text == text
    }

    /// How it is called in a message.
    pub(crate) fn describe(&self) -> String {
        match self.kind {
            Kind::End => "end of input".to_owned(),
            Kind::Pack(_) => "`#pragma pack`".to_owned(),
            _ => format!("`{}`", shorten(&self.text)),
        }
    }
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_owned();
    }
    let head: String = text.chars().take(37).collect();
    format!("{head}...")
}

/// A set of macro names, shared between the tokens of one expansion.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hidden(Option<Rc<Node>>);

#[derive(Debug)]
struct Node {
    name: Rc<str>,
    depth: u32,
    next: Hidden,
}

impl Hidden {
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names().any(|one| &**one == name)
    }

    /// Number of names.
    pub(crate) fn depth(&self) -> u32 {
        self.0.as_ref().map_or(0, |node| node.depth)
    }

    #[must_use]
    pub(crate) fn with(&self, name: &Rc<str>) -> Self {
        if self.contains(name) {
            return self.clone();
        }
        Self(Some(Rc::new(Node {
            name: Rc::clone(name),
            depth: self.depth() + 1,
            next: self.clone(),
        })))
    }

    #[must_use]
    pub(crate) fn union(&self, other: &Self) -> Self {
        if self.0.is_none() {
            return other.clone();
        }
        other.names().fold(self.clone(), |set, name| set.with(name))
    }

    #[must_use]
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.names()
            .filter(|name| other.contains(name))
            .fold(Self::default(), |set, name| set.with(name))
    }

    fn names(&self) -> impl Iterator<Item = &Rc<str>> {
        let mut at = self;
        std::iter::from_fn(move || {
            let node = at.0.as_deref()?;
            at = &node.next;
            Some(&node.name)
        })
    }
}
