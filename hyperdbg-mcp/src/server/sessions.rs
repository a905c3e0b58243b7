//! The sessions of this process: opened when told to, or by themselves where the flags say so.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::composite::connect;
use crate::engine::{BoxFuture, Link};
use crate::output::OutputStore;
use crate::tool::{Category, Connection, Current, Host, Run, Sessions, Target, ToolError};

/// How long the end of a worker may take when the server ends.
const END: Duration = Duration::from_millis(500);

/// Starts worker processes.
pub trait Launcher: Send + Sync + 'static {
    /// Starts one with the library loaded.
    fn launch(&self) -> BoxFuture<'_, Result<Arc<dyn Target>, ToolError>>;

    /// The library, for people.
    fn library(&self) -> String;
}

/// The sessions of this process; at present one at a time.
pub struct Manager {
    launcher: Box<dyn Launcher>,
    opens_by_itself: Option<Connection>,
    /// Whether clients are served the tool that opens sessions.
    serves_open: bool,
    current: Mutex<Option<Current>>,
    /// Held while a session is being opened, so that two calls do not open two.
    opening: tokio::sync::Mutex<()>,
    outputs: OutputStore,
}

impl Manager {
    /// A manager whose session opens by itself as `opens_by_itself` says, or by the tool for it where clients are
    /// served that.
    pub fn new(
        launcher: Box<dyn Launcher>,
        opens_by_itself: Option<Connection>,
        serves_open: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            launcher,
            opens_by_itself,
            serves_open,
            current: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            outputs: OutputStore::default(),
        })
    }

    /// Ends the session, in bounded time.
    pub async fn end(&self) {
        if let Some(current) = self.take() {
            let _ = tokio::time::timeout(END, current.target.close()).await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Current>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Current> {
        self.lock().take()
    }

    /// The session whose worker lives.
    fn living(&self) -> Option<Current> {
        self.lock().clone().filter(|current| current.target.state().alive)
    }

    async fn open_now(&self, connection: Connection) -> Result<(Current, Vec<u8>), ToolError> {
        let target = self.launcher.launch().await?;
        let guard = CloseOnDrop(Some(Arc::clone(&target)));
        let text = connect(Arc::clone(&target) as Arc<dyn Link>, &connection).await?;
        guard.keep();
        target.connected(&connection);
        let current = Current { target, connection };
        *self.lock() = Some(current.clone());
        Ok((current, text))
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

impl Sessions for Manager {
    fn open(&self, connection: Connection) -> BoxFuture<'_, Result<(Current, Vec<u8>), ToolError>> {
        Box::pin(async move {
            let _opening = self.opening.lock().await;
            if let Some(current) = self.living() {
                return Err(ToolError::new(
                    Category::WrongMode,
                    format!(
                        "A session is open already, in mode {}.",
                        current.connection.mode()
                    ),
                )
                .next_step("Use it, or close it first."));
            }
            self.open_now(connection).await
        })
    }

    fn current(&self) -> BoxFuture<'_, Result<Current, ToolError>> {
        Box::pin(async move {
            if let Some(current) = self.living() {
                return Ok(current);
            }
            if let Some(error) = self.untold_loss() {
                return Err(error);
            }
            let Some(connection) = &self.opens_by_itself else {
                return Err(ToolError::new(Category::NotConnected, "No session is open.").next_step(if self.serves_open {
                    "Open one with hd_session_open; ask the person how the target is connected."
                } else {
                    "A person must start hyperdbg-mcp with --open MODE (offline, local, debugger=…, remote=…) or without --read-only."
                }));
            };
            let _opening = self.opening.lock().await;
            match self.living() {
                Some(current) => Ok(current),
                None => self
                    .open_now(connection.clone())
                    .await
                    .map(|(current, _)| current),
            }
        })
    }

    fn peek(&self) -> Option<Current> {
        self.living()
    }

    fn last(&self) -> Option<Current> {
        self.lock().clone()
    }

    fn close(&self) -> BoxFuture<'_, Option<Current>> {
        Box::pin(async move {
            let current = self.take()?;
            current.target.close().await;
            Some(current)
        })
    }

    fn library(&self) -> String {
        self.launcher.library()
    }

    fn opens_by_itself(&self) -> Option<Connection> {
        self.opens_by_itself.clone()
    }
}

impl Host for Manager {
    fn link(&self) -> BoxFuture<'_, Result<Arc<dyn Link>, ToolError>> {
        Box::pin(async move {
            let current = Sessions::current(self).await?;
            if current.target.run() == Run::Running {
                return Err(ToolError::new(Category::TargetRunning, "The target is running.")
                    .next_step("Wait for its next stop with hd_exec_wait, or halt it with hd_exec_pause."));
            }
            Ok(current.target as Arc<dyn Link>)
        })
    }

    fn sessions(&self) -> &dyn Sessions {
        self
    }

    fn outputs(&self) -> &OutputStore {
        &self.outputs
    }
}
