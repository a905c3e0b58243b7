//! Reading and writing registers of the halted core.

use std::fmt::Write;

use hyperdbg_mcp_macros::composite_tool;
use hyperdbg_sys::{CEnum, GUEST_EXTRA_REGISTERS, GUEST_REGS, REGS_ENUM};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calls;
use crate::tier::{Destructive, Permits, Read};
use crate::tool::arguments::echo;
use crate::tool::surface::nearest;
use crate::tool::typed::Answer;
use crate::tool::value::Hex;
use crate::tool::{Arguments, Category, Cx, ToolError};

#[derive(Deserialize, JsonSchema)]
struct NoInput {}

#[derive(Serialize, JsonSchema)]
struct AllOutput {
    registers: Vec<Register>,
}

#[derive(Serialize, JsonSchema)]
struct Register {
    name: &'static str,
    value: Hex,
}

/// Reading them without a halted core would judge memory that nobody has written.
async fn needs_halted_core<T: Permits<Read>>(cx: &Cx<T>) -> Result<(), ToolError> {
    let connection = cx.connection().await?;
    match connection.mode() {
        "debugger" => Ok(()),
        mode => Err(ToolError::new(
            Category::WrongMode,
            format!("Registers are those of a halted debuggee, and this session is in mode {mode}."),
        )
        .next_step("Use a session in debugger mode.")),
    }
}

/// General and extra registers by name.
pub(super) fn named(general: &GUEST_REGS, extra: &GUEST_EXTRA_REGISTERS) -> [(&'static str, u64); 24] {
    [
        ("rax", general.rax),
        ("rbx", general.rbx),
        ("rcx", general.rcx),
        ("rdx", general.rdx),
        ("rsi", general.rsi),
        ("rdi", general.rdi),
        ("rbp", general.rbp),
        ("rsp", general.rsp),
        ("r8", general.r8),
        ("r9", general.r9),
        ("r10", general.r10),
        ("r11", general.r11),
        ("r12", general.r12),
        ("r13", general.r13),
        ("r14", general.r14),
        ("r15", general.r15),
        ("rip", extra.RIP),
        ("rflags", extra.RFLAGS),
        ("cs", extra.CS.into()),
        ("ss", extra.SS.into()),
        ("ds", extra.DS.into()),
        ("es", extra.ES.into()),
        ("fs", extra.FS.into()),
        ("gs", extra.GS.into()),
    ]
}

/// Reads the general registers, rip, rflags and segment selectors of the halted core. Needs a session in debugger mode
/// and a halted debuggee.
#[composite_tool(
    name = "hd_reg_read_all",
    title = "Read all registers",
    group = "reg",
    tier = "read",
    uses(hyperdbg_u_read_all_registers)
)]
async fn read_all(cx: Cx<Read>, _: NoInput) -> Result<Answer<AllOutput>, ToolError> {
    needs_halted_core(&cx).await?;
    let (general, extra) = calls::read_all_registers(&cx.engine().await?).await?;
    let registers: Vec<Register> = named(&general, &extra)
        .into_iter()
        .map(|(name, value)| Register {
            name,
            value: Hex(value),
        })
        .collect();
    let mut text = String::from("Registers of the halted core:");
    for (at, register) in registers.iter().enumerate() {
        text.push_str(if at % 3 == 0 { "\n" } else { "   " });
        let _ = write!(text, "{:>6} {:<18}", register.name, register.value.to_string());
    }
    Ok(Answer::new(AllOutput { registers }, text))
}

#[derive(Deserialize, JsonSchema)]
struct ReadInput {
    /// Name, such as rip, eax, zf, cr3 or dr7.
    #[schemars(length(min = 1, max = 10))]
    register: String,
}

#[derive(Serialize, JsonSchema)]
struct RegisterOutput {
    register: &'static str,
    value: Hex,
}

