//! Names, addresses and texts of the simulated machine, all in one place.
//!
//! Whoever wants a machine with hostile names (control characters, text that reads like an
//! instruction) changes them here and nowhere else.

/// A module of the machine.
pub struct ModuleSpec {
    /// The short name that symbols use, as in `nt!NtClose`.
    pub alias: &'static str,
    /// File name.
    pub file: &'static str,
    /// Where the image starts.
    pub base: u64,
    /// Size of the image in bytes.
    pub size: u64,
    /// Path as module lists show it.
    pub path: &'static str,
    /// Pages with code: offset in the image and count. The rest of the image is a hole.
    pub text: (u64, u64),
    /// Pages with read-only data.
    pub constants: (u64, u64),
    /// Pages with writable data.
    pub data: (u64, u64),
}

/// Modules in the kernel half, in load order.
pub const KERNEL_MODULES: &[ModuleSpec] = &[
    ModuleSpec {
        alias: "nt",
        file: "ntoskrnl.exe",
        base: 0xffff_f803_3000_0000,
        size: 0x104_7000,
        path: "\\SystemRoot\\system32\\ntoskrnl.exe",
        text: (0x20_0000, 5),
        constants: (0x30_0000, 1),
        data: (0xc0_0000, 4),
    },
    ModuleSpec {
        alias: "hal",
        file: "hal.dll",
        base: 0xffff_f803_3120_0000,
        size: 0xa_6000,
        path: "\\SystemRoot\\system32\\hal.dll",
        text: (0x2000, 1),
        constants: (0, 0),
        data: (0x8000, 1),
    },
    ModuleSpec {
        alias: "FLTMGR",
        file: "FLTMGR.SYS",
        base: 0xffff_f803_3200_0000,
        size: 0x7_2000,
        path: "\\SystemRoot\\System32\\drivers\\FLTMGR.SYS",
        text: (0x1000, 1),
        constants: (0, 0),
        data: (0x8000, 1),
    },
    ModuleSpec {
        alias: "Ntfs",
        file: "Ntfs.sys",
        base: 0xffff_f803_3220_0000,
        size: 0x2d_9000,
        path: "\\SystemRoot\\System32\\Drivers\\Ntfs.sys",
        text: (0x3000, 1),
        constants: (0, 0),
        data: (0x8000, 1),
    },
    ModuleSpec {
        alias: "tcpip",
        file: "tcpip.sys",
        base: 0xffff_f803_3280_0000,
        size: 0x2e_b000,
        path: "\\SystemRoot\\System32\\drivers\\tcpip.sys",
        text: (0x1000, 1),
        constants: (0, 0),
        data: (0x8000, 1),
    },
    ModuleSpec {
        alias: "simdemo",
        file: "simdemo.sys",
        base: 0xffff_f803_4000_0000,
        size: 0x9000,
        path: "\\SystemRoot\\System32\\drivers\\simdemo.sys",
        text: (0x1000, 1),
        constants: (0, 0),
        data: (0x8000, 1),
    },
];

/// Modules that every user process shares.
pub const SHARED_USER_MODULES: &[ModuleSpec] = &[
    ModuleSpec {
        alias: "ntdll",
        file: "ntdll.dll",
        base: 0x7ffd_4c2b_0000,
        size: 0x1f_8000,
        path: "C:\\Windows\\SYSTEM32\\ntdll.dll",
        text: (0x9_d000, 1),
        constants: (0, 0),
        data: (0x16_0000, 1),
    },
    ModuleSpec {
        alias: "kernel32",
        file: "KERNEL32.DLL",
        base: 0x7ffd_4a1d_0000,
        size: 0xb_d000,
        path: "C:\\Windows\\System32\\KERNEL32.DLL",
        text: (0x2_4000, 1),
        constants: (0, 0),
        data: (0xb_0000, 1),
    },
];

/// A process of the machine.
pub struct ProcessSpec {
    /// Process id.
    pub pid: u32,
    /// Id of its first thread.
    pub tid: u32,
    /// Image name, at most 15 characters.
    pub name: &'static str,
    /// Path of the image.
    pub path: &'static str,
    /// Where the image starts; 0 for the system process.
    pub image: u64,
    /// The file that its program keeps opening; empty for a process whose thread only waits.
    pub opens: &'static str,
    /// A 32-bit program.
    pub wow64: bool,
}

