//! A library whose records lie otherwise and whose enumerators have other numbers: the simulator behind an SDK that
//! differs from the one that the program was built from.

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::LazyLock;

use hyperdbg_codegen::catalog::Catalog;
use hyperdbg_mcp::engine::{LibrarySource, Outcome};
use hyperdbg_mcp::generated::*;
use hyperdbg_mcp::sdk;
use hyperdbg_mcp::session::{Session, SessionConfig, WorkerProgram};
use hyperdbg_mcp::tool::{Category, ToolError};
use hyperdbg_sys::*;
use libtest_mimic::Trial;

use crate::headers;
use crate::world::*;

pub(crate) fn add(trials: &mut Vec<Trial>) {
    trials.extend([
        trial("a_library_of_another_layout_gives_the_right_values", right_values),
        trial("without_translation_what_moved_is_not_called", not_called),
        trial(
            "without_headers_the_moved_library_gives_other_values",
            other_values,
        ),
        trial(
            "what_cannot_be_translated_is_not_called_and_the_rest_works",
            rest_works,
        ),
        trial(
            "a_record_that_the_library_reads_is_not_sent_with_members_that_nobody_filled_in",
            not_filled_in,
        ),
        trial("a_value_that_the_library_lacks_is_refused_alone", lacking_value),
        trial("headers_of_an_unusable_callback_open_no_session", no_session),
    ]);
}

static SIMULATOR: LazyLock<Exports> = LazyLock::new(|| Exports::load(hyperdbg_simulator::generated::lookup));

pub(crate) fn lookup(symbol: &CStr) -> Option<NonNull<c_void>> {
    let moved = match symbol.to_bytes() {
        b"hyperdbg_u_read_memory" => read_memory as *mut c_void,
        b"hyperdbg_u_show_memory_or_disassemble" => show_memory as *mut c_void,
        b"hyperdbg_u_read_all_registers" => read_all_registers as *mut c_void,
        b"hyperdbg_u_read_target_register" => read_target_register as *mut c_void,
        b"hyperdbg_u_perform_smi_operation" => perform_smi_operation as *mut c_void,
        b"hyperdbg_u_lbr_dump" => lbr_dump as *mut c_void,
        b"hyperdbg_u_pt_operation" => pt_operation as *mut c_void,
        b"hyperdbg_u_get_processor_vendor" => get_processor_vendor as *mut c_void,
        _ => return hyperdbg_simulator::generated::lookup(symbol),
    };
    NonNull::new(moved)
}

/// The SDK of the functions below.
fn moved() -> Catalog {
    let mut catalog = headers::catalog();
    headers::renumber(&mut catalog, "DEBUGGER_READ_MEMORY_TYPE", |value| 1 - value);
    headers::renumber(&mut catalog, "DEBUGGER_READ_READING_TYPE", |value| value + 5);
    headers::renumber(&mut catalog, "DEBUGGER_READ_MEMORY_ADDRESS_MODE", |value| {
        value + 7
    });
    headers::renumber(&mut catalog, "DEBUGGER_SHOW_MEMORY_STYLE", |value| value + 100);
    headers::renumber(&mut catalog, "REGS_ENUM", |value| value + 1);
    headers::renumber(&mut catalog, "SMI_OPERATION_REQUEST_TYPE", |value| 1 - value);
    headers::renumber(&mut catalog, "HYPERTRACE_PT_OPERATION_REQUEST_TYPE", |value| {
        8 - value
    });
    headers::renumber(&mut catalog, "GENERIC_PROCESSOR_VENDOR", |value| value + 1);
    headers::record(&mut catalog, "GUEST_REGS").fields.reverse();
    let extra = headers::record(&mut catalog, "GUEST_EXTRA_REGISTERS");
    extra.fields.insert(0, headers::field("Gdtr", "UINT64"));
    extra.fields.rotate_right(1);
    let smi = headers::record(&mut catalog, "SMI_OPERATION_PACKETS");
    smi.fields.reverse();
    let stack = headers::record(&mut catalog, "LBR_STACK_ENTRY");
    stack.fields.reverse();
    let branch = headers::record(&mut catalog, "LBR_BRANCH_ENTRY");
    branch.fields.reverse();
    let filter = headers::record(&mut catalog, "PT_FILTER_OPTIONS");
    filter.fields.swap(0, 1);
    catalog
}

