//! The exports: C arguments in, the global session called, C results out.
//!
//! Pointers are taken on trust as the real library takes them: a null command aborts, a short buffer
//! is overrun. What is not reproduced is unwinding: a panic ends at the edge as an `err` line and
//! the value that means failure.

mod edge;
mod hardware;
mod memory;
mod text;

use crate::commands::{self, points, register, running};
use crate::console::Sink;
use crate::fault::Fault;
use crate::generated::Api;
use crate::session::Session;
use crate::{Simulator, api_support, interrupt};
use core::ffi::{c_char, c_ulong, c_void};
use edge::{call, put, string, typed};
use hyperdbg_sys::*;

pub use edge::global;

impl Api for Simulator {
    unsafe fn hyperdbg_u_detect_vmx_support() -> u8 {
        call("hyperdbg_u_detect_vmx_support", 0, |_| 1)
    }

    unsafe fn hyperdbg_u_read_vendor_string(buffer: *mut c_char) {
        call("hyperdbg_u_read_vendor_string", (), |_| {
            let vendor = crate::machine::cpuid::VENDOR.bytes().chain([0]);
            for (index, byte) in vendor.enumerate() {
                // SAFETY: the buffer has 13 bytes: that is the contract of the export.
                unsafe { put(buffer.wrapping_add(index), byte as c_char) };
            }
        });
    }

    unsafe fn hyperdbg_u_get_processor_vendor() -> GENERIC_PROCESSOR_VENDOR {
        GENERIC_PROCESSOR_VENDOR::GENERIC_PROCESSOR_VENDOR_INTEL
    }

    unsafe fn hyperdbg_u_is_any_module_loaded() -> u8 {
        call("hyperdbg_u_is_any_module_loaded", 0, |session| {
            let loaded = session.lock().loaded;
            u8::from(loaded.kd || loaded.vmm || loaded.trace)
        })
    }

    unsafe fn hyperdbg_u_load_all_modules() -> i32 {
        typed(
            "hyperdbg_u_load_all_modules",
            1,
            0,
            super::session::Session::load_all,
        )
    }

    unsafe fn hyperdbg_u_unload_all_modules() -> i32 {
        typed("hyperdbg_u_unload_all_modules", 1, 0, |session| {
            session.unload_all()
        })
    }

    unsafe fn hyperdbg_u_load_vmm() -> i32 {
        typed("hyperdbg_u_load_vmm", 1, 0, super::session::Session::load_vmm)
    }

    unsafe fn hyperdbg_u_unload_vmm() -> i32 {
        typed("hyperdbg_u_unload_vmm", 1, 0, super::session::Session::unload_vmm)
    }

    unsafe fn hyperdbg_u_unload_kd() -> i32 {
        typed("hyperdbg_u_unload_kd", 1, 0, super::session::Session::unload_kd)
    }

    unsafe fn hyperdbg_u_install_kd_driver() -> i32 {
        typed("hyperdbg_u_install_kd_driver", 1, 0, |session| {
            session.install_driver()
        })
    }

    unsafe fn hyperdbg_u_uninstall_kd_driver() -> i32 {
        typed("hyperdbg_u_uninstall_kd_driver", 1, 0, |session| {
            session.uninstall_driver()
        })
    }

    unsafe fn hyperdbg_u_start_kd_driver() -> i32 {
        typed("hyperdbg_u_start_kd_driver", 1, 0, |session| {
            session.start_driver()
        })
    }

    unsafe fn hyperdbg_u_stop_kd_driver() -> i32 {
        typed(
            "hyperdbg_u_stop_kd_driver",
            1,
            0,
            super::session::Session::stop_driver,
        )
    }

    unsafe fn hyperdbg_u_load_kd_module() -> i32 {
        typed(
            "hyperdbg_u_load_kd_module",
            1,
            0,
            super::session::Session::load_kd,
        )
    }

    unsafe fn hyperdbg_u_load_hypertrace_module() -> i32 {
        typed("hyperdbg_u_load_hypertrace_module", 1, 0, |session| {
            session.load_trace()
        })
    }

    unsafe fn hyperdbg_u_unload_hypertrace_module() -> i32 {
        typed("hyperdbg_u_unload_hypertrace_module", 1, 0, |session| {
            session.unload_trace()
        })
    }

