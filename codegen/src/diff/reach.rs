//! Types without their typedefs, and which exported functions reach which type.

use std::collections::{BTreeMap, BTreeSet};

use super::Side;
use crate::catalog::{Callback, Catalog, Enum, Record, Type};

/// Deepest chain of typedefs that is followed; a catalog has no cycles, headers of hostile origin may.
const MAX_DEPTH: usize = 64;

/// The types of one side.
pub(super) struct Reach<'a> {
    typedefs: BTreeMap<&'a str, &'a Type>,
    callbacks: BTreeMap<&'a str, &'a Callback>,
    records: BTreeMap<&'a str, &'a Record>,
    enums: BTreeMap<&'a str, &'a Enum>,
    users: BTreeMap<String, BTreeSet<&'a str>>,
}

impl<'a> Reach<'a> {
    pub(super) fn new(side: Side<'a>) -> Self {
        let mut reach = Self {
            typedefs: BTreeMap::new(),
            callbacks: BTreeMap::new(),
            records: BTreeMap::new(),
            enums: BTreeMap::new(),
            users: BTreeMap::new(),
        };
        for catalog in side.everything.into_iter().chain([side.catalog]) {
            for one in &catalog.typedefs {
                match &one.callback {
                    // A pointer to a function keeps its name: it is more than a pointer.
                    Some(callback) => reach.callbacks.insert(&one.name, callback).is_some(),
                    None => reach.typedefs.insert(&one.name, &one.ty).is_some(),
                };
            }
            reach
                .records
                .extend(catalog.records.iter().map(|one| (one.name.as_str(), one)));
            reach
                .enums
                .extend(catalog.enums.iter().map(|one| (one.name.as_str(), one)));
        }
        reach.follow(side.catalog);
        reach
    }

    fn follow(&mut self, catalog: &'a Catalog) {
        let callbacks: BTreeMap<&str, Vec<&Type>> = self
            .callbacks
            .iter()
            .map(|(name, callback)| {
                let params = callback.params.iter().map(|param| &param.ty);
                (*name, params.chain([&callback.returns]).collect())
            })
            .collect();
        for function in &catalog.functions {
            let mut work: Vec<&Type> = function.params.iter().map(|param| &param.ty).collect();
            work.push(&function.returns);
            let mut seen = BTreeSet::new();
            while let Some(ty) = work.pop() {
                let name = base(ty);
                if !seen.insert(name) {
                    continue;
                }
                self.users
                    .entry(name.to_owned())
                    .or_default()
                    .insert(&function.name);
                work.extend(self.typedefs.get(name).copied());
                work.extend(callbacks.get(name).into_iter().flatten().copied());
                if let Some(record) = self.records.get(name) {
                    work.extend(record.fields.iter().map(|field| &field.ty));
                }
            }
        }
    }

    /// Functions that reach the type of this name.
    pub(super) fn users(&self, name: &str) -> BTreeSet<&'a str> {
        self.users.get(name).cloned().unwrap_or_default()
    }

    /// The type with every typedef replaced by what it stands for.
    pub(super) fn plain(&self, ty: &Type) -> Type {
        self.plain_in(ty, 0)
    }

    fn plain_in(&self, ty: &Type, depth: usize) -> Type {
        match ty {
            Type::Named(name) => match self.typedefs.get(name.as_str()) {
                Some(meaning) if depth < MAX_DEPTH => self.plain_in(meaning, depth + 1),
                _ => ty.clone(),
            },
            Type::Pointer { to, constant } => self.plain_in(to, depth).pointer(*constant),
            Type::Array { of, len } => self.plain_in(of, depth).array(*len),
        }
    }

    /// Width in bytes of a plain integer type or enum.
    pub(super) fn integer_width(&self, ty: &Type) -> Option<u64> {
        let Type::Named(name) = ty else { return None };
        if self.enums.contains_key(name.as_str()) {
            return Some(4);
        }
        Some(match name.as_str() {
            "char" | "signed char" | "unsigned char" | "bool" => 1,
            "short" | "unsigned short" | "wchar_t" => 2,
            "int" | "unsigned int" | "long" | "unsigned long" => 4,
            "long long" | "unsigned long long" => 8,
            _ => return None,
        })
    }

    pub(super) fn callback(&self, name: &str) -> Option<&'a Callback> {
        self.callbacks.get(name).copied()
    }

    /// Whether a plain type is a pointer to a function, or a pointer to anything.
    fn is_opaque(&self, ty: &Type) -> bool {
        match ty {
            Type::Named(name) => self.callbacks.contains_key(name.as_str()),
            Type::Pointer { to, .. } => **to == Type::named("void"),
            Type::Array { .. } => false,
        }
    }

    pub(super) fn record(&self, name: &str) -> Option<&'a Record> {
        self.records.get(name).copied()
    }

    pub(super) fn find_enum(&self, name: &str) -> Option<&'a Enum> {
        self.enums.get(name).copied()
    }
}

/// The name at the bottom of a type.
pub(super) fn base(ty: &Type) -> &str {
    let mut at = ty;
    loop {
        match at {
            Type::Named(name) => return name,
            Type::Pointer { to, .. } => at = to,
            Type::Array { of, .. } => at = of,
        }
    }
}

/// Whether two plain types differ, and how much that weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    /// They are the same.
    None,
    /// The pointee became `const`.
    ConstGained,
    /// The pointee is `const` no more.
    ConstLost,
    /// The same width in the same place, with another meaning.
    Meaning,
    /// Another ABI, or another record behind a pointer.
    Abi,
}

/// Compares two plain types.
pub(super) fn difference(old: &Type, new: &Type, old_reach: &Reach<'_>, new_reach: &Reach<'_>) -> Difference {
    if old == new {
        return Difference::None;
    }
    if let (Type::Pointer { to: a, constant: was }, Type::Pointer { to: b, constant: is }) = (old, new) {
        if a == b {
            return match (was, is) {
                (false, true) => Difference::ConstGained,
                _ => Difference::ConstLost,
            };
        }
        let void = Type::named("void");
        if **a == void || **b == void {
            return Difference::Meaning;
        }
        return Difference::Abi;
    }
    if old_reach.is_opaque(old) && new_reach.is_opaque(new) {
        return Difference::Meaning;
    }
    match (old_reach.integer_width(old), new_reach.integer_width(new)) {
        (Some(a), Some(b)) if a == b => Difference::Meaning,
        _ => Difference::Abi,
    }
}
