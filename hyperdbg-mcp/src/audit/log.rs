//! [`Audit`]: what the server holds.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::chain::{canonical, sha256};
use super::place::{default_file, numbered};
use super::record::{self, About, Decision, Server};
use super::writer::{OpenError, Writer};
use super::{DEFAULT_MAX_BYTES, Destination, Masker};
use crate::output::Rendered;
use crate::tier::Tier;
use crate::tool::{Category, ToolError};

/// Logs that servers of one user may write at the same time by default.
const MOST_DEFAULT_FILES: u32 = 32;

/// The session of a call, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// Its name.
    pub id: Option<String>,
    /// Which of its workers it is.
    pub epoch: Option<u64>,
    /// How it is connected.
    pub mode: Option<&'static str>,
    /// Process id of its worker.
    pub worker_pid: Option<u32>,
}

/// A call that is about to be made, or was refused.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The tool, as the client names it.
    pub tool: &'a str,
    /// Tier of this call; none for a tool that does not exist.
    pub tier: Option<Tier>,
    /// As the client sent them.
    pub arguments: &'a Map<String, Value>,
    /// What was decided.
    pub decision: Decision,
    /// The command line that will be sent, where there is one.
    pub command: Option<&'a str>,
    /// The session that is open.
    pub session: Session,
}

/// The audit log of a server; shared by its calls.
#[derive(Debug)]
pub struct Audit {
    masker: Masker,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Off,
    Writing(Box<Writer>),
    /// It cannot be written at all.
    Broken {
        why: String,
        is_told: bool,
    },
}

impl Audit {
    /// A log that records nothing.
    pub fn off(masker: Masker) -> Self {
        Self {
            masker,
            state: Mutex::new(State::Off),
        }
    }

    /// Opens the log and writes that the server starts. One that cannot be opened is no error here: the calls that it
    /// forbids are refused.
    pub fn open(destination: Option<&Destination>, server: &Server, masker: Masker) -> Self {
        Self::open_sized(destination, server, masker, DEFAULT_MAX_BYTES)
    }

    pub(super) fn open_sized(
        destination: Option<&Destination>,
        server: &Server,
        masker: Masker,
        max_bytes: u64,
    ) -> Self {
        let opened = match destination {
            Some(Destination::Off) => return Self::off(masker),
            Some(Destination::File(path)) => {
                Writer::open(path, max_bytes).map_err(|error| format!("{}: {error}", path.display()))
            }
            None | Some(Destination::Default) => open_default(max_bytes),
        };
        let state = opened
            .and_then(|mut writer| {
                let mut record = record::start(server);
                masker.mask_fields(&mut record);
                writer
                    .append(record)
                    .map_err(|error| format!("{}: {error}", writer.path().display()))?;
                Ok(State::Writing(Box::new(writer)))
            })
            .unwrap_or_else(|why| State::Broken { why, is_told: false });
        Self {
            masker,
            state: Mutex::new(state),
        }
    }

    /// The file, where one is written.
    pub fn path(&self) -> Option<PathBuf> {
        match &*self.lock() {
            State::Writing(writer) => Some(writer.path().to_owned()),
            _ => None,
        }
    }

    /// Why nothing can be written.
    pub fn broken(&self) -> Option<String> {
        match &*self.lock() {
            State::Broken { why, .. } => Some(why.clone()),
            _ => None,
        }
    }

    /// What masks secrets.
    pub fn masker(&self) -> &Masker {
        &self.masker
    }

