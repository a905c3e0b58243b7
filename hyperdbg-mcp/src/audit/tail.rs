//! The end of a log file, as the next writer finds it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::chain::{Line, open, sha256};

/// Bytes from the end that are looked at.
const WINDOW: u64 = 1 << 20;

/// Bytes after the last whole line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Torn {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// The end of a log file.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail {
    pub(super) size: u64,
    /// The last line that fits its own hash.
    pub(super) last: Option<Line>,
    pub(super) torn: Option<Torn>,
    /// Intents without an outcome in the last run.
    pub(super) unfinished: Vec<u64>,
}

impl Tail {
    pub(super) fn read(file: &mut File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        let from = size.saturating_sub(WINDOW);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(WINDOW).read_to_end(&mut bytes)?;
        Ok(Self::of(&bytes, from))
    }

    /// The end of a log whose bytes from offset `from` on are `bytes`.
    fn of(bytes: &[u8], from: u64) -> Self {
        let mut tail = Self {
            size: from + bytes.len() as u64,
            ..Self::default()
        };
        let mut unfinished = BTreeSet::new();
        let (mut at, mut whole) = (0, 0);
        while let Some(length) = bytes[at..].iter().position(|byte| *byte == b'\n') {
            let end = at + length + 1;
            if let Ok(line) = open(&bytes[at..end - 1]) {
                match line.kind() {
                    "start" => unfinished.clear(),
                    "intent" => {
                        unfinished.insert(line.seq);
                    }
                    "outcome" => {
                        unfinished.remove(&line.number("intent").unwrap_or_default());
                    }
                    _ => {}
                }
                tail.last = Some(line);
                whole = end;
            }
            at = end;
        }
        // Without a whole line in sight, nothing can be said of where the torn part begins.
        if whole == 0 && from > 0 {
            whole = bytes.len();
        }
        if whole < bytes.len() {
            tail.torn = Some(Torn {
                offset: from + whole as u64,
                bytes: (bytes.len() - whole) as u64,
                sha256: sha256(&bytes[whole..]),
            });
        }
        tail.unfinished = unfinished.into_iter().collect();
        tail
    }
}
