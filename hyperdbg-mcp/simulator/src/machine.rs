//! The simulated machine: processors, memory, modules, processes.
//!
//! Nothing here knows a clock or a random number: the same steps give the same machine.

mod boot;
pub mod core;
pub mod cpuid;
mod image;
pub mod interpreter;
pub mod layout;
mod listing;
pub mod memory;
pub mod paging;
pub mod registers;
mod symbols;

use self::core::Core;
use interpreter::{Fault, Outcome};
use layout::{ModuleSpec, processor_field};
use memory::{PAGE_SIZE, PhysicalMemory};
use registers::flag;

pub use boot::boot;
pub use listing::Symbol;
pub use symbols::Symbols;

/// Instructions that a core executes before the other gets its turn.
const TURN: u32 = 64;

/// Clock ticks that the machine lives through before anybody sees it.
const WARM_UP_TICKS: u32 = 16;

/// An image that is mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Name that symbols use.
    pub alias: String,
    /// File name.
    pub file: String,
    /// First address.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// Path as lists show it.
    pub path: String,
    /// First instruction.
    pub entry: u64,
    /// The process that has it: `None` for the kernel, `Some(0)` for every user process.
    pub owner: Option<u32>,
}

impl Module {
    fn new(spec: &ModuleSpec, owner: Option<u32>) -> Self {
        let process = layout::PROCESSES
            .iter()
            .find(|process| Some(process.pid) == owner);
        let path = process.map_or(spec.path, |process| process.path);
        Self {
            alias: spec.alias.to_owned(),
            file: spec.file.to_owned(),
            base: spec.base,
            size: spec.size,
            path: path.to_owned(),
            entry: spec.base + spec.text.0,
            owner,
        }
    }
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Image name, at most 15 characters.
    pub name: String,
    /// Path of the image.
    pub path: String,
    /// Its page directory.
    pub cr3: u64,
    /// Its object in kernel memory.
    pub object: u64,
    /// A 32-bit program.
    pub wow64: bool,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Its object in kernel memory.
    pub object: u64,
}

/// The machine.
#[derive(Clone)]
pub struct Machine {
    /// Physical memory.
    pub memory: PhysicalMemory,
    /// The processors.
    pub cores: Vec<Core>,
    /// Images.
    pub modules: Vec<Module>,
    /// Names.
    pub symbols: Symbols,
    /// Processes, in creation order.
    pub processes: Vec<Process>,
    /// Threads.
    pub threads: Vec<Thread>,
    /// Page directory of the system process.
    pub kernel_cr3: u64,
    scheduled: usize,
    turn: usize,
    left_in_turn: u32,
}

impl Machine {
    /// Cores that run on their own. One more exists, for the user debugger's process.
    #[must_use]
    pub fn scheduled(&self) -> usize {
        self.scheduled
    }

    /// The core that executes next; `None` when every core waits for the clock.
    pub fn next_core(&mut self) -> Option<usize> {
        if self.left_in_turn == 0 || self.cores[self.turn].halted {
            let count = self.scheduled;
            let next = (1..=count)
                .map(|step| (self.turn + step) % count)
                .find(|&core| !self.cores[core].halted);
            self.turn = next?;
            self.left_in_turn = TURN;
        }
        self.left_in_turn -= 1;
        Some(self.turn)
    }

    /// Executes one instruction on `core`; a waiting core takes the clock interrupt first.
    ///
    /// # Errors
    /// The fault that the instruction raised.
    pub fn step(&mut self, core: usize) -> Result<Outcome, Fault> {
        if self.cores[core].halted {
            self.clock(core)?;
        }
        let ins = interpreter::fetch(&self.memory, &self.cores[core].registers)?;
        interpreter::execute(&mut self.memory, &mut self.cores[core], ins)
    }

