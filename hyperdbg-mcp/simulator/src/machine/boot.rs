//! Builds the machine: memory, images, tables; the objects and cores are in a module of their own.

mod objects;

use super::layout::{self, ModuleSpec, ProcessSpec};
use super::listing::Listing;
use super::memory::{PAGE_SIZE, PhysicalMemory};
use super::paging::{self, NO_EXECUTE, TableBuilder, USER, WRITABLE};
use super::{Machine, Module};
use crate::assembler::AssembleError;

const KERNEL_CODE: u16 = 0x10;
/// Cores that run on their own.
const SCHEDULED: usize = 2;
/// All cores, with the spare one of the user debugger.
const CORES: usize = SCHEDULED + 1;

/// Builds the machine and lets it run until every thread has started.
///
/// # Errors
/// A listing that does not assemble, which the tests rule out for the ones that are built in.
pub fn boot() -> Result<Machine, AssembleError> {
    let mut builder = Builder::new();
    builder.kernel_images();
    let spaces = builder.address_spaces();
    let programs = builder.programs(&spaces);
    builder.code(&programs)?;
    builder.kernel_data();
    let machine = builder.objects(&spaces, &programs);
    Ok(machine)
}

struct Builder {
    memory: PhysicalMemory,
    tables: TableBuilder,
    kernel: u64,
    shared_frames: Vec<(u64, u64, u64)>,
    modules: Vec<Module>,
    listing: Listing,
}

/// The image of one process.
struct Program {
    spec: &'static ProcessSpec,
    module: ModuleSpec,
    cr3: u64,
}

impl Builder {
    fn new() -> Self {
        let mut memory = PhysicalMemory::new(layout::RAM);
        let mut tables = TableBuilder::new(layout::FIRST_FRAME);
        let kernel = tables.address_space(&mut memory, None);
        Self {
            memory,
            tables,
            kernel,
            shared_frames: Vec::new(),
            modules: Vec::new(),
            listing: Listing::default(),
        }
    }

    /// Maps the kernel half: images, pool, stacks, processor blocks. Address spaces made later
    /// share it.
    fn kernel_images(&mut self) {
        for spec in layout::KERNEL_MODULES {
            self.image(self.kernel, spec, 0);
            self.modules.push(Module::new(spec, None));
        }
        let data = WRITABLE | NO_EXECUTE;
        self.tables.map_large(
            &mut self.memory,
            self.kernel,
            layout::POOL,
            layout::POOL_FRAME,
            data,
        );
        for index in 0..thread_count() {
            let stack = layout::KERNEL_STACKS + index * 0x1_0000;
            let pages = layout::KERNEL_STACK_PAGES;
            self.tables
                .map_fresh(&mut self.memory, self.kernel, stack, pages, data);
        }
        for core in 0..CORES as u64 {
            let block = layout::PROCESSOR_BLOCKS + core * 0x1_0000;
            self.tables
                .map_fresh(&mut self.memory, self.kernel, block, 4, data);
        }
    }

    /// Maps the pages of an image that exist, and writes its headers.
    fn image(&mut self, cr3: u64, spec: &ModuleSpec, user: u64) {
        let headers = self
            .tables
            .map_fresh(&mut self.memory, cr3, spec.base, 1, user | NO_EXECUTE);
        self.memory.write(headers, &super::image::headers(spec));
        let (text, pages) = spec.text;
        let frame = self
            .tables
            .map_fresh(&mut self.memory, cr3, spec.base + text, pages, user);
        // Gaps between routines are filled the way linkers fill them.
        for page in 0..pages {
            self.memory.write(frame + page * PAGE_SIZE, &[0xcc; 0x1000]);
        }
        for (section, flags) in [(spec.constants, NO_EXECUTE), (spec.data, WRITABLE | NO_EXECUTE)] {
            let (offset, pages) = section;
            self.tables
                .map_fresh(&mut self.memory, cr3, spec.base + offset, pages, user | flags);
        }
    }

