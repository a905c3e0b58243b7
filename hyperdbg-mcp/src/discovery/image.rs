//! What a library file says of itself, read from its bytes without loading it.
//!
//! The bytes may be anything: a text file, a truncated download, or made to hurt. Everything that is read is bounded.

mod elf;
mod pe;

use std::collections::BTreeSet;

use object::FileKind;
use serde::Serialize;

/// Prefixes of the names that HyperDbg's library exports, today's and those before v0.9.1.
const PREFIXES: [&[u8]; 3] = [b"hyperdbg_", b"hwdbg_", b"HyperDbg"];

/// Bytes of names that are looked at, at most; the real library has a few hundred kilobytes.
const NAME_BYTES: usize = 32 << 20;

/// Names of other libraries that are kept, at most.
const DEPENDENCIES: usize = 256;

/// A processor, by the names that the formats give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Machine {
    /// 64-bit x86.
    X64,
    /// 32-bit x86.
    X86,
    /// 64-bit ARM.
    Arm64,
    /// 32-bit ARM.
    Arm,
    /// Another one, by the format's own number.
    Other(u16),
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::X64 => f.write_str("x64"),
            Self::X86 => f.write_str("x86 (32-bit)"),
            Self::Arm64 => f.write_str("ARM64"),
            Self::Arm => f.write_str("ARM (32-bit)"),
            Self::Other(number) => write!(f, "machine type {number:#x}"),
        }
    }
}

/// An operating system's format of loadable files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Windows.
    Pe,
    /// Linux.
    Elf,
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Pe => "Windows (PE)",
            Self::Elf => "Linux (ELF)",
        })
    }
}

/// What a loader wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loader {
    /// Format of its files.
    pub format: Format,
    /// Processor that they are for.
    pub machine: Machine,
}

impl Loader {
    /// What this very program can load.
    pub const THIS: Self = Self {
        format: if cfg!(windows) { Format::Pe } else { Format::Elf },
        machine: if cfg!(target_arch = "aarch64") {
            Machine::Arm64
        } else {
            Machine::X64
        },
    };
}

/// Whether a file carries an Authenticode signature. Nothing is said of its validity: nobody checked it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Signature {
    /// A certificate table with a PKCS #7 signature is there. It was not verified.
    PresentNotVerified {
        /// Size of the table.
        size_bytes: u32,
    },
    /// There is none.
    Absent,
    /// The certificate table leads out of the file or holds something else.
    Damaged,
    /// Files of this format carry none.
    NotInThisFormat,
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::PresentNotVerified { size_bytes } => {
                write!(f, "present ({size_bytes} bytes), not verified")
            }
            Self::Absent => f.write_str("absent"),
            Self::Damaged => f.write_str("damaged certificate table"),
            Self::NotInThisFormat => f.write_str("none in this format"),
        }
    }
}

/// A loadable library, as its headers describe it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Image {
    /// Format.
    pub format: Format,
    /// Processor.
    pub machine: Machine,
    /// Version resource, `a.b.c.d`.
    pub file_version: Option<String>,
    /// Signature.
    pub signature: Signature,
    /// Exported names that begin like HyperDbg's, sorted.
    pub exports: BTreeSet<String>,
    /// Libraries that it needs, in the file's order.
    pub dependencies: Vec<String>,
}

/// Why a file cannot be a library for a [`Loader`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Unfit {
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// Not a loadable file at all.
    #[error("it is no library but {looks}")]
    NotAnImage {
        /// What it looks like.
        looks: &'static str,
    },
    /// Another operating system's.
    #[error("it is a library for {found}, and this program loads {wanted} ones")]
    OtherFormat {
        /// The file's.
        found: Format,
        /// The loader's.
        wanted: Format,
    },
    /// Another processor's.
    #[error("it is for {found} processors, and this program is for {wanted}")]
    OtherMachine {
        /// The file's.
        found: Machine,
        /// The loader's.
        wanted: Machine,
    },
    /// A program, a driver or an object file.
    #[error("it is {what}, not a shared library")]
    NotShared {
        /// What it is.
        what: &'static str,
    },
    /// A program or a library.
    #[error("it is no kernel-mode driver")]
    NotADriver,
    /// Right at first sight, but its tables lead nowhere.
    #[error("it is damaged: {why}")]
    Damaged {
        /// What cannot be read.
        why: String,
    },
}

