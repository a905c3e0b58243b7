//! From an SDK folder to the catalog, and from the committed catalog file back into memory.
//!
//! The exports are the prototypes of the header of the exports, and whatever else carries a visibility macro; the
//! catalog holds them, the closure of the types that they reach, and the constants that the program knows by name.

use std::collections::BTreeMap;
use std::path::Path;

use crate::catalog::{AltLayout, Catalog, Constant, FORMAT, Field, Function};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::header::target::{LINUX, MSVC};
use crate::header::{Sources, Unit, code};

mod closure;
mod file;

use closure::Closure;
#[cfg(feature = "generate")]
pub(crate) use file::pretty;
pub use file::{read, render};

/// The header that includes all others.
const SDK_HEADER: &str = "HyperDbgSdk.h";
/// The header of the exports, newest name first.
const EXPORT_HEADERS: &[&str] = &["HyperDbgLibImports.h", "HyperDbgCtrlImports.h"];

/// Error codes go into the catalog by this prefix.
const ERROR_PREFIX: &str = "DEBUGGER_ERROR_";
/// Constants that go into the catalog by name, as far as a release has them.
const CONSTANTS: &[&str] = &[
    "DEBUGGER_OPERATION_WAS_SUCCESSFUL",
    "PacketChunkSize",
    "UsermodeBufferSize",
    "MaxSerialPacketSize",
    "COMMUNICATION_BUFFER_SIZE",
    "MAXIMUM_INSTR_SIZE",
    "MaximumSearchResults",
    "TCP_END_OF_BUFFER_CHARS_COUNT",
    "SERIAL_END_OF_BUFFER_CHARS_COUNT",
    "MAXIMUM_SUPPORTED_SYMBOLS",
    "MAX_EXECUTION_COUNT",
    "MaximumPacketsCapacity",
    "DL_DEFAULT_MAX_NODES",
];

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Reads the SDK in `folder` with the stand-ins for Windows' own headers in `prelude`.
pub fn import(folder: &Path, prelude: &str) -> std::result::Result<Catalog, Diagnostics> {
    let (catalog, _) = Exporting::read(folder, prelude)?.catalog()?;
    Ok(catalog)
}

/// An SDK with what its exports do not reach, for comparisons.
#[derive(Debug, Clone)]
pub struct Whole {
    /// What [`import`] returns.
    pub catalog: Catalog,
    /// Every type and every number of the headers, as far as the catalog can say them.
    pub everything: Catalog,
}

/// Reads the SDK in `folder` with everything that it declares.
///
/// # Errors
/// The same as those of [`import`]; what lies outside of its catalog causes none.
pub fn import_whole(folder: &Path, prelude: &str) -> std::result::Result<Whole, Diagnostics> {
    let (catalog, mut unit) = Exporting::read(folder, prelude)?.catalog()?;
    let mut everything = from_unit(&mut unit, Selection::Sayable)?;
    everything.sdk_version.clone_from(&catalog.sdk_version);
    Ok(Whole { catalog, everything })
}

/// The headers of an SDK, and which of them declares the exports.
struct Exporting<'a> {
    folder: &'a Path,
    prelude: &'a str,
    headers: [&'static str; 2],
    unit: Unit,
}

impl<'a> Exporting<'a> {
    fn read(folder: &'a Path, prelude: &'a str) -> std::result::Result<Self, Diagnostics> {
        let sources = Sources::open(folder).map_err(|finding| vec![*finding])?;
        let Some(exports) = EXPORT_HEADERS
            .iter()
            .find(|name| !sources.find(name, None).is_empty())
        else {
            return Err(vec![not_an_sdk(folder, &sources)]);
        };
        if sources.find(SDK_HEADER, None).is_empty() {
            return Err(vec![not_an_sdk(folder, &sources)]);
        }
        let headers = [SDK_HEADER, *exports];
        let unit = Unit::read(folder, &headers, prelude, &MSVC)?;
        Ok(Self {
            folder,
            prelude,
            headers,
            unit,
        })
    }

