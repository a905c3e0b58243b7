//! The types that the exported functions reach, in the form of the catalog.

use std::collections::{BTreeMap, BTreeSet};

use super::Result;
use crate::catalog::{Bits, Callback, Enum, EnumValue, Field, Function, Param, Record, Type, Typedef};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::header::{Parameter, Place, Signature, Ty, Unit, code};

/// Follows types from the functions to everything that they reach.
pub(super) struct Closure<'a> {
    unit: &'a Unit,
    work: Vec<Item>,
    seen: BTreeSet<Item>,
    pub(super) enums: BTreeMap<String, Enum>,
    pub(super) records: BTreeMap<String, Record>,
    pub(super) typedefs: BTreeMap<String, Typedef>,
}

/// A declaration that is reached, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Enum(usize),
    Record(usize),
    Typedef(usize),
}

impl<'a> Closure<'a> {
    pub(super) fn new(unit: &'a Unit) -> Self {
        Self {
            unit,
            work: Vec::new(),
            seen: BTreeSet::new(),
            enums: BTreeMap::new(),
            records: BTreeMap::new(),
            typedefs: BTreeMap::new(),
        }
    }

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

    /// Notes every type of the headers themselves.
    pub(super) fn everything(&mut self) {
        let types = &self.unit.types;
        let own = |loc: Place| self.unit.is_header(self.unit.sources.name(loc.file));
        let enums = types.enums.iter().enumerate().filter(|(_, one)| own(one.loc));
        let records = types.records.iter().enumerate().filter(|(_, one)| own(one.loc));
        let typedefs = types.typedefs.iter().enumerate().filter(|(_, one)| own(one.loc));
        self.work.extend(enums.map(|(id, _)| Item::Enum(id)));
        self.work.extend(records.map(|(id, _)| Item::Record(id)));
        self.work.extend(typedefs.map(|(id, _)| Item::Typedef(id)));
    }

    /// Follows what was noted until nothing new comes.
    pub(super) fn run(&mut self) -> Diagnostics {
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

    /// An exported function; the types that it names are noted.
    pub(super) fn function(&mut self, name: &str, signature: &Signature, loc: Place) -> Result<Function> {
        if signature.variadic {
            return self.refuse("a function with `...`", loc);
        }
        Ok(Function {
            name: name.to_owned(),
            returns: self.ty(&signature.returns, loc)?,
            params: self.params(&signature.params, loc)?,
            origin: self.origin(loc),
            unmarked: false,
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
