//! A session of the engine, as tools see it.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::BoxFuture;
use crate::generated::Call;
use crate::session::{LogPage, Mode, Observed, RunState, Session, StopWait};
use crate::tool::{Category, Connection, Delivery, Meter, Run, Target, ToolError, WorkerState};

/// How long a resume may wait for its turn.
const TURN: Duration = Duration::from_secs(5);

impl Target for Session {
    fn state(&self) -> WorkerState {
        let status = self.status();
        WorkerState {
            alive: status.alive,
            ended: status.ended,
            pid: Some(status.worker_pid),
            in_flight: status
                .in_flight
                .map(|call| (call.function, Duration::from_millis(call.age_ms))),
            missing: status.missing_exports,
            disabled: self
                .compatibility()
                .map(|fit| fit.disabled.keys().cloned().collect())
                .unwrap_or_default(),
            driver: status.driver,
            observed: Some(status.run_state),
            simulator: status.simulator,
            last_error: status.last_error,
            events: status.events,
        }
    }

    fn resume(&self, call: Call) -> BoxFuture<'_, Result<u64, ToolError>> {
        Box::pin(Session::resume(self, call, TURN))
    }

    fn last_exec(&self) -> u64 {
        Session::last_exec(self)
    }

    fn run(&self) -> Run {
        let status = self.status();
        if status.in_flight.is_some_and(|call| call.resume) {
            Run::Running
        } else if status.unread_stop {
            Run::StopUntold
        } else {
            Run::Settled
        }
    }

    fn wait(&self, timeout: Duration) -> BoxFuture<'_, Result<Option<Delivery>, ToolError>> {
        Box::pin(async move {
            match self.wait_stop(timeout).await? {
                StopWait::Stopped(delivery) => Ok(Some(delivery)),
                StopWait::StillRunning { .. } => Ok(None),
                // It was when this began: another call has told the stop meanwhile.
                StopWait::NotResumed => Err(ToolError::new(
                    Category::WrongMode,
                    "The stop of the last run has been told to another call; the target was not set running since.",
                )
                .next_step("Read its state where it is halted, or let it run again.")),
            }
        })
    }

    fn interrupt(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async {
            // That nothing is in flight means that the stop is there already.
            Session::interrupt(self);
            Ok(())
        })
    }

    fn untold_loss(&self) -> Option<ToolError> {
        Session::untold_loss(self)
    }

    fn count(&self, meter: &Arc<Meter>) {
        Session::count(self, meter);
    }

    fn log(&self, words: &str) {
        Session::log(self, words);
    }

    fn events(&self, since: u64, limit: usize, wait: Duration) -> BoxFuture<'_, LogPage> {
        Box::pin(async move {
            if wait.is_zero() {
                return Session::events(self, since, limit);
            }
            self.wait_events(since, limit, wait).await
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let closed = Session::close(self).await;
            tracing::debug!(?closed, "session closed");
        })
    }

    fn connected(&self, connection: &Connection) {
        self.set_mode(Some(match connection {
            Connection::Offline => Mode::Offline,
            Connection::Local => Mode::Local,
            Connection::DebuggerPipe { .. } | Connection::DebuggerSerial { .. } => Mode::Debugger,
            Connection::Remote { .. } => Mode::Remote,
        }));
        if connection.is_debugger() {
            self.observe(Observed {
                state: RunState::Paused,
                by: "the connection was made with the target halted",
            });
        }
    }
}
