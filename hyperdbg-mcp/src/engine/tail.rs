//! The last text of a worker, in memory that outlives it: what a library printed just before it crashed.
//!
//! Text is sent in batches, so a crash can take some of it along. The callback therefore also copies every byte into a
//! ring that the supervisor holds too; comparing counters tells which bytes never arrived. Each system's file makes the
//! shared memory in its own way; where none does, there is no tail.

#[cfg(any(target_os = "linux", windows))]
mod ring;
#[cfg(target_os = "linux")]
#[path = "tail/linux.rs"]
mod system;
#[cfg(windows)]
#[path = "tail/windows.rs"]
mod system;

#[cfg(not(any(target_os = "linux", windows)))]
#[path = "tail/none.rs"]
mod ring;

pub(super) use ring::Tail;
pub(crate) use ring::TailReader;
