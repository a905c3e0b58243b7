//! What the tests share.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyperdbg_mcp::engine::{LibrarySource, Outcome};
use hyperdbg_mcp::generated::{Call, Reply, RunCommandArgs, RunCommandReply};
use hyperdbg_mcp::session::{Session, SessionConfig, WorkerProgram};
use hyperdbg_mcp::tool::{Category, ToolError};
use libtest_mimic::Trial;

pub(crate) use crate::process::system::exists as runs;

/// Longer than anything that is not expected to time out.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// A deadline that is meant to pass.
pub(crate) const SHORT: Duration = Duration::from_millis(300);

/// Longer than a test of the usual size takes on any machine.
const BOUND: Duration = Duration::from_secs(180);

pub(crate) fn trial<F>(name: &'static str, body: fn() -> F) -> Trial
where
    F: Future<Output = ()> + 'static,
{
    trial_within(name, BOUND, body)
}

pub(crate) fn trial_within<F>(name: &'static str, bound: Duration, body: fn() -> F) -> Trial
where
    F: Future<Output = ()> + 'static,
{
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            tokio::time::timeout(bound, body()).await.expect("the test hangs");
        });
        Ok(())
    })
}

pub(crate) fn config() -> SessionConfig {
    let worker = WorkerProgram {
        program: std::env::current_exe().unwrap(),
        arguments: vec!["worker".into()],
    };
    SessionConfig {
        grace: Duration::from_millis(500),
        ..SessionConfig::new(LibrarySource::Embedded, worker)
    }
}

pub(crate) async fn open() -> Arc<Session> {
    Session::open(config()).await.unwrap()
}

pub(crate) fn command(text: &str) -> Call {
    Call::RunCommand(RunCommandArgs {
        command: text.as_bytes().to_vec(),
    })
}

pub(crate) async fn run(session: &Session, text: &str) -> Result<Outcome<Reply>, ToolError> {
    session.call(command(text), LONG).await
}

/// The text of a call that works.
pub(crate) async fn say(session: &Session, text: &str) -> String {
    String::from_utf8(run(session, text).await.unwrap().text.bytes().to_vec()).unwrap()
}

pub(crate) fn returned(value: i32) -> Reply {
    Reply::RunCommand(RunCommandReply { returned: value })
}

#[track_caller]
pub(crate) fn assert_category<T: std::fmt::Debug>(result: &Result<T, ToolError>, category: Category) {
    match result {
        Err(error) => {
            assert_eq!(error.category, category, "{error}");
            assert!(
                error.next_step.is_some(),
                "an error says what to do next: {error}"
            );
        }
        Ok(value) => panic!("{category} was expected, not {value:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_within(started: Instant, least: Duration, most: Duration) {
    let elapsed = started.elapsed();
    assert!(
        least <= elapsed && elapsed <= most,
        "{elapsed:?} is not within {least:?}..{most:?}"
    );
}

/// Waits until `done` holds.
pub(crate) async fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(5);
    while !done() {
        assert!(Instant::now() < until, "not within 5 s: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
