//! Registering events, and `events`.

use super::Input;
use crate::errors::{self, code};
use crate::say;
use crate::session::Session;
use crate::session::event::{Action, Change, Event, Stage, Trigger};
use crate::tokens::{Kind, Token};

/// Longest command text in the list.
const SHOWN: usize = 70;

/// The options that every event takes.
#[derive(Default)]
struct Options<'a> {
    pid: Option<u32>,
    core: Option<u32>,
    stage: Stage,
    short_circuit: bool,
    script: Option<String>,
    code: bool,
    /// Tokens that belong to the event itself.
    own: Vec<&'a Token>,
}

fn options<'a>(input: &'a Input<'_>) -> Result<Options<'a>, String> {
    let mut found = Options::default();
    let mut rest = input.arguments().iter();
    while let Some(token) = rest.next() {
        let word = token.lower();
        if token.kind == Kind::Block {
            continue;
        }
        if !matches!(
            word.as_str(),
            "pid" | "core" | "stage" | "sc" | "imm" | "buffer" | "script" | "asm" | "output"
        ) {
            found.own.push(token);
            continue;
        }
        let Some(value) = rest.next() else {
            return Err(format!("err, please specify a value for '{word}'\n"));
        };
        match word.as_str() {
            "pid" if value.is("all") => found.pid = None,
            "pid" => found.pid = Some(value.number32().ok_or("err, pid is invalid\n")?),
            "core" => found.core = Some(value.number32().ok_or("err, core id is invalid\n")?),
            "stage" => {
                found.stage = match value.lower().as_str() {
                    "pre" => Stage::Pre,
                    "post" => Stage::Post,
                    "all" => Stage::All,
                    _ => {
                        return Err(
                            "err, the stage is invalid; it is either 'pre', 'post' or 'all'\n".to_owned()
                        );
                    }
                }
            }
            "sc" => {
                found.short_circuit = match value.lower().as_str() {
                    "on" => true,
                    "off" => false,
                    _ => return Err("err, the short-circuiting state is either 'on' or 'off'\n".to_owned()),
                }
            }
            "imm" if !value.is("yes") && !value.is("no") => {
                return Err("err, immediate messaging token is invalid\n".to_owned());
            }
            "buffer" => {
                value.number32().ok_or("err, buffer size is invalid\n")?;
            }
            "asm" => found.code |= value.is("code"),
            _ => {}
        }
    }
    // A block counts wherever it stands, and the last one wins.
    let mut blocks = input.arguments().iter().filter(|token| token.kind == Kind::Block);
    let has = |word: &str| {
        input
            .arguments()
            .iter()
            .any(|token| token.kind == Kind::Word && token.is(word))
    };
    if has("script") {
        found.script = blocks.next_back().map(|token| token.text.clone());
        if found.script.is_none() {
            return Err("err, the script is missing its '{ }'\n".to_owned());
        }
    }
    Ok(found)
}

fn number(input: &Input<'_>, token: &Token) -> Result<u64, String> {
    input
        .session
        .address(&token.text)
        .ok_or_else(|| format!("err, couldn't resolve error at '{}'\n", token.text))
}

fn optional(input: &Input<'_>, own: &[&Token]) -> Result<Option<u64>, String> {
    match own {
        [] => Ok(None),
        [token] if token.is("all") => Ok(None),
        [token] => number(input, token).map(Some),
        [_, extra, ..] => Err(format!("err, couldn't resolve error at '{}'\n", extra.text)),
    }
}

