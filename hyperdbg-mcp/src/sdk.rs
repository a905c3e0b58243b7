//! The SDK headers of the loaded library, held against the catalog that this program was built from.
//!
//! A release of HyperDbg carries the headers of its very build in the folder `SDK` beside the library. Where they say
//! that a function takes something else, it is not called; where numbers and places only moved, calls are translated.
//! The headers are somebody else's text: they are read in bounded time, and what is wrong with them is a finding.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use hyperdbg_codegen::catalog::Catalog;
use hyperdbg_codegen::diff::{self, Abi, Fit, Side};
use hyperdbg_codegen::import;
use hyperdbg_sys::layout::{Layout, Piece, Place};
use serde::Serialize;
use tokio::sync::oneshot;

use crate::discovery::folder::{self, Access};
use crate::engine::LibrarySource;
use crate::generated::SENT_RECORDS;

/// The folder that a release keeps its headers in, beside the library.
const FOLDER: &str = "SDK";
/// Time for reading; HyperDbg's own headers need a small part of a second.
const BOUND: Duration = Duration::from_secs(5);
/// Stack of the thread that reads: headers nest.
const STACK_BYTES: usize = 8 << 20;
/// Characters of what headers make us say, at most.
const SAID: usize = 400;

/// The committed catalog; the build has checked that the generated code is made from it.
const CATALOG: &str = include_str!("../../api/mcp_api_meta.json");
/// What the headers expect of Windows' own.
const PRELUDE: &str = include_str!("../../api/prelude.h");

/// Functions without which no library can be used at all.
const ENGINE: [&str; 2] = ["hyperdbg_u_set_text_message_callback", "hyperdbg_u_run_command"];

/// Where headers are looked for, and what is made of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The folder that was named.
    pub folder: Option<PathBuf>,
    /// Translate what only moved; else it disables what needs it.
    pub translate: bool,
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            folder: None,
            translate: true,
        }
    }
}

/// What became of the headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Headers {
    /// None are needed: the built-in simulator is made from the catalog.
    BuiltIn,
    /// There are none: only the exported names tell which release it is.
    Absent {
        /// Where they would be.
        sought: PathBuf,
    },
    /// They are there and were not used.
    Unusable {
        /// Their folder.
        folder: PathBuf,
        /// Why not.
        why: String,
    },
    /// They say how the library is to be called.
    Read {
        /// Their folder.
        folder: PathBuf,
        /// Version that they claim; builds between two releases claim that of the last one.
        version: String,
        /// Functions that they declare.
        functions: usize,
    },
}

/// How the library fits this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compatibility {
    /// What this was found from.
    pub headers: Headers,
    /// Functions that are not called, with the reason.
    pub disabled: BTreeMap<String, String>,
    /// What moved and is translated.
    pub moved: Vec<String>,
    /// What else differs, and disables nothing.
    pub notes: Vec<String>,
    /// How calls are translated.
    #[serde(skip)]
    pub layout: Layout,
    #[serde(skip)]
    declared: BTreeSet<String>,
}

impl Compatibility {
    fn of(headers: Headers) -> Self {
        Self {
            headers,
            disabled: BTreeMap::new(),
            moved: Vec::new(),
            notes: Vec::new(),
            layout: Layout::default(),
            declared: BTreeSet::new(),
        }
    }

    fn unusable(folder: &Path, why: &str) -> Self {
        Self::of(Headers::Unusable {
            folder: folder.to_owned(),
            why: said(why),
        })
    }

    /// Why a library of these headers cannot be used at all.
    pub fn hopeless(&self) -> Option<&str> {
        ENGINE
            .iter()
            .find_map(|symbol| self.disabled.get(*symbol).map(String::as_str))
    }

    /// The same, knowing which functions of the catalog the library lacks: headers that lack a function which the
    /// library exports are of another build, and are not used.
    #[must_use]
    pub fn held_against<T: AsRef<str>>(mut self, missing: &[T]) -> Self {
        let Headers::Read { folder, .. } = &self.headers else {
            return self;
        };
        let missing: BTreeSet<&str> = missing.iter().map(AsRef::as_ref).collect();
        let (exported, lacking): (Vec<&str>, Vec<&str>) = hyperdbg_sys::Exports::SYMBOLS
            .into_iter()
            .partition(|symbol| !missing.contains(symbol));
        let undeclared: Vec<&str> = exported
            .into_iter()
            .filter(|symbol| !self.declared.contains(*symbol))
            .collect();
        if !undeclared.is_empty() {
            let why = format!(
                "they are not of this library's build: it exports {}, which they do not declare",
                undeclared.join(", ")
            );
            return Self::unusable(folder, &why);
        }
        let promised: Vec<&str> = lacking
            .into_iter()
            .filter(|symbol| self.declared.contains(*symbol))
            .collect();
        if !promised.is_empty() {
            self.notes.push(said(&format!(
                "the headers declare {}, which the library does not export",
                promised.join(", ")
            )));
        }
        // What is not there cannot be called anyway.
        self.disabled
            .retain(|symbol, _| !missing.contains(symbol.as_str()));
        self
    }
}

