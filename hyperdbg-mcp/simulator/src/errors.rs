//! The debugger's error codes and their sentences.

use crate::console::Console;
use crate::say;

/// The status that means success. Zero does not.
pub const SUCCESS: u32 = 0xffff_ffff;

const FIRST: u32 = 0xc000_0000;

/// Codes that the simulator raises itself.
pub mod code {
    #![allow(missing_docs)]
    pub const TAG_NOT_FOUND: u32 = 0xc000_0000;
    pub const INVALID_ADDRESS: u32 = 0xc000_0005;
    pub const INVALID_CORE: u32 = 0xc000_0006;
    pub const EXCEPTION_VECTOR: u32 = 0xc000_0007;
    pub const INTERRUPT_VECTOR: u32 = 0xc000_0008;
    pub const ALREADY_HIDDEN: u32 = 0xc000_000a;
    pub const EDIT_PARAMETER: u32 = 0xc000_000b;
    pub const EDIT_ADDRESS: u32 = 0xc000_000c;
    pub const EDIT_ADDRESS_OTHER: u32 = 0xc000_000d;
    pub const EVENT_NOT_FOUND: u32 = 0xc000_000e;
    pub const NO_SUCH_CORE: u32 = 0xc000_0014;
    pub const SCRIPT: u32 = 0xc000_0016;
    pub const REGISTER_NUMBER: u32 = 0xc000_0017;
    pub const BREAKPOINT_EXISTS: u32 = 0xc000_0019;
    pub const BREAKPOINT_NOT_FOUND: u32 = 0xc000_001a;
    pub const BREAKPOINT_DISABLED: u32 = 0xc000_001b;
    pub const BREAKPOINT_ENABLED: u32 = 0xc000_001c;
    pub const MEMORY_TYPE: u32 = 0xc000_001d;
    pub const PROCESS_ID: u32 = 0xc000_001e;
    pub const PROCESS_SWITCH: u32 = 0xc000_0020;
    pub const THREAD_SWITCH: u32 = 0xc000_0021;
    pub const ATTACH: u32 = 0xc000_002a;
    pub const READ_PARAMETER: u32 = 0xc000_003c;
    pub const PID_IN_DEBUGGER_MODE: u32 = 0xc000_0040;
    pub const PHYSICAL_ADDRESS: u32 = 0xc000_0052;
    pub const NOT_HIDDEN: u32 = 0xc000_0054;
    pub const SMI_PARAMETER: u32 = 0xc000_0057;
    pub const SMI_FAILED: u32 = 0xc000_0058;
    pub const TRACE_NOT_LOADED: u32 = 0xc000_005a;
    pub const TRACE_OPERATION: u32 = 0xc000_005b;
    pub const LBR_ON: u32 = 0xc000_005c;
    pub const LBR_OFF: u32 = 0xc000_005d;
    pub const PT_ON: u32 = 0xc000_0060;
    pub const PT_OFF: u32 = 0xc000_0061;
}

