//! Tables of the hardware: page tables, interrupts, APIC, branch records.

use super::Input;
use super::memory::allow_pid;
use crate::disassembly::separated;
use crate::errors::{self, code};
use crate::machine::paging::{self, Walk};
use crate::say;
use crate::session::{Session, State};
use crate::tokens::Token;

/// `ADDRESS [pid N]` in any order; says so when it is something else.
fn address_and_pid(input: &Input<'_>) -> Option<(u64, u32)> {
    let (address, pid) = match input.arguments() {
        [address] => (address, None),
        [address, word, pid] | [word, pid, address] if word.is("pid") => (address, Some(pid)),
        _ => {
            input.misuse();
            return None;
        }
    };
    let pid = match pid.map(Token::number32) {
        None => None,
        Some(Some(pid)) => Some(pid),
        Some(None) => {
            say!(
                input.session.console,
                "incorrect address, please enter a valid process id\n"
            );
            return None;
        }
    };
    let address = input.address(address)?;
    if !allow_pid(input, pid) || !input.session.needs_kd() {
        return None;
    }
    Some((address, pid.unwrap_or_else(|| input.session.default_pid())))
}

fn directory(state: &State, pid: u32) -> Option<u64> {
    if state.is_serial() {
        return Some(state.machine.cores[state.core].registers.cr[3]);
    }
    state.process_of(pid).map(|process| process.cr3)
}

fn walk(session: &Session, address: u64, pid: u32) -> Option<Walk> {
    let found = {
        let state = session.lock_halted();
        directory(&state, pid).map(|directory| paging::walk(&state.machine.memory, directory, address))
    };
    if found.is_none() {
        errors::show(&session.console, code::PROCESS_ID);
    }
    found
}

/// `!pte`.
pub(super) fn pte(input: &Input<'_>) {
    let session = input.session;
    let Some((address, pid)) = address_and_pid(input) else {
        return;
    };
    let Some(found) = walk(session, address, pid) else {
        return;
    };
    if found.entries[0] & paging::PRESENT == 0 {
        errors::show(&session.console, code::INVALID_ADDRESS);
        return;
    }
    let [pml4e, pdpte, pde, pte] = found.entry_addresses;
    let [pml4e_value, pdpte_value, pde_value, pte_value] = found.entries;
    say!(session.console, "VA {address:x}\n");
    say!(
        session.console,
        "PML4E (PXE) at {pml4e:016x}\tcontains {pml4e_value:016x}\nPDPTE (PPE) at {pdpte:016x}\tcontains \
         {pdpte_value:016x}\nPDE at {pde:016x}\tcontains {pde_value:016x}\n"
    );
    if found.large {
        say!(session.console, "PDE is a large page, so it doesn't have a PTE\n");
    } else {
        say!(session.console, "PTE at {pte:016x}\tcontains {pte_value:016x}\n");
    }
}

/// `!va2pa`.
pub(super) fn virtual_to_physical(input: &Input<'_>) {
    let Some((address, pid)) = address_and_pid(input) else {
        return;
    };
    let Some(found) = walk(input.session, address, pid) else {
        return;
    };
    match found.physical {
        Some(physical) => say!(input.session.console, "{physical:x}\n"),
        None => errors::show(&input.session.console, code::INVALID_ADDRESS),
    }
}

/// `!pa2va`.
pub(super) fn physical_to_virtual(input: &Input<'_>) {
    let Some((address, _)) = address_and_pid(input) else {
        return;
    };
    let found = input.session.lock_halted().machine.virtual_of(address);
    match found {
        Some(address) => say!(input.session.console, "{address:x}\n"),
        None => errors::show(&input.session.console, code::INVALID_ADDRESS),
    }
}

/// The 256 handlers of the current core.
pub(crate) fn idt(state: &State) -> Vec<u64> {
    (0..=255)
        .map(|vector| state.machine.handler(state.core, vector))
        .collect()
}