/// The register of that name, in any case, with or without HyperDbg's `@`.
fn find(name: &str) -> Result<(REGS_ENUM, &'static str), ToolError> {
    let lower = name.trim().trim_start_matches('@').to_ascii_lowercase();
    let found = REGS_ENUM::SHORT_NAMES.iter().find(|(short, _)| *short == lower);
    match found {
        Some((short, value)) => Ok((REGS_ENUM::from_value(*value), short)),
        None => {
            let hint = nearest(&lower, REGS_ENUM::SHORT_NAMES.iter().map(|(short, _)| *short))
                .map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
            Err(ToolError::new(
                Category::InvalidArgument,
                format!("There is no register `{}`{hint}", echo(name)),
            )
            .next_step(
                "Name a general, segment, flag, control or debug register, such as rip, eax, zf, cr3, dr7.",
            ))
        }
    }
}

/// Reads one register of the halted core: a general register or a part of it (eax, al), a single flag (zf), rip,
/// rflags, a segment, control (cr3) or debug register (dr7). Needs a session in debugger mode and a halted debuggee.
#[composite_tool(
    name = "hd_reg_read",
    title = "Read a register",
    group = "reg",
    tier = "read",
    uses(hyperdbg_u_read_target_register)
)]
async fn read(cx: Cx<Read>, input: ReadInput) -> Result<Answer<RegisterOutput>, ToolError> {
    let (register, name) = find(&input.register)?;
    needs_halted_core(&cx).await?;
    let value = Hex(calls::read_register(&cx.engine().await?, register).await?);
    Ok(Answer::new(
        RegisterOutput {
            register: name,
            value,
        },
        format!("{name} = {value}"),
    ))
}

#[derive(Deserialize, JsonSchema)]
struct WriteInput {
    /// Name, such as rax or zf.
    #[schemars(length(min = 1, max = 10))]
    register: String,
    value: Hex,
}

#[derive(Serialize, JsonSchema)]
struct WriteOutput {
    register: &'static str,
    old_value: Hex,
    /// As read back.
    value: Hex,
}

/// What a write would replace, with the refusals of the write itself.
pub(super) async fn replaced(cx: &Cx<Read>, arguments: Arguments) -> Result<Hex, ToolError> {
    let input: WriteInput = arguments.typed()?;
    let (register, _) = find(&input.register)?;
    needs_halted_core(cx).await?;
    Ok(Hex(calls::read_register(&cx.engine().await?, register).await?))
}

/// Writes one register of the halted core and reads it back. A wrong rip, rsp or control register crashes the debuggee.
/// Needs a session in debugger mode and a halted debuggee.
#[composite_tool(
    name = "hd_reg_write",
    title = "Write a register",
    group = "reg",
    tier = "destructive",
    uses(hyperdbg_u_write_target_register, hyperdbg_u_read_target_register)
)]
async fn write(cx: Cx<Destructive>, input: WriteInput) -> Result<Answer<WriteOutput>, ToolError> {
    let (register, name) = find(&input.register)?;
    needs_halted_core(&cx).await?;
    let engine = cx.engine().await?;
    let old_value = Hex(calls::read_register(&engine, register).await?);
    calls::write_register(&engine, register, input.value.0).await?;
    let value = Hex(calls::read_register(&engine, register).await?);
    let mut text = format!("{name} was {old_value} and is {value}.");
    if value != input.value {
        let _ = write!(text, " That is not the value written, {}.", input.value);
    }
    Ok(Answer::new(
        WriteOutput {
            register: name,
            old_value,
            value,
        },
        text,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_spelling_and_misspelt_ones_get_a_hint() {
        assert_eq!(find("RIP").unwrap(), (REGS_ENUM::REGISTER_RIP, "rip"));
        assert_eq!(find(" @rax").unwrap().1, "rax");
        let error = find("rpi").unwrap_err();
        assert!(
            error.message.contains("did you mean `rip`") || error.message.contains("did you mean"),
            "{error}"
        );
        assert!(find("").is_err());
    }
}