    /// One address space per process; the system process has the kernel's.
    fn address_spaces(&mut self) -> Vec<u64> {
        let mut spaces = Vec::new();
        for spec in layout::PROCESSES {
            if spec.image == 0 {
                spaces.push(self.kernel);
            } else {
                spaces.push(self.tables.address_space(&mut self.memory, Some(self.kernel)));
            }
        }
        spaces
    }

    fn programs(&mut self, spaces: &[u64]) -> Vec<Program> {
        let mut programs = Vec::new();
        for (spec, &cr3) in layout::PROCESSES.iter().zip(spaces) {
            if spec.image == 0 {
                continue;
            }
            let module = program_module(spec);
            self.image(cr3, &module, USER);
            self.shared_modules(cr3);
            let data = WRITABLE | USER | NO_EXECUTE;
            let pages = layout::USER_STACK_PAGES;
            self.tables
                .map_fresh(&mut self.memory, cr3, layout::USER_STACK, pages, data);
            self.tables
                .map_fresh(&mut self.memory, cr3, layout::USER_TEB, 2, data);
            self.modules.push(Module::new(&module, Some(spec.pid)));
            programs.push(Program { spec, module, cr3 });
        }
        for spec in layout::SHARED_USER_MODULES {
            self.modules.push(Module::new(spec, Some(0)));
        }
        programs
    }

    /// Maps the shared modules; the first process that needs them creates their pages.
    fn shared_modules(&mut self, cr3: u64) {
        if self.shared_frames.is_empty() {
            for spec in layout::SHARED_USER_MODULES {
                self.image(cr3, spec, USER);
                let sections = [(0, 1), spec.text, spec.constants, spec.data];
                for (offset, pages) in sections {
                    for page in 0..pages {
                        let address = spec.base + offset + page * PAGE_SIZE;
                        let found = paging::walk(&self.memory, cr3, address);
                        let flags = found.entries[3] & (WRITABLE | USER | NO_EXECUTE);
                        if let Some(frame) = found.physical {
                            self.shared_frames.push((address, frame, flags));
                        }
                    }
                }
            }
            return;
        }
        for &(address, frame, flags) in &self.shared_frames {
            self.tables.map(&mut self.memory, cr3, address, frame, flags);
        }
    }

    /// Assembles all code into place.
    fn code(&mut self, programs: &[Program]) -> Result<(), AssembleError> {
        let mut specs: Vec<&ModuleSpec> = layout::KERNEL_MODULES.iter().collect();
        specs.extend(layout::SHARED_USER_MODULES);
        self.listing.add(include_str!("guest/kernel.asm"), &specs, "nt");
        self.listing.add(include_str!("guest/user.asm"), &specs, "ntdll");
        for program in programs.iter().filter(|program| !program.spec.opens.is_empty()) {
            let specs = [&program.module];
            self.listing
                .add(include_str!("guest/program.asm"), &specs, program.module.alias);
        }
        for (address, bytes) in self.listing.assemble()? {
            self.poke_anywhere(programs, address, &bytes);
        }
        for program in programs.iter().filter(|program| program.spec.wow64) {
            self.poke(
                program.cr3,
                program.module.base + program.module.text.0,
                layout::CODE_32,
            );
        }
        Ok(())
    }

