//! Windows: machine type, exports, imports, version resource, certificate table.

use object::LittleEndian as LE;
use object::pe;
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader, PeFile, PeFile64};

use super::{
    DEPENDENCIES, Format, Image, Machine, Names, Signature, Unfit, check_machine, damaged, dependency,
};

/// Marks a fixed version block.
const VERSION_MARK: u32 = 0xfeef_04bd;

pub(super) fn parse(data: &[u8], wanted: Machine) -> Result<Image, Unfit> {
    check_machine(machine(data)?, wanted)?;
    let file = PeFile64::parse(data).map_err(damaged("headers"))?;
    let header = file.nt_headers().file_header();
    if header.characteristics.get(LE).0 & pe::IMAGE_FILE_DLL.0 == 0 {
        return Err(Unfit::NotShared { what: "a program" });
    }
    if file.nt_headers().optional_header().subsystem() == pe::IMAGE_SUBSYSTEM_NATIVE {
        return Err(Unfit::NotShared {
            what: "a kernel-mode driver or kernel DLL",
        });
    }
    Ok(Image {
        format: Format::Pe,
        machine: wanted,
        file_version: version(&file),
        signature: signature(&file),
        exports: exports(&file)?,
        dependencies: imports(&file)?,
    })
}

/// Whether the bytes are a kernel-mode driver.
pub(super) fn check_driver(data: &[u8], wanted: Machine) -> Result<(), Unfit> {
    check_machine(machine(data)?, wanted)?;
    let file = PeFile64::parse(data).map_err(damaged("headers"))?;
    match file.nt_headers().optional_header().subsystem() == pe::IMAGE_SUBSYSTEM_NATIVE {
        true => Ok(()),
        false => Err(Unfit::NotADriver),
    }
}

/// The machine type stands at the same place in 32-bit and 64-bit files.
fn machine(data: &[u8]) -> Result<Machine, Unfit> {
    let offset = pe::ImageDosHeader::parse(data)
        .map_err(damaged("DOS header"))?
        .nt_headers_offset();
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let number = offset
        .checked_add(4)
        .and_then(|at| data.get(at..at.checked_add(2)?))
        .ok_or_else(|| Unfit::Damaged {
            why: "its file header lies outside of it".to_owned(),
        })?;
    Ok(match u16::from_le_bytes([number[0], number[1]]) {
        0x8664 => Machine::X64,
        0x014c => Machine::X86,
        0xaa64 | 0xa641 | 0xa64e => Machine::Arm64,
        0x01c0 | 0x01c2 | 0x01c4 => Machine::Arm,
        number => Machine::Other(number),
    })
}

fn exports(file: &PeFile64<'_>) -> Result<std::collections::BTreeSet<String>, Unfit> {
    let mut names = Names::new();
    if let Some(table) = file.export_table().map_err(damaged("export table"))? {
        for (pointer, _) in table.name_iter() {
            names.take(
                table
                    .name_from_pointer(pointer)
                    .map_err(damaged("table of exported names"))?,
            )?;
        }
    }
    Ok(names.kept)
}

fn imports(file: &PeFile64<'_>) -> Result<Vec<String>, Unfit> {
    let mut needed = Vec::new();
    if let Some(table) = file.import_table().map_err(damaged("import table"))? {
        let mut descriptors = table.descriptors().map_err(damaged("import table"))?;
        while let Some(descriptor) = descriptors.next().map_err(damaged("import table"))? {
            if needed.len() == DEPENDENCIES {
                break;
            }
            let name = table
                .name(descriptor.name.get(LE))
                .map_err(damaged("import table"))?;
            needed.extend(dependency(name));
        }
    }
    Ok(needed)
}

/// The file version of the first version resource; a resource tree that leads nowhere counts as none.
fn version(file: &PeFile64<'_>) -> Option<String> {
    let sections = file.section_table();
    let directory = file
        .data_directories()
        .resource_directory(file.data(), &sections)
        .ok()??;
    let mut table = directory.root().ok()?;
    let kind = table
        .entries
        .iter()
        .find(|entry| entry.name_or_id().id() == Some(pe::RT_VERSION))?;
    table = kind.data(directory).ok()?.table()?;
    // Below the kind stand a name and a language; the first of each will do.
    table = table.entries.first()?.data(directory).ok()?.table()?;
    let entry = table.entries.first()?.data(directory).ok()?.data()?;
    let block = sections.pe_data_at(file.data(), entry.offset_to_data.get(LE))?;
    let block = &block[..block.len().min(512)];
    let at = block
        .windows(4)
        .step_by(4)
        .position(|word| word == VERSION_MARK.to_le_bytes())?
        * 4;
    let half = |offset: usize| {
        let bytes = block.get(at + offset..at + offset + 2)?;
        Some(u16::from_le_bytes([bytes[0], bytes[1]]))
    };
    Some(format!("{}.{}.{}.{}", half(10)?, half(8)?, half(14)?, half(12)?))
}

/// Finds the certificate table. Its directory entry holds a place in the file, not an address.
fn signature<Pe: ImageNtHeaders>(file: &PeFile<'_, Pe>) -> Signature {
    let Some(entry) = file.data_directory(pe::IMAGE_DIRECTORY_ENTRY_SECURITY) else {
        return Signature::Absent;
    };
    let (place, size_bytes) = entry.address_range();
    if place == 0 || size_bytes == 0 {
        return Signature::Absent;
    }
    let header = || {
        let start = usize::try_from(place).ok()?;
        let end = start.checked_add(usize::try_from(size_bytes).ok()?)?;
        let table = file.data().get(start..end)?;
        // Length, revision, kind: 2 stands for PKCS #7 signed data.
        table.get(6..8).map(|kind| kind == [2, 0])
    };
    match header() {
        Some(true) => Signature::PresentNotVerified { size_bytes },
        Some(false) | None => Signature::Damaged,
    }
}
