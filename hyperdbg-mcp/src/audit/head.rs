//! The head file: where the chain ends, so that a cut or lengthened log is seen.
//!
//! It is written before a line (naming the line to come) and after it. A server that is killed between leaves a head
//! that fits the log with and without that one line.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::access::open_private;

/// Bytes of a head file; the text is filled up with spaces.
const LENGTH: usize = 320;

/// The end of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// Sequence number of the last line.
    pub(super) seq: u64,
    /// Its hash.
    pub(super) hash: String,
    /// Hash of the line that was about to be written.
    pub(super) next: Option<String>,
}

/// What a head file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// There is none, or it is empty: the log was never written.
    Missing,
    /// It cannot be understood.
    Damaged,
    /// This.
    Head(Head),
}

impl Found {
    /// Reads the head file at `path`.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        match File::open(path) {
            Ok(mut file) => read(&mut file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::Missing),
            Err(error) => Err(error),
        }
    }
}

/// The head file of a writer.
#[derive(Debug)]
pub(super) struct HeadFile(File);

impl HeadFile {
    pub(super) fn open(path: &Path) -> io::Result<(Self, Found)> {
        let mut file = open_private(path)?;
        let found = read(&mut file)?;
        Ok((Self(file), found))
    }

    pub(super) fn write(&mut self, head: &Head) -> io::Result<()> {
        let mut text = serde_json::to_vec(head)?;
        text.resize(LENGTH - 1, b' ');
        text.push(b'\n');
        // One write of a fixed length: who is killed leaves the old or the new text.
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(&text)
    }
}

fn read(file: &mut File) -> io::Result<Found> {
    let mut text = Vec::new();
    file.take(4_096).read_to_end(&mut text)?;
    if text.trim_ascii().is_empty() {
        return Ok(Found::Missing);
    }
    Ok(serde_json::from_slice(&text).map_or(Found::Damaged, Found::Head))
}
