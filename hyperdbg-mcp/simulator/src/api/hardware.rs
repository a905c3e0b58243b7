//! Interrupt controllers, interrupt tables, SMIs and traces as records.

use super::edge::{put, update};
use crate::commands::tables;
use crate::errors::{self, SUCCESS, code};
use crate::say;
use crate::session::Session;
use hyperdbg_sys::*;

/// Bytes of trace that each core has when the trace is on.
const TRACE_BYTES: usize = 4096;

/// In debugger mode the debuggee answers; otherwise the driver must be there.
fn is_available(session: &Session) -> bool {
    session.needs_kd()
}

fn is_serial(session: &Session) -> bool {
    session.lock().is_serial()
}

pub(super) unsafe fn local_apic(session: &Session, page: *mut LAPIC_PAGE, x2apic: *mut u8) -> u8 {
    if !is_available(session) {
        return 0;
    }
    for (offset, value) in tables::LOCAL_APIC {
        // SAFETY: the caller promises a page of 1024 bytes, and every offset lies inside.
        unsafe { put(page.byte_add(*offset).cast::<u32>(), *value) };
    }
    // SAFETY: the caller promises a flag there.
    unsafe { put(x2apic, 0) };
    1
}

pub(super) unsafe fn io_apic(session: &Session, record: *mut IO_APIC_ENTRY_PACKETS) -> u8 {
    if !is_available(session) {
        return 0;
    }
    // SAFETY: the caller promises a record.
    unsafe {
        update(record, |record| {
            record.ApicBasePa = 0xfec0_0000;
            record.ApicBaseVa = 0xffff_f7e0_0000_0000;
            record.IoIdReg = 0;
            record.IoLl = ((tables::IO_APIC_INPUTS as u32 - 1) << 16) | 0x20;
            record.IoArbIdReg = 0;
            for input in 0..tables::IO_APIC_INPUTS {
                let entry = tables::IO_APIC.iter().find(|(known, _)| *known == input);
                let entry = entry.map_or(0x0001_0000, |(_, value)| *value);
                record.LlLhData[input * 2] = entry & 0xffff_ffff;
                record.LlLhData[input * 2 + 1] = entry >> 32;
            }
        });
    }
    1
}

pub(super) unsafe fn idt(session: &Session, record: *mut INTERRUPT_DESCRIPTOR_TABLE_ENTRIES_PACKETS) -> u8 {
    if !is_available(session) {
        return 0;
    }
    let handlers = tables::idt(&session.lock_halted());
    // SAFETY: the caller promises a record.
    unsafe {
        update(record, |record| {
            record.KernelStatus = SUCCESS;
            for (slot, handler) in record.IdtEntry.iter_mut().zip(handlers) {
                *slot = handler;
            }
        });
    }
    1
}

pub(super) unsafe fn smi(session: &Session, record: *mut SMI_OPERATION_PACKETS) -> u8 {
    if !is_available(session) {
        return 0;
    }
    let serial = is_serial(session);
    let mut done = false;
    // SAFETY: the caller promises a record.
    unsafe {
        update(record, |record| {
            let mut state = session.lock_halted();
            match record.SmiOperationType.0 {
                0 => {
                    record.SmiCount = state.tracing.smi_count;
                    record.KernelStatus = SUCCESS;
                    done = true;
                }
                1 => {
                    state.tracing.smi_count += 1;
                    record.KernelStatus = SUCCESS;
                    done = true;
                }
                _ => record.KernelStatus = code::SMI_PARAMETER,
            }
        });
    }
    // Over the serial line every answer counts as success.
    u8::from(done || serial)
}

pub(super) unsafe fn lbr_dump(session: &Session, record: *mut HYPERTRACE_LBR_DUMP_PACKETS) -> u8 {
    if !session.needs_trace() {
        return 0;
    }
    // SAFETY: the caller promises a record.
    unsafe {
        update(record, |record| {
            let state = session.lock_halted();
            let cores = state.machine.scheduled() as u32;
            if record.CoreId >= cores {
                record.KernelStatus = code::INVALID_CORE;
                record.NextCoreIsValid = 0;
                return;
            }
            if !state.tracing.lbr {
                record.KernelStatus = code::LBR_OFF;
                return;
            }
            let branches = &state.tracing.branches[record.CoreId as usize];
            for (index, (from, to)) in branches.iter().enumerate().take(32) {
                record.LbrStack.BranchEntry[index].From = *from;
                record.LbrStack.BranchEntry[index].To = *to;
                // Three cycles for every branch.
                record.LbrStack.LastBranchInfo[index].AsUInt = 3;
            }
            record.LbrStack.Tos = branches.len().saturating_sub(1) as u8;
            record.CurrentLbrCapacity = 32;
            record.ArchBasedLBR = 0;
            record.NextCoreIsValid = u8::from(record.CoreId + 1 < cores);
            record.KernelStatus = SUCCESS;
        });
    }
    1
}

pub(super) unsafe fn pt_operation(session: &Session, record: *mut HYPERTRACE_PT_OPERATION_PACKETS) -> u8 {
    if !session.needs_trace() {
        return 0;
    }
    let serial = is_serial(session);
    let mut status = code::TRACE_OPERATION;
    // SAFETY: the caller promises a record.
    unsafe {
        update(record, |record| {
            let mut state = session.lock_halted();
            let on = state.tracing.pt;
            status = match (record.PtOperationType.0, on) {
                (0, true) => code::PT_ON,
                (0, false) => {
                    state.tracing.pt = true;
                    SUCCESS
                }
                (1..=8, false) => code::PT_OFF,
                (1, true) => {
                    state.tracing.pt = false;
                    SUCCESS
                }
                (2..=8, true) => SUCCESS,
                _ => code::TRACE_OPERATION,
            };
            if record.PtOperationType.0 == 4 && status == SUCCESS {
                let cores = state.machine.scheduled();
                record.NumCpus = cores as u32;
                record.BytesPerCpu[..cores].fill(TRACE_BYTES as u64);
            }
            record.KernelStatus = status;
        });
    }
    u8::from(status == SUCCESS || serial)
}

pub(super) unsafe fn pt_mmap(session: &Session, record: *mut HYPERTRACE_PT_MMAP_PACKETS) -> u8 {
    /// The trace of each core, as mapped into this process.
    static TRACES: [[u8; TRACE_BYTES]; 2] = [[0x02; TRACE_BYTES]; 2];
    if is_serial(session) {
        say!(
            session.console,
            "err, mapping the trace is not possible in Debugger Mode\n"
        );
        return 0;
    }
    if !session.needs_trace() {
        return 0;
    }
    let on = session.lock().tracing.pt;
    // SAFETY: the caller promises a record.
    unsafe {
        update(record, |record| {
            record.KernelStatus = if on { SUCCESS } else { code::PT_OFF };
            if on {
                record.NumCpus = TRACES.len() as u32;
                for (index, trace) in TRACES.iter().enumerate() {
                    record.Cpus[index].CpuId = index as u32;
                    record.Cpus[index].UserVa = trace.as_ptr() as u64;
                    record.Cpus[index].Size = TRACE_BYTES as u64;
                }
            }
        });
    }
    if !on {
        errors::show(&session.console, code::PT_OFF);
    }
    u8::from(on)
}
