//! Keeps what did not fit in a page, so that it can be read on.

use std::collections::VecDeque;
use std::sync::Mutex;

/// Part of a kept output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The escaped text of this part.
    pub text: String,
    /// Where the part begins, in bytes of the escaped text.
    pub offset: usize,
    /// Where the next part begins; absent at the end.
    pub next_offset: Option<usize>,
    /// Length of the whole.
    pub total: usize,
}

/// A bounded store: the oldest outputs go first.
#[derive(Debug)]
pub struct OutputStore {
    max_bytes: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    next_id: u64,
    bytes: usize,
    outputs: VecDeque<(u64, String)>,
}

/// Why an output cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotKept {
    /// It was there and has made room for newer ones.
    Dropped,
    /// No output ever had this id.
    Unknown,
}

impl Default for OutputStore {
    fn default() -> Self {
        Self::new(64 << 20)
    }
}

impl OutputStore {
    /// A store of at most `max_bytes`; the newest output is kept whatever its size.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            kept: Mutex::default(),
        }
    }

    /// Keeps an escaped text and names it.
    pub(crate) fn keep(&self, text: String) -> String {
        let mut kept = self
            .kept
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.next_id += 1;
        let id = kept.next_id;
        kept.bytes += text.len();
        kept.outputs.push_back((id, text));
        while kept.bytes > self.max_bytes && kept.outputs.len() > 1 {
            if let Some((_, dropped)) = kept.outputs.pop_front() {
                kept.bytes -= dropped.len();
            }
        }
        format!("out-{id}")
    }

    /// A part of the output `id` of at most `limit` bytes, from `offset` on.
    pub fn page(&self, id: &str, offset: usize, limit: usize) -> Result<Page, NotKept> {
        let number: u64 = id
            .strip_prefix("out-")
            .and_then(|number| number.parse().ok())
            .ok_or(NotKept::Unknown)?;
        let kept = self
            .kept
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some((_, text)) = kept.outputs.iter().find(|(id, _)| *id == number) else {
            return Err(if number >= 1 && number <= kept.next_id {
                NotKept::Dropped
            } else {
                NotKept::Unknown
            });
        };
        let start = text.floor_char_boundary(offset.min(text.len()));
        let end = cut(&text[start..], limit) + start;
        Ok(Page {
            text: text[start..end].to_owned(),
            offset: start,
            next_offset: (end < text.len()).then_some(end),
            total: text.len(),
        })
    }
}

/// Where to cut `text` so that at most `limit` bytes stay: after a line where one ends in the last part, never
/// inside a character, and never at 0 unless there is nothing.
pub(super) fn cut(text: &str, limit: usize) -> usize {
    if text.len() <= limit {
        return text.len();
    }
    let end = text.floor_char_boundary(limit);
    let end = match text[..end].rfind('\n') {
        Some(newline) if newline + 1 > end / 2 => newline + 1,
        _ => end,
    };
    if end == 0 {
        text.chars().next().map_or(0, char::len_utf8)
    } else {
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn following_the_cursor_gives_the_whole_once() {
        let store = OutputStore::new(1 << 20);
        let text: String = (0..500).map(|line| format!("line {line} ümlaut\n")).collect();
        let id = store.keep(text.clone());
        let mut read = String::new();
        let mut offset = Some(0);
        while let Some(at) = offset {
            let page = store.page(&id, at, 100).unwrap();
            assert!(page.text.len() <= 100 && !page.text.is_empty());
            assert_eq!((page.offset, page.total), (at, text.len()));
            read.push_str(&page.text);
            offset = page.next_offset;
        }
        assert_eq!(read, text);
    }

    #[test]
    fn the_oldest_makes_room_and_is_told_from_the_unknown() {
        let store = OutputStore::new(100);
        let first = store.keep("a".repeat(60));
        let second = store.keep("b".repeat(60));
        assert_eq!(store.page(&first, 0, 10), Err(NotKept::Dropped));
        assert!(store.page(&second, 0, 10).is_ok());
        assert_eq!(store.page("out-9", 0, 10), Err(NotKept::Unknown));
        assert_eq!(store.page("x", 0, 10), Err(NotKept::Unknown));
    }

    #[test]
    fn a_cut_makes_progress_even_below_one_character() {
        assert_eq!(cut("üü", 1), 2);
        assert_eq!(cut("ab\ncd", 4), 3);
        assert_eq!(cut("", 0), 0);
    }
}