    fn catalog(self) -> std::result::Result<(Catalog, Unit), Diagnostics> {
        let mut unit = self.unit;
        let [_, exports] = self.headers;
        let mut catalog = from_unit(&mut unit, Selection::Exports(exports))?;
        if catalog.functions.is_empty() {
            return Err(vec![
                Diagnostic::error(
                    code::NO_EXPORTS,
                    format!("`{exports}` declares no exported function"),
                )
                .help("exported prototypes carry the macro IMPORT_EXPORT_LIBHYPERDBG"),
            ]);
        }
        catalog.sdk_version = version(&mut unit).map_err(|finding| vec![*finding])?;
        if unit.asked_for("__linux__") {
            let linux = Unit::read(self.folder, &self.headers, self.prelude, &LINUX)?;
            add_linux_layouts(&mut catalog, &linux)?;
        }
        Ok((catalog, unit))
    }
}

fn not_an_sdk(folder: &Path, sources: &Sources) -> Diagnostic {
    let shown = folder.display();
    let message = if sources.is_empty() {
        format!("`{shown}` holds no headers")
    } else {
        format!(
            "`{shown}` is not HyperDbg's SDK: `{SDK_HEADER}` and `{}` must be in it",
            EXPORT_HEADERS[0]
        )
    };
    Diagnostic::error(code::NOT_AN_SDK, message)
        .help("name the folder `hyperdbg/include/SDK` of a HyperDbg checkout")
}

/// Describes everything that one header of a folder declares, prototypes without visibility included, and every macro
/// that is a number. For tests of the front end: the exports of an SDK are what [`import`] returns.
pub fn describe(folder: &Path, header: &str, prelude: &str) -> std::result::Result<Catalog, Diagnostics> {
    let mut unit = Unit::read(folder, &[header], prelude, &MSVC)?;
    let mut catalog = from_unit(&mut unit, Selection::All)?;
    if unit.asked_for("__linux__") {
        let linux = Unit::read(folder, &[header], prelude, &LINUX)?;
        add_linux_layouts(&mut catalog, &linux)?;
    }
    Ok(catalog)
}

/// Which declarations go into a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Selection {
    /// The functions that the header of this name exports, what they reach, and the constants known by name.
    Exports(&'static str),
    /// Every prototype, type and number of the headers themselves (not of the prelude).
    All,
    /// The same without what the catalog cannot say.
    Sayable,
}

impl Selection {
    /// Whether the prototypes of the file `path` are exported, marked or not.
    fn exports(self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        matches!(self, Self::Exports(header) if name.eq_ignore_ascii_case(header))
    }
}

/// Makes a catalog without version and without the layouts of other ABIs.
fn from_unit(unit: &mut Unit, selection: Selection) -> std::result::Result<Catalog, Diagnostics> {
    let mut findings = Diagnostics::new();
    let mut closure = Closure::new(unit);
    let mut functions = Vec::new();
    for prototype in &unit.types.prototypes {
        let exporting = selection.exports(unit.sources.name(prototype.loc.file));
        let unmarked = exporting && prototype.marker.is_none();
        if matches!(selection, Selection::Exports(_)) && !exporting && prototype.marker.is_none() {
            continue;
        }
        match closure.function(&prototype.name, &prototype.signature, prototype.loc) {
            Ok(function) => functions.push(Function { unmarked, ..function }),
            Err(finding) => findings.push(*finding),
        }
    }
    if !matches!(selection, Selection::Exports(_)) {
        closure.everything();
    }
    findings.extend(closure.run());
    if selection == Selection::Sayable {
        findings.clear();
    }
    let (enums, records, typedefs) = (closure.enums, closure.records, closure.typedefs);
    let constants = match constants(unit, selection) {
        Ok(constants) => constants,
        Err(more) => {
            findings.extend(more);
            Vec::new()
        }
    };
    if !findings.is_empty() {
        return Err(findings);
    }
    Ok(Catalog {
        format: FORMAT,
        sdk_version: "0.0.0".to_owned(),
        abi: MSVC.abi.to_owned(),
        functions,
        enums: enums.into_values().collect(),
        records: records.into_values().collect(),
        typedefs: typedefs.into_values().collect(),
        constants,
    })
}

