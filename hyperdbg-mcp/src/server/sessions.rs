//! The sessions of this process: opened when told to, or by themselves where the flags say so.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::lock::LocalLock;
use super::remains::{Left, Remains};
use super::watched::{Crashes, Watched};
use crate::composite::{changes, connect, take_back};
use crate::engine::{BoxFuture, Link};
use crate::output::OutputStore;
use crate::output::Untrusted;
use crate::session::RunState;
use crate::tool::arguments::echo;
use crate::tool::{Book, Category, Connection, Current, Host, Opening, Run, Sessions, Target, ToolError};

/// How long the end of a worker may take when the server ends.
const END: Duration = Duration::from_millis(500);
/// How long taking back what a session set may take when the server ends.
const TAKE_BACK: Duration = Duration::from_millis(600);
/// How long an opening waits for another one to finish.
const TURN: Duration = Duration::from_secs(2);
/// Sessions at once.
const MAX_SESSIONS: usize = 4;

/// Starts worker processes.
pub trait Launcher: Send + Sync + 'static {
    /// Starts one with the library loaded.
    fn launch(&self) -> BoxFuture<'_, Result<Arc<dyn Target>, ToolError>>;

    /// The library, for people.
    fn library(&self) -> String;

    /// Openings that the configuration names.
    fn profiles(&self) -> BTreeMap<String, Result<Opening, String>> {
        BTreeMap::new()
    }

    /// Why nothing can be read from the configuration, where that is so.
    fn configuration_problem(&self) -> Option<String> {
        None
    }
}

/// The sessions of this process.
pub struct Manager {
    launcher: Box<dyn Launcher>,
    opens_by_itself: Option<Connection>,
    /// Whether clients are served the tool that opens sessions.
    serves_open: bool,
    table: Mutex<Table>,
    epoch: AtomicU64,
    pub(super) crashes: Crashes,
    /// Held while a session is being opened, so that two calls do not open two.
    opening: tokio::sync::Mutex<()>,
    outputs: OutputStore,
    remains: Remains,
    /// What the opening that goes on does, and since when.
    step: watch::Sender<Option<Step>>,
}

/// A step of an opening.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) what: &'static str,
    since: Instant,
}

/// Takes the step back when the opening is over, however it ended.
struct StepGuard<'a>(&'a watch::Sender<Option<Step>>);

impl StepGuard<'_> {
    fn begins(&self, what: &'static str) {
        let since = Instant::now();
        self.0.send_replace(Some(Step { what, since }));
    }
}

impl Drop for StepGuard<'_> {
    fn drop(&mut self) {
        self.0.send_replace(None);
    }
}

/// A session as the next server should know it.
fn left(current: &Current) -> Left {
    Left {
        id: current.id.to_string(),
        target: current.connection.to_string(),
        label: current.label.clone(),
        state: current.observed().state.name().to_owned(),
        set: changes(current),
        ended: current.target.state().ended,
    }
}

#[derive(Default)]
struct Table {
    /// Those that are open, and the last ones whose workers ended by themselves; in the order of opening.
    sessions: Vec<Slot>,
    /// Sessions that were ever opened.
    opened: u64,
}

/// The sessions that are open, and the span of the outputs that are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed(Vec<Arc<str>>, Option<(u64, u64)>);

struct Slot {
    current: Current,
    /// Held while a session on this machine is open.
    _lock: Option<LocalLock>,
}

impl Table {
    fn living(&self) -> impl DoubleEndedIterator<Item = &Current> {
        self.sessions
            .iter()
            .map(|slot| &slot.current)
            .filter(|current| current.target.state().alive)
    }
}

impl Manager {
    /// A manager whose session opens by itself as `opens_by_itself` says, or by the tool for it where clients are
    /// served that. What its sessions set is noted in `remains`.
    pub fn new(
        launcher: Box<dyn Launcher>,
        opens_by_itself: Option<Connection>,
        serves_open: bool,
        remains: Remains,
    ) -> Arc<Self> {
        Arc::new(Self {
            launcher,
            opens_by_itself,
            serves_open,
            table: Mutex::default(),
            epoch: AtomicU64::new(0),
            crashes: Crashes::default(),
            opening: tokio::sync::Mutex::default(),
            outputs: OutputStore::default(),
            remains,
            step: watch::Sender::new(None),
        })
    }

    /// What a call sees that names session `id`, or none.
    pub fn view(self: &Arc<Self>, id: Option<String>) -> Arc<View> {
        Arc::new(View {
            manager: Arc::clone(self),
            id,
            until: None,
        })
    }