fn trigger(input: &Input<'_>, own: &[&Token]) -> Result<Trigger, String> {
    let command = input.command();
    Ok(match command.as_str() {
        "!epthook" | "!epthook2" => match own {
            [address] => Trigger::Hook(number(input, address)?),
            _ => return Err("please choose an address to put the hook on it\n".to_owned()),
        },
        "!monitor" => return monitor(input, own),
        "!syscall" | "!syscall2" => Trigger::Syscall(optional(input, own)?),
        "!sysret" | "!sysret2" => Trigger::Sysret,
        "!cpuid" => Trigger::Cpuid(optional(input, own)?),
        "!msrread" | "!msread" => Trigger::MsrRead(optional(input, own)?),
        "!msrwrite" => Trigger::MsrWrite(optional(input, own)?),
        "!tsc" => Trigger::Tsc,
        "!pmc" => Trigger::Pmc,
        "!vmcall" => Trigger::Vmcall,
        "!xsetbv" => Trigger::Xsetbv,
        "!dr" => Trigger::Debug,
        "!ioin" => Trigger::PortIn(optional(input, own)?),
        "!ioout" | "!iout" => Trigger::PortOut(optional(input, own)?),
        "!crwrite" => match own.first().map(|token| token.lower()).as_deref() {
            Some("0" | "cr0") => Trigger::ControlWrite(0),
            Some("4" | "cr4") => Trigger::ControlWrite(4),
            _ => return Err("please choose a control register: 0 or 4\n".to_owned()),
        },
        "!exception" => Trigger::Exception(optional(input, own)?),
        "!interrupt" => match own {
            [vector] => Trigger::Interrupt(Some(number(input, vector)?)),
            _ => return Err("please choose an interrupt vector, 20 to ff\n".to_owned()),
        },
        "!mode" => {
            let kinds = own.first().map(|token| token.lower()).unwrap_or_default();
            if !matches!(kinds.as_str(), "u" | "k" | "uk" | "ku") {
                return Err("please choose the mode: 'u', 'k' or 'ku'\n".to_owned());
            }
            Trigger::Mode {
                user: kinds.contains('u'),
                kernel: kinds.contains('k'),
            }
        }
        _ => Trigger::Trace,
    })
}

fn monitor(input: &Input<'_>, own: &[&Token]) -> Result<Trigger, String> {
    let mut attributes = String::new();
    let mut addresses = Vec::new();
    let mut length = None;
    let mut physical = false;
    let mut rest = own.iter();
    while let Some(token) = rest.next() {
        let word = token.lower();
        let is_attributes = word.chars().all(|c| matches!(c, 'r' | 'w' | 'x')) && !word.is_empty();
        match word.as_str() {
            "l" => {
                let value = rest.next().ok_or("err, please specify a value for 'l'\n")?;
                length = Some(number(input, value)?);
            }
            "memorytype" | "mtype" => physical = rest.next().is_some_and(|kind| kind.is("pa")),
            _ if is_attributes && attributes.is_empty() => attributes = word,
            _ => addresses.push(number(input, token)?),
        }
    }
    let from = addresses.first().copied();
    let to = match (addresses.as_slice(), length) {
        ([_, to], None) => Some(*to),
        ([from], Some(length)) if length > 0 => Some(from.wrapping_add(length - 1)),
        _ => None,
    };
    match (from, to) {
        (Some(from), Some(to)) if from <= to && !attributes.is_empty() => Ok(Trigger::Monitor {
            from,
            to,
            read: attributes.contains('r'),
            write: attributes.contains('w'),
            execute: attributes.contains('x'),
            physical,
        }),
        (Some(from), Some(to)) if from > to => {
            Err("please choose the 'from' value first, then choose the 'to' value\n".to_owned())
        }
        _ => Err("please choose the attributes (r, w, x) and both ends of the range to monitor\n".to_owned()),
    }
}

/// All the commands that register an event. Nothing is printed on success.
pub(super) fn register(input: &Input<'_>) {
    if let Err(message) = try_register(input) {
        input.session.console.say(&message);
    }
}

