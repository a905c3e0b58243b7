//! The worker process: loads the library, makes the calls that its supervisor sends, and ends with it.
//!
//! Three threads. The first reads requests, so that a break request or the supervisor's end is noticed whatever the
//! library does. The second owns the library and makes every call. The third sends what the library prints.

use std::ffi::OsString;
use std::io::{BufReader, Read, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

pub use super::library::Lookup;

use hyperdbg_sys::Layout;

use super::LibrarySource;
use super::capture::{CAPTURE, Capture};
use super::library::Library;
use super::outbox::Outbox;
use super::platform;
use super::protocol::{Done, FrameError, Hello, Message, OPENING, Refusal, Request, read_blocking};
use crate::generated::Call;

/// Exit code of a worker whose supervisor is gone.
const ORPHANED: u8 = 3;
/// Exit code of a worker that could not start or that was sent something it cannot read.
const BROKEN: u8 = 4;

/// The main thread's usual size: scripts recurse.
const STACK_BYTES: usize = 8 << 20;

enum Job {
    Open(LibrarySource),
    Arrange(Layout),
    Call { id: u64, call: Call },
    End,
}

/// Runs a worker with the simulator as the embedded library. `arguments` are those after the program's `worker`.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    run_with(arguments, hyperdbg_simulator::generated::lookup)
}

/// Runs a worker whose embedded library is what `embedded` finds.
pub fn run_with(arguments: impl IntoIterator<Item = OsString>, embedded: Lookup) -> ExitCode {
    // Its clock starts with the process.
    LazyLock::force(&CAPTURE);
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let ends = match platform::settle().and_then(|()| platform::adopt(&arguments)) {
        Ok(ends) => ends,
        Err(error) => {
            complain(&format!("cannot start: {error}"));
            return ExitCode::from(BROKEN);
        }
    };
    if let Some(tail) = ends.tail {
        CAPTURE.set_tail(tail);
    }
    let outbox = Arc::new(Outbox::new(ends.writer, &CAPTURE));
    let (jobs, queue) = channel();
    let started = start("library", {
        let outbox = Arc::clone(&outbox);
        move || own_library(&outbox, &queue, embedded)
    })
    .and_then(|()| {
        start("text", {
            let outbox = Arc::clone(&outbox);
            move || leave(&outbox.drain())
        })
    });
    match started {
        Ok(()) => leave(&serve(ends.reader, &outbox, &jobs)),
        Err(error) => {
            complain(&format!("cannot start a thread: {error}"));
            ExitCode::from(BROKEN)
        }
    }
}

/// Starts a thread whose panic ends the process: a worker with a thread less would never answer.
fn start(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    struct EndOnPanic;
    impl Drop for EndOnPanic {
        fn drop(&mut self) {
            if std::thread::panicking() {
                platform::exit_now(BROKEN);
            }
        }
    }
    std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let _guard = EndOnPanic;
            body();
        })?;
    Ok(())
}

/// Tells people; the supervisor keeps it as stray output. A stderr that is gone is no reason to fail.
fn complain(what: &str) {
    let _ = writeln!(std::io::stderr(), "hyperdbg-mcp worker: {what}");
}

/// Ends the process as the channel did.
fn leave(error: &FrameError) -> ! {
    if matches!(error, FrameError::Closed) {
        platform::exit_now(ORPHANED);
    }
    complain(&error.to_string());
    platform::exit_now(BROKEN);
}

/// Reads requests until the channel ends.
fn serve(reader: impl Read, outbox: &Outbox<impl Write>, jobs: &Sender<Job>) -> FrameError {
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    let mut buffer = Vec::new();
    loop {
        let request = match read_blocking(&mut reader, &mut buffer) {
            Ok(request) => request,
            Err(error) => return error,
        };
        let passed_on = match request {
            Request::Hello(hello) => {
                if let Err(error) = outbox.send(&Message::Hello(Hello::ours())) {
                    return error;
                }
                if hello != Hello::ours() {
                    return FrameError::Closed;
                }
                Ok(())
            }
            Request::Ping { token } => match outbox.send(&Message::Pong { token }) {
                Ok(()) => Ok(()),
                Err(error) => return error,
            },
            Request::Interrupt { id } => {
                if CAPTURE.call() == Some(id)
                    && let Err(error) = platform::interrupt()
                {
                    complain(&format!("cannot interrupt: {error}"));
                }
                Ok(())
            }
            Request::Open(source) => jobs.send(Job::Open(source)),
            Request::Arrange(layout) => jobs.send(Job::Arrange(layout)),
            Request::Call { id, call } => jobs.send(Job::Call { id, call }),
            Request::Shutdown => jobs.send(Job::End),
        };
        if passed_on.is_err() {
            return FrameError::Closed;
        }
    }
}

/// Makes every call, one after another.
fn own_library(outbox: &Outbox<impl Write>, queue: &Receiver<Job>, embedded: Lookup) {
    Capture::claim_thread();
    let mut library: Option<Library> = None;
    while let Ok(job) = queue.recv() {
        let message = match job {
            Job::Open(source) => {
                CAPTURE.begin(OPENING);
                let result = Library::open(&source, embedded);
                CAPTURE.end();
                match result {
                    Ok((loaded, opened)) => {
                        library = Some(loaded);
                        Message::Opened(opened)
                    }
                    Err(why) => Message::OpenFailed { why },
                }
            }
            Job::Arrange(layout) => {
                if let Some(library) = &mut library {
                    library.arrange(layout);
                }
                continue;
            }
            Job::Call { id, call } => {
                let started = Instant::now();
                let result = match &library {
                    Some(library) => {
                        CAPTURE.begin(id);
                        let result = library.call(call);
                        CAPTURE.end();
                        result
                    }
                    None => Err(Refusal::NotOpened),
                };
                Message::Done(Done {
                    id,
                    result,
                    elapsed: started.elapsed(),
                })
            }
            Job::End => {
                let _ = outbox.send(&Message::Ended);
                platform::exit_now(0);
            }
        };
        if let Err(error) = answer(outbox, &message) {
            leave(&error);
        }
    }
}

/// Sends an answer, or that it is too long for one.
fn answer(outbox: &Outbox<impl Write>, message: &Message) -> Result<(), FrameError> {
    match (outbox.send(message), message) {
        (Err(FrameError::TooLong(bytes)), Message::Done(done)) => outbox.send(&Message::Done(Done {
            id: done.id,
            result: Err(Refusal::AnswerTooLong { bytes }),
            elapsed: done.elapsed,
        })),
        (result, _) => result,
    }
}
