//! Whether a call succeeded, judged by everything that HyperDbg tells: return value, status field, text.

use super::{Category, FunctionInfo, Success, ToolError};
use crate::generated::errors;
use crate::output::Untrusted;

/// The status value that means success in every record that carries one.
const WAS_SUCCESSFUL: u32 = 0xffff_ffff;

/// Judges one call. `returned` is the return value, `status` the status field, `text` what was printed.
///
/// HyperDbg's return values are not enough: several functions return success for a refused request, and some
/// tell only by text (a line that starts with `err, `, with an error code in parentheses at its end).
pub fn verdict(
    function: &'static FunctionInfo,
    returned: Option<i128>,
    status: Option<u64>,
    text: &Untrusted,
) -> Result<(), ToolError> {
    let refused = match function.success {
        Success::NonZero => returned == Some(0),
        Success::Zero => returned.is_some_and(|value| value != 0),
        Success::Unsaid => false,
    };
    let bad_status = match (function.status_ok, status) {
        (Some(ok), Some(value)) if value != ok => Some(value),
        _ => None,
    };
    let complaint =
        Complaint::find(text.bytes()).filter(|_| function.text_errors || refused || bad_status.is_some());
    if !refused && bad_status.is_none() && complaint.is_none() {
        return Ok(());
    }
    let code = bad_status
        .and_then(|status| u32::try_from(status).ok())
        .or_else(|| complaint.as_ref().and_then(|complaint| complaint.code));
    Err(explain(function.symbol, code, complaint.as_ref()).captured(text.clone()))
}

/// The error of a text that complains, where no function's facts are at hand.
pub fn complaint(text: &Untrusted) -> Option<ToolError> {
    let found = Complaint::find(text.bytes())?;
    Some(explain("HyperDbg", found.code, Some(&found)).captured(text.clone()))
}

fn explain(who: &str, code: Option<u32>, complaint: Option<&Complaint>) -> ToolError {
    if let Some(code) = code.filter(|code| *code != WAS_SUCCESSFUL) {
        return match errors::lookup(code) {
            Some(info) => ToolError::new(info.category, format!("{who} refused: {}", info.meaning))
                .code(code)
                .next_step(info.next_step),
            None => ToolError::new(
                Category::Debugger,
                format!("{who} failed with a status that is not in its error table"),
            )
            .code(code)
            .next_step("Read what the debugger printed, if anything, and check the target's state."),
        };
    }
    match complaint.map(|complaint| &complaint.kind) {
        Some(Kind::Usage) => ToolError::new(
            Category::InvalidArgument,
            format!("{who} does not accept the command in this form; it printed how the command is used"),
        )
        .next_step("Read the usage in the captured text, correct the command, and call again."),
        Some(Kind::Sentence(sentence)) => ToolError::new(sentence.category, format!("{who} refused: {}", sentence.meaning))
            .next_step(sentence.next_step),
        Some(Kind::Other) => ToolError::new(Category::Debugger, format!("{who} reported an error; its text is attached"))
            .next_step("Read the captured text and act on what it says."),
        None => ToolError::new(Category::Debugger, format!("{who} reported failure without saying why"))
            .next_step(
                "Check that the session is connected in a mode in which this works and that the target is halted.",
            ),
    }
}

struct Complaint {
    kind: Kind,
    code: Option<u32>,
}

enum Kind {
    /// The usage of a command.
    Usage,
    /// A sentence that carries no code and says something we know.
    Sentence(&'static Sentence),
    /// Any other line that begins with `err, `.
    Other,
}

/// Beginnings of sentences that tell of failure without `err, ` before them.
const BARE: &[&str] = &[
    "handle of the driver not found",
    "the kd (kernel debugger) module is not loaded",
    "the vmm (virtualization) module is not loaded",
    "the trace (hypertrace) module is not loaded",
    "the handshaking process was successful; however",
    "ioctl failed with code",
];

/// What a text without a code tells, by words that occur in it. HyperDbg's preconditions print such sentences.
struct Sentence {
    words: &'static [&'static str],
    category: Category,
    meaning: &'static str,
    next_step: &'static str,
}

const SENTENCES: &[Sentence] = &[
    Sentence {
        words: &["couldn't resolve command"],
        category: Category::InvalidArgument,
        meaning: "there is no such command.",
        next_step: "Check the command's spelling; `.help` followed by a command shows its usage.",
    },
    Sentence {
        words: &["couldn't resolve"],
        category: Category::InvalidArgument,
        meaning: "a part of the command is neither a number, a symbol nor an expression.",
        next_step: "Write numbers as 0x…, and check the symbol's name and that symbols are loaded.",
    },
    Sentence {
        words: &["not connected"],
        category: Category::NotConnected,
        meaning: "nothing is connected.",
        next_step: "Open a session in the mode that this needs.",
    },
    Sentence {
        words: &["you're not connected"],
        category: Category::NotConnected,
        meaning: "nothing is connected.",
        next_step: "Open a session in the mode that this needs.",
    },
    Sentence {
        words: &["handle of the driver", "not found"],
        category: Category::NotLoaded,
        meaning: "the driver is not loaded.",
        next_step: "Load the kernel driver on this machine, or connect to a debuggee.",
    },
    Sentence {
        words: &["mismatch between", "version/build"],
        category: Category::WrongMode,
        meaning: "debugger and debuggee are different builds.",
        next_step: "Use the same build of HyperDbg on both machines.",
    },
    Sentence {
        words: &["com port is not found"],
        category: Category::NotConnected,
        meaning: "there is no debuggee on the other end.",
        next_step: "Connect to a debuggee first.",
    },
    Sentence {
        words: &["module is not loaded"],
        category: Category::NotLoaded,
        meaning: "a kernel module that this needs is not loaded.",
        next_step: "Load the module, or use a mode that does not need it.",
    },
    Sentence {
        words: &["only valid if you connected", "debugger-mode"],
        category: Category::WrongMode,
        meaning: "this works in debugger mode only.",
        next_step: "Open a session in debugger mode, connected to a debuggee.",
    },
    Sentence {
        words: &["debugger mode"],
        category: Category::WrongMode,
        meaning: "this does not work in the current mode.",
        next_step: "Open a session in debugger mode, connected to a debuggee.",
    },
];

