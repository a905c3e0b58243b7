//! The supervisor's side of a session: starts the worker process, makes calls with deadlines, notices its end.
//!
//! ```text
//! callers ─► Session ─► turn ─► Request ═ channel ═► worker      one call at a time
//!                ▲                                      │
//!            Shared ◄── monitor ◄══ Text, Done ═════════┘        text of a call, events, the end
//! ```
//!
//! Every answer comes in bounded time: a call that outlives its deadline is interrupted, then costs the worker; a
//! worker that dies costs its session; the session's status never asks the worker.

mod config;
mod driver;
mod failure;
mod log;
mod monitor;
mod outgoing;
mod receive;
mod shared;
mod spawn;
mod status;
mod text;

pub use config::{SessionConfig, WorkerProgram};
pub use log::{LogPage, LogRecord, Origin};
pub use status::{InFlight, Mode, Observed, RunState, Status};

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use self::failure::Kill;
use self::shared::{CallResult, Overrun, Resumes, Shared, Sink, Stop, later, lock};
use self::status::milliseconds;
use crate::engine::protocol::Request;
use crate::engine::{BoxFuture, LibrarySource, Link, Outcome};
use crate::generated::{Call, Reply};
use crate::sdk::{self, Compatibility};
use crate::tool::{Category, Delivery, Meter, ToolError};

/// How long a worker may take to end when asked.
const CLOSING: Duration = Duration::from_secs(1);
/// How long a killed worker may take to be gone.
const KILLED: Duration = Duration::from_millis(900);

/// A worker with an open library.
///
/// Dropping it kills the worker; [`close`](Self::close) asks it to end first.
pub struct Session {
    shared: Arc<Shared>,
}

/// What waiting for a stop found.
#[derive(Debug)]
pub enum StopWait {
    /// The target stopped. It is told once.
    Stopped(Delivery),
    /// It has not stopped yet.
    StillRunning {
        /// The function that resumed it.
        function: &'static str,
        /// Time since then.
        elapsed: Duration,
    },
    /// Nothing was resumed, or its stop has been told already.
    NotResumed,
}

/// What a break request met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupted {
    /// It was sent to the call in flight; whether the target stops is told by that call or by `wait_stop`.
    Requested {
        /// The call in flight.
        function: &'static str,
        /// Whether that is a resume.
        resume: bool,
    },
    /// No call is in flight.
    NothingInFlight,
}

/// How a session was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// Whether the worker ended by itself when asked; otherwise it was killed or gone already.
    pub graceful: bool,
    /// The call that was in flight.
    pub interrupted: Option<&'static str>,
    /// How the worker ended, in words.
    pub ended: String,
}

impl Session {
    /// Starts a worker, loads the library in it, and lets the library initialise itself. Connects nothing.
    ///
    /// # Errors
    /// `not_connected` when the library is not there or cannot be loaded, `timeout` when that takes too long,
    /// `worker_lost` when it ends the worker, `abi_mismatch` when its own headers say that nothing can be done with it.
    pub async fn open(mut config: SessionConfig) -> Result<Arc<Self>, ToolError> {
        if let LibrarySource::Path(path) = &mut config.library {
            // A name would be searched, and a relative path would mean something else in the worker's folder.
            if !path.is_absolute() {
                return Err(cannot_find(
                    path,
                    &std::io::Error::other("its path is not absolute"),
                ));
            }
            *path = std::path::absolute(&*path).map_err(|error| cannot_find(path, &error))?;
            std::fs::metadata(&*path)
                .and_then(|found| match found.is_file() {
                    true => Ok(()),
                    false => Err(std::io::Error::other("it is not a file")),
                })
                .map_err(|error| cannot_find(path, &error))?;
        }
        let compatibility = sdk::examine(&config.library, &config.sdk).await;
        if let Some(why) = compatibility.hopeless() {
            return Err(failure::abi_mismatch("No function", why));
        }
        let started = spawn::start(&config).await.map_err(|error| {
            ToolError::new(
                Category::WorkerLost,
                format!(
                    "The worker process could not be started from {}: {error}.",
                    config.worker.program.display()
                ),
            )
            .next_step("Check that the program is still there and may be executed.")
        })?;
        let deadline = config.open_deadline;
        let shared = Shared::new(config, started.child.id().unwrap_or(0), started.writer);
        monitor::start(
            &shared,
            started.child,
            started.reader,
            started.tail,
            started.family,
        );
        let session = Arc::new(Self { shared });
        let (sink, mut opened) = oneshot::channel();
        session.shared.begin_opening(sink)?;
        let result = match timeout(deadline, &mut opened).await {
            Ok(result) => result,
            Err(_) => {
                session.shared.kill(Kill::OpenDeadline(deadline));
                opened.await
            }
        };
        result.unwrap_or_else(|_| Err(session.lost()))?;
        let compatibility = compatibility.held_against(session.missing_exports());
        if !compatibility.layout.is_as_built() {
            session
                .shared
                .send(&Request::Arrange(compatibility.layout.clone()))?;
        }
        let _ = session.shared.compatibility.set(compatibility);
        // Elsewhere HyperDbg has no driver.
        if cfg!(windows)
            && let LibrarySource::Path(library) = &session.shared.config.library
            && let Some(driver) = driver::choose(&session, library).await?
        {
            let _ = session.shared.driver.set(driver);
        }
        Ok(session)
    }

