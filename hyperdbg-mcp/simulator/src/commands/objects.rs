//! `lm x k .process .thread .sym .sympath`.

use super::Input;
use crate::disassembly::{name_with_offset, separated};
use crate::errors::{self, code};
use crate::machine::layout::{process_field, thread_field};
use crate::machine::{Machine, Module, Thread};
use crate::say;
use crate::session::{Awaited, Session};
use crate::tokens::Token;

/// `lm [pid N] [m TEXT] [km|um]`.
pub(super) fn modules(input: &Input<'_>) {
    let session = input.session;
    let mut pid = None;
    let mut filter = None;
    let (mut kernel, mut user) = (true, true);
    let mut rest = input.arguments().iter();
    while let Some(token) = rest.next() {
        match token.lower().as_str() {
            "pid" => match rest.next().map(Token::number32) {
                Some(Some(number)) => pid = Some(number),
                Some(None) | None => {
                    say!(
                        session.console,
                        "err, please enter a valid process id in hex format, or with '0n' in decimal\n"
                    );
                    return;
                }
            },
            "m" => match rest.next() {
                Some(text) => filter = Some(text.lower()),
                None => {
                    say!(
                        session.console,
                        "err, please enter a valid string to search in modules\n"
                    );
                    return;
                }
            },
            "km" if !kernel => return both_kinds(session),
            "um" if !user => return both_kinds(session),
            "km" => user = false,
            "um" => kernel = false,
            _ => {
                say!(
                    session.console,
                    "err, couldn't resolve error at '{}'\n\n",
                    token.text
                );
                return input.misuse();
            }
        }
    }
    let matches = |module: &&Module| {
        filter
            .as_ref()
            .is_none_or(|filter| module.path.to_ascii_lowercase().contains(filter.as_str()))
    };
    if user {
        if !session.needs_kd() {
            return;
        }
        show_user_modules(session, pid.unwrap_or_else(|| session.default_pid()), &matches);
    }
    if kernel {
        if user {
            say!(session.console, "\n{}\n\n", "=".repeat(78));
        }
        show_kernel_modules(session, &matches);
    }
}

fn both_kinds(session: &Session) {
    say!(
        session.console,
        "err, 'um' and 'km' exclude each other; without them both kinds of modules are shown\n"
    );
}

type Matches<'a> = &'a dyn Fn(&&Module) -> bool;

fn show_user_modules(session: &Session, pid: u32, matches: Matches<'_>) {
    let modules: Option<Vec<Module>> = {
        let state = session.lock_halted();
        let process = state.process_of(pid).map(|process| process.pid);
        process.map(|pid| state.machine.user_modules(pid).filter(matches).cloned().collect())
    };
    let Some(modules) = modules else {
        errors::show(&session.console, code::PROCESS_ID);
        return;
    };
    say!(session.console, "user mode\n");
    say!(session.console, "start\t\t\tentrypoint\t\tpath\n\n");
    for module in modules {
        say!(
            session.console,
            "{:016x}\t{:016x}\t{}\n",
            module.base,
            module.entry,
            module.path
        );
    }
}

fn show_kernel_modules(session: &Session, matches: Matches<'_>) {
    let modules: Vec<Module> = session
        .lock_halted()
        .machine
        .kernel_modules()
        .filter(matches)
        .cloned()
        .collect();
    say!(session.console, "kernel mode\n");
    say!(session.console, "start\t\t\tsize\tname\t\t\t\tpath\n\n");
    for module in modules {
        say!(session.console, "{}\t", separated(module.base));
        say!(session.console, "{:x}\t", module.size);
        say!(session.console, "{}\t", module.file);
        let tabs = match module.file.len() {
            24.. => "",
            16.. => "\t",
            8.. => "\t\t",
            _ => "\t\t\t",
        };
        session.console.say(tabs);
        say!(session.console, "{}\n", module.path);
    }
}

/// True when `text` fits a pattern with `*`, whatever its case.
fn fits(pattern: &str, text: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    let mut rest = text;
    for (index, part) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        rest = if index == 0 {
            match rest.strip_prefix(part) {
                Some(rest) => rest,
                None => return false,
            }
        } else if last {
            return rest.ends_with(part);
        } else {
            match rest.find(part) {
                Some(at) => &rest[at + part.len()..],
                None => return false,
            }
        };
        if last {
            return rest.is_empty();
        }
    }
    rest.is_empty()
}

