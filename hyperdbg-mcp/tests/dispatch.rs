//! Typed calls reach C as C expects them, and come back as they should: against functions of this program.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::ffi::{CStr, c_char, c_void};
use std::sync::Mutex;

use hyperdbg_mcp::generated::{
    AssembleArgs, Call, DispatchError, PtOperationArgs, ReadMemoryArgs, ReadVendorStringArgs, Reply,
    RunCommandArgs, ShowMemoryOrDisassembleArgs, StartProcessWithArgsArgs, WriteMemoryArgs, dispatch,
};
use hyperdbg_sys::*;

/// What the functions below saw.
static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn saw(text: String) {
    SEEN.lock().unwrap().push(text);
}

fn call(exports: &Exports, call: Call) -> Result<Reply, DispatchError> {
    // SAFETY: the table holds functions of this file, which take what the prototypes say.
    unsafe { dispatch(exports, &Layout::default(), call) }
}

fn refusal(exports: &Exports, made: Call) -> String {
    match call(exports, made) {
        Err(DispatchError::BadArgument { param, why, .. }) => format!("{param}: {why}"),
        other => panic!("not refused: {other:?}"),
    }
}

unsafe extern "C" fn run_command(command: *mut c_char) -> i32 {
    // SAFETY: the caller passes a terminated string.
    let text = unsafe { CStr::from_ptr(command) };
    saw(format!("run {text:?}"));
    // The library may write into its argument: the copy is its own.
    // SAFETY: the string has at least its terminator.
    unsafe { command.write(0) };
    -3
}

#[test]
fn a_string_arrives_terminated_and_a_nul_inside_is_refused() {
    let exports = Exports {
        hyperdbg_u_run_command: Some(run_command),
        ..Exports::default()
    };
    let command = |text: &[u8]| {
        Call::RunCommand(RunCommandArgs {
            command: text.to_vec(),
        })
    };
    let Ok(Reply::RunCommand(reply)) = call(&exports, command(b"lm m nt")) else {
        panic!("another reply")
    };
    assert_eq!(reply.returned, -3);
    assert!(SEEN.lock().unwrap().contains(&"run \"lm m nt\"".to_owned()));
    assert!(refusal(&exports, command(b"lm\0exit")).starts_with("command: it holds a NUL"));
}

#[test]
fn a_missing_export_is_named() {
    let made = call(
        &Exports::default(),
        Call::RunCommand(RunCommandArgs { command: Vec::new() }),
    );
    assert_eq!(made, Err(DispatchError::MissingExport("hyperdbg_u_run_command")));
}

unsafe extern "C" fn read_memory(
    address: u64,
    memory_type: DEBUGGER_READ_MEMORY_TYPE,
    _reading_type: DEBUGGER_READ_READING_TYPE,
    pid: u32,
    size: u32,
    want: u8,
    mode: *mut DEBUGGER_READ_MEMORY_ADDRESS_MODE,
    buffer: *mut u8,
    count: *mut u32,
) -> u8 {
    assert_eq!(
        (address, memory_type.0, pid, want),
        (0xffff_8000_0000_1000, 1, 4, 1)
    );
    // SAFETY: the pointers are to one value each, and to `size` bytes.
    unsafe {
        *mode = DEBUGGER_READ_MEMORY_ADDRESS_MODE(1);
        assert_eq!(
            std::slice::from_raw_parts(buffer, size as usize),
            vec![0; size as usize]
        );
        buffer.write_bytes(0xab, 3);
        *count = if size == 16 { 3 } else { u32::MAX };
    }
    1
}

