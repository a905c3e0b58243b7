//! Reads a range in the pieces that the library can take, around what cannot be read.

use crate::composite::calls::{self, Place};
use crate::engine::Engine;
use crate::tier::{Permits, Read};
use crate::tool::{Category, Cx, ToolError};

/// A debuggee answers at most 81,844 bytes; more overruns its buffer and is never answered.
const DEBUGGER_PIECE: u64 = 64 << 10;
/// Locally only the first page of a request is translated for another process.
const PAGE: u64 = 4 << 10;

/// A readable part.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::composite) struct Part {
    pub(in crate::composite) address: u64,
    pub(in crate::composite) bytes: Vec<u8>,
}

/// A part that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::composite) struct Hole {
    pub(in crate::composite) address: u64,
    pub(in crate::composite) size: u32,
}

/// A range as far as it can be read, in ascending order.
#[derive(Debug, Default)]
pub(in crate::composite) struct Parts {
    pub(in crate::composite) parts: Vec<Part>,
    pub(in crate::composite) holes: Vec<Hole>,
    /// What the library said of the first hole.
    pub(in crate::composite) failure: Option<ToolError>,
}

impl Parts {
    /// Bytes that could be read.
    pub(in crate::composite) fn len(&self) -> u32 {
        self.parts
            .iter()
            .map(|part| u32::try_from(part.bytes.len()).unwrap_or(u32::MAX))
            .sum()
    }

    /// The readable bytes without what lies between them.
    pub(in crate::composite) fn joined(self) -> Vec<u8> {
        self.parts.into_iter().flat_map(|part| part.bytes).collect()
    }

    fn readable(&mut self, address: u64, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        match self.parts.last_mut() {
            Some(last) if last.address.wrapping_add(last.bytes.len() as u64) == address => {
                last.bytes.extend(bytes);
            }
            _ => self.parts.push(Part { address, bytes }),
        }
    }

    fn hole(&mut self, address: u64, size: u64) {
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        match self.holes.last_mut() {
            Some(last) if last.address.wrapping_add(last.size.into()) == address => last.size += size,
            _ => self.holes.push(Hole { address, size }),
        }
    }
}

/// What can be read of `size` bytes at `place`. An error that is no hole ends the read.
pub(in crate::composite) async fn read<T: Permits<Read>>(
    cx: &Cx<T>,
    place: Place,
    size: u32,
) -> Result<Parts, ToolError> {
    let engine = cx.engine().await?;
    let whole = cx.connection().await?.is_debugger();
    let piece = if whole { DEBUGGER_PIECE } else { PAGE };
    let mut parts = Parts::default();
    for (address, size) in pieces(place.address, size.into(), piece) {
        let complete = read_piece(
            &engine,
            Place { address, ..place },
            size,
            &mut parts,
            address % PAGE + size <= PAGE,
        )
        .await?;
        if !complete {
            // Page by page, to find what of the piece is there.
            for (address, size) in pieces(address, size, PAGE) {
                read_piece(&engine, Place { address, ..place }, size, &mut parts, true).await?;
            }
        }
    }
    Ok(parts)
}

/// Reads one piece. Says whether that settles it; one that is not `last` leaves a failure to smaller pieces.
async fn read_piece<T: Permits<Read>>(
    engine: &Engine<T>,
    place: Place,
    size: u64,
    parts: &mut Parts,
    last: bool,
) -> Result<bool, ToolError> {
    let wanted = u32::try_from(size).unwrap_or(u32::MAX);
    match calls::read_memory(engine, place, wanted).await {
        Ok(bytes) if bytes.len() as u64 == size => parts.readable(place.address, bytes),
        Ok(_) if !last => return Ok(false),
        Ok(bytes) => {
            let read = bytes.len() as u64;
            parts.readable(place.address, bytes);
            parts.hole(place.address + read, size - read);
        }
        Err(error) if error.category == Category::Unreadable => {
            if !last {
                return Ok(false);
            }
            parts.hole(place.address, size);
            parts.failure.get_or_insert(error);
        }
        Err(error) => return Err(error),
    }
    Ok(true)
}

/// A range cut at every multiple of `piece`.
fn pieces(address: u64, size: u64, piece: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        (at < size).then(|| {
            let start = address.wrapping_add(at);
            let length = (piece - start % piece).min(size - at);
            at += length;
            (start, length)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_their_multiples_and_cover_the_range() {
        let cut: Vec<_> = pieces(0x1ff0, 0x1020, 0x1000).collect();
        assert_eq!(cut, [(0x1ff0, 0x10), (0x2000, 0x1000), (0x3000, 0x10)]);
        assert_eq!(pieces(0x1000, 0, 0x1000).count(), 0);
        assert_eq!(pieces(u64::MAX, 1, 0x1000).collect::<Vec<_>>(), [(u64::MAX, 1)]);
    }

    #[test]
    fn neighbours_join() {
        let mut parts = Parts::default();
        parts.readable(0x1000, vec![1, 2]);
        parts.readable(0x1002, vec![3]);
        parts.hole(0x1003, 5);
        parts.hole(0x1008, 8);
        parts.readable(0x1010, vec![4]);
        assert_eq!(parts.parts.len(), 2);
        assert_eq!(
            parts.holes,
            [Hole {
                address: 0x1003,
                size: 13
            }]
        );
        assert_eq!((parts.len(), parts.joined()), (4, vec![1, 2, 3, 4]));
    }
}