unsafe extern "C" fn read_memory(
    address: u64,
    memory_type: DEBUGGER_READ_MEMORY_TYPE,
    reading_type: DEBUGGER_READ_READING_TYPE,
    pid: u32,
    size: u32,
    want: u8,
    mode: *mut DEBUGGER_READ_MEMORY_ADDRESS_MODE,
    buffer: *mut u8,
    count: *mut u32,
) -> u8 {
    let function = SIMULATOR.hyperdbg_u_read_memory.unwrap();
    let memory_type = DEBUGGER_READ_MEMORY_TYPE(1 - memory_type.0);
    let reading_type = DEBUGGER_READ_READING_TYPE(reading_type.0 - 5);
    // SAFETY: the caller's pointers are passed on.
    unsafe {
        let done = function(
            address,
            memory_type,
            reading_type,
            pid,
            size,
            want,
            mode,
            buffer,
            count,
        );
        (*mode).0 += 7;
        done
    }
}

unsafe extern "C" fn show_memory(
    style: DEBUGGER_SHOW_MEMORY_STYLE,
    address: u64,
    memory_type: DEBUGGER_READ_MEMORY_TYPE,
    reading_type: DEBUGGER_READ_READING_TYPE,
    pid: u32,
    size: u32,
    details: *mut DEBUGGER_DT_COMMAND_OPTIONS,
) {
    let function = SIMULATOR.hyperdbg_u_show_memory_or_disassemble.unwrap();
    let style = DEBUGGER_SHOW_MEMORY_STYLE(style.0 - 100);
    let memory_type = DEBUGGER_READ_MEMORY_TYPE(1 - memory_type.0);
    let reading_type = DEBUGGER_READ_READING_TYPE(reading_type.0 - 5);
    // SAFETY: the caller's pointer is passed on.
    unsafe { function(style, address, memory_type, reading_type, pid, size, details) }
}

unsafe extern "C" fn read_target_register(register: REGS_ENUM, value: *mut u64) -> u8 {
    let function = SIMULATOR.hyperdbg_u_read_target_register.unwrap();
    // SAFETY: the caller's pointer is passed on.
    unsafe { function(REGS_ENUM(register.0 - 1), value) }
}

#[repr(C)]
struct MovedExtra {
    rip: u64,
    gdtr: u64,
    selectors: [u16; 6],
    rflags: u64,
}

unsafe extern "C" fn read_all_registers(general: *mut GUEST_REGS, extra: *mut GUEST_EXTRA_REGISTERS) -> u8 {
    let function = SIMULATOR.hyperdbg_u_read_all_registers.unwrap();
    let mut regs = Packet::<GUEST_REGS>::zeroed();
    let mut rest = Packet::<GUEST_EXTRA_REGISTERS>::zeroed();
    // SAFETY: both are live records.
    let done = unsafe { function(regs.as_mut_ptr(), rest.as_mut_ptr()) };
    let mut values: Vec<u64> = regs
        .bytes()
        .chunks(8)
        .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    values.reverse();
    let rest = rest.get();
    let moved = MovedExtra {
        rip: rest.RIP,
        gdtr: 0x1111_2222_3333_4444,
        selectors: [rest.CS, rest.DS, rest.FS, rest.GS, rest.ES, rest.SS],
        rflags: rest.RFLAGS,
    };
    // SAFETY: the caller has room for the records of this SDK.
    unsafe {
        general
            .cast::<[u64; 16]>()
            .write_unaligned(values.try_into().unwrap());
        extra.cast::<MovedExtra>().write(moved);
    }
    done
}

#[repr(C)]
struct MovedSmi {
    status: u32,
    count: u64,
    operation: i32,
}

unsafe extern "C" fn perform_smi_operation(record: *mut SMI_OPERATION_PACKETS) -> u8 {
    let function = SIMULATOR.hyperdbg_u_perform_smi_operation.unwrap();
    // SAFETY: the caller has room for the record of this SDK.
    let moved = unsafe { &mut *record.cast::<MovedSmi>() };
    let mut packet = Packet::<SMI_OPERATION_PACKETS>::zeroed();
    packet.get_mut().SmiOperationType.0 = 1 - moved.operation;
    // SAFETY: a live record.
    let done = unsafe { function(packet.as_mut_ptr()) };
    moved.status = packet.get().KernelStatus;
    moved.count = packet.get().SmiCount;
    done
}

#[repr(C)]
struct MovedStack {
    tos: u8,
    info: [u64; 32],
    branches: [[u64; 2]; 32],
}

#[repr(C)]
struct MovedLbr {
    core: u32,
    next: u8,
    architectural: u8,
    stack: MovedStack,
    capacity: u8,
    status: u32,
}

