//! The files of an SDK folder: found by name whatever their spelling, decoded, and kept for diagnostics.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::code;
use super::token::Loc;
use crate::diagnostic::{Diagnostic, Span};

/// Largest header that is read; HyperDbg's largest has 54 kB.
const MAX_FILE_BYTES: u64 = 8 << 20;
/// Most files that are looked at in an SDK folder; HyperDbg's holds 30.
const MAX_FILES: usize = 5_000;
/// Deepest folder that is looked into.
const MAX_FOLDER_DEPTH: usize = 8;

/// Every text that was read, and the SDK folder in which more can be found.
#[derive(Debug, Default)]
pub struct Sources {
    root: PathBuf,
    /// Paths relative to the root with `/` between the parts, sorted.
    listing: Vec<String>,
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    name: String,
    text: String,
    /// Byte offset of each line's first character.
    lines: Vec<usize>,
}

impl Sources {
    /// Lists the headers of the folder `root`; reads none of them.
    pub fn open(root: &Path) -> Result<Self, Box<Diagnostic>> {
        let mut listing = Vec::new();
        list(root, "", 0, &mut listing)?;
        listing.sort();
        Ok(Self {
            root: root.to_owned(),
            listing,
            files: Vec::new(),
        })
    }

    /// Whether the folder holds no header at all.
    pub fn is_empty(&self) -> bool {
        self.listing.is_empty()
    }

    /// Adds a text that is not in the folder; returns its index.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> u32 {
        if let Some(known) = self.files.iter().position(|file| file.name == name) {
            return index(known);
        }
        self.files.push(File {
            name: name.to_owned(),
            text: text.to_owned(),
            lines: std::iter::once(0)
                .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                .collect(),
        });
        index(self.files.len() - 1)
    }

    /// Finds the header that `wanted` names: the file name counts, whatever its case and its folder; of several,
    /// the one that agrees with the longest part of the path.
    ///
    /// Returns the candidates: one when the name is clear, several when it is not, none when there is none.
    pub(crate) fn find(&self, wanted: &str, from: Option<u32>) -> Vec<String> {
        let parts = |path: &str| -> Vec<String> {
            path.split(['/', '\\'])
                .map(str::to_ascii_lowercase)
                .rev()
                .collect()
        };
        let folder = from
            .map(|file| self.name(file))
            .and_then(|name| name.rsplit_once('/'));
        let wanted = parts(wanted);
        let mut best: Vec<String> = Vec::new();
        let mut best_score = (0, false);
        for path in &self.listing {
            let agreeing = parts(path)
                .iter()
                .zip(&wanted)
                .take_while(|(a, b)| a == b)
                .count();
            if agreeing == 0 {
                continue;
            }
            let beside =
                folder.map_or("", |(folder, _)| folder) == path.rsplit_once('/').map_or("", |(f, _)| f);
            let score = (agreeing, beside);
            if best.is_empty() || score > best_score {
                best_score = score;
                best = vec![path.clone()];
            } else if score == best_score {
                best.push(path.clone());
            }
        }
        best
    }

    /// Reads the header at `path` (as [`find`](Self::find) returns it) once; returns its index.
    pub(crate) fn load(&mut self, path: &str) -> Result<u32, Box<Diagnostic>> {
        if let Some(known) = self.files.iter().position(|file| file.name == path) {
            return Ok(index(known));
        }
        let place = self.root.join(path);
        let fail = |error: std::io::Error| {
            Diagnostic::error(
                code::UNREADABLE,
                format!("cannot read the header `{path}`: {error}"),
            )
            .help("check that the file can be read by this user")
        };
        let metadata = fs::metadata(&place).map_err(fail)?;
        // Reading a pipe or a device need not end.
        if !metadata.is_file() {
            return Err(fail(std::io::Error::other("it is not a regular file")).into());
        }
        let limit = |size: u64| {
            Diagnostic::error(code::LIMIT, format!("the header `{path}` has {size} bytes"))
                .help(format!("headers of up to {MAX_FILE_BYTES} bytes are read"))
        };
        if metadata.len() > MAX_FILE_BYTES {
            return Err(limit(metadata.len()).into());
        }
        let mut bytes = Vec::new();
        // A file can grow meanwhile.
        let read = fs::File::open(&place)
            .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
            .map_err(fail)?;
        let read = u64::try_from(read).unwrap_or(u64::MAX);
        if read > MAX_FILE_BYTES {
            return Err(limit(read).into());
        }
        let text = decode(&bytes).map_err(|reason| {
            Diagnostic::error(
                code::NOT_TEXT,
                format!("the header `{path}` is no text: {reason}"),
            )
            .help("headers are read as UTF-8 or as an 8-bit encoding that extends ASCII")
        })?;
        Ok(self.add(path, &text))
    }

    /// The name under which a file is shown.
    pub(crate) fn name(&self, file: u32) -> &str {
        self.files.get(file as usize).map_or("", |file| &file.name)
    }

    /// The text of a file.
    pub(crate) fn text(&self, file: u32) -> &str {
        self.files.get(file as usize).map_or("", |file| &file.text)
    }

    /// The place as a diagnostic shows it.
    pub(crate) fn span(&self, loc: Loc) -> Span {
        Span::of(
            self.name(loc.file),
            self.text(loc.file),
            loc.offset as usize,
            loc.len as usize,
        )
    }

    /// The place as the catalog shows it: `file:line`.
    pub(crate) fn origin(&self, loc: Loc) -> String {
        let lines = self
            .files
            .get(loc.file as usize)
            .map_or(&[][..], |file| &file.lines);
        let line = lines.partition_point(|start| *start <= loc.offset as usize);
        format!("{}:{line}", self.name(loc.file))
    }
}

