//! Keeps what did not fit in a page, so that it can be read on.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::audit::Masker;

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
    masker: OnceLock<Masker>,
}

#[derive(Debug, Default)]
struct Kept {
    next_id: u64,
    bytes: usize,
    outputs: VecDeque<(u64, Arc<str>)>,
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
            masker: OnceLock::new(),
        }
    }

    /// From now on secrets are masked before anything is cut, kept or searched: a cut would hide half of one from the
    /// masker of results, and a search could guess at it.
    pub fn mask(&self, masker: Masker) {
        let _ = self.masker.set(masker);
    }

    /// `text` without secrets.
    pub(super) fn masked(&self, text: String) -> String {
        match self.masker.get().map(|masker| masker.mask(&text)) {
            Some(Cow::Owned(masked)) => masked,
            _ => text,
        }
    }

    /// Keeps an escaped and masked text and names it.
    pub(crate) fn keep(&self, text: String) -> String {
        let mut kept = self.lock();
        kept.next_id += 1;
        let id = kept.next_id;
        kept.bytes += text.len();
        kept.outputs.push_back((id, text.into()));
        while kept.bytes > self.max_bytes && kept.outputs.len() > 1 {
            if let Some((_, dropped)) = kept.outputs.pop_front() {
                kept.bytes -= dropped.len();
            }
        }
        format!("out-{id}")
    }

    /// The whole output `id`.
    pub fn whole(&self, id: &str) -> Result<Arc<str>, NotKept> {
        let number = number(id).ok_or(NotKept::Unknown)?;
        let kept = self.lock();
        match kept.outputs.iter().find(|(id, _)| *id == number) {
            Some((_, text)) => Ok(Arc::clone(text)),
            None if (1..=kept.next_id).contains(&number) => Err(NotKept::Dropped),
            None => Err(NotKept::Unknown),
        }
    }

    /// A part of the output `id` of at most `limit` bytes, from `offset` on.
    pub fn page(&self, id: &str, offset: usize, limit: usize) -> Result<Page, NotKept> {
        let text = self.whole(id)?;
        let start = text.floor_char_boundary(offset.min(text.len()));
        let end = cut(&text[start..], limit) + start;
        Ok(Page {
            text: text[start..end].to_owned(),
            offset: start,
            next_offset: (end < text.len()).then_some(end),
            total: text.len(),
        })
    }

    /// Ids and lengths of at most `limit` kept outputs, the newest first; only those older than `before`, where it is
    /// given. None where `before` is no id.
    pub fn listed(&self, before: Option<&str>, limit: usize) -> Option<Vec<(String, usize)>> {
        let before = match before {
            Some(id) => number(id)?,
            None => u64::MAX,
        };
        let kept = self.lock();
        let older = kept.outputs.iter().rev().filter(|(id, _)| *id < before);
        Some(
            older
                .take(limit)
                .map(|(id, text)| (format!("out-{id}"), text.len()))
                .collect(),
        )
    }

    /// The numbers of the oldest and the newest kept output: the list has changed when they have.
    pub fn span(&self) -> Option<(u64, u64)> {
        let kept = self.lock();
        let (oldest, newest) = (kept.outputs.front()?, kept.outputs.back()?);
        Some((oldest.0, newest.0))
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number in an id, where it is written as the store writes it.
fn number(id: &str) -> Option<u64> {
    let digits = id.strip_prefix("out-")?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    plain.then(|| digits.parse().ok()).flatten()
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
        for unknown in [
            "x",
            "out-",
            "out-0",
            "out-+2",
            "out-02",
            "out-2 ",
            "out-99999999999999999999",
        ] {
            assert_eq!(store.page(unknown, 0, 10), Err(NotKept::Unknown), "{unknown}");
        }
    }

    #[test]
    fn the_list_names_what_is_kept_newest_first_and_goes_on() {
        let store = OutputStore::new(100);
        assert_eq!((store.listed(None, 10), store.span()), (Some(vec![]), None));
        for length in [90, 10, 20, 30] {
            store.keep("a".repeat(length));
        }
        let named = |number: u64, length: usize| (format!("out-{number}"), length);
        assert_eq!(store.listed(None, 2), Some(vec![named(4, 30), named(3, 20)]));
        assert_eq!(store.listed(Some("out-3"), 2), Some(vec![named(2, 10)]));
        assert_eq!(store.listed(Some("3"), 2), None);
        assert_eq!(store.span(), Some((2, 4)));
    }

    #[test]
    fn a_cut_makes_progress_even_below_one_character() {
        assert_eq!(cut("üü", 1), 2);
        assert_eq!(cut("ab\ncd", 4), 3);
        assert_eq!(cut("", 0), 0);
    }
}