unsafe extern "C" fn lbr_dump(record: *mut HYPERTRACE_LBR_DUMP_PACKETS) -> u8 {
    let function = SIMULATOR.hyperdbg_u_lbr_dump.unwrap();
    // SAFETY: the caller has room for the record of this SDK.
    let moved = unsafe { &mut *record.cast::<MovedLbr>() };
    let mut packet = Packet::<HYPERTRACE_LBR_DUMP_PACKETS>::zeroed();
    packet.get_mut().CoreId = moved.core;
    // SAFETY: a live record.
    let done = unsafe { function(packet.as_mut_ptr()) };
    let filled = packet.get();
    moved.next = filled.NextCoreIsValid;
    moved.architectural = filled.ArchBasedLBR;
    moved.stack.tos = filled.LbrStack.Tos;
    for (index, branch) in filled.LbrStack.BranchEntry.iter().enumerate() {
        moved.stack.branches[index] = [branch.To, branch.From];
        // SAFETY: every bit pattern is a number.
        moved.stack.info[index] = unsafe { filled.LbrStack.LastBranchInfo[index].AsUInt };
    }
    moved.capacity = filled.CurrentLbrCapacity;
    moved.status = filled.KernelStatus;
    done
}

unsafe extern "C" fn pt_operation(record: *mut HYPERTRACE_PT_OPERATION_PACKETS) -> u8 {
    let function = SIMULATOR.hyperdbg_u_pt_operation.unwrap();
    // SAFETY: in this SDK the record has the same size and places but for two bits.
    let moved = unsafe { &mut *record };
    let swap = |packet: &mut HYPERTRACE_PT_OPERATION_PACKETS| {
        packet.PtOperationType.0 = 8 - packet.PtOperationType.0;
        let (user, kernel) = (
            packet.FilterOptions.TraceUser(),
            packet.FilterOptions.TraceKernel(),
        );
        packet.FilterOptions.set_TraceUser(kernel);
        packet.FilterOptions.set_TraceKernel(user);
    };
    swap(moved);
    // SAFETY: the caller's record, in the simulator's form now.
    let done = unsafe { function(moved) };
    swap(moved);
    done
}

unsafe extern "C" fn get_processor_vendor() -> GENERIC_PROCESSOR_VENDOR {
    let function = SIMULATOR.hyperdbg_u_get_processor_vendor.unwrap();
    // SAFETY: it takes nothing.
    GENERIC_PROCESSOR_VENDOR(unsafe { function() }.0 + 1)
}

/// A session with the moved library whose headers are written from `catalog`.
async fn open_with(catalog: Option<&Catalog>, translate: bool) -> Result<std::sync::Arc<Session>, ToolError> {
    let folder = tempfile::tempdir().unwrap();
    if let Some(catalog) = catalog {
        headers::write(catalog, folder.path());
    }
    open_as("moved-worker", catalog.map(|_| folder.path()), translate).await
}

async fn open_as(
    role: &str,
    sdk: Option<&Path>,
    translate: bool,
) -> Result<std::sync::Arc<Session>, ToolError> {
    let session = Session::open(SessionConfig {
        worker: WorkerProgram {
            program: std::env::current_exe().unwrap(),
            arguments: vec![role.into()],
        },
        library: LibrarySource::Embedded,
        sdk: sdk::Choice {
            folder: sdk.map(Path::to_owned),
            translate,
        },
        ..config()
    })
    .await?;
    let connected = say(&session, r".debug remote namedpipe \\.\pipe\HyperDbgPipe pause").await;
    assert!(!connected.starts_with("err, "), "{connected}");
    say(&session, "load trace").await;
    Ok(session)
}

