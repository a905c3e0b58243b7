//! What an instruction is about to do, in the terms of events.

use crate::machine::Machine;
use crate::machine::paging;
use crate::machine::registers::gpr;
use iced_x86::{
    Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpAccess, OpKind, Register,
};

/// A kind of memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    Execute,
}

/// One thing that an event can wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    Execute {
        address: u64,
        user: bool,
    },
    Access {
        address: u64,
        physical: Option<u64>,
        size: u64,
        kind: Access,
    },
    Syscall(u64),
    Sysret,
    Cpuid(u64),
    MsrRead(u64),
    MsrWrite(u64),
    Tsc,
    Pmc,
    ControlWrite(u64),
    Debug(u64),
    PortIn(u64),
    PortOut(u64),
    Exception(u64),
    Interrupt(u64),
    Vmcall,
    Xsetbv,
}

impl Sight {
    /// The value of `$context` in an event's script.
    pub(super) fn context(&self) -> u64 {
        match self {
            Self::Execute { address, .. } | Self::Access { address, .. } => *address,
            Self::Syscall(value)
            | Self::Cpuid(value)
            | Self::MsrRead(value)
            | Self::MsrWrite(value)
            | Self::ControlWrite(value)
            | Self::Debug(value)
            | Self::PortIn(value)
            | Self::PortOut(value)
            | Self::Exception(value)
            | Self::Interrupt(value) => *value,
            Self::Sysret | Self::Tsc | Self::Pmc | Self::Vmcall | Self::Xsetbv => 0,
        }
    }
}

/// Everything that `ins` does on `core`; memory accesses only when `memory` says that one is watched.
pub(super) fn sights(machine: &Machine, core: usize, ins: &Instruction, memory: bool) -> Vec<Sight> {
    let registers = &machine.cores[core].registers;
    let user = registers.is_user_mode();
    let mut found = vec![Sight::Execute {
        address: ins.ip(),
        user,
    }];
    let low = |index: usize| registers.gpr[index] & 0xffff_ffff;
    match ins.mnemonic() {
        Mnemonic::Syscall => found.push(Sight::Syscall(registers.gpr[gpr::RAX])),
        Mnemonic::Sysretq => found.push(Sight::Sysret),
        Mnemonic::Cpuid => found.push(Sight::Cpuid(low(gpr::RAX))),
        Mnemonic::Rdmsr => found.push(Sight::MsrRead(low(gpr::RCX))),
        Mnemonic::Wrmsr => found.push(Sight::MsrWrite(low(gpr::RCX))),
        Mnemonic::Rdtsc | Mnemonic::Rdtscp => found.push(Sight::Tsc),
        Mnemonic::Rdpmc => found.push(Sight::Pmc),
        Mnemonic::Vmcall => found.push(Sight::Vmcall),
        Mnemonic::Xsetbv => found.push(Sight::Xsetbv),
        Mnemonic::In => found.push(Sight::PortIn(port(ins, 1, registers.gpr[gpr::RDX]))),
        Mnemonic::Out => found.push(Sight::PortOut(port(ins, 0, registers.gpr[gpr::RDX]))),
        Mnemonic::Mov => {
            let target = ins.op0_register();
            if target.is_cr() {
                found.push(Sight::ControlWrite(target.number() as u64));
            }
            for register in [target, ins.op1_register()] {
                if register.is_dr() {
                    found.push(Sight::Debug(register.number() as u64));
                }
            }
        }
        _ => {}
    }
    if memory {
        found.extend(accesses(machine, core, ins));
    }
    found
}

fn port(ins: &Instruction, operand: u32, dx: u64) -> u64 {
    if ins.op_kind(operand) == OpKind::Immediate8 {
        ins.immediate(operand)
    } else {
        dx & 0xffff
    }
}

fn accesses(machine: &Machine, core: usize, ins: &Instruction) -> Vec<Sight> {
    let registers = &machine.cores[core].registers;
    let physical = |address| paging::walk(&machine.memory, registers.cr[3], address).physical;
    let access = |address, size, kind| Sight::Access {
        address,
        physical: physical(address),
        size,
        kind,
    };
    let mut found = vec![access(ins.ip(), ins.len() as u64, Access::Execute)];
    let value = |register: Register| match register {
        Register::FS => Some(registers.fs_base),
        Register::GS => Some(registers.gs_base),
        _ if register.is_segment_register() => Some(0),
        _ if register.is_gpr() => {
            let full = registers.gpr[register.full_register().number()];
            Some(if register.size() == 8 {
                full
            } else {
                full & ((1 << (register.size() * 8)) - 1)
            })
        }
        _ => None,
    };
    let mut factory = InstructionInfoFactory::new();
    for used in factory
        .info_options(ins, InstructionInfoOptions::NO_REGISTER_USAGE)
        .used_memory()
    {
        let Some(address) = used.virtual_address(0, |register, _, _| value(register)) else {
            continue;
        };
        let size = used.memory_size().size().max(1) as u64;
        let (read, write) = match used.access() {
            OpAccess::Read | OpAccess::CondRead => (true, false),
            OpAccess::Write | OpAccess::CondWrite => (false, true),
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
            _ => (false, false),
        };
        if read {
            found.push(access(address, size, Access::Read));
        }
        if write {
            found.push(access(address, size, Access::Write));
        }
    }
    found
}
