//! What HyperDbg prints when the target stops, as a record.

use schemars::JsonSchema;
use serde::Serialize;

use crate::output::Untrusted;
use crate::tool::report::{RUNNING, is_code, is_symbol};

// Why the target stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reason {
    Breakpoint,
    Event,
    ProcessSwitch,
    ThreadSwitch,
    ModuleLoaded,
    // A halt that was asked for.
    User,
    // Nothing was printed: a script's pause, or a breakpoint without a number.
    Other,
}

// Before or after what the event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    Pre,
    Post,
}

/// A stop as its text tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) reason: Reason,
    /// Number of the breakpoint or event.
    pub(super) id: Option<u64>,
    pub(super) stage: Option<Stage>,
    /// `module!name+0x…` of the place, where the library knows one.
    pub(super) symbol: Option<String>,
    /// What else was printed: text of scripts and events.
    pub(super) rest: Untrusted,
}

/// Reads a stop report. The last line that names a reason counts: text of an earlier one, or a script's, may precede
/// it.
pub(super) fn parse(text: &[u8]) -> Stop {
    let mut stop = Stop {
        reason: Reason::Other,
        id: None,
        stage: None,
        symbol: None,
        rest: Untrusted::default(),
    };
    // Back from the end, where the report is, to what precedes it.
    let mut in_report = true;
    let mut rest: Vec<&[u8]> = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n').rev() {
        let told = String::from_utf8_lossy(line);
        let told = told.trim();
        if told.is_empty() || told == RUNNING {
            continue;
        }
        if in_report
            && (is_code(told) || told.starts_with("press 'g' to reach") || told.starts_with("oOh, no!"))
        {
            continue;
        }
        if in_report && stop.symbol.is_none() && is_symbol(told) {
            stop.symbol = told.strip_suffix(':').map(str::to_owned);
            continue;
        }
        if in_report && let Some((reason, id, stage)) = reason(told) {
            (stop.reason, stop.id, stop.stage) = (reason, id, stage);
            in_report = false;
            continue;
        }
        in_report = false;
        rest.push(line);
    }
    rest.reverse();
    stop.rest = rest.concat().into();
    stop
}

fn reason(line: &str) -> Option<(Reason, Option<u64>, Option<Stage>)> {
    let numbered = |rest: &str| u64::from_str_radix(rest.split(' ').next()?.strip_prefix("0x")?, 16).ok();
    if let Some(rest) = line.strip_prefix("breakpoint ")
        && line.ends_with(" hit")
    {
        return Some((Reason::Breakpoint, numbered(rest), None));
    }
    if let Some(rest) = line.strip_prefix("event ")
        && let Some((_, stage)) = line.split_once(" triggered (")
    {
        let stage = match stage {
            "pre)" => Some(Stage::Pre),
            "post)" => Some(Stage::Post),
            _ => None,
        };
        return Some((Reason::Event, numbered(rest), stage));
    }
    let reason = match line {
        "switched to the specified process" => Reason::ProcessSwitch,
        "switched to the specified thread" => Reason::ThreadSwitch,
        _ if line.starts_with("the target module is loaded") => Reason::ModuleLoaded,
        _ => return None,
    };
    Some((reason, None, None))
}

impl Stop {
    /// A sentence without its end.
    pub(super) fn describe(&self) -> String {
        let stage = match self.stage {
            Some(Stage::Pre) => " (pre)",
            Some(Stage::Post) => " (post)",
            None => "",
        };
        match (self.reason, self.id) {
            (Reason::Breakpoint, Some(id)) => format!("The target stopped at breakpoint {id:#x}"),
            (Reason::Breakpoint, None) => "The target stopped at a breakpoint".to_owned(),
            (Reason::Event, Some(id)) => format!("The target stopped by event {id:#x}{stage}"),
            (Reason::Event, None) => format!("The target stopped by an event{stage}"),
            (Reason::ProcessSwitch, _) => "The target stopped after switching to the process".to_owned(),
            (Reason::ThreadSwitch, _) => "The target stopped after switching to the thread".to_owned(),
            (Reason::ModuleLoaded, _) => "The target stopped: the module is loaded".to_owned(),
            (Reason::User, _) => "The target was halted as asked".to_owned(),
            (Reason::Other, _) => "The target stopped".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "fffff800`00001000    90                                   nop\n";

    fn told(text: &str) -> (Reason, Option<u64>, Option<Stage>) {
        let stop = parse(text.as_bytes());
        (stop.reason, stop.id, stop.stage)
    }

    #[test]
    fn every_form_of_a_stop_report_is_read() {
        for (text, expected) in [
            (
                format!("debuggee is running...\nbreakpoint 0x1f hit\n{CODE}"),
                (Reason::Breakpoint, Some(0x1f), None),
            ),
            (
                "event 0x2 triggered (pre)\n".to_owned(),
                (Reason::Event, Some(2), Some(Stage::Pre)),
            ),
            (
                format!("event 0x2 triggered (post)\nnt!x:\n{CODE}"),
                (Reason::Event, Some(2), Some(Stage::Post)),
            ),
            (
                "switched to the specified process\n".to_owned(),
                (Reason::ProcessSwitch, None, None),
            ),
            (
                "switched to the specified thread\n".to_owned(),
                (Reason::ThreadSwitch, None, None),
            ),
            (
                format!(
                    "the target module is loaded and a breakpoint is set to the entrypoint\npress 'g' to reach to the entrypoint of the main module...\n{CODE}"
                ),
                (Reason::ModuleLoaded, None, None),
            ),
            (
                format!("breakpoint 0x3 hit\noOh, no! there might be a misinterpretation\n{CODE}"),
                (Reason::Breakpoint, Some(3), None),
            ),
            (CODE.to_owned(), (Reason::Other, None, None)),
            (String::new(), (Reason::Other, None, None)),
            (
                "the script said: breakpoint 0x9 hitx\n".to_owned(),
                (Reason::Other, None, None),
            ),
            ("\u{fffd}".to_owned(), (Reason::Other, None, None)),
        ] {
            assert_eq!(told(&text), expected, "{text}");
        }
    }

    #[test]
    fn the_last_report_counts_and_what_a_script_says_before_it_does_not() {
        let stop = parse(b"breakpoint 0x1 hit\nbreakpoint 0x2 hit\n");
        assert_eq!(stop.id, Some(2));
        assert_eq!(stop.describe(), "The target stopped at breakpoint 0x2");
        assert_eq!(stop.rest.bytes(), b"breakpoint 0x1 hit\n");
        // A script's line that looks like a report, with more behind it, is no report.
        assert_eq!(
            told(&format!("breakpoint 0x9 hit\nsaid the script\n{CODE}")),
            (Reason::Other, None, None)
        );
    }

    #[test]
    fn the_place_has_the_name_that_the_library_gives_it_and_other_text_is_kept() {
        let stop = parse(
            format!("debuggee is running...\nhello: nt!y:\nbreakpoint 0x1 hit\nnt!Close+0x5:\n{CODE}")
                .as_bytes(),
        );
        assert_eq!(stop.symbol.as_deref(), Some("nt!Close+0x5"));
        assert_eq!(stop.rest.bytes(), b"hello: nt!y:\n");
        assert_eq!(parse(b"\xff\xfe\n").rest.bytes(), b"\xff\xfe\n");
    }
}
