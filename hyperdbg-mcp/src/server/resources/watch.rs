//! Tells a client that a resource, or the list of them, has changed.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionSink};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::super::Manager;
use super::super::sessions::Listed;
use crate::tool::Current;

/// Least time between two notifications about one resource.
const INTERVAL: Duration = Duration::from_millis(250);
/// Time between two looks at whether a session whose log is quiet is still there.
const QUIET: Duration = Duration::from_secs(1);

/// Where notifications go.
#[derive(Clone)]
pub(super) enum Sink {
    /// A client that subscribed to a resource.
    Peer(Peer<RoleServer>),
    /// A client that listens, as in 2026-07-28.
    Listener(SubscriptionSink),
}

impl Sink {
    /// Whether it could be said.
    async fn updated(&self, uri: &str) -> bool {
        match self {
            Self::Peer(peer) => {
                let about = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(about).await.is_ok()
            }
            Self::Listener(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }

    async fn list_changed(&self) -> bool {
        match self {
            Self::Peer(peer) => peer.notify_resource_list_changed().await.is_ok(),
            Self::Listener(sink) => sink.notify_resource_list_changed().await.is_ok(),
        }
    }
}

/// Says when the log has records after number `seen`, until the session has ended.
pub(super) async fn watch_events(
    uri: String,
    current: Current,
    mut seen: u64,
    sink: Sink,
    stop: CancellationToken,
) {
    loop {
        // What came last is told before the end.
        let state = current.target.state();
        let pause = if state.events > seen {
            seen = state.events;
            if !sink.updated(&uri).await {
                return;
            }
            INTERVAL
        } else if state.alive {
            Duration::ZERO
        } else {
            return;
        };
        let next = async {
            tokio::time::sleep(pause).await;
            current.target.events(seen, 0, QUIET).await;
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = next => {}
        }
    }
}

/// Says when the list is another than `seen`. It looks instead of being told: workers end by themselves, and outputs are
/// kept wherever one is too long.
pub(super) async fn watch_list(manager: Arc<Manager>, mut seen: Listed, sink: Sink, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        let now = manager.listed();
        if now != seen {
            seen = now;
            if !sink.list_changed().await {
                return;
            }
        }
    }
}

/// A task that watches; it ends when this is dropped.
pub(super) struct Watch {
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl Watch {
    pub(super) fn start<F>(watch: impl FnOnce(CancellationToken) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let task = Some(tokio::spawn(watch(stop.clone())));
        Self { stop, task }
    }

    pub(super) fn is_over(&self) -> bool {
        self.task.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it. What it was about to say has been said when this returns, and nothing follows.
    pub(super) async fn end(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
