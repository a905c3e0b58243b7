//! A look-alike libhyperdbg over a small deterministic machine.
//!
//! The crate exports the same C symbols as the library (see `generated.rs`), with the same types, text and
//! return values, wrong ones included. Behind them runs a machine with two cores, physical and virtual memory,
//! a small kernel, drivers and processes, all in real x86-64 code that is executed step by step.
//!
//! - as a shared library it is loaded where libhyperdbg would be; `hyperdbg_simulator_version` tells it apart;
//! - as a Rust library it is linked in: [`generated::lookup`] finds an export by name, and a [`session::Session`]
//!   is the same debugger behind a safe interface.
//!
//! # Machine
//! Nothing in the machine knows a clock or a random number: the same calls give the same answers. Only where a
//! running debuggee is broken into depends on time, and even then it stops at a place where it waits anyway.
//!
//! # Whom it can reach
//! - any named pipe has the debuggee at its other end, except one whose name ends in `absent`, which does not exist;
//! - so has any serial port, except `com4`, where nobody ever answers;
//! - over TCP, `192.0.2.1` has a second machine in VMI mode, `192.0.2.2` accepts and stays silent, and everybody else
//!   refuses;
//! - in VMI mode `notepad.exe`, `explorer.exe` and `svchost.exe` can be started under the user debugger.
//!
//! # Faults
//! The variable `HYPERDBG_SIM_FAULT` arms faults (`hang`, `late-event=100`, `crash@db`, `short-read`, with commas
//! between), and the command `!sim FAULT` causes one. With `@WORD` a fault waits for that command or export.
//! `!sim driver` is no fault: it tells which driver would be installed.
//!
//! | fault | effect |
//! | --- | --- |
//! | `hang` | the call never returns |
//! | `crash` | the process dies of an invalid address (SIGSEGV) |
//! | `abort` | the process aborts, as on an escaped C++ exception |
//! | `exit` | the process exits with code 0 |
//! | `stdout` | a line goes to standard output, past the callback |
//! | `stderr-flood` | a megabyte goes to standard error |
//! | `flood` | messages are sent without end |
//! | `long-chunk` | one message of 4355 bytes |
//! | `invalid-utf8` | a message that is no UTF-8 and holds escapes |
//! | `split-utf8` | a character is cut between two messages |
//! | `late-event` | another thread sends text MILLISECONDS later (250) |
//! | `foreign-text` | another thread sends text during the call |
//! | `endless-events` | another thread sends text from then on, to the very end of the process |
//! | `late-reply` | the call returns MILLISECONDS late (250) |
//! | `short-read` | memory reads return half of the bytes |
//! | `wrong-return` | typed exports claim success and do nothing |
//! | `race` | the process aborts when two threads call at once |
//! | `hostile` | names, memory and every answer hold what misleads their reader |

// Registers and guest memory are cut to the size of an operand all over an emulator: that is what
// the narrowing casts are for.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

pub mod api;
mod api_support;
pub mod assembler;
pub mod commands;
pub mod console;
pub mod disassembly;
pub mod errors;
pub mod fault;
#[rustfmt::skip]
pub mod generated;
pub mod hostile;
mod interrupt;
pub mod machine;
pub mod script;
pub mod session;
pub mod tokens;

/// The type whose methods stand behind the exports.
pub struct Simulator;
