//! Physical memory: sparse pages inside the ranges that hold RAM, and holes everywhere else.

/// Bytes in a small page, physical and virtual.
pub const PAGE_SIZE: u64 = 0x1000;

type Page = Box<[u8; 0x1000]>;

/// RAM of the machine. A page that nobody has written reads as zero; an address outside the RAM
/// ranges does not exist and fails.
#[derive(Clone, Default)]
pub struct PhysicalMemory {
    /// By frame number; a frame that was never written has no page.
    pages: Vec<Option<Page>>,
    ranges: Vec<(u64, u64)>,
}

impl PhysicalMemory {
    /// Memory with RAM in the half-open ranges `ranges`.
    #[must_use]
    pub fn new(ranges: &[(u64, u64)]) -> Self {
        let end = ranges.iter().map(|(_, high)| *high).max().unwrap_or(0);
        let frames = end.div_ceil(PAGE_SIZE) as usize;
        Self {
            pages: vec![None; frames],
            ranges: ranges.to_vec(),
        }
    }

    /// The RAM ranges, lowest first.
    #[must_use]
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// True when every byte of `address..address + size` is RAM.
    #[must_use]
    pub fn is_ram(&self, address: u64, size: u64) -> bool {
        let Some(end) = address.checked_add(size) else {
            return false;
        };
        self.ranges
            .iter()
            .any(|&(low, high)| address >= low && end <= high)
    }

    /// Reads `out.len()` bytes; false, with `out` untouched, when a byte is not RAM.
    pub fn read(&self, address: u64, out: &mut [u8]) -> bool {
        if !self.is_ram(address, out.len() as u64) {
            return false;
        }
        let mut done = 0;
        while done < out.len() {
            let at = address + done as u64;
            let (frame, offset) = split(at);
            let size = (0x1000 - offset).min(out.len() - done);
            match self.pages.get(frame).and_then(Option::as_ref) {
                Some(page) => out[done..done + size].copy_from_slice(&page[offset..offset + size]),
                None => out[done..done + size].fill(0),
            }
            done += size;
        }
        true
    }

    /// Writes `bytes`; false, with memory untouched, when a byte is not RAM.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        if !self.is_ram(address, bytes.len() as u64) {
            return false;
        }
        let mut done = 0;
        while done < bytes.len() {
            let at = address + done as u64;
            let (frame, offset) = split(at);
            let size = (0x1000 - offset).min(bytes.len() - done);
            // Every RAM range lies inside the table.
            if let Some(slot) = self.pages.get_mut(frame) {
                let page = slot.get_or_insert_with(|| Box::new([0; 0x1000]));
                page[offset..offset + size].copy_from_slice(&bytes[done..done + size]);
            }
            done += size;
        }
        true
    }

    /// Reads a little-endian 64-bit value.
    #[must_use]
    pub fn read_u64(&self, address: u64) -> Option<u64> {
        // Page tables are read all the time, and their entries are aligned.
        let (frame, offset) = split(address);
        if offset & 7 == 0
            && let Some(Some(page)) = self.pages.get(frame)
            && let Some(raw) = page[offset..].first_chunk()
        {
            return Some(u64::from_le_bytes(*raw));
        }
        let mut raw = [0; 8];
        self.read(address, &mut raw).then(|| u64::from_le_bytes(raw))
    }

    /// Writes a little-endian 64-bit value.
    pub fn write_u64(&mut self, address: u64, value: u64) -> bool {
        self.write(address, &value.to_le_bytes())
    }
}

fn split(address: u64) -> (usize, usize) {
    ((address >> 12) as usize, (address & (PAGE_SIZE - 1)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> PhysicalMemory {
        PhysicalMemory::new(&[(0x1000, 0x9000), (0x10_0000, 0x20_0000)])
    }

    #[test]
    fn untouched_ram_reads_as_zero_and_holes_fail() {
        let memory = memory();
        let mut out = [7; 4];
        assert!(memory.read(0x1000, &mut out));
        assert_eq!(out, [0; 4]);
        out = [7; 4];
        assert!(!memory.read(0x8ffe, &mut out), "two bytes lie past the range");
        assert_eq!(out, [7; 4], "a failed read leaves the buffer alone");
        assert!(!memory.read(u64::MAX - 1, &mut out));
    }

    #[test]
    fn a_write_across_a_page_border_reads_back() {
        let mut memory = memory();
        assert!(memory.write(0x1ffe, &[1, 2, 3, 4]));
        let mut out = [0; 4];
        assert!(memory.read(0x1ffe, &mut out));
        assert_eq!(out, [1, 2, 3, 4]);
        assert!(!memory.write(0x9000, &[1]));
    }
}