    unsafe fn hyperdbg_u_test_command_parser(
        command: *mut c_char,
        number_of_tokens: u32,
        tokens_list: *mut *mut c_char,
        failed_token_num: *mut u32,
        failed_token_position: *mut u32,
    ) -> u8 {
        call("hyperdbg_u_test_command_parser", 0, |session| {
            // SAFETY: the caller promises a string, a list of that many strings, and two numbers.
            unsafe {
                text::check_tokens(
                    session,
                    &string(command),
                    number_of_tokens,
                    tokens_list,
                    failed_token_num,
                    failed_token_position,
                )
            }
        })
    }

    unsafe fn hyperdbg_u_test_command_parser_show_tokens(command: *mut c_char) {
        call("hyperdbg_u_test_command_parser_show_tokens", (), |session| {
            // SAFETY: the caller promises a string.
            text::show_tokens(session, &unsafe { string(command) });
        });
    }

    unsafe fn hyperdbg_u_setup_path_for_filename(
        filename: *const c_char,
        file_location: *mut c_char,
        buffer_len: u32,
        check_file_existence: u8,
    ) -> u8 {
        call("hyperdbg_u_setup_path_for_filename", 0, |session| {
            // SAFETY: the caller promises a string and a buffer of that length.
            unsafe {
                text::beside_program(
                    session,
                    &string(filename),
                    file_location,
                    buffer_len,
                    check_file_existence,
                )
            }
        })
    }

    unsafe fn hyperdbg_u_run_command(command: *mut c_char) -> i32 {
        call("hyperdbg_u_run_command", 0, |session| {
            // SAFETY: the caller promises a string.
            let command = unsafe { string(command) };
            interrupt::install(&session.share());
            commands::run_command(session, &command)
        })
    }

    unsafe fn hyperdbg_u_show_signature() {
        call("hyperdbg_u_show_signature", (), Session::show_prompt);
    }

    unsafe fn hyperdbg_u_set_text_message_callback(handler: *mut c_void) {
        // SAFETY: the caller promises null or a function of the callback's type.
        call("hyperdbg_u_set_text_message_callback", (), |session| unsafe {
            text::set_callback(session, handler);
        });
    }

    unsafe fn hyperdbg_u_set_text_message_callback_using_shared_buffer(handler: *mut c_void) -> *mut c_void {
        let null = std::ptr::null_mut();
        call(
            "hyperdbg_u_set_text_message_callback_using_shared_buffer",
            null,
            |session| {
                // SAFETY: the caller promises null or a function without arguments.
                unsafe { text::set_shared_callback(session, handler) }
            },
        )
    }

    unsafe fn hyperdbg_u_unset_text_message_callback() {
        call("hyperdbg_u_unset_text_message_callback", (), |session| {
            session.console.redirect(Sink::Stdout);
        });
    }

    unsafe fn hyperdbg_u_test_script_engine(expression: *mut c_char) -> u8 {
        if expression.is_null() {
            return 0;
        }
        call("hyperdbg_u_test_script_engine", 0, |session| {
            // SAFETY: the caller promises a string.
            u8::from(session.run_in_host(&unsafe { string(expression) }))
        })
    }

    unsafe fn hyperdbg_u_script_read_file_and_execute_commandline(argc: i32, argv: *mut *mut c_char) -> i32 {
        call(
            "hyperdbg_u_script_read_file_and_execute_commandline",
            0,
            |session| {
                // SAFETY: the caller promises that many strings, the first of them the command word.
                let words = unsafe { text::words(argc, argv) };
                let Some(words) = words.get(1..).filter(|words| !words.is_empty()) else {
                    return 0;
                };
                commands::general::run_file(session, words);
                1
            },
        )
    }

    unsafe fn hyperdbg_u_continue_previous_command() -> u8 {
        call("hyperdbg_u_continue_previous_command", 0, |session| {
            u8::from(std::mem::take(&mut session.lock().repeat))
        })
    }

    unsafe fn hyperdbg_u_check_multiline_command(current_command: *mut c_char, reset: u8) -> u8 {
        call("hyperdbg_u_check_multiline_command", 0, |session| {
            // SAFETY: the caller promises a string.
            let line = unsafe { string(current_command) };
            let mut state = session.lock();
            if reset != 0 {
                state.multi_line = crate::tokens::MultiLine::default();
            }
            u8::from(state.multi_line.feed(&line))
        })
    }