#[test]
fn an_output_buffer_is_cut_to_what_was_written_and_never_grows() {
    let exports = Exports {
        hyperdbg_u_read_memory: Some(read_memory),
        ..Exports::default()
    };
    let read = |size| {
        Call::ReadMemory(ReadMemoryArgs {
            address: 0xffff_8000_0000_1000,
            memory_type: DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_VIRTUAL_ADDRESS,
            pid: 4,
            size,
            want_address_mode: true,
        })
    };
    let Ok(Reply::ReadMemory(reply)) = call(&exports, read(16)) else {
        panic!("another reply")
    };
    assert_eq!(
        (reply.returned, reply.bytes, reply.bytes_read),
        (1, vec![0xab; 3], 3)
    );
    assert_eq!(reply.address_mode, DEBUGGER_READ_MEMORY_ADDRESS_MODE(1));
    let Ok(Reply::ReadMemory(reply)) = call(&exports, read(8)) else {
        panic!("another reply")
    };
    assert_eq!(
        reply.bytes.len(),
        8,
        "a count past the buffer is the library's mistake"
    );
    assert_eq!(refusal(&exports, read(0)), "size: 0 is not within 1 and 81844");
    assert_eq!(
        refusal(&exports, read(81_845)),
        "size: 81845 is not within 1 and 81844"
    );
}

unsafe extern "C" fn write_memory(
    destination: *mut c_void,
    memory_type: DEBUGGER_EDIT_MEMORY_TYPE,
    _pid: u32,
    source: *mut c_void,
    count: u32,
) -> u8 {
    // SAFETY: the pointer is to `count` bytes.
    let bytes = unsafe { std::slice::from_raw_parts(source.cast::<u8>(), count as usize) };
    assert_eq!(
        (destination.addr(), memory_type.0, bytes),
        (0x1234_5678_9abc, 0, &[1u8, 2, 3][..])
    );
    0
}

#[test]
fn input_bytes_bring_their_length() {
    let exports = Exports {
        hyperdbg_u_write_memory: Some(write_memory),
        ..Exports::default()
    };
    let write = |bytes, memory_type| {
        Call::WriteMemory(WriteMemoryArgs {
            address: 0x1234_5678_9abc,
            memory_type,
            pid: 4,
            bytes,
        })
    };
    let virtual_memory = DEBUGGER_EDIT_MEMORY_TYPE::EDIT_VIRTUAL_MEMORY;
    assert!(call(&exports, write(vec![1, 2, 3], virtual_memory)).is_ok());
    let refused = refusal(&exports, write(vec![0; 1 << 20], virtual_memory));
    assert!(refused.starts_with("bytes: it has 1048576 bytes"), "{refused}");
    assert_eq!(
        refusal(&exports, write(vec![1], DEBUGGER_EDIT_MEMORY_TYPE(7))),
        "memory_type: DEBUGGER_EDIT_MEMORY_TYPE(7) is not offered"
    );
}

unsafe extern "C" fn read_vendor_string(buffer: *mut c_char) {
    // SAFETY: the buffer has room for thirteen bytes.
    unsafe { std::ptr::copy_nonoverlapping(c"GenuineIntel".as_ptr(), buffer, 13) };
}

#[test]
fn an_output_string_ends_at_its_terminator() {
    let exports = Exports {
        hyperdbg_u_read_vendor_string: Some(read_vendor_string),
        ..Exports::default()
    };
    let made = Call::ReadVendorString(ReadVendorStringArgs {});
    let Ok(Reply::ReadVendorString(reply)) = call(&exports, made) else {
        panic!("another reply")
    };
    assert_eq!(reply.vendor, b"GenuineIntel");
}

unsafe extern "C" fn start_process(path: *const u16, arguments: *const u16) -> u8 {
    let units = |text: *const u16| {
        // SAFETY: both strings are terminated.
        unsafe {
            let length = (0..).take_while(|at| *text.add(*at) != 0).count();
            String::from_utf16(std::slice::from_raw_parts(text, length)).unwrap()
        }
    };
    saw(format!("start {} with {}", units(path), units(arguments)));
    1
}

#[test]
fn wide_strings_are_utf_16() {
    let exports = Exports {
        hyperdbg_u_start_process_with_args: Some(start_process),
        ..Exports::default()
    };
    let made = Call::StartProcessWithArgs(StartProcessWithArgsArgs {
        path: "c:\\grün.exe".encode_utf16().collect(),
        command_line: "-a".encode_utf16().collect(),
    });
    assert!(call(&exports, made).is_ok());
    let seen = SEEN.lock().unwrap();
    assert!(
        seen.contains(&"start c:\\grün.exe with -a".to_owned()),
        "{seen:?}"
    );
}

