//! Misbehaviour on demand: by the variable `HYPERDBG_SIM_FAULT`, or by the command `!sim`.

use crate::console::{CHUNK_LIMIT, print_to_stdout};
use crate::hostile;
use crate::session::Shared;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The variable that arms faults: a list with commas, each entry `FAULT`, `FAULT=MILLISECONDS` or
/// `FAULT@WORD`. With a word, a fault that acts at once waits for the command or export of that name;
/// without, it acts in every command that is not empty. With milliseconds, it acts so much later and on another
/// thread, whatever the library does then; `late-reply` is late by that much.
pub const VARIABLE: &str = "HYPERDBG_SIM_FAULT";

/// A way to misbehave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Never return.
    Hang,
    /// Touch an invalid address.
    Crash,
    /// Abort, as an escaped C++ exception does.
    Abort,
    /// Leave the process with code 0.
    Exit,
    /// Print to standard output although a callback is set.
    Stdout,
    /// Print much to standard error.
    StderrFlood,
    /// Send messages without end.
    Flood,
    /// Send one message of the greatest length.
    LongChunk,
    /// Send bytes that are no UTF-8.
    InvalidUtf8,
    /// Cut a character between two messages.
    SplitUtf8,
    /// Send text from another thread, later.
    LateEvent,
    /// Send text from another thread while the call goes on.
    ForeignText,
    /// Send text from another thread from now on, without end: also while the library is being left.
    EndlessEvents,
    /// Return late.
    LateReply,
    /// Memory reads give half of what was asked for.
    ShortRead,
    /// Typed exports claim success and do nothing.
    WrongReturn,
    /// Abort when two threads are inside exports at once.
    Race,
    /// The debuggee lies to its reader.
    Hostile,
}

/// One row of the fault table.
pub struct Spec {
    /// Name in the variable and after `!sim`.
    pub name: &'static str,
    /// The fault.
    pub fault: Fault,
    /// What happens.
    pub effect: &'static str,
}

const fn spec(name: &'static str, fault: Fault, effect: &'static str) -> Spec {
    Spec { name, fault, effect }
}

/// All faults. The help of `!sim` and the crate's documentation show this table.
pub const FAULTS: &[Spec] = &[
    spec("hang", Fault::Hang, "the call never returns"),
    spec(
        "crash",
        Fault::Crash,
        "the process dies of an invalid address (SIGSEGV)",
    ),
    spec(
        "abort",
        Fault::Abort,
        "the process aborts, as on an escaped C++ exception",
    ),
    spec("exit", Fault::Exit, "the process exits with code 0"),
    spec(
        "stdout",
        Fault::Stdout,
        "a line goes to standard output, past the callback",
    ),
    spec(
        "stderr-flood",
        Fault::StderrFlood,
        "a megabyte goes to standard error",
    ),
    spec("flood", Fault::Flood, "messages are sent without end"),
    spec("long-chunk", Fault::LongChunk, "one message of 4355 bytes"),
    spec(
        "invalid-utf8",
        Fault::InvalidUtf8,
        "a message that is no UTF-8 and holds escapes",
    ),
    spec(
        "split-utf8",
        Fault::SplitUtf8,
        "a character is cut between two messages",
    ),
    spec(
        "late-event",
        Fault::LateEvent,
        "another thread sends text MILLISECONDS later (250)",
    ),
    spec(
        "foreign-text",
        Fault::ForeignText,
        "another thread sends text during the call",
    ),
    spec(
        "endless-events",
        Fault::EndlessEvents,
        "another thread sends text from then on, to the very end of the process",
    ),
    spec(
        "late-reply",
        Fault::LateReply,
        "the call returns MILLISECONDS late (250)",
    ),
    spec(
        "short-read",
        Fault::ShortRead,
        "memory reads return half of the bytes",
    ),
    spec(
        "wrong-return",
        Fault::WrongReturn,
        "typed exports claim success and do nothing",
    ),
    spec(
        "race",
        Fault::Race,
        "the process aborts when two threads call at once",
    ),
    spec(
        "hostile",
        Fault::Hostile,
        "names, memory and every answer hold what misleads their reader",
    ),
];

/// How late what is late comes, unless told otherwise.
const LATE: Duration = Duration::from_millis(250);
/// Between two texts of those that come without end.
const PAUSE: Duration = Duration::from_millis(1);

/// A fault that waits for its moment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Armed {
    fault: Fault,
    word: Option<String>,
    delay: Option<Duration>,
}

/// The faults that are armed.
#[derive(Default)]
pub struct Faults {
    armed: Mutex<Vec<Armed>>,
}

