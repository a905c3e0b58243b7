//! Events of the hypervisor: armed with a budget, listed, switched, removed.

use std::sync::Arc;
use std::time::Duration;

use hyperdbg_mcp_macros::composite_tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{budget, calls};
use crate::output::Captured;
use crate::policy::{self, Kind};
use crate::tier::{Destructive, Read, State};
use crate::tool::typed::Answer;
use crate::tool::value::Hex;
use crate::tool::{Arguments, Armed, Budget, Category, Cx, Listing, Meter, ToolError, Undo};

/// What an event waits for; the names are those of HyperDbg's commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum What {
    Epthook,
    Epthook2,
    Monitor,
    Syscall,
    Sysret,
    Cpuid,
    Msrread,
    Msrwrite,
    Interrupt,
    Exception,
    Ioin,
    Ioout,
    Tsc,
    Pmc,
    Vmcall,
    Dr,
    Crwrite,
}

impl What {
    fn command(self) -> &'static str {
        match self {
            Self::Epthook => "!epthook",
            Self::Epthook2 => "!epthook2",
            Self::Monitor => "!monitor",
            Self::Syscall => "!syscall",
            Self::Sysret => "!sysret",
            Self::Cpuid => "!cpuid",
            Self::Msrread => "!msrread",
            Self::Msrwrite => "!msrwrite",
            Self::Interrupt => "!interrupt",
            Self::Exception => "!exception",
            Self::Ioin => "!ioin",
            Self::Ioout => "!ioout",
            Self::Tsc => "!tsc",
            Self::Pmc => "!pmc",
            Self::Vmcall => "!vmcall",
            Self::Dr => "!dr",
            Self::Crwrite => "!crwrite",
        }
    }

    fn needs_value(self) -> bool {
        matches!(
            self,
            Self::Epthook | Self::Epthook2 | Self::Monitor | Self::Interrupt | Self::Crwrite
        )
    }

    fn takes_value(self) -> bool {
        self.needs_value()
            || !matches!(
                self,
                Self::Sysret | Self::Tsc | Self::Pmc | Self::Vmcall | Self::Dr
            )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Pre,
    Post,
    All,
}

#[derive(Deserialize, JsonSchema)]
struct SetInput {
    event: What,
    /// Address of a hook, first address of monitor, else the number of the syscall, leaf, register, vector or port.
    value: Option<Hex>,
    /// monitor: last address.
    to: Option<Hex>,
    /// monitor: r, w, x or several.
    #[schemars(length(min = 1, max = 3))]
    access: Option<String>,
    /// Script to run at each hit, in HyperDbg's language; without it the target is halted, in debugger mode.
    script: Option<String>,
    /// Only in this process.
    pid: Option<u32>,
    /// Only on this core.
    core: Option<u32>,
    stage: Option<Stage>,
    /// Lines of text, or stops, after which the server disables it.
    #[serde(default = "default_hits")]
    #[schemars(range(min = 1, max = 1_000_000))]
    max_hits: u32,
    /// Bytes of text after which the server disables it.
    #[serde(default = "default_bytes")]
    #[schemars(range(min = 1, max = 4_000_000))]
    max_bytes: u32,
    /// Time after which the server disables it.
    #[serde(default = "default_seconds")]
    #[schemars(range(min = 1, max = 86_400))]
    max_seconds: u32,
}

fn default_hits() -> u32 {
    100
}

fn default_bytes() -> u32 {
    262_144
}

fn default_seconds() -> u32 {
    600
}