fn try_register(input: &Input<'_>) -> Result<(), String> {
    let session = input.session;
    let options = options(input)?;
    let trigger = trigger(input, &options.own)?;
    let action = match (&options.script, options.code) {
        (Some(text), _) => match session.parse_script(text) {
            Ok(script) => Action::Script(script),
            Err(error) => {
                session.show_parse_error(text, &error);
                return Ok(());
            }
        },
        (None, true) => Action::Code,
        (None, false) => Action::Break,
    };
    if options.short_circuit && options.stage != Stage::Pre {
        return Err("err, short-circuiting goes with the 'pre' stage only\n".to_owned());
    }
    let serial = session.lock().is_serial();
    if !serial && action == Action::Break {
        return Err(
            "err, no script and no code was found, so the action is to break; breaking is not possible in \
                    the VMI Mode. Use a script, or the Debugger Mode\n"
                .to_owned(),
        );
    }
    if !serial && !session.needs_vmm() {
        return Ok(());
    }
    let mut state = session.lock_halted();
    let refusal = match trigger {
        Trigger::Exception(Some(vector)) if vector > 0x1f => Some(code::EXCEPTION_VECTOR),
        Trigger::Interrupt(Some(vector)) if !(0x20..=0xff).contains(&vector) => Some(code::INTERRUPT_VECTOR),
        Trigger::Hook(address) if state.machine.kernel_u64(address & !7).is_none() && address >> 47 != 0 => {
            Some(code::INVALID_ADDRESS)
        }
        _ if serial && options.pid.is_some() => Some(code::PID_IN_DEBUGGER_MODE),
        _ if options
            .core
            .is_some_and(|core| core as usize >= state.machine.scheduled()) =>
        {
            Some(code::INVALID_CORE)
        }
        _ if options.pid.is_some_and(|pid| state.process_of(pid).is_none()) => Some(code::PROCESS_ID),
        _ => None,
    };
    if let Some(code) = refusal {
        drop(state);
        errors::show(&session.console, code);
        return Ok(());
    }
    let event = Event {
        id: 0,
        command: input.line.trim().to_owned(),
        enabled: true,
        trigger,
        action,
        pid: options.pid,
        core: options.core,
        stage: options.stage,
        short_circuit: options.short_circuit,
    };
    state.events.add(event);
    if state.settings.auto_unpause {
        state.suppressed = false;
    }
    drop(state);
    session.notify();
    Ok(())
}

/// `events`.
pub(super) fn events(input: &Input<'_>) {
    let session = input.session;
    match input.arguments() {
        [] => show(session),
        [action, target] => change(input, action, target),
        _ => input.misuse(),
    }
}

fn show(session: &Session) {
    let events = session.lock_halted().events.all().to_vec();
    if events.is_empty() {
        say!(session.console, "no active/disabled events \n");
    }
    for event in events {
        let mut command = event.command.replace('\n', " ");
        if command.chars().count() > SHOWN {
            command = command.chars().take(SHOWN).collect::<String>() + "...";
        }
        let status = if event.enabled { "enabled" } else { "disabled" };
        say!(session.console, "{:x}\t({status})\t    {command}\n", event.id);
    }
}

fn change(input: &Input<'_>, action: &Token, target: &Token) {
    let session = input.session;
    let change = match action.lower().as_str() {
        "e" => Change::Enable,
        "d" => Change::Disable,
        "c" => Change::Clear,
        "sc" => return short_circuit(input, target),
        _ => return input.misuse(),
    };
    let id = if target.is("all") {
        None
    } else {
        let Some(id) = target.number() else {
            say!(
                session.console,
                "please specify a correct hex value for tag id (event number)\n\n"
            );
            return input.misuse();
        };
        Some(id)
    };
    let (result, serial) = {
        let mut state = session.lock_halted();
        let serial = state.is_serial();
        (state.events.change(id, change, serial), serial)
    };
    match result {
        Ok(()) if change == Change::Clear && serial => {
            let subject = if id.is_none() {
                "events are"
            } else {
                "the event is"
            };
            say!(
                session.console,
                "{subject} successfully cleared, but please note that in the Debugger Mode the clearing takes place \
                 when the debuggee is continued ('g'); until then do not register the same event again\n"
            );
        }
        Ok(()) => session.notify(),
        Err(_) if id.is_none() => say!(session.console, "there is no event\n"),
        Err(_) => say!(session.console, "err, tag id is invalid\n"),
    }
}

fn short_circuit(input: &Input<'_>, target: &Token) {
    let session = input.session;
    let on = match target.lower().as_str() {
        "on" => true,
        "off" => false,
        _ => {
            say!(
                session.console,
                "please specify a correct 'on' or 'off' state for the short-circuiting state\n\n"
            );
            return input.misuse();
        }
    };
    session.lock_halted().events.short_circuit_next = on;
    say!(
        session.console,
        "the event's short-circuiting state changed to {}\n",
        if on { "'on'" } else { "'off'" }
    );
}
