//! A small text assembler: Intel syntax in, x86-64 bytes out.
//!
//! It builds the machine's own code and stands behind the assemble exports. The encodings are
//! iced-x86's; this module only finds the one that fits the operands.

mod parse;
mod select;

use iced_x86::{BlockEncoder, BlockEncoderOptions, Instruction, InstructionBlock};
use std::fmt;

pub use parse::{Operand, Statement};

/// Machine code of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Statements that became an instruction.
    pub statements: usize,
}

/// What is wrong with a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssembleError {
    /// The statement, as written.
    pub statement: String,
    /// Why it does not assemble.
    pub reason: String,
}

impl fmt::Display for AssembleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}': {}", self.statement, self.reason)
    }
}

impl std::error::Error for AssembleError {}

/// Finds the address of a symbol.
pub type Resolve<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// Assembles `text` for `address`. Statements end at a newline or a `;`; a word with a colon is a
/// label; `//` starts a comment.
///
/// # Errors
/// The first statement that is no instruction, or whose operands fit no encoding.
pub fn assemble(text: &str, address: u64, resolve: Resolve<'_>) -> Result<Assembled, AssembleError> {
    let mut statements = Vec::new();
    let mut labels: Vec<(String, usize)> = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        for source in line.split(';') {
            let mut source = source.trim();
            while let Some((label, rest)) = parse::leading_label(source) {
                labels.push((label.to_owned(), statements.len()));
                source = rest.trim();
            }
            if !source.is_empty() {
                statements.push(source.to_owned());
            }
        }
    }
    // Inside the block, instruction N has the address N + 1 until the block is laid out; no symbol
    // of the machine lives there.
    let local = |name: &str| {
        let label = labels.iter().find(|(label, _)| label == name)?;
        Some(label.1 as u64 + 1)
    };
    let lookup = |name: &str| local(name).or_else(|| resolve(name));
    let mut instructions: Vec<Instruction> = Vec::with_capacity(statements.len());
    for (index, source) in statements.iter().enumerate() {
        let fail = |reason: String| AssembleError {
            statement: source.clone(),
            reason,
        };
        let statement = parse::statement(source, &lookup).map_err(fail)?;
        let mut instruction = select::select(&statement).map_err(fail)?;
        instruction.set_ip(index as u64 + 1);
        instructions.push(instruction);
    }
    let block = InstructionBlock::new(&instructions, address);
    let encoded =
        BlockEncoder::encode(64, block, BlockEncoderOptions::NONE).map_err(|error| AssembleError {
            statement: statements.join("; "),
            reason: error.to_string(),
        })?;
    Ok(Assembled {
        bytes: encoded.code_buffer,
        statements: statements.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        let known = |name: &str| match name {
            "nt!Somewhere" => Some(0x1_0000_1000),
            _ => None,
        };
        assemble(text, 0x1_0000_0000, &known)
            .unwrap_or_else(|error| panic!("{error}"))
            .bytes
    }

    #[test]
    fn common_instructions_have_their_shortest_encoding() {
        assert_eq!(bytes("nop; ret; int3"), [0x90, 0xc3, 0xcc]);
        assert_eq!(bytes("mov rax, rbx"), [0x48, 0x89, 0xd8]);
        assert_eq!(bytes("sub rsp, 0x28"), [0x48, 0x83, 0xec, 0x28]);
        assert_eq!(bytes("mov eax, 5"), [0xb8, 5, 0, 0, 0]);
        assert_eq!(bytes("mov rax, 0xfffff80312345678").len(), 10);
        assert_eq!(
            bytes("mov rax, gs:[0x188]"),
            [0x65, 0x48, 0x8b, 0x04, 0x25, 0x88, 1, 0, 0]
        );
        assert_eq!(bytes("push rbp"), [0x55]);
        assert_eq!(bytes("rep movsb"), [0xf3, 0xa4]);
        assert_eq!(bytes("mov cr3, rax"), [0x0f, 0x22, 0xd8]);
    }

    #[test]
    fn labels_and_symbols_become_relative_operands() {
        assert_eq!(bytes("again: jmp again"), [0xeb, 0xfe]);
        assert_eq!(bytes("call nt!Somewhere"), [0xe8, 0xfb, 0x0f, 0, 0]);
        assert_eq!(
            bytes("lea rcx, [nt!Somewhere]"),
            [0x48, 0x8d, 0x0d, 0xf9, 0x0f, 0, 0]
        );
        assert_eq!(bytes("je over\nnop\nover: ret"), [0x74, 1, 0x90, 0xc3]);
    }

    #[test]
    fn nonsense_is_refused_with_the_statement() {
        let nothing = |_: &str| None;
        let error = assemble("nop\nfrobnicate rax", 0, &nothing).expect_err("unknown");
        assert_eq!(error.statement, "frobnicate rax");
        assert!(
            assemble(".incbin \"file\"", 0, &nothing).is_err(),
            "files are never read"
        );
        assert!(assemble("mov rax, nosuch!Symbol", 0, &nothing).is_err());
        assert!(assemble("mov al, rbx", 0, &nothing).is_err(), "sizes differ");
        assert!(assemble("mov rax, [rbx", 0, &nothing).is_err());
    }
}