    /// Makes one call; [`Link::call`] in a form that needs no trait object.
    ///
    /// # Errors
    /// `target_running` at once while a resume is in flight, `busy` when the turn does not come in time, `timeout` when
    /// the call does not return in time, `worker_lost` when the worker ends.
    pub async fn call(&self, call: Call, deadline: Duration) -> CallResult {
        let until = later(Instant::now(), deadline);
        let (sink, mut answer) = oneshot::channel();
        let id = self.shared.begin(call, deadline, Sink::Caller(sink)).await?;
        let mut abandoned = BreakOffOnDrop {
            shared: &self.shared,
            id: Some(id),
        };
        let result = match tokio::time::timeout_at(until, &mut answer).await {
            Ok(result) => result,
            Err(_) => {
                self.shared.break_off(id, Overrun::Deadline);
                answer.await
            }
        };
        abandoned.id = None;
        result.unwrap_or_else(|_| Err(self.lost()))
    }

    /// Resumes the target with `call`, which returns only at its next stop: this returns as soon as it is sent. Until
    /// then every other call is answered `target_running`. `deadline` is for getting the turn.
    ///
    /// Gives the number by which the resume is known.
    ///
    /// # Errors
    /// As [`call`](Self::call); and `busy` when an earlier stop has not been read yet.
    pub async fn resume(&self, call: Call, deadline: Duration) -> Result<u64, ToolError> {
        self.shared.begin(call, deadline, Sink::Resume).await
    }

    /// Number of the last resume; 0 where there was none.
    pub fn last_exec(&self) -> u64 {
        lock(&self.shared.state).last_exec
    }

    /// Waits for the stop that ends the last resume. A stop that came meanwhile is there at once, and is told once.
    ///
    /// # Errors
    /// What ended the resume instead of a stop, once; `worker_lost` from then on.
    pub async fn wait_stop(&self, wait: Duration) -> Result<StopWait, ToolError> {
        let until = later(Instant::now(), wait);
        loop {
            let stopped = self.shared.stopped.notified();
            tokio::pin!(stopped);
            stopped.as_mut().enable();
            let running = {
                let mut state = lock(&self.shared.state);
                if let Some(stop) = state.stop.take() {
                    return match stop.result {
                        Ok(outcome) => {
                            state.claimed = true;
                            Ok(StopWait::Stopped(self.deliver(
                                stop.exec,
                                stop.requested,
                                outcome,
                            )))
                        }
                        Err(error) => {
                            state.loss_told |= state.loss.is_some();
                            Err(error)
                        }
                    };
                }
                if let Some(error) = state.tell_loss() {
                    return Err(error);
                }
                match &state.pending {
                    Some(pending) if pending.resumes == Resumes::Yes => {
                        Some((pending.function, pending.sent))
                    }
                    _ if state.claimed => None,
                    _ => return Ok(StopWait::NotResumed),
                }
            };
            if tokio::time::timeout_at(until, stopped).await.is_err() {
                return match running {
                    Some((function, sent)) => Ok(StopWait::StillRunning {
                        function,
                        elapsed: sent.elapsed(),
                    }),
                    None => Err(ToolError::new(
                        Category::Busy,
                        "The target has stopped, and another call is about to tell of that stop.",
                    )
                    .next_step("Read that call's answer; the stop is told there, once.")),
                };
            }
        }
    }

    /// A stop for the caller who got it; it comes back here where that caller goes away untold.
    fn deliver(&self, exec: u64, requested: bool, outcome: Outcome<Reply>) -> Delivery {
        let shared = Arc::clone(&self.shared);
        Delivery::new(exec, requested, outcome, move |untold| {
            let mut state = lock(&shared.state);
            state.claimed = false;
            if let Some(outcome) = untold {
                state.stop = Some(Stop {
                    exec,
                    requested,
                    result: Ok(outcome),
                });
            } else {
                state.loss_told |= state.loss.is_some();
            }
            drop(state);
            shared.stopped.notify_waiters();
        })
    }

