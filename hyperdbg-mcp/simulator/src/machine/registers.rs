//! The registers of one core, and their numbering in the SDK's `REGS_ENUM`.

/// Bits of the flags register that the machine knows.
pub mod flag {
    /// Carry.
    pub const CF: u64 = 1;
    /// Parity of the low byte.
    pub const PF: u64 = 1 << 2;
    /// Carry out of bit 3.
    pub const AF: u64 = 1 << 4;
    /// Zero.
    pub const ZF: u64 = 1 << 6;
    /// Sign.
    pub const SF: u64 = 1 << 7;
    /// Single step.
    pub const TF: u64 = 1 << 8;
    /// Interrupts are taken.
    pub const IF: u64 = 1 << 9;
    /// String instructions go down.
    pub const DF: u64 = 1 << 10;
    /// Signed overflow.
    pub const OF: u64 = 1 << 11;
    /// The bit that always reads as one.
    pub const FIXED: u64 = 1 << 1;
}

/// Indexes into [`Registers::gpr`], in the order of the hardware encoding.
pub mod gpr {
    #![allow(missing_docs)]
    pub const RAX: usize = 0;
    pub const RCX: usize = 1;
    pub const RDX: usize = 2;
    pub const RBX: usize = 3;
    pub const RSP: usize = 4;
    pub const RBP: usize = 5;
    pub const RSI: usize = 6;
    pub const RDI: usize = 7;
    pub const R11: usize = 11;
}

/// Indexes into [`Registers::selectors`], in the order of `GUEST_EXTRA_REGISTERS`.
pub mod selector {
    #![allow(missing_docs)]
    pub const CS: usize = 0;
    pub const DS: usize = 1;
    pub const FS: usize = 2;
    pub const GS: usize = 3;
    pub const ES: usize = 4;
    pub const SS: usize = 5;
}

/// Everything a core remembers between two instructions, apart from its MSRs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// General purpose registers in hardware order.
    pub gpr: [u64; 16],
    /// Instruction pointer.
    pub rip: u64,
    /// Flags.
    pub rflags: u64,
    /// CS, DS, FS, GS, ES, SS.
    pub selectors: [u16; 6],
    /// Base of the FS segment.
    pub fs_base: u64,
    /// Base of the GS segment.
    pub gs_base: u64,
    /// Control registers; only 0, 2, 3, 4 and 8 exist.
    pub cr: [u64; 9],
    /// Debug registers; 4 and 5 do not exist.
    pub dr: [u64; 8],
    /// Base and limit of the interrupt table.
    pub idtr: (u64, u16),
    /// Base and limit of the descriptor table.
    pub gdtr: (u64, u16),
    /// Selector of the local descriptor table.
    pub ldtr: u16,
    /// Selector of the task state.
    pub tr: u16,
}

impl Registers {
    /// True when `mask` is set in the flags.
    #[must_use]
    pub fn flag(&self, mask: u64) -> bool {
        self.rflags & mask != 0
    }

    /// Sets or clears `mask` in the flags.
    pub fn set_flag(&mut self, mask: u64, on: bool) {
        if on {
            self.rflags |= mask;
        } else {
            self.rflags &= !mask;
        }
    }

    /// True in ring 3.
    #[must_use]
    pub fn is_user_mode(&self) -> bool {
        self.selectors[selector::CS] & 3 == 3
    }

    /// The value of the register with that number in `REGS_ENUM`.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<u64> {
        Some(match place(id)? {
            Place::Gpr { index, shift, bits } => (self.gpr[index] >> shift) & mask(bits),
            Place::Selector(index) => u64::from(self.selectors[index]),
            Place::Flags { shift, bits } => (self.rflags >> shift) & mask(bits),
            Place::Rip { bits } => self.rip & mask(bits),
            Place::Idtr => self.idtr.0,
            Place::Gdtr => self.gdtr.0,
            Place::Ldtr => u64::from(self.ldtr),
            Place::Tr => u64::from(self.tr),
            Place::Control(index) => self.cr[index],
            Place::Debug(index) => self.dr[index],
        })
    }

    /// Writes the register with that number in `REGS_ENUM`; false when there is none.
    ///
    /// As in the debugger, a part of a register is replaced in place: writing `eax` keeps the
    /// upper half of `rax`.
    pub fn set(&mut self, id: u32, value: u64) -> bool {
        let Some(place) = place(id) else { return false };
        match place {
            Place::Gpr { index, shift, bits } => splice(&mut self.gpr[index], shift, bits, value),
            Place::Selector(index) => self.selectors[index] = value as u16,
            Place::Flags { shift, bits } => splice(&mut self.rflags, shift, bits, value),
            Place::Rip { bits } => splice(&mut self.rip, 0, bits, value),
            Place::Idtr => self.idtr.0 = value,
            Place::Gdtr => self.gdtr.0 = value,
            Place::Ldtr => self.ldtr = value as u16,
            Place::Tr => self.tr = value as u16,
            Place::Control(index) => self.cr[index] = value,
            Place::Debug(index) => self.dr[index] = value,
        }
        true
    }
}

fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn splice(target: &mut u64, shift: u32, bits: u32, value: u64) {
    let mask = mask(bits) << shift;
    *target = (*target & !mask) | ((value << shift) & mask);
}

/// Where a numbered register lives.
enum Place {
    Gpr { index: usize, shift: u32, bits: u32 },
    Selector(usize),
    Flags { shift: u32, bits: u32 },
    Rip { bits: u32 },
    Idtr,
    Gdtr,
    Ldtr,
    Tr,
    Control(usize),
    Debug(usize),
}

