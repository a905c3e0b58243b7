//! From an SDK folder to the catalog, and from the committed catalog file back into memory.
//!
//! The exports are the prototypes that carry a visibility macro; the catalog holds them, the closure of the types
//! that they reach, and the constants that the program knows by name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::catalog::{
    AltLayout, Bits, Callback, Catalog, Constant, Enum, EnumValue, FORMAT, Field, Function, Param, Record,
    Type, Typedef,
};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::header::target::{LINUX, MSVC};
use crate::header::{Parameter, Place, Signature, Sources, Ty, Unit, code};

mod file;

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
    let mut unit = Unit::read(folder, &headers, prelude, &MSVC)?;
    let mut catalog = from_unit(&mut unit, &Selection::Exports)?;
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
        let linux = Unit::read(folder, &headers, prelude, &LINUX)?;
        add_linux_layouts(&mut catalog, &linux)?;
    }
    Ok(catalog)
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

/// Which declarations go into a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// The exported functions, what they reach, and the constants known by name.
    Exports,
    /// Every prototype, type and number of the headers themselves (not of the prelude): for tests of the front end.
    All,
}

/// Makes a catalog without version and without the layouts of other ABIs.
pub fn from_unit(unit: &mut Unit, selection: &Selection) -> std::result::Result<Catalog, Diagnostics> {
    let mut findings = Diagnostics::new();
    let mut closure = Closure {
        unit,
        work: Vec::new(),
        seen: BTreeSet::new(),
        enums: BTreeMap::new(),
        records: BTreeMap::new(),
        typedefs: BTreeMap::new(),
    };
    let mut functions = Vec::new();
    for prototype in &unit.types.prototypes {
        if *selection == Selection::Exports && prototype.marker.is_none() {
            continue;
        }
        match closure.function(&prototype.name, &prototype.signature, prototype.loc) {
            Ok(function) => functions.push(function),
            Err(finding) => findings.push(*finding),
        }
    }
    if *selection == Selection::All {
        closure.everything();
    }
    findings.extend(closure.run());
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

fn constants(unit: &mut Unit, selection: &Selection) -> std::result::Result<Vec<Constant>, Diagnostics> {
    let mut found = Vec::new();
    let mut findings = Diagnostics::new();
    for (name, file) in unit.macro_names() {
        let wanted = match selection {
            Selection::Exports => name.starts_with(ERROR_PREFIX) || CONSTANTS.contains(&name.as_str()),
            Selection::All => unit.is_header(&file),
        };
        if !wanted {
            continue;
        }
        match unit.constant(&name) {
            Some(Ok((value, origin))) => match u64::try_from(value) {
                Ok(value) => found.push(Constant { name, value, origin }),
                Err(_) => findings.push(
                    Diagnostic::error(
                        code::CONSTANT,
                        format!("the constant `{name}` is {value}, at {origin}"),
                    )
                    .help("error codes and limits are numbers from 0"),
                ),
            },
            // Only the constants that are wanted by name must be numbers.
            Some(Err(finding)) if *selection == Selection::Exports => {
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

/// Follows types from the functions to everything that they reach.
struct Closure<'a> {
    unit: &'a Unit,
    work: Vec<Item>,
    seen: BTreeSet<Item>,
    enums: BTreeMap<String, Enum>,
    records: BTreeMap<String, Record>,
    typedefs: BTreeMap<String, Typedef>,
}

/// A declaration that is reached, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Enum(usize),
    Record(usize),
    Typedef(usize),
}

impl Closure<'_> {
    fn origin(&self, loc: Place) -> String {
        self.unit.sources.origin(loc)
    }

    fn refuse<T>(&self, what: &str, loc: Place) -> Result<T> {
        Err(Box::new(
            Diagnostic::error(
                code::NOT_REPRESENTABLE,
                format!("{what} cannot be said in the catalog"),
            )
            .at(self.unit.sources.span(loc))
            .help("the catalog's `Type` must learn it before an exported function may use it"),
        ))
    }

    fn everything(&mut self) {
        let types = &self.unit.types;
        let own = |loc: Place| self.unit.is_header(self.unit.sources.name(loc.file));
        let enums = types.enums.iter().enumerate().filter(|(_, one)| own(one.loc));
        let records = types.records.iter().enumerate().filter(|(_, one)| own(one.loc));
        let typedefs = types.typedefs.iter().enumerate().filter(|(_, one)| own(one.loc));
        self.work.extend(enums.map(|(id, _)| Item::Enum(id)));
        self.work.extend(records.map(|(id, _)| Item::Record(id)));
        self.work.extend(typedefs.map(|(id, _)| Item::Typedef(id)));
    }

    fn run(&mut self) -> Diagnostics {
        let mut findings = Diagnostics::new();
        while let Some(item) = self.work.pop() {
            if !self.seen.insert(item) {
                continue;
            }
            let done = match item {
                Item::Enum(id) => self.add_enum(id),
                Item::Record(id) => self.add_record(id),
                Item::Typedef(id) => self.add_typedef(id),
            };
            if let Err(finding) = done {
                findings.push(*finding);
            }
        }
        findings
    }

    fn function(&mut self, name: &str, signature: &Signature, loc: Place) -> Result<Function> {
        if signature.variadic {
            return self.refuse("a function with `...`", loc);
        }
        Ok(Function {
            name: name.to_owned(),
            returns: self.ty(&signature.returns, loc)?,
            params: self.params(&signature.params, loc)?,
            origin: self.origin(loc),
        })
    }

    fn params(&mut self, params: &[Parameter], loc: Place) -> Result<Vec<Param>> {
        let mut out = Vec::with_capacity(params.len());
        for (position, param) in params.iter().enumerate() {
            out.push(Param {
                name: param
                    .name
                    .as_ref()
                    .map_or_else(|| format!("arg{position}"), ToString::to_string),
                ty: self.ty(&param.ty, loc)?,
                unnamed: param.name.is_none(),
            });
        }
        Ok(out)
    }

    /// The type as the catalog spells it; what it names is noted for the closure.
    fn ty(&mut self, ty: &Ty, loc: Place) -> Result<Type> {
        let types = &self.unit.types;
        Ok(match ty {
            Ty::Basic(basic) => Type::named(basic.spelling()),
            Ty::Enum(id) => {
                self.work.push(Item::Enum(*id));
                match types.enum_name(*id) {
                    Some(name) => Type::named(name),
                    None => return self.refuse("an enum without any name", loc),
                }
            }
            Ty::Record(id) => {
                self.work.push(Item::Record(*id));
                match types.record_name(*id) {
                    Some(name) => Type::named(name),
                    None => return self.refuse("a record without any name", loc),
                }
            }
            Ty::Typedef(id) => {
                self.work.push(Item::Typedef(*id));
                Type::named(&*types.typedefs[*id].name)
            }
            Ty::Pointer { to, constant } => {
                // A typedef may hide the inner pointer; then its own entry says what is const.
                if *constant && matches!(**to, Ty::Pointer { .. }) {
                    return self.refuse("a pointer to a constant pointer", loc);
                }
                if matches!(**to, Ty::Array { .. }) {
                    return self.refuse("a pointer to an array", loc);
                }
                self.ty(to, loc)?.pointer(*constant)
            }
            Ty::Array { of, len } => {
                let of = self.ty(of, loc)?;
                of.array(len.unwrap_or(0))
            }
            Ty::Function(_) => {
                return self.refuse("a pointer to a function without a typedef of its own", loc);
            }
        })
    }

    fn add_enum(&mut self, id: usize) -> Result<()> {
        let one = &self.unit.types.enums[id];
        let Some(name) = self.unit.types.enum_name(id) else {
            // Its enumerators are constants; no type can refer to it.
            return Ok(());
        };
        let Some(values) = &one.values else {
            return self.refuse("an enum that is never defined", one.loc);
        };
        let values = values.iter().map(|(name, value)| EnumValue {
            name: name.to_string(),
            value: *value,
        });
        let values = values.collect();
        let origin = self.origin(one.loc);
        self.enums.insert(name.clone(), Enum { name, values, origin });
        Ok(())
    }

    fn add_record(&mut self, id: usize) -> Result<()> {
        let record = &self.unit.types.records[id];
        let Some(name) = self.unit.types.record_name(id) else {
            return self.refuse("a record without any name", record.loc);
        };
        let Some(layout) = &record.layout else {
            // Only named: behind a pointer it is as good as `void`.
            let ty = Type::named("void");
            self.typedefs.insert(
                name.clone(),
                Typedef {
                    name,
                    ty,
                    callback: None,
                },
            );
            return Ok(());
        };
        let mut fields = Vec::new();
        for (member, place) in record.members.iter().zip(&layout.places) {
            if member.name.is_none() && member.width.is_some() {
                continue;
            }
            let bits = member.width.map(|width| Bits {
                start: u32::try_from(place.bit - place.unit * 8).unwrap_or_default(),
                width,
            });
            fields.push(Field {
                name: member.name.as_ref().map(ToString::to_string).unwrap_or_default(),
                ty: self.ty(&member.ty, member.loc)?,
                offset: place.unit,
                bits,
            });
        }
        let made = Record {
            name: name.clone(),
            kind: record.kind,
            size: layout.extent.size,
            align: layout.extent.align,
            pack: record.pack.filter(|_| layout.packed),
            fields,
            origin: self.origin(record.loc),
            sysv: None,
        };
        self.records.insert(name, made);
        Ok(())
    }

    fn add_typedef(&mut self, id: usize) -> Result<()> {
        let types = &self.unit.types;
        let typedef = &types.typedefs[id];
        let name = typedef.name.to_string();
        // The typedef that gives a record or an enum its name is no entry of its own.
        let (own, item) = match &typedef.ty {
            Ty::Record(id) => (types.record_name(*id), Some(Item::Record(*id))),
            Ty::Enum(id) => (types.enum_name(*id), Some(Item::Enum(*id))),
            _ => (None, None),
        };
        if own.as_ref() == Some(&name) {
            self.work.extend(item);
            return Ok(());
        }
        let (ty, callback) = match self.signature(&typedef.ty) {
            Some(signature) if signature.variadic => {
                return self.refuse("a callback with `...`", typedef.loc);
            }
            Some(signature) => {
                let callback = Callback {
                    returns: self.ty(&signature.returns, typedef.loc)?,
                    params: self.params(&signature.params, typedef.loc)?,
                };
                (Type::named("void").pointer(false), Some(callback))
            }
            None => (self.ty(&typedef.ty, typedef.loc)?, None),
        };
        self.typedefs.insert(name.clone(), Typedef { name, ty, callback });
        Ok(())
    }

    /// The signature of a type that is a pointer to a function.
    fn signature(&self, ty: &Ty) -> Option<Signature> {
        match ty {
            Ty::Pointer { to, .. } => match &**to {
                Ty::Function(signature) => Some((**signature).clone()),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Adds the layout on Linux to the records that look different there.
fn add_linux_layouts(catalog: &mut Catalog, linux: &Unit) -> std::result::Result<(), Diagnostics> {
    let types = &linux.types;
    let named: BTreeMap<String, usize> = (0..types.records.len())
        .filter_map(|id| Some((types.record_name(id)?, id)))
        .collect();
    let mut findings = Diagnostics::new();
    for record in &mut catalog.records {
        let differs = || {
            Diagnostic::error(
                code::MEMBERS_DIFFER,
                format!("`{}` has other members on Linux than on Windows, at {}", record.name, record.origin),
            )
            .help("the catalog describes one list of members; the record must be excluded or the catalog extended")
        };
        let Some(other) = named.get(&record.name).map(|id| &types.records[*id]) else {
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