fn constants(unit: &mut Unit, selection: Selection) -> std::result::Result<Vec<Constant>, Diagnostics> {
    let mut found = Vec::new();
    let mut findings = Diagnostics::new();
    for (name, file) in unit.macro_names() {
        let wanted = match selection {
            Selection::Exports(_) => name.starts_with(ERROR_PREFIX) || CONSTANTS.contains(&name.as_str()),
            Selection::All | Selection::Sayable => unit.is_header(&file),
        };
        if !wanted {
            continue;
        }
        match unit.constant(&name) {
            Some(Ok((value, loc))) => match u64::try_from(value) {
                Ok(value) => found.push(Constant {
                    name,
                    value,
                    origin: unit.sources.origin(loc),
                }),
                Err(_) if selection == Selection::Sayable => {}
                Err(_) => findings.push(
                    Diagnostic::error(code::CONSTANT, format!("the constant `{name}` is {value}"))
                        .at(unit.sources.span(loc))
                        .help("error codes and limits are numbers from 0"),
                ),
            },
            // Only the constants that are wanted by name must be numbers.
            Some(Err(finding)) if matches!(selection, Selection::Exports(_)) => {
                findings.push(finding.note(format!("the catalog needs the macro `{name}` as a number")));
            }
            _ => {}
        }
    }
    if findings.is_empty() {
        Ok(found)
    } else {
        Err(findings)
    }
}

fn version(unit: &mut Unit) -> Result<String> {
    let mut parts = Vec::new();
    for name in ["VERSION_MAJOR", "VERSION_MINOR", "VERSION_PATCH"] {
        match unit.constant(name) {
            Some(Ok((value, _))) => parts.push(value.to_string()),
            Some(Err(finding)) => return Err(finding),
            None => {
                return Err(Box::new(
                    Diagnostic::error(code::VERSION, format!("the headers do not define `{name}`")).help(
                        "Constants.h of the SDK defines its version; check that the folder is complete",
                    ),
                ));
            }
        }
    }
    Ok(parts.join("."))
}

/// Adds the layout on Linux to the records that look different there.
fn add_linux_layouts(catalog: &mut Catalog, linux: &Unit) -> std::result::Result<(), Diagnostics> {
    let types = &linux.types;
    let named: BTreeMap<String, usize> = (0..types.records.len())
        .filter_map(|id| Some((types.record_name(id)?, id)))
        .collect();
    let mut findings = Diagnostics::new();
    for record in &mut catalog.records {
        let other = named.get(&record.name).map(|id| &types.records[*id]);
        let differs = || {
            let finding = Diagnostic::error(
                code::MEMBERS_DIFFER,
                format!("`{}` has other members on Linux than on Windows", record.name),
            )
            .help("the catalog describes one list of members; the record must be excluded or the catalog extended");
            match other {
                Some(other) => finding
                    .note(format!("on Windows it is the one at {}", record.origin))
                    .at(linux.sources.span(other.loc)),
                None => finding.note(format!("only on Windows is there one, at {}", record.origin)),
            }
        };
        let Some(other) = other else {
            findings.push(differs());
            continue;
        };
        let Some(layout) = &other.layout else {
            findings.push(differs());
            continue;
        };
        let places = other.members.iter().zip(&layout.places);
        let shown = places.filter(|(member, _)| member.name.is_some() || member.width.is_none());
        let (names, bit_offsets): (Vec<&str>, Vec<u64>) = shown
            .map(|(member, place)| (member.name.as_deref().unwrap_or_default(), place.bit))
            .unzip();
        if names
            != record
                .fields
                .iter()
                .map(|field| field.name.as_str())
                .collect::<Vec<_>>()
        {
            findings.push(differs());
            continue;
        }
        let start = |field: &Field| field.offset * 8 + field.bits.map_or(0, |bits| u64::from(bits.start));
        let here: Vec<u64> = record.fields.iter().map(start).collect();
        let (size, align) = (layout.extent.size, layout.extent.align);
        if (record.size, record.align, here) != (size, align, bit_offsets.clone()) {
            record.sysv = Some(AltLayout {
                size,
                align,
                bit_offsets,
            });
        }
    }
    if findings.is_empty() {
        Ok(())
    } else {
        Err(findings)
    }
}
