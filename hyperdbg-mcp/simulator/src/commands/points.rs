//! `bp bl be bd bc`.

use super::Input;
use crate::errors;
use crate::say;
use crate::session::Session;
use crate::tokens::Token;

/// "All processes, threads or cores" in a breakpoint request.
pub(crate) const ALL: u32 = 0xffff_ffff;

/// Sets a breakpoint. True when the request was answered, even by a refusal, which is printed.
pub(crate) fn set(session: &Session, address: u64, pid: u32, tid: u32, core: u32) -> bool {
    let (serial, user) = {
        let state = session.lock();
        (state.is_serial(), state.user.is_some())
    };
    if !serial && !user {
        return false;
    }
    if !serial && !session.needs_vmm() {
        return false;
    }
    let some = |value: u32| (value != ALL).then_some(value);
    let result = {
        let mut state = session.lock_halted();
        if core != ALL && core as usize >= state.machine.scheduled() {
            Err(errors::code::INVALID_CORE)
        } else if pid != ALL && state.machine.process(pid).is_none() {
            Err(errors::code::PROCESS_ID)
        } else if !address_exists(&state, address) {
            Err(errors::code::EDIT_ADDRESS)
        } else if user {
            state.breakpoints.add(address, None, None, None)
        } else {
            state.breakpoints.add(address, some(core), some(pid), some(tid))
        }
    };
    match result {
        Ok(_) => true,
        Err(code) => {
            errors::show(&session.console, code);
            serial
        }
    }
}

/// The address is mapped in the current process; one for another process is taken on trust.
fn address_exists(state: &crate::session::State, address: u64) -> bool {
    let directory = state.machine.cores[state.view_core()].registers.cr[3];
    let mut byte = [0];
    address < 0x8000_0000_0000 || state.machine.read_virtual(directory, address, &mut byte) == 1
}

/// `bp ADDRESS [pid N] [tid N] [core N]`. Nothing is printed on success.
pub(super) fn set_command(input: &Input<'_>) {
    let session = input.session;
    if !session.lock().is_serial() && session.lock().user.is_none() {
        say!(
            session.console,
            "breakpoints need a debuggee in Debugger Mode: the user debugger of VMI Mode is not part of this build\n"
        );
        return;
    }
    let mut address = None;
    let (mut pid, mut tid, mut core) = (ALL, ALL, ALL);
    let mut rest = input.arguments().iter();
    while let Some(token) = rest.next() {
        let slot = match token.lower().as_str() {
            "pid" => &mut pid,
            "tid" => &mut tid,
            "core" => &mut core,
            _ if address.is_some() => continue,
            _ => {
                let Some(found) = input.address(token) else { return };
                address = Some(found);
                continue;
            }
        };
        let Some(value) = rest.next().and_then(Token::number32) else {
            say!(
                session.console,
                "please specify a correct hex value for '{}'\n\n",
                token.text
            );
            return input.misuse();
        };
        *slot = value;
    }
    let Some(address) = address else {
        say!(
            session.console,
            "please specify a correct hex value as the breakpoint address\n\n"
        );
        return input.misuse();
    };
    if !set(session, address, pid, tid, core) {
        say!(session.console, "err, couldn't set breakpoint\n");
    }
}

/// `bl`.
pub(super) fn list(input: &Input<'_>) {
    let session = input.session;
    if !input.arguments().is_empty() {
        return input.misuse();
    }
    if !session.lock().is_serial() {
        say!(
            session.console,
            "err, listing breakpoints is only valid if you connected to a debuggee in debugger-mode\n"
        );
        return;
    }
    let points = session.lock_halted().breakpoints.all().to_vec();
    if points.is_empty() {
        say!(session.console, "Breakpoints list is empty");
    } else {
        say!(session.console, "Id   Address           Status\n");
        say!(session.console, "--   ---------------   --------");
    }
    for point in points {
        let status = if point.enabled { "enabled" } else { "disabled" };
        say!(
            session.console,
            "\n{:02x}   {:016x}  {status}",
            point.id,
            point.address
        );
        for (name, value) in [("core", point.core), ("pid", point.pid), ("tid", point.tid)] {
            if let Some(value) = value {
                say!(session.console, " {name} = {value:x} ");
            }
        }
    }
    say!(session.console, "\n");
}

/// `be bd bc ID`. Nothing is printed on success.
pub(super) fn change(input: &Input<'_>) {
    let session = input.session;
    let [id] = input.arguments() else {
        return input.misuse();
    };
    let Some(id) = id.number() else {
        say!(
            session.console,
            "please specify a correct hex value for breakpoint id\n\n"
        );
        return input.misuse();
    };
    let command = input.command();
    if !session.lock().is_serial() {
        let what = match command.as_str() {
            "be" => "enabling",
            "bd" => "disabling",
            _ => "clearing",
        };
        say!(
            session.console,
            "err, {what} breakpoints is only valid if you connected to a debuggee in debugger-mode\n"
        );
        return;
    }
    let result = {
        let mut state = session.lock_halted();
        match command.as_str() {
            "be" => state.breakpoints.set_enabled(id, true),
            "bd" => state.breakpoints.set_enabled(id, false),
            _ => state.breakpoints.remove(id),
        }
    };
    if let Err(code) = result {
        errors::show(&session.console, code);
    }
}
