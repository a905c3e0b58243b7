//! PROVISIONAL: exports nothing.
#![allow(missing_docs)]

pub mod generated {
    pub fn lookup(_symbol: &std::ffi::CStr) -> Option<std::ptr::NonNull<std::ffi::c_void>> {
        None
    }
}
