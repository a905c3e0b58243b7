//! The ring: a counter of all bytes ever written, then the newest of them.

use std::io;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use super::system::{Key, Memory};

/// Starts with the number of bytes ever written; the ring follows.
const HEADER: usize = 64;
const RING: usize = 64 << 10;
const SIZE: NonZeroUsize = NonZeroUsize::new(HEADER + RING).unwrap();

/// The worker's end.
pub(in crate::engine) struct Tail {
    memory: Memory,
    written: u64,
}

// SAFETY: the mapping belongs to this value alone within the process and is not bound to a thread.
unsafe impl Send for Tail {}

impl Tail {
    /// Opens the ring that the supervisor made.
    pub(in crate::engine) fn open(key: Key) -> io::Result<Self> {
        Ok(Self {
            memory: Memory::open(key, SIZE)?,
            written: 0,
        })
    }

    pub(in crate::engine) fn write(&mut self, text: &[u8]) {
        let kept = &text[text.len().saturating_sub(RING)..];
        let position = self.written.wrapping_add((text.len() - kept.len()) as u64) % RING as u64;
        let position = usize::try_from(position).unwrap_or(0);
        let first = kept.len().min(RING - position);
        self.written = self.written.wrapping_add(text.len() as u64);
        // SAFETY: `position + first <= RING` and `kept.len() - first <= position`, so both copies stay inside the
        // mapping, which lives as long as this value; `text` is not part of it. The counter is aligned (a mapping
        // starts at a page).
        unsafe {
            let ring = self.memory.base.add(HEADER);
            ring.add(position)
                .copy_from_nonoverlapping(NonNull::from(kept).cast(), first);
            ring.copy_from_nonoverlapping(NonNull::from(&kept[first..]).cast(), kept.len() - first);
            self.memory
                .base
                .cast::<AtomicU64>()
                .as_ref()
                .store(self.written, Ordering::Release);
        }
    }
}

/// The supervisor's end.
#[derive(Debug)]
pub(crate) struct TailReader {
    memory: Memory,
}

// SAFETY: the mapping belongs to this value alone within the process and is not bound to a thread.
unsafe impl Send for TailReader {}

impl TailReader {
    /// A fresh ring, and what the worker needs to open it.
    pub(crate) fn create() -> io::Result<(Self, Option<Key>)> {
        let (memory, key) = Memory::create(SIZE)?;
        Ok((Self { memory }, Some(key)))
    }

    /// What was written after the first `received` bytes, as far as the ring still holds it, and how much it does
    /// not. To be read when the worker is gone.
    pub(crate) fn unseen(&self, received: u64) -> (u64, Vec<u8>) {
        let mut ring = vec![0; RING];
        // SAFETY: header and ring are inside the mapping, the counter is aligned, and the copy is no part of the
        // mapping. Should something still write to it, bytes are mixed up, which any value of a byte survives.
        let written = unsafe {
            let written = self
                .memory
                .base
                .cast::<AtomicU64>()
                .as_ref()
                .load(Ordering::Acquire);
            NonNull::from(ring.as_mut_slice())
                .cast()
                .copy_from_nonoverlapping(self.memory.base.add(HEADER), RING);
            written
        };
        let missing = written.saturating_sub(received);
        let kept = missing.min(RING as u64);
        let start = usize::try_from((written - kept) % RING as u64).unwrap_or(0);
        ring.rotate_left(start);
        ring.truncate(usize::try_from(kept).unwrap_or(RING));
        (missing - kept, ring)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_received_comes_back() {
        let (reader, theirs) = TailReader::create().unwrap();
        let mut tail = Tail::open(theirs.unwrap()).unwrap();
        assert_eq!(reader.unseen(0), (0, vec![]));
        tail.write(b"sent, ");
        tail.write(b"unsent");
        assert_eq!(reader.unseen(6), (0, b"unsent".to_vec()));
        assert_eq!(reader.unseen(12), (0, vec![]));
    }

    #[test]
    fn the_ring_wraps_and_says_what_it_could_not_keep() {
        let (reader, theirs) = TailReader::create().unwrap();
        let mut tail = Tail::open(theirs.unwrap()).unwrap();
        let all: Vec<u8> = (0u32..100_000).map(|n| (n % 251) as u8).collect();
        for piece in all.chunks(4355) {
            tail.write(piece);
        }
        assert_eq!(reader.unseen(99_000), (0, all[99_000..].to_vec()));
        let (lost, text) = reader.unseen(0);
        assert_eq!(
            (lost, text.as_slice()),
            ((all.len() - RING) as u64, &all[all.len() - RING..])
        );
        tail.write(&all);
        assert_eq!(reader.unseen(all.len() as u64).1, all[all.len() - RING..]);
    }
}
