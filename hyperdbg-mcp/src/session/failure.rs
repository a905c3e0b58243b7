//! What a caller is told when a call did not come back as it should.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

use super::status::Mode;
use crate::engine::protocol::Refusal;
use crate::output::Untrusted;
use crate::tool::{Category, ToolError};

/// Why the supervisor ended a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kill {
    /// A call outlived its deadline and the grace after it.
    Deadline,
    /// A call that its client took back did not return by its deadline.
    Cancelled,
    /// The library could not be opened in time.
    OpenDeadline(Duration),
    /// It sent something that is no message.
    Protocol(String),
    /// It is another build of this program.
    OtherBuild(String),
    /// Somebody asked for it.
    Requested,
    /// The session was closed or dropped.
    Closed,
}

/// How a worker ended.
#[derive(Debug, Clone)]
pub(super) struct Loss {
    pub(super) kill: Option<Kill>,
    pub(super) status: Option<ExitStatus>,
    /// What the library was doing.
    pub(super) during: Option<(&'static str, Duration)>,
    pub(super) mode: Option<Mode>,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kill {
            Some(Kill::Deadline) => {
                f.write_str("was killed because a call outlived its deadline and a break request")
            }
            Some(Kill::Cancelled) => f.write_str("was killed because a cancelled call did not return"),
            Some(Kill::OpenDeadline(deadline)) => {
                write!(
                    f,
                    "was killed because the library was not ready after {deadline:.1?}"
                )
            }
            Some(Kill::Protocol(why)) => write!(f, "was killed because its channel broke ({why})"),
            Some(Kill::OtherBuild(build)) => write!(f, "was killed because it is another build ({build})"),
            Some(Kill::Requested) => f.write_str("was killed on request"),
            Some(Kill::Closed) => f.write_str("ended with its session"),
            None => match self.status {
                Some(status) => f.write_str(&describe(status)),
                None => f.write_str("ended in a way that the system does not tell"),
            },
        }?;
        if let Some((function, age)) = self.during {
            write!(f, ", {age:.1?} into {function}")?;
        }
        Ok(())
    }
}

/// An exit status in words.
fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(number) = status.signal() {
            return match nix::sys::signal::Signal::try_from(number) {
                Ok(signal) => format!("was ended by signal {number} ({signal})"),
                Err(_) => format!("was ended by signal {number}"),
            };
        }
    }
    match status.code() {
        Some(code) if cfg!(windows) && !(0..256).contains(&code) => describe_windows(code.cast_unsigned()),
        Some(code) => format!("exited with code {code}"),
        None => "ended".to_owned(),
    }
}

/// A Windows exit code that is no number of a program's own: the reason for which the system ended the process. It
/// reads better in hexadecimal, and better still by name.
fn describe_windows(code: u32) -> String {
    let name = match code {
        0x4000_0015 => "abort",
        0x8000_0003 => "breakpoint",
        0xc000_0005 => "access violation",
        0xc000_0006 => "in-page I/O error",
        0xc000_0017 => "out of memory",
        0xc000_001d => "illegal instruction",
        0xc000_0025 => "noncontinuable exception",
        0xc000_0094 => "integer division by zero",
        0xc000_0096 => "privileged instruction",
        0xc000_00fd => "stack overflow",
        0xc000_0135 => "a library that it needs was not found",
        0xc000_0139 => "a function that it needs was not found in a library",
        0xc000_013a => "ended by Ctrl+C or Ctrl+Break",
        0xc000_0142 => "a library that it needs failed to start",
        0xc000_0374 => "heap corruption",
        // `abort`, a failed assertion, and an argument that the C runtime refuses, such as a message over its buffer.
        0xc000_0409 => "fast failure: abort, or a check of the C runtime",
        0xc000_0417 => "invalid argument to the C runtime",
        0xe06d_7363 => "a C++ exception that nothing caught",
        _ => return format!("exited with code {code:#010x}"),
    };
    format!("exited with code {code:#010x} ({name})")
}

/// What a lost worker can mean for what it debugged.
fn aftermath(mode: Option<Mode>) -> &'static str {
    match mode {
        Some(Mode::Offline) => "Nothing was attached. Open a new session.",
        Some(Mode::Local) => {
            "Kernel modules that it had loaded are still loaded, and events that it had armed still fire. Open a new \
             session and look before you load anything again."
        }
        Some(Mode::Debugger) => {
            "The debuggee may stay halted as it was, since its debugger is gone: open a new session and connect to it \
             again, then resume it; if it does not answer, restart its side of the connection or the machine."
        }
        Some(Mode::Remote) => "The remote side goes on by itself. Open a new session and connect again.",
        None => {
            "Open a new session. If a kernel debuggee was connected, it may stay halted until a debugger connects \
             again and resumes it."
        }
    }
}