    /// Records that `call` is about to be made, or was refused.
    ///
    /// # Errors
    /// The call must not be made: it is above Read and cannot be recorded.
    pub fn intent(&self, call: &Call<'_>) -> Result<Pending<'_>, ToolError> {
        let started = Instant::now();
        let mut state = self.lock();
        let why = match &mut *state {
            State::Off => {
                return Ok(Pending {
                    audit: self,
                    about: None,
                    started,
                });
            }
            State::Writing(writer) => {
                let mut record = record::intent(call, &self.masker);
                self.masker.mask_fields(&mut record);
                let written = writer.append(record).and_then(|seq| {
                    // What can take the machine down must be on its disk before.
                    if call.tier > Some(Tier::Read) {
                        writer.sync()?;
                    }
                    Ok(seq)
                });
                match written {
                    Ok(intent) => {
                        let tool = self.masker.mask(&record::bounded(call.tool)).into_owned();
                        return Ok(Pending {
                            audit: self,
                            about: Some(About { intent, tool }),
                            started,
                        });
                    }
                    // The disk may have room again at the next call.
                    Err(error) => format!("{}: {error}", writer.path().display()),
                }
            }
            State::Broken { why, is_told } => {
                if !std::mem::replace(is_told, true) {
                    tracing::warn!(
                        why = why.as_str(),
                        "the audit log cannot be written: calls that only observe go on unrecorded, all others are refused"
                    );
                }
                why.clone()
            }
        };
        drop(state);
        if call.tier <= Some(Tier::Read) {
            return Ok(Pending {
                audit: self,
                about: None,
                started,
            });
        }
        Err(ToolError::new(
            Category::PolicyDenied,
            format!(
                "{} changes something, and the audit log cannot be written ({why}); nothing was done.",
                record::bounded(call.tool)
            ),
        )
        .next_step("A person must make the log's file writable, name another with --audit FILE, or start with --audit off."))
    }

    /// Records that the server ends in order.
    pub fn close(&self) {
        let mut state = self.lock();
        if let State::Writing(writer) = &mut *state {
            let written = writer
                .append(record::fields(json!({"kind": "end"})))
                .and_then(|_| writer.sync());
            if let Err(error) = written {
                tracing::warn!(%error, "the end of the audit log cannot be written");
            }
            *state = State::Broken {
                why: "the server has ended".to_owned(),
                is_told: true,
            };
        }
    }

    fn outcome(&self, about: &About, outcome: &str, started: Instant, result: Option<(String, usize)>) {
        let elapsed = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        if let State::Writing(writer) = &mut *self.lock()
            && let Err(error) = writer.append(record::outcome(about, outcome, elapsed, result))
        {
            tracing::warn!(%error, intent = about.intent, "the outcome of a call cannot be recorded");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first of the user's default files that no other server writes.
fn open_default(max_bytes: u64) -> Result<Writer, String> {
    let first = default_file()?;
    for number in 1..=MOST_DEFAULT_FILES {
        let path = match number {
            1 => first.clone(),
            number => numbered(&first, number),
        };
        match Writer::open(&path, max_bytes) {
            Ok(writer) => return Ok(writer),
            Err(OpenError::Locked) => {}
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    Err(format!(
        "{} and its {MOST_DEFAULT_FILES} siblings are written by other servers",
        first.display()
    ))
}

/// A call whose outcome is still to be recorded. One that is dropped was given up.
#[derive(Debug)]
pub struct Pending<'a> {
    audit: &'a Audit,
    about: Option<About>,
    started: Instant,
}

impl Pending<'_> {
    /// Records the result as it leaves.
    pub fn finish(mut self, rendered: &Rendered) {
        if let Some(about) = self.about.take() {
            let outcome = rendered.failure.map_or("ok", Category::name);
            let sent = canonical(&json!({"structured": rendered.fields, "text": rendered.text}));
            let result = (sha256(sent.as_bytes()), sent.len());
            self.audit.outcome(&about, outcome, self.started, Some(result));
        }
    }

    /// Records an outcome that is no result of a tool.
    pub fn finish_without_result(mut self, outcome: &str) {
        if let Some(about) = self.about.take() {
            self.audit.outcome(&about, outcome, self.started, None);
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(about) = self.about.take() {
            self.audit
                .outcome(&about, Category::Cancelled.name(), self.started, None);
        }
    }
}
