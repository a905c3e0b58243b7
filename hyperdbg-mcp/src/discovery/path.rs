//! Paths as people write them, turned into the one absolute path that is opened and loaded.
//!
//! A name is never looked up in a search path or in the current folder: what is loaded is the file that is named.

use std::path::{Component, Path, PathBuf};

/// How free the writer of a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// Someone at a command line: a path with a separator may be relative to the current folder, as everywhere there.
    CommandLine,
    /// A variable or a file: its reader's current folder is chance, so only an absolute path means something.
    Standing,
}

/// Makes a path absolute, without touching the file system: forward slashes, `.` and `..` of Windows paths,
/// drive-relative paths (`C:x`, on the command line only); `\\?\` and UNC paths stay what they are.
///
/// # Errors
/// Why the path means no file, and how to write it.
pub fn absolute(written: &Path, writer: Writer) -> Result<PathBuf, String> {
    if written.as_os_str().is_empty() {
        return Err("the path is empty".to_owned());
    }
    if written.as_os_str().as_encoded_bytes().contains(&0) {
        return Err("the path holds a NUL".to_owned());
    }
    let mut components = written.components();
    let bare = matches!(
        (components.next(), components.next()),
        (Some(Component::Normal(_)), None)
    );
    if bare && !ends_with_separator(written) {
        return Err(format!(
            "a name without a folder is looked up nowhere: write the whole path{}",
            match writer {
                Writer::CommandLine => format!(
                    ", or .{}{} for the current folder",
                    std::path::MAIN_SEPARATOR,
                    written.display()
                ),
                Writer::Standing => String::new(),
            }
        ));
    }
    if writer == Writer::Standing && !written.is_absolute() {
        return Err(relative(written));
    }
    let path =
        std::path::absolute(written).map_err(|error| format!("the path cannot be resolved: {error}"))?;
    match device(&path) {
        true => Err("the path names a device, not a file".to_owned()),
        false => Ok(path),
    }
}

fn ends_with_separator(path: &Path) -> bool {
    path.as_os_str()
        .as_encoded_bytes()
        .last()
        .is_some_and(|byte| std::path::is_separator(char::from(*byte)))
}

/// Why a path is not absolute.
fn relative(written: &Path) -> String {
    match written.components().next() {
        Some(Component::Prefix(_)) => format!(
            "{} depends on the current folder of its drive: write a separator after the drive's colon",
            written.display()
        ),
        Some(Component::RootDir) => format!(
            "{} depends on the current drive: begin it with the drive",
            written.display()
        ),
        Some(Component::Normal(first)) if first == "~" => {
            "~ is not expanded here: write the whole path".to_owned()
        }
        _ => format!(
            "{} depends on the current folder: write the whole path",
            written.display()
        ),
    }
}

#[cfg(windows)]
fn device(path: &Path) -> bool {
    use std::path::Prefix;
    match path.components().next() {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            Prefix::DeviceNS(_) => true,
            // A pipe on another machine.
            Prefix::UNC(_, share) | Prefix::VerbatimUNC(_, share) => share.eq_ignore_ascii_case("pipe"),
            // The verbatim name of a drive or volume is a folder; other verbatim names are devices.
            Prefix::Verbatim(name) => !name.to_string_lossy().to_ascii_lowercase().starts_with("volume{"),
            _ => false,
        },
        _ => false,
    }
}

#[cfg(not(windows))]
fn device(_path: &Path) -> bool {
    // What is no regular file is refused when it is opened.
    false
}

/// Whether a path leads to another machine.
#[cfg(windows)]
pub fn on_network(path: &Path) -> bool {
    use std::path::Prefix;
    matches!(path.components().next(), Some(Component::Prefix(prefix))
        if matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..)))
}

/// Whether a path leads to another machine: a mounted folder does not look like one.
#[cfg(not(windows))]
pub fn on_network(_path: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(written: &str, writer: Writer) -> String {
        absolute(Path::new(written), writer).unwrap_err()
    }

    #[test]
    fn a_bare_name_is_never_looked_up() {
        for writer in [Writer::CommandLine, Writer::Standing] {
            assert!(refused("libhyperdbg.so", writer).contains("without a folder"));
        }
        assert!(refused("x.dll", Writer::CommandLine).contains("for the current folder"));
        assert!(refused("", Writer::CommandLine).contains("empty"));
        assert!(refused("/a\0b", Writer::CommandLine).contains("NUL"));
    }

    #[test]
    fn a_relative_path_counts_on_the_command_line_only() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(
            absolute(Path::new("./a b/ü.so"), Writer::CommandLine).unwrap(),
            here.join("a b").join("ü.so")
        );
        assert_eq!(
            absolute(Path::new("folder/"), Writer::CommandLine)
                .unwrap()
                .components()
                .next_back(),
            Some(Component::Normal("folder".as_ref()))
        );
        assert!(refused("./lib.so", Writer::Standing).contains("current folder"));
        assert!(refused("~/lib.so", Writer::Standing).contains("not expanded"));
    }

    #[cfg(unix)]
    #[test]
    fn an_absolute_path_stays() {
        let path = Path::new("/opt/a b/ü/libhyperdbg.so");
        assert_eq!(absolute(path, Writer::Standing).unwrap(), path);
    }

    #[cfg(windows)]
    #[test]
    fn windows_paths_of_every_form_become_absolute() {
        let long = format!(r"\\?\C:\{}\libhyperdbg.dll", "d".repeat(240));
        for (written, expected) in [
            (r"C:\a b\ü\x.dll", r"C:\a b\ü\x.dll"),
            ("C:/a b/../c/x.dll", r"C:\c\x.dll"),
            (r"\\server\share\x.dll", r"\\server\share\x.dll"),
            (r"\\?\UNC\server\share\x.dll", r"\\?\UNC\server\share\x.dll"),
            (long.as_str(), long.as_str()),
        ] {
            let path = absolute(Path::new(written), Writer::Standing);
            assert_eq!(path, Ok(PathBuf::from(expected)), "{written}");
        }
    }

    #[cfg(windows)]
    #[test]
    fn drive_relative_paths_count_on_the_command_line_only() {
        assert!(refused(r"C:x.dll", Writer::Standing).contains("current folder of its drive"));
        assert!(refused(r"\x.dll", Writer::Standing).contains("current drive"));
        let path = absolute(Path::new(r"C:x.dll"), Writer::CommandLine).unwrap();
        assert!(
            path.is_absolute() && path.ends_with("x.dll"),
            "{}",
            path.display()
        );
        assert!(
            absolute(Path::new(r"\x.dll"), Writer::CommandLine)
                .unwrap()
                .is_absolute()
        );
    }

    #[cfg(windows)]
    #[test]
    fn devices_are_no_files_and_shares_are_known() {
        for written in [
            r"\\.\pipe\x",
            r"\\server\pipe\x",
            r"\\?\GLOBALROOT\Device\x",
            r"C:\a\..\..\NUL",
        ] {
            // Newer Windows takes a reserved name in a folder for a file, which is not there.
            if let Ok(path) = absolute(Path::new(written), Writer::CommandLine) {
                assert!(written.ends_with("NUL"), "{written} gave {}", path.display());
            }
        }
        assert!(on_network(Path::new(r"\\server\share\x.dll")));
        assert!(on_network(Path::new(r"\\?\UNC\server\share\x.dll")));
        assert!(!on_network(Path::new(r"\\?\C:\x.dll")));
    }
}
