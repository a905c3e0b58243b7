//! What a session's callers and its monitor share: the call in flight, the turn to make one, the logs.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::time::Instant;

use super::config::SessionConfig;
use super::failure::{Kill, Loss, abi_mismatch, busy, running};
use super::log::Log;
use super::outgoing::Outgoing;
use super::spawn::Writer;
use super::status::{Mode, Observed};
use super::text::CallText;
use crate::engine::Outcome;
use crate::engine::protocol::{self, Hello, OPENING, Opened, Request};
use crate::generated::{Call, Reply};
use crate::sdk::Compatibility;
use crate::tool::{Category, Meter, ToolError};

pub(super) type CallResult = Result<Outcome<Reply>, ToolError>;

/// A client that takes a call back gets this long to see it end by itself before the library is interrupted.
const CANCEL_PATIENCE: Duration = Duration::from_millis(250);

/// Behind a call that has been in flight for this long, others do not wait.
const BLOCKED: Duration = Duration::from_secs(2);

/// One that gets its turn with less than this left would only be broken off.
const LEAST_TIME: Duration = Duration::from_millis(250);

pub(super) struct Shared {
    pub(super) config: SessionConfig,
    pub(super) began: Instant,
    pub(super) pid: u32,
    /// When the worker's clock started, as time since `began`.
    pub(super) worker_began: OnceLock<Duration>,
    pub(super) opened: OnceLock<Opened>,
    /// How the library fits; known before the first call.
    pub(super) compatibility: OnceLock<Compatibility>,
    /// The path of the driver that the library was told, or why it was not.
    pub(super) driver: OnceLock<String>,
    pub(super) state: Mutex<State>,
    /// One permit: the library makes one call at a time. Closed when the worker is gone.
    pub(super) turn: Arc<Semaphore>,
    /// Whether a resume is in flight; waiting callers are told at once.
    pub(super) resumed: watch::Sender<bool>,
    /// Something that `wait_stop` waits for happened.
    pub(super) stopped: Notify,
    pub(super) outgoing: Outgoing,
    pub(super) kill_wanted: Notify,
    pub(super) ended: watch::Sender<bool>,
    pub(super) events: Mutex<Log>,
    pub(super) newest_event: watch::Sender<u64>,
    /// Those that count what the library says, as long as somebody holds them.
    pub(super) meters: Mutex<Vec<Weak<Meter>>>,
    pub(super) stray: Mutex<Log>,
    runtime: tokio::runtime::Handle,
}

pub(super) struct State {
    pub(super) pending: Option<Pending>,
    pub(super) loss: Option<Loss>,
    /// Whether a caller has been told of the loss.
    pub(super) loss_told: bool,
    pub(super) kill: Option<Kill>,
    pub(super) closing: bool,
    /// The result of the last resume, until it is read.
    pub(super) stop: Option<Stop>,
    /// Somebody is about to be told of the stop.
    pub(super) claimed: bool,
    /// Number of the last resume.
    pub(super) last_exec: u64,
    pub(super) mode: Option<Mode>,
    pub(super) observed: Option<Observed>,
    pub(super) last_error: Option<String>,
    pub(super) stray_bytes: u64,
    /// Bytes of callback text that arrived or were reported lost.
    pub(super) text_bytes: u64,
    pub(super) pings: Vec<(u64, oneshot::Sender<()>)>,
    pub(super) last_id: u64,
}

/// The end of a resume that nobody has been told of.
pub(super) struct Stop {
    /// The resume's number.
    pub(super) exec: u64,
    /// Whether a break had been sent.
    pub(super) requested: bool,
    pub(super) result: CallResult,
}

/// The call in flight.
pub(super) struct Pending {
    pub(super) id: u64,
    pub(super) function: &'static str,
    pub(super) resumes: Resumes,
    pub(super) sent: Instant,
    pub(super) deadline: Duration,
    pub(super) sink: Sink,
    pub(super) text: CallText,
    pub(super) foreign: bool,
    pub(super) overrun: Option<Overrun>,
    pub(super) interrupted: bool,
    /// The newest stray record when the call was sent.
    pub(super) stray_before: u64,
    _turn: Option<OwnedSemaphorePermit>,
}

/// Whether a call lets the target run until its next stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resumes {
    No,
    /// A command line: its text decides.
    Maybe,
    Yes,
}

/// Who gets the result.
pub(super) enum Sink {
    Opener(oneshot::Sender<Result<(), ToolError>>),
    Caller(oneshot::Sender<CallResult>),
    Resume,
}

/// Why a call is being broken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overrun {
    Deadline,
    Cancelled,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `from` + `duration`, or a time that never comes.
pub(super) fn later(from: Instant, duration: Duration) -> Instant {
    const NEVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
    from.checked_add(duration).unwrap_or(from + NEVER)
}

impl State {
    /// Whether the target stopped and nobody has been told yet.
    pub(super) fn has_stop(&self) -> bool {
        self.stop.is_some() || self.claimed
    }

