//! The exports as a C caller sees them: one global session, raw pointers.

#![allow(clippy::expect_used, reason = "a test may fail anywhere")]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every call keeps the contract that its export documents"
)]

use core::ffi::{CStr, c_char, c_int};
use hyperdbg_simulator::generated::*;
use hyperdbg_sys::*;
use std::ffi::CString;
use std::sync::{Mutex, MutexGuard};

static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The session is global: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    let guard = LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    unsafe {
        hyperdbg_u_set_text_message_callback(receive as *mut _);
        hyperdbg_u_debug_close_remote_debugger();
        hyperdbg_u_unload_all_modules();
        hyperdbg_u_uninstall_kd_driver();
        run(".disconnect");
    }
    take();
    guard
}

unsafe extern "C" fn receive(text: *const c_char) -> c_int {
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    TEXT.lock().expect("text").extend(bytes);
    0
}

fn take() -> String {
    String::from_utf8_lossy(&std::mem::take(&mut *TEXT.lock().expect("text"))).into_owned()
}

fn c(text: &str) -> CString {
    CString::new(text).expect("no NUL")
}

fn run(command: &str) -> String {
    take();
    let command = c(command);
    unsafe { hyperdbg_u_run_command(command.as_ptr().cast_mut()) };
    take()
}

fn debugger() {
    let pipe = c("\\\\.\\pipe\\test");
    assert_eq!(
        unsafe { hyperdbg_u_connect_remote_debugger_using_named_pipe(pipe.as_ptr(), 1) },
        1
    );
    take();
}

fn read(address: u64, size: u32, kind: DEBUGGER_READ_MEMORY_TYPE, pid: u32) -> (u8, u32, Vec<u8>) {
    let mut buffer = vec![0xee; size as usize];
    let (mut length, mut mode) = (0xdead, DEBUGGER_READ_MEMORY_ADDRESS_MODE(7));
    let result = unsafe {
        hyperdbg_u_read_memory(
            address,
            kind,
            DEBUGGER_READ_READING_TYPE(0),
            pid,
            size,
            1,
            &raw mut mode,
            buffer.as_mut_ptr(),
            &raw mut length,
        )
    };
    (result, length, buffer)
}

const VIRTUAL: DEBUGGER_READ_MEMORY_TYPE = DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_VIRTUAL_ADDRESS;
const PHYSICAL: DEBUGGER_READ_MEMORY_TYPE = DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_PHYSICAL_ADDRESS;
const KERNEL: u64 = 0xffff_f803_3000_0000;

#[test]
fn every_export_is_found_by_its_name() {
    let found = lookup(c"hyperdbg_u_run_command").expect("export");
    assert_eq!(
        found.as_ptr() as usize,
        hyperdbg_u_run_command as *const () as usize
    );
    assert!(lookup(c"hyperdbg_u_nothing").is_none());
    let version = unsafe { CStr::from_ptr(hyperdbg_simulator::api::hyperdbg_simulator_version()) };
    assert!(version.to_str().expect("text").starts_with("hyperdbg-simulator "));
}

#[test]
fn without_a_driver_calls_fail_and_leave_buffers_alone() {
    let _guard = alone();
    assert_eq!(read(KERNEL, 4, VIRTUAL, 4), (0, 0xdead, vec![0xee; 4]));
    assert!(take().contains("'load kd'"));
    let mut registers = GUEST_REGS::zeroed();
    registers.rax = 7;
    unsafe {
        assert_eq!(
            hyperdbg_u_read_all_registers(&raw mut registers, std::ptr::null_mut()),
            0
        );
        assert_eq!(registers.rax, 7);
        assert!(take().ends_with("(0)\n"));
        assert_eq!(hyperdbg_u_write_target_register(REGS_ENUM(0), 1), 0);
        assert_eq!(hyperdbg_u_set_breakpoint(KERNEL, u32::MAX, u32::MAX, u32::MAX), 0);
        assert_eq!(hyperdbg_u_stepping_regular_step_in(), 0);
        assert_eq!(
            hyperdbg_u_unload_all_modules(),
            0,
            "nothing is loaded, and that is success"
        );
        assert_eq!(hyperdbg_u_load_kd_module(), 1, "the driver is not installed");
        assert_eq!(hyperdbg_u_request_cpuid(0, 0), 1, "always 1");
        assert_eq!(hyperdbg_u_get_kernel_base(), KERNEL);
    }
}

