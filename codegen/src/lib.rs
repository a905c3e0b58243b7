//! From HyperDbg's SDK headers to the surface that an agent sees.
//!
//! ```text
//! SDK headers ─► header ─► catalog ─► api/mcp_api_meta.json               (import)
//! api/tools, exclusions, errors ─► annotations ─► resolve ◄──┘
//!                                       │ surface
//!                                       └► emit ─► files ─► write | --check  (generate)
//!
//! two SDKs, or SDK and catalog ─► diff ─► report
//!                                      └► fit: what a program built for one may call in a library of the other
//! SDK ─► sync: import, resolve and generate in one go, or scaffolds and the places to fill in
//! git directory ─► replay: diff from release to release
//! ```
//!
//! Without the feature `generate` there is only what reads and compares SDKs, for the server.
//!
//! Everything here is a pure function of its input files: no C compiler, no network, no `unsafe`.
#![forbid(unsafe_code)]

#[cfg(feature = "generate")]
pub mod annotations;
pub mod catalog;
#[cfg(feature = "generate")]
pub mod cli;
pub mod codes;
pub mod diagnostic;
pub mod diff;
#[cfg(feature = "generate")]
pub mod digest;
#[cfg(feature = "generate")]
pub mod emit;
#[cfg(feature = "generate")]
pub mod explain;
#[cfg(feature = "generate")]
pub mod fixups;
pub mod header;
pub mod import;
#[cfg(feature = "generate")]
pub mod replay;
#[cfg(feature = "generate")]
pub mod resolve;
#[cfg(feature = "generate")]
pub mod surface;
#[cfg(feature = "generate")]
pub mod sync;