fn part(index: usize, part: u32) -> Place {
    let (shift, bits) = [(0, 64), (0, 32), (0, 16), (8, 8), (0, 8)][part as usize];
    Place::Gpr { index, shift, bits }
}

fn place(id: u32) -> Option<Place> {
    Some(match id {
        // RAX RCX RDX RBX have five parts each, RSP RBP RSI RDI no high byte, R8..R15 five again.
        0..=19 => part((id / 5) as usize, id % 5),
        20..=35 => {
            let id = id - 20;
            let which = id % 4;
            part(4 + (id / 4) as usize, if which == 3 { 4 } else { which })
        }
        36..=75 => part(8 + ((id - 36) / 5) as usize, (id - 36) % 5),
        76 => Place::Selector(selector::DS),
        77 => Place::Selector(selector::ES),
        78 => Place::Selector(selector::FS),
        79 => Place::Selector(selector::GS),
        80 => Place::Selector(selector::CS),
        81 => Place::Selector(selector::SS),
        82 => Place::Flags { shift: 0, bits: 64 },
        83 => Place::Flags { shift: 0, bits: 32 },
        84 => Place::Flags { shift: 0, bits: 16 },
        85..=101 => {
            let (shift, bits) = FLAG_PLACES[(id - 85) as usize];
            Place::Flags { shift, bits }
        }
        102 => Place::Rip { bits: 64 },
        103 => Place::Rip { bits: 32 },
        104 => Place::Rip { bits: 16 },
        105 => Place::Idtr,
        106 => Place::Ldtr,
        107 => Place::Gdtr,
        108 => Place::Tr,
        109 => Place::Control(0),
        110 => Place::Control(2),
        111 => Place::Control(3),
        112 => Place::Control(4),
        113 => Place::Control(8),
        114 => Place::Debug(0),
        115 => Place::Debug(1),
        116 => Place::Debug(2),
        117 => Place::Debug(3),
        118 => Place::Debug(6),
        119 => Place::Debug(7),
        _ => return None,
    })
}

/// Bit and width of CF PF AF ZF SF TF IF DF OF IOPL NT RF VM AC VIF VIP ID.
const FLAG_PLACES: [(u32, u32); 17] = [
    (0, 1),
    (2, 1),
    (4, 1),
    (6, 1),
    (7, 1),
    (8, 1),
    (9, 1),
    (10, 1),
    (11, 1),
    (12, 2),
    (14, 1),
    (16, 1),
    (17, 1),
    (18, 1),
    (19, 1),
    (20, 1),
    (21, 1),
];

/// Lower-case names of the registers, indexed by their number in `REGS_ENUM`.
pub const NAMES: [&str; 120] = [
    "rax", "eax", "ax", "ah", "al", "rcx", "ecx", "cx", "ch", "cl", "rdx", "edx", "dx", "dh", "dl", "rbx",
    "ebx", "bx", "bh", "bl", "rsp", "esp", "sp", "spl", "rbp", "ebp", "bp", "bpl", "rsi", "esi", "si", "sil",
    "rdi", "edi", "di", "dil", "r8", "r8d", "r8w", "r8h", "r8l", "r9", "r9d", "r9w", "r9h", "r9l", "r10",
    "r10d", "r10w", "r10h", "r10l", "r11", "r11d", "r11w", "r11h", "r11l", "r12", "r12d", "r12w", "r12h",
    "r12l", "r13", "r13d", "r13w", "r13h", "r13l", "r14", "r14d", "r14w", "r14h", "r14l", "r15", "r15d",
    "r15w", "r15h", "r15l", "ds", "es", "fs", "gs", "cs", "ss", "rflags", "eflags", "flags", "cf", "pf",
    "af", "zf", "sf", "tf", "if", "df", "of", "iopl", "nt", "rf", "vm", "ac", "vif", "vip", "id", "rip",
    "eip", "ip", "idtr", "ldtr", "gdtr", "tr", "cr0", "cr2", "cr3", "cr4", "cr8", "dr0", "dr1", "dr2", "dr3",
    "dr6", "dr7",
];

/// The number of the register called `name` (lower case, without `@`).
#[must_use]
pub fn id_of(name: &str) -> Option<u32> {
    NAMES
        .iter()
        .position(|known| *known == name)
        .and_then(|index| u32::try_from(index).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_place_and_reads_back_what_was_written() {
        for id in 0..120 {
            let mut registers = Registers::default();
            assert!(registers.set(id, 1), "{}", NAMES[id as usize]);
            assert_eq!(registers.get(id), Some(1), "{}", NAMES[id as usize]);
        }
        assert_eq!(Registers::default().get(120), None);
    }

    #[test]
    fn parts_of_a_register_are_replaced_in_place() {
        let mut registers = Registers::default();
        registers.set(id_of("r9").expect("r9"), 0x1122_3344_5566_7788);
        registers.set(id_of("r9h").expect("r9h"), 0xaa);
        assert_eq!(registers.gpr[9], 0x1122_3344_5566_aa88);
        registers.set(id_of("spl").expect("spl"), 0x10);
        assert_eq!(registers.gpr[gpr::RSP], 0x10);
        assert_eq!(registers.get(id_of("r9l").expect("r9l")), Some(0x88));
    }

    #[test]
    fn single_flags_are_registers() {
        let mut registers = Registers {
            rflags: flag::FIXED,
            ..Registers::default()
        };
        registers.set(id_of("zf").expect("zf"), 1);
        assert_eq!(registers.rflags, flag::FIXED | flag::ZF);
        registers.set(id_of("iopl").expect("iopl"), 3);
        assert_eq!(registers.get(94), Some(3));
    }
}