/// Calls that together need every record and enum that moved.
fn calls(rip: u64) -> Vec<Call> {
    let pt = |operation| {
        Call::PtOperation(PtOperationArgs {
            operation,
            buffer_bytes: 4096,
            pid: 7,
            cr3: 0x1000,
            trace_user: true,
            trace_kernel: false,
        })
    };
    type Pt = HYPERTRACE_PT_OPERATION_REQUEST_TYPE;
    type Smi = SMI_OPERATION_REQUEST_TYPE;
    let read = |memory_type, address| {
        Call::ReadMemory(ReadMemoryArgs {
            address,
            memory_type,
            pid: 4,
            size: 64,
            want_address_mode: true,
        })
    };
    vec![
        Call::GetProcessorVendor(GetProcessorVendorArgs {}),
        Call::ReadAllRegisters(ReadAllRegistersArgs {}),
        Call::ReadTargetRegister(ReadTargetRegisterArgs {
            register: REGS_ENUM::REGISTER_RIP,
        }),
        read(DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_VIRTUAL_ADDRESS, rip),
        read(DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_PHYSICAL_ADDRESS, 0x1000),
        Call::ShowMemoryOrDisassemble(ShowMemoryOrDisassembleArgs {
            style: DEBUGGER_SHOW_MEMORY_STYLE::DEBUGGER_SHOW_COMMAND_DISASSEMBLE64,
            address: rip,
            memory_type: DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_VIRTUAL_ADDRESS,
            pid: 4,
            size: 16,
        }),
        Call::PerformSmiOperation(PerformSmiOperationArgs {
            operation: Smi::SMI_OPERATION_REQUEST_TYPE_TRIGGER_POWER_SMI,
        }),
        Call::PerformSmiOperation(PerformSmiOperationArgs {
            operation: Smi::SMI_OPERATION_REQUEST_TYPE_READ_COUNT,
        }),
        Call::LbrDump(LbrDumpArgs { core: 0 }),
        pt(Pt::HYPERTRACE_PT_OPERATION_REQUEST_TYPE_FILTER),
        pt(Pt::HYPERTRACE_PT_OPERATION_REQUEST_TYPE_ENABLE),
        pt(Pt::HYPERTRACE_PT_OPERATION_REQUEST_TYPE_SIZE),
    ]
}

async fn rip(session: &Session) -> u64 {
    let register = Call::ReadTargetRegister(ReadTargetRegisterArgs {
        register: REGS_ENUM::REGISTER_RIP,
    });
    match session.call(register, LONG).await.unwrap().reply {
        Reply::ReadTargetRegister(reply) => reply.value,
        other => panic!("{other:?}"),
    }
}

async fn answers(session: &Session, rip: u64) -> Vec<(Reply, String)> {
    let mut answers = Vec::new();
    say(session, "!lbr enable").await;
    for _ in 0..20 {
        say(session, "t").await;
    }
    for call in calls(rip) {
        let Outcome { reply, text, .. } = session.call(call, LONG).await.unwrap();
        answers.push((reply, String::from_utf8(text.bytes().to_vec()).unwrap()));
    }
    answers
}

async fn right_values() {
    let plain = open_as("simulator-worker", None, true).await.unwrap();
    let session = open_with(Some(&moved()), true).await.unwrap();
    let fit = session.compatibility().unwrap();
    assert!(fit.disabled.is_empty(), "{:?}", fit.disabled);
    let rip = rip(&plain).await;
    let (expected, found) = (answers(&plain, rip).await, answers(&session, rip).await);
    for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
        assert!(
            expected == found,
            "call {index} gives other values: {found:.2000?}"
        );
    }
    assert!(
        matches!(&found[8].0, Reply::LbrDump(reply) if reply.lbr.get().LbrStack.BranchEntry[0].To != 0),
        "there is a branch to compare"
    );
    assert!(matches!(
        (&found[1].0, &found[2].0),
        (Reply::ReadAllRegisters(all), Reply::ReadTargetRegister(one)) if all.extra.get().RIP == one.value
    ));
    assert!(matches!(&found[7].0, Reply::PerformSmiOperation(reply) if reply.smi.get().SmiCount > 0));
    assert!(session.close().await.graceful && plain.close().await.graceful);
}

async fn not_called() {
    let session = open_with(Some(&moved()), false).await.unwrap();
    for call in calls(0x1000) {
        assert_category(&session.call(call, LONG).await, Category::AbiMismatch);
    }
    assert!(!say(&session, ".formats 0x41").await.starts_with("err, "));
    let fit = session.status().compatibility.unwrap();
    assert!(fit.moved.is_empty() && fit.disabled.contains_key("hyperdbg_u_read_memory"));
}

async fn other_values() {
    let plain = open_as("simulator-worker", None, true).await.unwrap();
    let session = open_with(None, true).await.unwrap();
    let register = Call::ReadTargetRegister(ReadTargetRegisterArgs {
        register: REGS_ENUM::REGISTER_RIP,
    });
    let Reply::ReadTargetRegister(reply) = session.call(register, LONG).await.unwrap().reply else {
        panic!("another reply")
    };
    assert_ne!(reply.value, rip(&plain).await);
}

