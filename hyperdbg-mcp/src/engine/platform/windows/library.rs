//! Loading a library: from the path that is named, with dependencies from beside it and from the system's folder, and
//! from nowhere else. The usual order would also try the current directory and every folder of `PATH`.

use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::Path;

use libloading::os::windows::{LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR, LOAD_LIBRARY_SEARCH_SYSTEM32, Library};
use windows_sys::Win32::System::LibraryLoader::{
    AddDllDirectory, LOAD_LIBRARY_SEARCH_USER_DIRS, SetDefaultDllDirectories, SetDllDirectoryW,
};

use crate::engine::confine::{MAX_PATH, for_system};

/// Narrows where libraries are searched that are named without a folder, now and by the library later.
pub(super) fn settle() -> io::Result<()> {
    // SAFETY: no pointers.
    let narrowed =
        unsafe { SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_SYSTEM32 | LOAD_LIBRARY_SEARCH_USER_DIRS) };
    // Who asks for the old order by a flag of its own at least does not get the current directory.
    // SAFETY: an empty terminated string.
    let without_current = unsafe { SetDllDirectoryW([0].as_ptr()) };
    match narrowed != 0 && without_current != 0 {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}

/// Loads the library at an absolute path.
///
/// # Safety
/// As for the library's initialisers.
pub(in crate::engine) unsafe fn load(path: &Path) -> Result<Library, libloading::Error> {
    let path = for_system(path, MAX_PATH);
    if let Some(folder) = path.parent() {
        let folder: Vec<u16> = folder.as_os_str().encode_wide().chain([0]).collect();
        // For what the library itself loads by name. Where this fails, that is not found, and the library says so.
        // SAFETY: a terminated string that lives through the call.
        unsafe { AddDllDirectory(folder.as_ptr()) };
    }
    // SAFETY: the caller's.
    unsafe {
        Library::load_with_flags(
            &path,
            LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32,
        )
    }
}
