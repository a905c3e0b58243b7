//! From HyperDbg's SDK headers to the surface that an agent sees.
//!
//! ```text
//! SDK headers ─► header ─► catalog ─► api/mcp_api_meta.json               (import)
//! api/tools, exclusions, errors ─► annotations ─► resolve ◄──┘
//!                                       │ surface
//!                                       └► emit ─► files ─► write | --check  (generate)
//!
//! two SDKs, or SDK and catalog ─► diff ─► report
//! SDK ─► sync: import, resolve and generate in one go, or scaffolds and the places to fill in
//! git directory ─► replay: diff from release to release
//! ```
//!
//! Everything here is a pure function of its input files: no C compiler, no network, no `unsafe`.
#![forbid(unsafe_code)]

pub mod annotations;
pub mod catalog;
pub mod cli;
pub mod codes;
pub mod diagnostic;
pub mod diff;
pub mod digest;
pub mod emit;
pub mod explain;
pub mod fixups;
pub mod header;
pub mod import;
pub mod replay;
pub mod resolve;
pub mod surface;
pub mod sync;
