//! `r`, `~`, MSRs and CPUID.

use super::Input;
use crate::disassembly::separated;
use crate::errors::{self, code};
use crate::machine::registers::{NAMES, Registers, flag, id_of, selector};
use crate::machine::{cpuid, registers};
use crate::say;
use crate::session::Session;

const NOT_ATTACHED: &str = "err, reading registers (r) is not valid in the current context, you should connect to a debuggee or attach to a process\n";

/// The registers of the core that is looked at; `None` with nothing attached and halted.
pub(crate) fn current(session: &Session) -> Option<Registers> {
    let state = session.lock_halted();
    let attached = state.is_serial() || state.is_user_paused();
    attached.then(|| state.machine.cores[state.view_core()].registers.clone())
}

/// Prints the block of all registers.
pub(crate) fn show_all(session: &Session) -> bool {
    let Some(r) = current(session) else {
        errors::show(&session.console, 0);
        return false;
    };
    let g = r.gpr;
    let on = |name: &str, mask: u64| format!("{name} {}", u8::from(r.flag(mask)));
    let s = |index: usize| r.selectors[index];
    // The value of RSI is printed with a blank for the sign, which takes one of its 16 places.
    let rsi = format!(" {:015x}", g[6]);
    say!(
        session.console,
        "RAX={:016x} RBX={:016x} RCX={:016x}\nRDX={:016x} RSI={rsi} RDI={:016x}\n\
         RIP={:016x} RSP={:016x} RBP={:016x}\nR8 ={:016x} R9 ={:016x} R10={:016x}\n\
         R11={:016x} R12={:016x} R13={:016x}\nR14={:016x} R15={:016x} IOPL={:02x}\n\
         {}  {}  {}  {}\n{}  {}  {}  {}\n\
         CS {:04x} SS {:04x} DS {:04x} ES {:04x} FS {:04x} GS {:04x}\nRFLAGS={:016x}\n",
        g[0],
        g[3],
        g[1],
        g[2],
        g[7],
        r.rip,
        g[4],
        g[5],
        g[8],
        g[9],
        g[10],
        g[11],
        g[12],
        g[13],
        g[14],
        g[15],
        (r.rflags >> 12) & 3,
        on("OF", flag::OF),
        on("DF", flag::DF),
        on("IF", flag::IF),
        on("SF ", flag::SF),
        on("ZF", flag::ZF),
        on("PF", flag::PF),
        on("CF", flag::CF),
        on("AXF", flag::AF),
        s(selector::CS),
        s(selector::SS),
        s(selector::DS),
        s(selector::ES),
        s(selector::FS),
        s(selector::GS),
        r.rflags
    );
    true
}

/// Reads one register by its number; the reason of a failure is printed.
pub(crate) fn read(session: &Session, id: u32) -> Option<u64> {
    let Some(registers) = current(session) else {
        errors::show(&session.console, 0);
        return None;
    };
    let value = registers.get(id);
    if value.is_none() {
        errors::show(&session.console, code::REGISTER_NUMBER);
    }
    value
}

/// Writes one register by its number, in debugger mode only.
pub(crate) fn write(session: &Session, id: u32, value: u64) -> bool {
    if !session.lock().is_serial() {
        say!(session.console, "err, handle of the com port is not found\n");
        return false;
    }
    let mut state = session.lock_halted();
    let core = state.core;
    let known = state.machine.cores[core].set_register(id, value);
    drop(state);
    if !known {
        errors::show(&session.console, code::REGISTER_NUMBER);
    }
    known
}

/// Prints one register.
pub(crate) fn show_one(session: &Session, id: u32) -> bool {
    let Some(value) = read(session, id) else {
        return false;
    };
    say!(session.console, "{}={value:016x}\n", NAMES[id as usize]);
    true
}

/// `r`, on the raw line.
pub(super) fn registers(input: &Input<'_>) {
    let session = input.session;
    let line = input.rest();
    if line.is_empty() {
        if current(session).is_some() {
            show_all(session);
        } else {
            session.console.say(NOT_ATTACHED);
        }
        return;
    }
    let plain = |text: &str| text.replace(['@', ' '], "").to_ascii_lowercase();
    match line.split_once('=') {
        None => match registers::id_of(&plain(line)) {
            None => say!(session.console, "err, invalid register\n"),
            Some(id) if current(session).is_some() => {
                show_one(session, id);
            }
            Some(_) => session.console.say(NOT_ATTACHED),
        },
        Some((name, value)) => {
            if value.contains('=') {
                return;
            }
            if id_of(&plain(name)).is_none() {
                say!(session.console, "err, invalid register\n");
                return;
            }
            session.run_statements(&format!("@{}={value}; ", plain(name)), true);
        }
    }
}

