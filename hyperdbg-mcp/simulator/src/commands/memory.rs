//! `db dc dd dq dl u u2` and their physical twins, `eb ed eq`, `.dump`.

use super::Input;
use crate::disassembly::{self, separated};
use crate::say;
use crate::session::Session;
use crate::session::memory::Space;
use crate::tokens::Token;

/// Shapes of a memory view, numbered as `DEBUGGER_SHOW_MEMORY_STYLE` numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Disassemble64,
    Disassemble32,
    Bytes,
    DwordsAndText,
    Qwords,
    Dwords,
}

impl View {
    /// The view with that number in the SDK.
    pub(crate) fn from_style(style: i32) -> Option<Self> {
        Some(match style {
            2 => Self::Disassemble64,
            3 => Self::Disassemble32,
            4 => Self::Bytes,
            5 => Self::DwordsAndText,
            6 => Self::Qwords,
            7 => Self::Dwords,
            _ => return None,
        })
    }
}

/// Prints memory.
pub(crate) fn show(session: &Session, view: View, address: u64, space: Space, pid: u32, size: u32) {
    let Some(found) = session.read_memory(address, space, pid, size) else {
        return;
    };
    if let View::Disassemble64 | View::Disassemble32 = view {
        return disassemble(session, view, address, space, &found.bytes, found.is_32_bit);
    }
    for row in (0..u64::from(size)).step_by(16) {
        show_row(session, view, address, space, &found.bytes, row as usize);
    }
}

fn disassemble(session: &Session, view: View, address: u64, space: Space, bytes: &[u8], is_32_bit: bool) {
    let bitness = if view == View::Disassemble64 { 64 } else { 32 };
    if space == Space::Virtual && is_32_bit == (bitness == 64) {
        let (other, command) = if is_32_bit { ("32", "u32") } else { ("64", "u") };
        say!(
            session.console,
            "the target address seems to belong to a {other}-bit program; '{command}' disassembles those\n"
        );
    }
    if bytes.is_empty() {
        say!(session.console, "err, invalid address\n");
        return;
    }
    let address = if bitness == 32 {
        address & 0xffff_ffff
    } else {
        address
    };
    let lines = {
        let state = session.lock();
        disassembly::messages(&state.style(bitness), bytes, address, usize::MAX, None)
    };
    for line in &lines {
        session.console.say(line);
    }
}

fn show_row(session: &Session, view: View, address: u64, space: Space, bytes: &[u8], row: usize) {
    let console = &session.console;
    if space == Space::Physical {
        say!(console, "#\t");
    }
    say!(console, "{}  ", separated(address.wrapping_add(row as u64)));
    let word = |at: usize| {
        let mut raw = [0; 4];
        for (index, slot) in raw.iter_mut().enumerate() {
            *slot = bytes.get(at + index).copied().unwrap_or(0);
        }
        u32::from_le_bytes(raw)
    };
    match view {
        View::Bytes => {
            for at in row..row + 16 {
                match bytes.get(at) {
                    Some(byte) => say!(console, "{byte:02X} "),
                    None => say!(console, "?? "),
                }
            }
        }
        View::Qwords => {
            for at in [row, row + 8] {
                if at < bytes.len() {
                    say!(console, "{:08X}`", word(at + 4));
                    say!(console, "{:08X} ", word(at));
                } else {
                    say!(console, "???????? ");
                }
            }
        }
        _ => {
            for at in (row..row + 16).step_by(4) {
                if at < bytes.len() {
                    say!(console, "{:08X} ", word(at));
                } else {
                    say!(console, "???????? ");
                }
            }
        }
    }
    if let View::Bytes | View::DwordsAndText = view {
        say!(console, " ");
        for at in row..row + 16 {
            match bytes.get(at) {
                Some(byte) if (0x20..0x7f).contains(byte) => say!(console, "{}", char::from(*byte)),
                _ => say!(console, "."),
            }
        }
    }
    say!(console, "\n");
}

