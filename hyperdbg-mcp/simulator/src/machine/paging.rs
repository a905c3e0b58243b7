//! Four-level page tables that live in the machine's own physical memory.

use super::memory::{PAGE_SIZE, PhysicalMemory};

/// Entry bits.
pub const PRESENT: u64 = 1;
/// The page may be written.
pub const WRITABLE: u64 = 1 << 1;
/// The page may be used from user mode.
pub const USER: u64 = 1 << 2;
/// The entry maps a large page.
pub const LARGE: u64 = 1 << 7;
/// The page may not be executed.
pub const NO_EXECUTE: u64 = 1 << 63;

const ACCESSED: u64 = 1 << 5;
const DIRTY: u64 = 1 << 6;
const FRAME: u64 = 0x000f_ffff_ffff_f000;

/// The slot of the top table that points to the table itself, so that the tables can be seen in
/// virtual memory.
pub const SELF_MAP_SLOT: u64 = 0x1ed;

/// What a walk through the tables found for one address. An entry below a missing one is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Virtual addresses of the four entries, top level first.
    pub entry_addresses: [u64; 4],
    /// Their contents.
    pub entries: [u64; 4],
    /// The third level maps a 2 MiB page, so there is no fourth.
    pub large: bool,
    /// The physical address, when the page is present.
    pub physical: Option<u64>,
    /// Every level allows writing.
    pub writable: bool,
    /// Every level allows user mode.
    pub user: bool,
    /// No level forbids execution.
    pub executable: bool,
}

/// True when the address is in canonical form.
#[must_use]
pub fn is_canonical(address: u64) -> bool {
    let top = address >> 47;
    top == 0 || top == 0x1_ffff
}

/// Walks the tables below `cr3` for `address`.
#[must_use]
pub fn walk(memory: &PhysicalMemory, cr3: u64, address: u64) -> Walk {
    let mut found = Walk {
        writable: true,
        user: true,
        executable: true,
        ..Walk::default()
    };
    found.entry_addresses = entry_addresses(address);
    if !is_canonical(address) {
        return found;
    }
    let mut table = cr3 & FRAME;
    for level in 0..4 {
        let index = (address >> (39 - 9 * level)) & 0x1ff;
        let entry = memory.read_u64(table + index * 8).unwrap_or(0);
        found.entries[level] = entry;
        if entry & PRESENT == 0 {
            return found;
        }
        found.writable &= entry & WRITABLE != 0;
        found.user &= entry & USER != 0;
        found.executable &= entry & NO_EXECUTE == 0;
        if level == 2 && entry & LARGE != 0 {
            found.large = true;
            found.entry_addresses[3] = found.entry_addresses[2];
            found.entries[3] = entry;
            found.physical = Some((entry & FRAME & !0x1f_ffff) + (address & 0x1f_ffff));
            return found;
        }
        table = entry & FRAME;
    }
    found.physical = Some(table + (address & (PAGE_SIZE - 1)));
    found
}

/// The virtual addresses at which the entries of `address` can be read through the self map.
#[must_use]
pub fn entry_addresses(address: u64) -> [u64; 4] {
    let slot = SELF_MAP_SLOT;
    let sign = 0xffff_0000_0000_0000;
    let page = address & 0x0000_ffff_ffff_f000;
    let pte = sign | (slot << 39) | (page >> 9);
    let pde = sign | (slot << 39) | (slot << 30) | ((page >> 18) & !7);
    let pdpte = sign | (slot << 39) | (slot << 30) | (slot << 21) | ((page >> 27) & !7);
    let pml4e = sign | (slot << 39) | (slot << 30) | (slot << 21) | (slot << 12) | ((page >> 36) & !7);
    [pml4e, pdpte, pde, pte]
}

/// Hands out physical frames and writes page tables while the machine is built.
pub struct TableBuilder {
    next_frame: u64,
}

impl TableBuilder {
    /// Frames are taken upwards from `first_frame`.
    #[must_use]
    pub fn new(first_frame: u64) -> Self {
        Self {
            next_frame: first_frame,
        }
    }

    /// The next unused frame.
    pub fn allocate(&mut self) -> u64 {
        let frame = self.next_frame;
        self.next_frame += PAGE_SIZE;
        frame
    }

    /// A new top table with its self map; the kernel half is copied from `kernel` if given.
    pub fn address_space(&mut self, memory: &mut PhysicalMemory, kernel: Option<u64>) -> u64 {
        let cr3 = self.allocate();
        if let Some(kernel) = kernel {
            for index in 256..512 {
                let entry = memory.read_u64(kernel + index * 8).unwrap_or(0);
                memory.write_u64(cr3 + index * 8, entry);
            }
        }
        memory.write_u64(
            cr3 + SELF_MAP_SLOT * 8,
            cr3 | PRESENT | WRITABLE | ACCESSED | DIRTY | NO_EXECUTE,
        );
        cr3
    }

