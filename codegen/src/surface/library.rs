//! The C side of the surface: what the library exports and the types that cross the boundary.

use std::collections::{BTreeMap, BTreeSet};

use super::ctype::{Abi, CType, Types};
use super::layout::{Layout, Layouts};
use crate::catalog::{Bits, Catalog, RecordKind};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::resolve::codes;

/// Exports, enums and records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// Exported functions in the order of the header.
    pub exports: Vec<Export>,
    /// Enums by name.
    pub enums: Vec<EnumType>,
    /// Records by name.
    pub records: Vec<RecordType>,
}

/// One exported function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Symbol.
    pub symbol: String,
    /// Parameters in order.
    pub params: Vec<(String, CType)>,
    /// Return type.
    pub returns: CType,
    /// Prototype as C spells it.
    pub prototype: String,
    /// `file:line` in the SDK.
    pub origin: String,
}

/// One enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumType {
    /// C name, also in Rust.
    pub name: String,
    /// Enumerators in order.
    pub values: Vec<EnumValue>,
    /// `file:line` in the SDK.
    pub origin: String,
}

/// One enumerator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumValue {
    /// C name.
    pub name: String,
    /// Name on the wire: without the prefix that all enumerators share, in lower case.
    pub short: String,
    /// Value.
    pub value: i32,
}

impl EnumType {
    /// The enumerator of that C name.
    pub fn by_name(&self, name: &str) -> Option<&EnumValue> {
        self.values.iter().find(|value| value.name == name)
    }

    /// The first enumerator of that value.
    pub fn by_value(&self, wanted: i128) -> Option<&EnumValue> {
        self.values.iter().find(|value| i128::from(value.value) == wanted)
    }
}

/// One struct or union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordType {
    /// C name in the catalog.
    pub name: String,
    /// Name in Rust.
    pub rust: String,
    /// Struct or union.
    pub kind: RecordKind,
    /// Members as C declares them.
    pub fields: Vec<RecordField>,
    /// Layout on Windows.
    pub msvc: Layout,
    /// Layout elsewhere, where it differs.
    pub sysv: Option<Layout>,
    /// Whether it holds neither pointers nor `long`: its bytes mean the same in another process.
    pub plain: bool,
    /// `file:line` in the SDK.
    pub origin: String,
}

/// One member of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordField {
    /// C name; empty for an anonymous record.
    pub name: String,
    /// Type.
    pub ty: CType,
    /// Whether C declares it as a truth value.
    pub boolean: bool,
    /// For bit-fields.
    pub bits: Option<Bits>,
}

impl Library {
    /// Reads the C side out of a catalog.
    ///
    /// # Errors
    /// Every fact in the catalog that cannot be declared in Rust.
    pub fn new(catalog: &Catalog) -> Result<Self, Diagnostics> {
        let types = Types::new(catalog);
        let mut errors = Diagnostics::new();
        let mut fail =
            |what: &str, reason: String| {
                errors.push(
                Diagnostic::error(codes::UNDECLARABLE, format!("`{what}` cannot be declared: {reason}")).help(
                    "import the SDK again, or teach codegen/src/surface the form that the catalog now holds",
                ),
            );
            };
        let mut library = Self {
            exports: Vec::new(),
            enums: Vec::new(),
            records: Vec::new(),
        };
        for function in &catalog.functions {
            match export(&types, function) {
                Ok(export) => library.exports.push(export),
                Err(reason) => fail(&function.name, reason),
            }
        }
        for item in &catalog.enums {
            match enum_type(item) {
                Ok(item) => library.enums.push(item),
                Err(reason) => fail(&item.name, reason),
            }
        }
        match Layouts::new(&types, &catalog.records) {
            Err(reason) => fail("the records", reason),
            Ok(layouts) => {
                for item in &catalog.records {
                    match record_type(&types, &layouts, item) {
                        Ok(item) => library.records.push(item),
                        Err(reason) => fail(&item.name, reason),
                    }
                }
            }
        }
        if errors.is_empty() {
            library.enums.sort_by(|a, b| a.name.cmp(&b.name));
            library.records.sort_by(|a, b| a.name.cmp(&b.name));
            library.settle_plain();
            Ok(library)
        } else {
            Err(errors)
        }
    }

    /// The enum of that name.
    pub fn find_enum(&self, name: &str) -> Option<&EnumType> {
        self.enums.iter().find(|item| item.name == name)
    }

    /// The record of that name.
    pub fn find_record(&self, name: &str) -> Option<&RecordType> {
        self.records.iter().find(|item| item.name == name)
    }

    /// The export of that symbol.
    pub fn find_export(&self, symbol: &str) -> Option<&Export> {
        self.exports.iter().find(|item| item.symbol == symbol)
    }