/// `!idt [VECTOR]`.
pub(super) fn idt_command(input: &Input<'_>) {
    let session = input.session;
    let wanted = match input.arguments() {
        [] => None,
        [vector] => match vector.number32().filter(|vector| *vector <= 0xff) {
            Some(vector) => Some(vector as usize),
            None => {
                say!(session.console, "err, invalid IDT entry number\n");
                return;
            }
        },
        _ => return input.misuse(),
    };
    if !session.needs_kd() {
        return;
    }
    let rows: Vec<(usize, u64, Option<String>)> = {
        let state = session.lock_halted();
        let style = state.style(64);
        idt(&state)
            .into_iter()
            .enumerate()
            .filter(|(vector, _)| wanted.is_none_or(|wanted| wanted == *vector))
            .map(|(vector, handler)| {
                let name = style
                    .symbols
                    .and_then(|symbols| symbols.at(handler))
                    .map(|symbol| symbol.name.clone());
                (vector, handler, name)
            })
            .collect()
    };
    if wanted.is_none() {
        say!(session.console, "IDT Entries:\n\n");
    }
    for (vector, handler, name) in rows {
        let gap = if wanted.is_none() { "\t" } else { " " };
        say!(
            session.console,
            "IDT[0x{vector:x}:{vector}]{gap}: {}\t",
            separated(handler)
        );
        if let Some(name) = name {
            session.console.say(&name);
        }
        say!(session.console, "\n");
    }
}

/// Registers of the local APIC that are not zero: offset in the page and value.
pub(crate) const LOCAL_APIC: &[(usize, u32)] = &[
    (0x20, 0),
    (0x30, 0x0005_0014),
    (0xd0, 0x0100_0000),
    (0xe0, 0xffff_ffff),
    (0xf0, 0x1ff),
    (0x300, 0xc0b3),
    (0x320, 0xd1),
    (0x340, 0xfe),
    (0x350, 0x0001_0000),
    (0x360, 0x400),
    (0x370, 0xe3),
    (0x380, 0x000f_4240),
    (0x390, 0x0007_a120),
    (0x3e0, 3),
];

/// Redirection entries of the I/O APIC: input and value.
pub(crate) const IO_APIC: &[(usize, u64)] = &[
    (1, 0x0001_0080),
    (8, 0x0001_00d2),
    (9, 0x0000_80b0),
    (0xc, 0x0001_0090),
];

/// Redirection entries that exist.
pub(crate) const IO_APIC_INPUTS: usize = 24;

/// `!apic`.
pub(super) fn local_apic(input: &Input<'_>) {
    let session = input.session;
    if !input.arguments().is_empty() {
        return input.misuse();
    }
    if !session.needs_kd() {
        return;
    }
    let at = |offset: usize| {
        LOCAL_APIC
            .iter()
            .find(|(known, _)| *known == offset)
            .map_or(0, |(_, value)| *value)
    };
    say!(
        session.console,
        "***  (xAPIC Mode) PHYSICAL LAPIC ID = {}, Ver = 0x{:x}, MaxLvtEntry = {}, DirectedEOI = P0/E0, (SW: '{}')\n",
        at(0x20) >> 24,
        at(0x30) & 0xff,
        (at(0x30) >> 16) & 0xff,
        if at(0xf0) & 0x100 == 0 {
            "disabled"
        } else {
            "enabled"
        }
    );
    for (name, offset) in [
        ("TPR", 0x80),
        ("PPR", 0xa0),
        ("LDR", 0xd0),
        ("SVR", 0xf0),
        ("LVT_TMR ", 0x320),
    ] {
        say!(session.console, "     -> {name} = 0x{:08x}\n", at(offset));
    }
    for name in ["ISR", "TMR", "IRR"] {
        say!(session.console, "{name} : ");
        say!(session.console, "\n");
    }
}

/// `!ioapic`.
pub(super) fn io_apic(input: &Input<'_>) {
    let session = input.session;
    if !input.arguments().is_empty() {
        return input.misuse();
    }
    if !session.needs_kd() {
        return;
    }
    for inputs in 0..IO_APIC_INPUTS {
        let entry = IO_APIC
            .iter()
            .find(|(known, _)| *known == inputs)
            .map_or(0x0001_0000, |(_, value)| *value);
        let masked = if entry & 0x1_0000 == 0 { "" } else { " masked" };
        say!(
            session.console,
            "Inti{inputs:02x}.: {entry:016x}  Vec:{:02X}{masked}\n",
            entry & 0xff
        );
    }
}

/// `!smi count|trigger`.
pub(super) fn smi(input: &Input<'_>) {
    let session = input.session;
    let action = match input.arguments() {
        [] => "count".to_owned(),
        [action] => action.lower(),
        _ => return input.misuse(),
    };
    if !session.needs_kd() {
        return;
    }
    match action.as_str() {
        "count" => {
            let count = session.lock_halted().tracing.smi_count;
            say!(session.console, "SMI count: 0x{count:x}\n");
        }
        "trigger" => {
            session.lock_halted().tracing.smi_count += 1;
            say!(session.console, "the SMI is triggered\n");
        }
        _ => input.misuse(),
    }
}