    /// Wakes a waiting core with the clock interrupt. A core that has interrupts off goes on
    /// waiting when its `hlt` is executed again.
    ///
    /// # Errors
    /// A page fault when the core's stack is gone.
    pub fn clock(&mut self, core: usize) -> Result<(), Fault> {
        let handler = self.handler(core, layout::CLOCK_VECTOR);
        let cpu = &mut self.cores[core];
        cpu.halted = false;
        if cpu.registers.flag(flag::IF) {
            interpreter::deliver(&mut self.memory, cpu, handler)?;
        }
        Ok(())
    }

    /// The handler of an interrupt, from the core's table in memory.
    #[must_use]
    pub fn handler(&self, core: usize, vector: u8) -> u64 {
        let registers = &self.cores[core].registers;
        let mut gate = [0; 16];
        let address = registers.idtr.0.wrapping_add(u64::from(vector) * 16);
        self.read_virtual(registers.cr[3], address, &mut gate);

        u64::from_le_bytes([
            gate[0], gate[1], gate[6], gate[7], gate[8], gate[9], gate[10], gate[11],
        ])
    }

    /// Lets some time pass after the start, so that a debugger meets a machine that has been running.
    fn warm_up(&mut self) {
        for _ in 0..WARM_UP_TICKS {
            self.run_until_idle(100_000);
            for core in 0..self.scheduled {
                if self.clock(core).is_err() {
                    return;
                }
            }
        }
        self.run_until_idle(100_000);
    }

    /// Runs every core until all wait for the clock, at most `limit` instructions.
    pub fn run_until_idle(&mut self, limit: u32) {
        for _ in 0..limit {
            let Some(core) = self.next_core() else { return };
            if self.step(core).is_err() {
                return;
            }
        }
    }

    /// Reads virtual memory through the page tables at `cr3`, as a debugger does: protection does
    /// not matter. Returns the bytes read before the first hole.
    pub fn read_virtual(&self, cr3: u64, address: u64, out: &mut [u8]) -> usize {
        let mut done = 0;
        while done < out.len() {
            let at = address.wrapping_add(done as u64);
            let size = in_page(at, out.len() - done);
            let Some(physical) = paging::walk(&self.memory, cr3, at).physical else {
                break;
            };
            if !self.memory.read(physical, &mut out[done..done + size]) {
                break;
            }
            done += size;
        }
        done
    }

