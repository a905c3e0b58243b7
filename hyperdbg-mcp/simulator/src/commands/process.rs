//! `.process` and `.thread`.

use super::Input;
use crate::disassembly::separated;
use crate::errors::{self, code};
use crate::machine::layout::{process_field, thread_field};
use crate::machine::{Machine, Thread};
use crate::say;
use crate::session::{Awaited, Session};

fn object_u64(machine: &Machine, address: u64) -> u64 {
    machine.kernel_u64(address).unwrap_or(0)
}

fn object_name(machine: &Machine, process: u64) -> String {
    let mut raw = [0; 15];
    machine.read_virtual(machine.kernel_cr3, process + process_field::NAME, &mut raw);
    raw.iter()
        .take_while(|byte| **byte != 0)
        .map(|byte| char::from(*byte))
        .collect()
}

/// `.process`, `.process list`, `.process pid N`, `.process process ADDRESS`.
pub(super) fn process(input: &Input<'_>) {
    let session = input.session;
    match input.arguments() {
        [] => show_current_process(session),
        [word] if word.is("list") => list_processes(session),
        [kind, value] => {
            if !session.lock().is_serial() {
                say!(
                    session.console,
                    "err, switching needs the Debugger Mode; '.attach' and '.detach' are for the VMI Mode\n"
                );
                return;
            }
            let number = input.session.address(&value.text);
            let wanted = {
                let state = session.lock_halted();
                let known = |pid: u32| state.machine.process(pid).map(|process| process.pid);
                match (kind.lower().as_str(), number) {
                    ("pid", Some(pid)) => u32::try_from(pid).ok().and_then(known),
                    ("process", Some(object)) => {
                        let found = state
                            .machine
                            .processes
                            .iter()
                            .find(|process| process.object == object);
                        found.map(|process| process.pid)
                    }
                    _ => None,
                }
            };
            arm(
                session,
                wanted.map(Awaited::Process),
                "pid",
                "process",
                code::PROCESS_SWITCH,
            );
        }
        [word] => {
            say!(session.console, "err, unknown parameter at '{}'\n\n", word.text);
            input.misuse();
        }
        _ => input.misuse(),
    }
}

fn arm(session: &Session, wanted: Option<Awaited>, id: &str, kind: &str, refusal: u32) {
    let Some(wanted) = wanted else {
        errors::show(&session.console, refusal);
        return;
    };
    session.lock_halted().awaited = Some(wanted);
    say!(
        session.console,
        "'g' continues the debuggee; if the {id} or the {kind} object is valid, it stops when it is in that {kind}\n"
    );
}

fn show_current_process(session: &Session) {
    if !session.needs_kd() {
        return;
    }
    let state = session.lock_halted();
    let core = state.core;
    let Some(process) = state.machine.current_process(core) else {
        return;
    };
    let name = object_name(&state.machine, process.object);
    let (pid, object) = (process.pid, process.object);
    drop(state);
    say!(
        session.console,
        "process id: {pid:x}\nprocess (_EPROCESS): {}\nprocess name (16-Byte): {name}\n",
        separated(object)
    );
}

fn list_processes(session: &Session) {
    let Some(head) = session.lock().symbol("nt!PsActiveProcessHead") else {
        say!(
            session.console,
            "err, the offsets of processes are not known: the symbols of the kernel are not loaded\n"
        );
        return;
    };
    if !session.needs_kd() {
        return;
    }
    say!(session.console, "Address of ActiveProcessHead : {head:x}\n");
    say!(
        session.console,
        "Offset Of ActiveProcessLinks : 0x{:x}\n",
        process_field::LINKS
    );
    say!(
        session.console,
        "Offset Of ImageFileName : 0x{:x}\n",
        process_field::NAME
    );
    say!(
        session.console,
        "Offset Of UniqueProcessId : 0x{:x}\n",
        process_field::PID
    );
    let rows: Vec<String> = {
        let state = session.lock_halted();
        let machine = &state.machine;
        // The list is walked in the machine's memory, where a debugger can change it.
        walk(machine, head)
            .into_iter()
            .map(|entry| {
                let object = entry - process_field::LINKS;
                format!(
                    "PROCESS\t{object:x}\n\tProcess Id: {:04x}\tDirBase (Kernel Cr3): {:016x}\tImage: {}\n\n",
                    object_u64(machine, object + process_field::PID),
                    object_u64(machine, object + process_field::DIRECTORY),
                    object_name(machine, object)
                )
            })
            .collect()
    };
    for row in rows {
        session.console.say(&row);
    }
}

