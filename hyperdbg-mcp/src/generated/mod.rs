//! PROVISIONAL, hand-made for two functions in the shape that the generator emits; replaced by its output.
#![allow(missing_docs)]

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::{Engine, Outcome};
use crate::tier::{Destructive, Permits, Tier};
use crate::tool::{FunctionInfo, Success, ToolError};

pub static RUN_COMMAND: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_run_command",
    tier: Tier::Destructive,
    success: Success::Unsaid,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(30_000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCommandArgs {
    pub command: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCommandReply {
    pub returned: i32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Call {
    RunCommand(RunCommandArgs),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    RunCommand(RunCommandReply),
}

impl Call {
    pub fn function(&self) -> &'static FunctionInfo {
        match self {
            Self::RunCommand(_) => &RUN_COMMAND,
        }
    }
}

impl<T: Permits<Destructive>> Engine<T> {
    #[doc(alias = "hyperdbg_u_run_command")]
    pub async fn run_command(&self, args: RunCommandArgs) -> Result<Outcome<RunCommandReply>, ToolError> {
        self.invoke(Call::RunCommand(args)).await?.try_map(|reply| match reply {
            Reply::RunCommand(reply) => Ok(reply),
            #[allow(unreachable_patterns)]
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub mod errors {
    use crate::tool::Category;

    #[derive(Debug)]
    pub struct ErrorInfo {
        pub code: u32,
        pub name: &'static str,
        pub meaning: &'static str,
        pub next_step: &'static str,
        pub category: Category,
    }

    pub static ERRORS: &[ErrorInfo] = &[ErrorInfo {
        code: 0xc000_0005,
        name: "DEBUGGER_ERROR_INVALID_ADDRESS",
        meaning: "The address is not valid in the target.",
        next_step: "Check the address.",
        category: Category::Unreadable,
    }];

    pub fn lookup(code: u32) -> Option<&'static ErrorInfo> {
        ERRORS.iter().find(|info| info.code == code)
    }
}

pub static TOOLS: &[crate::tool::Tool] = &[];
