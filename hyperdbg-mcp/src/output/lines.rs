//! The lines of a kept text that a filter lets through, page by page.

use std::fmt::Write;
use std::time::Instant;

use super::Filter;
use super::store::cut;

/// Longer lines count as several, so that no search takes long before it can be broken off.
const LONGEST: usize = 16 << 10;
/// Bytes that are searched between two looks at the clock.
const STRIDE: usize = 64 << 10;

/// A page of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// Each line as `NUMBER@OFFSET: TEXT`; both count in the whole text, lines from 1.
    pub text: String,
    /// How many lines there are.
    pub count: usize,
    /// Where the search began: at a line's first byte.
    pub offset: usize,
    /// Where to search on; absent at the end.
    pub next_offset: Option<usize>,
    /// Offset of the line that did not fit in a page of its own and was cut.
    pub cut_at: Option<usize>,
}

/// The lines of `text` from `offset` on that `filter` lets through, in at most `limit` bytes (one line at least,
/// cut where it must be), as far as the search comes until `until`. An offset within a line means that line. With the
/// `next_offset` of each page, every line that the filter lets through is there once.
pub fn lines(text: &str, offset: usize, limit: usize, filter: &Filter, until: Instant) -> Lines {
    search(text, offset, limit, filter, until, LONGEST)
}

fn search(text: &str, offset: usize, limit: usize, filter: &Filter, until: Instant, longest: usize) -> Lines {
    let mut pieces = Pieces::new(text, offset, longest);
    let mut page = Lines {
        text: String::new(),
        count: 0,
        offset: pieces.at,
        next_offset: None,
        cut_at: None,
    };
    let mut looked_at = pieces.at;
    while let Some(piece) = pieces.next() {
        if filter.finds(piece.text) {
            let head = format!("{}@{}: ", piece.number, piece.offset);
            let room = limit.saturating_sub(page.text.len());
            let fits = head.len() + piece.text.len() < room;
            if !fits && page.count > 0 {
                page.next_offset = Some(piece.offset);
                return page;
            }
            let mut shown = piece.text;
            if !fits {
                shown = &shown[..cut(shown, room.saturating_sub(head.len() + 1))];
                page.cut_at = (shown.len() < piece.text.len()).then_some(piece.offset);
            }
            let _ = writeln!(page.text, "{head}{shown}");
            page.count += 1;
        }
        if pieces.at - looked_at >= STRIDE.min(longest) && pieces.at < text.len() {
            looked_at = pieces.at;
            if Instant::now() >= until {
                page.next_offset = Some(pieces.at);
                return page;
            }
        }
    }
    page
}

struct Piece<'a> {
    number: usize,
    offset: usize,
    text: &'a str,
}

/// A text cut at its newlines, and a long line at fixed distances from its beginning, wherever the search begins.
struct Pieces<'a> {
    text: &'a str,
    longest: usize,
    number: usize,
    /// Where the line of the next piece begins.
    line: usize,
    /// Pieces of that line before the next one.
    part: usize,
    /// Where the next piece begins.
    at: usize,
}

impl<'a> Pieces<'a> {
    /// Those from the one on that `offset` lies in.
    fn new(text: &'a str, offset: usize, longest: usize) -> Self {
        let offset = text.floor_char_boundary(offset.min(text.len()));
        let line = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        let mut pieces = Self {
            text,
            longest,
            number: 1 + text[..line].bytes().filter(|byte| *byte == b'\n').count(),
            line,
            part: 0,
            at: line,
        };
        let mut part = (offset - line) / longest;
        // The next one may begin up to a character early; none begins at the newline.
        part += usize::from(pieces.begin_of(part + 1) <= offset);
        if text[pieces.begin_of(part)..].starts_with('\n') {
            part = part.saturating_sub(1);
        }
        pieces.part = part;
        pieces.at = pieces.begin_of(part);
        pieces
    }

    /// Where a part of the line begins, if the line is that long.
    fn begin_of(&self, part: usize) -> usize {
        let nominal = self.line.saturating_add(part.saturating_mul(self.longest));
        self.text.floor_char_boundary(nominal.min(self.text.len()))
    }

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.at >= self.text.len() {
            return None;
        }
        let most = self.begin_of(self.part + 1);
        let newline = self.text[self.at..most].find('\n');
        let end = newline.map_or(most, |newline| self.at + newline);
        let piece = Piece {
            number: self.number,
            offset: self.at,
            text: &self.text[self.at..end],
        };
        self.at = end;
        self.part += 1;
        if self.text[end..].starts_with('\n') {
            self.at += 1;
            self.line = self.at;
            self.part = 0;
            self.number += 1;
        }
        Some(piece)
    }
}

#[cfg(test)]
#[path = "lines/tests.rs"]
mod tests;
