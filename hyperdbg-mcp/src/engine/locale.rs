//! The system's way of writing text in bytes.

/// Number of the code page in which programs that know nothing of Unicode print here.
#[cfg(windows)]
pub(crate) fn active_code_page() -> u32 {
    // SAFETY: no arguments.
    unsafe { windows_sys::Win32::Globalization::GetACP() }
}

/// Number of UTF-8's code page: elsewhere nothing else is usual.
#[cfg(not(windows))]
pub(crate) fn active_code_page() -> u32 {
    65001
}
