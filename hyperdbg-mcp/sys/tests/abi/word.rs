//! Marks: values of every C type that say which argument of which function they are. Both ends of the test use this.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mark is cut to the type's size"
)]

use std::ffi::c_ulong;
use std::sync::Mutex;

/// A value that fits in a register.
pub(crate) trait Word: Copy {
    /// The value of this type that a mark makes.
    fn from_mark(mark: u64) -> Self;
    /// The value as a number.
    fn word(self) -> u64;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Word for $ty {
            fn from_mark(mark: u64) -> Self {
                mark as $ty
            }
            fn word(self) -> u64 {
                self as u64
            }
        }
    )*};
}

integers!(u8, i8, u16, i16, u32, i32, u64, i64);

impl<T> Word for *mut T {
    fn from_mark(mark: u64) -> Self {
        std::ptr::without_provenance_mut(mark as usize)
    }
    fn word(self) -> u64 {
        self.addr() as u64
    }
}

impl<T> Word for *const T {
    fn from_mark(mark: u64) -> Self {
        std::ptr::without_provenance(mark as usize)
    }
    fn word(self) -> u64 {
        self.addr() as u64
    }
}

/// The mark of one argument: every byte tells the function and the place apart.
pub(crate) fn mark<T: Word>(function: u64, argument: u64) -> T {
    let byte = (function * 7 + argument * 31 + 1) & 0xff;
    T::from_mark((byte * 0x0101_0101_0101_0101) ^ 0x8070_6050_4030_2000)
}

/// The mark that a function returns.
pub(crate) fn answer<T: Word>(function: u64) -> T {
    mark(function, 100)
}

/// What the last call was, and its arguments.
static LAST: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Keeps a call until it is taken.
#[allow(dead_code, reason = "the library's end only")]
pub(crate) fn record(function: u64, words: &[u64]) {
    if let Ok(mut last) = LAST.lock() {
        last.clear();
        last.push(function);
        last.extend(words);
    }
}

/// Takes the last call: the function's number and its arguments.
#[allow(dead_code, reason = "the library's end only")]
pub(crate) fn take() -> Vec<u64> {
    LAST.lock()
        .map(|mut last| std::mem::take(&mut *last))
        .unwrap_or_default()
}

/// `unsigned long` is one of the integers above on every target; this does not compile where it is not.
#[allow(dead_code, reason = "a check by type")]
fn unsigned_long_is_a_word(value: c_ulong) -> u64 {
    value.word()
}
