//! The texts of the files, and places in them.

use crate::diagnostic::Span;

/// The files that were read, in the order of their paths.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<(String, String)>,
}

/// A stretch of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub(super) file: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A value with the place where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// The place.
    pub place: Place,
}

impl<T> At<T> {
    /// `value` at `place`.
    pub fn new(value: T, place: Place) -> Self {
        Self { value, place }
    }
}

impl Sources {
    /// Adds a file and returns its number.
    pub(super) fn add(&mut self, path: String, text: String) -> usize {
        self.files.push((path, text));
        self.files.len() - 1
    }

    /// The text of a file.
    pub(super) fn text(&self, file: usize) -> &str {
        self.files.get(file).map_or("", |(_, text)| text)
    }

    /// Path of a file as shown.
    pub fn path(&self, file: usize) -> &str {
        self.files.get(file).map_or("", |(path, _)| path)
    }

    /// Path of the file that `place` is in.
    pub fn path_of(&self, place: Place) -> &str {
        self.path(place.file)
    }

    /// The text of the file that `place` is in.
    pub fn text_of(&self, place: Place) -> &str {
        self.text(place.file)
    }

    /// The place as a diagnostic shows it.
    pub fn span(&self, place: Place) -> Span {
        Span::of(
            self.path(place.file),
            self.text(place.file),
            place.start,
            place.end.saturating_sub(place.start),
        )
    }
}
