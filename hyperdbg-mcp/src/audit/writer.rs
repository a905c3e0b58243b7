//! The one writer of a log: a lock, lines, the head file, rotation.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::json;

use super::access::{make_private_folder, open_private};
use super::chain::seal;
use super::head::{Found, Head, HeadFile};
use super::place::beside;
use super::record::{Fields, fields};
use super::recovery::resume;
use super::tail::Tail;

/// Size at which a log file is closed and the next one begun.
pub const DEFAULT_MAX_BYTES: u64 = 64 << 20;

/// Why a log cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server writes it.
    #[error("another server writes it")]
    Locked,
    /// The system refuses.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The writer of one log.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    file: File,
    head: HeadFile,
    /// Held as long as the writer lives.
    _lock: File,
    seq: u64,
    hash: String,
    size: u64,
    max_bytes: u64,
}

impl Writer {
    /// Opens the log at `path` for this process alone, and takes up its chain.
    pub(super) fn open(path: &Path, max_bytes: u64) -> Result<Self, OpenError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_private_folder(folder)?;
        }
        let lock = open_private(&beside(path, "lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::Locked),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let mut file = open_private(path)?;
        let (head, found) = HeadFile::open(&beside(path, "head"))?;
        let mut tail = Tail::read(&mut file)?;
        let mut continues = None;
        if tail.size == 0 && found != Found::Missing {
            // Who was killed while it began a new file left the chain's end in the last one.
            if let Some(number) = rotated(path).last() {
                continues = Some(*number);
                tail = Tail::read(&mut File::open(beside(path, &number.to_string()))?)?;
                tail.size = 0;
                tail.torn = None;
            }
        }
        let is_rotated = tail.last.as_ref().is_some_and(|line| line.kind() == "rotated");
        let resumed = resume(&tail, &found);
        let mut writer = Self {
            path: path.to_owned(),
            file,
            head,
            _lock: lock,
            seq: resumed.seq,
            hash: resumed.hash,
            size: tail.size,
            max_bytes,
        };
        match continues {
            Some(number) => writer.write_continued(number)?,
            None if is_rotated && tail.torn.is_none() => writer.begin_next_file()?,
            None => {}
        }
        if let Some(record) = resumed.record {
            writer.write(record, tail.torn.is_some())?;
        }
        Ok(writer)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record; gives back its sequence number.
    pub(super) fn append(&mut self, record: Fields) -> io::Result<u64> {
        if self.size >= self.max_bytes {
            self.rotate()?;
        }
        self.write(record, false)
    }

    /// Makes what was written survive the machine.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn write(&mut self, mut record: Fields, after_torn: bool) -> io::Result<u64> {
        let seq = self.seq + 1;
        record.insert("seq".to_owned(), seq.into());
        record.insert("time".to_owned(), format!("{:.6}", Timestamp::now()).into());
        let (line, hash) = seal(record, &self.hash);
        let mut bytes = Vec::with_capacity(line.len() + 2);
        if after_torn {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        self.head.write(&Head {
            seq: self.seq,
            hash: self.hash.clone(),
            next: Some(hash.clone()),
        })?;
        self.file.seek(SeekFrom::Start(self.size))?;
        if let Err(error) = self.file.write_all(&bytes) {
            // What was written of it must not stand before the next line.
            let _ = self.file.set_len(self.size);
            return Err(error);
        }
        self.size += bytes.len() as u64;
        self.seq = seq;
        self.hash = hash;
        self.head.write(&Head {
            seq,
            hash: self.hash.clone(),
            next: None,
        })?;
        Ok(seq)
    }

    fn rotate(&mut self) -> io::Result<()> {
        let next = rotated(&self.path).last().map_or(1, |last| last + 1);
        let name = file_name(&beside(&self.path, &next.to_string()));
        self.write(fields(json!({"kind": "rotated", "to": name})), false)?;
        self.begin_next_file()
    }

    /// Moves the full file away and begins the next.
    fn begin_next_file(&mut self) -> io::Result<()> {
        let number = rotated(&self.path).last().map_or(1, |last| last + 1);
        fs::rename(&self.path, beside(&self.path, &number.to_string()))?;
        self.file = open_private(&self.path)?;
        self.size = 0;
        self.write_continued(number)
    }

    fn write_continued(&mut self, number: u32) -> io::Result<()> {
        let name = file_name(&beside(&self.path, &number.to_string()));
        self.write(fields(json!({"kind": "continued", "from": name})), false)?;
        Ok(())
    }
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The numbers of the closed files of the log at `path`, in ascending order.
pub(super) fn rotated(path: &Path) -> Vec<u32> {
    let prefix = format!("{}.", file_name(path));
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut numbers: Vec<u32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix(&prefix)?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers
}