/// Prints a linked list, node by node.
pub(crate) fn show_list(session: &Session, address: u64, space: Space, pid: u32, offset: u64, limit: u64) {
    let kind = if space == Space::Virtual {
        "virtual"
    } else {
        "physical"
    };
    say!(
        session.console,
        "walking linked list ({kind} address) from {address:x} (offset = {offset:x})\n\n"
    );
    let mut current = address;
    let mut index = 0;
    while current != 0 && index < limit {
        say!(session.console, "{index:02x}: {current:016x}\n");
        let field = current.wrapping_add(offset);
        let read = session.read_memory(field, space, pid, 8).map(|found| found.bytes);
        let Some(Ok(raw)) = read.map(<[u8; 8]>::try_from) else {
            say!(session.console, "err, unable to read memory at {field:x}\n");
            break;
        };
        let next = u64::from_le_bytes(raw);
        if next == address && index > 0 {
            say!(session.console, "\n(list is circular, returned to head)\n");
            break;
        }
        current = next;
        index += 1;
    }
    if index >= limit {
        say!(
            session.console,
            "\n(stopped after {limit:x} nodes; use 'l Count' to see more)\n"
        );
    }
}

/// What the d and u commands were given.
#[derive(Default)]
struct Arguments {
    address: Option<u64>,
    length: Option<u64>,
    offset: u64,
    pid: Option<u32>,
}

fn arguments(input: &Input<'_>, list: bool) -> Option<Arguments> {
    let mut found = Arguments::default();
    let mut rest = input.arguments().iter();
    if rest.len() == 0 {
        input.misuse();
        return None;
    }
    while let Some(token) = rest.next() {
        let option = ["l", "o", "pid"]
            .into_iter()
            .find(|word| token.is(word) && (*word != "o" || list));
        if let Some(option) = option {
            let Some(value) = rest.next() else {
                input.misuse();
                return None;
            };
            let Some(number) = value.number() else {
                let what = match option {
                    "l" => "length",
                    "o" => "offset",
                    _ => "process id",
                };
                say!(input.session.console, "err, you should enter a valid {what}\n\n");
                return None;
            };
            match option {
                "l" => found.length = Some(number),
                "o" => found.offset = number,
                _ => found.pid = u32::try_from(number).ok(),
            }
            continue;
        }
        // An address of 0 does not count: the next argument is tried instead.
        if found.address.is_some_and(|address| address != 0) {
            say!(
                input.session.console,
                "err, incorrect use of the '{}' command\n\n",
                input.word()
            );
            return None;
        }
        found.address = Some(input.address(token)?);
    }
    if found.address.is_none_or(|address| address == 0) {
        say!(input.session.console, "err, please enter a valid address\n\n");
        return None;
    }
    if !allow_pid(input, found.pid) {
        return None;
    }
    Some(found)
}

/// In debugger mode a process cannot be chosen.
pub(super) fn allow_pid(input: &Input<'_>, pid: Option<u32>) -> bool {
    let refused = pid.is_some_and(|pid| pid != 0) && input.session.lock().is_serial();
    if refused {
        say!(
            input.session.console,
            "err, a process id cannot be given while the debuggee is halted: '.process' and 'g' switch to it first\n"
        );
    }
    !refused
}

pub(super) fn space(command: &str) -> Space {
    if command.starts_with('!') {
        Space::Physical
    } else {
        Space::Virtual
    }
}

/// `db dc dd dq u u2` and the physical ones.
pub(super) fn view(input: &Input<'_>) {
    let command = input.command();
    let (view, default) = match command.trim_start_matches('!') {
        "db" => (View::Bytes, 0x80),
        "dc" => (View::DwordsAndText, 0x80),
        "dd" => (View::Dwords, 0x80),
        "dq" => (View::Qwords, 0x80),
        "u" | "u64" => (View::Disassemble64, 0x40),
        _ => (View::Disassemble32, 0x80),
    };
    let Some(found) = arguments(input, false) else {
        return;
    };
    let length = found.length.filter(|length| *length != 0).unwrap_or(default);
    let Ok(length) = u32::try_from(length) else {
        say!(input.session.console, "err, you should enter a valid length\n\n");
        return;
    };
    let pid = found
        .pid
        .filter(|pid| *pid != 0)
        .unwrap_or_else(|| input.session.default_pid());
    show(
        input.session,
        view,
        found.address.unwrap_or(0),
        space(&command),
        pid,
        length,
    );
}