/// Sentences by code, from the first code on.
const SENTENCES: &[&str] = &[
    "no event with that number is registered",
    "the request to add an action to an event named an unknown action kind",
    "the action (script or code) of the event arrived empty",
    "the kernel side does not know this kind of event",
    "the event object could not be allocated or filled",
    "the virtual address is not mapped or not present in the memory layout used (current CR3)",
    "the core number is beyond the processors of the target",
    "!exception accepts vectors 0 to 0x1f only",
    "!interrupt accepts vectors 0x20 to 0xff only",
    "transparent mode could not be switched",
    "transparent mode is already on",
    "a write request had inconsistent parameters (size, type or pid)",
    "write target not mapped or not present in the current process layout",
    "write target not valid in the layout of the named process",
    "enable/disable/clear named an event number the kernel does not have",
    "the change requested for an event is not enable, disable, clear or query",
    "a step request was malformed",
    "the thread to step is gone or no longer intercepted",
    "serial speed not supported",
    "COM port address not one of COM1..COM4",
    "core switch asked for a core the debuggee does not have",
    "the debuggee could not arrange the process switch",
    "the debuggee could not run the script buffer",
    "register id is not in the supported set",
    "all pre-allocated breakpoint records are used since the last continue",
    "a breakpoint is already there",
    "unknown breakpoint number",
    "breakpoint is disabled already",
    "breakpoint is enabled already",
    "memory kind is neither virtual nor physical",
    "no such process, or the number was given in decimal",
    "the event was accepted but its special requirement failed, so it is inactive",
    "process details or switch could not be resolved from the given pid/_EPROCESS",
    "thread details or switch could not be resolved",
    "too many hidden breakpoints in one page",
    "the pool for this kind of hook is used up",
    "a 2 MB EPT page could not be split, often because pools are empty",
    "no EPT entry for that physical address",
    "a conflicting hook or monitor already covers the page",
    "the detour or hidden hook could not be built at that address",
    "prealloc named an unknown pool",
    "unknown test sub-request",
    "user debugger could not attach",
    "the started program has not reached its entrypoint; the library polls on this code",
    "entrypoint hooks could not be removed",
    "kernel routines needed to find the PEB were not resolved",
    "bitness of the process unknown",
    "termination failed",
    "the debugging token no longer matches an attached process",
    "threads could not be intercepted",
    "already attached to it",
    "not attached",
    "some threads are still halted",
    "pid/tid not among the attached ones",
    "process has no intercepted thread now",
    "user modules could not be read",
    "stack could not be read",
    "list walk failed, usually wrong offsets",
    "short-circuiting cannot be combined with the post stage",
    "debuggee got a test request it does not know",
    "read request with bad pid, address 0 or size 0",
    "too many threads/processes are being single-stepped",
    "process is gone already",
    "!mode got something other than u, k or ku",
    "in a halted debugger-mode session a pid option is not allowed",
    "event plus condition exceed the reserved buffer",
    "no regular event buffer left",
    "event needs a big buffer and none is reserved (default 0)",
    "action buffer could not be allocated",
    "no regular action buffer left",
    "action needs a big buffer and none is reserved",
    "script/code larger than the reserved action buffer",
    "buffer option larger than one packet can carry",
    "no regular safe buffer reserved for the buffer option",
    "no big safe buffer reserved",
    "requested safe buffer larger than the reserved one",
    "safe buffer allocation failed",
    "preactivate named an unknown service",
    "!mode in debugger mode needs preparation",
    "events are disabled but the queue for clearing them is full",
    "not every core is halted (race); applying would hang the machine",
    "target core is not halted (race)",
    "physical address outside the supported range",
    "APIC could not be read",
    "transparent mode is not on",
    "user debugger failed to initialise",
    "hook address above 512 GB physical",
    "SMI request type unknown",
    "SMI did not fire, typical in a VM",
    "user-debugger command could not be delivered to the thread",
    "trace module not loaded",
    "unknown LBR/PT request",
    "LBR is on already",
    "LBR is off",
    "CPU or VM does not expose LBR",
    "LBR controls are missing in the VMCS",
    "intel PT is on already",
    "intel PT is off",
    "CPU or VM without Intel PT",
    "vmm must be loaded before trace",
    "vmm needs the debugger part",
    "debugger part failed to start",
];

/// The sentence of a code, if it is one.
#[must_use]
pub fn sentence(code: u32) -> Option<&'static str> {
    SENTENCES.get(code.checked_sub(FIRST)? as usize).copied()
}

/// Prints `err, SENTENCE (CODE)`.
pub fn show(console: &Console, code: u32) {
    let sentence = sentence(code).unwrap_or("an error without a name");
    say!(console, "err, {sentence} ({code:x})\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_sentence() {
        for code in 0xc000_0000_u32..=0xc000_0065 {
            assert!(sentence(code).is_some_and(|text| !text.is_empty()), "{code:x}");
        }
        assert_eq!(sentence(0xc000_0066), None);
        assert_eq!(sentence(SUCCESS), None);
        assert_eq!(sentence(0), None);
    }
}
