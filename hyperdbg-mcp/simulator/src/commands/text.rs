//! The table of all commands: spellings, help, and who handles them.

use super::{
    Command, connection, events, general, memory, objects, points, register, running, search, tables,
};

/// Every command. The first spelling is the one that its help shows.
pub(super) const COMMANDS: &[Command] = &[
    Command::new(
        &[".help", ".hh", "help", "!help"],
        "prints help of one command",
        &[".help [Command (string)]"],
        super::help,
    )
    .stays(),
    Command::new(
        &["clear", ".cls", "cls"],
        "clears the console",
        &["cls"],
        general::clear,
    )
    .stays(),
    Command::new(
        &[".connect", "connect"],
        "selects local VMI or connects to a remote HyperDbg over TCP",
        &[".connect local", ".connect [Ip (string)] [Port (decimal)]"],
        connection::connect,
    )
    .stays(),
    Command::new(
        &[".listen", "listen"],
        "waits for a TCP debugger and then executes whatever it sends",
        &[".listen [Port (decimal)]"],
        connection::listen,
    )
    .stays(),
    Command::new(
        &["g", "go"],
        "resumes the debuggee / resumes printing",
        &["g"],
        running::go_command,
    )
    .stays(),
    Command::new(
        &["cont", "continue"],
        "user-debugger continue",
        &["continue"],
        running::go_command,
    )
    .forwarded_running(),
    Command::new(&["gg"], "prints a fixed pleasantry", &["gg"], general::good_game).stays(),
    Command::new(
        &[".attach", "attach"],
        "attaches the user debugger to a pid",
        &[".attach [pid ProcessId (hex)]"],
        connection::start,
    )
    .forwarded_running(),
    Command::new(
        &[".detach", "detach"],
        "detaches from the current process",
        &[".detach"],
        connection::detach,
    )
    .forwarded_running(),
    Command::new(
        &[".start", "start"],
        "starts a program under the debugger",
        &[".start [path Path (string)] [Parameters (string)]"],
        connection::start,
    )
    .forwarded_running(),
    Command::new(
        &[".restart", "restart"],
        "kills and starts again the last .start target",
        &[".restart"],
        connection::start,
    )
    .forwarded_running(),
    Command::new(
        &[".switch", "switch"],
        "lists or selects debugged processes/threads",
        &[".switch [pid|tid Number (hex)]", ".switch list"],
        connection::switch,
    )
    .forwarded(),
    Command::new(
        &[".kill", "kill"],
        "terminates the debugged process",
        &[".kill"],
        connection::detach,
    )
    .forwarded(),
    Command::new(
        &["sleep"],
        "sleeps N milliseconds (hex)",
        &["sleep [Milliseconds (hex)]"],
        general::sleep,
    )
    .stays(),
    Command::new(
        &["event", "events"],
        "lists, enables, disables or clears events; sets short-circuiting",
        &[
            "events",
            "events [e|d|c all|EventNumber (hex)]",
            "events sc [on|off]",
        ],
        events::events,
    ),
    Command::new(
        &["setting", "settings", ".setting", ".settings"],
        "shows or changes settings (autounpause, autoflush, addressconversion, syntax)",
        &["settings [Option (string)] [Value (string)]"],
        general::settings,
    ),
    Command::new(
        &[".disconnect", "disconnect"],
        "leaves local VMI or the TCP session",
        &[".disconnect"],
        connection::disconnect,
    )
    .stays(),
    Command::new(
        &[".debug", "debug"],
        "connects to / becomes / closes a serial or named-pipe debuggee",
        &[
            ".debug remote serial [Baudrate (decimal)] [Port (string)] [pause]",
            ".debug remote namedpipe [Pipe (string)] [pause]",
            ".debug close",
        ],
        connection::debug,
    )
    .stays(),
    Command::new(
        &[".status"],
        "session kind of THIS HyperDbg",
        &[".status"],
        connection::status,
    )
    .stays(),
    Command::new(
        &["status"],
        "session kind of the remote HyperDbg",
        &["status"],
        connection::status,
    )
    .forwarded(),
    Command::new(
        &["load", ".load"],
        "installs the driver and loads a module (vmm, kd, trace, all)",
        &["load [vmm|kd|trace|all]"],
        connection::load,
    )
    .forwarded(),
    Command::new(
        &["exit", ".exit"],
        "unloads, closes and EXITS THE PROCESS",
        &["exit"],
        general::exit,
    )
    .stays(),
    Command::new(
        &["flush"],
        "drops queued kernel messages",
        &["flush"],
        general::flush,
    ),
    Command::new(
        &["ucpuid", "cpuid"],
        "executes CPUID on the target and decodes it",
        &["cpuid [Function (hex)] [SubFunction (hex)]"],
        register::cpuid_command,
    ),
    Command::new(
        &["pause", ".pause"],
        "stops printing kernel messages / halts the user-debugged process",
        &["pause"],
        running::pause_command,
    )
    .forwarded_running(),
    Command::new(
        &["unload"],
        "unloads modules; 'remove' also deletes the service",
        &["unload [vmm|kd|trace|all]", "unload remove all"],
        connection::unload,
    )
    .forwarded(),
    Command::new(
        &[".script", "script"],
        "runs a file of commands with $arg substitution",
        &[".script [File (string)] [Arguments (string)]"],
        general::script,
    )
    .stays(),
    Command::new(
        &["output"],
        "lists, creates, opens, closes event-forwarding sinks",
        &[
            "output",
            "output create [Name (string)] [file|namedpipe|tcp|module] [Value (string)]",
            "output [open|close] [Name (string)]",
        ],
        general::output,
    ),
    Command::new(
        &["print"],
        "evaluates an expression in the target and prints it",
        &["print [Expression (string)]"],
        general::print,
    ),
    Command::new(
        &["?", "eval", "evaluate"],
        "runs script statements once",
        &["? [Statements (string)]"],
        general::evaluate,
    ),
    Command::new(
        &[".logopen"],
        "appends output to a file",
        &[".logopen [File (string)]"],
        general::open_log,
    )
    .stays(),
    Command::new(
        &[".logclose"],
        "closes the log",
        &[".logclose"],
        general::close_log,
    )
    .stays(),
    Command::new(
        &[".pagein", "pagein"],
        "injects a page fault so that a page gets loaded",
        &[".pagein [Address (hex)]"],
        general::unsupported,
    ),
    Command::new(
        &["test", ".test"],
        "self tests and low-level toggles",
        &["test [query|trap-status|pool]", "test [breakpoint|trap] [on|off]"],
        general::test,
    ),
    Command::new(
        &["cpu"],
        "CPU vendor, brand and feature list",
        &["cpu"],
        general::cpu,
    )
    .forwarded(),
    Command::new(
        &["wrmsr"],
        "writes an MSR",
        &["wrmsr [Msr (hex)] [Value (hex)] [core Core (hex)]"],
        register::write_msr,
    )
    .forwarded(),
    Command::new(
        &["rdmsr"],
        "reads an MSR on one or all cores",
        &["rdmsr [Msr (hex)] [core Core (hex)]"],
        register::read_msr,
    )
    .forwarded(),
    Command::new(
        &["!va2pa"],
        "virtual to physical",
        &["!va2pa [Address (hex)] [pid ProcessId (hex)]"],
        tables::virtual_to_physical,
    ),
    Command::new(
        &["!pa2va"],
        "physical to virtual",
        &["!pa2va [Address (hex)] [pid ProcessId (hex)]"],
        tables::physical_to_virtual,
    ),
    Command::new(
        &[".formats", ".format"],
        "evaluates and shows a value in several bases",
        &[".formats [Expression (string)]"],
        general::formats,
    ),
    Command::new(
        &["!pte"],
        "page-table entries of an address",
        &["!pte [Address (hex)] [pid ProcessId (hex)]"],
        tables::pte,
    ),
    Command::new(
        &["~", "core"],
        "shows or changes the operating core",
        &["~", "~ [Core (hex)]"],
        register::core,
    ),
    Command::new(
        &["!apic", "!lapic", "!localapic"],
        "local APIC registers",
        &["!apic"],
        tables::local_apic,
    ),
    Command::new(
        &["!ioapic"],
        "I/O APIC redirection entries",
        &["!ioapic"],
        tables::io_apic,
    ),
    Command::new(
        &["!monitor"],
        "watches reads/writes/executes on an address range (EPT)",
        &[
            "!monitor [r|w|x] [From (hex)] [To (hex) | l Length (hex)] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!vmcall"],
        "reports VMCALL instructions",
        &[
            "!vmcall [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!epthook"],
        "hidden breakpoint (int3 under EPT)",
        &[
            "!epthook [Address (hex)] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["bp"],
        "sets an int3 breakpoint",
        &["bp [Address (hex)] [pid ProcessId (hex)] [tid ThreadId (hex)] [core Core (hex)]"],
        points::set_command,
    ),
    Command::new(&["bl"], "lists breakpoints", &["bl"], points::list),
    Command::new(
        &["be"],
        "enables a breakpoint id",
        &["be [BreakpointId (hex)]"],
        points::change,
    ),
    Command::new(
        &["bd"],
        "disables a breakpoint id",
        &["bd [BreakpointId (hex)]"],
        points::change,
    ),
    Command::new(
        &["bc"],
        "removes a breakpoint id",
        &["bc [BreakpointId (hex)]"],
        points::change,
    ),
    Command::new(
        &["!epthook2"],
        "hidden inline hook (detour)",
        &[
            "!epthook2 [Address (hex)] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!cpuid"],
        "reports CPUID executions",
        &[
            "!cpuid [Function (hex)] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!msrread", "!msread"],
        "reports RDMSR",
        &[
            "!msrread [Msr (hex)] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!msrwrite"],
        "reports WRMSR",
        &[
            "!msrwrite [Msr (hex)] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!tsc"],
        "reports RDTSC/RDTSCP",
        &[
            "!tsc [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!pmc"],
        "reports RDPMC",
        &[
            "!pmc [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!crwrite"],
        "reports CR0/CR4 writes",
        &[
            "!crwrite [0|4] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!dr"],
        "reports debug-register access",
        &[
            "!dr [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!ioin"],
        "reports IN port reads",
        &[
            "!ioin [Port (hex)] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!ioout", "!iout"],
        "reports OUT port writes",
        &[
            "!ioout [Port (hex)] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!exception"],
        "reports/filters the first 32 exceptions",
        &[
            "!exception [Vector (hex)] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!interrupt"],
        "reports external interrupts",
        &[
            "!interrupt [Vector (hex)] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!mode"],
        "traps user/kernel execution of one process",
        &[
            "!mode [u|k|ku] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!trace"],
        "traces instruction execution",
        &[
            "!trace [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!hide"],
        "enables transparent mode",
        &["!hide"],
        general::not_in_this_build,
    )
    .forwarded(),
    Command::new(
        &["!unhide"],
        "disables transparent mode",
        &["!unhide"],
        general::unhide,
    )
    .forwarded(),
    Command::new(
        &["!measure"],
        "deprecated, prints a notice",
        &["!measure"],
        general::not_in_this_build,
    )
    .forwarded(),
    Command::new(
        &["lm"],
        "lists user and kernel modules",
        &["lm [m Name (string)] [pid ProcessId (hex)] [um|km]"],
        objects::modules,
    )
    .forwarded(),
    Command::new(
        &["gu"],
        "steps until the function returns",
        &["gu [Count (hex)]"],
        running::go_up,
    )
    .repeats(),
    Command::new(
        &["r"],
        "shows or changes registers",
        &["r", "r [Register (string)] [= Expression (string)]"],
        register::registers,
    ),
    Command::new(
        &[".sympath", "sympath"],
        "shows or sets the symbol server path",
        &[".sympath", ".sympath [Server (string)]"],
        objects::symbol_path,
    ),
    Command::new(
        &[".sym", "sym"],
        "symbol table: table, load, reload, download, unload, add",
        &[".sym [table|load|reload|download|unload]"],
        objects::symbols,
    ),
    Command::new(
        &["x"],
        "finds symbols by wildcard",
        &["x [Pattern (string)]"],
        objects::examine,
    ),
    Command::new(
        &["prealloc", "preallocate", "preallocation"],
        "reserves kernel pools",
        &["prealloc [Type (string)] [Count (hex)]"],
        general::unsupported,
    )
    .forwarded(),
    Command::new(
        &["preactivate", "preactive", "preactivation"],
        "prepares the !mode trap",
        &["preactivate [Type (string)]"],
        general::unsupported,
    )
    .forwarded(),
    Command::new(
        &["struct", "structure"],
        "prints a type definition from PDB",
        &["struct [Type (string)]"],
        general::unsupported,
    ),
    Command::new(
        &[".pe"],
        "shows headers or sections of a PE file on the local disk",
        &[".pe [header|section] [File (string)]"],
        general::unsupported,
    )
    .forwarded(),
    Command::new(
        &["!rev", "rev"],
        "reversing-machine experiment",
        &["!rev"],
        general::unsupported,
    )
    .forwarded(),
    Command::new(
        &["!track", "track"],
        "records a call tree by instrumentation stepping",
        &["!track [Count (hex)]"],
        running::track,
    )
    .repeats(),
    Command::new(
        &["!pcitree", "!pcietree"],
        "lists PCI devices",
        &["!pcitree"],
        tables::pci,
    ),
    Command::new(
        &["!pcicam"],
        "PCI configuration space of one function",
        &["!pcicam [Bus (hex)] [Device (hex)] [Function (hex)]"],
        general::unsupported,
    ),
    Command::new(
        &["!idt"],
        "IDT handlers, all or one",
        &["!idt [Vector (hex)]"],
        tables::idt_command,
    ),
    Command::new(
        &["!smi"],
        "SMI count or trigger",
        &["!smi [count|trigger]"],
        tables::smi,
    ),
    Command::new(
        &["!lbr"],
        "enables, disables, flushes, filters LBR",
        &["!lbr [enable|disable|flush|filter]"],
        tables::lbr,
    )
    .forwarded(),
    Command::new(
        &["!lbrdump", "!lbrdmp", "!lbrprint"],
        "prints saved branch records",
        &["!lbrdump [core Core (hex)]"],
        tables::lbr_dump,
    ),
    Command::new(
        &["!pt"],
        "Intel PT control, run-and-trace, dump",
        &["!pt [enable|disable|pause|resume|size|flush|filter|packet]"],
        tables::pt,
    )
    .forwarded(),
    Command::new(
        &["!hw_clk", "!hw_clock", "!hwdbg_clock"],
        "hwdbg per-clock script",
        &["!hw_clk"],
        general::unsupported,
    )
    .forwarded(),
    Command::new(
        &["!hw"],
        "hwdbg script compile / evaluate",
        &["!hw"],
        general::unsupported,
    )
    .forwarded(),
    Command::new(
        &["!xsetbv"],
        "reports XSETBV",
        &[
            "!xsetbv [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["db", "!db"],
        "dumps memory as bytes + ASCII (! = physical)",
        &["db [Address (hex)] [l Length (hex)] [pid ProcessId (hex)]"],
        memory::view,
    ),
    Command::new(
        &["dc", "!dc"],
        "dumps memory as dwords + ASCII (! = physical)",
        &["dc [Address (hex)] [l Length (hex)] [pid ProcessId (hex)]"],
        memory::view,
    ),
    Command::new(
        &["dd", "!dd"],
        "dumps memory as dwords (! = physical)",
        &["dd [Address (hex)] [l Length (hex)] [pid ProcessId (hex)]"],
        memory::view,
    ),
    Command::new(
        &["dq", "!dq"],
        "dumps memory as qwords (! = physical)",
        &["dq [Address (hex)] [l Length (hex)] [pid ProcessId (hex)]"],
        memory::view,
    ),
    Command::new(
        &["dl", "!dl"],
        "walks a linked list (! = physical)",
        &["dl [Address (hex)] [o Offset (hex)] [l Count (hex)] [pid ProcessId (hex)]"],
        memory::list,
    ),
    Command::new(
        &["u", "u64", "!u", "!u64"],
        "disassembles x64 (! = physical)",
        &["u [Address (hex)] [l Length (hex)] [pid ProcessId (hex)]"],
        memory::view,
    ),
    Command::new(
        &["u2", "u32", "!u2", "!u32"],
        "disassembles x86 32-bit (! = physical)",
        &["u2 [Address (hex)] [l Length (hex)] [pid ProcessId (hex)]"],
        memory::view,
    ),
    Command::new(
        &["eb", "!eb"],
        "writes bytes to memory (! = physical)",
        &["eb [Address (hex)] [Contents (hex)] [pid ProcessId (hex)]"],
        memory::edit,
    ),
    Command::new(
        &["ed", "!ed"],
        "writes dwords to memory (! = physical)",
        &["ed [Address (hex)] [Contents (hex)] [pid ProcessId (hex)]"],
        memory::edit,
    ),
    Command::new(
        &["eq", "!eq"],
        "writes qwords to memory (! = physical)",
        &["eq [Address (hex)] [Contents (hex)] [pid ProcessId (hex)]"],
        memory::edit,
    ),
    Command::new(
        &["sb", "!sb"],
        "searches memory for bytes (! = physical)",
        &["sb [Address (hex)] [Contents (hex)] [l Length (hex)] [pid ProcessId (hex)]"],
        search::search,
    ),
    Command::new(
        &["sd", "!sd"],
        "searches memory for dwords (! = physical)",
        &["sd [Address (hex)] [Contents (hex)] [l Length (hex)] [pid ProcessId (hex)]"],
        search::search,
    ),
    Command::new(
        &["sq", "!sq"],
        "searches memory for qwords (! = physical)",
        &["sq [Address (hex)] [Contents (hex)] [l Length (hex)] [pid ProcessId (hex)]"],
        search::search,
    ),
    Command::new(
        &["k"],
        "call stack, calls only",
        &["k [base Address (hex)] [l Length (hex)]"],
        objects::stack,
    ),
    Command::new(
        &["kd"],
        "stack as dwords",
        &["kd [base Address (hex)] [l Length (hex)]"],
        objects::stack,
    ),
    Command::new(
        &["kq"],
        "stack as qwords",
        &["kq [base Address (hex)] [l Length (hex)]"],
        objects::stack,
    ),
    Command::new(
        &["!syscall"],
        "reports SYSCALL by page-table checks",
        &[
            "!syscall [Number (hex)] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!syscall2"],
        "reports SYSCALL by emulating #UD",
        &[
            "!syscall2 [Number (hex)] [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!sysret"],
        "reports SYSRET by page-table checks",
        &[
            "!sysret [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["!sysret2"],
        "reports SYSRET by emulating #UD",
        &[
            "!sysret2 [pid ProcessId (hex)] [core Core (hex)] [stage pre|post|all] [sc on|off] [imm yes|no] [script { Script }]",
        ],
        events::register,
    ),
    Command::new(
        &["p"],
        "step over, optional count (hex)",
        &["p [Count (hex)]"],
        running::step_command,
    )
    .repeats(),
    Command::new(
        &["pr"],
        "step over + registers, optional count (hex)",
        &["pr [Count (hex)]"],
        running::step_command,
    )
    .repeats(),
    Command::new(
        &["t"],
        "step in, optional count (hex)",
        &["t [Count (hex)]"],
        running::step_command,
    )
    .repeats(),
    Command::new(
        &["tr"],
        "step in + registers, optional count (hex)",
        &["tr [Count (hex)]"],
        running::step_command,
    )
    .repeats(),
    Command::new(
        &["i"],
        "instrumentation step in, optional count (hex)",
        &["i [Count (hex)]"],
        running::step_command,
    )
    .repeats(),
    Command::new(
        &["ir"],
        "instrumentation step in + registers, optional count (hex)",
        &["ir [Count (hex)]"],
        running::step_command,
    )
    .repeats(),
    Command::new(
        &[".process", "process"],
        "shows the current process, lists processes, or arranges a switch",
        &[".process [list]", ".process [pid ProcessId (hex)]"],
        objects::process,
    ),
    Command::new(
        &[".process2", "process2"],
        "as .process, switch armed through CR3 writes instead of clock interrupts",
        &[".process2 [list]", ".process2 [pid ProcessId (hex)]"],
        objects::process,
    ),
    Command::new(
        &[".thread", "thread"],
        "shows the current thread, lists threads, or arranges a switch",
        &[".thread [list]", ".thread [tid ThreadId (hex)]"],
        objects::thread,
    ),
    Command::new(
        &[".thread2", "thread2"],
        "as .thread with the alternative trap",
        &[".thread2 [list]", ".thread2 [tid ThreadId (hex)]"],
        objects::thread,
    ),
    Command::new(
        &["a"],
        "assembles text, optionally writing it to an address",
        &["a [Address (hex)] {Assembly (string)} [pid ProcessId (hex)]"],
        memory::assemble_command,
    ),
    Command::new(
        &["!a"],
        "assembles to a physical address",
        &["!a [Address (hex)] {Assembly (string)}"],
        memory::assemble_command,
    ),
    Command::new(
        &["asm", "assemble", "assembly", "!asm", "!assemble", "!assembly"],
        "registered spellings that the handler rejects",
        &["a [Address (hex)] {Assembly (string)}"],
        general::refused_spelling,
    ),
    Command::new(
        &[".dump", "dump"],
        "saves virtual memory to a file",
        &[".dump [From (hex)] [To (hex)] [path File (string)]"],
        memory::dump,
    ),
    Command::new(
        &["!dump"],
        "saves physical memory to a file",
        &["!dump [From (hex)] [To (hex)] [path File (string)]"],
        memory::dump,
    ),
    Command::new(
        &["dt", "!dt"],
        "shows a typed object from PDB",
        &["dt [Type (string)] [Address (hex)]"],
        general::unsupported,
    ),
    Command::new(
        &["!sim"],
        "causes a fault of the simulator",
        &["!sim [Fault (string)] [Milliseconds (decimal)]"],
        general::simulate,
    )
    .stays(),
];
