//! A look-alike libhyperdbg over a small deterministic machine.

// Registers and guest memory are cut to the size of an operand all over an emulator: that is what
// the narrowing casts are for.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

pub mod assembler;
pub mod console;
pub mod disassembly;
pub mod errors;
pub mod machine;
pub mod script;
pub mod tokens;
