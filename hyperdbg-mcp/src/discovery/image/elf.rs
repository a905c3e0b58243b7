//! Linux: machine type, exports, needed libraries.

use object::elf::{self, FileHeader64};
use object::read::elf::{ElfFile64, FileHeader};
use object::{Endianness, Object, ObjectSymbol};

use super::{
    DEPENDENCIES, Format, Image, Machine, Names, Signature, Unfit, check_machine, damaged, dependency,
};

pub(super) fn parse(data: &[u8], wanted: Machine) -> Result<Image, Unfit> {
    check_machine(machine(data)?, wanted)?;
    let file = ElfFile64::<Endianness>::parse(data).map_err(damaged("headers"))?;
    let header: &FileHeader64<Endianness> = file.elf_header();
    match header.e_type(file.endian()) {
        elf::ET_DYN => {}
        elf::ET_EXEC => return Err(Unfit::NotShared { what: "a program" }),
        elf::ET_REL => {
            return Err(Unfit::NotShared {
                what: "an object file",
            });
        }
        elf::ET_CORE => return Err(Unfit::NotShared { what: "a core dump" }),
        _ => {
            return Err(Unfit::NotShared {
                what: "an unknown kind of ELF file",
            });
        }
    }
    let mut names = Names::new();
    for symbol in file.dynamic_symbols() {
        if symbol.is_definition() && symbol.is_global() {
            names.take(symbol.name_bytes().map_err(damaged("dynamic symbol table"))?)?;
        }
    }
    let mut dependencies = Vec::new();
    let table = file.elf_dynamic_table().map_err(damaged("dynamic section"))?;
    for entry in table.iter().filter(|entry| entry.tag == elf::DT_NEEDED) {
        if dependencies.len() == DEPENDENCIES {
            break;
        }
        dependencies.extend(dependency(
            table.string(entry).map_err(damaged("dynamic section"))?,
        ));
    }
    Ok(Image {
        format: Format::Elf,
        machine: wanted,
        file_version: None,
        signature: Signature::NotInThisFormat,
        exports: names.kept,
        dependencies,
    })
}

/// The machine type stands at the same place in 32-bit and 64-bit files; the sixth byte gives the order of its bytes.
fn machine(data: &[u8]) -> Result<Machine, Unfit> {
    let (Some(order), Some(number)) = (data.get(5), data.get(18..20)) else {
        return Err(Unfit::Damaged {
            why: "it ends within its header".to_owned(),
        });
    };
    let number = match order {
        2 => u16::from_be_bytes([number[0], number[1]]),
        _ => u16::from_le_bytes([number[0], number[1]]),
    };
    Ok(match number {
        62 => Machine::X64,
        3 => Machine::X86,
        183 => Machine::Arm64,
        40 => Machine::Arm,
        number => Machine::Other(number),
    })
}
