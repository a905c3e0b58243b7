//! What a server left in its targets when it ended without closing its sessions: noted while it runs, told by the next.
//!
//! One file per server, locked as long as the server lives and appended to whenever something changes. A file whose lock
//! is free belongs to a server that is gone: its last whole line says what was known then.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::audit::{make_private_folder, open_private};

/// Start and end of the files' names; the process id is between them.
const NAME: (&str, &str) = ("server-", ".jsonl");
/// A file is begun anew when it has grown to this.
const SIZE_BYTES: u64 = 256 << 10;
/// Of each found file at most this is read, in bytes.
const READ_BYTES: u64 = 1 << 20;
/// Of what a session had set so much is named.
const SET: usize = 32;
/// Of a text in a file so much is shown.
const CLEAN_CHARS: usize = 200;
/// Sessions that are told of, over all files.
const TOLD: usize = 8;

/// A session as far as its server knew it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Left {
    /// The session's id.
    pub(super) id: String,
    /// How it was connected.
    pub(super) target: String,
    /// What a person called it.
    pub(super) label: Option<String>,
    /// The observed run state.
    pub(super) state: String,
    /// What it had set in its target.
    pub(super) set: Vec<String>,
    /// How its worker ended, where that came by itself.
    #[serde(default)]
    pub(super) ended: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    at: String,
    sessions: Vec<Left>,
}

/// The notes of this server, and what it found of others.
#[derive(Debug, Default)]
pub struct Remains {
    notes: Option<Mutex<Notes>>,
    found: Vec<String>,
}

#[derive(Debug)]
struct Notes {
    file: File,
    path: PathBuf,
    last: Vec<Left>,
    broken: bool,
}

impl Remains {
    /// Begins to take notes in `folder`, and looks there for what ended servers left.
    ///
    /// # Errors
    /// The folder or the file cannot be made or locked.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        make_private_folder(folder)?;
        let found = collect(folder)?;
        let path = folder.join(format!("{}{}{}", NAME.0, std::process::id(), NAME.1));
        let file = open_private(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(io::Error::other("another server writes it")),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        file.set_len(0)?;
        let notes = Notes {
            file,
            path,
            last: Vec::new(),
            broken: false,
        };
        Ok(Self {
            notes: Some(Mutex::new(notes)),
            found,
        })
    }

    /// What earlier servers left, a sentence or more each.
    pub fn found(&self) -> &[String] {
        &self.found
    }

    /// Whether notes are taken.
    pub(super) fn is_noting(&self) -> bool {
        self.notes.is_some()
    }

    /// Notes the sessions as they are now.
    pub(super) fn note(&self, sessions: Vec<Left>) {
        let Some(notes) = &self.notes else { return };
        let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.last == sessions || notes.broken {
            return;
        }
        if let Err(error) = notes.write(&sessions) {
            tracing::warn!(%error, path = %notes.path.display(), "what sessions leave cannot be noted any more");
            notes.broken = true;
        }
        notes.last = sessions;
    }

    /// Ends the notes; where nothing is left, nothing is there to be told by the next server.
    pub(super) fn close(&self, left: Vec<Left>) {
        let nothing = left.is_empty();
        self.note(left);
        if nothing && let Some(notes) = &self.notes {
            let notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = fs::remove_file(&notes.path);
        }
    }
}

impl Notes {
    fn write(&mut self, sessions: &[Left]) -> io::Result<()> {
        if self.file.metadata()?.len() > SIZE_BYTES {
            self.file.set_len(0)?;
            self.file.rewind()?;
        }
        let line = Line {
            at: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            sessions: sessions.to_vec(),
        };
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        // In one piece, so that whoever is killed leaves whole lines and at most one torn one.
        self.file.write_all(&bytes)
    }
}

/// Takes what ended servers left: each is told once.
fn collect(folder: &Path) -> io::Result<Vec<String>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| pid_of(path).is_some())
        .collect();
    paths.sort();
    let mut told = Vec::new();
    for path in paths {
        let Ok(file) = File::options().read(true).append(true).open(&path) else {
            continue;
        };
        if file.try_lock().is_err() {
            continue;
        }
        let mut content = Vec::new();
        let read = (&file).take(READ_BYTES).read_to_end(&mut content);
        if read.is_ok() {
            told.extend(tell(pid_of(&path).unwrap_or_default(), &content));
        }
        let _ = fs::remove_file(&path);
    }
    if told.len() > TOLD {
        let more = told.len() - TOLD;
        told.truncate(TOLD);
        told.push(format!("{more} more sessions were left like that."));
    }
    Ok(told)
}

fn pid_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix(NAME.0)?.strip_suffix(NAME.1)?.parse().ok()
}

/// A text of a file, shortened and without characters that act on a reader.
fn clean(text: &str) -> String {
    text.chars()
        .take(CLEAN_CHARS)
        .map(|ch| match ch {
            '\\' | '"' | '\'' => ch.to_string(),
            ch => ch.escape_debug().to_string(),
        })
        .collect()
}

