//! Small libraries made of bytes, for tests: well-formed headers and tables, no code.

use super::{Format, Loader};

/// What a sample holds.
pub(crate) struct Sample<'a> {
    pub(crate) exports: &'a [&'a str],
    pub(crate) needs: &'a [&'a str],
    /// PE only: the words of the file version, highest first.
    pub(crate) version: Option<[u16; 4]>,
    /// PE only.
    pub(crate) signed: bool,
    /// PE: COFF machine; ELF: `e_machine`.
    pub(crate) machine: u16,
}

impl<'a> Sample<'a> {
    /// A library for x64 of the format.
    pub(crate) fn new(format: Format, exports: &'a [&'a str]) -> Self {
        Self {
            exports,
            needs: &[],
            version: None,
            signed: false,
            machine: match format {
                Format::Pe => 0x8664,
                Format::Elf => 62,
            },
        }
    }

    /// The bytes of a library that this system could load if it had code.
    pub(crate) fn native(exports: &'a [&'a str], needs: &'a [&'a str]) -> Vec<u8> {
        let sample = Self {
            needs,
            ..Self::new(Loader::THIS.format, exports)
        };
        match Loader::THIS.format {
            Format::Pe => sample.pe(),
            Format::Elf => sample.elf(),
        }
    }

    /// A kernel-mode driver of Windows.
    pub(crate) fn driver() -> Vec<u8> {
        let mut driver = Self::new(Format::Pe, &[]).pe();
        // The subsystem in its optional header: native.
        driver[64 + 24 + 68] = 1;
        driver
    }

    /// A Windows DLL with one section.
    pub(crate) fn pe(&self) -> Vec<u8> {
        const RVA: u32 = 0x1000;
        const RAW: usize = 0x400;
        let mut section = Bytes::default();
        let mut directories = [(0_u32, 0_u32); 16];

        // The range of the export directory covers all that belongs to it, so its header is filled in afterwards.
        section.pad(40);
        let mut sorted = self.exports.to_vec();
        sorted.sort_unstable();
        let count = u32::try_from(sorted.len()).unwrap();
        let names: Vec<u32> = sorted.iter().map(|name| RVA + section.text(name)).collect();
        section.align();
        let functions = RVA + section.at();
        sorted.iter().for_each(|_| section.u32(RVA));
        let pointers = RVA + section.at();
        names.iter().for_each(|name| section.u32(*name));
        let ordinals = RVA + section.at();
        (0..count).for_each(|index| section.u16(u16::try_from(index).unwrap()));
        directories[0] = (RVA, section.at());
        let header = [0, 0, 0, RVA, 1, count, count, functions, pointers, ordinals];
        for (index, value) in header.into_iter().enumerate() {
            section.0[index * 4..][..4].copy_from_slice(&u32::to_le_bytes(value));
        }

        let needs: Vec<u32> = self.needs.iter().map(|name| RVA + section.text(name)).collect();
        section.align();
        directories[1] = (RVA + section.at(), 20 * (u32::try_from(needs.len()).unwrap() + 1));
        for name in needs {
            for value in [RVA, 0, 0, name, RVA] {
                section.u32(value);
            }
        }
        (0..5).for_each(|_| section.u32(0));

        if let Some(version) = self.version {
            section.align();
            let root = section.at();
            directories[2] = (RVA + root, 0x100);
            // Three tables of one entry each: kind 16, name 1, language 1033.
            for (level, id) in [16_u32, 1, 1033].into_iter().enumerate() {
                [0, 0, 0].into_iter().for_each(|value| section.u32(value));
                section.u16(0);
                section.u16(1);
                section.u32(id);
                let next = (u32::try_from(level).unwrap() + 1) * 24;
                section.u32(if level == 2 { next } else { next | 0x8000_0000 });
            }
            let block = RVA + section.at() + 16;
            [block, 52, 0, 0].into_iter().for_each(|value| section.u32(value));
            for value in [0xfeef_04bd, 0x1_0000] {
                section.u32(value);
            }
            for index in [1, 0, 3, 2] {
                section.u16(version[index]);
            }
            (0..9).for_each(|_| section.u32(0));
        }
        (0..64).for_each(|_| section.u32(0));

        let size = section.at();
        let certificate = u32::try_from(RAW).unwrap() + size;
        if self.signed {
            directories[4] = (certificate, 16);
        }
        let mut file = Bytes::default();
        file.0.extend(b"MZ");
        file.pad(60);
        file.u32(64);
        file.0.extend(b"PE\0\0");
        file.u16(self.machine);
        file.u16(1);
        [0, 0, 0].into_iter().for_each(|value| file.u32(value));
        file.u16(240);
        file.u16(0x2022);
        file.u16(0x20b);
        file.pad(64 + 24 + 24);
        file.u64(0x1_8000_0000);
        file.u32(0x1000);
        file.u32(0x200);
        file.pad(64 + 24 + 56);
        file.u32(0x1000 + size.next_multiple_of(0x1000));
        file.u32(0x400);
        file.u32(0);
        file.u16(3);
        file.pad(64 + 24 + 108);
        file.u32(16);
        for (address, length) in directories {
            file.u32(address);
            file.u32(length);
        }
        file.0.extend(b".rdata\0\0");
        for value in [size, RVA, size, u32::try_from(RAW).unwrap(), 0, 0, 0, 0x4000_0040] {
            file.u32(value);
        }
        file.pad(RAW);
        file.0.extend(section.0);
        if self.signed {
            file.u32(16);
            file.u16(0x200);
            file.u16(2);
            file.u64(0);
        }
        file.0
    }

    /// A Linux shared object with what a loader's tables need.
    pub(crate) fn elf(&self) -> Vec<u8> {
        let mut strings = Bytes(vec![0]);
        let names: Vec<u32> = self.exports.iter().map(|name| strings.text(name)).collect();
        let needs: Vec<u32> = self.needs.iter().map(|name| strings.text(name)).collect();
        let mut symbols = Bytes(vec![0; 24]);
        for name in names {
            symbols.u32(name);
            // A global function, defined in section 1.
            symbols.u16(0x12);
            symbols.u16(1);
            symbols.u64(0x1000);
            symbols.u64(1);
        }
        let mut dynamic = Bytes::default();
        for name in needs {
            dynamic.u64(1);
            dynamic.u64(u64::from(name));
        }
        dynamic.u64(0);
        dynamic.u64(0);

        let mut file = Bytes::default();
        file.0.extend(b"\x7fELF\x02\x01\x01");
        file.pad(16);
        file.u16(3);
        file.u16(self.machine);
        file.u32(1);
        let tables: [(u32, &Vec<u8>, u32, u32, u64); 3] = [
            (11, &symbols.0, 2, 1, 24),
            (3, &strings.0, 0, 0, 0),
            (6, &dynamic.0, 2, 0, 16),
        ];
        let data: usize = tables
            .iter()
            .map(|(_, bytes, ..)| bytes.len().next_multiple_of(8))
            .sum();
        [0, 0, 64 + data]
            .into_iter()
            .for_each(|value| file.u64(value as u64));
        file.u32(0);
        for value in [64, 56, 0, 64, 4, 2] {
            file.u16(value);
        }
        let mut offsets = Vec::new();
        for (_, bytes, ..) in &tables {
            offsets.push(file.0.len());
            file.0.extend(*bytes);
            file.pad(file.0.len().next_multiple_of(8));
        }
        file.pad(file.0.len() + 64);
        for ((kind, bytes, link, info, entry), offset) in tables.into_iter().zip(offsets) {
            file.u32(0);
            file.u32(kind);
            [2, offset as u64, offset as u64, bytes.len() as u64]
                .into_iter()
                .for_each(|value| file.u64(value));
            file.u32(link);
            file.u32(info);
            file.u64(8);
            file.u64(entry);
        }
        file.0
    }
}

#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn at(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap()
    }

    fn u16(&mut self, value: u16) {
        self.0.extend(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    /// Adds a C string; gives its place.
    fn text(&mut self, text: &str) -> u32 {
        let at = self.at();
        self.0.extend(text.as_bytes());
        self.0.push(0);
        at
    }

    fn align(&mut self) {
        self.pad(self.0.len().next_multiple_of(8));
    }

    fn pad(&mut self, length: usize) {
        self.0.resize(length, 0);
    }
}
