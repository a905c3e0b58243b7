//! hyperdbg-mcp: an MCP server through which an AI agent drives HyperDbg.
//!
//! ```text
//! MCP client ⇄ server ─► tool (generated | composite) ─► Engine<T> ─► session ═ channel ═► worker process: engine ─► libhyperdbg
//! ```
//!
//! The process that speaks MCP never loads the library; a worker process per session does ([`engine`]).

pub mod audit;
pub mod cli;
pub mod composite;
pub mod discovery;
pub mod doctor;
pub mod engine;
#[rustfmt::skip]
pub mod generated;
pub mod output;
pub mod policy;
pub mod sdk;
pub mod server;
pub mod session;
pub mod tier;
pub mod tool;
