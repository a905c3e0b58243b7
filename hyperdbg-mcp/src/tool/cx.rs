//! [`Cx`]: what a handler may do, bound to its tool's tier. There is no way from here to the worker past the tier.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::host::{Connection, Current, Host, Opening, Run, WorkerState};
use super::undo::{self, Listing, Undo};
use super::{Category, Delivery, ToolError};
use crate::engine::{Engine, Outcome};
use crate::generated::Call;
use crate::output::OutputStore;
use crate::output::Untrusted;
use crate::policy::Cleared;
use crate::tier::{Permits, Read, State, TierType};

/// What a handler may use.
pub struct Cx<T> {
    host: Arc<dyn Host>,
    tier: PhantomData<fn() -> T>,
}

/// The session that is open, as it was at one moment.
#[derive(Debug, Clone)]
pub struct SessionView {
    /// How it is connected.
    pub connection: Connection,
    /// Its worker.
    pub worker: WorkerState,
    /// How far the last resume is.
    pub run: Run,
}

impl<T: TierType> Cx<T> {
    /// A context over `host`.
    pub(crate) fn new(host: Arc<dyn Host>) -> Self {
        Self {
            host,
            tier: PhantomData,
        }
    }

    /// The current session's engine, with what tier `T` permits. Refused while the target runs.
    pub async fn engine(&self) -> Result<Engine<T>, ToolError> {
        Ok(Engine::new(self.host.link().await?))
    }

    /// How the current session is connected; opens it where the server was told to.
    pub async fn connection(&self) -> Result<Connection, ToolError> {
        Ok(self.host.sessions().current().await?.connection)
    }

    /// The session that is open, if one is. Never waits.
    pub fn session(&self) -> Option<SessionView> {
        self.host.sessions().peek().map(|current| SessionView {
            worker: current.target.state(),
            run: current.target.run(),
            connection: current.connection,
        })
    }

    /// How the worker of the last session ended, where it ended by itself.
    pub fn last_end(&self) -> Option<String> {
        self.host.sessions().last()?.target.state().ended
    }

    /// What earlier servers left in their targets.
    pub fn left_before(&self) -> &[String] {
        self.host.sessions().left_before()
    }

    /// The library, for people.
    pub fn library(&self) -> String {
        self.host.sessions().library()
    }

    /// How the session opens by itself, where it does.
    pub fn opens_by_itself(&self) -> Option<Connection> {
        self.host.sessions().opens_by_itself()
    }

    /// Output that did not fit in a page.
    pub fn outputs(&self) -> &OutputStore {
        self.host.outputs()
    }

    /// The text that was classified and may be sent. Refused when `text`, the tool's argument, is another one.
    pub fn cleared(&self, text: &str) -> Result<&Cleared, ToolError> {
        self.host
            .cleared()
            .filter(|cleared| cleared.text == text.trim())
            .ok_or_else(|| ToolError::internal("a text reached its tool without being classified"))
    }

    /// Waits for the stop of a target that was set running; `None` when it has not stopped after `timeout`. A stop is
    /// told once; one that is dropped untold is there for the next who waits. A worker that died meanwhile is told here
    /// too.
    pub async fn wait(&self, timeout: Duration) -> Result<Option<Delivery>, ToolError> {
        match self.host.sessions().last() {
            Some(last) if last.target.run() != Run::Settled => last.target.wait(timeout).await,
            Some(last) => Err(last
                .target
                .untold_loss()
                .unwrap_or_else(|| match last.target.last_exec() {
                    0 => ToolError::new(
                        Category::WrongMode,
                        "The target was not set running, so there is no stop to wait for.",
                    )
                    .next_step("Read its state where it is halted, or let it run first."),
                    exec => ToolError::new(
                        Category::WrongMode,
                        format!("The stop of {}.{exec} has been told already; the target was not set running since.", last.id),
                    )
                    .next_step("Read its state where it is halted, or let it run again."),
                })),
            None => Err(ToolError::new(Category::NotConnected, "No session is open.")
                .next_step("Open a session first.")),
        }
    }

    /// The session as the server keeps it, if its worker lives. Never waits.
    pub(crate) fn current(&self) -> Option<Current> {
        self.host.sessions().peek()
    }

    /// Every session whose worker lives.
    pub(crate) fn all(&self) -> Vec<Current> {
        self.host.sessions().all()
    }

    /// The session as the server keeps it, also when its worker has ended.
    pub(crate) fn last(&self) -> Option<Current> {
        self.host.sessions().last()
    }

    /// The opening that a profile of the configuration describes.
    pub fn profile(&self, name: &str) -> Result<Opening, ToolError> {
        self.host.sessions().profile(name)
    }
}

impl<T: Permits<Read>> Cx<T> {
    /// What a listing printed; judged by the caller.
    pub async fn list(&self, listing: Listing) -> Result<Outcome<Untrusted>, ToolError> {
        undo::list(self.host.link().await?, listing).await
    }
}

impl<T: Permits<State>> Cx<T> {
    /// Opens a session; gives back what the library printed.
    pub(crate) async fn open(&self, opening: Opening) -> Result<(Current, Untrusted), ToolError> {
        self.host.sessions().open(opening).await
    }

    /// Starts a call that returns at the target's next stop, and gives its number. Refused while the target runs.
    pub async fn resume(&self, call: Call) -> Result<u64, ToolError> {
        let needed = call.function().tier;
        if needed > T::TIER {
            return Err(ToolError::internal(format!(
                "a tool of tier {} resumed by a call of tier {needed}",
                T::TIER
            )));
        }
        // The refusal of a running target is the same here as everywhere.
        self.host.link().await?;
        self.host.sessions().current().await?.target.resume(call).await
    }

    /// Asks the running target to halt.
    pub async fn interrupt(&self) -> Result<(), ToolError> {
        self.host.sessions().current().await?.target.interrupt().await
    }

    /// Takes back something that was set in the target; gives what was printed.
    pub async fn undo(&self, what: Undo) -> Result<Untrusted, ToolError> {
        undo::undo(self.host.link().await?, what).await
    }

    /// Ends the session and its worker.
    pub async fn close(&self) {
        self.host.sessions().close().await;
    }
}