#[test]
fn memory_registers_and_breakpoints_work_in_debugger_mode() {
    let _guard = alone();
    debugger();
    let (result, length, bytes) = read(KERNEL, 4, VIRTUAL, 0);
    assert_eq!((result, length, &bytes[..]), (1, 4, &b"MZ\x90\0"[..]));
    assert_eq!(read(KERNEL + 0x1000, 4, VIRTUAL, 0), (0, 0xdead, vec![0xee; 4]));
    assert!(take().ends_with("(c0000005)\n"));
    assert_eq!(read(0xffff_ffff_f000, 4, PHYSICAL, 0).0, 0);
    assert!(take().ends_with("(c0000052)\n"));
    assert_eq!(read(KERNEL, 4, DEBUGGER_READ_MEMORY_TYPE(9), 0).0, 0);
    assert!(take().ends_with("(c000001d)\n"));
    let mut source = [1_u8, 2, 3];
    unsafe {
        // The pool: a place that nobody reads.
        let target = 0xffff_b08f_401f_0000_u64 as *mut core::ffi::c_void;
        let kind = DEBUGGER_EDIT_MEMORY_TYPE::EDIT_VIRTUAL_MEMORY;
        assert_eq!(
            hyperdbg_u_write_memory(target, kind, 0, source.as_mut_ptr().cast(), 3),
            1
        );
        assert_eq!(read(0xffff_b08f_401f_0000, 3, VIRTUAL, 0).2, source);
        let mut extra = GUEST_EXTRA_REGISTERS::zeroed();
        let mut registers = GUEST_REGS::zeroed();
        assert_eq!(
            hyperdbg_u_read_all_registers(&raw mut registers, &raw mut extra),
            1
        );
        assert_eq!(extra.CS, 0x10);
        assert!(extra.RIP > KERNEL);
        let mut rsp = 0;
        assert_eq!(hyperdbg_u_read_target_register(REGS_ENUM(20), &raw mut rsp), 1);
        assert_eq!(rsp, registers.rsp);
        assert_eq!(hyperdbg_u_write_target_register(REGS_ENUM(0), 0x1234), 1);
        assert_eq!(hyperdbg_u_show_target_register(REGS_ENUM(0)), 1);
        assert_eq!(take(), "rax=0000000000001234\n");
        assert_eq!(hyperdbg_u_read_target_register(REGS_ENUM(120), &raw mut rsp), 0);
        assert!(take().ends_with("(c0000017)\n"));
        assert_eq!(
            hyperdbg_u_set_breakpoint(KERNEL + 0x20_1000, u32::MAX, u32::MAX, u32::MAX),
            1
        );
        hyperdbg_u_continue_debuggee();
        assert!(take().contains("breakpoint 0x1 hit\n"));
        assert_eq!(hyperdbg_u_stepping_step_over(), 1);
        assert_eq!(
            hyperdbg_u_set_breakpoint(KERNEL + 0x20_1000, u32::MAX, u32::MAX, u32::MAX),
            1,
            "answered"
        );
        assert!(take().ends_with("(c0000019)\n"), "and rejected");
        assert_eq!(hyperdbg_u_debug_close_remote_debugger(), 1);
        assert_eq!(hyperdbg_u_debug_close_remote_debugger(), 0);
    }
}

#[test]
fn local_reads_are_short_at_a_hole_and_need_a_process() {
    let _guard = alone();
    unsafe {
        hyperdbg_u_connect_local_debugger();
        assert_eq!(hyperdbg_u_install_kd_driver(), 0);
        assert_eq!(hyperdbg_u_load_vmm(), 0);
        assert_eq!(hyperdbg_u_is_any_module_loaded(), 1);
    }
    take();
    let (result, length, bytes) = read(KERNEL + 0xffc, 8, VIRTUAL, std::process::id());
    assert_eq!((result, length), (1, 4));
    assert_eq!(&bytes[4..], [0xee; 4], "the rest is untouched");
    let (result, length, _) = read(KERNEL + 0x1000, 8, VIRTUAL, 4);
    assert_eq!((result, length), (1, 0));
    assert_eq!(read(KERNEL, 8, VIRTUAL, 0x9999).0, 0);
    assert!(take().ends_with("(c000003c)\n"));
}

