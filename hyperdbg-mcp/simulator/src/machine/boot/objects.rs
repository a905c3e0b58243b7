//! Processes, threads and the state in which the cores start.

use super::{Builder, CORES, KERNEL_CODE, Program, SCHEDULED};
use crate::machine::core::{Core, msr};
use crate::machine::layout::{self, process_field, processor_field, thread_field};
use crate::machine::memory::PAGE_SIZE;
use crate::machine::registers::{flag, gpr, selector};
use crate::machine::{Machine, Process, Symbols, Thread};

const KERNEL_DATA: u16 = 0x18;
const USER_DATA: u16 = 0x2b;

impl Builder {
    /// Process and thread objects, user data, cores; then the finished machine.
    pub(super) fn objects(mut self, spaces: &[u64], programs: &[Program]) -> Machine {
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
            symbols: Symbols::new(self.listing.into_symbols()),
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
