//! The record of a halted target: why, where, what changed, what comes next.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::calls::{self, Place};
use super::connect::Prompt;
use super::stop::{self, Reason, Stage, Stop};
use super::{budget, disassemble, registers};
use crate::generated::ShowSignatureArgs;
use crate::output::{Captured, Untrusted};
use crate::tier::{Permits, Read};
use crate::tool::typed::Answer;
use crate::tool::value::Hex;
use crate::tool::{Current, Cx, Delivery, ToolError, complaint, sweep};

/// Bytes in which the next instructions are looked for.
const CODE_BYTES: u32 = 48;
/// Instructions that are shown.
const INSTRUCTIONS: u32 = 3;
/// Bytes of what scripts printed during a run that the record of its stop repeats.
const PRINTED: usize = 1_000;
/// Changed registers that are listed.
const CHANGED: usize = 8;

// Whether the target runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum RunState {
    Stopped,
    Running,
}

// Without doc comments, which would be repeated in the schema of every tool of run control.
#[derive(Serialize, JsonSchema)]
pub(super) struct StopOutput {
    pub(super) state: RunState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exec_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(super) reason: Option<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Hex>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(super) stage: Option<Stage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) core: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rip: Option<Hex>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<Captured>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) next: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) changed: Vec<String>,
    pub(super) waited_ms: u32,
}

/// Where the halted core stands.
pub(super) struct Position {
    pub(super) rip: u64,
    pub(super) core: Option<u32>,
    pub(super) next: Vec<String>,
    pub(super) changed: Vec<String>,
}

/// Registers of the halted core and the instructions that come; nothing where they cannot be read. What changed is
/// told against the last position that was read.
pub(super) async fn position<T: Permits<Read>>(cx: &Cx<T>, current: &Current) -> Option<Position> {
    let engine = cx.engine().await.ok()?;
    let (general, extra) = calls::read_all_registers(&engine).await.ok()?;
    let now = registers::named(&general, &extra);
    let changed = {
        let mut pages = current.book.pages();
        let changed = difference(&pages.registers, &now);
        pages.registers = now.to_vec();
        changed
    };
    let rip = extra.RIP;
    let place = Place {
        address: rip,
        physical: false,
        pid: 0,
    };
    // Not over the page's end, behind which nothing may be.
    let size = CODE_BYTES.min(u32::try_from(0x1000 - (rip & 0xfff)).unwrap_or(CODE_BYTES));
    let bytes = calls::read_memory(&engine, place, size).await.unwrap_or_default();
    let prompt = engine.show_signature(ShowSignatureArgs {}).await.ok();
    Some(Position {
        rip,
        core: prompt.and_then(|outcome| Prompt::core(outcome.text.bytes())),
        next: disassemble::texts(rip, &bytes, INSTRUCTIONS),
        changed,
    })
}

/// Registers whose value differs, without rip, which is told anyway.
fn difference(before: &[(&'static str, u64)], now: &[(&'static str, u64)]) -> Vec<String> {
    let mut changed: Vec<String> = now
        .iter()
        .filter(|(name, _)| *name != "rip")
        .filter(|(name, value)| before.iter().any(|(old, was)| old == name && was != value))
        .map(|(name, value)| format!("{name}={value:#x}"))
        .collect();
    let more = changed.len().saturating_sub(CHANGED);
    if more > 0 {
        changed.truncate(CHANGED);
        changed.push(format!("{more} more"));
    }
    changed
}

/// The record of a stop, told by this call: from here on nobody else is told of it.
pub(super) async fn told<T: Permits<Read>>(
    cx: &Cx<T>,
    delivery: Delivery,
    waited_ms: u32,
) -> Result<Answer<StopOutput>, ToolError> {
    let Some(current) = cx.last() else {
        return Err(ToolError::internal("a stop came from no session"));
    };
    // What was to go at the next stop goes before anything can hit it again.
    sweep(&current).await;
    let mut stop = stop::parse(delivery.text());
    if stop.reason == Reason::Other && delivery.requested() {
        stop.reason = Reason::User;
    }
    let ended = match (stop.reason, stop.id) {
        (Reason::Event, Some(id)) => budget::count_stop(&current, id).await.map(|why| (id, why)),
        _ => None,
    };
    let position = position(cx, &current).await;
    let exec_id = format!("{}.{}", current.id, delivery.exec());
    let outcome = delivery.tell();
    let is_logged = outcome.as_ref().is_some_and(|outcome| outcome.foreign_text);
    let printed = outcome.map(|outcome| outcome.text).unwrap_or_default();
    // Who reads registers is halted: a complaint in the text is then that of a script, and the stop must not be lost.
    if position.is_none()
        && let Some(error) = complaint(&printed)
    {
        return Err(error);
    }
    let mut rest = std::mem::take(&mut stop.rest);
    let more = if is_logged { cut(&mut rest) } else { 0 };
    let mut answer = record(&current, &stop, position, waited_ms);
    answer.value.exec_id = Some(exec_id);
    if let Some((id, why)) = ended {
        let _ = write!(answer.text, "\nEvent {id:#x} was disabled by its budget {why}.");
    }
    if more > 0 {
        let _ = write!(
            answer.text,
            "\n{more} more lines were printed in this run; hd_event_read has what the budgets of events let in."
        );
    }
    Ok(answer.captured(rest))
}