    unsafe fn hyperdbg_u_set_custom_driver_path(
        driver_file_path: *mut c_char,
        driver_name: *mut c_char,
    ) -> u8 {
        call("hyperdbg_u_set_custom_driver_path", 0, |session| {
            // SAFETY: the caller promises two strings.
            let (path, name) = unsafe { (string(driver_file_path), string(driver_name)) };
            text::set_driver_path(session, path, name)
        })
    }

    unsafe fn hyperdbg_u_use_default_driver_path() {
        call("hyperdbg_u_use_default_driver_path", (), |session| {
            session.lock().driver_path = None;
        });
    }

    unsafe fn hyperdbg_u_connect_local_debugger() {
        call("hyperdbg_u_connect_local_debugger", (), |session| {
            session.lock().link = crate::session::Link::Local;
        });
    }

    unsafe fn hyperdbg_u_connect_remote_debugger(ip: *const c_char, port: *const c_char) -> u8 {
        call("hyperdbg_u_connect_remote_debugger", 0, |session| {
            // SAFETY: the caller promises a string, and a string or null.
            let (ip, port) = unsafe { (string(ip), (!port.is_null()).then(|| string(port))) };
            u8::from(session.connect_tcp(&ip, port.as_deref()))
        })
    }

    unsafe fn hyperdbg_u_connect_remote_debugger_using_com_port(
        port_name: *const c_char,
        baudrate: c_ulong,
        pause_after_connection: u8,
    ) -> u8 {
        call(
            "hyperdbg_u_connect_remote_debugger_using_com_port",
            0,
            |session| {
                // SAFETY: the caller promises a string.
                let port = unsafe { string(port_name) };
                let valid = text::is_serial_port(&port, baudrate);
                u8::from(valid && session.connect_port(&port, pause_after_connection != 0))
            },
        )
    }

    unsafe fn hyperdbg_u_connect_remote_debugger_using_named_pipe(
        named_pipe: *const c_char,
        pause_after_connection: u8,
    ) -> u8 {
        call(
            "hyperdbg_u_connect_remote_debugger_using_named_pipe",
            0,
            |session| {
                // SAFETY: the caller promises a string.
                let pipe = unsafe { string(named_pipe) };
                u8::from(session.connect_pipe(&pipe, pause_after_connection != 0))
            },
        )
    }

    unsafe fn hyperdbg_u_connect_current_debugger_using_com_port(
        port_name: *const c_char,
        baudrate: c_ulong,
    ) -> u8 {
        call(
            "hyperdbg_u_connect_current_debugger_using_com_port",
            0,
            |session| {
                // SAFETY: the caller promises a string.
                let valid = text::is_serial_port(&unsafe { string(port_name) }, baudrate);
                u8::from(valid && commands::connection::become_debuggee(session))
            },
        )
    }

    unsafe fn hyperdbg_u_debug_close_remote_debugger() -> u8 {
        call("hyperdbg_u_debug_close_remote_debugger", 0, |session| {
            u8::from(session.close_serial())
        })
    }

    unsafe fn hyperdbg_u_get_kernel_base() -> u64 {
        call("hyperdbg_u_get_kernel_base", 0, |session| {
            session.lock().machine.kernel_base()
        })
    }

    unsafe fn hyperdbg_u_read_memory(
        target_address: u64,
        memory_type: DEBUGGER_READ_MEMORY_TYPE,
        _: DEBUGGER_READ_READING_TYPE,
        pid: u32,
        size: u32,
        get_address_mode: u8,
        address_mode: *mut DEBUGGER_READ_MEMORY_ADDRESS_MODE,
        target_buffer_to_store: *mut u8,
        return_length: *mut u32,
    ) -> u8 {
        let name = "hyperdbg_u_read_memory";
        typed(name, 0, 1, |session| {
            let space = memory::read_space(memory_type);
            let Some(found) = session.read_memory(target_address, space, pid, size) else {
                return 0;
            };
            let short = session.faults.is_armed(Fault::ShortRead, name);
            let mode = (get_address_mode != 0).then_some(address_mode);
            // SAFETY: the caller promises a buffer of `size` bytes, a length, and an address mode if
            // one is asked for.
            unsafe { memory::store_read(&found, short, mode, target_buffer_to_store, return_length) };
            1
        })
    }