    fn poke(&mut self, cr3: u64, address: u64, bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let at = address + done as u64;
            let size = ((PAGE_SIZE - (at & (PAGE_SIZE - 1))) as usize).min(bytes.len() - done);
            if let Some(physical) = paging::walk(&self.memory, cr3, at).physical {
                self.memory.write(physical, &bytes[done..done + size]);
            }
            done += size;
        }
    }

    /// Writes through the first address space that has the address.
    fn poke_anywhere(&mut self, programs: &[Program], address: u64, bytes: &[u8]) {
        let spaces = std::iter::once(self.kernel).chain(programs.iter().map(|program| program.cr3));
        let owner = spaces
            .into_iter()
            .find(|&cr3| paging::walk(&self.memory, cr3, address).physical.is_some());
        if let Some(cr3) = owner {
            self.poke(cr3, address, bytes);
        }
    }

    fn symbol(&self, name: &str) -> u64 {
        self.listing.address(name).unwrap_or(0)
    }

    fn poke_symbol(&mut self, name: &str, bytes: &[u8]) {
        let address = self.symbol(name);
        self.poke(self.kernel, address, bytes);
    }

    /// Fills the kernel's tables and variables.
    fn kernel_data(&mut self) {
        let unknown = self.symbol("nt!NtInvalidSystemService");
        let mut table = vec![unknown; layout::SERVICE_COUNT];
        for &(number, name) in layout::SERVICES {
            table[number] = self.symbol(name);
        }
        let table: Vec<u8> = table.into_iter().flat_map(u64::to_le_bytes).collect();
        self.poke_symbol("nt!KiServiceTable", &table);
        self.poke_symbol("nt!IopSampleText", layout::FILE_TEXT.as_bytes());
        self.poke_symbol("nt!NtBuildNumber", &layout::BUILD_NUMBER.to_le_bytes());
        self.poke_symbol("nt!NtBuildLab", layout::BUILD_LAB.as_bytes());
        self.poke_symbol("nt!KdDebuggerEnabled", &[1]);
        self.poke_symbol("nt!Kd_DEFAULT_Mask", &1_u32.to_le_bytes());
        self.poke_symbol("nt!MmUserProbeAddress", &0x7fff_ffff_0000_u64.to_le_bytes());
        self.poke_symbol("nt!ExPoolStart", &layout::POOL_HEAP.0.to_le_bytes());
        self.poke_symbol("nt!ExPoolNext", &layout::POOL_HEAP.0.to_le_bytes());
        self.poke_symbol("nt!ExPoolEnd", &layout::POOL_HEAP.1.to_le_bytes());
        self.poke_symbol(
            "nt!PsInitialSystemProcess",
            &layout::PROCESS_OBJECTS.to_le_bytes(),
        );
        self.poke_symbol("simdemo!DemoBanner", layout::DRIVER_BANNER.as_bytes());
        let handler = self.symbol("simdemo!DemoDispatch");
        self.poke_symbol("simdemo!DemoHandler", &handler.to_le_bytes());
        for core in 0..CORES as u64 {
            self.descriptor_tables(layout::PROCESSOR_BLOCKS + core * 0x1_0000);
        }
    }

    fn descriptor_tables(&mut self, block: u64) {
        // Null, unused, kernel code, kernel data, user code 32, user data, user code 64.
        let gdt: [u64; 7] = [
            0,
            0,
            0x0020_9b00_0000_0000,
            0x00cf_9300_0000_ffff,
            0x00cf_fb00_0000_ffff,
            0x00cf_f300_0000_ffff,
            0x0020_fb00_0000_0000,
        ];
        let gdt: Vec<u8> = gdt.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        self.poke(self.kernel, block + layout::GDT_OFFSET, &gdt);
        let unexpected = self.symbol("nt!KiUnexpectedInterrupt");
        let mut idt = Vec::with_capacity(0x1000);
        for vector in 0..=255_u8 {
            let named = layout::HANDLERS.iter().find(|(known, _)| *known == vector);
            let handler = named.map_or(unexpected, |(_, name)| self.symbol(name));
            let dpl = if vector == 3 { 0xee00 } else { 0x8e00 };
            let low = (handler & 0xffff)
                | (u64::from(KERNEL_CODE) << 16)
                | (dpl << 32)
                | (((handler >> 16) & 0xffff) << 48);
            idt.extend(low.to_le_bytes());
            idt.extend((handler >> 32).to_le_bytes());
        }
        self.poke(self.kernel, block + layout::IDT_OFFSET, &idt);
    }
}

fn thread_count() -> u64 {
    layout::PROCESSES.len() as u64 + 3
}

fn program_module(spec: &ProcessSpec) -> ModuleSpec {
    let file = spec.path.rsplit('\\').next().unwrap_or(spec.path);
    let program = ["svchost", "explorer", "notepad"];
    let alias = program
        .into_iter()
        .find(|name| spec.name.starts_with(name))
        .unwrap_or(spec.name);
    ModuleSpec {
        alias,
        file,
        base: spec.image,
        size: 0x3_8000,
        path: "",
        text: (0x1000, 1),
        constants: (0, 0),
        data: (0x3000, 1),
    }
}
