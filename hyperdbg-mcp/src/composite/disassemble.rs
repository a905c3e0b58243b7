//! `hd_mem_disassemble`: decodes memory that was read, without the text command.

use std::fmt::Write;

use hyperdbg_mcp_macros::composite_tool;
use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory;
use crate::tier::Read;
use crate::tool::typed::Answer;
use crate::tool::value::{Hex, HexBytes};
use crate::tool::{Category, Cx, ToolError};

/// The longest instruction.
const MAX_LENGTH: u32 = 15;

#[derive(Deserialize, JsonSchema)]
struct Input {
    address: Hex,
    /// Instructions.
    #[serde(default = "default_count")]
    #[schemars(range(min = 1, max = 200))]
    count: u32,
    /// 64 or 32.
    #[serde(default = "default_bits")]
    #[schemars(range(min = 32, max = 64))]
    bits: u32,
    #[serde(default)]
    physical: bool,
    /// Process, in local mode only.
    pid: Option<u32>,
}

fn default_count() -> u32 {
    12
}

fn default_bits() -> u32 {
    64
}

#[derive(Serialize, JsonSchema)]
struct Output {
    address: Hex,
    bits: u32,
    instructions: Vec<Line>,
    /// Why it ended.
    ended: End,
    /// Address after the last instruction.
    next: Hex,
}

#[derive(Serialize, JsonSchema)]
struct Line {
    address: Hex,
    bytes: HexBytes,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum End {
    /// All were decoded.
    Count,
    /// What follows is no instruction.
    Invalid,
    /// What follows cannot be read.
    Unreadable,
}

/// Disassembles code of the target in Intel syntax: address, bytes and text of each instruction. Stops before bytes that
/// are no instruction or cannot be read, and says which. HyperDbg's own breakpoints do not show. A debuggee must be
/// halted.
#[composite_tool(
    name = "hd_mem_disassemble",
    title = "Disassemble",
    group = "mem",
    tier = "read",
    uses(hyperdbg_u_read_memory)
)]
async fn disassemble(cx: Cx<Read>, input: Input) -> Result<Answer<Output>, ToolError> {
    if ![32, 64].contains(&input.bits) {
        return Err(ToolError::new(
            Category::InvalidArgument,
            format!("`bits` is 32 or 64, not {}.", input.bits),
        )
        .next_step("Choose one of them."));
    }
    let to_end = u64::MAX - input.address.0;
    let size = (input.count * MAX_LENGTH).min(u32::try_from(to_end.saturating_add(1)).unwrap_or(u32::MAX));
    let place = memory::place(&cx, input.address, input.physical, input.pid).await?;
    let parts = memory::read(&cx, place, size.max(1)).await?;
    let failure = parts.failure.clone();
    let first = parts
        .parts
        .into_iter()
        .next()
        .filter(|part| part.address == input.address.0);
    let Some(part) = first else {
        return Err(failure.unwrap_or_else(|| {
            ToolError::new(
                Category::Unreadable,
                format!("The code at {} cannot be read.", input.address),
            )
            .next_step("Check the address; it may belong to another process or be paged out.")
        }));
    };
    let cut_short = part.bytes.len() < size as usize;
    let (instructions, next, ended) = decode(part.address, &part.bytes, input.bits, input.count, cut_short);
    if instructions.is_empty() {
        let (what, category) = match ended {
            End::Unreadable => ("end before an instruction is complete", Category::Unreadable),
            _ => ("are no instruction", Category::InvalidArgument),
        };
        return Err(ToolError::new(
            category,
            format!(
                "The bytes at {} {what} in {}-bit code.",
                input.address, input.bits
            ),
        )
        .next_step("Check the address and `bits`."));
    }
    let mut text = format!("{} instructions from {}:", instructions.len(), input.address);
    for line in &instructions {
        let _ = write!(
            text,
            "\n{}  {:20}  {}",
            line.address,
            line.bytes.to_string(),
            line.text
        );
    }
    match ended {
        End::Count => {}
        End::Invalid => text.push_str("\n(what follows is no instruction)"),
        End::Unreadable => text.push_str("\n(what follows cannot be read)"),
    }
    let output = Output {
        address: input.address,
        bits: input.bits,
        instructions,
        ended,
        next: Hex(next),
    };
    Ok(Answer::new(output, text))
}

fn decode(address: u64, bytes: &[u8], bits: u32, count: u32, cut_short: bool) -> (Vec<Line>, u64, End) {
    let mut decoder = Decoder::with_ip(bits, bytes, address, DecoderOptions::NONE);
    let mut formatter = formatter();
    let mut lines = Vec::new();
    while lines.len() < count as usize {
        let start = decoder.position();
        let next = address.wrapping_add(start as u64);
        if !decoder.can_decode() {
            return (lines, next, if cut_short { End::Unreadable } else { End::Count });
        }
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            let out_of_bytes = decoder.last_error() == iced_x86::DecoderError::NoMoreBytes;
            return (
                lines,
                next,
                if out_of_bytes {
                    End::Unreadable
                } else {
                    End::Invalid
                },
            );
        }
        lines.push(Line {
            address: Hex(next),
            bytes: HexBytes(bytes[start..decoder.position()].to_vec()),
            text: format(&mut formatter, &instruction),
        });
    }
    (lines, address.wrapping_add(decoder.position() as u64), End::Count)
}

fn formatter() -> IntelFormatter {
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_small_hex_numbers_in_decimal(false);
    options.set_space_after_operand_separator(true);
    options.set_rip_relative_addresses(false);
    formatter
}

fn format(formatter: &mut IntelFormatter, instruction: &Instruction) -> String {
    let mut text = String::new();
    formatter.format(instruction, &mut text);
    text
}

/// At most `count` instructions of 64-bit code as text.
pub(super) fn texts(address: u64, bytes: &[u8], count: u32) -> Vec<String> {
    let lines = decode(address, bytes, 64, count, false).0;
    lines.into_iter().map(|line| line.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(lines: &[Line]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn instructions_come_with_address_bytes_and_radix() {
        let (lines, next, ended) = decode(
            0xffff_f801_0000_1000,
            &[0x48, 0x83, 0xec, 0x28, 0xc3],
            64,
            2,
            false,
        );
        assert_eq!(lines_of(&lines), ["sub rsp, 0x28", "ret"]);
        assert_eq!(
            (lines[1].address, lines[1].bytes.to_string()),
            (Hex(0xffff_f801_0000_1004), "c3".to_owned())
        );
        assert_eq!((next, ended), (0xffff_f801_0000_1005, End::Count));
        assert_eq!(lines_of(&decode(0, &[0x40], 32, 1, false).0), ["inc eax"]);
    }

    #[test]
    fn it_ends_before_what_is_no_instruction_or_not_there() {
        let (lines, next, ended) = decode(0x1000, &[0x90, 0x06, 0x90], 64, 9, false);
        assert_eq!((lines.len(), next, ended), (1, 0x1001, End::Invalid));
        let (lines, next, ended) = decode(0x1000, &[0x90, 0xe8, 0x00], 64, 9, true);
        assert_eq!((lines.len(), next, ended), (1, 0x1001, End::Unreadable));
        assert_eq!(decode(0x1000, &[0x90], 64, 9, true).2, End::Unreadable);
    }
}