    /// Writes virtual memory whatever its protection; false, with nothing written, at a hole.
    pub fn write_virtual(&mut self, cr3: u64, address: u64, bytes: &[u8]) -> bool {
        let mut parts = Vec::new();
        let mut done = 0;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            let size = in_page(at, bytes.len() - done);
            match paging::walk(&self.memory, cr3, at).physical {
                Some(physical) if self.memory.is_ram(physical, size as u64) => {
                    parts.push((physical, done, size));
                }
                _ => return false,
            }
            done += size;
        }
        for (physical, done, size) in parts {
            self.memory.write(physical, &bytes[done..done + size]);
        }
        true
    }

    /// The first mapped virtual address of a physical one, among the kernel's images, pool, stacks
    /// and processor blocks.
    #[must_use]
    pub fn virtual_of(&self, physical: u64) -> Option<u64> {
        if !self.memory.is_ram(physical, 1) {
            return None;
        }
        let pool = layout::POOL_FRAME..layout::POOL_FRAME + 0x20_0000;
        if pool.contains(&physical) {
            return Some(layout::POOL + (physical - layout::POOL_FRAME));
        }
        let images = self
            .modules
            .iter()
            .filter(|module| module.owner.is_none())
            .map(|module| (module.base, module.size));
        let stacks = (layout::KERNEL_STACKS, 0x10_0000);
        let blocks = (layout::PROCESSOR_BLOCKS, 0x4_0000);
        let ranges = images.chain([stacks, blocks]);
        for (start, size) in ranges {
            for page in (start..start + size).step_by(PAGE_SIZE as usize) {
                let found = paging::walk(&self.memory, self.kernel_cr3, page);
                if found
                    .physical
                    .is_some_and(|frame| frame == physical & !(PAGE_SIZE - 1))
                {
                    return Some(page + (physical & (PAGE_SIZE - 1)));
                }
            }
        }
        None
    }

    /// Points the spare core at the program of a process, at its first instruction and with a stack of its own
    /// below the process's. False when the process has no program.
    pub fn prepare_spare_core(&mut self, pid: u32) -> bool {
        let core = self.scheduled;
        let Some(process) = self.process(pid).cloned() else {
            return false;
        };
        let main = self
            .user_modules(pid)
            .find(|module| module.owner == Some(pid))
            .map(|module| module.alias.clone());
        let Some(entry) = main
            .and_then(|alias| self.symbols.find(&format!("{alias}!main")))
            .map(|symbol| symbol.address)
        else {
            return false;
        };
        let Some(thread) = self.current_thread(core).cloned() else {
            return false;
        };
        let fields = [
            (layout::thread_field::PROCESS, process.object),
            (layout::thread_field::CLIENT_PID, u64::from(pid)),
            (layout::thread_field::TEB, layout::USER_TEB),
        ];
        for (field, value) in fields {
            self.write_virtual(self.kernel_cr3, thread.object + field, &value.to_le_bytes());
        }
        if let Some(known) = self
            .threads
            .iter_mut()
            .find(|known| known.object == thread.object)
        {
            known.pid = pid;
        }
        let cpu = &mut self.cores[core];
        let block = layout::PROCESSOR_BLOCKS + core as u64 * 0x1_0000;
        cpu.registers.gpr = [0; 16];
        cpu.registers.gpr[registers::gpr::RSP] = layout::USER_STACK + 0x1f8;
        cpu.registers.rip = entry;
        cpu.registers.rflags = flag::FIXED | flag::IF;
        cpu.registers.cr[3] = process.cr3;
        cpu.registers.selectors[registers::selector::CS] = 0x33;
        cpu.registers.selectors[registers::selector::SS] = 0x2b;
        cpu.registers.gs_base = layout::USER_TEB;
        cpu.write_msr(core::msr::KERNEL_GS_BASE, block);
        true
    }

    /// Reads a 64-bit value from kernel memory.
    #[must_use]
    pub fn kernel_u64(&self, address: u64) -> Option<u64> {
        let mut raw = [0; 8];
        (self.read_virtual(self.kernel_cr3, address, &mut raw) == 8).then(|| u64::from_le_bytes(raw))
    }

    /// The thread that runs on `core`.
    #[must_use]
    pub fn current_thread(&self, core: usize) -> Option<&Thread> {
        let block = layout::PROCESSOR_BLOCKS + core as u64 * 0x1_0000;
        let object = self.kernel_u64(block + processor_field::THREAD)?;
        self.threads.iter().find(|thread| thread.object == object)
    }

    /// The process that runs on `core`.
    #[must_use]
    pub fn current_process(&self, core: usize) -> Option<&Process> {
        let pid = self.current_thread(core)?.pid;
        self.process(pid)
    }

    /// The process with that id.
    #[must_use]
    pub fn process(&self, pid: u32) -> Option<&Process> {
        self.processes.iter().find(|process| process.pid == pid)
    }

    /// The modules that a process sees in user mode.
    pub fn user_modules(&self, pid: u32) -> impl Iterator<Item = &Module> {
        self.modules.iter().filter(move |module| match module.owner {
            Some(0) => pid != layout::SYSTEM_PROCESS,
            Some(owner) => owner == pid,
            None => false,
        })
    }

    /// The kernel modules.
    pub fn kernel_modules(&self) -> impl Iterator<Item = &Module> {
        self.modules.iter().filter(|module| module.owner.is_none())
    }

    /// The address of the kernel image.
    #[must_use]
    pub fn kernel_base(&self) -> u64 {
        self.kernel_modules().next().map_or(0, |module| module.base)
    }
}

fn in_page(address: u64, wanted: usize) -> usize {
    ((PAGE_SIZE - (address & (PAGE_SIZE - 1))) as usize).min(wanted)
}

#[cfg(test)]
mod tests;
