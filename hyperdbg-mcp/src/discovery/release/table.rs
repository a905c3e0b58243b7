//! Which names HyperDbg's library exported, release by release: facts read from the SDK header of each tag.

/// A change of the set of exported names.
pub(super) struct Step {
    /// The releases that have the set that results, oldest first.
    pub(super) releases: &'static [&'static str],
    /// Names that came with the first of them.
    pub(super) added: &'static [&'static str],
    /// Names that went with it.
    pub(super) removed: &'static [&'static str],
}

/// Every change since v0.9.1, when the library got the names of today's form.
pub(super) const STEPS: &[Step] = &[
    Step {
        releases: &["v0.9.1"],
        added: &[
            "hyperdbg_u_check_multiline_command",
            "hyperdbg_u_connect_local_debugger",
            "hyperdbg_u_connect_remote_debugger",
            "hyperdbg_u_continue_debuggee",
            "hyperdbg_u_continue_previous_command",
            "hyperdbg_u_detect_vmx_support",
            "hyperdbg_u_install_vmm_driver",
            "hyperdbg_u_interpreter",
            "hyperdbg_u_load_vmm",
            "hyperdbg_u_pause_debuggee",
            "hyperdbg_u_read_vendor_string",
            "hyperdbg_u_script_read_file_and_execute_commandline",
            "hyperdbg_u_set_breakpoint",
            "hyperdbg_u_set_custom_driver_path",
            "hyperdbg_u_set_text_message_callback",
            "hyperdbg_u_show_signature",
            "hyperdbg_u_stop_vmm_driver",
            "hyperdbg_u_uninstall_vmm_driver",
            "hyperdbg_u_unload_vmm",
            "hyperdbg_u_use_default_driver_path",
        ],
        removed: &[],
    },
    Step {
        releases: &["v0.10"],
        added: &[
            "hyperdbg_u_connect_current_debugger_using_com_port",
            "hyperdbg_u_connect_remote_debugger_using_com_port",
            "hyperdbg_u_connect_remote_debugger_using_named_pipe",
            "hyperdbg_u_get_kernel_base",
            "hyperdbg_u_read_all_registers",
            "hyperdbg_u_read_memory",
            "hyperdbg_u_read_target_register",
            "hyperdbg_u_set_text_message_callback_using_shared_buffer",
            "hyperdbg_u_show_all_registers",
            "hyperdbg_u_show_memory_or_disassemble",
            "hyperdbg_u_show_target_register",
            "hyperdbg_u_start_process",
            "hyperdbg_u_start_process_with_args",
            "hyperdbg_u_unset_text_message_callback",
            "hyperdbg_u_write_memory",
            "hyperdbg_u_write_target_register",
        ],
        removed: &[],
    },
    Step {
        releases: &["v0.10.1"],
        added: &[
            "hyperdbg_u_assemble",
            "hyperdbg_u_assemble_get_length",
            "hyperdbg_u_debug_close_remote_debugger",
            "hyperdbg_u_run_command",
            "hyperdbg_u_setup_path_for_filename",
            "hyperdbg_u_stepping_instrumentation_step_in",
            "hyperdbg_u_stepping_instrumentation_step_in_for_tracking",
            "hyperdbg_u_stepping_regular_step_in",
            "hyperdbg_u_stepping_step_over",
            "hyperdbg_u_stepping_step_over_for_gu",
            "hyperdbg_u_test_command_parser",
            "hyperdbg_u_test_command_parser_show_tokens",
        ],
        removed: &["hyperdbg_u_interpreter"],
    },
    Step {
        releases: &["v0.10.2"],
        added: &[
            "hwdbg_script_engine_wrapper_test_parser",
            "hwdbg_script_run_script",
        ],
        removed: &[],
    },
    Step {
        releases: &["v0.11.0", "v0.12"],
        added: &["hyperdbg_u_get_io_apic", "hyperdbg_u_get_local_apic"],
        removed: &[],
    },
    Step {
        releases: &["v0.13", "v0.13.1", "v0.13.2", "v0.14", "v0.14.1"],
        added: &[
            "hyperdbg_u_disable_transparent_mode",
            "hyperdbg_u_enable_transparent_mode",
            "hyperdbg_u_get_idt_entry",
        ],
        removed: &[],
    },
    Step {
        releases: &["v0.15"],
        added: &["hyperdbg_u_perform_smi_operation"],
        removed: &[],
    },
    Step {
        releases: &["v0.16", "v0.17", "v0.18", "v0.18.1"],
        added: &["hyperdbg_u_eval_expression", "hyperdbg_u_run_script"],
        removed: &[],
    },
    Step {
        releases: &["v0.19"],
        added: &[
            "hyperdbg_u_enable_transparent_mode_ex",
            "hyperdbg_u_get_processor_vendor",
            "hyperdbg_u_install_kd_driver",
            "hyperdbg_u_lbr_dump",
            "hyperdbg_u_load_all_modules",
            "hyperdbg_u_load_hypertrace_module",
            "hyperdbg_u_load_kd_module",
            "hyperdbg_u_start_kd_driver",
            "hyperdbg_u_stop_kd_driver",
            "hyperdbg_u_uninstall_kd_driver",
            "hyperdbg_u_unload_all_modules",
            "hyperdbg_u_unload_hypertrace_module",
            "hyperdbg_u_unload_kd",
        ],
        removed: &[
            "hyperdbg_u_install_vmm_driver",
            "hyperdbg_u_stop_vmm_driver",
            "hyperdbg_u_uninstall_vmm_driver",
        ],
    },
    Step {
        releases: &["v0.20-beta"],
        added: &["hyperdbg_u_pt_mmap", "hyperdbg_u_pt_operation"],
        removed: &[],
    },
    Step {
        releases: &["v0.21"],
        added: &["hyperdbg_u_is_any_module_loaded"],
        removed: &[],
    },
    Step {
        releases: &["v0.22"],
        added: &["hyperdbg_u_show_memory_linked_list"],
        removed: &[],
    },
    Step {
        releases: &["v0.23"],
        added: &["hyperdbg_u_request_cpuid", "hyperdbg_u_test_script_engine"],
        removed: &[],
    },
];
