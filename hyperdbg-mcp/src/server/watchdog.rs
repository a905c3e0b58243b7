//! The end of input, and what must happen after it: ready answers still leave, calls in flight are given up, and the
//! process is gone in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How long calls in flight may go on after the end of input.
const GRACE: Duration = Duration::from_millis(1_000);
/// How long the process may live after the end of input.
const LIFE: Duration = Duration::from_millis(1_800);

/// The state of a connection that can end.
#[derive(Debug, Clone, Default)]
pub struct Ending {
    over: Arc<AtomicBool>,
    begun: CancellationToken,
    give_up: CancellationToken,
    process: bool,
}

impl Ending {
    /// One that ends calls only.
    pub fn of_connection() -> Self {
        Self::default()
    }

    /// One that ends the process too, whatever hangs in it.
    pub fn of_process() -> Self {
        Self {
            process: true,
            ..Self::default()
        }
    }

    /// Called at the end of input.
    pub fn begin(&self) {
        if self.over.swap(true, Ordering::SeqCst) {
            return;
        }
        self.begun.cancel();
        let give_up = self.give_up.clone();
        let ends_process = self.process;
        // A thread of its own: it must act even when every thread of the runtime is stuck.
        let watch = move || {
            std::thread::sleep(GRACE);
            give_up.cancel();
            if ends_process {
                std::thread::sleep(LIFE - GRACE);
                tracing::warn!("something did not end in time after the end of input; leaving");
                std::process::exit(0);
            }
        };
        if std::thread::Builder::new()
            .name("end of input".to_owned())
            .spawn(watch)
            .is_err()
        {
            self.give_up.cancel();
        }
    }

    /// Whether the input has ended.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Done at the end of input: for what waits for nothing but more of it.
    pub async fn begun(&self) {
        self.begun.cancelled().await;
    }

    /// Done when calls in flight must be given up.
    pub async fn give_up(&self) {
        self.give_up.cancelled().await;
    }
}