impl SetInput {
    /// The line that arms it.
    fn line(&self) -> Result<String, ToolError> {
        let bad = |message: &str| {
            ToolError::new(Category::InvalidArgument, message)
                .next_step("Correct the arguments and call again.")
        };
        let mut words = vec![self.event.command().to_owned()];
        if self.event.needs_value() && self.value.is_none() {
            return Err(bad("This event needs `value`."));
        }
        if self.value.is_some() && !self.event.takes_value() {
            return Err(bad("This event takes no `value`."));
        }
        match (self.event, &self.access, self.to) {
            (What::Monitor, Some(access), Some(_)) => {
                let mut seen: Vec<char> = access.chars().collect();
                seen.sort_unstable();
                seen.dedup();
                if seen.len() != access.len() || !seen.iter().all(|ch| matches!(ch, 'r' | 'w' | 'x')) {
                    return Err(bad("`access` is made of r, w and x, each once."));
                }
                words.push(access.clone());
            }
            (What::Monitor, _, _) => return Err(bad("monitor needs `access` and `to`.")),
            (_, None, None) => {}
            _ => return Err(bad("`access` and `to` belong to monitor.")),
        }
        words.extend(self.value.map(|value| value.to_string()));
        words.extend(self.to.map(|to| to.to_string()));
        words.extend(self.pid.map(|pid| format!("pid {pid:#x}")));
        words.extend(self.core.map(|core| format!("core {core:#x}")));
        words.extend(self.stage.map(|stage| {
            let name = match stage {
                Stage::Pre => "pre",
                Stage::Post => "post",
                Stage::All => "all",
            };
            format!("stage {name}")
        }));
        if let Some(script) = &self.script {
            if let Some((problem, step)) = policy::complaint(Kind::Script, script.trim()) {
                return Err(ToolError::new(Category::InvalidArgument, problem).next_step(step));
            }
            words.push(format!("script {{ {} }}", script.trim()));
        }
        Ok(words.join(" "))
    }
}

/// The line that a call with these arguments sends.
pub(super) fn line(arguments: Arguments) -> Result<String, ToolError> {
    arguments.typed::<SetInput>()?.line()
}

#[derive(Serialize, JsonSchema)]
struct SetOutput {
    /// Its number.
    id: Hex,
    /// The line that armed it.
    command: String,
}

/// Arms an event of the hypervisor: at each hit a script runs, whose text goes to the event log, or the target is halted.
/// A script can do anything. Each event has a budget: when its hits, bytes or time are used up, the server disables it
/// and says which; a running debuggee is halted for that. The count is over all text that events print.
#[composite_tool(
    name = "hd_event_set",
    title = "Arm an event",
    group = "event",
    tier = "destructive",
    opt_in = true,
    uses(
        hyperdbg_u_run_command,
        hyperdbg_u_run_command("events"),
        hyperdbg_u_run_command("events d")
    )
)]
async fn set(cx: Cx<Destructive>, input: SetInput) -> Result<Answer<SetOutput>, ToolError> {
    let cleared = cx.cleared(&input.line()?)?;
    let line = cleared.text.clone();
    let note = cleared.note();
    let before = parse(calls::list(&cx, Listing::Events).await?.bytes());
    let meter = Arc::new(Meter::new(Budget {
        hits: input.max_hits.into(),
        bytes: input.max_bytes.into(),
        time: Duration::from_secs(input.max_seconds.into()),
    }));
    // In local mode it can fire before the call that arms it has returned.
    if let Some(current) = cx.current() {
        current.target.count(&meter);
    }
    let (printed, _) = calls::run_command(&cx.engine().await?, &line).await?;
    let after = parse(calls::list(&cx, Listing::Events).await?.bytes());
    let new = after
        .iter()
        .find(|row| !before.iter().any(|old| old.id == row.id));
    let (Some(new), Some(current)) = (new, cx.current()) else {
        // Success prints nothing; what was printed is the reason.
        return Err(ToolError::new(
            Category::Debugger,
            format!("HyperDbg lists no new event after `{line}`."),
        )
        .next_step("Its text says why; check address, number, and that the vmm module is loaded.")
        .captured(printed));
    };
    let id = new.id;
    {
        let mut pages = current.book.pages();
        let armed = Armed {
            // As it is listed, so that it is known again.
            command: new.command.clone(),
            epoch: pages.epoch,
            meter: Some(Arc::clone(&meter)),
            ended: None,
        };
        pages.events.insert(id, armed);
    }
    budget::watch(current, id, meter);
    let mut text = format!("Event {id:#x} is armed by `{line}`.");
    if let Some(note) = note {
        text.push_str(&format!(" {note}"));
    }
    let output = SetOutput {
        id: Hex(id),
        command: line,
    };
    Ok(Answer::new(output, text).captured(printed))
}

#[derive(Deserialize, JsonSchema)]
struct NoInput {}

#[derive(Serialize, JsonSchema)]
struct ListOutput {
    events: Vec<Row>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    id: Hex,
    enabled: bool,
    command: Captured,
    /// Lines and stops so far, of those that this session armed.
    #[serde(skip_serializing_if = "Option::is_none")]
    hits: Option<u64>,
    /// Lines that came after its budget was used up and before it was off: they are nowhere kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<u64>,
    /// The budget that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_by: Option<&'static str>,
}

