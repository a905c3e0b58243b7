//! A system without shared memory for the tail.

use std::io;
use std::os::fd::OwnedFd;

/// There is none.
pub(in crate::engine) enum Tail {}

impl Tail {
    pub(in crate::engine) fn write(&mut self, _text: &[u8]) {
        match *self {}
    }
}

/// Knows of no text that did not arrive.
#[derive(Debug)]
pub(crate) struct TailReader;

impl TailReader {
    pub(crate) fn create() -> io::Result<(Self, Option<OwnedFd>)> {
        Ok((Self, None))
    }

    pub(crate) fn unseen(&self, _received: u64) -> (u64, Vec<u8>) {
        (0, Vec::new())
    }
}