impl Loss {
    /// The error of the call that was being made when the worker ended.
    pub(super) fn of_call(&self, deadline: Duration, captured: Untrusted) -> ToolError {
        let error = match &self.kill {
            Some(Kill::Deadline) => ToolError::new(
                Category::Timeout,
                format!(
                    "{} did not return within {deadline:.1?}; a break request did not help, and the worker was killed.",
                    self.during.map_or("The call", |(function, _)| function)
                ),
            )
            .next_step(aftermath(self.mode)),
            Some(Kill::Closed) => {
                ToolError::new(Category::NotConnected, "The session was closed during the call.")
                    .next_step("Open a new session.")
            }
            Some(Kill::OpenDeadline(_)) => {
                ToolError::new(Category::Timeout, format!("The worker process {self}."))
                    .next_step("Check that the library is HyperDbg's and loads without waiting, then open again.")
            }
            Some(Kill::OtherBuild(_)) => ToolError::new(Category::Internal, format!("The worker process {self}."))
                .next_step("The program's file was replaced while it ran: restart the server."),
            Some(_) => ToolError::new(Category::WorkerLost, format!("The worker process {self}."))
                .next_step(aftermath(self.mode)),
            None => ToolError::new(Category::WorkerLost, format!("The worker process {self}.")).next_step(format!(
                "Do not repeat the same input: it may end the next worker too. {}",
                aftermath(self.mode)
            )),
        };
        error.captured(captured)
    }

    /// The error of every later call.
    pub(super) fn of_later_call(&self) -> ToolError {
        match self.kill {
            Some(Kill::Closed) => ToolError::new(Category::NotConnected, "The session is closed.")
                .next_step("Open a new session."),
            _ => ToolError::new(
                Category::WorkerLost,
                format!("The session's worker process has ended: it {self}."),
            )
            .next_step(aftermath(self.mode)),
        }
    }
}

/// The library is busy with another call.
pub(super) fn busy(function: &str, age: Duration, waited: Duration) -> ToolError {
    ToolError::new(
        Category::Busy,
        format!("The library is busy: {function} has been running for {age:.1?}; waited {waited:.1?}."),
    )
    .next_step("Call again later, or look at the session's status.")
}

/// The target runs.
pub(super) fn running(age: Duration) -> ToolError {
    ToolError::new(
        Category::TargetRunning,
        format!("The target has been running for {age:.1?} and has not stopped."),
    )
    .next_step("Pause the target, or wait for its next stop, then call again.")
}

/// A call was broken off at its deadline and came back.
pub(super) fn interrupted(
    function: &str,
    deadline: Duration,
    until_stop: bool,
    text: Untrusted,
) -> ToolError {
    ToolError::new(
        Category::Timeout,
        format!("{function} did not return within {deadline:.1?}; it was told to break off and then returned."),
    )
    .next_step(if until_stop {
        "The session works on. The target was asked to halt: check that it did before you go on."
    } else {
        "The session works on. Ask for less at once, or allow more time. Breaking off can hold back event output \
         until the target is continued."
    })
    .captured(text)
}

/// The library is not called, because its SDK says that it would be called wrongly.
pub(super) fn abi_mismatch(symbol: &str, why: &str) -> ToolError {
    ToolError::new(
        Category::AbiMismatch,
        format!("{symbol} is not called: the loaded library is of another SDK than this program was made for: {why}."),
    )
    .next_step(
        "Use another tool. A person can see with `hyperdbg-mcp doctor` what else differs, and use hyperdbg-mcp for that \
         HyperDbg.",
    )
}

/// The worker has no reply.
pub(super) fn refused(refusal: Refusal, text: Untrusted) -> ToolError {
    match refusal {
        Refusal::MissingExport { symbol } => ToolError::new(
            Category::MissingExport,
            format!("The loaded library does not export {symbol}."),
        )
        .next_step("Use another tool, or a HyperDbg release whose SDK has this function."),
        Refusal::BadArgument { symbol, param, why } => ToolError::new(
            Category::InvalidArgument,
            format!("{symbol} cannot be called with this `{param}`: {why}."),
        )
        .next_step("Correct the argument and call again."),
        Refusal::Mismatch { symbol, why } => abi_mismatch(&symbol, &why),
        Refusal::AnswerTooLong { bytes } => ToolError::new(
            Category::InvalidArgument,
            format!("The call was made, but its answer of {bytes} bytes is too long to be sent."),
        )
        .next_step("Ask for less at once."),
        Refusal::NotOpened => ToolError::internal("a call reached a worker before its library was open"),
        Refusal::Panicked { why } => {
            ToolError::internal(format!("the worker failed to make the call: {why}"))
        }
    }
    .captured(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_windows_caused_has_a_name() {
        assert_eq!(
            describe_windows(0xc000_0005),
            "exited with code 0xc0000005 (access violation)"
        );
        assert_eq!(describe_windows(0xc000_0999), "exited with code 0xc0000999");
    }
}