impl Complaint {
    fn find(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        let mut usage = false;
        for line in text.lines().map(str::trim_start) {
            if line.starts_with("err, ") || BARE.iter().any(|start| line.starts_with(start)) {
                let code = code_at_end(line);
                let lower = line.to_ascii_lowercase();
                let known = SENTENCES
                    .iter()
                    .find(|sentence| sentence.words.iter().all(|word| lower.contains(word)));
                return Some(Self {
                    kind: known.map_or(Kind::Other, Kind::Sentence),
                    code,
                });
            }
            usage |= line.starts_with("incorrect use of ");
        }
        usage.then_some(Self {
            kind: Kind::Usage,
            code: None,
        })
    }
}

/// The code in `err, … (c0000005)`.
fn code_at_end(line: &str) -> Option<u32> {
    let (_, code) = line.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let code = code.strip_prefix("0x").unwrap_or(code);
    (code.len() == 8)
        .then(|| u32::from_str_radix(code, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tier::Tier;

    static PLAIN: FunctionInfo = FunctionInfo {
        symbol: "hyperdbg_u_read_memory",
        tier: Tier::Read,
        success: Success::NonZero,
        status_ok: None,
        text_errors: true,
        deadline: Duration::from_secs(10),
        until_stop: false,
    };
    static STATUS: FunctionInfo = FunctionInfo {
        success: Success::Unsaid,
        status_ok: Some(0xffff_ffff),
        ..PLAIN
    };
    static ZERO: FunctionInfo = FunctionInfo {
        success: Success::Zero,
        text_errors: false,
        ..PLAIN
    };

    fn said(text: &[u8]) -> Untrusted {
        Untrusted::new(text)
    }

    #[test]
    fn success_needs_every_witness() {
        assert_eq!(verdict(&PLAIN, Some(1), None, &said(b"fine\n")), Ok(()));
        assert_eq!(verdict(&STATUS, Some(0), Some(0xffff_ffff), &said(b"")), Ok(()));
        assert_eq!(
            verdict(&ZERO, Some(0), None, &said(b"err, but its text does not count\n")),
            Ok(())
        );
        assert!(verdict(&PLAIN, Some(0), None, &said(b"")).is_err());
        assert!(verdict(&ZERO, Some(1), None, &said(b"")).is_err());
        assert!(verdict(&PLAIN, Some(1), None, &said(b"err, no\n")).is_err());
    }

    #[test]
    fn a_code_gives_its_meaning_category_and_next_step() {
        let known = errors::ERRORS
            .iter()
            .find(|info| info.category == Category::Unreadable)
            .unwrap();
        let text = format!("first\nerr, some sentence ({:x})\n", known.code);
        let error = verdict(&PLAIN, Some(1), None, &said(text.as_bytes())).unwrap_err();
        assert_eq!(
            (error.code, error.category),
            (Some(known.code), Category::Unreadable)
        );
        assert_eq!(error.next_step.as_deref(), Some(known.next_step));
        assert!(error.message.contains(known.meaning));
        assert_eq!(error.captured.unwrap().bytes(), text.as_bytes());

        let error = verdict(&STATUS, Some(1), Some(known.code.into()), &said(b"")).unwrap_err();
        assert_eq!(
            (error.code, error.category),
            (Some(known.code), Category::Unreadable)
        );
        let error = verdict(&STATUS, Some(1), Some(0xc0ff_ffff), &said(b"")).unwrap_err();
        assert_eq!(
            (error.code, error.category),
            (Some(0xc0ff_ffff), Category::Debugger)
        );
    }

    #[test]
    fn sentences_without_a_code_are_understood() {
        for (text, category) in [
            (
                "err, couldn't resolve command at 'foo'\n",
                Category::InvalidArgument,
            ),
            (
                "incorrect use of the 'bp'\n\nbp : sets\n",
                Category::InvalidArgument,
            ),
            (
                "err, listing breakpoints is only valid if you connected to a debuggee in debugger-mode\n",
                Category::WrongMode,
            ),
            (
                "err, handle to remote debuggee's com port is not found\n",
                Category::NotConnected,
            ),
            ("err, something new\n", Category::Debugger),
            (
                "the vmm (virtualization) module is not loaded. Did you load it?\n",
                Category::NotLoaded,
            ),
            ("handle of the driver not found, probably\n", Category::NotLoaded),
        ] {
            assert_eq!(
                complaint(&said(text.as_bytes())).unwrap().category,
                category,
                "{text}"
            );
        }
        assert!(complaint(&said(b"an err, inside a line\nwarning, x\n")).is_none());
        assert!(complaint(&said(b"\xff\xfe")).is_none());
    }

    #[test]
    fn only_a_code_at_the_end_counts() {
        assert_eq!(code_at_end("err, x (c0000005)"), Some(0xc000_0005));
        assert_eq!(code_at_end("err, x (0xc0000005)\r"), Some(0xc000_0005));
        assert_eq!(code_at_end("err, (c0000005) x"), None);
        assert_eq!(code_at_end("err, x (5)"), None);
        assert_eq!(code_at_end("err, x ()"), None);
    }
}