fn index(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

fn list(root: &Path, below: &str, depth: usize, out: &mut Vec<String>) -> Result<(), Box<Diagnostic>> {
    let folder = if below.is_empty() {
        root.to_owned()
    } else {
        root.join(below)
    };
    let shown = folder.display();
    let entries = fs::read_dir(&folder).map_err(|error| {
        Diagnostic::error(
            code::FOLDER,
            format!("cannot read the SDK folder `{shown}`: {error}"),
        )
        .help("name HyperDbg's folder `hyperdbg/include/SDK`")
    })?;
    for entry in entries {
        let Ok(entry) = entry else { continue };
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = if below.is_empty() {
            name.clone()
        } else {
            format!("{below}/{name}")
        };
        // `file_type` does not follow links: a loop of links cannot be walked into.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < MAX_FOLDER_DEPTH && !name.starts_with('.') {
            list(root, &path, depth + 1, out)?;
        } else if !kind.is_dir() && is_header(&name) {
            out.push(path);
            if out.len() > MAX_FILES {
                return Err(Box::new(
                    Diagnostic::error(
                        code::LIMIT,
                        format!("`{}` holds over {MAX_FILES} headers", root.display()),
                    )
                    .help("name HyperDbg's folder `hyperdbg/include/SDK`, not a folder above it"),
                ));
            }
        }
    }
    Ok(())
}

fn is_header(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["h", "hpp", "inc"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

/// Bytes that are no UTF-8 (an author's name in an old 8-bit encoding) become U+FFFD: harmless in a comment, and
/// refused by the lexer elsewhere.
fn decode(bytes: &[u8]) -> Result<String, &'static str> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err("it is UTF-16");
    }
    let bytes = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
    if bytes.contains(&0) {
        return Err("it holds NUL bytes");
    }
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_found_by_name_whatever_folder_and_case() {
        let sources = Sources {
            listing: [
                "Headers/Pcie.h",
                "Imports/User/HyperDbgLibImports.h",
                "modules/Pcie.h",
            ]
            .map(str::to_owned)
            .to_vec(),
            ..Sources::default()
        };
        assert_eq!(
            sources.find("SDK/imports/user/hyperdbglibimports.h", None).len(),
            1
        );
        assert_eq!(sources.find("SDK/headers/pcie.h", None), ["Headers/Pcie.h"]);
        assert_eq!(sources.find("Pcie.h", None).len(), 2);
        assert!(sources.find("windows.h", None).is_empty());
    }

    #[test]
    fn encodings_are_told_apart() {
        assert_eq!(decode(b"\xef\xbb\xbfint x;").unwrap(), "int x;");
        assert_eq!(decode(b"// Bj\xf6rn").unwrap(), "// Bj\u{fffd}rn");
        assert!(decode(b"\xff\xfei\0n\0").is_err());
        assert!(decode(b"MZ\0\0").is_err());
    }
}