#[test]
fn expressions_give_a_value_or_an_error_with_a_stale_one() {
    let _guard = alone();
    let mut error = 9;
    let evaluate = |text: &str, error: &mut u8| {
        let text = c(text);
        unsafe { hyperdbg_u_eval_expression(text.as_ptr().cast_mut(), error) }
    };
    assert_eq!((evaluate("10", &mut error), error), (16, 0));
    assert_eq!((evaluate("0n10 + 1", &mut error), error), (11, 0));
    assert_eq!(
        (evaluate("1 +", &mut error), error),
        (11, 1),
        "the value of the last success"
    );
    assert!(take().contains("Syntax Error: "));
    assert_eq!((evaluate("1);print(5", &mut error), error), (1, 0));
    assert_eq!(take(), "5\n");
    // With nothing attached the memory is this process's own.
    let secret = 0x1122_3344_5566_7788_u64;
    let address = &raw const secret;
    assert_eq!(evaluate(&format!("dq({:x})", address as u64), &mut error), secret);
    debugger();
    assert_eq!((evaluate("poi(1)", &mut error), error), (secret, 1));
    let script = c("print(@rip);");
    assert_eq!(unsafe { hyperdbg_u_run_script(script.as_ptr().cast_mut(), 1) }, 1);
    let text = take();
    let rip = text.lines().last().map(|line| u64::from_str_radix(line, 16));
    assert!(rip.is_some_and(|rip| rip.is_ok_and(|rip| rip > KERNEL)), "{text}");
}

#[test]
fn records_of_the_hardware_are_filled() {
    let _guard = alone();
    debugger();
    unsafe {
        let mut idt = INTERRUPT_DESCRIPTOR_TABLE_ENTRIES_PACKETS::zeroed();
        assert_eq!(hyperdbg_u_get_idt_entry(&raw mut idt), 1);
        assert_eq!(
            (idt.KernelStatus, idt.IdtEntry[14]),
            (u32::MAX, KERNEL + 0x20_0640)
        );
        let mut apic = LAPIC_PAGE::zeroed();
        let mut x2apic = 9;
        assert_eq!(hyperdbg_u_get_local_apic(&raw mut apic, &raw mut x2apic), 1);
        assert_eq!((apic.Version, apic.LvtTimer, x2apic), (0x5_0014, 0xd1, 0));
        let mut io_apic = IO_APIC_ENTRY_PACKETS::zeroed();
        assert_eq!(hyperdbg_u_get_io_apic(&raw mut io_apic), 1);
        assert_eq!((io_apic.IoLl >> 16) & 0xff, 23);
        let mut smi = SMI_OPERATION_PACKETS::zeroed();
        assert_eq!(hyperdbg_u_perform_smi_operation(&raw mut smi), 1);
        assert_eq!(smi.KernelStatus, u32::MAX);
        let mut lbr = HYPERTRACE_LBR_DUMP_PACKETS::zeroed();
        assert_eq!(hyperdbg_u_lbr_dump(&raw mut lbr), 1);
        assert_eq!(lbr.KernelStatus, 0xc000_005d, "it is off");
        run("!lbr enable");
        run("t 10");
        assert_eq!(hyperdbg_u_lbr_dump(&raw mut lbr), 1);
        assert_eq!((lbr.KernelStatus, lbr.NextCoreIsValid), (u32::MAX, 1));
        assert!(lbr.LbrStack.BranchEntry[0].From > KERNEL);
        lbr.CoreId = 1;
        hyperdbg_u_lbr_dump(&raw mut lbr);
        assert_eq!(lbr.NextCoreIsValid, 0);
        let mut pt = HYPERTRACE_PT_OPERATION_PACKETS::zeroed();
        hyperdbg_u_pt_operation(&raw mut pt);
        assert_eq!(pt.KernelStatus, u32::MAX);
        hyperdbg_u_pt_operation(&raw mut pt);
        assert_eq!(pt.KernelStatus, 0xc000_0060);
        pt.PtOperationType = HYPERTRACE_PT_OPERATION_REQUEST_TYPE(1);
        hyperdbg_u_pt_operation(&raw mut pt);
        run("!lbr disable");
    }
}

