//! Builds the machine: memory, images, objects, and the state in which the cores start.

use super::core::{Core, msr};
use super::layout::{self, ModuleSpec, ProcessSpec, process_field, processor_field, thread_field};
use super::listing::Listing;
use super::memory::{PAGE_SIZE, PhysicalMemory};
use super::paging::{self, NO_EXECUTE, TableBuilder, USER, WRITABLE};
use super::registers::{flag, gpr, selector};
use super::{Machine, Module, Process, Thread};
use crate::assembler::AssembleError;

const KERNEL_CODE: u16 = 0x10;
const KERNEL_DATA: u16 = 0x18;
const USER_DATA: u16 = 0x2b;
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

    /// Process and thread objects, user data, cores; then the finished machine.
    fn objects(mut self, spaces: &[u64], programs: &[Program]) -> Machine {
        let kernel = self.kernel;
        let head = self.symbol("nt!PsActiveProcessHead");
        let mut processes = Vec::new();
        let mut threads = Vec::new();
        for (index, (spec, &cr3)) in layout::PROCESSES.iter().zip(spaces).enumerate() {
            let object = layout::PROCESS_OBJECTS + index as u64 * PAGE_SIZE;
            let mut name = spec.name.as_bytes().to_vec();
            name.resize(15, 0);
            self.put(object + process_field::DIRECTORY, cr3);
            self.put(object + process_field::PID, u64::from(spec.pid));
            self.poke(kernel, object + process_field::NAME, &name);
            processes.push(Process {
                pid: spec.pid,
                name: spec.name.to_owned(),
                path: spec.path.to_owned(),
                cr3,
                object,
                wow64: spec.wow64,
            });
            threads.push(self.thread(threads.len() as u64, spec.pid, spec.tid, object));
        }
        for tid in [
            layout::SECOND_IDLE_THREAD,
            layout::WORKER_THREAD,
            layout::DEBUGGED_THREAD,
        ] {
            threads.push(self.thread(
                threads.len() as u64,
                layout::SYSTEM_PROCESS,
                tid,
                layout::PROCESS_OBJECTS,
            ));
        }
        let links: Vec<u64> = processes
            .iter()
            .map(|process| process.object + process_field::LINKS)
            .collect();
        self.circle(head, &links);
        for process in &processes {
            let links: Vec<u64> = threads
                .iter()
                .filter(|thread| thread.pid == process.pid)
                .map(|thread| thread.object + thread_field::LINKS)
                .collect();
            self.circle(process.object + process_field::THREADS, &links);
        }
        self.schedule(programs, &threads);
        let mut cores: Vec<Core> = (0..CORES).map(|core| self.core(core, &threads)).collect();
        cores[SCHEDULED].halted = true;
        let mut machine = Machine {
            memory: self.memory,
            cores,
            modules: self.modules,
            symbols: super::Symbols::new(self.listing.into_symbols()),
            processes,
            threads,
            kernel_cr3: kernel,
            scheduled: SCHEDULED,
            turn: 0,
            left_in_turn: 0,
        };
        machine.run_until_idle(100_000);
        machine
    }

    fn put(&mut self, address: u64, value: u64) {
        self.poke(self.kernel, address, &value.to_le_bytes());
    }

    /// Links list entries in a circle through `head`.
    fn circle(&mut self, head: u64, entries: &[u64]) {
        let mut ring = vec![head];
        ring.extend(entries);
        for (index, &entry) in ring.iter().enumerate() {
            let next = ring[(index + 1) % ring.len()];
            let previous = ring[(index + ring.len() - 1) % ring.len()];
            self.put(entry, next);
            self.put(entry + 8, previous);
        }
    }

    fn thread(&mut self, index: u64, pid: u32, tid: u32, process: u64) -> Thread {
        let object = layout::THREAD_OBJECTS + index * PAGE_SIZE;
        let top = layout::KERNEL_STACKS + index * 0x1_0000 + layout::KERNEL_STACK_PAGES * PAGE_SIZE - 0x20;
        self.put(object + thread_field::STACK_TOP, top);
        self.put(object + thread_field::STACK_POINTER, top - 0x100);
        self.put(object + thread_field::PROCESS, process);
        self.put(object + thread_field::NEXT, object);
        self.put(object + thread_field::CLIENT_PID, u64::from(pid));
        self.put(object + thread_field::CLIENT_TID, u64::from(tid));
        if pid != layout::SYSTEM_PROCESS {
            self.put(object + thread_field::TEB, layout::USER_TEB);
        }
        Thread { pid, tid, object }
    }

    /// Links the threads that run into a ring and gives each a stack from which it starts.
    fn schedule(&mut self, programs: &[Program], threads: &[Thread]) {
        let mut ring = vec![threads[0].object];
        for program in programs.iter().filter(|program| !program.spec.opens.is_empty()) {
            let Some(thread) = threads.iter().find(|thread| thread.tid == program.spec.tid) else {
                continue;
            };
            self.user_data(program);
            let entry = self.symbol(&format!("{}!main", program.module.alias));
            let stack = layout::USER_STACK + layout::USER_STACK_PAGES * PAGE_SIZE - 0x48;
            let start = self.symbol("nt!KiStartUserThread");
            self.initial_stack(thread, &[0, 0, 0, 0, start, entry, stack]);
            ring.push(thread.object);
        }
        if let Some(worker) = threads.iter().find(|thread| thread.tid == layout::WORKER_THREAD) {
            let start = self.symbol("nt!PspSystemThreadStartup");
            self.initial_stack(worker, &[0, 0, 0, 0, start, 0]);
            ring.push(worker.object);
        }
        for (index, &thread) in ring.iter().enumerate() {
            self.put(thread + thread_field::NEXT, ring[(index + 1) % ring.len()]);
        }
    }

    fn initial_stack(&mut self, thread: &Thread, words: &[u64]) {
        let index = (thread.object - layout::THREAD_OBJECTS) / PAGE_SIZE;
        let top = layout::KERNEL_STACKS + index * 0x1_0000 + layout::KERNEL_STACK_PAGES * PAGE_SIZE - 0x100;
        for (offset, &word) in words.iter().enumerate() {
            self.put(top + offset as u64 * 8, word);
        }
        self.put(thread.object + thread_field::STACK_POINTER, top);
    }

    fn user_data(&mut self, program: &Program) {
        let at = |name: &str| format!("{}!{name}", program.module.alias);
        let name = self.symbol(&at("FileName"));
        self.poke(program.cr3, name, program.spec.opens.as_bytes());
        let imports = [
            ("ImportCreateFile", "kernel32!CreateFileA"),
            ("ImportReadFile", "ntdll!NtReadFile"),
            ("ImportClose", "ntdll!NtClose"),
            ("ImportSleep", "kernel32!Sleep"),
        ];
        for (slot, target) in imports {
            let (slot, target) = (self.symbol(&at(slot)), self.symbol(target));
            self.poke(program.cr3, slot, &target.to_le_bytes());
        }
        self.poke(
            program.cr3,
            layout::USER_TEB + 0x30,
            &layout::USER_TEB.to_le_bytes(),
        );
    }

    fn core(&mut self, index: usize, threads: &[Thread]) -> Core {
        let block = layout::PROCESSOR_BLOCKS + index as u64 * 0x1_0000;
        let wanted = if index == 0 {
            layout::PROCESSES[0].tid
        } else {
            layout::SECOND_IDLE_THREAD
        };
        let thread = threads
            .iter()
            .find(|thread| thread.tid == wanted)
            .map_or(0, |thread| thread.object);
        self.put(block + processor_field::THREAD, thread);
        let slot = (thread.saturating_sub(layout::THREAD_OBJECTS)) / PAGE_SIZE;
        let top = layout::KERNEL_STACKS + slot * 0x1_0000 + layout::KERNEL_STACK_PAGES * PAGE_SIZE - 0x20;
        self.put(block + processor_field::KERNEL_STACK, top);
        let mut core = Core::default();
        let registers = &mut core.registers;
        registers.rip = self.symbol("nt!KiIdleLoop");
        registers.rflags = flag::FIXED | flag::IF;
        registers.gpr[gpr::RSP] = top - 8;
        registers.gs_base = block;
        registers.selectors[selector::CS] = KERNEL_CODE;
        registers.selectors[selector::SS] = KERNEL_DATA;
        registers.selectors[selector::DS] = USER_DATA;
        registers.selectors[selector::ES] = USER_DATA;
        registers.selectors[selector::FS] = 0x53;
        registers.selectors[selector::GS] = USER_DATA;
        registers.cr[0] = 0x8005_0033;
        registers.cr[3] = self.kernel;
        registers.cr[4] = 0x37_06f8;
        registers.dr[6] = 0xffff_0ff0;
        registers.dr[7] = 0x400;
        registers.gdtr = (block + layout::GDT_OFFSET, 0x57);
        registers.idtr = (block + layout::IDT_OFFSET, 0xfff);
        registers.tr = 0x40;
        let apic = 0xfee0_0800 | if index == 0 { 0x100 } else { 0 };
        let msrs = [
            (msr::APIC_BASE, apic),
            (0x3a, 5),
            (0x174, 0),
            (0x1a0, 0x85_0089),
            (0xc000_0080, 0xd01),
            (msr::STAR, 0x0023_0010_0000_0000),
            (msr::LSTAR, self.symbol("nt!KiSystemCall64")),
            (msr::FMASK, 0x4700),
            (msr::KERNEL_GS_BASE, 0),
            (0xc000_0103, index as u64),
        ];
        core.msrs.extend(msrs);
        core
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