    unsafe fn hyperdbg_u_show_memory_or_disassemble(
        style: DEBUGGER_SHOW_MEMORY_STYLE,
        address: u64,
        memory_type: DEBUGGER_READ_MEMORY_TYPE,
        _: DEBUGGER_READ_READING_TYPE,
        pid: u32,
        size: u32,
        _: *mut DEBUGGER_DT_COMMAND_OPTIONS,
    ) {
        call("hyperdbg_u_show_memory_or_disassemble", (), |session| {
            memory::show(
                session,
                style,
                address,
                memory::read_space(memory_type),
                pid,
                size,
            );
        });
    }

    unsafe fn hyperdbg_u_show_memory_linked_list(
        target_address: u64,
        memory_type: DEBUGGER_READ_MEMORY_TYPE,
        pid: u32,
        offset: u64,
        max_nodes: u64,
    ) {
        call("hyperdbg_u_show_memory_linked_list", (), |session| {
            let space = memory::read_space(memory_type);
            commands::memory::show_list(session, target_address, space, pid, offset, max_nodes);
        });
    }

    unsafe fn hyperdbg_u_write_memory(
        destination_address: *mut c_void,
        memory_type: DEBUGGER_EDIT_MEMORY_TYPE,
        process_id: u32,
        source_address: *mut c_void,
        number_of_bytes: u32,
    ) -> u8 {
        typed("hyperdbg_u_write_memory", 0, 1, |session| {
            // SAFETY: the caller promises that many bytes at the source.
            let bytes = unsafe { memory::source(source_address, number_of_bytes) };
            let space = memory::edit_space(memory_type);
            u8::from(session.write_memory(destination_address as u64, space, process_id, bytes))
        })
    }

    unsafe fn hyperdbg_u_read_all_registers(
        guest_registers: *mut GUEST_REGS,
        extra_registers: *mut GUEST_EXTRA_REGISTERS,
    ) -> u8 {
        typed("hyperdbg_u_read_all_registers", 0, 1, |session| {
            let Some(registers) = register::current(session) else {
                crate::errors::show(&session.console, 0);
                return 0;
            };
            // SAFETY: the caller promises records, or null for one that is not wanted.
            unsafe { memory::store_registers(&registers, guest_registers, extra_registers) };
            1
        })
    }

    unsafe fn hyperdbg_u_read_target_register(register_id: REGS_ENUM, target_register: *mut u64) -> u8 {
        typed("hyperdbg_u_read_target_register", 0, 1, |session| {
            let Some(value) = register::read(session, register_id.0 as u32) else {
                return 0;
            };
            if !target_register.is_null() {
                // SAFETY: not null, and the caller promises a 64-bit number there.
                unsafe { put(target_register, value) };
            }
            1
        })
    }

    unsafe fn hyperdbg_u_write_target_register(register_id: REGS_ENUM, value: u64) -> u8 {
        typed("hyperdbg_u_write_target_register", 0, 1, |session| {
            u8::from(register::write(session, register_id.0 as u32, value))
        })
    }

    unsafe fn hyperdbg_u_show_all_registers() -> u8 {
        typed("hyperdbg_u_show_all_registers", 0, 1, |session| {
            u8::from(register::show_all(session))
        })
    }

    unsafe fn hyperdbg_u_show_target_register(register_id: REGS_ENUM) -> u8 {
        typed("hyperdbg_u_show_target_register", 0, 1, |session| {
            u8::from(register::show_one(session, register_id.0 as u32))
        })
    }

    unsafe fn hyperdbg_u_continue_debuggee() {
        call("hyperdbg_u_continue_debuggee", (), running::go);
    }

    unsafe fn hyperdbg_u_pause_debuggee() {
        call("hyperdbg_u_pause_debuggee", (), running::pause);
    }

    unsafe fn hyperdbg_u_set_breakpoint(address: u64, pid: u32, tid: u32, core: u32) -> u8 {
        typed("hyperdbg_u_set_breakpoint", 0, 1, |session| {
            u8::from(points::set(session, address, pid, tid, core))
        })
    }

    unsafe fn hyperdbg_u_stepping_instrumentation_step_in() -> u8 {
        typed("hyperdbg_u_stepping_instrumentation_step_in", 0, 1, |session| {
            u8::from(running::instrumentation_step(session))
        })
    }

