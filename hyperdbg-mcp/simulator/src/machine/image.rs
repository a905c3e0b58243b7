//! Headers of an image file, good enough for a debugger that looks at them.

use super::layout::ModuleSpec;

/// The first page of an image: DOS header, PE header, section table.
#[must_use]
pub(super) fn headers(spec: &ModuleSpec) -> Vec<u8> {
    let mut page = vec![0; 0x400];
    let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00");
    put(0x3c, &0x80_u32.to_le_bytes());
    put(0x40, b"This image exists in a simulated machine only.\r\n");
    put(0x80, b"PE\0\0");
    put(0x84, &0x8664_u16.to_le_bytes());
    let sections = [
        (b".text\0\0\0", spec.text, 0x6000_0020),
        (b".rdata\0\0", spec.constants, 0x4000_0040),
    ];
    let data = (b".data\0\0\0", spec.data, 0xc000_0040_u32);
    let sections: Vec<_> = sections
        .into_iter()
        .chain([data])
        .filter(|section| section.1.1 != 0)
        .collect();
    put(0x86, &(sections.len() as u16).to_le_bytes());
    put(0x94, &0xf0_u16.to_le_bytes());
    put(0x96, &0x22_u16.to_le_bytes());
    put(0x98, &0x20b_u16.to_le_bytes());
    put(0xa8, &(spec.text.0 as u32).to_le_bytes());
    put(0xb0, &spec.base.to_le_bytes());
    put(0xb8, &0x1000_u32.to_le_bytes());
    put(0xbc, &0x200_u32.to_le_bytes());
    put(0xd0, &(spec.size as u32).to_le_bytes());
    put(0xd4, &0x400_u32.to_le_bytes());
    put(0xdc, &1_u16.to_le_bytes());
    put(0x104, &16_u32.to_le_bytes());
    for (index, (name, (offset, pages), flags)) in sections.into_iter().enumerate() {
        let at = 0x188 + index * 40;
        put(at, name);
        put(at + 8, &((pages * 0x1000) as u32).to_le_bytes());
        put(at + 12, &(offset as u32).to_le_bytes());
        put(at + 16, &((pages * 0x1000) as u32).to_le_bytes());
        put(at + 20, &0x400_u32.to_le_bytes());
        put(at + 36, &flags.to_le_bytes());
    }
    page
}