/// Cuts what scripts printed in a run to its beginning, as it is in the event log; gives the lines that were cut off.
fn cut(rest: &mut Untrusted) -> usize {
    let bytes = rest.bytes();
    if bytes.len() <= PRINTED {
        return 0;
    }
    let end = bytes
        .iter()
        .take(PRINTED)
        .rposition(|byte| *byte == b'\n')
        .map_or(PRINTED, |at| at + 1);
    let (kept, off) = bytes.split_at(end);
    let more = off.split_inclusive(|byte| *byte == b'\n').count();
    *rest = Untrusted::new(kept);
    more
}

/// A stop and a position as an answer.
pub(super) fn record(
    current: &Current,
    stop: &Stop,
    position: Option<Position>,
    waited_ms: u32,
) -> Answer<StopOutput> {
    let mut text = stop.describe();
    let mut at = None;
    if let Some(position) = &position {
        at = stop
            .symbol
            .clone()
            .or_else(|| current.book.pages().place(position.rip));
        if let Some(core) = position.core {
            let _ = write!(text, ", core {core}");
        }
        let _ = write!(text, ", rip {:#x}", position.rip);
        for line in &position.next {
            let _ = write!(text, "\n  {line}");
        }
        if !position.changed.is_empty() {
            let _ = write!(text, "\nChanged: {}", position.changed.join(" "));
        }
    } else {
        text.push('.');
    }
    let view = at.as_deref().map(|at| format!("at {at}\n"));
    let output = StopOutput {
        state: RunState::Stopped,
        exec_id: None,
        reason: Some(stop.reason),
        id: stop.id.map(Hex),
        stage: stop.stage,
        core: position.as_ref().and_then(|position| position.core),
        rip: position.as_ref().map(|position| Hex(position.rip)),
        at: at.map(|at| Captured::new(at.as_bytes())),
        next: position
            .as_ref()
            .map(|position| position.next.clone())
            .unwrap_or_default(),
        changed: position.map(|position| position.changed).unwrap_or_default(),
        waited_ms,
    };
    let answer = Answer::new(output, text);
    match view {
        Some(view) => answer.view(Untrusted::new(view.into_bytes())),
        None => answer,
    }
}

/// The answer while the target runs.
pub(super) fn running(
    exec_id: Option<String>,
    waited_ms: u32,
    text: impl Into<String>,
) -> Answer<StopOutput> {
    let output = StopOutput {
        state: RunState::Running,
        exec_id,
        reason: None,
        id: None,
        stage: None,
        core: None,
        rip: None,
        at: None,
        next: Vec::new(),
        changed: Vec::new(),
        waited_ms,
    };
    Answer::new(output, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_flood_printed_is_cut_at_a_line() {
        let mut few = Untrusted::new(b"a\nb\n");
        assert_eq!((cut(&mut few), few.bytes()), (0, &b"a\nb\n"[..]));
        let mut flood = Untrusted::new("flood\n".repeat(1_000).into_bytes());
        assert_eq!((cut(&mut flood), flood.len()), (1_000 - 166, 166 * 6));
        let mut line = Untrusted::new(vec![b'x'; 5_000]);
        assert_eq!((cut(&mut line), line.len()), (1, PRINTED));
    }

    #[test]
    fn only_registers_that_were_known_and_differ_are_told_as_changed() {
        assert!(difference(&[], &[("rax", 1)]).is_empty());
        assert_eq!(
            difference(
                &[("rax", 1), ("rbx", 2), ("rip", 3)],
                &[("rax", 1), ("rbx", 5), ("rip", 4)]
            ),
            ["rbx=0x5"]
        );
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let before: Vec<_> = names.iter().map(|name| (*name, 0)).collect();
        let now: Vec<_> = names.iter().map(|name| (*name, 1)).collect();
        let changed = difference(&before, &now);
        assert_eq!(
            (changed.len(), changed.last().map(String::as_str)),
            (9, Some("2 more"))
        );
    }
}