/// `x PATTERN`. Without a module the pattern looks in `nt`.
pub(super) fn examine(input: &Input<'_>) {
    let session = input.session;
    let [pattern] = input.arguments() else {
        return input.misuse();
    };
    let pattern = pattern.lower();
    let pattern = if pattern.contains('!') {
        pattern
    } else {
        format!("nt!{pattern}")
    };
    let found: Vec<(u64, String)> = {
        let state = session.lock();
        let symbols = if state.symbols {
            state.machine.symbols.all()
        } else {
            &[]
        };
        symbols
            .iter()
            .filter(|symbol| fits(&pattern, &symbol.name.to_ascii_lowercase()))
            .map(|symbol| (symbol.address, symbol.name.clone()))
            .collect()
    };
    for (address, name) in found {
        say!(session.console, "{}  {name}\n", separated(address));
    }
}

/// `k kd kq [base ADDRESS] [l LENGTH]`.
pub(super) fn stack(input: &Input<'_>) {
    let session = input.session;
    if !session.lock().is_serial() {
        say!(
            session.console,
            "err, tracing callstack is not possible when you're not connected to a debuggee\n"
        );
        return;
    }
    let mut base = None;
    let mut length = 0x2000;
    let mut rest = input.arguments().iter();
    while let Some(token) = rest.next() {
        match (token.lower().as_str(), rest.next()) {
            ("base", Some(value)) => match input.address(value) {
                Some(address) => base = Some(address),
                None => return,
            },
            ("l", Some(value)) => match value.number32() {
                Some(number) => length = number.min(0x2000),
                None => {
                    say!(session.console, "err, you should enter a valid length\n\n");
                    return;
                }
            },
            _ => {
                say!(
                    session.console,
                    "err, incorrect use of the '{}' command\n\n",
                    input.word()
                );
                return;
            }
        }
    }
    let narrow = input.command() == "kd";
    let size = if narrow { 4 } else { 8 };
    let frames = frames(session, base, length as usize, size);
    let all = input.command() != "k";
    for (offset, value, kind) in frames {
        let value = match kind {
            Slot::Call { target, .. } => target,
            _ => value,
        };
        let digits = if narrow {
            format!("{value:08x}")
        } else {
            format!("{value:016x}")
        };
        match kind {
            Slot::Call { name, .. } => {
                say!(session.console, "[$+{offset:03x}] ");
                say!(session.console, "  {digits}    (from ");
                show_name(session, name);
                say!(session.console, "<{digits}>)\n");
            }
            Slot::Address { name } if all => {
                say!(session.console, "[$+{offset:03x}] ");
                say!(session.console, "     {digits} (addr ");
                show_name(session, name);
                say!(session.console, "<{digits}>)\n");
            }
            Slot::Value if all => {
                say!(session.console, "[$+{offset:03x}] ");
                say!(session.console, "     {digits}\n");
            }
            _ => {}
        }
    }
}

fn show_name(session: &Session, name: Option<String>) {
    if let Some(name) = name {
        say!(session.console, "{name} ");
    }
}

/// What a stack slot holds.
enum Slot {
    /// A return address: the call before it.
    Call { target: u64, name: Option<String> },
    /// A mapped address.
    Address { name: Option<String> },
    /// Anything else.
    Value,
}

fn frames(session: &Session, base: Option<u64>, length: usize, size: usize) -> Vec<(usize, u64, Slot)> {
    let state = session.lock_halted();
    let registers = &state.machine.cores[state.core].registers;
    let base = base.unwrap_or(registers.gpr[4]);
    let mut bytes = vec![0; length];
    let done = state.machine.read_virtual(registers.cr[3], base, &mut bytes);
    let named = state.symbols && state.settings.address_conversion;
    let name = |address: u64| {
        let (symbol, distance) = state.machine.symbols.nearest(address).filter(|_| named)?;
        Some(name_with_offset(symbol, distance))
    };
    bytes[..done]
        .chunks_exact(size)
        .enumerate()
        .map(|(index, raw)| {
            let value = raw
                .iter()
                .rev()
                .fold(0, |value, byte| (value << 8) | u64::from(*byte));
            let slot = match call_before(&state.machine, registers.cr[3], value) {
                Some(target) => Slot::Call {
                    target,
                    name: name(target),
                },
                None if state.machine.read_virtual(registers.cr[3], value, &mut [0]) == 1 => {
                    Slot::Address { name: name(value) }
                }
                None => Slot::Value,
            };
            (index * size, value, slot)
        })
        .collect()
}