/// `~`.
pub(super) fn core(input: &Input<'_>) {
    let session = input.session;
    if input.arguments().len() > 1 {
        return input.misuse();
    }
    let (serial, current) = {
        let state = session.lock_halted();
        (state.is_serial(), state.core)
    };
    if !serial {
        say!(session.console, "err, you're not connected to any debuggee\n");
        return;
    }
    let Some(token) = input.arguments().first() else {
        say!(session.console, "current processor : 0x{current:x}\n");
        return;
    };
    let Some(wanted) = token.number32() else {
        say!(
            session.console,
            "please specify a correct hex value for the core\n\n"
        );
        return input.misuse();
    };
    let mut state = session.lock_halted();
    if wanted as usize >= state.machine.scheduled() {
        drop(state);
        errors::show(&session.console, code::NO_SUCH_CORE);
        return;
    }
    state.core = wanted as usize;
    let lines = state.instruction_lines(wanted as usize);
    drop(state);
    say!(
        session.console,
        "current operating core changed to 0x{wanted:x}\n"
    );
    for line in &lines {
        session.console.say(line);
    }
}

/// The `core N` option behind an MSR; `Err` when it is wrong.
fn core_option(input: &Input<'_>, rest: &[crate::tokens::Token]) -> Result<Option<usize>, ()> {
    match rest {
        [] => Ok(None),
        [word, core] if word.is("core") => match core.number32() {
            Some(core) if (core as usize) < input.session.lock().machine.scheduled() => {
                Ok(Some(core as usize))
            }
            Some(_) => {
                say!(
                    input.session.console,
                    "ioctl failed with code (1), either msr index or core id is invalid\n"
                );
                Err(())
            }
            None => {
                say!(
                    input.session.console,
                    "please specify a correct hex value for core id\n\n"
                );
                Err(())
            }
        },
        _ => {
            input.misuse();
            Err(())
        }
    }
}

/// `rdmsr MSR [core N]`.
pub(super) fn read_msr(input: &Input<'_>) {
    let session = input.session;
    let Some((index, rest)) = input.arguments().split_first() else {
        return input.misuse();
    };
    let Ok(core) = core_option(input, rest) else {
        return;
    };
    let Some(index) = index.number32() else {
        say!(
            session.console,
            "please specify a correct hex value to be read\n\n"
        );
        return input.misuse();
    };
    if !session.needs_kd() {
        return;
    }
    let values: Vec<(usize, Option<u64>)> = {
        let state = session.lock_halted();
        let cores = core.map_or(0..state.machine.scheduled(), |core| core..core + 1);
        cores
            .map(|core| (core, state.machine.cores[core].read_msr(index)))
            .collect()
    };
    for (core, value) in values {
        match value {
            Some(value) => say!(
                session.console,
                "core : 0x{core:x} - msr[{index:x}] = {}\n",
                separated(value)
            ),
            None => {
                say!(
                    session.console,
                    "ioctl failed with code (1), either msr index or core id is invalid\n"
                );
                return;
            }
        }
    }
}

/// `wrmsr MSR VALUE [core N]`.
pub(super) fn write_msr(input: &Input<'_>) {
    let session = input.session;
    let [index, value, rest @ ..] = input.arguments() else {
        return input.misuse();
    };
    let Ok(core) = core_option(input, rest) else {
        return;
    };
    let (Some(index), Some(value)) = (index.number32(), session.address(&value.text)) else {
        say!(
            session.console,
            "please specify a correct hex value to put on the msr\n\n"
        );
        return input.misuse();
    };
    if !session.needs_kd() {
        return;
    }
    let written = {
        let mut state = session.lock_halted();
        let cores = core.map_or(0..state.machine.scheduled(), |core| core..core + 1);
        cores
            .into_iter()
            .all(|core| state.machine.cores[core].write_msr(index, value))
    };
    if !written {
        say!(
            session.console,
            "ioctl failed with code (1), either msr index or core id is invalid\n"
        );
    }
}

/// Prints what CPUID says.
pub(crate) fn show_cpuid(session: &Session, leaf: u32, subleaf: u32) {
    let console = &session.console;
    let [eax, ebx, ecx, edx] = cpuid::query(leaf, subleaf);
    match leaf {
        0 => {
            say!(console, "cpuid function: {leaf:x}\n");
            say!(console, "maximum standard function: {eax:x}\n");
            say!(console, "vendor: {}\n", cpuid::VENDOR);
        }
        1 => {
            say!(console, "cpuid function: {leaf:x}\n");
            say!(
                console,
                "stepping: {:x}, model: {:x}, family: {:x}\n",
                eax & 15,
                (eax >> 4) & 15,
                (eax >> 8) & 15
            );
            say!(
                console,
                "vmx: {}\n",
                if ecx & 0x20 == 0 {
                    "not supported"
                } else {
                    "supported"
                }
            );
        }
        _ => {
            say!(console, "cpuid function: {leaf:x}, sub-function: {subleaf:x}\n");
            say!(
                console,
                "EAX: {eax:08x}, EBX: {ebx:08x}, ECX: {ecx:08x}, EDX: {edx:08x}\n"
            );
        }
    }
}

/// `cpuid LEAF [SUBLEAF]`.
pub(super) fn cpuid_command(input: &Input<'_>) {
    let (leaf, subleaf) = match input.arguments() {
        [leaf] => (leaf.number32(), Some(0)),
        [leaf, subleaf] => (leaf.number32(), subleaf.number32()),
        _ => return input.misuse(),
    };
    let (Some(leaf), Some(subleaf)) = (leaf, subleaf) else {
        say!(
            input.session.console,
            "please specify a correct hex value for the function\n\n"
        );
        return input.misuse();
    };
    if input.session.needs_kd() {
        show_cpuid(input.session, leaf, subleaf);
    }
}
