//! The audit log: what was asked, who allowed it, and what came of it, in a file that shows when it was altered.
//!
//! ```text
//! call ─► decision ─► intent line ─► tool ─► outcome line        FILE, FILE.1 … FILE.n: one chain of lines
//!                                                                FILE.head:  where the chain ends
//!                                                                FILE.lock:  who writes
//! ```

mod access;
mod chain;
mod head;
mod log;
mod mask;
mod place;
mod record;
mod recovery;
mod show;
mod tail;
mod verify;
mod writer;

pub(crate) use access::{make_private_folder, open_private};
pub(crate) use chain::{canonical, sha256};
pub use log::{Audit, Call, Pending, Session};
pub use mask::Masker;
pub use place::{Destination, default_file, state_folder};
pub use record::{Decision, Server, Taken};
pub use show::{ShowOptions, show};
pub use verify::{Finding, Report, verify};
pub use writer::{DEFAULT_MAX_BYTES, OpenError};

#[cfg(test)]
mod tests;