/// The address of the call that returns to `address`, if one stands before it.
fn call_before(machine: &Machine, cr3: u64, address: u64) -> Option<u64> {
    let executable = crate::machine::paging::walk(&machine.memory, cr3, address).executable;
    let mut code = [0; 7];
    let start = address.wrapping_sub(7);
    if !executable || machine.read_virtual(cr3, start, &mut code) != 7 {
        return None;
    }
    let length = match code {
        [_, _, 0xe8, ..] => 5,
        [_, 0xff, 0x15 | 0x1d | 0x90..=0x93 | 0x95..=0x9b | 0x9d..=0x9f, ..] => 6,
        [0xff, 0x94 | 0x9c, ..] => 7,
        [_, _, _, 0xff, 0x54 | 0x5c, ..] => 4,
        [
            _,
            _,
            _,
            _,
            0xff,
            0x50..=0x53 | 0x55..=0x5b | 0x5d..=0x5f | 0x14 | 0x1c,
            _,
        ] => 3,
        [
            _,
            _,
            _,
            _,
            _,
            0xff,
            0xd0..=0xdf | 0x10..=0x13 | 0x16..=0x1b | 0x1e | 0x1f,
        ] => 2,
        _ => return None,
    };
    Some(address - length)
}

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

/// `.sympath [PATH]`, on the raw line.
pub(super) fn symbol_path(input: &Input<'_>) {
    let session = input.session;
    let text = input.rest();
    if text.is_empty() {
        match session.lock().symbol_path.clone() {
            Some(path) => say!(session.console, "current symbol server is : {path}\n"),
            None => say!(
                session.console,
                "symbol server is not configured, please use '.help .sympath'\n"
            ),
        }
        return;
    }
    let path = text.trim_matches('"');
    // An empty quoted path lets an exception escape in the real library.
    if path.is_empty() {
        std::process::abort();
    }
    if path.split('*').count() < 3 || !path.to_ascii_lowercase().starts_with("srv*") {
        say!(session.console, "symbol path is invalid\n\n");
        return input.misuse();
    }
    session.lock().symbol_path = Some(path.to_owned());
    say!(session.console, "symbol server/path is configured successfully\n");
    say!(
        session.console,
        "use '.sym load', '.sym reload', or '.sym download' to load pdb files\n"
    );
}

/// `.sym table|load|reload|download|unload|add`.
pub(super) fn symbols(input: &Input<'_>) {
    let session = input.session;
    let Some(action) = input.arguments().first() else {
        return input.misuse();
    };
    match action.lower().as_str() {
        "table" => {
            let (modules, loaded) = {
                let state = session.lock();
                (state.machine.modules.clone(), state.symbols)
            };
            for module in modules {
                say!(session.console, "is pdb details available? : {loaded}\n");
                say!(session.console, "base address : {:x}\n", module.base);
                say!(session.console, "file path : {}\n", module.path);
                say!(session.console, "is user-mode? : {}\n", module.owner.is_some());
                say!(session.console, "{}\n", "=".repeat(78));
            }
        }
        "load" | "reload" | "download" => {
            session.lock().symbols = true;
            say!(session.console, "symbol table updated successfully\n");
        }
        "unload" => session.lock().symbols = false,
        "add" => say!(session.console, "pdb file not found\n"),
        _ => {
            say!(session.console, "unknown parameter at '{}'\n\n", action.text);
            input.misuse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_with_stars_match_whole_names() {
        assert!(fits("nt!nt*file", "nt!ntcreatefile"));
        assert!(fits("nt!*", "nt!x"));
        assert!(!fits("nt!nt*file", "nt!ntclose"));
        assert!(!fits("nt!ntclos", "nt!ntclose"));
        assert!(fits("*!strlen", "nt!strlen"));
    }
}
