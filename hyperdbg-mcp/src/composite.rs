//! The hand-written tools.

mod breakpoints;
mod budget;
mod calls;
mod command;
mod connect;
mod disassemble;
mod events;
mod execution;
mod halted;
mod log;
mod memory;
mod modules;
mod noted;
mod output;
mod preview;
mod registers;
mod run_to;
mod script;
mod session;
mod status;
mod step;
mod stop;

pub(crate) use breakpoints::at as breakpoints_at;
pub(crate) use connect::connect;
pub(crate) use log::line as log_line;
pub(crate) use preview::{replaced, sent};
pub(crate) use session::{changes, take_back};

use crate::tool::Tool;

/// Every hand-written tool, in the order in which clients see them.
pub static TOOLS: &[Tool] = &[
    status::HD_SESSION_STATUS,
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
    step::HD_EXEC_STEP,
    run_to::HD_EXEC_RUN_TO,
    breakpoints::HD_BP_SET,
    modules::HD_MOD_LIST,
    script::HD_SCRIPT_EVAL,
    script::HD_SCRIPT_RUN,
    command::HD_EXEC_COMMAND,
    output::HD_OUTPUT_READ,
    session::HD_LINK_RELEASE,
    log::HD_EVENT_READ,
    events::HD_EVENT_SET,
    events::HD_EVENT_LIST,
    events::HD_EVENT_ENABLE,
    events::HD_EVENT_DISABLE,
    events::HD_EVENT_CLEAR,
];
