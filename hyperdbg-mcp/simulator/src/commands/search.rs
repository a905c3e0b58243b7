//! `sb sd sq` and the physical ones.

use super::Input;
use super::memory::{allow_pid, element, element_size, space};
use crate::say;
use crate::session::memory::Space;
use crate::tokens::Token;

/// Hits that are shown.
const HIT_LIMIT: usize = 4096;

/// Bytes that one search covers at most; the machine has no more memory than that in one piece.
const LENGTH_LIMIT: u64 = 0x1000_0000;

/// The handler.
pub(super) fn search(input: &Input<'_>) {
    if input.arguments().len() < 4 {
        return input.misuse();
    }
    let command = input.command();
    let size = element_size(&command);
    let mut address = None;
    let mut length = None;
    let mut pid = None;
    let mut pattern: Vec<u8> = Vec::new();
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
        } else if token.is("l") {
            length = rest.next().and_then(Token::number);
            if length.is_none() {
                say!(input.session.console, "please specify a correct hex length\n\n");
                return input.misuse();
            }
        } else if address.is_none() {
            let Some(found) = input.address(token) else { return };
            address = Some(found);
        } else {
            let Some(value) = element(input, token, size) else {
                return;
            };
            pattern.extend(&value.to_le_bytes()[..size]);
        }
    }
    if !allow_pid(input, pid) {
        return;
    }
    let (Some(address), Some(length), false) = (address, length, pattern.is_empty()) else {
        say!(
            input.session.console,
            "please specify a correct hex value as the content to search\n\n"
        );
        return input.misuse();
    };
    if !input.session.needs_kd() {
        return;
    }
    let hits = find(
        input,
        address,
        length.min(LENGTH_LIMIT),
        space(&command),
        pid,
        &pattern,
        size,
    );
    if hits.is_empty() {
        say!(input.session.console, "not found\n");
    }
    for hit in hits {
        say!(input.session.console, "{hit:x}\n");
    }
}

fn find(
    input: &Input<'_>,
    address: u64,
    length: u64,
    space: Space,
    pid: Option<u32>,
    pattern: &[u8],
    step: usize,
) -> Vec<u64> {
    let state = input.session.lock_halted();
    let pid = pid.filter(|pid| *pid != 0).unwrap_or_else(std::process::id);
    let directory = if state.is_serial() {
        Some(state.machine.cores[state.core].registers.cr[3])
    } else {
        state.process_of(pid).map(|process| process.cr3)
    };
    let mut hits = Vec::new();
    let mut window: Vec<u8> = Vec::new();
    let mut at = address;
    let end = address.saturating_add(length);
    // Page by page; a hole ends the search there, and what was found before counts.
    while at < end {
        let size = (0x1000 - (at & 0xfff)).min(end - at) as usize;
        let mut page = vec![0; size];
        let read = match (space, directory) {
            (Space::Physical, _) => state.machine.memory.read(at, &mut page),
            (_, Some(directory)) => state.machine.read_virtual(directory, at, &mut page) == size,
            _ => false,
        };
        if !read {
            break;
        }
        window.extend(page);
        at += size as u64;
    }
    let mut offset = 0;
    while offset + pattern.len() <= window.len() && hits.len() < HIT_LIMIT {
        if window[offset..].starts_with(pattern) {
            hits.push(address + offset as u64);
        }
        offset += step;
    }
    hits
}