impl Image {
    /// Reads an image.
    ///
    /// # Errors
    /// Why `loader` could not load it.
    pub fn parse(data: &[u8], loader: Loader) -> Result<Self, Unfit> {
        check_format(data, loader.format)?;
        match loader.format {
            Format::Pe => pe::parse(data, loader.machine),
            Format::Elf => elf::parse(data, loader.machine),
        }
    }
}

/// Checks that the bytes are a driver for Windows on this processor.
///
/// # Errors
/// What they are instead.
pub fn check_driver(data: &[u8]) -> Result<(), Unfit> {
    check_format(data, Format::Pe)?;
    pe::check_driver(data, Loader::THIS.machine)
}

fn check_format(data: &[u8], wanted: Format) -> Result<(), Unfit> {
    if data.is_empty() {
        return Err(Unfit::Empty);
    }
    let found = match FileKind::parse(data) {
        Ok(FileKind::Pe32 | FileKind::Pe64) => Format::Pe,
        Ok(FileKind::Elf32 | FileKind::Elf64) => Format::Elf,
        // COFF has no magic number, only a machine type: text may begin with one.
        _ => return Err(Unfit::NotAnImage { looks: looks(data) }),
    };
    match found == wanted {
        true => Ok(()),
        false => Err(Unfit::OtherFormat { found, wanted }),
    }
}

fn check_machine(found: Machine, wanted: Machine) -> Result<(), Unfit> {
    match found == wanted {
        true => Ok(()),
        false => Err(Unfit::OtherMachine { found, wanted }),
    }
}

fn damaged(what: &'static str) -> impl FnOnce(object::read::Error) -> Unfit {
    move |error| Unfit::Damaged {
        why: format!("its {what} cannot be read ({error})"),
    }
}

/// What bytes that are no image look like to a person.
fn looks(data: &[u8]) -> &'static str {
    const MAGIC: [(&[u8], &str); 9] = [
        (b"\x7fELF", "a damaged Linux (ELF) file"),
        (b"MZ", "a damaged or 16-bit Windows file"),
        (b"PK\x03\x04", "a ZIP archive: unpack it first"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
        (b"\x1f\x8b", "a gzip archive: unpack it first"),
        (b"!<arch>\n", "a static library or import library"),
        (b"\xcf\xfa\xed\xfe", "a macOS (Mach-O) file"),
        (b"\xca\xfe\xba\xbe", "a macOS (Mach-O) file"),
        (
            b"version https://git-lfs",
            "a Git LFS pointer: the real file was not fetched",
        ),
    ];
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| data.starts_with(magic)) {
        return what;
    }
    let head = &data[..data.len().min(512)];
    let printable = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..);
    match head.iter().all(printable) {
        true => "a text file",
        false => "an unknown kind of file",
    }
}

/// Collects names within a budget.
struct Names {
    kept: BTreeSet<String>,
    budget: usize,
}

impl Names {
    fn new() -> Self {
        Self {
            kept: BTreeSet::new(),
            budget: NAME_BYTES,
        }
    }

    /// Takes a name when it is one of HyperDbg's.
    fn take(&mut self, name: &[u8]) -> Result<(), Unfit> {
        self.budget = self
            .budget
            .checked_sub(name.len().max(1))
            .ok_or_else(|| Unfit::Damaged {
                why: "its table of exported names is too large to be real".to_owned(),
            })?;
        if name.len() <= 256
            && PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            && let Ok(name) = std::str::from_utf8(name)
        {
            self.kept.insert(name.to_owned());
        }
        Ok(())
    }
}

/// The name of a needed library, when it is one.
fn dependency(name: &[u8]) -> Option<String> {
    match std::str::from_utf8(name) {
        Ok(name) if (1..=256).contains(&name.len()) && !name.chars().any(char::is_control) => {
            Some(name.to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
