//! Requests on their way to the worker: written at once where the channel takes them, which it nearly always does,
//! otherwise by a task, so that no caller's end can cut a frame in two.

use std::io;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::shared::lock;
use super::spawn::Writer;

pub(super) struct Outgoing {
    state: Mutex<State>,
    /// There is a backlog.
    behind: Notify,
}

struct State {
    /// None once the channel is closed.
    writer: Option<Arc<Writer>>,
    /// What the channel did not take yet. One call is in flight at a time, so this stays small.
    backlog: Vec<u8>,
}

impl Outgoing {
    pub(super) fn new(writer: Writer) -> Self {
        Self {
            state: Mutex::new(State {
                writer: Some(Arc::new(writer)),
                backlog: Vec::new(),
            }),
            behind: Notify::new(),
        }
    }

    /// Sends `frame` behind what was sent before. A channel that is gone is noticed by who reads it.
    pub(super) fn send(&self, frame: &[u8]) {
        let mut state = lock(&self.state);
        let Some(writer) = &state.writer else {
            return;
        };
        let written = match state.backlog.is_empty() {
            true => writer.try_write(frame).unwrap_or(0),
            false => 0,
        };
        if written < frame.len() {
            state.backlog.extend_from_slice(&frame[written..]);
            self.behind.notify_one();
        }
    }

    /// Writes what could not be written at once, until the channel fails.
    pub(super) async fn drain(&self) {
        let Some(writer) = lock(&self.state).writer.clone() else {
            return;
        };
        loop {
            self.behind.notified().await;
            while !lock(&self.state).backlog.is_empty() {
                if writer.writable().await.is_err() {
                    return;
                }
                let mut state = lock(&self.state);
                match writer.try_write(&state.backlog) {
                    Ok(written) => drop(state.backlog.drain(..written)),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(_) => return,
                }
            }
            lock(&self.state).backlog.shrink_to(1 << 20);
        }
    }

    /// Closes the channel.
    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        state.writer = None;
        state.backlog = Vec::new();
    }
}
