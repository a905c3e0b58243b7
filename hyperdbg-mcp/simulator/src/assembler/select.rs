//! Finds the encoding that fits a statement.

use super::parse::{MemoryRef, Operand, Repeat, Statement};
use iced_x86::{Code, Encoder, Instruction, Mnemonic, OpCodeOperandKind as Kind, OpKind, Register};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Encodings of every instruction that 64-bit mode has.
fn codes(mnemonic: Mnemonic) -> &'static [Code] {
    static CODES: OnceLock<HashMap<Mnemonic, Vec<Code>>> = OnceLock::new();
    let codes = CODES.get_or_init(|| {
        let mut table: HashMap<Mnemonic, Vec<Code>> = HashMap::new();
        for code in Code::values() {
            let info = code.op_code();
            if info.mode64() && info.is_instruction() {
                table.entry(code.mnemonic()).or_default().push(code);
            }
        }
        table
    });
    codes.get(&mnemonic).map_or(&[], Vec::as_slice)
}

/// The shortest instruction that says what `statement` says.
pub(super) fn select(statement: &Statement) -> Result<Instruction, String> {
    let mut best: Option<(usize, Instruction)> = None;
    for &code in codes(statement.mnemonic) {
        let info = code.op_code();
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        let string = info.op_kinds().iter().any(|kind| is_implied_memory(*kind));
        if string && statement.operands.is_empty() {
            fill_implied(&mut instruction, info.op_kinds());
        } else if !fill(
            &mut instruction,
            info.op_kinds(),
            &statement.operands,
            info.operand_size(),
        ) {
            continue;
        }
        match statement.repeat {
            Some(Repeat::Equal) => instruction.set_has_repe_prefix(true),
            Some(Repeat::NotEqual) => instruction.set_has_repne_prefix(true),
            None => {}
        }
        instruction.set_has_lock_prefix(statement.lock);
        // Branches and symbols are laid out later; for the choice any near address will do.
        let Ok(length) = Encoder::new(64).encode(&instruction, near(&instruction)) else {
            continue;
        };
        // A branch must be able to reach; the layout shortens it where that is possible.
        if instruction.op_kind(0) == OpKind::NearBranch64 && !reaches_far(code) {
            continue;
        }
        if best.as_ref().is_none_or(|(shortest, _)| length < *shortest) {
            best = Some((length, instruction));
        }
    }
    best.map(|(_, instruction)| instruction)
        .ok_or_else(|| "no form of the instruction takes these operands".to_owned())
}

fn reaches_far(code: Code) -> bool {
    let kinds = code.op_code().op_kinds();
    let short = kinds.contains(&Kind::br64_1);
    // loop and jrcxz exist in a short form only.
    !short || matches!(code.mnemonic(), Mnemonic::Loop | Mnemonic::Jrcxz)
}

fn near(instruction: &Instruction) -> u64 {
    if instruction.op_kind(0) == OpKind::NearBranch64 {
        return instruction.near_branch64();
    }
    if instruction.memory_base() == Register::RIP {
        instruction.memory_displacement64()
    } else {
        0
    }
}

fn is_implied_memory(kind: Kind) -> bool {
    matches!(kind, Kind::seg_rSI | Kind::es_rDI)
}

fn fill_implied(instruction: &mut Instruction, kinds: &[Kind]) {
    for (index, kind) in kinds.iter().enumerate() {
        let index = index as u32;
        match kind {
            Kind::seg_rSI => instruction.set_op_kind(index, OpKind::MemorySegRSI),
            Kind::es_rDI => instruction.set_op_kind(index, OpKind::MemoryESRDI),
            Kind::al => set_register(instruction, index, Register::AL),
            Kind::ax => set_register(instruction, index, Register::AX),
            Kind::eax => set_register(instruction, index, Register::EAX),
            Kind::rax => set_register(instruction, index, Register::RAX),
            _ => {}
        }
    }
}

fn set_register(instruction: &mut Instruction, index: u32, register: Register) {
    instruction.set_op_kind(index, OpKind::Register);
    instruction.set_op_register(index, register);
}

fn fill(instruction: &mut Instruction, kinds: &[Kind], operands: &[Operand], size: u32) -> bool {
    // `shl rax, 1` and the like name their constant; everything else has one kind per operand.
    if kinds.len() != operands.len() {
        return false;
    }
    let sizes_known = operands
        .iter()
        .any(|operand| matches!(operand, Operand::Register(_)));
    kinds
        .iter()
        .zip(operands)
        .enumerate()
        .all(|(index, (kind, operand))| {
            let index = index as u32;
            match operand {
                Operand::Register(register) => {
                    fits_register(*kind, *register) && {
                        set_register(instruction, index, *register);
                        true
                    }
                }
                Operand::Memory(memory) => {
                    is_memory(*kind) && fill_memory(instruction, index, memory, sizes_known)
                }
                Operand::Value { value, symbolic } => {
                    fill_value(instruction, index, *kind, *value, *symbolic, size)
                }
            }
        })
}