    fn next_table(&mut self, memory: &mut PhysicalMemory, slot: u64, user: bool) -> u64 {
        let entry = memory.read_u64(slot).unwrap_or(0);
        if entry & PRESENT != 0 {
            return entry & FRAME;
        }
        let table = self.allocate();
        let flags = PRESENT | WRITABLE | ACCESSED | DIRTY | if user { USER } else { 0 };
        memory.write_u64(slot, table | flags);
        table
    }

    /// Maps one small page. `flags` takes `WRITABLE`, `USER` and `NO_EXECUTE`.
    pub fn map(&mut self, memory: &mut PhysicalMemory, cr3: u64, address: u64, frame: u64, flags: u64) {
        let mut table = cr3;
        for level in 0..3 {
            let index = (address >> (39 - 9 * level)) & 0x1ff;
            table = self.next_table(memory, table + index * 8, flags & USER != 0);
        }
        let index = (address >> 12) & 0x1ff;
        memory.write_u64(table + index * 8, frame | flags | PRESENT | ACCESSED | DIRTY);
    }

    /// Maps one 2 MiB page.
    pub fn map_large(&mut self, memory: &mut PhysicalMemory, cr3: u64, address: u64, frame: u64, flags: u64) {
        let mut table = cr3;
        for level in 0..2 {
            let index = (address >> (39 - 9 * level)) & 0x1ff;
            table = self.next_table(memory, table + index * 8, flags & USER != 0);
        }
        let index = (address >> 21) & 0x1ff;
        memory.write_u64(
            table + index * 8,
            frame | flags | LARGE | PRESENT | ACCESSED | DIRTY,
        );
    }

    /// Maps `pages` fresh frames from `address` on and returns the first frame.
    pub fn map_fresh(
        &mut self,
        memory: &mut PhysicalMemory,
        cr3: u64,
        address: u64,
        pages: u64,
        flags: u64,
    ) -> u64 {
        let first = self.next_frame;
        self.next_frame += pages * PAGE_SIZE;
        for page in 0..pages {
            self.map(
                memory,
                cr3,
                address + page * PAGE_SIZE,
                first + page * PAGE_SIZE,
                flags,
            );
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_page_translates_and_its_neighbour_does_not() {
        let mut memory = PhysicalMemory::new(&[(0x1000, 0x100_0000)]);
        let mut builder = TableBuilder::new(0x1000);
        let cr3 = builder.address_space(&mut memory, None);
        builder.map(&mut memory, cr3, 0xffff_f803_3000_0000, 0x50_0000, NO_EXECUTE);
        let found = walk(&memory, cr3, 0xffff_f803_3000_0123);
        assert_eq!(found.physical, Some(0x50_0123));
        assert!(!found.writable && !found.user && !found.executable);
        assert_eq!(walk(&memory, cr3, 0xffff_f803_3000_1000).physical, None);
        assert_eq!(
            walk(&memory, cr3, 0x0000_8000_0000_0000).physical,
            None,
            "not canonical"
        );
    }

    #[test]
    fn entries_are_visible_through_the_self_map() {
        let mut memory = PhysicalMemory::new(&[(0x1000, 0x100_0000)]);
        let mut builder = TableBuilder::new(0x1000);
        let cr3 = builder.address_space(&mut memory, None);
        builder.map(&mut memory, cr3, 0x7ff6_0000_0000, 0x50_0000, WRITABLE | USER);
        let found = walk(&memory, cr3, 0x7ff6_0000_0000);
        for level in 0..4 {
            let entry = walk(&memory, cr3, found.entry_addresses[level])
                .physical
                .expect("self map");
            assert_eq!(
                memory.read_u64(entry),
                Some(found.entries[level]),
                "level {level}"
            );
        }
    }

    #[test]
    fn a_large_page_has_no_fourth_entry() {
        let mut memory = PhysicalMemory::new(&[(0x1000, 0x100_0000)]);
        let mut builder = TableBuilder::new(0x1000);
        let cr3 = builder.address_space(&mut memory, None);
        builder.map_large(&mut memory, cr3, 0xffff_b08f_4000_0000, 0x20_0000, WRITABLE);
        let found = walk(&memory, cr3, 0xffff_b08f_4012_3456);
        assert!(found.large);
        assert_eq!(found.physical, Some(0x32_3456));
        assert_eq!(found.entry_addresses[2], found.entry_addresses[3]);
    }
}