    /// Ends every session, in bounded time; takes back what they set in their targets where that goes quickly.
    pub async fn end(&self) {
        let slots = std::mem::take(&mut self.lock().sessions);
        let ends: Vec<_> = slots
            .into_iter()
            .map(|slot| {
                tokio::spawn(async move {
                    let current = slot.current;
                    let simulator = current.target.state().simulator;
                    let halted = current.target.state().in_flight.is_none();
                    if halted && !current.book.pages().is_clean() {
                        let _ = tokio::time::timeout(TAKE_BACK, take_back(&current)).await;
                    }
                    let halted = current.observed().state == RunState::Paused && !simulator;
                    let lost = current.connection.is_debugger() && current.target.state().ended.is_some();
                    let is_left = halted || lost || !current.book.pages().is_clean();
                    let left = is_left.then(|| left(&current));
                    let _ = tokio::time::timeout(END, current.target.close()).await;
                    left
                })
            })
            .collect();
        let mut all = Vec::new();
        for end in ends {
            if let Ok(Some(left)) = end.await {
                all.push(left);
            }
        }
        self.remains.close(all);
    }

    /// Notes what the sessions have set, for the server that comes after this one where it is ended by force.
    pub(super) fn note(&self) {
        if !self.remains.is_noting() {
            return;
        }
        let sessions = {
            let table = self.lock();
            let of_targets = |slot: &&Slot| slot.current.connection != Connection::Offline;
            table
                .sessions
                .iter()
                .filter(of_targets)
                .map(|slot| left(&slot.current))
                .collect()
        };
        self.remains.note(sessions);
    }

    /// The steps of openings.
    pub(super) fn steps(&self) -> watch::Receiver<Option<Step>> {
        self.step.subscribe()
    }

