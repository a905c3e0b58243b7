//! The operator's door: a local socket (a named pipe on Windows) that only the owner of the process can open, through
//! which `hyperdbg-mcp approve` shows a waiting request and lets it through. One JSON line each way.

use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use interprocess::local_socket::prelude::*;
use interprocess::local_socket::{Listener, Stream};
use serde::{Deserialize, Serialize};

use crate::policy::approval::Approvals;

mod place;

/// Bytes of a line through the door.
const LONGEST_LINE: u64 = 64 * 1024;

/// What an operator says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
enum Word {
    /// Show the request.
    Show {
        /// Of the request.
        id: String,
    },
    /// Let it through once.
    Approve {
        /// Of the request.
        id: String,
        /// Of what was shown.
        digest: String,
    },
    /// Never let it through.
    Decline {
        /// Of the request.
        id: String,
    },
}

/// What the server says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    /// The request.
    Shown { shown: String, digest: String },
    /// It was done.
    Done,
    /// It was not done.
    Refused(String),
}

/// An open door; closes when it is dropped.
pub(super) struct Door {
    name: String,
    closed: Arc<AtomicBool>,
}

impl Drop for Door {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        // Wakes the thread that waits, so that it takes the socket away.
        drop(connect(&self.name));
    }
}

/// Opens the door of the server whose requests are `approvals`.
pub(super) fn open(approvals: Arc<Approvals>) -> io::Result<Door> {
    let name = approvals.name().to_owned();
    let listener = place::listen(&name)?;
    let closed = Arc::new(AtomicBool::new(false));
    let door = Door {
        name,
        closed: Arc::clone(&closed),
    };
    std::thread::Builder::new()
        .name("operator".to_owned())
        .spawn(move || attend(&listener, &approvals, &closed))?;
    Ok(door)
}

fn attend(listener: &Listener, approvals: &Arc<Approvals>, closed: &AtomicBool) {
    loop {
        let stream = match listener.accept() {
            _ if closed.load(Ordering::SeqCst) => return,
            Ok(stream) => stream,
            Err(error) => {
                tracing::warn!(%error, "the operator's door is closed");
                return;
            }
        };
        let approvals = Arc::clone(approvals);
        // A thread of its own: who connects and says nothing holds up nobody else.
        let served = std::thread::Builder::new().spawn(move || {
            if let Err(error) = serve(stream, &approvals) {
                tracing::debug!(%error, "an operator went away");
            }
        });
        drop(served);
    }
}

fn serve(stream: Stream, approvals: &Approvals) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if (&mut stream).take(LONGEST_LINE).read_line(&mut line)? == 0 {
            return Ok(());
        }
        let reply = match serde_json::from_str(&line) {
            Ok(Word::Show { id }) => approvals
                .show(&id)
                .map(|(shown, digest)| Reply::Shown { shown, digest }),
            Ok(Word::Approve { id, digest }) => approvals.approve(&id, &digest).map(|()| {
                tracing::warn!("an operator approved the request {id}");
                Reply::Done
            }),
            Ok(Word::Decline { id }) => {
                approvals.decline(&id);
                Ok(Reply::Done)
            }
            Err(_) => return Ok(()),
        };
        let reply = reply.unwrap_or_else(|rejection| Reply::Refused(rejection.to_string()));
        let mut line = serde_json::to_vec(&reply)?;
        line.push(b'\n');
        stream.get_mut().write_all(&line)?;
    }
}

/// The operator's end.
pub struct Operator {
    stream: BufReader<Stream>,
    id: String,
}

fn connect(server: &str) -> io::Result<Stream> {
    place::connect(server)
}

impl Operator {
    /// Reaches the server that the request `id` waits in.
    pub fn reach(id: &str) -> Result<Self, String> {
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let server = match id.split_once('-') {
            Some((server, request)) if is_word(server) && is_word(request) => server,
            _ => {
                return Err(format!(
                    "`{}` is no approval id; it looks like k3f9-7qm2xd",
                    id.escape_default()
                ));
            }
        };
        let stream = connect(server).map_err(|error| {
            format!("no server that runs as this user has the request {id}; it may have ended ({error})")
        })?;
        Ok(Self {
            stream: BufReader::new(stream),
            id: id.to_owned(),
        })
    }

    fn say(&mut self, word: &Word) -> Result<Reply, String> {
        let gone = |error: io::Error| format!("the server went away: {error}");
        let mut line = serde_json::to_vec(word).map_err(|error| error.to_string())?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line).map_err(gone)?;
        let mut line = String::new();
        (&mut self.stream)
            .take(LONGEST_LINE)
            .read_line(&mut line)
            .map_err(gone)?;
        match serde_json::from_str(&line) {
            Ok(Reply::Refused(why)) => Err(why),
            Ok(reply) => Ok(reply),
            Err(_) => Err("the server answered with something else".to_owned()),
        }
    }

    /// What the request would do, and the digest that approves exactly that.
    pub fn show(&mut self) -> Result<(String, String), String> {
        let id = self.id.clone();
        match self.say(&Word::Show { id })? {
            Reply::Shown { shown, digest } => Ok((shown, digest)),
            _ => Err("the server answered with something else".to_owned()),
        }
    }

    /// Lets it through once.
    pub fn approve(&mut self, digest: String) -> Result<(), String> {
        let id = self.id.clone();
        self.say(&Word::Approve { id, digest }).map(drop)
    }

    /// Never lets it through.
    pub fn decline(&mut self) -> Result<(), String> {
        let id = self.id.clone();
        self.say(&Word::Decline { id }).map(drop)
    }
}