/// Lists the events that are armed, and which budget ended those that the server disabled.
#[composite_tool(
    name = "hd_event_list",
    title = "List events",
    group = "event",
    tier = "read",
    opt_in = true,
    uses(hyperdbg_u_run_command("events"))
)]
async fn list(cx: Cx<Read>, _: NoInput) -> Result<Answer<ListOutput>, ToolError> {
    // Looked up before the listing: one that was ended by then is listed as disabled.
    let armed = cx
        .current()
        .map(|current| current.book.pages().events.clone())
        .unwrap_or_default();
    let listed = parse(calls::list(&cx, Listing::Events).await?.bytes());
    let mut view = String::new();
    let events: Vec<Row> = listed
        .into_iter()
        .map(|row| {
            let own = armed.get(&row.id);
            let ended_by = own.and_then(|armed| armed.ended);
            view.push_str(&format!(
                "{:#x}  {}  {}\n",
                row.id,
                if row.enabled { "enabled" } else { "disabled" },
                row.command
            ));
            Row {
                id: Hex(row.id),
                enabled: row.enabled,
                command: Captured::new(row.command.as_bytes()),
                hits: own.and_then(Armed::counts).map(|counts| counts.hits),
                dropped: own
                    .and_then(Armed::counts)
                    .map(|counts| counts.dropped)
                    .filter(|dropped| *dropped > 0),
                ended_by,
            }
        })
        .collect();
    let mut text = format!("{} events.", events.len());
    for row in events.iter().filter(|row| row.ended_by.is_some()) {
        text.push_str(&format!(
            " Event {} was disabled by its budget {}.",
            row.id,
            row.ended_by.unwrap_or_default()
        ));
    }
    Ok(Answer::new(ListOutput { events }, text).view(view.into_bytes()))
}

#[derive(Deserialize, JsonSchema)]
struct OneInput {
    /// Its number.
    id: Hex,
}

#[derive(Serialize, JsonSchema)]
struct ChangeOutput {
    id: Hex,
}

/// Refuses the number of an event that was armed in an earlier epoch, where it means another event by now.
async fn needs_same_event(cx: &Cx<State>, id: Hex) -> Result<(), ToolError> {
    let Some(current) = cx.current() else {
        return Ok(());
    };
    let (epoch, armed) = {
        let pages = current.book.pages();
        (pages.epoch, pages.events.get(&id.0).cloned())
    };
    let Some(armed) = armed.filter(|armed| armed.epoch < epoch) else {
        return Ok(());
    };
    let listed = parse(calls::list(cx, Listing::Events).await?.bytes());
    let is_same = listed
        .iter()
        .any(|row| row.id == id.0 && row.command == armed.command);
    let mut pages = current.book.pages();
    if is_same {
        if let Some(own) = pages.events.get_mut(&id.0) {
            own.epoch = epoch;
        }
        return Ok(());
    }
    pages.events.remove(&id.0);
    Err(ToolError::new(
        Category::InvalidArgument,
        format!(
            "Event {id} is stale: it was armed by `{}` in epoch {}, and is gone in epoch {epoch}.",
            armed.command, armed.epoch
        ),
    )
    .next_step("List the events, and name one of those that are armed now."))
}

async fn change(cx: &Cx<State>, undo: Undo, id: Hex, done: &str) -> Result<Answer<ChangeOutput>, ToolError> {
    needs_same_event(cx, id).await?;
    let printed = cx.undo(undo).await?;
    Ok(Answer::new(ChangeOutput { id }, format!("Event {id} is {done}.")).captured(printed))
}

/// Switches an event on again, with its budget anew.
#[composite_tool(
    name = "hd_event_enable",
    title = "Enable an event",
    group = "event",
    tier = "state",
    opt_in = true,
    uses(hyperdbg_u_run_command("events"), hyperdbg_u_run_command("events e"))
)]
async fn enable(cx: Cx<State>, input: OneInput) -> Result<Answer<ChangeOutput>, ToolError> {
    let known = cx.current().and_then(|current| {
        let old = current.book.pages().events.get(&input.id.0)?.meter.clone()?;
        // A meter of its own, so that who watched the old one ends.
        let meter = Arc::new(old.anew());
        current.target.count(&meter);
        Some((current, meter))
    });
    let answer = change(&cx, Undo::EnableEvent(input.id.0), input.id, "enabled").await?;
    if let Some((current, meter)) = known {
        if let Some(armed) = current.book.pages().events.get_mut(&input.id.0) {
            armed.ended = None;
            armed.meter = Some(Arc::clone(&meter));
        }
        budget::watch(current, input.id.0, meter);
    }
    Ok(answer)
}