/// `dl`.
pub(super) fn list(input: &Input<'_>) {
    let Some(found) = arguments(input, true) else {
        return;
    };
    let limit = found.length.filter(|limit| *limit != 0).unwrap_or(0x100);
    let pid = found
        .pid
        .filter(|pid| *pid != 0)
        .unwrap_or_else(|| input.session.default_pid());
    show_list(
        input.session,
        found.address.unwrap_or(0),
        space(&input.command()),
        pid,
        found.offset,
        limit,
    );
}

/// Size of the elements of `eb`, `sd` and the like.
pub(super) fn element_size(command: &str) -> usize {
    match command.chars().last() {
        Some('b') => 1,
        Some('d') => 4,
        _ => 8,
    }
}

/// A value for `e…` and `s…`: a number that fits the element.
pub(super) fn element(input: &Input<'_>, token: &Token, size: usize) -> Option<u64> {
    let digits = token.text.chars().filter(|c| *c != '`').count();
    if digits > size * 2 {
        say!(
            input.session.console,
            "please specify a {} (hex) value for '{}'\n\n",
            ["", "byte", "", "", "dword", "", "", "", "qword"][size],
            input.word()
        );
        return None;
    }
    let value = token.number();
    if value.is_none() {
        say!(input.session.console, "please specify a correct hex value\n\n");
        input.misuse();
    }
    value
}

/// `eb ed eq` and the physical ones. Nothing is printed on success.
pub(super) fn edit(input: &Input<'_>) {
    if input.arguments().len() < 2 {
        return input.misuse();
    }
    let command = input.command();
    let size = element_size(&command);
    let mut address = None;
    let mut bytes = Vec::new();
    let mut pid = None;
    let mut rest = input.arguments().iter();
    while let Some(token) = rest.next() {
        if token.is("pid") {
            pid = rest.next().and_then(Token::number32);
            if pid.is_none() {
                say!(
                    input.session.console,
                    "please specify a correct hex process id\n\n"
                );
                return input.misuse();
            }
        } else if address.is_none() {
            let Some(found) = input.address(token) else { return };
            address = Some(found);
        } else {
            let Some(value) = element(input, token, size) else {
                return;
            };
            bytes.extend(&value.to_le_bytes()[..size]);
        }
    }
    if !allow_pid(input, pid) {
        return;
    }
    let (Some(address), false) = (address, bytes.is_empty()) else {
        say!(
            input.session.console,
            "please specify a correct hex value as the content to edit\n\n"
        );
        return input.misuse();
    };
    let pid = pid
        .filter(|pid| *pid != 0)
        .unwrap_or_else(|| input.session.default_pid());
    input.session.write_memory(address, space(&command), pid, &bytes);
}

/// `.dump FROM TO path FILE`.
pub(super) fn dump(input: &Input<'_>) {
    let mut addresses = Vec::new();
    let mut path = None;
    let mut rest = input.arguments().iter();
    while let Some(token) = rest.next() {
        if token.is("path") {
            path = rest.next().map(|token| token.text.clone());
        } else {
            let Some(address) = input.address(token) else {
                return;
            };
            addresses.push(address);
        }
    }
    let (&[from, to], Some(path)) = (addresses.as_slice(), path) else {
        return input.misuse();
    };
    let size = to.saturating_sub(from);
    let Some(size) = u32::try_from(size)
        .ok()
        .filter(|size| (1..=0x100_0000).contains(size))
    else {
        say!(
            input.session.console,
            "err, the range to dump is empty or too large\n"
        );
        return;
    };
    let pid = input.session.default_pid();
    let mut bytes = Vec::new();
    while bytes.len() < size as usize {
        let part = (size - bytes.len() as u32).min(0x1000);
        let at = from + bytes.len() as u64;
        let Some(found) = input.session.read_memory(at, space(&input.command()), pid, part) else {
            return;
        };
        if found.bytes.len() < part as usize {
            say!(
                input.session.console,
                "err, invalid address {:x}\n",
                at + found.bytes.len() as u64
            );
            return;
        }
        bytes.extend(found.bytes);
    }
    match std::fs::write(&path, bytes) {
        Ok(()) => say!(input.session.console, "the dump file is saved at: {path}\n"),
        Err(error) => say!(input.session.console, "err, unable to write '{path}' ({error})\n"),
    }
}