/// Finds and reads the headers of a library.
pub async fn examine(library: &LibrarySource, choice: &Choice) -> Compatibility {
    let folder = match (&choice.folder, library) {
        (Some(folder), _) => folder.clone(),
        (None, LibrarySource::Embedded) => return Compatibility::of(Headers::BuiltIn),
        (None, LibrarySource::Path(path)) => {
            let sought = path.with_file_name(FOLDER);
            if !sought.is_dir() {
                return Compatibility::of(Headers::Absent { sought });
            }
            // Whoever writes the headers decides how the library is called: no more people than can write the library.
            if let Access::Exposed(exposed) = folder::access(&sought)
                && !matches!(folder::access(path), Access::Exposed(_))
            {
                let why = format!("{} can be written by {}", exposed.place.display(), exposed.who);
                return Compatibility::unusable(&sought, &why);
            }
            sought
        }
    };
    let (sink, judged) = oneshot::channel();
    // A thread of its own: one that hangs in the system delays nobody's end.
    let started = std::thread::Builder::new()
        .name("headers".to_owned())
        .stack_size(STACK_BYTES)
        .spawn({
            let (folder, translate) = (folder.clone(), choice.translate);
            move || {
                let _ = sink.send(judge(&folder, translate));
            }
        });
    if let Err(error) = started {
        return Compatibility::unusable(
            &folder,
            &format!("no thread can be started to read them: {error}"),
        );
    }
    match tokio::time::timeout(BOUND, judged).await {
        Ok(Ok(compatibility)) => compatibility,
        Ok(Err(_)) => Compatibility::unusable(&folder, "reading them failed: a defect of this program"),
        Err(_) => Compatibility::unusable(&folder, &format!("reading them took over {BOUND:?}")),
    }
}

/// Reads the headers in `folder` and compares; takes its time.
fn judge(folder: &Path, translate: bool) -> Compatibility {
    let ours = match catalog() {
        Ok(catalog) => catalog,
        Err(why) => return Compatibility::unusable(folder, why),
    };
    let theirs = match import::import(folder, PRELUDE) {
        Ok(catalog) => catalog,
        Err(findings) => {
            let first = findings.first().map_or_else(String::new, |finding| {
                format!("{}: {}", finding.code, finding.message)
            });
            let why = format!(
                "they cannot be read ({} findings); the first: {first}",
                findings.len()
            );
            return Compatibility::unusable(folder, &why);
        }
    };
    let fit = diff::fit(
        Side::from(ours),
        Side::from(&theirs),
        Abi::THIS,
        translate,
        SENT_RECORDS,
    );
    Compatibility {
        layout: layout(&fit),
        disabled: fit
            .disabled
            .into_iter()
            .map(|(function, reasons)| (function, said(&reasons.join("; "))))
            .collect(),
        moved: fit.moved.iter().map(|what| said(what)).collect(),
        notes: fit.notes.iter().map(|what| said(what)).collect(),
        declared: theirs
            .functions
            .iter()
            .map(|function| function.name.clone())
            .collect(),
        headers: Headers::Read {
            folder: folder.to_owned(),
            version: said(&theirs.sdk_version),
            functions: theirs.functions.len(),
        },
    }
}

fn catalog() -> Result<&'static Catalog, &'static str> {
    static READ: OnceLock<Result<Catalog, String>> = OnceLock::new();
    READ.get_or_init(|| {
        import::read(CATALOG, "api/mcp_api_meta.json").map_err(|findings| {
            findings.first().map_or_else(
                || "the catalog cannot be read".to_owned(),
                |finding| finding.message.clone(),
            )
        })
    })
    .as_ref()
    .map_err(String::as_str)
}

/// The tables of a verdict in the form that the worker takes. Numbers that fit no C `int` are none of an enum.
fn layout(fit: &Fit) -> Layout {
    let index = |bits: u64| usize::try_from(bits).unwrap_or(usize::MAX);
    let enums = fit.relocation.enums.iter().map(|(name, numbers)| {
        let numbers = numbers.iter().filter_map(|(ours, theirs)| {
            let theirs = theirs.and_then(|number| i32::try_from(number).ok());
            Some((i32::try_from(*ours).ok()?, theirs))
        });
        (name.clone(), numbers.collect())
    });
    let records = fit.relocation.records.iter().map(|(name, placement)| {
        let pieces = placement.pieces.iter().map(|piece| Piece {
            here: index(piece.here),
            there: index(piece.there),
            bits: index(piece.bits),
            names: piece.names.clone(),
        });
        let place = Place {
            size_bytes: index(placement.size),
            pieces: pieces.collect(),
        };
        (name.clone(), place)
    });
    Layout {
        enums: enums.collect(),
        records: records.collect(),
    }
}

/// Words that hold names out of the headers, for people and agents: short, and without what moves a cursor.
fn said(text: &str) -> String {
    let mut said: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(SAID)
        .collect();
    if text.chars().count() > SAID {
        said.push('…');
    }
    said
}