/// Switches branch records on or off.
///
/// # Errors
/// The code of a state that they already have.
pub(crate) fn set_lbr(state: &mut State, on: bool) -> Result<(), u32> {
    if state.tracing.lbr == on {
        return Err(if on { code::LBR_ON } else { code::LBR_OFF });
    }
    state.tracing.lbr = on;
    if on {
        state.tracing.branches.iter_mut().for_each(Vec::clear);
    }
    Ok(())
}

/// `!lbr enable|disable|flush|filter`.
pub(super) fn lbr(input: &Input<'_>) {
    let session = input.session;
    let Some(action) = input.arguments().first() else {
        return input.misuse();
    };
    if !session.needs_trace() {
        return;
    }
    let result = {
        let mut state = session.lock_halted();
        match action.lower().as_str() {
            "enable" => set_lbr(&mut state, true).map(|()| "the LBR is enabled\n"),
            "disable" => set_lbr(&mut state, false).map(|()| "the LBR is disabled\n"),
            "flush" => {
                state.tracing.branches.iter_mut().for_each(Vec::clear);
                Ok("the LBR is flushed\n")
            }
            "filter" => Ok("the LBR filter is set\n"),
            _ => Err(code::TRACE_OPERATION),
        }
    };
    match result {
        Ok(text) => session.console.say(text),
        Err(code) => errors::show(&session.console, code),
    }
}

/// `!lbrdump [core N]`.
pub(super) fn lbr_dump(input: &Input<'_>) {
    let session = input.session;
    let core = match input.arguments() {
        [] => None,
        [word, core] if word.is("core") => core.number32(),
        _ => return input.misuse(),
    };
    if !session.needs_trace() {
        return;
    }
    let branches = session.lock_halted().tracing.branches.clone();
    let cores = session.lock().machine.scheduled();
    for (index, records) in branches.iter().enumerate().take(cores) {
        if core.is_some_and(|core| core as usize != index) {
            continue;
        }
        say!(
            session.console,
            "LBR Chronological Trace on core: 0x{index:x}\n\n"
        );
        for (number, (from, to)) in records.iter().enumerate() {
            say!(
                session.console,
                "\t [{number:2}] Branch Mispredicted: false, Cycle Count (Decimal): {:04} - From: {from:016x}  To: {to:016x}\n",
                3
            );
        }
        if records.is_empty() {
            say!(session.console, "\t no LBR entries found for this core\n\n");
        }
        say!(session.console, "\n\t {}\n\n", "=".repeat(59));
    }
}

/// `!pt enable|disable|…`.
pub(super) fn pt(input: &Input<'_>) {
    let session = input.session;
    let Some(action) = input.arguments().first() else {
        return input.misuse();
    };
    if !session.needs_trace() {
        return;
    }
    let wanted = action.lower();
    let result = {
        let mut state = session.lock_halted();
        match (wanted.as_str(), state.tracing.pt) {
            ("enable", false) => {
                state.tracing.pt = true;
                Ok("the PT is enabled\n")
            }
            ("disable", true) => {
                state.tracing.pt = false;
                Ok("the PT is disabled\n")
            }
            ("enable", true) => Err(code::PT_ON),
            ("disable", false) => Err(code::PT_OFF),
            ("flush" | "pause" | "resume" | "filter" | "packet" | "size", true) => {
                Ok("the PT operation was done\n")
            }
            (_, true) => Err(code::TRACE_OPERATION),
            (_, false) => Err(code::PT_OFF),
        }
    };
    match result {
        Ok(text) => session.console.say(text),
        Err(code) => errors::show(&session.console, code),
    }
}

/// PCI functions: address, ids, vendor, device.
const PCI: &[(&str, &str, &str, &str)] = &[
    (
        "0000:00:00:0",
        "8086:29c0",
        "Intel Corporation",
        "Simulated Host Bridge",
    ),
    ("0000:00:02:0", "1234:1111", "Sim Graphics", "Simulated Display"),
    (
        "0000:00:1f:2",
        "8086:2922",
        "Intel Corporation",
        "Simulated Disk Controller",
    ),
];

/// `!pcitree`.
pub(super) fn pci(input: &Input<'_>) {
    let session = input.session;
    if !session.needs_kd() {
        return;
    }
    say!(
        session.console,
        "{:<12} | {:<9} | {:<17} | Device Name \n{}\n",
        "DBDF",
        "VID:DID",
        "Vendor Name",
        "-".repeat(70)
    );
    for (address, ids, vendor, device) in PCI {
        say!(session.console, "{address} | {ids} | {vendor:<17} | {device}\n");
    }
}
