//! The one place where generated files are compared, written and removed.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{FOLDERS, File, MARK};

/// How a file on disk differs from what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// It is not there.
    Missing,
    /// It has other contents; the first line that differs, counted from 1.
    Changed(usize),
    /// It is there and should not be.
    Orphan,
}

/// What is not as it should be, by path.
pub type Differences = Vec<(String, Difference)>;

/// Compares `files` with what lies under `root`, orphans included. Line endings do not count.
///
/// # Errors
/// When a folder or file cannot be read.
pub fn compare(root: &Path, files: &[File]) -> io::Result<Differences> {
    let mut differences = changed(root, files)?;
    for path in orphans(root, files)? {
        differences.push((path, Difference::Orphan));
    }
    differences.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(differences)
}

fn changed(root: &Path, files: &[File]) -> io::Result<Differences> {
    let mut differences = Differences::new();
    for file in files {
        match fs::read(root.join(&file.path)) {
            Ok(bytes) => {
                let found = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
                if found != file.contents {
                    differences.push((
                        file.path.clone(),
                        Difference::Changed(first_difference(&found, &file.contents)),
                    ));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                differences.push((file.path.clone(), Difference::Missing));
            }
            Err(error) => return Err(with_path(&error, &file.path)),
        }
    }
    Ok(differences)
}

/// Brings `root` in step with `files`: writes what differs, removes orphans. Returns what was changed.
///
/// # Errors
/// As [`place`].
pub fn apply(root: &Path, files: &[File]) -> io::Result<Differences> {
    let mut differences = place(root, files)?;
    for path in orphans(root, files)? {
        fs::remove_file(root.join(&path)).map_err(|error| with_path(&error, &path))?;
        differences.push((path, Difference::Orphan));
    }
    differences.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(differences)
}

/// Writes those of `files` that differ from what lies under `root`. Returns what was changed.
///
/// Each file is written beside its place and then renamed; all are written before the first is renamed.
///
/// # Errors
/// When something cannot be written; nothing was renamed then.
pub fn place(root: &Path, files: &[File]) -> io::Result<Differences> {
    let differences = changed(root, files)?;
    let mut ready: Vec<(PathBuf, PathBuf)> = Vec::new();
    for file in files {
        let wanted = differences.iter().any(|(path, _)| *path == file.path);
        if !wanted {
            continue;
        }
        let target = root.join(&file.path);
        match write_beside(&target, file) {
            Ok(temporary) => ready.push((temporary, target)),
            Err(error) => {
                for (temporary, _) in &ready {
                    let _ = fs::remove_file(temporary);
                }
                return Err(with_path(&error, &file.path));
            }
        }
    }
    for (temporary, target) in ready {
        fs::rename(&temporary, &target).map_err(|error| with_path(&error, &target.display().to_string()))?;
    }
    Ok(differences)
}

fn write_beside(target: &Path, file: &File) -> io::Result<PathBuf> {
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let temporary = target.with_file_name(name);
    fs::write(&temporary, &file.contents)?;
    Ok(temporary)
}

/// Generated files in generated folders that nothing generates any more.
fn orphans(root: &Path, files: &[File]) -> io::Result<Vec<String>> {
    let wanted: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let mut found = Vec::new();
    for folder in FOLDERS {
        let entries = match fs::read_dir(root.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(with_path(&error, folder)),
        };
        for entry in entries {
            let entry = entry?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if wanted.contains(path.as_str()) || !entry.file_type()?.is_file() {
                continue;
            }
            let bytes = fs::read(entry.path()).map_err(|error| with_path(&error, &path))?;
            let text = String::from_utf8_lossy(&bytes);
            if text.lines().next().is_some_and(|line| line.contains(MARK)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn first_difference(found: &str, wanted: &str) -> usize {
    let same = found
        .lines()
        .zip(wanted.lines())
        .take_while(|(a, b)| a == b)
        .count();
    same + 1
}

fn with_path(error: &io::Error, path: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{path}: {error}"))
}
