//! Windows: what keeps a worker to its supervisor. A job that ends with the supervisor, channels and files that only
//! this user opens, and nothing inherited by chance.

mod descriptor;
mod file;
mod inherit;
mod job;
mod path;
mod pipe;

pub(crate) use descriptor::OwnerOnly;
pub(crate) use file::{make_folder, open_file};
pub(crate) use inherit::{keep_handles, keep_standard_handles};
pub(crate) use job::Job;
pub(crate) use path::{MAX_PATH, for_system};
pub(crate) use pipe::{Pipe, client_pid, create_pipe};

use std::io;

/// A name that nobody guesses.
pub(crate) fn random_name() -> io::Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!("hyperdbg-mcp-{:032x}", u128::from_ne_bytes(random)))
}

/// Text as Windows wants it, with its NUL.
pub(super) fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}