    /// The error of every later call once the worker is gone; the caller is told with it.
    pub(super) fn tell_loss(&mut self) -> Option<ToolError> {
        let loss = self.loss.as_ref()?;
        self.loss_told = true;
        Some(loss.of_later_call())
    }
}

impl Shared {
    pub(super) fn new(config: SessionConfig, pid: u32, writer: Writer) -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            pid,
            worker_began: OnceLock::new(),
            opened: OnceLock::new(),
            compatibility: OnceLock::new(),
            driver: OnceLock::new(),
            state: Mutex::new(State {
                pending: None,
                loss: None,
                loss_told: false,
                kill: None,
                closing: false,
                stop: None,
                claimed: false,
                last_exec: 0,
                mode: None,
                observed: None,
                last_error: None,
                stray_bytes: 0,
                text_bytes: 0,
                pings: Vec::new(),
                last_id: OPENING,
            }),
            turn: Arc::new(Semaphore::new(1)),
            resumed: watch::Sender::new(false),
            stopped: Notify::new(),
            outgoing: Outgoing::new(writer),
            kill_wanted: Notify::new(),
            ended: watch::Sender::new(false),
            events: Mutex::new(Log::new(config.event_bytes)),
            meters: Mutex::default(),
            newest_event: watch::Sender::new(0),
            stray: Mutex::new(Log::new(config.stray_bytes)),
            runtime: tokio::runtime::Handle::current(),
            config,
        })
    }

    /// Queues a request. A worker that is gone is noticed elsewhere.
    pub(super) fn send(&self, request: &Request) -> Result<(), ToolError> {
        let mut frame = Vec::new();
        protocol::encode(request, &mut frame).map_err(|error| {
            ToolError::new(
                Category::InvalidArgument,
                format!("The call cannot be sent: {error}."),
            )
            .next_step("Send less data in one call.")
        })?;
        self.outgoing.send(&frame);
        Ok(())
    }

    /// Asks the monitor to kill the worker; the first reason is the one that is told.
    pub(super) fn kill(&self, why: Kill) {
        lock(&self.state).kill.get_or_insert(why);
        self.kill_wanted.notify_one();
    }

    /// The error of a call that cannot be made now, whoever has the turn.
    fn refuse_now(&self) -> Result<(), ToolError> {
        let mut state = lock(&self.state);
        if let Some(error) = state.tell_loss() {
            return Err(error);
        }
        if state.closing {
            return Err(
                ToolError::new(Category::NotConnected, "The session is being closed.")
                    .next_step("Open a new session."),
            );
        }
        match &state.pending {
            Some(pending) if matches!(pending.sink, Sink::Resume) => Err(running(pending.sent.elapsed())),
            _ => Ok(()),
        }
    }

    /// Waits for the turn.
    async fn turn(&self, asked: Instant, until: Instant) -> Result<OwnedSemaphorePermit, ToolError> {
        self.refuse_now()?;
        if let Ok(permit) = Arc::clone(&self.turn).try_acquire_owned() {
            return Ok(permit);
        }
        let mut resumed = self.resumed.subscribe();
        tokio::select! {
            biased;
            permit = Arc::clone(&self.turn).acquire_owned() => match permit {
                Ok(permit) if until - Instant::now() >= LEAST_TIME.min((until - asked) / 2) => Ok(permit),
                Ok(_) => Err(self.busy(asked)),
                Err(_) => {
                    self.refuse_now()?;
                    Err(ToolError::internal("the turn was closed although the worker lives"))
                }
            },
            _ = resumed.wait_for(|resumed| *resumed) => {
                self.refuse_now()?;
                // It stopped again in this very moment.
                Err(self.busy(asked))
            }
            () = tokio::time::sleep_until(until) => Err(self.busy(asked)),
            () = self.blocked() => Err(self.busy(asked)),
        }
    }

    /// Done when one call has been in flight for so long that nothing should queue behind it.
    async fn blocked(&self) {
        loop {
            let age = lock(&self.state)
                .pending
                .as_ref()
                .map_or(Duration::ZERO, |pending| pending.sent.elapsed());
            match BLOCKED.checked_sub(age) {
                Some(left) if !left.is_zero() => tokio::time::sleep(left).await,
                _ => return,
            }
        }
    }

    fn busy(&self, asked: Instant) -> ToolError {
        match &lock(&self.state).pending {
            Some(pending) => busy(pending.function, pending.sent.elapsed(), asked.elapsed()),
            None => busy("another call", Duration::ZERO, asked.elapsed()),
        }
    }

    /// Takes the turn and sends `call`. Dropping the future before it is done sends nothing.
    pub(super) async fn begin(&self, call: Call, deadline: Duration, sink: Sink) -> Result<u64, ToolError> {
        let asked = Instant::now();
        let function = call.function();
        let disabled = self
            .compatibility
            .get()
            .and_then(|fit| fit.disabled.get(function.symbol));
        if let Some(why) = disabled {
            return Err(abi_mismatch(function.symbol, why));
        }
        let turn = self.turn(asked, later(asked, deadline)).await?;
        let resume = matches!(sink, Sink::Resume);
        let resumes = match &call {
            _ if resume => Resumes::Yes,
            Call::RunCommand(_) => Resumes::Maybe,
            _ if function.until_stop => Resumes::Yes,
            _ => Resumes::No,
        };
        let mut state = lock(&self.state);
        if let Some(error) = state.tell_loss() {
            return Err(error);
        }
        if resume && state.has_stop() {
            return Err(ToolError::new(
                Category::Busy,
                "The target has stopped since it was last resumed, and that stop has not been read.",
            )
            .next_step("Wait for the stop (it is there at once), then resume."));
        }
        state.last_id += 1;
        let id = state.last_id;
        self.send(&Request::Call { id, call })?;
        state.pending = Some(self.pending(id, function.symbol, sink, deadline, Some(turn)));
        if let Some(pending) = &mut state.pending {
            pending.resumes = resumes;
        }
        if resume {
            state.last_exec = id;
            self.resumed.send_replace(true);
        }
        Ok(id)
    }

    /// Sends the greeting and the request to open the library.
    pub(super) fn begin_opening(
        &self,
        sink: oneshot::Sender<Result<(), ToolError>>,
    ) -> Result<(), ToolError> {
        let turn = Arc::clone(&self.turn).try_acquire_owned().ok();
        let mut state = lock(&self.state);
        if let Some(error) = state.tell_loss() {
            return Err(error);
        }
        self.send(&Request::Hello(Hello::ours()))?;
        self.send(&Request::Open(self.config.library.clone()))?;
        state.pending = Some(self.pending(
            OPENING,
            "opening the library",
            Sink::Opener(sink),
            self.config.open_deadline,
            turn,
        ));
        Ok(())
    }

    fn pending(
        &self,
        id: u64,
        function: &'static str,
        sink: Sink,
        deadline: Duration,
        turn: Option<OwnedSemaphorePermit>,
    ) -> Pending {
        Pending {
            id,
            function,
            resumes: Resumes::No,
            sent: Instant::now(),
            deadline,
            sink,
            text: CallText::new(self.config.call_text_bytes),
            foreign: false,
            overrun: None,
            interrupted: false,
            stray_before: lock(&self.stray).last(),
            _turn: turn,
        }
    }

    /// Breaks call `id` off: interrupts it, and kills the worker when that does not help. Does nothing when the call
    /// has ended or is being broken off already. A cancelled call may still end by itself until its deadline.
    pub(super) fn break_off(self: &Arc<Self>, id: u64, why: Overrun) {
        let kill_at = {
            let mut state = lock(&self.state);
            let Some(pending) = state.pending.as_mut().filter(|pending| pending.id == id) else {
                return;
            };
            if pending.overrun.is_some() {
                return;
            }
            pending.overrun = Some(why);
            let from = match why {
                Overrun::Deadline => Instant::now(),
                Overrun::Cancelled => {
                    later(pending.sent, pending.deadline).max(Instant::now() + CANCEL_PATIENCE)
                }
            };
            from + self.config.grace
        };
        let shared = Arc::clone(self);
        self.runtime.spawn(async move {
            if why == Overrun::Cancelled {
                tokio::time::sleep(CANCEL_PATIENCE).await;
            }
            shared.interrupt(id);
            tokio::time::sleep_until(kill_at).await;
            if shared.is_pending(id) {
                shared.kill(match why {
                    Overrun::Deadline => Kill::Deadline,
                    Overrun::Cancelled => Kill::Cancelled,
                });
            }
        });
    }

    fn is_pending(&self, id: u64) -> bool {
        lock(&self.state)
            .pending
            .as_ref()
            .is_some_and(|pending| pending.id == id)
    }

    /// Sends a break request for call `id`, where that is in flight.
    fn interrupt(&self, id: u64) {
        if let Some(pending) = lock(&self.state)
            .pending
            .as_mut()
            .filter(|pending| pending.id == id)
        {
            pending.interrupted = true;
            let _ = self.send(&Request::Interrupt { id });
        }
    }

    /// The resume in flight that lets a debuggee run.
    pub(super) fn left_running(&self) -> Option<&'static str> {
        let state = lock(&self.state);
        let pending = state.pending.as_ref()?;
        (state.mode == Some(Mode::Debugger) && matches!(pending.sink, Sink::Resume))
            .then_some(pending.function)
    }

    /// Sends a break request for whatever is in flight, and says what that is.
    pub(super) fn interrupt_any(&self) -> Option<(&'static str, bool)> {
        let mut state = lock(&self.state);
        let pending = state.pending.as_mut()?;
        pending.interrupted = true;
        let _ = self.send(&Request::Interrupt { id: pending.id });
        Some((pending.function, matches!(pending.sink, Sink::Resume)))
    }
}
