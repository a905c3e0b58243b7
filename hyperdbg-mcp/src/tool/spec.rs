//! Descriptions of tools and of the functions behind them: static tables, filled by the generator and by
//! `#[composite_tool]`.

use std::time::Duration;

use crate::tier::Tier;

/// What clients are told of a tool's nature; derived from its tier, and only ever stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// Calling it twice does no more than calling it once.
    pub idempotent: bool,
    /// It reaches another machine.
    pub open_world: bool,
}

/// Where a JSON Schema comes from.
#[derive(Debug, Clone, Copy)]
pub enum SchemaSource {
    /// Generated text, already in the portable form.
    Json(&'static str),
    /// Derived from a Rust type; brought into the portable form when served.
    Rust(fn() -> schemars::Schema),
}

/// What clients see of a tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolSpec {
    /// `hd_<group>_<verb>`.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// For the agent, at most 1,000 characters.
    pub description: &'static str,
    /// Group, as `--tools` takes it.
    pub group: &'static str,
    /// Safety tier.
    pub tier: Tier,
    /// Whether the group is part of the default surface.
    pub default: bool,
    /// Further hints.
    pub hints: Hints,
    /// Schema of the arguments.
    pub input_schema: SchemaSource,
    /// Schema of the result's typed fields.
    pub output_schema: SchemaSource,
    /// Exports that it needs; one that is missing disables it.
    pub functions: &'static [&'static str],
}

/// How a function tells that it succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Success {
    /// A non-zero return value.
    NonZero,
    /// A return value of zero.
    Zero,
    /// The return value says nothing; text and status field do.
    Unsaid,
}

/// What the catalog and the annotations know of one callable function.
#[derive(Debug)]
pub struct FunctionInfo {
    /// Exported symbol.
    pub symbol: &'static str,
    /// Safety tier.
    pub tier: Tier,
    /// How it tells success.
    pub success: Success,
    /// The value of its status field that means success, where it has one.
    pub status_ok: Option<u64>,
    /// Whether an `err, …` line in its text means failure.
    pub text_errors: bool,
    /// How long a call may take before the worker is interrupted.
    pub deadline: Duration,
    /// Whether it returns only at the debuggee's next stop.
    pub until_stop: bool,
}