/// What a file says about each session that something may be left of.
fn tell(pid: u32, content: &[u8]) -> Vec<String> {
    let last = content
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n"))
        .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
        .next_back();
    let Some(Line { at, sessions }) = last else {
        return Vec::new();
    };
    let sentence = |left: Left| {
        let label = left
            .label
            .as_deref()
            .map_or_else(String::new, |label| format!(", \"{}\"", clean(label)));
        let mut text = format!(
            "The server with process id {pid} ended without closing its session {} ({}{label}); last noted at {}.",
            clean(&left.id),
            clean(&left.target),
            clean(&at)
        );
        if let Some(ended) = &left.ended {
            text.push_str(&format!(
                " Its worker {} before: the debuggee may be halted, and stay so until a debugger connects and resumes it.",
                clean(ended)
            ));
        }
        match left.state.as_str() {
            "paused" => text.push_str(
                " The debuggee was halted then: it stays halted until a debugger connects and resumes it.",
            ),
            "running" => text.push_str(" The debuggee was running then."),
            _ => {}
        }
        if left.set.is_empty() {
            text.push_str(" It is not known to have left breakpoints or events.");
        } else {
            let set: Vec<String> = left.set.iter().take(SET).map(|what| clean(what)).collect();
            text.push_str(&format!(
                " It had set, and may have left: {}. Open a session there, list breakpoints and events, and remove them.",
                set.join(", ")
            ));
        }
        text
    };
    sessions.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(state: &str, set: &[&str]) -> Left {
        Left {
            id: "s1".to_owned(),
            target: r"debugger on \\.\pipe\x".to_owned(),
            label: Some("lab\u{1b}[31m".to_owned()),
            state: state.to_owned(),
            set: set.iter().map(|text| (*text).to_owned()).collect(),
            ended: (state == "unknown").then(|| "was ended by signal 9 (SIGKILL)".to_owned()),
        }
    }

    /// A file as a server of this process id would have left it.
    fn abandon(folder: &Path, pid: u32, remains: &Remains) {
        // Through the handle that holds the lock: on Windows no other reads the file.
        let mut notes = remains.notes.as_ref().unwrap().lock().unwrap();
        let mut content = Vec::new();
        notes.file.rewind().unwrap();
        notes.file.read_to_end(&mut content).unwrap();
        fs::write(folder.join(format!("server-{pid}.jsonl")), content).unwrap();
    }

    #[test]
    fn what_an_ended_server_had_set_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let remains = Remains::in_folder(folder.path()).unwrap();
        assert!(remains.found().is_empty());
        remains.note(vec![left("paused", &[])]);
        remains.note(vec![left("running", &["event 0x0"])]);
        abandon(folder.path(), 1, &remains);
        remains.note(vec![left("unknown", &[])]);
        abandon(folder.path(), 9, &remains);
        remains.close(Vec::new());
        drop(remains);
        let next = Remains::in_folder(folder.path()).unwrap();
        let [told, lost] = next.found() else {
            panic!("{:?}", next.found())
        };
        assert!(
            lost.contains("SIGKILL") && lost.contains("may be halted"),
            "{lost}"
        );
        for words in [
            "process id 1 ",
            "session s1",
            r"\\.\pipe\x",
            "was running",
            "event 0x0",
        ] {
            assert!(told.contains(words), "{words}: {told}");
        }
        assert!(!told.contains('\u{1b}'), "{told}");
        drop(next);
        let third = Remains::in_folder(folder.path()).unwrap();
        assert!(third.found().is_empty(), "{:?}", third.found());
    }

    #[test]
    fn a_living_server_and_a_clean_end_are_not_told_of() {
        let folder = tempfile::tempdir().unwrap();
        let living = Remains::in_folder(folder.path()).unwrap();
        living.note(vec![left("paused", &["breakpoint 0x1"])]);
        assert!(collect(folder.path()).unwrap().is_empty());
        living.close(Vec::new());
        drop(living);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_torn_or_foreign_file_says_what_its_last_whole_line_says() {
        let folder = tempfile::tempdir().unwrap();
        let remains = Remains::in_folder(folder.path()).unwrap();
        remains.note(vec![left("paused", &["breakpoint 0x7"])]);
        abandon(folder.path(), 2, &remains);
        let torn = folder.path().join("server-2.jsonl");
        let mut content = fs::read(&torn).unwrap();
        content.extend_from_slice(b"{\"at\":\"x\",\"sess");
        fs::write(&torn, content).unwrap();
        fs::write(folder.path().join("server-3.jsonl"), b"\xff\x00 no JSON\n").unwrap();
        fs::write(folder.path().join("server-x.jsonl"), b"not ours").unwrap();
        let told = collect(folder.path()).unwrap();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].contains("breakpoint 0x7") && told[0].contains("stays halted"),
            "{told:?}"
        );
        assert!(folder.path().join("server-x.jsonl").exists());
        assert!(!torn.exists());
    }
}