    /// A number that no session had as its epoch.
    pub(super) fn next_epoch(&self) -> u64 {
        self.epoch.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of that id, or the one that was opened last, living ones first; also when its worker has ended.
    fn find(&self, id: Option<&str>) -> Option<Current> {
        let table = self.lock();
        match id {
            Some(id) => table
                .sessions
                .iter()
                .map(|slot| &slot.current)
                .find(|current| *current.id == *id)
                .cloned(),
            None => table
                .living()
                .next_back()
                .or_else(|| table.sessions.last().map(|slot| &slot.current))
                .cloned(),
        }
    }

    fn living(&self, id: Option<&str>) -> Option<Current> {
        self.find(id).filter(|current| current.target.state().alive)
    }

    fn take(&self, id: Option<&str>) -> Option<Current> {
        let found = self.find(id)?;
        let mut table = self.lock();
        let at = table
            .sessions
            .iter()
            .position(|slot| slot.current.id == found.id)?;
        Some(table.sessions.remove(at).current)
    }

    /// What there is to be listed; another value means another list.
    pub(super) fn listed(&self) -> Listed {
        let sessions = self
            .lock()
            .living()
            .map(|current| Arc::clone(&current.id))
            .collect();
        Listed(sessions, self.outputs.span())
    }

    /// Why `id` names no session that anything is known of.
    pub(super) fn unknown(&self, id: &str) -> Option<ToolError> {
        self.find(Some(id)).is_none().then(|| self.no_session(id))
    }

    /// Why `id` names no session that can be used.
    pub(super) fn no_session(&self, id: &str) -> ToolError {
        let number: Option<u64> = id.strip_prefix('s').and_then(|digits| digits.parse().ok());
        let opened = self.lock().opened;
        let open: Vec<String> = self
            .lock()
            .living()
            .map(|current| current.id.to_string())
            .collect();
        let open = match open.as_slice() {
            [] => "No session is open now.".to_owned(),
            ids => format!("Open now: {}.", ids.join(", ")),
        };
        if number.is_some_and(|number| (1..=opened).contains(&number)) {
            let end = match self
                .find(Some(id))
                .and_then(|current| current.target.state().ended)
            {
                Some(how) => format!("Session {} has ended: its worker {how}.", echo(id)),
                None => format!("Session {} has ended.", echo(id)),
            };
            return ToolError::new(Category::NotConnected, format!("{end} {open}"))
                .next_step("What it knew (ids of breakpoints, events, stops) is stale. Use an open session, or open one.");
        }
        ToolError::new(
            Category::InvalidArgument,
            format!("There has never been a session {}. {open}", echo(id)),
        )
        .next_step("Use the id that opening the session gave, or leave session_id out.")
    }

    async fn open_now(&self, opening: Opening) -> Result<(Current, Untrusted), ToolError> {
        let Opening {
            connection,
            label,
            symbol_path,
            secrets: _,
        } = opening;
        let (open, oldest) = {
            let table = self.lock();
            let ids: Vec<String> = table.living().map(|current| current.id.to_string()).collect();
            (ids.len(), ids.join(", "))
        };
        if open >= MAX_SESSIONS {
            return Err(ToolError::new(
                Category::Busy,
                format!("{open} sessions are open ({oldest}); there may be {MAX_SESSIONS} at once."),
            )
            .next_step("Use one of them, or close one first."));
        }
        let step = StepGuard(&self.step);
        step.begins("starting a worker and loading the library");
        let target = self.launcher.launch().await?;
        let guard = CloseOnDrop(Some(Arc::clone(&target)));
        let lock = match connection {
            Connection::Local if !target.state().simulator => Some(LocalLock::take()?),
            _ => None,
        };
        step.begins(match connection {
            Connection::Offline => "connecting to nothing",
            Connection::Local => "connecting to this machine",
            _ => "connecting to the target",
        });
        let text = connect(
            Arc::clone(&target) as Arc<dyn Link>,
            &connection,
            symbol_path.as_deref(),
        )
        .await?;
        drop(step);
        guard.keep();
        target.connected(&connection);
        let mut table = self.lock();
        table.opened += 1;
        let current = Current {
            id: format!("s{}", table.opened).into(),
            target,
            connection,
            label,
            book: Arc::new(Book::new(self.next_epoch())),
        };
        // Of those that ended by themselves only the newest are remembered with how.
        let lost = table.sessions.len().saturating_sub(2 * MAX_SESSIONS);
        let mut left = lost;
        table.sessions.retain(|slot| {
            let forget = left > 0 && !slot.current.target.state().alive;
            left -= usize::from(forget);
            !forget
        });
        table.sessions.push(Slot {
            current: current.clone(),
            _lock: lock,
        });
        Ok((current, text))
    }

    async fn current(&self, id: Option<&str>) -> Result<Current, ToolError> {
        if let Some(current) = self.living(id) {
            return Ok(current);
        }
        if let Some(error) = self.find(id).and_then(|current| current.target.untold_loss()) {
            return Err(error);
        }
        if let Some(id) = id {
            return Err(self.no_session(id));
        }
        let Some(connection) = &self.opens_by_itself else {
            return Err(ToolError::new(Category::NotConnected, "No session is open.").next_step(if self.serves_open {
                "Open one with hd_session_open; ask the person how the target is connected."
            } else {
                "A person must start hyperdbg-mcp with --open MODE (offline, local, debugger=…, remote=…) or without --read-only."
            }));
        };
        let _opening = self.turn().await?;
        match self.living(None) {
            Some(current) => Ok(current),
            None => self
                .open_now(connection.clone().into())
                .await
                .map(|(current, _)| current),
        }
    }

    /// The turn to open a session. Behind an opening that takes long nothing waits.
    async fn turn(&self) -> Result<tokio::sync::MutexGuard<'_, ()>, ToolError> {
        let turn = tokio::time::timeout(TURN, self.opening.lock()).await;
        turn.map_err(|_| {
            let step = *self.step.borrow();
            let step = step.map_or_else(String::new, |step| {
                format!(" ({}, for {} ms)", step.what, step.since.elapsed().as_millis())
            });
            ToolError::new(
                Category::Busy,
                format!("Another session is being opened; it has not finished yet{step}."),
            )
            .next_step("Look at the sessions' status, and call again when the other is there.")
        })
    }

    /// Output that did not fit in a page.
    pub fn outputs(&self) -> &OutputStore {
        &self.outputs
    }

    /// How the session opens by itself, where it does.
    pub fn opens_by_itself(&self) -> Option<Connection> {
        self.opens_by_itself.clone()
    }
}

/// Ends a worker whose opening failed or was given up.
struct CloseOnDrop(Option<Arc<dyn Target>>);

impl CloseOnDrop {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        if let Some(target) = self.0.take() {
            tokio::spawn(async move { target.close().await });
        }
    }
}

/// The sessions as one call sees them: the one that it names, or the one that was opened last.
pub struct View {
    manager: Arc<Manager>,
    id: Option<String>,
    /// When the call is to be over, where its caller wants that sooner than its functions do.
    until: Option<Instant>,
}

