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

#[derive(Debug)]
pub enum DispatchError {
    MissingExport(&'static str),
    BadArgument {
        symbol: &'static str,
        param: &'static str,
        why: String,
    },
}

/// # Safety
/// On the thread that owns the library.
pub unsafe fn dispatch(exports: &hyperdbg_sys::Exports, call: Call) -> Result<Reply, DispatchError> {
    match call {
        Call::RunCommand(args) => {
            let run = exports
                .hyperdbg_u_run_command
                .ok_or(DispatchError::MissingExport("hyperdbg_u_run_command"))?;
            let command = std::ffi::CString::new(args.command).map_err(|error| DispatchError::BadArgument {
                symbol: "hyperdbg_u_run_command",
                param: "command",
                why: error.to_string(),
            })?;
            // SAFETY: a C string that lives through the call.
            let returned = unsafe { run(command.as_ptr().cast_mut()) };
            Ok(Reply::RunCommand(RunCommandReply { returned }))
        }
    }
}
