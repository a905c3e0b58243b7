//! Where a server's door is, and who may open it.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::{connect, listen};
#[cfg(windows)]
pub(super) use windows::{connect, listen};