async fn rest_works() {
    let mut catalog = moved();
    headers::add_parameter(&mut catalog, "hyperdbg_u_set_breakpoint");
    headers::record(&mut catalog, "SMI_OPERATION_PACKETS")
        .fields
        .retain(|field| field.name != "SmiCount");
    let session = open_with(Some(&catalog), true).await.unwrap();
    let breakpoint = Call::SetBreakpoint(SetBreakpointArgs {
        address: 0x1000,
        pid: u32::MAX,
        tid: u32::MAX,
        core: u32::MAX,
    });
    let smi = Call::PerformSmiOperation(PerformSmiOperationArgs {
        operation: SMI_OPERATION_REQUEST_TYPE::SMI_OPERATION_REQUEST_TYPE_READ_COUNT,
    });
    for (call, word) in [(breakpoint, "takes more parameters"), (smi, "SmiCount` is gone")] {
        let result = session.call(call, LONG).await;
        assert_category(&result, Category::AbiMismatch);
        let message = result.unwrap_err().message;
        assert!(message.contains(word), "{message}");
    }
    let registers = Call::ReadAllRegisters(ReadAllRegistersArgs {});
    let rip = rip(&session).await;
    match session.call(registers, LONG).await.unwrap().reply {
        Reply::ReadAllRegisters(reply) => assert_eq!(reply.extra.get().RIP, rip),
        other => panic!("{other:?}"),
    }
}

async fn not_filled_in() {
    let mut catalog = moved();
    let smi = headers::record(&mut catalog, "SMI_OPERATION_PACKETS");
    smi.fields.push(headers::field("Flags", "UINT32"));
    let branch = headers::record(&mut catalog, "LBR_BRANCH_ENTRY");
    branch.fields.insert(1, headers::field("Cycles", "UINT64"));
    let session = open_with(Some(&catalog), true).await.unwrap();
    let smi = Call::PerformSmiOperation(PerformSmiOperationArgs {
        operation: SMI_OPERATION_REQUEST_TYPE::SMI_OPERATION_REQUEST_TYPE_READ_COUNT,
    });
    let lbr = Call::LbrDump(LbrDumpArgs { core: 0 });
    for (call, member) in [
        (smi, "`SMI_OPERATION_PACKETS.Flags`"),
        (lbr, "`LBR_BRANCH_ENTRY.Cycles`"),
    ] {
        let result = session.call(call, LONG).await;
        assert_category(&result, Category::AbiMismatch);
        let message = result.unwrap_err().message;
        let why = format!("members there that this program cannot fill in: {member}");
        assert!(message.contains(&why), "{message}");
    }
    // A record that the library only writes may have grown.
    let registers = Call::ReadAllRegisters(ReadAllRegistersArgs {});
    let rip = rip(&session).await;
    match session.call(registers, LONG).await.unwrap().reply {
        Reply::ReadAllRegisters(reply) => assert_eq!(reply.extra.get().RIP, rip),
        other => panic!("{other:?}"),
    }
}

async fn lacking_value() {
    let mut catalog = moved();
    let styles = catalog
        .enums
        .iter_mut()
        .find(|one| one.name == "DEBUGGER_SHOW_MEMORY_STYLE")
        .unwrap();
    styles
        .values
        .retain(|value| value.name != "DEBUGGER_SHOW_COMMAND_DB");
    let session = open_with(Some(&catalog), true).await.unwrap();
    let rip = rip(&session).await;
    let show = |style| {
        Call::ShowMemoryOrDisassemble(ShowMemoryOrDisassembleArgs {
            style,
            address: rip,
            memory_type: DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_VIRTUAL_ADDRESS,
            pid: 4,
            size: 16,
        })
    };
    let gone = show(DEBUGGER_SHOW_MEMORY_STYLE::DEBUGGER_SHOW_COMMAND_DB);
    let result = session.call(gone, LONG).await;
    assert_category(&result, Category::AbiMismatch);
    assert!(
        result
            .unwrap_err()
            .message
            .contains("has no DEBUGGER_SHOW_COMMAND_DB")
    );
    let there = show(DEBUGGER_SHOW_MEMORY_STYLE::DEBUGGER_SHOW_COMMAND_DQ);
    assert!(!session.call(there, LONG).await.unwrap().text.is_empty());
}

async fn no_session() {
    let mut catalog = headers::catalog();
    headers::add_parameter(&mut catalog, "hyperdbg_u_run_command");
    let result = open_with(Some(&catalog), true).await;
    assert_category(&result.map(|_| ()), Category::AbiMismatch);
}
