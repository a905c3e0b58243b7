//! `g`, stepping, `pause`.

use super::Input;
use crate::machine::interpreter;
use crate::machine::registers::gpr;
use crate::say;
use crate::session::{Run, Session, UserRun};
use iced_x86::{Instruction, Mnemonic};
use std::sync::atomic::Ordering;

/// Steps that `gu` and `!track` make when no count is given.
const DEFAULT_TRACK_STEPS: u64 = 0x1_0000;

/// How far a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Into calls.
    In,
    /// Over calls.
    Over,
    /// Over calls, without a report.
    OverSilently,
}

fn current_instruction(session: &Session) -> Option<Instruction> {
    let state = session.lock_halted();
    let registers = &state.machine.cores[state.view_core()].registers;
    interpreter::fetch(&state.machine.memory, registers).ok()
}

/// One step of the halted target; blocks until its stop. False when there is none.
pub(crate) fn step(session: &Session, step: Step) -> bool {
    let (serial, paused, stack) = {
        let state = session.lock();
        let stack = state.machine.cores[state.view_core()].registers.gpr[gpr::RSP];
        (state.is_serial(), state.is_user_paused(), stack)
    };
    if !serial && !paused {
        return false;
    }
    let call =
        current_instruction(session).filter(|ins| step != Step::In && ins.mnemonic() == Mnemonic::Call);
    let report = step != Step::OverSilently;
    match (serial, call) {
        (true, Some(call)) => session.resume(Run::Return {
            address: call.next_ip(),
            stack,
            report,
        }),
        (true, None) => session.resume(Run::Step { report }),
        (false, Some(call)) => session.resume_user(UserRun::Return {
            address: call.next_ip(),
            stack,
        }),
        (false, None) => session.resume_user(UserRun::Step),
    }
}

/// A step on the current core alone; there is none in a user-debugged process.
pub(crate) fn instrumentation_step(session: &Session) -> bool {
    if session.lock().user.is_some() {
        say!(
            session.console,
            "the instrumentation step-in is only supported in Debugger Mode\n"
        );
        return false;
    }
    step(session, Step::In)
}

/// Continues whatever there is to continue.
pub(crate) fn go(session: &Session) {
    let (serial, user) = {
        let mut state = session.lock();
        state.suppressed = false;
        (state.is_serial(), state.user.as_ref().map(|user| user.paused))
    };
    if serial {
        session.continue_debuggee();
    } else if let Some(peer) = session.peer() {
        go(&peer);
    } else if let Some(paused) = user {
        if paused {
            session.resume_user(UserRun::Continue);
        } else {
            say!(session.console, "the target process is already running\n");
        }
    }
}

/// Suppresses the text of the kernel, or asks a process to halt. A debuggee is not halted by it.
pub(crate) fn pause(session: &Session) {
    session.lock().suppressed = true;
    say!(session.console, "pausing...\n");
    if let Some(peer) = session.peer() {
        peer.lock().suppressed = true;
    } else if session.pause_user() {
        say!(
            session.console,
            "the process halts when its threads next run; 'g' continues it\n"
        );
    }
}

/// `g`.
pub(super) fn go_command(input: &Input<'_>) {
    if input.arguments().is_empty() {
        go(input.session);
    } else {
        input.misuse();
    }
}

/// `pause`.
pub(super) fn pause_command(input: &Input<'_>) {
    if input.arguments().is_empty() {
        pause(input.session);
    } else {
        input.misuse();
    }
}