/// The entries of a list in kernel memory, at most 256.
fn walk(machine: &Machine, head: u64) -> Vec<u64> {
    let mut entries = Vec::new();
    let mut entry = object_u64(machine, head);
    while entry != head && entry > 0x1000 && entries.len() < 256 {
        entries.push(entry);
        entry = object_u64(machine, entry);
    }
    entries
}

/// `.thread`, `.thread list [process ADDRESS]`, `.thread tid N`, `.thread thread ADDRESS`.
pub(super) fn thread(input: &Input<'_>) {
    let session = input.session;
    match input.arguments() {
        [] => show_current_thread(session),
        [word] if word.is("list") => list_threads(session, None),
        [word, kind, value] if word.is("list") && kind.is("process") => {
            let Some(object) = input.address(value) else {
                return;
            };
            list_threads(session, Some(object));
        }
        [kind, value] => {
            if !session.lock().is_serial() {
                say!(
                    session.console,
                    "err, switching needs the Debugger Mode; '.attach' and '.detach' are for the VMI Mode\n"
                );
                return;
            }
            let number = input.session.address(&value.text);
            let wanted = {
                let state = session.lock_halted();
                let by = |fits: &dyn Fn(&Thread) -> bool| {
                    state
                        .machine
                        .threads
                        .iter()
                        .find(|thread| fits(thread))
                        .map(|thread| thread.tid)
                };
                match (kind.lower().as_str(), number) {
                    ("tid", Some(tid)) => by(&|thread| u64::from(thread.tid) == tid),
                    ("thread", Some(object)) => by(&|thread| thread.object == object),
                    _ => None,
                }
            };
            arm(
                session,
                wanted.map(Awaited::Thread),
                "tid",
                "thread",
                code::THREAD_SWITCH,
            );
        }
        _ => input.misuse(),
    }
}

fn show_current_thread(session: &Session) {
    if !session.needs_kd() {
        return;
    }
    let state = session.lock_halted();
    let core = state.core;
    let (Some(thread), Some(process)) = (
        state.machine.current_thread(core),
        state.machine.current_process(core),
    ) else {
        return;
    };
    let text = format!(
        "thread id: {:x} (pid: {:x})\nthread (_ETHREAD): {}\nprocess (_EPROCESS): {}\nprocess name (16-Byte): {}\n",
        thread.tid,
        thread.pid,
        separated(thread.object),
        separated(process.object),
        object_name(&state.machine, process.object)
    );
    drop(state);
    session.console.say(&text);
}

fn list_threads(session: &Session, process: Option<u64>) {
    if !session.lock().symbols {
        say!(
            session.console,
            "err, the offsets of threads are not known: the symbols of the kernel are not loaded\n"
        );
        return;
    }
    if !session.needs_kd() {
        return;
    }
    let rows: Vec<String> = {
        let state = session.lock_halted();
        let machine = &state.machine;
        let current = machine
            .current_process(state.core)
            .map_or(0, |process| process.object);
        let object = process.unwrap_or(current);
        let mut rows = vec![format!(
            "PROCESS\t{object:x}\tIMAGE\t{}\n",
            object_name(machine, object)
        )];
        for entry in walk(machine, object + process_field::THREADS) {
            let thread = entry - thread_field::LINKS;
            rows.push(format!(
                "\tTHREAD\t{thread:x} ({:x}.{:x})\n",
                object_u64(machine, thread + thread_field::CLIENT_PID),
                object_u64(machine, thread + thread_field::CLIENT_TID)
            ));
        }
        rows
    };
    for row in rows {
        session.console.say(&row);
    }
}
