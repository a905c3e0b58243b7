//! Paths as Windows' own functions take them.

use std::os::windows::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A path of this many characters is only taken with the prefix for long ones.
pub(crate) const MAX_PATH: usize = 260;

/// The path as the system takes it: absolute, backslashes, no `.` and `..`, and the prefix `\\?\` exactly where it is
/// needed. A library sees this path as its own, and many programs do not understand the prefix.
pub(crate) fn for_system(path: &Path, limit: usize) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let plain = dunce::simplified(&absolute);
    let text = plain.as_os_str();
    if text.encode_wide().count() < limit {
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
    fn a_path_stays_plain_and_a_long_one_gets_its_prefix() {
        let loadable = |path: &str| for_system(Path::new(path), MAX_PATH).to_str().unwrap().to_owned();
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
