//! Other processes, as the tests see them: whether they run, their end, a person's Ctrl+C.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]
#![allow(unreachable_pub, reason = "a module of test programs")]
#![allow(dead_code, unused_imports, reason = "each test program uses its part")]

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod platform;

pub use platform::{exists, kill};
