//! The text of one call, bounded: its beginning and its end survive, because a refusal or a stop is said last.

use std::collections::VecDeque;

use crate::output::Untrusted;

/// Text that keeps three quarters of its bound from the start and one quarter from the end.
#[derive(Debug)]
pub(super) struct CallText {
    head: Vec<u8>,
    head_bound: usize,
    tail: VecDeque<u8>,
    tail_bound: usize,
    lost: u64,
}

impl CallText {
    pub(super) fn new(bound: usize) -> Self {
        Self {
            head: Vec::new(),
            head_bound: bound - bound / 4,
            tail: VecDeque::new(),
            tail_bound: bound / 4,
            lost: 0,
        }
    }

    /// Counts bytes that never arrived.
    pub(super) fn lose(&mut self, bytes: u64) {
        self.lost += bytes;
    }

    pub(super) fn push(&mut self, text: &[u8]) {
        let to_head = if self.tail.is_empty() {
            text.len().min(self.head_bound - self.head.len())
        } else {
            0
        };
        self.head.extend_from_slice(&text[..to_head]);
        let rest = &text[to_head..];
        let skipped = rest.len().saturating_sub(self.tail_bound);
        let kept = &rest[skipped..];
        let over = (self.tail.len() + kept.len()).saturating_sub(self.tail_bound);
        self.tail.drain(..over);
        self.tail.extend(kept);
        self.lost += (skipped + over) as u64;
    }

    /// The kept text and the number of bytes that are missing from its middle.
    pub(super) fn finish(mut self) -> (Untrusted, u64) {
        if self.head.is_empty() {
            return (Vec::from(self.tail).into(), self.lost);
        }
        self.head.extend(self.tail);
        (self.head.into(), self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_within_the_bound_is_whole() {
        let mut text = CallText::new(8);
        for piece in ["ab", "cde", "", "fgh"] {
            text.push(piece.as_bytes());
        }
        assert_eq!(text.finish(), (Untrusted::new(*b"abcdefgh"), 0));
    }

    #[test]
    fn beyond_the_bound_the_beginning_and_the_end_survive() {
        for size in [1, 3, 7, 26] {
            let mut text = CallText::new(8);
            for piece in b"abcdefghijklmnopqrstuvwxyz".chunks(size) {
                text.push(piece);
            }
            text.lose(5);
            assert_eq!(
                text.finish(),
                (Untrusted::new(*b"abcdefyz"), 18 + 5),
                "pieces of {size}"
            );
        }
    }
}
