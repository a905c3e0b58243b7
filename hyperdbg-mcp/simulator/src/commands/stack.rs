//! `k kd kq`.

use super::Input;
use crate::disassembly::name_with_offset;
use crate::machine::Machine;
use crate::say;
use crate::session::Session;

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
