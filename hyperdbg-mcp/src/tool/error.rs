//! Errors as an agent sees them: a stable category, what happened, and what to do now.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::output::Untrusted;

/// Stable kinds of failure; their names are part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// An argument is malformed, out of range or contradictory.
    InvalidArgument,
    /// The server's policy does not allow it.
    PolicyDenied,
    /// A person did not confirm it.
    NotConfirmed,
    /// There is no session, or nothing is attached.
    NotConnected,
    /// The session is connected in a mode in which this does not work.
    WrongMode,
    /// The target runs and must be halted first.
    TargetRunning,
    /// A kernel module (kd, vmm, trace) or symbol is not loaded.
    NotLoaded,
    /// The processor lacks the feature.
    UnsupportedCpu,
    /// The memory cannot be read or written.
    Unreadable,
    /// The debugger refused; its own text is attached.
    Debugger,
    /// The deadline passed.
    Timeout,
    /// The client took the request back.
    Cancelled,
    /// Another call is being made.
    Busy,
    /// The worker process ended.
    WorkerLost,
    /// The loaded library does not export the function.
    MissingExport,
    /// The loaded library is of another SDK, in which the function or what it takes is otherwise.
    AbiMismatch,
    /// A defect of this program.
    Internal,
}

impl Category {
    /// Every category.
    pub const ALL: [Self; 17] = [
        Self::InvalidArgument,
        Self::PolicyDenied,
        Self::NotConfirmed,
        Self::NotConnected,
        Self::WrongMode,
        Self::TargetRunning,
        Self::NotLoaded,
        Self::UnsupportedCpu,
        Self::Unreadable,
        Self::Debugger,
        Self::Timeout,
        Self::Cancelled,
        Self::Busy,
        Self::WorkerLost,
        Self::MissingExport,
        Self::AbiMismatch,
        Self::Internal,
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::PolicyDenied => "policy_denied",
            Self::NotConfirmed => "not_confirmed",
            Self::NotConnected => "not_connected",
            Self::WrongMode => "wrong_mode",
            Self::TargetRunning => "target_running",
            Self::NotLoaded => "not_loaded",
            Self::UnsupportedCpu => "unsupported_cpu",
            Self::Unreadable => "unreadable",
            Self::Debugger => "debugger",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Busy => "busy",
            Self::WorkerLost => "worker_lost",
            Self::MissingExport => "missing_export",
            Self::AbiMismatch => "abi_mismatch",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failed tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// Stable kind.
    pub category: Category,
    /// What happened; our own words only.
    pub message: String,
    /// What to do now.
    pub next_step: Option<String>,
    /// HyperDbg's error code (`0xc00000xx`), where one was reported.
    pub code: Option<u32>,
    /// What the library printed.
    pub captured: Option<Untrusted>,
}

impl ToolError {
    /// An error of a category.
    pub fn new(category: Category, message: impl Into<String>) -> Self {
        Self {
            category,
            message: message.into(),
            next_step: None,
            code: None,
            captured: None,
        }
    }

    /// A defect of this program.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Category::Internal, message)
            .next_step("This is a defect of hyperdbg-mcp: please report it.")
    }

    /// The same error with what to do now.
    #[must_use]
    pub fn next_step(mut self, step: impl Into<String>) -> Self {
        self.next_step = Some(step.into());
        self
    }

    /// The same error with HyperDbg's code.
    #[must_use]
    pub fn code(mut self, code: u32) -> Self {
        self.code = Some(code);
        self
    }

    /// The same error with what the library printed; empty text counts as none.
    #[must_use]
    pub fn captured(mut self, text: impl Into<Untrusted>) -> Self {
        let text = text.into();
        self.captured = (!text.is_empty()).then_some(text);
        self
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.category, self.message)?;
        if let Some(step) = &self.next_step {
            write!(f, " {step}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ToolError {}
