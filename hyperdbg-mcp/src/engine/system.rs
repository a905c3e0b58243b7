//! Windows: facts of the machine and its files that only the system's own functions tell. Nothing here changes
//! anything, and nothing here calls the library.

mod access;
mod process;
mod service;

pub(crate) use access::{grants_to_many, is_administrator};
pub(crate) use process::running_programs;
pub(crate) use service::service_state;

use std::ffi::OsString;
use std::io;
use std::mem::size_of;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SystemCodeIntegrityInformation};
use windows_sys::Win32::Foundation::RtlNtStatusToDosError;
use windows_sys::Win32::Storage::FileSystem::GetShortPathNameW;
use windows_sys::Win32::System::SystemInformation::GetSystemDirectoryW;
use windows_sys::Win32::System::Threading::{
    IsProcessorFeaturePresent, PF_SECOND_LEVEL_ADDRESS_TRANSLATION, PF_VIRT_FIRMWARE_ENABLED,
};
use windows_sys::Win32::System::WindowsProgramming::SYSTEM_CODEINTEGRITY_INFORMATION;

use super::confine;

/// `SystemKernelDebuggerInformation`, which the bindings do not name.
const KERNEL_DEBUGGER_INFORMATION: i32 = 35;

/// `SystemIsolatedUserModeInformation`, likewise.
const ISOLATED_USER_MODE_INFORMATION: i32 = 165;

/// Text as Windows wants it, with its NUL.
fn wide(text: &std::ffi::OsStr) -> io::Result<Vec<u16>> {
    let mut units: Vec<u16> = text.encode_wide().collect();
    if units.contains(&0) {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    units.push(0);
    Ok(units)
}

/// What the kernel enforces on code in this boot (`CODEINTEGRITY_OPTION_*` bits).
pub(crate) fn code_integrity_options() -> io::Result<u32> {
    let size = u32::try_from(size_of::<SYSTEM_CODEINTEGRITY_INFORMATION>()).map_err(io::Error::other)?;
    let mut information = SYSTEM_CODEINTEGRITY_INFORMATION {
        Length: size,
        CodeIntegrityOptions: 0,
    };
    query(
        SystemCodeIntegrityInformation,
        (&raw mut information).cast(),
        size,
    )?;
    Ok(information.CodeIntegrityOptions)
}

/// What virtualization-based security does in this boot: `(running, enforces code integrity)`.
pub(crate) fn isolated_user_mode() -> io::Result<(bool, bool)> {
    // Sixteen bytes, aligned to eight; the first holds the flags.
    let mut information = [0_u64; 2];
    query(
        ISOLATED_USER_MODE_INFORMATION,
        information.as_mut_ptr().cast(),
        16,
    )?;
    let flags = information[0];
    Ok((flags & 1 != 0, flags & 2 != 0))
}

/// Whether this boot has a kernel debugger: `(enabled, attached)`.
pub(crate) fn kernel_debugger() -> io::Result<(bool, bool)> {
    // Two bytes: enabled, not present.
    let mut information = [0_u8; 2];
    query(KERNEL_DEBUGGER_INFORMATION, information.as_mut_ptr().cast(), 2)?;
    Ok((information[0] != 0, information[1] == 0))
}

/// Asks the kernel for one piece of information; `place` has room for `size_bytes`.
fn query(class: i32, place: *mut std::ffi::c_void, size_bytes: u32) -> io::Result<()> {
    let mut written = 0;
    // SAFETY: the callers pass a live, writable buffer of `size_bytes`, more than which is never written.
    let status = unsafe { NtQuerySystemInformation(class, place, size_bytes, &raw mut written) };
    match status {
        0.. if written == size_bytes => Ok(()),
        0.. => Err(io::Error::other(format!(
            "the answer has {written} bytes instead of {size_bytes}"
        ))),
        // SAFETY: no pointers.
        _ => Err(io::Error::from_raw_os_error(
            unsafe { RtlNtStatusToDosError(status) }.cast_signed(),
        )),
    }
}

/// Whether the processor has second-level address translation (Intel: EPT), as far as Windows sees it.
pub(crate) fn has_second_level_translation() -> bool {
    // SAFETY: no pointers.
    unsafe { IsProcessorFeaturePresent(PF_SECOND_LEVEL_ADDRESS_TRANSLATION) != 0 }
}

/// Whether the firmware has virtualization switched on, as far as Windows sees it: not beneath a hypervisor.
pub(crate) fn firmware_allows_virtualization() -> bool {
    // SAFETY: no pointers.
    unsafe { IsProcessorFeaturePresent(PF_VIRT_FIRMWARE_ENABLED) != 0 }
}

/// The short form (8.3) of the path of something that is there, where its file system keeps one.
pub(crate) fn short_path(path: &Path) -> io::Result<PathBuf> {
    let long = wide(confine::for_system(path, confine::MAX_PATH).as_os_str())?;
    let mut buffer = vec![0_u16; long.len().max(1024)];
    let room = u32::try_from(buffer.len()).map_err(io::Error::other)?;
    // SAFETY: a terminated path, and a buffer with room for that many units.
    let length = unsafe { GetShortPathNameW(long.as_ptr(), buffer.as_mut_ptr(), room) };
    match usize::try_from(length)
        .ok()
        .and_then(|length| buffer.get(..length))
    {
        Some(short) if !short.is_empty() => {
            Ok(dunce::simplified(Path::new(&OsString::from_wide(short))).to_owned())
        }
        _ => Err(io::Error::last_os_error()),
    }
}

/// The folder of Windows' own programs; not from a variable, which anybody can set.
pub(crate) fn system_folder() -> io::Result<PathBuf> {
    let mut buffer = [0_u16; 1024];
    let room = u32::try_from(buffer.len()).map_err(io::Error::other)?;
    // SAFETY: the buffer has room for that many units.
    let length = unsafe { GetSystemDirectoryW(buffer.as_mut_ptr(), room) };
    match usize::try_from(length)
        .ok()
        .and_then(|length| buffer.get(..length))
    {
        Some(path) if !path.is_empty() => Ok(Path::new(&OsString::from_wide(path)).to_owned()),
        _ => Err(io::Error::last_os_error()),
    }
}