impl View {
    /// The same view for a call that is to be over after `deadline`.
    pub(super) fn within(&self, deadline: Duration) -> Arc<Self> {
        Arc::new(Self {
            manager: Arc::clone(&self.manager),
            id: self.id.clone(),
            until: Some(Instant::now() + deadline),
        })
    }

    /// Id, epoch and observed run state of the session, where there is one.
    pub fn stamp(&self) -> Option<String> {
        self.manager
            .find(self.id.as_deref())
            .map(|current| current.stamp())
    }
}

impl Sessions for View {
    fn open(&self, opening: Opening) -> BoxFuture<'_, Result<(Current, Untrusted), ToolError>> {
        Box::pin(async move {
            let _opening = self.manager.turn().await?;
            let opening = self.manager.open_now(opening);
            let Some(until) = self.until else {
                return opening.await;
            };
            let opened = tokio::time::timeout_at(until.into(), opening).await;
            // Given up, it ends its worker.
            opened.unwrap_or_else(|_| {
                Err(ToolError::new(
                    Category::Timeout,
                    "The deadline_ms of this call was over before the session was open; it was given up, and its worker ended.",
                )
                .next_step("Check that the target is up and waits for a debugger there, or allow more time."))
            })
        })
    }

    fn current(&self) -> BoxFuture<'_, Result<Current, ToolError>> {
        Box::pin(self.manager.current(self.id.as_deref()))
    }

    fn peek(&self) -> Option<Current> {
        self.manager.living(self.id.as_deref())
    }

    fn last(&self) -> Option<Current> {
        self.manager.find(self.id.as_deref())
    }

    fn all(&self) -> Vec<Current> {
        self.manager.lock().living().cloned().collect()
    }

    fn close(&self) -> BoxFuture<'_, Option<Current>> {
        Box::pin(async move {
            let current = self.manager.take(self.id.as_deref())?;
            current.target.close().await;
            Some(current)
        })
    }

    fn library(&self) -> String {
        self.manager.launcher.library()
    }

    fn opening(&self) -> Option<String> {
        let step = *self.manager.step.borrow();
        step.map(|step| format!("{}, for {} ms", step.what, step.since.elapsed().as_millis()))
    }

    fn left_before(&self) -> &[String] {
        self.manager.remains.found()
    }

    fn opens_by_itself(&self) -> Option<Connection> {
        self.manager.opens_by_itself()
    }

    fn profile(&self, name: &str) -> Result<Opening, ToolError> {
        let profiles = self.manager.launcher.profiles();
        match profiles.get(name) {
            Some(Ok(opening)) => Ok(opening.clone()),
            Some(Err(problem)) => Err(ToolError::new(
                Category::InvalidArgument,
                format!(
                    "The profile {} of the configuration cannot be used: {problem}.",
                    echo(name)
                ),
            )
            .next_step("A person must correct the configuration file.")),
            None => {
                let names: Vec<String> = profiles.keys().map(|name| echo(name)).collect();
                Err(ToolError::new(
                    Category::InvalidArgument,
                    match names.as_slice() {
                        [] => match self.manager.launcher.configuration_problem() {
                            Some(problem) => {
                                return Err(ToolError::new(
                                    Category::InvalidArgument,
                                    format!("The configuration cannot be used: {problem}."),
                                )
                                .next_step("A person must correct the configuration file and start the server again."));
                            }
                            None => "The configuration has no profiles.".to_owned(),
                        },
                        names => format!(
                            "There is no profile {}; there are {}.",
                            echo(name),
                            names.join(", ")
                        ),
                    },
                )
                .next_step("Name one that is there, or ask the person how the target is connected."))
            }
        }
    }
}

impl Host for View {
    fn link(&self) -> BoxFuture<'_, Result<Arc<dyn Link>, ToolError>> {
        Box::pin(async move {
            let current = self.manager.current(self.id.as_deref()).await?;
            if current.target.run() == Run::Running {
                return Err(ToolError::new(Category::TargetRunning, "The target is running.")
                    .next_step("Wait for its next stop with hd_exec_wait, or halt it with hd_exec_pause."));
            }
            Ok(Arc::new(Watched {
                manager: Arc::clone(&self.manager),
                current,
                until: self.until,
            }) as Arc<dyn Link>)
        })
    }

    fn sessions(&self) -> &dyn Sessions {
        self
    }

    fn outputs(&self) -> &OutputStore {
        &self.manager.outputs
    }
}