#[test]
fn assembling_gives_length_then_bytes() {
    let _guard = alone();
    let code = c("mov rax, rbx; ret");
    let mut length = 0;
    unsafe {
        assert_eq!(
            hyperdbg_u_assemble_get_length(code.as_ptr(), 0x1000, &raw mut length),
            1
        );
        assert_eq!(length, 4);
        let mut bytes = [0_u8; 4];
        assert_eq!(
            hyperdbg_u_assemble(code.as_ptr(), 0x1000, bytes.as_mut_ptr().cast(), 4),
            1
        );
        assert_eq!(bytes, [0x48, 0x89, 0xd8, 0xc3]);
        assert_eq!(
            hyperdbg_u_assemble(code.as_ptr(), 0x1000, bytes.as_mut_ptr().cast(), 3),
            0,
            "it does not fit"
        );
    }
}

#[test]
fn the_parser_can_be_asked() {
    let _guard = alone();
    unsafe {
        let command = c("bp 0x10 {x}");
        hyperdbg_u_test_command_parser_show_tokens(command.as_ptr().cast_mut());
        let text = take();
        assert!(text.contains("CommandParsingTokenType: BracketString"), "{text}");
        let expected = [c("bp"), c("10"), c("y")];
        let mut list: Vec<*mut c_char> = expected.iter().map(|word| word.as_ptr().cast_mut()).collect();
        let (mut token, mut position) = (9, 9);
        let result = hyperdbg_u_test_command_parser(
            command.as_ptr().cast_mut(),
            3,
            list.as_mut_ptr(),
            &raw mut token,
            &raw mut position,
        );
        assert_eq!((result, token, position), (0, 2, 0));
        let open = c("!syscall script {");
        assert_eq!(hyperdbg_u_check_multiline_command(open.as_ptr().cast_mut(), 1), 1);
        let close = c("}");
        assert_eq!(
            hyperdbg_u_check_multiline_command(close.as_ptr().cast_mut(), 0),
            0
        );
    }
}

#[test]
fn the_shared_buffer_form_puts_text_there_first() {
    static BUFFER: Mutex<usize> = Mutex::new(0);
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    unsafe extern "C" fn notice() -> c_int {
        let buffer = *BUFFER.lock().expect("buffer") as *const c_char;
        let text = unsafe { CStr::from_ptr(buffer) }.to_string_lossy().into_owned();
        SEEN.lock().expect("seen").push(text);
        0
    }
    let _guard = alone();
    unsafe {
        let buffer = hyperdbg_u_set_text_message_callback_using_shared_buffer(notice as *mut _);
        *BUFFER.lock().expect("buffer") = buffer as usize;
        hyperdbg_u_show_signature();
        hyperdbg_u_unset_text_message_callback();
    }
    assert_eq!(*SEEN.lock().expect("seen"), ["HyperDbg> "]);
}

#[test]
fn misleading_returns_are_kept() {
    let _guard = alone();
    unsafe {
        let (ip, port, bad) = (c("10.0.0.1"), c("50000"), c("70000"));
        assert_eq!(
            hyperdbg_u_connect_remote_debugger(ip.as_ptr(), port.as_ptr()),
            1,
            "refused, and yet 1"
        );
        assert_eq!(take(), "unable to connect to the server\n");
        assert_eq!(hyperdbg_u_connect_remote_debugger(ip.as_ptr(), bad.as_ptr()), 0);
        assert_eq!(take(), "", "a bad port is refused without a word");
        let com = c("com1");
        assert_eq!(
            hyperdbg_u_connect_remote_debugger_using_com_port(com.as_ptr(), 123, 1),
            0
        );
        assert_eq!(
            hyperdbg_u_connect_current_debugger_using_com_port(com.as_ptr(), 115_200),
            0
        );
    }
    run("!sim wrong-return");
    assert_eq!(
        read(KERNEL, 4, VIRTUAL, 4),
        (1, 0xdead, vec![0xee; 4]),
        "claimed, and nothing done"
    );
    run("!sim wrong-return");
    debugger();
    run("!sim short-read");
    let (result, length, bytes) = read(KERNEL, 4, VIRTUAL, 0);
    assert_eq!((result, length, &bytes[..]), (1, 2, &b"MZ\xee\xee"[..]));
    run("!sim short-read");
}