/// The processes, in creation order.
pub const PROCESSES: &[ProcessSpec] = &[
    ProcessSpec {
        pid: 4,
        tid: 8,
        name: "System",
        path: "",
        image: 0,
        opens: "",
        wow64: false,
    },
    ProcessSpec {
        pid: 0x1c4,
        tid: 0x1c8,
        name: "smss.exe",
        path: "\\SystemRoot\\System32\\smss.exe",
        image: 0x7ff7_6f8b_0000,
        opens: "",
        wow64: false,
    },
    ProcessSpec {
        pid: 0x248,
        tid: 0x254,
        name: "csrss.exe",
        path: "C:\\Windows\\system32\\csrss.exe",
        image: 0x7ff6_0cd4_0000,
        opens: "",
        wow64: false,
    },
    ProcessSpec {
        pid: 0x2d8,
        tid: 0x2dc,
        name: "lsass.exe",
        path: "C:\\Windows\\system32\\lsass.exe",
        image: 0x7ff7_3a52_0000,
        opens: "",
        wow64: false,
    },
    ProcessSpec {
        pid: 0x3a0,
        tid: 0x3b4,
        name: "svchost.exe",
        path: "C:\\Windows\\System32\\svchost.exe",
        image: 0x7ff7_84e0_0000,
        opens: "C:\\Windows\\Temp\\service.log",
        wow64: false,
    },
    ProcessSpec {
        pid: 0x11b8,
        tid: 0x11bc,
        name: "explorer.exe",
        path: "C:\\Windows\\Explorer.EXE",
        image: 0x7ff6_a1b0_0000,
        opens: "C:\\Users\\sim\\Desktop\\desktop.ini",
        wow64: false,
    },
    ProcessSpec {
        pid: 0x1a2c,
        tid: 0x1a30,
        name: "notepad.exe",
        path: "C:\\Windows\\System32\\notepad.exe",
        image: 0x7ff6_d210_0000,
        opens: "C:\\Users\\sim\\Documents\\notes.txt",
        wow64: false,
    },
    ProcessSpec {
        pid: 0x1f30,
        tid: 0x1f34,
        name: "hyperdbg-cli.ex",
        path: "C:\\HyperDbg\\hyperdbg-cli.exe",
        image: 0x7ff7_1c00_0000,
        opens: "",
        wow64: false,
    },
    ProcessSpec {
        pid: 0x2240,
        tid: 0x2244,
        name: "oldcalc.exe",
        path: "C:\\Program Files (x86)\\OldCalc\\oldcalc.exe",
        image: 0x40_0000,
        opens: "",
        wow64: true,
    },
];

/// The process that stands for the program which loaded the library.
pub const HOST_PROCESS: u32 = 0x1f30;

/// The system process.
pub const SYSTEM_PROCESS: u32 = 4;

/// Id of the extra system thread that works for the demo driver.
pub const WORKER_THREAD: u32 = 0x10;

/// Id of the idle thread of the second core.
pub const SECOND_IDLE_THREAD: u32 = 0xc;

/// Id of the thread that the user debugger runs.
pub const DEBUGGED_THREAD: u32 = 0x3000;

/// What the kernel hands out when a file is read.
pub const FILE_TEXT: &str = "The quick brown fox jumps over the lazy dog; 0123456789 <eof>\r\n";

/// Build string of the kernel.
pub const BUILD_LAB: &str = "19041.1.simulated.release";

/// Build number of the kernel.
pub const BUILD_NUMBER: u32 = 0xf000_4a61;

/// Name of the operating system as the debuggee announces it.
pub const OS_NAME: &str = "Simulated 64-bit system, build 19041";

/// Greeting in the demo driver's data.
pub const DRIVER_BANNER: &str = "simdemo: a driver that only counts";

/// Physical RAM, as half-open ranges.
pub const RAM: &[(u64, u64)] = &[(0x1000, 0x9_f000), (0x10_0000, 0x1000_0000)];

