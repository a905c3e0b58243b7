//! The last text of a worker, in memory that outlives it: what a library printed just before it crashed.
//!
//! Text is sent in batches, so a crash can take some of it along. On Linux the callback also copies every byte into a
//! ring that the supervisor holds too; comparing counters tells which bytes never arrived. Elsewhere there is none.

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use none as system;

pub(super) use system::Tail;
pub(crate) use system::TailReader;

#[cfg(not(target_os = "linux"))]
mod none {
    use std::io;

    /// There is none.
    pub(in crate::engine) enum Tail {}

    impl Tail {
        #[cfg(unix)]
        pub(in crate::engine) fn open(_ring: std::os::fd::OwnedFd) -> io::Result<Self> {
            Err(io::Error::from(io::ErrorKind::Unsupported))
        }

        pub(in crate::engine) fn write(&mut self, _text: &[u8]) {
            match *self {}
        }
    }

    /// Knows of no text that did not arrive.
    #[derive(Debug)]
    pub(crate) struct TailReader;

    #[cfg(unix)]
    type Ring = std::os::fd::OwnedFd;
    #[cfg(not(unix))]
    type Ring = std::convert::Infallible;

    impl TailReader {
        pub(crate) fn create() -> io::Result<(Self, Option<Ring>)> {
            Ok((Self, None))
        }

        pub(crate) fn unseen(&self, _received: u64) -> (u64, Vec<u8>) {
            (0, Vec::new())
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io;
    use std::num::NonZeroUsize;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::FileExt;
    use std::ptr::NonNull;
    use std::sync::atomic::{AtomicU64, Ordering};

    use nix::sys::memfd::{MFdFlags, memfd_create};
    use nix::sys::mman::{MapFlags, ProtFlags, mmap};

    /// Starts with the number of bytes ever written; the ring follows.
    const HEADER: usize = 64;
    const RING: usize = 64 << 10;
    const SIZE: NonZeroUsize = NonZeroUsize::new(HEADER + RING).unwrap();

    /// The worker's end.
    pub(in crate::engine) struct Tail {
        base: NonNull<u8>,
        written: u64,
    }

    // SAFETY: the mapping belongs to this value alone within the process and is not bound to a thread.
    unsafe impl Send for Tail {}

    impl Tail {
        /// Maps the ring that the supervisor made.
        pub(in crate::engine) fn open(ring: OwnedFd) -> io::Result<Self> {
            let ring = File::from(ring);
            if ring.metadata()?.len() != SIZE.get() as u64 {
                return Err(io::Error::other("the tail has another size"));
            }
            // SAFETY: a fresh mapping at an address of the kernel's choice, of a file that is long enough and whose
            // other end only reads.
            let base = unsafe {
                mmap(
                    None,
                    SIZE,
                    ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
                    MapFlags::MAP_SHARED,
                    &ring,
                    0,
                )?
            };
            Ok(Self {
                base: base.cast(),
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
            // mapping, which lives as long as the process; `text` is not part of it. The counter is aligned (a mapping
            // starts at a page).
            unsafe {
                let ring = self.base.add(HEADER);
                ring.add(position)
                    .copy_from_nonoverlapping(NonNull::from(kept).cast(), first);
                ring.copy_from_nonoverlapping(NonNull::from(&kept[first..]).cast(), kept.len() - first);
                self.base
                    .cast::<AtomicU64>()
                    .as_ref()
                    .store(self.written, Ordering::Release);
            }
        }
    }

    /// The supervisor's end.
    #[derive(Debug)]
    pub(crate) struct TailReader(File);

    impl TailReader {
        /// A fresh ring, and the descriptor to hand to the worker.
        pub(crate) fn create() -> io::Result<(Self, Option<OwnedFd>)> {
            let file = File::from(memfd_create(c"hyperdbg-text-tail", MFdFlags::MFD_CLOEXEC)?);
            file.set_len(SIZE.get() as u64)?;
            let theirs = file.try_clone()?.into();
            Ok((Self(file), Some(theirs)))
        }

        /// What was written after the first `received` bytes, as far as the ring still holds it, and how much it does
        /// not. To be read when the worker is gone.
        pub(crate) fn unseen(&self, received: u64) -> (u64, Vec<u8>) {
            let mut header = [0; 8];
            let mut ring = vec![0; RING];
            if self.0.read_exact_at(&mut header, 0).is_err()
                || self.0.read_exact_at(&mut ring, HEADER as u64).is_err()
            {
                return (0, Vec::new());
            }
            let written = u64::from_ne_bytes(header);
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
}
