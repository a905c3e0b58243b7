//! PROVISIONAL: exports nothing.
#![allow(missing_docs)]

pub fn lookup(_symbol: &std::ffi::CStr) -> Option<std::ptr::NonNull<std::ffi::c_void>> {
    None
}
