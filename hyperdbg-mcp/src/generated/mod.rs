//! PROVISIONAL, hand-made in the shape that the generator emits; replaced by its output.
#![allow(missing_docs)]

use std::time::Duration;

use hyperdbg_sys::*;
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, Outcome};
use crate::tier::{Destructive, Permits, Read, State, Tier};
use crate::tool::{FunctionInfo, Success, ToolError};

pub static RUN_COMMAND: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_run_command",
    tier: Tier::Destructive,
    success: Success::Unsaid,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(15000),
    until_stop: true,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCommandArgs {
    pub command: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCommandReply {
    pub returned: i32,
}

impl<T: Permits<Destructive>> Engine<T> {
    pub async fn run_command(&self, args: RunCommandArgs) -> Result<Outcome<RunCommandReply>, ToolError> {
        self.invoke(Call::RunCommand(args)).await?.try_map(|reply| match reply {
            Reply::RunCommand(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static CONTINUE_DEBUGGEE: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_continue_debuggee",
    tier: Tier::State,
    success: Success::Unsaid,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(30000),
    until_stop: true,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContinueDebuggeeArgs {
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContinueDebuggeeReply {
}

impl<T: Permits<State>> Engine<T> {
    pub async fn continue_debuggee(&self, args: ContinueDebuggeeArgs) -> Result<Outcome<ContinueDebuggeeReply>, ToolError> {
        self.invoke(Call::ContinueDebuggee(args)).await?.try_map(|reply| match reply {
            Reply::ContinueDebuggee(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static PAUSE_DEBUGGEE: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_pause_debuggee",
    tier: Tier::State,
    success: Success::Unsaid,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(10000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseDebuggeeArgs {
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseDebuggeeReply {
}

impl<T: Permits<State>> Engine<T> {
    pub async fn pause_debuggee(&self, args: PauseDebuggeeArgs) -> Result<Outcome<PauseDebuggeeReply>, ToolError> {
        self.invoke(Call::PauseDebuggee(args)).await?.try_map(|reply| match reply {
            Reply::PauseDebuggee(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static STEPPING_REGULAR_STEP_IN: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_stepping_regular_step_in",
    tier: Tier::State,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(10000),
    until_stop: true,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteppingRegularStepInArgs {
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteppingRegularStepInReply {
    pub returned: u8,
}

impl<T: Permits<State>> Engine<T> {
    pub async fn stepping_regular_step_in(&self, args: SteppingRegularStepInArgs) -> Result<Outcome<SteppingRegularStepInReply>, ToolError> {
        self.invoke(Call::SteppingRegularStepIn(args)).await?.try_map(|reply| match reply {
            Reply::SteppingRegularStepIn(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static STEPPING_STEP_OVER: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_stepping_step_over",
    tier: Tier::State,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(10000),
    until_stop: true,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteppingStepOverArgs {
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteppingStepOverReply {
    pub returned: u8,
}

impl<T: Permits<State>> Engine<T> {
    pub async fn stepping_step_over(&self, args: SteppingStepOverArgs) -> Result<Outcome<SteppingStepOverReply>, ToolError> {
        self.invoke(Call::SteppingStepOver(args)).await?.try_map(|reply| match reply {
            Reply::SteppingStepOver(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static STEPPING_INSTRUMENTATION_STEP_IN: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_stepping_instrumentation_step_in",
    tier: Tier::State,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(10000),
    until_stop: true,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteppingInstrumentationStepInArgs {
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteppingInstrumentationStepInReply {
    pub returned: u8,
}

impl<T: Permits<State>> Engine<T> {
    pub async fn stepping_instrumentation_step_in(&self, args: SteppingInstrumentationStepInArgs) -> Result<Outcome<SteppingInstrumentationStepInReply>, ToolError> {
        self.invoke(Call::SteppingInstrumentationStepIn(args)).await?.try_map(|reply| match reply {
            Reply::SteppingInstrumentationStepIn(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static READ_MEMORY: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_read_memory",
    tier: Tier::Read,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(10000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadMemoryArgs {
    pub address: u64,
    pub memory_type: DEBUGGER_READ_MEMORY_TYPE,
    pub pid: u32,
    pub size: u32,
    pub want_address_mode: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadMemoryReply {
    pub returned: u8,
    pub address_mode: DEBUGGER_READ_MEMORY_ADDRESS_MODE,
    pub bytes: Vec<u8>,
}

impl<T: Permits<Read>> Engine<T> {
    pub async fn read_memory(&self, args: ReadMemoryArgs) -> Result<Outcome<ReadMemoryReply>, ToolError> {
        self.invoke(Call::ReadMemory(args)).await?.try_map(|reply| match reply {
            Reply::ReadMemory(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static WRITE_MEMORY: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_write_memory",
    tier: Tier::Destructive,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(10000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteMemoryArgs {
    pub address: u64,
    pub memory_type: DEBUGGER_EDIT_MEMORY_TYPE,
    pub pid: u32,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteMemoryReply {
    pub returned: u8,
}

impl<T: Permits<Destructive>> Engine<T> {
    pub async fn write_memory(&self, args: WriteMemoryArgs) -> Result<Outcome<WriteMemoryReply>, ToolError> {
        self.invoke(Call::WriteMemory(args)).await?.try_map(|reply| match reply {
            Reply::WriteMemory(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static READ_ALL_REGISTERS: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_read_all_registers",
    tier: Tier::Read,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(10000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAllRegistersArgs {
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAllRegistersReply {
    pub returned: u8,
    pub general: Packet<GUEST_REGS>,
    pub extra: Packet<GUEST_EXTRA_REGISTERS>,
}

impl<T: Permits<Read>> Engine<T> {
    pub async fn read_all_registers(&self, args: ReadAllRegistersArgs) -> Result<Outcome<ReadAllRegistersReply>, ToolError> {
        self.invoke(Call::ReadAllRegisters(args)).await?.try_map(|reply| match reply {
            Reply::ReadAllRegisters(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static READ_TARGET_REGISTER: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_read_target_register",
    tier: Tier::Read,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(10000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTargetRegisterArgs {
    pub register: REGS_ENUM,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTargetRegisterReply {
    pub returned: u8,
    pub value: u64,
}

impl<T: Permits<Read>> Engine<T> {
    pub async fn read_target_register(&self, args: ReadTargetRegisterArgs) -> Result<Outcome<ReadTargetRegisterReply>, ToolError> {
        self.invoke(Call::ReadTargetRegister(args)).await?.try_map(|reply| match reply {
            Reply::ReadTargetRegister(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static WRITE_TARGET_REGISTER: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_write_target_register",
    tier: Tier::Destructive,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(10000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteTargetRegisterArgs {
    pub register: REGS_ENUM,
    pub value: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteTargetRegisterReply {
    pub returned: u8,
}

impl<T: Permits<Destructive>> Engine<T> {
    pub async fn write_target_register(&self, args: WriteTargetRegisterArgs) -> Result<Outcome<WriteTargetRegisterReply>, ToolError> {
        self.invoke(Call::WriteTargetRegister(args)).await?.try_map(|reply| match reply {
            Reply::WriteTargetRegister(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static SET_BREAKPOINT: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_set_breakpoint",
    tier: Tier::State,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(10000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetBreakpointArgs {
    pub address: u64,
    pub pid: u32,
    pub tid: u32,
    pub core: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetBreakpointReply {
    pub returned: u8,
}

impl<T: Permits<State>> Engine<T> {
    pub async fn set_breakpoint(&self, args: SetBreakpointArgs) -> Result<Outcome<SetBreakpointReply>, ToolError> {
        self.invoke(Call::SetBreakpoint(args)).await?.try_map(|reply| match reply {
            Reply::SetBreakpoint(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static EVAL_EXPRESSION: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_eval_expression",
    tier: Tier::Destructive,
    success: Success::Unsaid,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(10000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalExpressionArgs {
    pub expression: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvalExpressionReply {
    pub returned: u64,
    pub has_error: bool,
}

impl<T: Permits<Destructive>> Engine<T> {
    pub async fn eval_expression(&self, args: EvalExpressionArgs) -> Result<Outcome<EvalExpressionReply>, ToolError> {
        self.invoke(Call::EvalExpression(args)).await?.try_map(|reply| match reply {
            Reply::EvalExpression(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static RUN_SCRIPT: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_run_script",
    tier: Tier::Destructive,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(15000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunScriptArgs {
    pub script: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunScriptReply {
    pub returned: u8,
}

impl<T: Permits<Destructive>> Engine<T> {
    pub async fn run_script(&self, args: RunScriptArgs) -> Result<Outcome<RunScriptReply>, ToolError> {
        self.invoke(Call::RunScript(args)).await?.try_map(|reply| match reply {
            Reply::RunScript(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static CONNECT_LOCAL_DEBUGGER: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_connect_local_debugger",
    tier: Tier::State,
    success: Success::Unsaid,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(5000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectLocalDebuggerArgs {
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectLocalDebuggerReply {
}

impl<T: Permits<State>> Engine<T> {
    pub async fn connect_local_debugger(&self, args: ConnectLocalDebuggerArgs) -> Result<Outcome<ConnectLocalDebuggerReply>, ToolError> {
        self.invoke(Call::ConnectLocalDebugger(args)).await?.try_map(|reply| match reply {
            Reply::ConnectLocalDebugger(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static CONNECT_REMOTE_DEBUGGER: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_connect_remote_debugger",
    tier: Tier::State,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(30000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectRemoteDebuggerArgs {
    pub ip: Vec<u8>,
    pub port: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectRemoteDebuggerReply {
    pub returned: u8,
}

impl<T: Permits<State>> Engine<T> {
    pub async fn connect_remote_debugger(&self, args: ConnectRemoteDebuggerArgs) -> Result<Outcome<ConnectRemoteDebuggerReply>, ToolError> {
        self.invoke(Call::ConnectRemoteDebugger(args)).await?.try_map(|reply| match reply {
            Reply::ConnectRemoteDebugger(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static CONNECT_REMOTE_DEBUGGER_USING_COM_PORT: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_connect_remote_debugger_using_com_port",
    tier: Tier::State,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(60000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectRemoteDebuggerUsingComPortArgs {
    pub port: Vec<u8>,
    pub baudrate: u32,
    pub pause: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectRemoteDebuggerUsingComPortReply {
    pub returned: u8,
}

impl<T: Permits<State>> Engine<T> {
    pub async fn connect_remote_debugger_using_com_port(&self, args: ConnectRemoteDebuggerUsingComPortArgs) -> Result<Outcome<ConnectRemoteDebuggerUsingComPortReply>, ToolError> {
        self.invoke(Call::ConnectRemoteDebuggerUsingComPort(args)).await?.try_map(|reply| match reply {
            Reply::ConnectRemoteDebuggerUsingComPort(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static CONNECT_REMOTE_DEBUGGER_USING_NAMED_PIPE: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_connect_remote_debugger_using_named_pipe",
    tier: Tier::State,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(60000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectRemoteDebuggerUsingNamedPipeArgs {
    pub pipe: Vec<u8>,
    pub pause: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectRemoteDebuggerUsingNamedPipeReply {
    pub returned: u8,
}

impl<T: Permits<State>> Engine<T> {
    pub async fn connect_remote_debugger_using_named_pipe(&self, args: ConnectRemoteDebuggerUsingNamedPipeArgs) -> Result<Outcome<ConnectRemoteDebuggerUsingNamedPipeReply>, ToolError> {
        self.invoke(Call::ConnectRemoteDebuggerUsingNamedPipe(args)).await?.try_map(|reply| match reply {
            Reply::ConnectRemoteDebuggerUsingNamedPipe(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static DEBUG_CLOSE_REMOTE_DEBUGGER: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_debug_close_remote_debugger",
    tier: Tier::Destructive,
    success: Success::NonZero,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(15000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DebugCloseRemoteDebuggerArgs {
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DebugCloseRemoteDebuggerReply {
    pub returned: u8,
}

impl<T: Permits<Destructive>> Engine<T> {
    pub async fn debug_close_remote_debugger(&self, args: DebugCloseRemoteDebuggerArgs) -> Result<Outcome<DebugCloseRemoteDebuggerReply>, ToolError> {
        self.invoke(Call::DebugCloseRemoteDebugger(args)).await?.try_map(|reply| match reply {
            Reply::DebugCloseRemoteDebugger(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static IS_ANY_MODULE_LOADED: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_is_any_module_loaded",
    tier: Tier::Read,
    success: Success::Unsaid,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(5000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsAnyModuleLoadedArgs {
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsAnyModuleLoadedReply {
    pub returned: u8,
}

impl<T: Permits<Read>> Engine<T> {
    pub async fn is_any_module_loaded(&self, args: IsAnyModuleLoadedArgs) -> Result<Outcome<IsAnyModuleLoadedReply>, ToolError> {
        self.invoke(Call::IsAnyModuleLoaded(args)).await?.try_map(|reply| match reply {
            Reply::IsAnyModuleLoaded(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

pub static SHOW_SIGNATURE: FunctionInfo = FunctionInfo {
    symbol: "hyperdbg_u_show_signature",
    tier: Tier::Read,
    success: Success::Unsaid,
    status_ok: None,
    text_errors: true,
    deadline: Duration::from_millis(5000),
    until_stop: false,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShowSignatureArgs {
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShowSignatureReply {
}

impl<T: Permits<Read>> Engine<T> {
    pub async fn show_signature(&self, args: ShowSignatureArgs) -> Result<Outcome<ShowSignatureReply>, ToolError> {
        self.invoke(Call::ShowSignature(args)).await?.try_map(|reply| match reply {
            Reply::ShowSignature(reply) => Ok(reply),
            other => Err(ToolError::internal(format!("the worker answered another call: {other:?}"))),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Call {
    RunCommand(RunCommandArgs),
    ContinueDebuggee(ContinueDebuggeeArgs),
    PauseDebuggee(PauseDebuggeeArgs),
    SteppingRegularStepIn(SteppingRegularStepInArgs),
    SteppingStepOver(SteppingStepOverArgs),
    SteppingInstrumentationStepIn(SteppingInstrumentationStepInArgs),
    ReadMemory(ReadMemoryArgs),
    WriteMemory(WriteMemoryArgs),
    ReadAllRegisters(ReadAllRegistersArgs),
    ReadTargetRegister(ReadTargetRegisterArgs),
    WriteTargetRegister(WriteTargetRegisterArgs),
    SetBreakpoint(SetBreakpointArgs),
    EvalExpression(EvalExpressionArgs),
    RunScript(RunScriptArgs),
    ConnectLocalDebugger(ConnectLocalDebuggerArgs),
    ConnectRemoteDebugger(ConnectRemoteDebuggerArgs),
    ConnectRemoteDebuggerUsingComPort(ConnectRemoteDebuggerUsingComPortArgs),
    ConnectRemoteDebuggerUsingNamedPipe(ConnectRemoteDebuggerUsingNamedPipeArgs),
    DebugCloseRemoteDebugger(DebugCloseRemoteDebuggerArgs),
    IsAnyModuleLoaded(IsAnyModuleLoadedArgs),
    ShowSignature(ShowSignatureArgs),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    RunCommand(RunCommandReply),
    ContinueDebuggee(ContinueDebuggeeReply),
    PauseDebuggee(PauseDebuggeeReply),
    SteppingRegularStepIn(SteppingRegularStepInReply),
    SteppingStepOver(SteppingStepOverReply),
    SteppingInstrumentationStepIn(SteppingInstrumentationStepInReply),
    ReadMemory(ReadMemoryReply),
    WriteMemory(WriteMemoryReply),
    ReadAllRegisters(ReadAllRegistersReply),
    ReadTargetRegister(ReadTargetRegisterReply),
    WriteTargetRegister(WriteTargetRegisterReply),
    SetBreakpoint(SetBreakpointReply),
    EvalExpression(EvalExpressionReply),
    RunScript(RunScriptReply),
    ConnectLocalDebugger(ConnectLocalDebuggerReply),
    ConnectRemoteDebugger(ConnectRemoteDebuggerReply),
    ConnectRemoteDebuggerUsingComPort(ConnectRemoteDebuggerUsingComPortReply),
    ConnectRemoteDebuggerUsingNamedPipe(ConnectRemoteDebuggerUsingNamedPipeReply),
    DebugCloseRemoteDebugger(DebugCloseRemoteDebuggerReply),
    IsAnyModuleLoaded(IsAnyModuleLoadedReply),
    ShowSignature(ShowSignatureReply),
}

impl Call {
    pub fn function(&self) -> &'static FunctionInfo {
        match self {
            Self::RunCommand(_) => &RUN_COMMAND,
            Self::ContinueDebuggee(_) => &CONTINUE_DEBUGGEE,
            Self::PauseDebuggee(_) => &PAUSE_DEBUGGEE,
            Self::SteppingRegularStepIn(_) => &STEPPING_REGULAR_STEP_IN,
            Self::SteppingStepOver(_) => &STEPPING_STEP_OVER,
            Self::SteppingInstrumentationStepIn(_) => &STEPPING_INSTRUMENTATION_STEP_IN,
            Self::ReadMemory(_) => &READ_MEMORY,
            Self::WriteMemory(_) => &WRITE_MEMORY,
            Self::ReadAllRegisters(_) => &READ_ALL_REGISTERS,
            Self::ReadTargetRegister(_) => &READ_TARGET_REGISTER,
            Self::WriteTargetRegister(_) => &WRITE_TARGET_REGISTER,
            Self::SetBreakpoint(_) => &SET_BREAKPOINT,
            Self::EvalExpression(_) => &EVAL_EXPRESSION,
            Self::RunScript(_) => &RUN_SCRIPT,
            Self::ConnectLocalDebugger(_) => &CONNECT_LOCAL_DEBUGGER,
            Self::ConnectRemoteDebugger(_) => &CONNECT_REMOTE_DEBUGGER,
            Self::ConnectRemoteDebuggerUsingComPort(_) => &CONNECT_REMOTE_DEBUGGER_USING_COM_PORT,
            Self::ConnectRemoteDebuggerUsingNamedPipe(_) => &CONNECT_REMOTE_DEBUGGER_USING_NAMED_PIPE,
            Self::DebugCloseRemoteDebugger(_) => &DEBUG_CLOSE_REMOTE_DEBUGGER,
            Self::IsAnyModuleLoaded(_) => &IS_ANY_MODULE_LOADED,
            Self::ShowSignature(_) => &SHOW_SIGNATURE,
        }
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
        other => Err(DispatchError::MissingExport(other.function().symbol)),
    }
}