/// `t p i` and the ones that print registers.
pub(super) fn step_command(input: &Input<'_>) {
    let session = input.session;
    let command = input.command();
    let count = match input.arguments() {
        [] => Some(1),
        [count] => count.number32(),
        _ => return input.misuse(),
    };
    let Some(count) = count else {
        say!(
            session.console,
            "please specify a correct hex value for [count]\n\n"
        );
        return input.misuse();
    };
    if !can_step(input, &command[..1]) {
        return;
    }
    if command.starts_with('i') && session.lock().user.is_some() {
        say!(
            session.console,
            "the instrumentation step-in is only supported in Debugger Mode\n"
        );
        return;
    }
    let kind = if command.starts_with('p') {
        Step::Over
    } else {
        Step::In
    };
    session.stepping_loop.store(true, Ordering::SeqCst);
    for index in 0..count {
        step(session, kind);
        if command.ends_with('r') {
            super::register::show_all(session);
            if index + 1 != count {
                say!(session.console, "\n");
            }
        }
        if !session.stepping_loop.load(Ordering::SeqCst) {
            break;
        }
    }
    session.stepping_loop.store(false, Ordering::SeqCst);
}

fn can_step(input: &Input<'_>, name: &str) -> bool {
    let session = input.session;
    let (serial, user) = {
        let state = session.lock();
        (state.is_serial(), state.user.as_ref().map(|user| user.paused))
    };
    match (serial, user) {
        (true, _) | (_, Some(true)) => true,
        (_, Some(false)) => {
            say!(
                session.console,
                "the target process is running; 'pause' or CTRL+C halts it\n"
            );
            false
        }
        _ => {
            say!(
                session.console,
                "err, stepping ({name}) is not valid in the current context, you should connect to a debuggee\n"
            );
            false
        }
    }
}

/// `gu`: steps over calls until the function has returned.
pub(super) fn go_up(input: &Input<'_>) {
    let session = input.session;
    let count = match input.arguments() {
        [] => Some(DEFAULT_TRACK_STEPS),
        [count] => count.number(),
        _ => return input.misuse(),
    };
    let Some(count) = count else {
        say!(
            session.console,
            "please specify a correct hex value for [count]\n\n"
        );
        return input.misuse();
    };
    if !can_step(input, "gu") {
        return;
    }
    session.stepping_loop.store(true, Ordering::SeqCst);
    for index in 0..count {
        let last = current_instruction(session).is_some_and(|ins| ins.mnemonic() == Mnemonic::Ret);
        let report = last || index + 1 == count;
        step(session, if report { Step::Over } else { Step::OverSilently });
        if last || !session.stepping_loop.load(Ordering::SeqCst) {
            break;
        }
    }
    session.stepping_loop.store(false, Ordering::SeqCst);
}

/// `!track tree|reg [COUNT]`: the calls and returns of the next instructions.
pub(super) fn track(input: &Input<'_>) {
    let session = input.session;
    let count = input
        .arguments()
        .iter()
        .find_map(crate::tokens::Token::number)
        .unwrap_or(0x100);
    if !session.lock().is_serial() {
        say!(
            session.console,
            "err, tracking is only possible when you connected in debugger mode\n"
        );
        return;
    }
    session.stepping_loop.store(true, Ordering::SeqCst);
    let mut depth = 0_usize;
    for _ in 0..count {
        let Some(ins) = current_instruction(session) else {
            break;
        };
        session.resume(Run::Step { report: false });
        let state = session.lock_halted();
        let rip = state.machine.cores[state.core].registers.rip;
        let name = state
            .machine
            .symbols
            .at(rip)
            .map_or_else(|| format!("{rip:x}"), |symbol| symbol.name.clone());
        drop(state);
        match ins.mnemonic() {
            Mnemonic::Call => {
                say!(
                    session.console,
                    "{}├─ call {name} ({rip:016x})\n",
                    "│  ".repeat(depth)
                );
                depth += 1;
            }
            Mnemonic::Ret => {
                depth = depth.saturating_sub(1);
                say!(session.console, "{}└─ ret ({rip:016x})\n", "│  ".repeat(depth));
            }
            _ => {}
        }
        if !session.stepping_loop.load(Ordering::SeqCst) {
            break;
        }
    }
    session.stepping_loop.store(false, Ordering::SeqCst);
}
