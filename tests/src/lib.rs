//! Helpers of the end-to-end tests: the real program as a child process, spoken to line by line.
//!
//! The client here is deliberately dumb and knows no MCP library, so that what is tested is the wire.

// Helpers of tests fail by panicking; that is their job.
#![allow(clippy::expect_used)]

mod client;
mod files;
#[path = "../../hyperdbg-mcp/tests/system/mod.rs"]
mod system;

pub use client::{Client, Protocol, ToolAnswer};
pub use files::{bless, golden, program, simulator_library};
pub use system::{exists, kill};