impl Faults {
    /// The faults that `list` names.
    ///
    /// # Errors
    /// The first entry that is no fault.
    pub fn parse(list: &str) -> Result<Self, String> {
        let mut armed = Vec::new();
        for entry in list.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let (entry, word) = match entry.split_once('@') {
                Some((entry, word)) => (entry, Some(word.to_ascii_lowercase())),
                None => (entry, None),
            };
            let (name, delay) = match entry.split_once('=') {
                Some((name, delay)) => (
                    name,
                    Some(
                        delay
                            .parse()
                            .map(Duration::from_millis)
                            .map_err(|_| format!("'{delay}' is no number of milliseconds"))?,
                    ),
                ),
                None => (entry, None),
            };
            let fault = find(name).ok_or_else(|| {
                let names: Vec<&str> = FAULTS.iter().map(|spec| spec.name).collect();
                format!("'{name}' is no fault; the faults are {}", names.join(", "))
            })?;
            armed.push(Armed { fault, word, delay });
        }
        Ok(Self {
            armed: Mutex::new(armed),
        })
    }

    /// The faults that the environment names. A wrong entry is told on standard error and dropped.
    #[must_use]
    pub fn from_environment() -> Self {
        let list = std::env::var(VARIABLE).unwrap_or_default();
        Self::parse(&list).unwrap_or_else(|error| {
            // Standard error is the only place that is heard before a callback is set.
            let _ = writeln!(std::io::stderr(), "{VARIABLE}: {error}");
            Self::default()
        })
    }

    fn armed(&self) -> std::sync::MutexGuard<'_, Vec<Armed>> {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True when `fault` is armed for the export `name`.
    pub fn is_armed(&self, fault: Fault, name: &str) -> bool {
        self.armed().iter().any(|armed| {
            armed.fault == fault && armed.word.as_ref().is_none_or(|word| matches_export(word, name))
        })
    }

    /// Arms a fault that lasts; a second time disarms it. True when it is armed now.
    pub fn toggle(&self, fault: Fault) -> bool {
        let mut armed = self.armed();
        let before = armed.len();
        armed.retain(|known| known.fault != fault);
        if armed.len() == before {
            armed.push(Armed {
                fault,
                word: None,
                delay: None,
            });
        }
        armed.len() > before
    }

    /// The faults that act now in the command `word`.
    fn due_in_command(&self, word: &str) -> Vec<(Fault, Option<Duration>)> {
        let word = word.to_ascii_lowercase();
        let due = |armed: &&Armed| {
            armed.fault.acts_at_once() && armed.word.as_ref().is_none_or(|wanted| *wanted == word)
        };
        self.armed()
            .iter()
            .filter(due)
            .map(|armed| (armed.fault, armed.delay))
            .collect()
    }

    /// The faults that act now in the export `name`: only those that ask for it by name.
    fn due_in_export(&self, name: &str) -> Vec<(Fault, Option<Duration>)> {
        let due = |armed: &&Armed| {
            armed.fault.acts_at_once() && armed.word.as_ref().is_some_and(|word| matches_export(word, name))
        };
        self.armed()
            .iter()
            .filter(due)
            .map(|armed| (armed.fault, armed.delay))
            .collect()
    }
}

fn matches_export(word: &str, name: &str) -> bool {
    name == word || name.strip_prefix("hyperdbg_u_") == Some(word)
}

/// The fault of that name.
#[must_use]
pub fn find(name: &str) -> Option<Fault> {
    FAULTS
        .iter()
        .find(|spec| spec.name.eq_ignore_ascii_case(name))
        .map(|spec| spec.fault)
}

impl Fault {
    /// True for a fault that is an action, false for one that changes other calls.
    #[must_use]
    pub fn acts_at_once(self) -> bool {
        !matches!(
            self,
            Self::ShortRead | Self::WrongReturn | Self::Race | Self::Hostile
        )
    }
}

impl Shared {
    /// Lets the faults act that wait for the command `word`.
    pub fn misbehave_in_command(self: &Arc<Self>, word: &str) {
        for (fault, delay) in self.faults.due_in_command(word) {
            self.misbehave(fault, delay);
        }
    }

    /// Lets the faults act that wait for the export `name`.
    pub fn misbehave_in_export(self: &Arc<Self>, name: &str) {
        for (fault, delay) in self.faults.due_in_export(name) {
            self.misbehave(fault, delay);
        }
        if self.faults.is_armed(Fault::Hostile, name) {
            self.console.say(hostile::TEXT);
            print_to_stdout(hostile::TEXT.as_bytes());
            // Whoever closed the pipe does not want it.
            let _ = std::io::stderr().write_all(hostile::TEXT.as_bytes());
        }
    }

