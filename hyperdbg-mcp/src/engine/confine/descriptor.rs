//! The security descriptor of what supervisor and worker share: this user, and nobody else.

use std::ffi::c_void;
use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{NonNull, null_mut};

use windows_sys::Win32::Foundation::LocalFree;
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::{
    GetTokenInformation, PSECURITY_DESCRIPTOR, PSID, SECURITY_ATTRIBUTES, TOKEN_QUERY, TOKEN_USER, TokenUser,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::wide;

#[allow(clippy::cast_possible_truncation, reason = "three words")]
const ATTRIBUTES_BYTES: u32 = size_of::<SECURITY_ATTRIBUTES>() as u32;

/// A descriptor that names this process's user as the owner and the only one with access. A token's own default would
/// let administrators in, and on a pipe everybody may read.
#[derive(Debug)]
pub(crate) struct OwnerOnly(NonNull<c_void>);

impl OwnerOnly {
    /// For a pipe or section.
    pub(crate) fn new() -> io::Result<Self> {
        Self::with("", "GA")
    }

    /// For a file.
    pub(super) fn of_file() -> io::Result<Self> {
        Self::with("", "FA")
    }

    /// For a folder, and for what is made in it later.
    pub(super) fn of_folder() -> io::Result<Self> {
        Self::with("OICI", "FA")
    }

    /// With one entry, and nothing that a folder above would add.
    fn with(flags: &str, rights: &str) -> io::Result<Self> {
        let user = user_sid()?;
        Self::from_text(&format!("O:{user}D:P(A;{flags};{rights};;;{user})"))
    }

    /// From the system's language for descriptors.
    pub(super) fn from_text(text: &str) -> io::Result<Self> {
        let text = wide(text);
        let mut descriptor = null_mut();
        // SAFETY: the terminated text lives through the call, which allocates the descriptor.
        let made = unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                text.as_ptr(),
                SDDL_REVISION_1,
                &raw mut descriptor,
                null_mut(),
            )
        };
        match NonNull::new(descriptor) {
            Some(descriptor) if made != 0 => Ok(Self(descriptor)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// For calls that take a descriptor. It must not outlive `self`.
    pub(super) fn as_ptr(&self) -> PSECURITY_DESCRIPTOR {
        self.0.as_ptr()
    }

    /// Attributes for a handle that is not inherited. They must not outlive `self`.
    pub(crate) fn attributes(&self) -> SECURITY_ATTRIBUTES {
        SECURITY_ATTRIBUTES {
            nLength: ATTRIBUTES_BYTES,
            lpSecurityDescriptor: self.0.as_ptr(),
            bInheritHandle: 0,
        }
    }
}

impl Drop for OwnerOnly {
    fn drop(&mut self) {
        // SAFETY: the system allocated it for this value.
        unsafe { LocalFree(self.0.as_ptr()) };
    }
}

/// The user of this process, in the form `S-1-…`.
pub(super) fn user_sid() -> io::Result<String> {
    let mut token = null_mut();
    // SAFETY: the pseudo handle of this process, and a place for the token.
    if unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a fresh handle that nothing else owns.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    // The record, and a SID of the greatest length behind it; in words, so that it is aligned.
    let mut information = [0_u64; 16];
    let room = u32::try_from(size_of_val(&information)).map_err(io::Error::other)?;
    let mut length = 0;
    // SAFETY: the buffer has room for that many bytes.
    let got = unsafe {
        GetTokenInformation(
            token.as_raw_handle(),
            TokenUser,
            information.as_mut_ptr().cast(),
            room,
            &raw mut length,
        )
    };
    if got == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call filled the buffer with such a record, and the buffer is aligned for it.
    let user = unsafe { information.as_ptr().cast::<TOKEN_USER>().read() };
    sid_text(user.User.Sid)
}

/// The text of a SID that the caller vouches for.
pub(super) fn sid_text(sid: PSID) -> io::Result<String> {
    let mut text = null_mut();
    // SAFETY: a valid SID, and a place for the text that the call allocates.
    if unsafe { ConvertSidToStringSidW(sid, &raw mut text) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call gave a terminated string.
    let units = unsafe {
        let length = (0..).take_while(|index| *text.add(*index) != 0).count();
        std::slice::from_raw_parts(text, length).to_vec()
    };
    // SAFETY: the call allocated it, and it is not used any more.
    unsafe { LocalFree(text.cast()) };
    String::from_utf16(&units).map_err(io::Error::other)
}
