//! Every call that goes through the table of exports arrives in a shared library as it was made.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::{CStr, c_void};
use std::path::PathBuf;
use std::ptr::NonNull;

use hyperdbg_sys::Exports;
use libloading::Library;

#[path = "generated/calls.rs"]
#[rustfmt::skip]
mod calls;
#[path = "abi/word.rs"]
mod word;

/// The example `abi_recorder`, which `cargo test` builds along with the tests.
fn recorder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap().parent().unwrap().join("examples");
    let path = folder.join(format!("{DLL_PREFIX}abi_recorder{DLL_SUFFIX}"));
    assert!(
        path.is_file(),
        "{} is missing: run `cargo test -p hyperdbg-sys` without a filter for targets",
        path.display()
    );
    path
}

fn load(library: &Library) -> Exports {
    Exports::load(|symbol: &CStr| {
        // SAFETY: the symbol is only looked at as an address here.
        let found = unsafe { library.get::<*mut c_void>(symbol.to_bytes_with_nul()) };
        found.ok().and_then(|address| NonNull::new(*address))
    })
}

#[test]
fn every_argument_and_return_value_crosses_the_boundary_unchanged() {
    // SAFETY: the recorder runs no code when it is loaded.
    let library = unsafe { Library::new(recorder()) }.unwrap();
    let exports = load(&library);
    assert_eq!(exports.missing(), Vec::<&str>::new());
    // SAFETY: the type is the function's own.
    let take =
        unsafe { library.get::<unsafe extern "C" fn(*mut u64, usize) -> usize>(b"abi_recorder_take\0") };
    let take = take.unwrap();
    for (index, call) in calls::CALLS.iter().enumerate() {
        let symbol = Exports::SYMBOLS[index];
        let (sent, returned) = call(&exports).unwrap();
        let mut arrived = [0u64; 16];
        // SAFETY: the buffer has room for what is said.
        let count = unsafe { take(arrived.as_mut_ptr(), arrived.len()) };
        assert_eq!(arrived[0], index as u64, "{symbol} went to another function");
        assert_eq!(arrived[1..count], sent, "arguments of {symbol}");
        if let Some(returned) = returned {
            assert_eq!(
                returned & 0xff,
                word::answer::<u8>(index as u64).into(),
                "return value of {symbol}"
            );
        }
    }
}

#[test]
fn a_symbol_that_is_missing_is_named_and_takes_no_other_along() {
    // SAFETY: the recorder runs no code when it is loaded.
    let library = unsafe { Library::new(recorder()) }.unwrap();
    let exports = Exports::load(|symbol: &CStr| {
        if symbol == c"hyperdbg_u_lbr_dump" {
            return None;
        }
        // SAFETY: the symbol is only looked at as an address here.
        let found = unsafe { library.get::<*mut c_void>(symbol.to_bytes_with_nul()) };
        found.ok().and_then(|address| NonNull::new(*address))
    });
    assert_eq!(exports.missing(), ["hyperdbg_u_lbr_dump"]);
    assert!(exports.hyperdbg_u_pt_operation.is_some());
}