fn is_memory(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::mem
            | Kind::r8_or_mem
            | Kind::r16_or_mem
            | Kind::r32_or_mem
            | Kind::r32_or_mem_mpx
            | Kind::r64_or_mem
            | Kind::r64_or_mem_mpx
    )
}

fn fits_register(kind: Kind, register: Register) -> bool {
    match kind {
        Kind::r8_or_mem | Kind::r8_reg | Kind::r8_opcode => register.is_gpr8(),
        Kind::r16_or_mem | Kind::r16_reg | Kind::r16_rm | Kind::r16_opcode => register.is_gpr16(),
        Kind::r32_or_mem | Kind::r32_reg | Kind::r32_rm | Kind::r32_opcode => register.is_gpr32(),
        Kind::r64_or_mem | Kind::r64_reg | Kind::r64_rm | Kind::r64_opcode => register.is_gpr64(),
        Kind::al => register == Register::AL,
        Kind::ax => register == Register::AX,
        Kind::eax => register == Register::EAX,
        Kind::rax => register == Register::RAX,
        Kind::cl => register == Register::CL,
        Kind::dx => register == Register::DX,
        Kind::cr_reg => register.is_cr(),
        Kind::dr_reg => register.is_dr(),
        Kind::seg_reg => register.is_segment_register(),
        _ => false,
    }
}

fn fill_memory(instruction: &mut Instruction, index: u32, memory: &MemoryRef, sizes_known: bool) -> bool {
    instruction.set_op_kind(index, OpKind::Memory);
    let bare = memory.base == Register::None && memory.index == Register::None;
    let wide = |register: Register| register == Register::None || register.is_gpr64();
    if !wide(memory.base) || !wide(memory.index) {
        return false;
    }
    let (base, displacement_size) = if bare && memory.symbolic {
        (Register::RIP, 8)
    } else if bare {
        (Register::None, 8)
    } else {
        let size = match memory.displacement {
            0 => 0,
            small if i8::try_from(small).is_ok() => 1,
            _ => 8,
        };
        (memory.base, size)
    };
    if displacement_size == 8 && base != Register::RIP && i32::try_from(memory.displacement).is_err() {
        return false;
    }
    instruction.set_memory_base(base);
    instruction.set_memory_index(memory.index);
    instruction.set_memory_index_scale(memory.scale);
    instruction.set_memory_displ_size(displacement_size);
    instruction.set_memory_displacement64(memory.displacement as u64);
    instruction.set_segment_prefix(memory.segment);
    // An operand of unknown size takes the size of the form, which must be unambiguous.
    let form = instruction.memory_size().size();
    if memory.size != 0 {
        form == 0 || memory.size == form
    } else {
        sizes_known || form == 8 || form == 0
    }
}

fn fill_value(
    instruction: &mut Instruction,
    index: u32,
    kind: Kind,
    value: u64,
    symbolic: bool,
    size: u32,
) -> bool {
    let signed = value as i64;
    match kind {
        Kind::br64_1 | Kind::br64_4 => {
            instruction.set_op_kind(index, OpKind::NearBranch64);
            instruction.set_near_branch64(value);
            true
        }
        Kind::imm64 => {
            instruction.set_op_kind(index, OpKind::Immediate64);
            instruction.set_immediate64(value);
            true
        }
        _ if symbolic => false,
        Kind::imm8_const_1 => {
            instruction.set_op_kind(index, OpKind::Immediate8);
            instruction.set_immediate8(1);
            value == 1
        }
        Kind::imm8 => {
            instruction.set_op_kind(index, OpKind::Immediate8);
            instruction.set_immediate8(value as u8);
            value <= 0xff || (-0x80..0).contains(&signed)
        }
        Kind::imm8sex16 => {
            instruction.set_op_kind(index, OpKind::Immediate8to16);
            instruction.set_immediate8to16(value as i16);
            (-0x80..0x80).contains(&signed)
        }
        Kind::imm8sex32 => {
            instruction.set_op_kind(index, OpKind::Immediate8to32);
            instruction.set_immediate8to32(value as i32);
            i8::try_from(signed).is_ok() || (size == 32 && (0xffff_ff80..=0xffff_ffff).contains(&value))
        }
        Kind::imm8sex64 => {
            instruction.set_op_kind(index, OpKind::Immediate8to64);
            instruction.set_immediate8to64(signed);
            (-0x80..0x80).contains(&signed)
        }
        Kind::imm16 => {
            instruction.set_op_kind(index, OpKind::Immediate16);
            instruction.set_immediate16(value as u16);
            value <= 0xffff
        }
        Kind::imm32 => {
            instruction.set_op_kind(index, OpKind::Immediate32);
            instruction.set_immediate32(value as u32);
            value <= 0xffff_ffff || i32::try_from(signed).is_ok()
        }
        Kind::imm32sex64 => {
            instruction.set_op_kind(index, OpKind::Immediate32to64);
            instruction.set_immediate32to64(signed);
            i32::try_from(signed).is_ok()
        }
        _ => false,
    }
}