/// First frame that page tables and small pages take.
pub const FIRST_FRAME: u64 = 0x40_0000;

/// Where the non-paged pool starts: one large page.
pub const POOL: u64 = 0xffff_b08f_4000_0000;
/// The large page behind the pool.
pub const POOL_FRAME: u64 = 0x200_0000;
/// Process objects, one page each.
pub const PROCESS_OBJECTS: u64 = POOL + 0x1_0080;
/// Thread objects, one page each.
pub const THREAD_OBJECTS: u64 = POOL + 0x4_0080;
/// The part of the pool that the guest's allocator uses.
pub const POOL_HEAP: (u64, u64) = (POOL + 0x10_0000, POOL + 0x18_0000);

/// Kernel stacks, 64 KiB apart with holes between them.
pub const KERNEL_STACKS: u64 = 0xffff_f58a_2000_0000;
/// Pages in a kernel stack.
pub const KERNEL_STACK_PAGES: u64 = 6;

/// Processor blocks, 64 KiB apart: GS base in ring 0, then the descriptor tables.
pub const PROCESSOR_BLOCKS: u64 = 0xffff_f803_2800_0000;
/// Offset of the descriptor table in a processor block.
pub const GDT_OFFSET: u64 = 0x1000;
/// Offset of the interrupt table in a processor block.
pub const IDT_OFFSET: u64 = 0x2000;

/// User stacks and thread blocks.
pub const USER_STACK: u64 = 0xc4_5120_0000;
/// Pages in a user stack.
pub const USER_STACK_PAGES: u64 = 4;
/// The thread block of a user process.
pub const USER_TEB: u64 = 0xc4_50ff_0000;

/// Fields of a process object.
pub mod process_field {
    #![allow(missing_docs)]
    pub const DIRECTORY: u64 = 0x28;
    pub const PID: u64 = 0x440;
    pub const LINKS: u64 = 0x448;
    pub const PEB: u64 = 0x550;
    pub const NAME: u64 = 0x5a8;
    pub const THREADS: u64 = 0x5e0;
}

/// Fields of a thread object.
pub mod thread_field {
    #![allow(missing_docs)]
    pub const STACK_TOP: u64 = 0x28;
    pub const STACK_POINTER: u64 = 0x58;
    pub const TEB: u64 = 0xf0;
    pub const PROCESS: u64 = 0x220;
    pub const NEXT: u64 = 0x230;
    pub const CLIENT_PID: u64 = 0x478;
    pub const CLIENT_TID: u64 = 0x480;
    pub const LINKS: u64 = 0x4e8;
}

/// Fields of a processor block.
pub mod processor_field {
    #![allow(missing_docs)]
    pub const THREAD: u64 = 0x188;
    pub const KERNEL_STACK: u64 = 0x1a8;
}

/// The clock interrupt.
pub const CLOCK_VECTOR: u8 = 0xd1;

/// The service numbers of the kernel and the routines behind them.
pub const SERVICES: &[(usize, &str)] = &[
    (0x06, "nt!NtReadFile"),
    (0x0f, "nt!NtClose"),
    (0x34, "nt!NtDelayExecution"),
    (0x36, "nt!NtQuerySystemInformation"),
    (0x55, "nt!NtCreateFile"),
];

/// Slots in the service table.
pub const SERVICE_COUNT: usize = 0x60;

/// Interrupt handlers with a routine of their own.
pub const HANDLERS: &[(u8, &str)] = &[
    (0x00, "nt!KiDivideErrorFault"),
    (0x03, "nt!KiBreakpointTrap"),
    (0x06, "nt!KiInvalidOpcodeFault"),
    (0x0d, "nt!KiGeneralProtectionFault"),
    (0x0e, "nt!KiPageFault"),
    (CLOCK_VECTOR, "hal!HalpTimerClockInterrupt"),
];

/// Code of the 32-bit process: `push ebp; mov ebp, esp; mov eax, [ebp+8]; add eax, [ebp+0c];
/// pop ebp; ret`.
pub const CODE_32: &[u8] = &[0x55, 0x8b, 0xec, 0x8b, 0x45, 0x08, 0x03, 0x45, 0x0c, 0x5d, 0xc3];
