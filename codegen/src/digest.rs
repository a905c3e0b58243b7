//! Digests of `api/`: the build's own code, so that generator and build cannot disagree.

#[path = "../../hyperdbg-mcp/build/digest.rs"]
mod shared;

pub use shared::files;