/// Switches an event off; it stays listed.
#[composite_tool(
    name = "hd_event_disable",
    title = "Disable an event",
    group = "event",
    tier = "state",
    opt_in = true,
    uses(hyperdbg_u_run_command("events"), hyperdbg_u_run_command("events d"))
)]
async fn disable(cx: Cx<State>, input: OneInput) -> Result<Answer<ChangeOutput>, ToolError> {
    change(&cx, Undo::DisableEvent(input.id.0), input.id, "disabled").await
}

/// Removes an event. In debugger mode it is only disabled now and goes when the target is next continued: do not arm the
/// same event again before that.
#[composite_tool(
    name = "hd_event_clear",
    title = "Remove an event",
    group = "event",
    tier = "state",
    opt_in = true,
    uses(hyperdbg_u_run_command("events"), hyperdbg_u_run_command("events c"))
)]
async fn clear(cx: Cx<State>, input: OneInput) -> Result<Answer<ChangeOutput>, ToolError> {
    let answer = change(&cx, Undo::ClearEvent(input.id.0), input.id, "cleared").await?;
    if let Some(current) = cx.current() {
        current.book.pages().events.remove(&input.id.0);
    }
    Ok(answer)
}

/// A row of `events`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) id: u64,
    pub(super) enabled: bool,
    pub(super) command: String,
}

/// Reads the rows of `events`: number, state in parentheses, the line.
pub(super) fn parse(text: &[u8]) -> Vec<Listed> {
    String::from_utf8_lossy(text)
        .lines()
        .filter_map(|line| {
            let (id, rest) = line.split_once('\t')?;
            let (state, command) = rest.split_once('\t')?;
            Some(Listed {
                id: u64::from_str_radix(id.trim(), 16).ok()?,
                enabled: match state.trim() {
                    "(enabled)" => true,
                    "(disabled)" => false,
                    _ => return None,
                },
                command: command.trim().to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: serde_json::Value) -> Result<String, ToolError> {
        serde_json::from_value::<SetInput>(json).unwrap().line()
    }

    #[test]
    fn an_event_becomes_one_line_of_the_debugger() {
        use serde_json::json;
        assert_eq!(
            line(json!({"event": "epthook", "value": "0xfffff80000001000", "script": "printf(\"x\\n\");"}))
                .unwrap(),
            r#"!epthook 0xfffff80000001000 script { printf("x\n"); }"#
        );
        assert_eq!(
            line(json!({"event": "monitor", "value": "0x1000", "to": "0x1fff", "access": "rw", "stage": "post", "core": 1}))
                .unwrap(),
            "!monitor rw 0x1000 0x1fff core 0x1 stage post"
        );
        assert_eq!(line(json!({"event": "cpuid"})).unwrap(), "!cpuid");
        for wrong in [
            json!({"event": "epthook"}),
            json!({"event": "sysret", "value": "0x1"}),
            json!({"event": "monitor", "value": "0x1", "to": "0x2", "access": "rr"}),
            json!({"event": "monitor", "value": "0x1", "access": "r"}),
            json!({"event": "cpuid", "access": "r"}),
            json!({"event": "cpuid", "script": ""}),
        ] {
            assert!(line(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_script_that_leaves_its_braces_is_sent_to_nobody_unseen() {
        use crate::policy::{Level, Options, classify};
        for script in ["}", "{", "} script {", "printf(\"}"] {
            let line = line(serde_json::json!({"event": "cpuid", "script": script})).unwrap();
            let verdict = classify(Kind::Command, &line, &Options::default());
            assert!(verdict.level >= Level::Destructive, "{line}: {}", verdict.reason);
        }
    }

    #[test]
    fn the_rows_of_a_listing_are_read() {
        let rows = parse(b"0\t(enabled)\t    !cpuid script { }\n1f\t(disabled)\t    !tsc\n");
        assert_eq!(
            rows,
            [
                Listed {
                    id: 0,
                    enabled: true,
                    command: "!cpuid script { }".to_owned()
                },
                Listed {
                    id: 0x1f,
                    enabled: false,
                    command: "!tsc".to_owned()
                }
            ]
        );
        assert!(parse(b"no active/disabled events \n").is_empty());
        assert!(parse(b"\xff\t(enabled)\tx\nx\t(enabled)\tx\n1\t(odd)\tx\n").is_empty());
    }
}
