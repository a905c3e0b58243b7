//! Loading a library: from the path that is named, with dependencies from beside it and from the system's folder, and
//! from nowhere else. The usual order would also try the current directory and every folder of `PATH`.

use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use libloading::os::windows::{LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR, LOAD_LIBRARY_SEARCH_SYSTEM32, Library};
use windows_sys::Win32::System::LibraryLoader::{
    AddDllDirectory, LOAD_LIBRARY_SEARCH_USER_DIRS, SetDefaultDllDirectories, SetDllDirectoryW,
};

/// A path of this many characters is only taken with the prefix for long ones.
const MAX_PATH: usize = 260;

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
    let path = loadable(path);
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

/// The path as the loader takes it: backslashes, no `.` and `..`, and the prefix `\\?\` exactly where it is needed. The
/// library sees this path as its own, and many programs do not understand the prefix.
fn loadable(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let plain = dunce::simplified(&absolute);
    let text = plain.as_os_str();
    if text.encode_wide().count() < MAX_PATH {
        return plain.to_owned();
    }
    let mut long = std::ffi::OsString::from(match plain.to_str() {
        Some(text) if text.starts_with(r"\\?\") => "",
        Some(text) if text.starts_with(r"\\") => r"\\?\UNC",
        _ => r"\\?\",
    });
    match (long == r"\\?\UNC", plain.to_str()) {
        // Its second backslash is in the prefix.
        (true, Some(text)) => long.push(&text[1..]),
        _ => long.push(text),
    }
    long.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_gets_a_plain_path_and_a_long_one_its_prefix() {
        let loadable = |path: &str| loadable(Path::new(path)).to_str().unwrap().to_owned();
        for (path, loaded) in [
            (r"C:\Hyper Dbg\libhyperdbg.dll", r"C:\Hyper Dbg\libhyperdbg.dll"),
            (
                "C:/Hyper Dbg/ü/libhyperdbg.dll",
                r"C:\Hyper Dbg\ü\libhyperdbg.dll",
            ),
            (r"C:\a\.\b\..\libhyperdbg.dll", r"C:\a\libhyperdbg.dll"),
            (r"\\?\C:\a\libhyperdbg.dll", r"C:\a\libhyperdbg.dll"),
            (
                r"\\server\share\libhyperdbg.dll",
                r"\\server\share\libhyperdbg.dll",
            ),
        ] {
            assert_eq!(loadable(path), loaded);
        }
        let deep = r"\folder-of-twenty-chars".repeat(12);
        assert_eq!(loadable(&format!("C:{deep}")), format!(r"\\?\C:{deep}"));
        assert_eq!(loadable(&format!(r"\\?\C:{deep}")), format!(r"\\?\C:{deep}"));
        assert_eq!(
            loadable(&format!(r"\\server\share{deep}")),
            format!(r"\\?\UNC\server\share{deep}")
        );
    }
}
