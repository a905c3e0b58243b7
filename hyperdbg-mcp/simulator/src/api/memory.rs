//! Memory and registers as records.

use super::edge::put;
use crate::commands::memory::{self as view, View};
use crate::machine::registers::{Registers, selector};
use crate::say;
use crate::session::Session;
use crate::session::memory::{Bytes, Space};
use core::ffi::c_void;
use hyperdbg_sys::*;

/// The memory that a read means.
pub(super) fn read_space(kind: DEBUGGER_READ_MEMORY_TYPE) -> Space {
    match kind {
        DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_PHYSICAL_ADDRESS => Space::Physical,
        DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_VIRTUAL_ADDRESS => Space::Virtual,
        _ => Space::Invalid,
    }
}

/// The memory that a write means: the numbers are the other way round.
pub(super) fn edit_space(kind: DEBUGGER_EDIT_MEMORY_TYPE) -> Space {
    match kind {
        DEBUGGER_EDIT_MEMORY_TYPE::EDIT_PHYSICAL_MEMORY => Space::Physical,
        DEBUGGER_EDIT_MEMORY_TYPE::EDIT_VIRTUAL_MEMORY => Space::Virtual,
        _ => Space::Invalid,
    }
}

/// Stores what a read gave.
///
/// # Safety
/// The buffer has the size that was asked for; the other pointers are valid.
pub(super) unsafe fn store_read(
    found: &Bytes,
    short: bool,
    mode: Option<*mut DEBUGGER_READ_MEMORY_ADDRESS_MODE>,
    buffer: *mut u8,
    length: *mut u32,
) {
    let size = if short {
        found.bytes.len() / 2
    } else {
        found.bytes.len()
    };
    // SAFETY: the caller promises the buffer and the numbers.
    unsafe {
        if size > 0 {
            std::ptr::copy_nonoverlapping(found.bytes.as_ptr(), buffer, size);
        }
        put(length, size as u32);
        if let Some(mode) = mode {
            let value = if found.is_32_bit {
                DEBUGGER_READ_MEMORY_ADDRESS_MODE::DEBUGGER_READ_ADDRESS_MODE_32_BIT
            } else {
                DEBUGGER_READ_MEMORY_ADDRESS_MODE::DEBUGGER_READ_ADDRESS_MODE_64_BIT
            };
            put(mode, value);
        }
    }
}

/// The bytes to write.
///
/// # Safety
/// `source` points to `size` bytes that do not change meanwhile.
pub(super) unsafe fn source<'a>(source: *mut c_void, size: u32) -> &'a [u8] {
    if size == 0 || source.is_null() {
        return &[];
    }
    // SAFETY: not null, and the caller promises the bytes.
    unsafe { std::slice::from_raw_parts(source.cast::<u8>(), size as usize) }
}

/// Prints memory in one of the SDK's styles.
pub(super) fn show(
    session: &Session,
    style: DEBUGGER_SHOW_MEMORY_STYLE,
    address: u64,
    space: Space,
    pid: u32,
    size: u32,
) {
    match View::from_style(style.0) {
        Some(kind) => view::show(session, kind, address, space, pid, size),
        None => say!(
            session.console,
            "err, the simulated machine has no types and dumps no files\n"
        ),
    }
}

/// Stores the registers in the records that are wanted.
///
/// # Safety
/// Each pointer is null or points to its record.
pub(super) unsafe fn store_registers(
    registers: &Registers,
    guest: *mut GUEST_REGS,
    extra: *mut GUEST_EXTRA_REGISTERS,
) {
    let g = registers.gpr;
    if !guest.is_null() {
        let record = GUEST_REGS {
            rax: g[0],
            rcx: g[1],
            rdx: g[2],
            rbx: g[3],
            rsp: g[4],
            rbp: g[5],
            rsi: g[6],
            rdi: g[7],
            r8: g[8],
            r9: g[9],
            r10: g[10],
            r11: g[11],
            r12: g[12],
            r13: g[13],
            r14: g[14],
            r15: g[15],
        };
        // SAFETY: not null, and the caller promises a record there.
        unsafe { put(guest, record) };
    }
    if !extra.is_null() {
        let mut record = GUEST_EXTRA_REGISTERS::zeroed();
        record.CS = registers.selectors[selector::CS];
        record.DS = registers.selectors[selector::DS];
        record.FS = registers.selectors[selector::FS];
        record.GS = registers.selectors[selector::GS];
        record.ES = registers.selectors[selector::ES];
        record.SS = registers.selectors[selector::SS];
        record.RFLAGS = registers.rflags;
        record.RIP = registers.rip;
        // SAFETY: as above.
        unsafe { put(extra, record) };
    }
}