unsafe extern "C" fn pt_operation(packet: *mut HYPERTRACE_PT_OPERATION_PACKETS) -> u8 {
    // SAFETY: the pointer is to one record, aligned.
    let packet = unsafe { &mut *packet };
    assert_eq!(packet.PtOperationType.0, 7);
    assert_eq!(
        (
            packet.BufferSize,
            packet.EnableOptions.Pid,
            packet.EnableOptions.Cr3
        ),
        (4096, 9, 0x1000)
    );
    assert_eq!(
        (
            packet.FilterOptions.TraceUser(),
            packet.FilterOptions.TraceKernel()
        ),
        (1, 0)
    );
    assert_eq!((packet.KernelStatus, packet.CoreId, packet.NumCpus), (0, 0, 0));
    packet.KernelStatus = 0xffff_ffff;
    packet.BytesPerCpu[63] = 5;
    1
}

#[test]
fn a_record_is_zeroed_then_set_and_comes_back_whole() {
    let exports = Exports {
        hyperdbg_u_pt_operation: Some(pt_operation),
        ..Exports::default()
    };
    let operate = |operation| {
        Call::PtOperation(PtOperationArgs {
            operation,
            buffer_bytes: 4096,
            pid: 9,
            cr3: 0x1000,
            trace_user: true,
            trace_kernel: false,
        })
    };
    let filter = HYPERTRACE_PT_OPERATION_REQUEST_TYPE::HYPERTRACE_PT_OPERATION_REQUEST_TYPE_FILTER;
    let Ok(Reply::PtOperation(reply)) = call(&exports, operate(filter)) else {
        panic!("another reply")
    };
    let packet = reply.pt.get();
    assert_eq!((packet.KernelStatus, packet.BytesPerCpu[63]), (0xffff_ffff, 5));
    let excluded = HYPERTRACE_PT_OPERATION_REQUEST_TYPE::HYPERTRACE_PT_OPERATION_REQUEST_TYPE_PACKET;
    assert_eq!(
        refusal(&exports, operate(excluded)),
        "operation: packet is not offered"
    );
}

unsafe extern "C" fn show_memory(
    _style: DEBUGGER_SHOW_MEMORY_STYLE,
    _address: u64,
    _memory_type: DEBUGGER_READ_MEMORY_TYPE,
    _reading_type: DEBUGGER_READ_READING_TYPE,
    _pid: u32,
    _size: u32,
    options: *mut DEBUGGER_DT_COMMAND_OPTIONS,
) {
    assert!(options.is_null());
}

#[test]
fn a_constant_null_is_passed_and_steps_are_kept() {
    let exports = Exports {
        hyperdbg_u_show_memory_or_disassemble: Some(show_memory),
        ..Exports::default()
    };
    let show = |size| {
        Call::ShowMemoryOrDisassemble(ShowMemoryOrDisassembleArgs {
            style: DEBUGGER_SHOW_MEMORY_STYLE::DEBUGGER_SHOW_COMMAND_DB,
            address: 0x1000,
            memory_type: DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_VIRTUAL_ADDRESS,
            pid: 4,
            size,
        })
    };
    assert!(call(&exports, show(32)).is_ok());
    assert_eq!(refusal(&exports, show(33)), "size: 33 is not a multiple of 16");
}

unsafe extern "C" fn assemble(code: *const c_char, _start: u64, buffer: *mut c_void, size: u32) -> u8 {
    // SAFETY: a terminated string, and `size` bytes.
    unsafe {
        assert_eq!(CStr::from_ptr(code), c"ret");
        buffer.cast::<u8>().write_bytes(0xc3, size as usize);
    }
    1
}

#[test]
fn a_buffer_without_a_count_comes_back_in_full() {
    let exports = Exports {
        hyperdbg_u_assemble: Some(assemble),
        ..Exports::default()
    };
    let made = Call::Assemble(AssembleArgs {
        code: b"ret".to_vec(),
        start_address: 0,
        capacity: 2,
    });
    let Ok(Reply::Assemble(reply)) = call(&exports, made) else {
        panic!("another reply")
    };
    assert_eq!(reply.bytes, [0xc3, 0xc3]);
}