    /// Sends a break request to the call in flight: halts a target that a resume set running, where the library can.
    pub fn interrupt(&self) -> Interrupted {
        match self.shared.interrupt_any() {
            Some((function, resume)) => Interrupted::Requested { function, resume },
            None => Interrupted::NothingInFlight,
        }
    }

    /// What is known of the session, at once.
    pub fn status(&self) -> Status {
        let events = lock(&self.shared.events).last();
        let state = lock(&self.shared.state);
        let opened = self.shared.opened.get();
        Status {
            library: self.shared.config.library.clone(),
            simulator: opened.is_some_and(|opened| opened.simulator),
            missing_exports: opened.map(|opened| opened.missing.clone()).unwrap_or_default(),
            compatibility: self.shared.compatibility.get().cloned(),
            driver: self.shared.driver.get().cloned(),
            worker_pid: self.shared.pid,
            alive: state.loss.is_none(),
            ended: state.loss.as_ref().map(ToString::to_string),
            age_ms: milliseconds(self.shared.began.elapsed()),
            in_flight: state.pending.as_ref().map(|pending| InFlight {
                function: pending.function,
                age_ms: milliseconds(pending.sent.elapsed()),
                resume: pending.resumes == Resumes::Yes,
                interrupted: pending.interrupted,
            }),
            mode: state.mode,
            run_state: state.run_state(),
            unread_stop: state.has_stop(),
            calls: state.last_id,
            last_error: state.last_error.clone(),
            events,
            stray_bytes: state.stray_bytes,
        }
    }

    /// Exports that the library lacks, of those that the catalog knows.
    pub fn missing_exports(&self) -> &[String] {
        self.shared.opened.get().map_or(&[], |opened| &opened.missing)
    }

    /// How the library fits this program, once it is open.
    pub fn compatibility(&self) -> Option<&Compatibility> {
        self.shared.compatibility.get()
    }

    /// Tells the session how the library is connected now; it decides what a stop and a lost worker mean.
    pub fn set_mode(&self, mode: Option<Mode>) {
        let mut state = lock(&self.shared.state);
        state.mode = mode;
        state.observed = None;
    }

    /// Tells the session what the target was seen to do; a resume makes that out of date.
    pub fn observe(&self, observed: Observed) {
        lock(&self.shared.state).observed = Some(observed);
    }

    /// Counts what the library says from now on with `meter`, as long as somebody holds it. Text that its budget has no
    /// room for is dropped.
    pub fn count(&self, meter: &Arc<Meter>) {
        lock(&self.shared.meters).push(Arc::downgrade(meter));
    }

    /// Adds the server's own words to the event log.
    pub fn log(&self, words: &str) {
        self.shared.log_event(LogRecord {
            sequence: 0,
            at: self.shared.began.elapsed(),
            origin: Origin::Server,
            during: None,
            lost_before: 0,
            text: words.as_bytes().to_vec().into(),
        });
    }

    /// At most `limit` event records after number `since` (0: from the first that is kept).
    pub fn events(&self, since: u64, limit: usize) -> LogPage {
        lock(&self.shared.events).read(since, limit)
    }

    /// The same, after waiting for a record newer than `since`.
    pub async fn wait_events(&self, since: u64, limit: usize, wait: Duration) -> LogPage {
        let mut newest = self.shared.newest_event.subscribe();
        let _ = timeout(wait, newest.wait_for(|newest| *newest > since)).await;
        self.events(since, limit)
    }

    /// At most `limit` records of what the worker wrote to stdout and stderr after number `since`.
    pub fn stray(&self, since: u64, limit: usize) -> LogPage {
        lock(&self.shared.stray).read(since, limit)
    }

    /// Whether the worker's request thread answers within `wait`, whatever the library does.
    pub async fn ping(&self, wait: Duration) -> bool {
        let (sink, pong) = oneshot::channel();
        {
            let mut state = lock(&self.shared.state);
            if state.loss.is_some() {
                return false;
            }
            state.pings.retain(|(_, sink)| !sink.is_closed());
            let token = state.pings.last().map_or(1, |(token, _)| token + 1);
            state.pings.push((token, sink));
            if self.shared.send(&Request::Ping { token }).is_err() {
                return false;
            }
        }
        matches!(timeout(wait, pong).await, Ok(Ok(())))
    }

    /// Kills the worker now.
    pub fn kill(&self) {
        self.shared.kill(Kill::Requested);
    }

