//! A shared library with the exports of libhyperdbg that records what it is called with: the far end of the ABI test.
#![allow(
    unreachable_pub,
    reason = "the skeleton is public where the simulator uses it"
)]
#![allow(dead_code, reason = "the skeleton's table is for programs that link it in")]

#[path = "../../simulator/src/generated.rs"]
#[rustfmt::skip]
mod generated;
#[path = "../tests/generated/recorder.rs"]
#[rustfmt::skip]
mod recorder;
#[path = "../tests/abi/word.rs"]
mod word;

/// The type that the skeleton forwards to.
pub struct Simulator;

/// Copies the last call into `words`: the function's number, then its arguments. Returns how many there are.
///
/// # Safety
/// `words` must have room for `capacity` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abi_recorder_take(words: *mut u64, capacity: usize) -> usize {
    let taken = word::take();
    let count = taken.len().min(capacity);
    // SAFETY: the caller gave room for `capacity`, and `count` is no more.
    unsafe { std::ptr::copy_nonoverlapping(taken.as_ptr(), words, count) };
    taken.len()
}
