//! What a worker asks of the operating system: its end of the channel, loading a library, surviving and sending break
//! requests, ending at once. Each system's file has the same functions.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::{adopt, exit_now, interrupt, load, settle};
#[cfg(windows)]
pub(super) use windows::{adopt, exit_now, interrupt, load, settle};

use super::tail::Tail;

/// The worker's end of what its supervisor prepared.
pub(super) struct Ends<R, W> {
    pub(super) reader: R,
    pub(super) writer: W,
    pub(super) tail: Option<Tail>,
}

/// The value after `name` in the worker's arguments.
fn value<'a>(arguments: &'a [std::ffi::OsString], name: &str) -> Option<&'a std::ffi::OsStr> {
    let position = arguments.iter().position(|argument| argument == name)?;
    arguments.get(position + 1).map(std::ffi::OsString::as_os_str)
}
