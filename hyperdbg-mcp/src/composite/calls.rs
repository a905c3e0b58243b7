//! Typed calls with their verdict: what the library gave back, or the error that its return value and text mean.

use hyperdbg_sys::{
    DEBUGGER_EDIT_MEMORY_TYPE, DEBUGGER_READ_MEMORY_TYPE, GUEST_EXTRA_REGISTERS, GUEST_REGS, REGS_ENUM,
};

use crate::engine::Engine;
use crate::generated::{
    self, EvalExpressionArgs, ReadAllRegistersArgs, ReadMemoryArgs, ReadTargetRegisterArgs, RunCommandArgs,
    RunScriptArgs, SetBreakpointArgs, WriteMemoryArgs, WriteTargetRegisterArgs,
};
use crate::output::Untrusted;
use crate::tier::{Destructive, Permits, Read, State};
use crate::tool::{Category, Cx, Listing, ToolError, verdict};

/// What `read_memory` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) address: u64,
    pub(super) physical: bool,
    pub(super) pid: u32,
}

/// At most `size` bytes from `place`; fewer where the library says so.
pub(super) async fn read_memory<T: Permits<Read>>(
    engine: &Engine<T>,
    place: Place,
    size: u32,
) -> Result<Vec<u8>, ToolError> {
    let outcome = engine
        .read_memory(ReadMemoryArgs {
            address: place.address,
            memory_type: if place.physical {
                DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_PHYSICAL_ADDRESS
            } else {
                DEBUGGER_READ_MEMORY_TYPE::DEBUGGER_READ_VIRTUAL_ADDRESS
            },
            pid: place.pid,
            size,
            want_address_mode: false,
        })
        .await?;
    verdict(
        &generated::READ_MEMORY,
        Some(outcome.reply.returned.into()),
        None,
        &outcome.text,
    )?;
    let mut bytes = outcome.reply.bytes;
    // The count says what is real; the buffer is as long as was asked for.
    bytes.truncate(size.min(outcome.reply.bytes_read) as usize);
    Ok(bytes)
}

/// Writes `bytes` to `place`.
pub(super) async fn write_memory<T: Permits<Destructive>>(
    engine: &Engine<T>,
    place: Place,
    bytes: Vec<u8>,
) -> Result<(), ToolError> {
    let outcome = engine
        .write_memory(WriteMemoryArgs {
            address: place.address,
            memory_type: if place.physical {
                DEBUGGER_EDIT_MEMORY_TYPE::EDIT_PHYSICAL_MEMORY
            } else {
                DEBUGGER_EDIT_MEMORY_TYPE::EDIT_VIRTUAL_MEMORY
            },
            pid: place.pid,
            bytes,
        })
        .await?;
    verdict(
        &generated::WRITE_MEMORY,
        Some(outcome.reply.returned.into()),
        None,
        &outcome.text,
    )
}

/// General and extra registers of the halted core.
pub(super) async fn read_all_registers<T: Permits<Read>>(
    engine: &Engine<T>,
) -> Result<(GUEST_REGS, GUEST_EXTRA_REGISTERS), ToolError> {
    let outcome = engine.read_all_registers(ReadAllRegistersArgs {}).await?;
    verdict(
        &generated::READ_ALL_REGISTERS,
        Some(outcome.reply.returned.into()),
        None,
        &outcome.text,
    )?;
    Ok((*outcome.reply.general.get(), *outcome.reply.extra.get()))
}

/// One register of the halted core.
pub(super) async fn read_register<T: Permits<Read>>(
    engine: &Engine<T>,
    register: REGS_ENUM,
) -> Result<u64, ToolError> {
    let outcome = engine
        .read_target_register(ReadTargetRegisterArgs { register })
        .await?;
    verdict(
        &generated::READ_TARGET_REGISTER,
        Some(outcome.reply.returned.into()),
        None,
        &outcome.text,
    )?;
    Ok(outcome.reply.value)
}

/// Sets one register of the halted core.
pub(super) async fn write_register<T: Permits<Destructive>>(
    engine: &Engine<T>,
    register: REGS_ENUM,
    value: u64,
) -> Result<(), ToolError> {
    let outcome = engine
        .write_target_register(WriteTargetRegisterArgs { register, value })
        .await?;
    verdict(
        &generated::WRITE_TARGET_REGISTER,
        Some(outcome.reply.returned.into()),
        None,
        &outcome.text,
    )
}

/// Sets a breakpoint; gives back what was printed.
pub(super) async fn set_breakpoint<T: Permits<State>>(
    engine: &Engine<T>,
    args: SetBreakpointArgs,
) -> Result<Untrusted, ToolError> {
    let outcome = engine.set_breakpoint(args).await?;
    verdict(
        &generated::SET_BREAKPOINT,
        Some(outcome.reply.returned.into()),
        None,
        &outcome.text,
    )?;
    Ok(outcome.text)
}

/// The value of an expression, and what was printed.
pub(super) async fn evaluate<T: Permits<Destructive>>(
    engine: &Engine<T>,
    expression: &str,
) -> Result<(u64, Untrusted), ToolError> {
    let outcome = engine
        .eval_expression(EvalExpressionArgs {
            expression: expression.as_bytes().to_vec(),
        })
        .await?;
    // The value is stale when the expression failed.
    if outcome.reply.has_error {
        return Err(ToolError::new(Category::InvalidArgument, "HyperDbg could not evaluate the expression.")
            .next_step("Correct it: numbers as 0x…, registers as @rax, symbols as module!name, script functions as name(…).")
            .captured(outcome.text));
    }
    verdict(&generated::EVAL_EXPRESSION, None, None, &outcome.text)?;
    Ok((outcome.reply.returned, outcome.text))
}

/// Runs a script; gives back what it printed.
pub(super) async fn run_script<T: Permits<Destructive>>(
    engine: &Engine<T>,
    script: &str,
) -> Result<Untrusted, ToolError> {
    let outcome = engine
        .run_script(RunScriptArgs {
            script: script.as_bytes().to_vec(),
        })
        .await?;
    verdict(
        &generated::RUN_SCRIPT,
        Some(outcome.reply.returned.into()),
        None,
        &outcome.text,
    )?;
    Ok(outcome.text)
}

/// What a command printed, and whether it was forwarded to another machine. The text may hold an error.
pub(super) async fn run_command<T: Permits<Destructive>>(
    engine: &Engine<T>,
    command: &str,
) -> Result<(Untrusted, bool), ToolError> {
    let outcome = engine
        .run_command(RunCommandArgs {
            command: command.as_bytes().to_vec(),
        })
        .await?;
    Ok((outcome.text, outcome.reply.returned == FORWARDED))
}

/// Return value of a command that another machine ran.
const FORWARDED: i32 = 2;

/// What a listing printed.
pub(super) async fn list<T: Permits<Read>>(cx: &Cx<T>, listing: Listing) -> Result<Untrusted, ToolError> {
    let text = cx.list(listing).await?.reply;
    verdict(&generated::RUN_COMMAND, None, None, &text)?;
    Ok(text)
}