    /// Does it: after `delay` and on another thread where one is given, else now.
    pub fn misbehave(self: &Arc<Self>, fault: Fault, delay: Option<Duration>) {
        match (fault, delay) {
            (Fault::LateEvent, delay) => self.later(delay.unwrap_or(LATE), |shared| {
                shared.console.say("late text from another thread\n");
            }),
            (Fault::LateReply, delay) => std::thread::sleep(delay.unwrap_or(LATE)),
            (fault, Some(delay)) => self.later(delay, move |shared| shared.misbehave_now(fault)),
            (fault, None) => self.misbehave_now(fault),
        }
    }

    fn misbehave_now(self: &Arc<Self>, fault: Fault) {
        match fault {
            Fault::Hang => loop {
                std::thread::park();
            },
            Fault::Crash => {
                // SAFETY: none: the process is meant to die of this read.
                unsafe { std::ptr::without_provenance::<u64>(0x10).read_volatile() };
            }
            Fault::Abort => std::process::abort(),
            Fault::Exit => std::process::exit(0),
            Fault::Stdout => print_to_stdout(b"this line went past the callback\n"),
            Fault::StderrFlood => {
                let line = [b'!'; 1023];
                let mut out = std::io::stderr().lock();
                for _ in 0..1024 {
                    // Whoever closed the pipe does not want the flood.
                    let _ = out.write_all(&line).and_then(|()| out.write_all(b"\n"));
                }
            }
            Fault::Flood => loop {
                self.console.say("flood ");
            },
            Fault::LongChunk => self.console.say(&"long ".repeat(CHUNK_LIMIT / 5)),
            Fault::InvalidUtf8 => self.console.say_bytes(b"not utf-8: \xff\xfe\xc3( \x1b[2J done\n"),
            Fault::SplitUtf8 => {
                self.console.say_bytes(b"gr\xc3");
                self.console.say_bytes(b"\xbc\xc3\x9fe\n");
            }
            Fault::ForeignText => {
                let (sender, started) = std::sync::mpsc::channel();
                self.later(Duration::ZERO, move |shared| {
                    for _ in 0..20 {
                        shared.console.say("(foreign)");
                        // Nobody listens any more once the call is over.
                        let _ = sender.send(());
                        std::thread::sleep(Duration::from_millis(2));
                    }
                });
                // The call goes on until some of the text has come.
                for _ in 0..3 {
                    let _ = started.recv_timeout(Duration::from_secs(1));
                }
            }
            Fault::EndlessEvents => self.later(Duration::ZERO, |shared| {
                loop {
                    shared.console.say("text without end\n");
                    std::thread::sleep(PAUSE);
                }
            }),
            Fault::LateEvent
            | Fault::LateReply
            | Fault::ShortRead
            | Fault::WrongReturn
            | Fault::Race
            | Fault::Hostile => {}
        }
    }

    fn later(self: &Arc<Self>, delay: Duration, act: impl FnOnce(&Arc<Self>) + Send + 'static) {
        let shared = Arc::clone(self);
        let spawned = std::thread::Builder::new()
            .name("simulator-fault".into())
            .spawn(move || {
                std::thread::sleep(delay);
                act(&shared);
            });
        if spawned.is_err() {
            self.console.say("err, no thread for late text\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_faults_is_parsed_with_words_and_delays() {
        let faults = Faults::parse("hang@db, late-event=10,short-read").expect("list");
        assert_eq!(
            faults.due_in_command("db"),
            [
                (Fault::Hang, None),
                (Fault::LateEvent, Some(Duration::from_millis(10))),
            ]
        );
        assert_eq!(
            faults.due_in_command("r"),
            [(Fault::LateEvent, Some(Duration::from_millis(10)))]
        );
        assert!(faults.is_armed(Fault::ShortRead, "hyperdbg_u_read_memory"));
        assert!(!faults.is_armed(Fault::WrongReturn, "hyperdbg_u_read_memory"));
    }

    #[test]
    fn a_fault_for_an_export_takes_its_name_with_or_without_prefix() {
        let faults = Faults::parse("crash@read_memory,abort@hyperdbg_u_assemble").expect("list");
        assert_eq!(faults.due_in_export("hyperdbg_u_read_memory").len(), 1);
        assert_eq!(faults.due_in_export("hyperdbg_u_assemble").len(), 1);
        assert!(faults.due_in_export("hyperdbg_u_get_kernel_base").is_empty());
    }

    #[test]
    fn an_unknown_fault_is_refused_with_the_list() {
        let error = Faults::parse("explode").err().expect("refused");
        assert!(
            error.contains("hang") && error.contains("wrong-return"),
            "{error}"
        );
    }

    #[test]
    fn the_crate_documentation_shows_every_fault() {
        let documentation = include_str!("lib.rs");
        for spec in FAULTS {
            let row = format!("//! | `{}` | {} |", spec.name, spec.effect);
            assert!(
                documentation.contains(&row),
                "the crate documentation lacks the row {row}"
            );
        }
    }
}
