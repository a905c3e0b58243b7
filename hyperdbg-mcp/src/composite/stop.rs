//! What HyperDbg prints when the target stops, as a record.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::execution::Position;

/// Why the target stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reason {
    Breakpoint,
    Event,
    ProcessSwitch,
    ThreadSwitch,
    ModuleLoaded,
    /// Nothing was printed: a step, a pause, or a breakpoint without a number.
    Other,
}

/// A stop as its text tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) reason: Reason,
    /// Number of the breakpoint or event.
    pub(super) id: Option<u64>,
}

/// Reads the lines of a stop report. The last line that names a reason counts: text of an earlier one may precede it.
pub(super) fn parse(text: &[u8]) -> Stop {
    let text = String::from_utf8_lossy(text);
    text.lines()
        .rev()
        .find_map(|line| reason(line.trim()))
        .unwrap_or(Stop {
            reason: Reason::Other,
            id: None,
        })
}

fn reason(line: &str) -> Option<Stop> {
    let numbered = |rest: &str| u64::from_str_radix(rest.split(' ').next()?.strip_prefix("0x")?, 16).ok();
    let plain = |reason| Some(Stop { reason, id: None });
    if let Some(rest) = line.strip_prefix("breakpoint ")
        && line.ends_with(" hit")
    {
        return Some(Stop {
            reason: Reason::Breakpoint,
            id: numbered(rest),
        });
    }
    if let Some(rest) = line.strip_prefix("event ")
        && line.contains(" triggered (")
    {
        return Some(Stop {
            reason: Reason::Event,
            id: numbered(rest),
        });
    }
    match line {
        "switched to the specified process" => plain(Reason::ProcessSwitch),
        "switched to the specified thread" => plain(Reason::ThreadSwitch),
        _ if line.starts_with("the target module is loaded") => plain(Reason::ModuleLoaded),
        _ => None,
    }
}

/// A sentence about a stop.
pub(super) fn describe(stop: &Stop, position: Option<&Position>) -> String {
    let mut text = "The target stopped".to_owned();
    match (stop.reason, stop.id) {
        (Reason::Breakpoint, Some(id)) => {
            let _ = write!(text, " at breakpoint {id:#x}");
        }
        (Reason::Breakpoint, None) => text.push_str(" at a breakpoint"),
        (Reason::Event, Some(id)) => {
            let _ = write!(text, " by event {id:#x}");
        }
        (Reason::Event, None) => text.push_str(" by an event"),
        (Reason::ProcessSwitch, _) => text.push_str(" after switching to the process"),
        (Reason::ThreadSwitch, _) => text.push_str(" after switching to the thread"),
        (Reason::ModuleLoaded, _) => text.push_str(": the module is loaded"),
        (Reason::Other, _) => {}
    }
    if let Some(position) = position {
        let _ = write!(text, ", rip {}", position.rip);
        if let Some(instruction) = &position.instruction {
            let _ = write!(text, ": {instruction}");
        }
    }
    text.push('.');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_stop_report_is_read() {
        for (text, reason, id) in [
            (
                "debuggee is running...\nbreakpoint 0x1f hit\nfffff800`00001000  90  nop\n",
                Reason::Breakpoint,
                Some(0x1f),
            ),
            ("event 0x2 triggered (pre)\n", Reason::Event, Some(2)),
            ("event 0x2 triggered (post)\n", Reason::Event, Some(2)),
            ("switched to the specified process\n", Reason::ProcessSwitch, None),
            ("switched to the specified thread\n", Reason::ThreadSwitch, None),
            (
                "the target module is loaded and a breakpoint is set to the entrypoint\npress 'g'\n",
                Reason::ModuleLoaded,
                None,
            ),
            ("fffff800`00001000  90  nop\n", Reason::Other, None),
            ("the script said: breakpoint 0x9 hitx\n", Reason::Other, None),
            ("\u{fffd}", Reason::Other, None),
        ] {
            assert_eq!(parse(text.as_bytes()), Stop { reason, id }, "{text}");
        }
    }

    #[test]
    fn the_last_report_counts() {
        let stop = parse(b"breakpoint 0x1 hit\nbreakpoint 0x2 hit\n");
        assert_eq!(stop.id, Some(2));
        assert_eq!(describe(&stop, None), "The target stopped at breakpoint 0x2.");
    }
}