    unsafe fn hyperdbg_u_stepping_regular_step_in() -> u8 {
        typed("hyperdbg_u_stepping_regular_step_in", 0, 1, |session| {
            u8::from(running::step(session, running::Step::In))
        })
    }

    unsafe fn hyperdbg_u_stepping_step_over() -> u8 {
        typed("hyperdbg_u_stepping_step_over", 0, 1, |session| {
            u8::from(running::step(session, running::Step::Over))
        })
    }

    unsafe fn hyperdbg_u_stepping_instrumentation_step_in_for_tracking() -> u8 {
        typed(
            "hyperdbg_u_stepping_instrumentation_step_in_for_tracking",
            0,
            1,
            |session| u8::from(running::instrumentation_step(session)),
        )
    }

    unsafe fn hyperdbg_u_stepping_step_over_for_gu(last_instruction: u8) -> u8 {
        let step = if last_instruction == 0 {
            running::Step::OverSilently
        } else {
            running::Step::Over
        };
        typed("hyperdbg_u_stepping_step_over_for_gu", 0, 1, |session| {
            u8::from(running::step(session, step))
        })
    }

    unsafe fn hyperdbg_u_start_process(path: *const u16) -> u8 {
        call("hyperdbg_u_start_process", 0, |session| {
            // SAFETY: the caller promises a terminated wide string.
            u8::from(session.start_process(&unsafe { text::wide(path) }))
        })
    }

    unsafe fn hyperdbg_u_start_process_with_args(path: *const u16, arguments: *const u16) -> u8 {
        call("hyperdbg_u_start_process_with_args", 0, |session| {
            // SAFETY: the caller promises two terminated wide strings.
            let (path, _) = unsafe { (text::wide(path), text::wide(arguments)) };
            u8::from(session.start_process(&path))
        })
    }

    unsafe fn hyperdbg_u_get_local_apic(local_apic: *mut LAPIC_PAGE, is_using_x2apic: *mut u8) -> u8 {
        typed("hyperdbg_u_get_local_apic", 0, 1, |session| {
            // SAFETY: the caller promises a page and a flag.
            unsafe { hardware::local_apic(session, local_apic, is_using_x2apic) }
        })
    }

    unsafe fn hyperdbg_u_get_io_apic(io_apic: *mut IO_APIC_ENTRY_PACKETS) -> u8 {
        // SAFETY: the caller promises a record.
        typed("hyperdbg_u_get_io_apic", 0, 1, |session| unsafe {
            hardware::io_apic(session, io_apic)
        })
    }

    unsafe fn hyperdbg_u_get_idt_entry(idt_packet: *mut INTERRUPT_DESCRIPTOR_TABLE_ENTRIES_PACKETS) -> u8 {
        // SAFETY: the caller promises a record.
        typed("hyperdbg_u_get_idt_entry", 0, 1, |session| unsafe {
            hardware::idt(session, idt_packet)
        })
    }

    unsafe fn hyperdbg_u_perform_smi_operation(operation: *mut SMI_OPERATION_PACKETS) -> u8 {
        // SAFETY: the caller promises a record.
        typed("hyperdbg_u_perform_smi_operation", 0, 1, |session| unsafe {
            hardware::smi(session, operation)
        })
    }

    unsafe fn hyperdbg_u_lbr_dump(request: *mut HYPERTRACE_LBR_DUMP_PACKETS) -> u8 {
        // SAFETY: the caller promises a record.
        typed("hyperdbg_u_lbr_dump", 0, 1, |session| unsafe {
            hardware::lbr_dump(session, request)
        })
    }

    unsafe fn hyperdbg_u_pt_operation(request: *mut HYPERTRACE_PT_OPERATION_PACKETS) -> u8 {
        // SAFETY: the caller promises a record.
        typed("hyperdbg_u_pt_operation", 0, 1, |session| unsafe {
            hardware::pt_operation(session, request)
        })
    }

    unsafe fn hyperdbg_u_pt_mmap(request: *mut HYPERTRACE_PT_MMAP_PACKETS) -> u8 {
        // SAFETY: the caller promises a record.
        typed("hyperdbg_u_pt_mmap", 0, 1, |session| unsafe {
            hardware::pt_mmap(session, request)
        })
    }

