//! Digests of the files in `api/`, as the generator stores them and the build compares them.
//!
//! The generator includes this file, so that both see the same bytes the same way.

use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

/// Every file below `api` with its SHA-256, by path. Line endings do not count, nor do hidden files and backups.
///
/// # Errors
/// When a folder or file cannot be read.
pub fn files(api: &Path) -> io::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    visit(api, "", &mut found)?;
    found.sort();
    Ok(found)
}

fn visit(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || name.ends_with('~') {
            continue;
        }
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            visit(&entry.path(), &format!("{path}/"), found)?;
        } else {
            found.push((path, digest(&fs::read(entry.path())?)));
        }
    }
    Ok(())
}

fn digest(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    let mut start = 0;
    for (at, pair) in bytes.windows(2).enumerate() {
        if pair == b"\r\n" {
            hash.update(&bytes[start..at]);
            start = at + 1;
        }
    }
    hash.update(&bytes[start..]);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