    /// A record that holds one that is not plain is not plain either.
    fn settle_plain(&mut self) {
        loop {
            let bad: BTreeSet<String> = self
                .records
                .iter()
                .filter(|record| !record.plain)
                .map(|record| record.name.clone())
                .collect();
            let mut changed = false;
            for record in &mut self.records {
                let holds_bad = record.fields.iter().any(|field| match element(&field.ty) {
                    CType::Record(name) => bad.contains(name),
                    _ => false,
                });
                if record.plain && holds_bad {
                    record.plain = false;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }
}

/// The innermost element of nested arrays.
pub(super) fn element(ty: &CType) -> &CType {
    match ty {
        CType::Array { of, .. } => element(of),
        other => other,
    }
}

fn export(types: &Types<'_>, function: &crate::catalog::Function) -> Result<Export, String> {
    let params = function
        .params
        .iter()
        .map(|param| Ok((param.name.clone(), types.resolve(&param.ty)?)))
        .collect::<Result<Vec<_>, String>>()?;
    for (name, ty) in &params {
        if matches!(ty, CType::Void | CType::Record(_) | CType::Array { .. }) {
            return Err(format!(
                "the parameter `{name}` is passed in a way that is not supported"
            ));
        }
    }
    let returns = types.resolve(&function.returns)?;
    if matches!(returns, CType::Record(_) | CType::Array { .. }) {
        return Err("it returns a record".to_owned());
    }
    let list: Vec<String> = function
        .params
        .iter()
        .map(|param| {
            let ty = param.ty.to_string();
            let blank = if ty.ends_with('*') { "" } else { " " };
            if param.unnamed {
                ty
            } else {
                format!("{ty}{blank}{}", param.name)
            }
        })
        .collect();
    Ok(Export {
        symbol: function.name.clone(),
        params,
        returns,
        prototype: format!("{} {}({})", function.returns, function.name, list.join(", ")),
        origin: function.origin.clone(),
    })
}

fn enum_type(item: &crate::catalog::Enum) -> Result<EnumType, String> {
    let names: Vec<&str> = item.values.iter().map(|value| value.name.as_str()).collect();
    let cut = shared_prefix(&names);
    let mut values = Vec::new();
    let mut seen = BTreeMap::new();
    for value in &item.values {
        let short = value.name[cut..].to_ascii_lowercase();
        if let Some(other) = seen.insert(short.clone(), &value.name) {
            return Err(format!("`{other}` and `{}` have the same short name", value.name));
        }
        values.push(EnumValue {
            name: value.name.clone(),
            short,
            value: i32::try_from(value.value)
                .map_err(|_| format!("`{}` does not fit in a C int", value.name))?,
        });
    }
    Ok(EnumType {
        name: item.name.clone(),
        values,
        origin: item.origin.clone(),
    })
}

/// Length of the prefix that all names share, up to and with an underscore; 0 where a name would become empty.
fn shared_prefix(names: &[&str]) -> usize {
    let [first, rest @ ..] = names else { return 0 };
    if rest.is_empty() {
        return 0;
    }
    let common = rest.iter().fold(first.len(), |length, name| {
        first
            .bytes()
            .zip(name.bytes())
            .take(length)
            .take_while(|(a, b)| a == b)
            .count()
    });
    let cut = first[..common].rfind('_').map_or(0, |at| at + 1);
    if names.iter().any(|name| name.len() == cut) {
        0
    } else {
        cut
    }
}

fn record_type(
    types: &Types<'_>,
    layouts: &Layouts<'_>,
    item: &crate::catalog::Record,
) -> Result<RecordType, String> {
    let mut plain = true;
    let mut fields = Vec::new();
    for field in &item.fields {
        let ty = types.resolve(&field.ty)?;
        let inner = element(&ty);
        plain &= !matches!(inner, CType::Pointer { .. });
        plain &= !matches!(
            inner.scalar(),
            Some(super::Scalar::Long | super::Scalar::UnsignedLong)
        );
        fields.push(RecordField {
            name: field.name.clone(),
            boolean: types.is_boolean(&field.ty),
            ty,
            bits: field.bits,
        });
    }
    let msvc = layouts.layout(item, Abi::Msvc)?;
    let sysv = match item.sysv {
        Some(_) => Some(layouts.layout(item, Abi::SysV)?),
        None => None,
    };
    Ok(RecordType {
        rust: item
            .name
            .replace("::(anonymous ", "_anonymous_")
            .replace([')', ' '], ""),
        name: item.name.clone(),
        kind: item.kind,
        fields,
        msvc,
        sysv,
        plain,
        origin: item.origin.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_lose_what_all_share() {
        assert_eq!(shared_prefix(&["READ_FROM_KERNEL", "READ_FROM_VMX_ROOT"]), 10);
        assert_eq!(shared_prefix(&["RAX", "EAX"]), 0);
        assert_eq!(shared_prefix(&["A_32_BIT", "A_64_BIT"]), 2);
        assert_eq!(shared_prefix(&["ONLY_ONE"]), 0);
        assert_eq!(shared_prefix(&["FLAG_", "FLAG_X"]), 0);
    }
}