    unsafe fn hyperdbg_u_request_cpuid(function_id: u32, sub_function_id: u32) -> u8 {
        call("hyperdbg_u_request_cpuid", 1, |session| {
            if session.needs_kd() {
                register::show_cpuid(session, function_id, sub_function_id);
            }
            1
        })
    }

    unsafe fn hyperdbg_u_enable_transparent_mode(_: u32, _: *mut c_char, _: u8) -> u8 {
        typed("hyperdbg_u_enable_transparent_mode", 0, 1, |session| {
            u8::from(api_support::set_hidden(session, true))
        })
    }

    unsafe fn hyperdbg_u_enable_transparent_mode_ex(_: u32, _: *mut c_char, _: u8, _: u32) -> u8 {
        typed("hyperdbg_u_enable_transparent_mode_ex", 0, 1, |session| {
            u8::from(api_support::set_hidden(session, true))
        })
    }

    unsafe fn hyperdbg_u_disable_transparent_mode() -> u8 {
        typed("hyperdbg_u_disable_transparent_mode", 0, 1, |session| {
            u8::from(api_support::set_hidden(session, false))
        })
    }

    unsafe fn hyperdbg_u_assemble_get_length(
        assembly_code: *const c_char,
        start_address: u64,
        length: *mut u32,
    ) -> u8 {
        typed("hyperdbg_u_assemble_get_length", 0, 1, |session| {
            // SAFETY: the caller promises a string.
            let code = unsafe { string(assembly_code) };
            let Some(bytes) = commands::assembly::assemble(session, &code, start_address) else {
                return 0;
            };
            // SAFETY: the caller promises a 32-bit number there.
            unsafe { put(length, bytes.len() as u32) };
            1
        })
    }

    unsafe fn hyperdbg_u_assemble(
        assembly_code: *const c_char,
        start_address: u64,
        buffer: *mut c_void,
        buffer_size: u32,
    ) -> u8 {
        typed("hyperdbg_u_assemble", 0, 1, |session| {
            // SAFETY: the caller promises a string.
            let code = unsafe { string(assembly_code) };
            let found = commands::assembly::assemble(session, &code, start_address);
            let Some(bytes) = found.filter(|bytes| bytes.len() <= buffer_size as usize) else {
                return 0;
            };
            // SAFETY: the caller promises a buffer of that size, and the bytes fit.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.cast::<u8>(), bytes.len()) };
            1
        })
    }

    unsafe fn hwdbg_script_run_script(
        _: *const c_char,
        instance_filepath_to_read: *const c_char,
        _: *const c_char,
        _: u32,
    ) -> u8 {
        call("hwdbg_script_run_script", 0, |_| {
            // SAFETY: the caller promises a string.
            let path = unsafe { string(instance_filepath_to_read) };
            let text = format!("err, could not open the file '{path}'\n");
            crate::console::print_to_stdout(text.as_bytes());
            0
        })
    }

    unsafe fn hwdbg_script_engine_wrapper_test_parser(expr: *const c_char) {
        call("hwdbg_script_engine_wrapper_test_parser", (), |session| {
            // SAFETY: the caller promises a string.
            session.run_in_host(&unsafe { string(expr) });
        });
    }

    unsafe fn hyperdbg_u_run_script(expr: *mut c_char, show_error_message_if_any: u8) -> u8 {
        typed("hyperdbg_u_run_script", 0, 1, |session| {
            // SAFETY: the caller promises a string.
            u8::from(session.run_statements(&unsafe { string(expr) }, show_error_message_if_any != 0))
        })
    }

    unsafe fn hyperdbg_u_eval_expression(expr: *mut c_char, has_error: *mut u8) -> u64 {
        call("hyperdbg_u_eval_expression", 0, |session| {
            // SAFETY: the caller promises a string.
            let value = session.evaluate(&unsafe { string(expr) });
            // SAFETY: the caller promises a flag there.
            unsafe { put(has_error, u8::from(value.is_none())) };
            text::last_value(value)
        })
    }
}

/// `hyperdbg-simulator VERSION`: by this export a program can tell that it loaded the simulator.
#[unsafe(no_mangle)]
pub extern "C" fn hyperdbg_simulator_version() -> *const c_char {
    concat!("hyperdbg-simulator ", env!("CARGO_PKG_VERSION"), "\0")
        .as_ptr()
        .cast()
}
