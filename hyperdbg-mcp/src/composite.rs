//! The hand-written tools.

mod breakpoints;
mod calls;
mod command;
mod disassemble;
mod execution;
mod memory;
mod modules;
mod output;
mod preview;
mod registers;
mod script;
mod session;
mod stop;

pub(crate) use preview::replaced;
pub(crate) use session::connect;

use crate::tool::Tool;

/// Every hand-written tool, in the order in which clients see them.
pub static TOOLS: &[Tool] = &[
    session::HD_SESSION_STATUS,
    session::HD_SESSION_OPEN,
    session::HD_SESSION_CLOSE,
    memory::HD_MEM_READ,
    memory::HD_MEM_WRITE,
    disassemble::HD_MEM_DISASSEMBLE,
    registers::HD_REG_READ_ALL,
    registers::HD_REG_READ,
    registers::HD_REG_WRITE,
    execution::HD_EXEC_CONTINUE,
    execution::HD_EXEC_WAIT,
    execution::HD_EXEC_PAUSE,
    execution::HD_EXEC_STEP,
    breakpoints::HD_BP_SET,
    modules::HD_MOD_LIST,
    script::HD_SCRIPT_EVAL,
    script::HD_SCRIPT_RUN,
    command::HD_EXEC_COMMAND,
    output::HD_OUTPUT_READ,
];