    /// Ends the session in bounded time (about two seconds at most): the call in flight is interrupted, the worker is
    /// asked to end, and killed when it does not.
    pub async fn close(&self) -> Closed {
        let mut ended = self.shared.ended.subscribe();
        let mut closed = Closed {
            graceful: false,
            interrupted: None,
            ended: String::new(),
        };
        let alive = {
            let mut state = lock(&self.shared.state);
            state.closing = true;
            state.loss.is_none()
        };
        if alive {
            // A break would halt a debuggee that runs: that one is left running.
            let left_running = self.shared.left_running();
            closed.interrupted = match left_running {
                Some(function) => Some(function),
                None => self.shared.interrupt_any().map(|(function, _)| function),
            };
            // From here on the end is wanted, whoever brings it about.
            lock(&self.shared.state).kill.get_or_insert(Kill::Closed);
            let asked = left_running.is_none() && self.shared.send(&Request::Shutdown).is_ok();
            closed.graceful = asked && timeout(CLOSING, ended.wait_for(|ended| *ended)).await.is_ok();
            if !closed.graceful {
                self.shared.kill(Kill::Closed);
                let _ = timeout(KILLED, ended.wait_for(|ended| *ended)).await;
            }
        }
        closed.ended = match &lock(&self.shared.state).loss {
            Some(loss) => loss.to_string(),
            None => "was killed, and the system has not ended it yet".to_owned(),
        };
        closed
    }

    /// The end of the worker, where it came by itself and no caller has been told of it. It is told once.
    ///
    /// Whoever opens another session in place of a lost one asks this first: what the lost one had set in the target
    /// is gone, and an agent must not go on as if it were there.
    pub fn untold_loss(&self) -> Option<ToolError> {
        let mut state = lock(&self.shared.state);
        let by_itself = state
            .loss
            .as_ref()
            .is_some_and(|loss| loss.kill != Some(Kill::Closed));
        if !by_itself || state.loss_told {
            return None;
        }
        match state.stop.take().map(|stop| stop.result) {
            Some(Err(error)) => {
                state.loss_told = true;
                Some(error)
            }
            _ => state.tell_loss(),
        }
    }

    fn lost(&self) -> ToolError {
        match lock(&self.shared.state).tell_loss() {
            Some(error) => error,
            None => ToolError::new(Category::WorkerLost, "The session's worker process is gone.")
                .next_step("Open a new session."),
        }
    }
}

impl shared::State {
    fn run_state(&self) -> Observed {
        let known = |state, by| Observed { state, by };
        if self.loss.is_some() {
            return known(RunState::Unknown, "the worker has ended");
        }
        let resumes = self.pending.as_ref().map(|pending| pending.resumes);
        if resumes == Some(Resumes::Yes) {
            return known(
                RunState::Running,
                "a call that resumes the target has not returned",
            );
        }
        match (self.mode, self.observed) {
            (Some(Mode::Offline), _) => known(RunState::NotApplicable, "nothing is attached"),
            (Some(Mode::Debugger), _) if resumes == Some(Resumes::Maybe) => known(
                RunState::Unknown,
                "a command that may resume the target has not returned",
            ),
            (_, Some(observed)) => observed,
            (Some(Mode::Local | Mode::Remote), None) => {
                known(RunState::NotApplicable, "a kernel is not halted in this mode")
            }
            (Some(Mode::Debugger) | None, None) => known(RunState::Unknown, "nothing has told it yet"),
        }
    }
}

impl Link for Session {
    fn call(&self, call: Call, deadline: Duration) -> BoxFuture<'_, CallResult> {
        Box::pin(Session::call(self, call, deadline))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.shared.kill(Kill::Closed);
    }
}

/// Ends several sessions at once, as [`Session::close`] ends one.
pub async fn shutdown_all(sessions: impl IntoIterator<Item = Arc<Session>>) -> Vec<Closed> {
    let closing: Vec<_> = sessions
        .into_iter()
        .map(|session| tokio::spawn(async move { session.close().await }))
        .collect();
    let mut closed = Vec::new();
    for task in closing {
        closed.extend(task.await.ok());
    }
    closed
}

/// Breaks a call off whose caller went away.
struct BreakOffOnDrop<'a> {
    shared: &'a Arc<Shared>,
    id: Option<u64>,
}

impl Drop for BreakOffOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.shared.break_off(id, Overrun::Cancelled);
        }
    }
}

fn cannot_find(path: &std::path::Path, error: &std::io::Error) -> ToolError {
    ToolError::new(
        Category::NotConnected,
        format!("The library {} cannot be opened: {error}.", path.display()),
    )
    .next_step("Name the file of HyperDbg's library, or use the simulator.")
}
