//! The task that stays with a worker from its start to its end: takes in what it sends, keeps what it prints past the
//! callback, and sees it dead.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::failure::Kill;
use super::log::{LogRecord, Origin};
use super::shared::{Shared, lock};
use super::spawn::{self, Family, Reader};
use crate::engine::TailReader;
use crate::engine::protocol::{FrameError, Message, read};

/// How long a worker that closed its channel may take to end by itself, so that its exit code is its own.
const LAST_BREATH: Duration = Duration::from_millis(500);
/// How long what it left in its pipes is read after its end.
const LEFTOVERS: Duration = Duration::from_millis(200);
/// How long the system may take to end a killed process.
const REAP: Duration = Duration::from_secs(5);

/// Starts the tasks of a worker's session.
pub(super) fn start(
    shared: &Arc<Shared>,
    mut child: Child,
    reader: Reader,
    tail: TailReader,
    family: Family,
) {
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let stray = [
        stdout.map(|pipe| tokio::spawn(keep_stray(Arc::clone(shared), pipe, Origin::Stdout))),
        stderr.map(|pipe| tokio::spawn(keep_stray(Arc::clone(shared), pipe, Origin::Stderr))),
    ];
    let writing = tokio::spawn({
        let shared = Arc::clone(shared);
        async move { shared.outgoing.drain().await }
    });
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let status = see_through(&shared, &mut child, reader, &family).await;
        // Where the family is held by a handle, what is left of it goes now, and lets go of the pipes.
        #[allow(clippy::drop_non_drop, reason = "only on some systems it holds something")]
        drop(family);
        writing.abort();
        shared.outgoing.close();
        for task in stray.into_iter().flatten() {
            finish(task).await;
        }
        let unseen = tail.unseen(lock(&shared.state).text_bytes);
        shared.lose(status, unseen);
    });
}

async fn finish(mut task: JoinHandle<()>) {
    if timeout(LEFTOVERS, &mut task).await.is_err() {
        // Something that the library started holds the pipe open.
        task.abort();
    }
}

/// Takes messages in until the worker is dead, and gives its exit status.
async fn see_through(
    shared: &Arc<Shared>,
    child: &mut Child,
    reader: Reader,
    family: &Family,
) -> Option<std::process::ExitStatus> {
    let mut reading = tokio::spawn(take_in(Arc::clone(shared), reader));
    tokio::select! {
        ended = &mut reading => {
            match ended {
                Ok(FrameError::Closed) => {
                    if let Ok(Ok(status)) = timeout(LAST_BREATH, child.wait()).await {
                        return Some(status);
                    }
                    shared.kill(Kill::Protocol("it closed its end and lived on".to_owned()));
                }
                Ok(error) => shared.kill(Kill::Protocol(error.to_string())),
                Err(_) => shared.kill(Kill::Protocol("reading it failed".to_owned())),
            }
            spawn::kill(child, family);
        }
        _ = child.wait() => {}
        () = shared.kill_wanted.notified() => spawn::kill(child, family),
    }
    let status = timeout(REAP, child.wait()).await.ok().and_then(Result::ok);
    if !reading.is_finished() && timeout(LEFTOVERS, &mut reading).await.is_err() {
        reading.abort();
    }
    status
}

async fn take_in(shared: Arc<Shared>, reader: Reader) -> FrameError {
    let mut reader = tokio::io::BufReader::with_capacity(64 << 10, reader);
    let mut buffer = Vec::new();
    loop {
        match read::<Message>(&mut reader, &mut buffer).await {
            Ok(message) => shared.receive(message),
            Err(error) => return error,
        }
    }
}

async fn keep_stray(shared: Arc<Shared>, mut pipe: impl AsyncRead + Unpin, origin: Origin) {
    let mut buffer = vec![0; 8 << 10];
    loop {
        let length = match pipe.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(length) => length,
        };
        let during = {
            let mut state = lock(&shared.state);
            state.stray_bytes += length as u64;
            state.pending.as_ref().map(|pending| pending.function)
        };
        lock(&shared.stray).push(LogRecord {
            sequence: 0,
            at: shared.began.elapsed(),
            origin,
            during,
            lost_before: 0,
            text: buffer[..length].to_vec().into(),
        });
    }
}
