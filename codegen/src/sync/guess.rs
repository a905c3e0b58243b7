//! What names and types suggest about a function that nobody has described yet.
//!
//! A guess is a start for a person, never a decision: every one is marked, and nothing is generated while a mark is left.

use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, Function, Param, Type};

/// Most bytes that a guessed buffer holds.
const BUFFER_BYTES: u64 = 4096;

/// Types without their typedefs.
pub(super) struct Types<'a> {
    catalog: &'a Catalog,
}

/// What a pointer points to.
enum Pointee {
    Char,
    Wide,
    Bytes,
    Scalar,
    Record,
    Pointer,
}

impl<'a> Types<'a> {
    pub(super) fn new(catalog: &'a Catalog) -> Self {
        Self { catalog }
    }

    fn plain(&self, ty: &Type) -> Type {
        let mut at = ty.clone();
        // A catalog has no cycles, so that this ends after as many steps as there are typedefs.
        for _ in 0..=self.catalog.typedefs.len() {
            let Type::Named(name) = &at else { break };
            match self.catalog.typedefs.iter().find(|one| one.name == *name) {
                Some(typedef) => at = typedef.ty.clone(),
                None => break,
            }
        }
        at
    }

    fn pointee(&self, ty: &Type) -> Option<(Pointee, bool)> {
        let Type::Pointer { to, constant } = self.plain(ty) else {
            return None;
        };
        let spelled = to.to_string();
        let pointee = match self.plain(&to) {
            Type::Pointer { .. } | Type::Array { .. } => Pointee::Pointer,
            Type::Named(name) => match name.as_str() {
                "char" => Pointee::Char,
                "wchar_t" => Pointee::Wide,
                "unsigned short" if spelled.contains("WCHAR") => Pointee::Wide,
                "void" | "unsigned char" if spelled != "BOOLEAN" => Pointee::Bytes,
                _ if self.catalog.records.iter().any(|one| one.name == name) => Pointee::Record,
                _ => Pointee::Scalar,
            },
        };
        Some((pointee, constant))
    }

    fn is_integer(&self, ty: &Type) -> bool {
        matches!(self.plain(ty), Type::Named(name) if name != "void")
    }
}

/// The parameters with a role each.
pub(super) fn params(types: &Types<'_>, function: &Function) -> Map<String, Value> {
    let mut roles = Map::new();
    for (at, param) in function.params.iter().enumerate() {
        let mut role = role(types, function, at, param);
        if let Value::Object(map) = &mut role {
            map.insert("guess".to_owned(), Value::from(why(types, param)));
        }
        roles.insert(param.name.clone(), role);
    }
    roles
}

fn why(types: &Types<'_>, param: &Param) -> String {
    let plain = types.plain(&param.ty);
    if plain == param.ty {
        format!("from the type `{}` and the names", param.ty)
    } else {
        format!("from the type `{}` ({plain}) and the names", param.ty)
    }
}

fn role(types: &Types<'_>, function: &Function, at: usize, param: &Param) -> Value {
    let before = at.checked_sub(1).and_then(|before| function.params.get(before));
    let size = function.params.get(at + 1).filter(|next| is_size(types, next));
    let Some((pointee, constant)) = types.pointee(&param.ty) else {
        let counted =
            before.filter(|before| matches!(types.pointee(&before.ty), Some((Pointee::Bytes, true))));
        return match counted {
            Some(before) if is_size(types, param) => json!({ "role": "length", "of": before.name }),
            _ if names(param, &["address"]) => json!({ "role": "value", "doc": "", "as": "address" }),
            _ => json!({ "role": "value", "doc": "" }),
        };
    };
    match (pointee, constant, size) {
        (_, _, None) if names(param, &["callback", "handler"]) => json!({ "role": "callback", "reason": "" }),
        (Pointee::Char, false, Some(size)) => {
            json!({ "role": "out_string", "doc": "", "capacity": size.name, "encoding": "utf8" })
        }
        (Pointee::Wide, false, Some(size)) => {
            json!({ "role": "out_string", "doc": "", "capacity": size.name, "encoding": "utf16" })
        }
        (Pointee::Char, ..) => json!({ "role": "string", "doc": "", "encoding": "utf8", "max_bytes": 260 }),
        (Pointee::Wide, ..) => json!({ "role": "string", "doc": "", "encoding": "utf16", "max_bytes": 520 }),
        (Pointee::Bytes, true, Some(size)) => {
            json!({ "role": "in_bytes", "doc": "", "length": size.name, "max_bytes": BUFFER_BYTES })
        }
        (Pointee::Bytes, false, Some(size)) => {
            json!({ "role": "out_bytes", "doc": "", "capacity": size.name, "max_bytes": BUFFER_BYTES })
        }
        (Pointee::Record, false, _) => json!({ "role": "out_record", "doc": "" }),
        (Pointee::Scalar, false, _) => json!({ "role": "out_value", "doc": "" }),
        // A pointer without a role is an error, not a guess.
        _ => json!({ "role": "undecided" }),
    }
}

fn is_size(types: &Types<'_>, param: &Param) -> bool {
    types.is_integer(&param.ty) && names(param, &["size", "length", "len", "count", "capacity"])
}

fn names(param: &Param, words: &[&str]) -> bool {
    let name = param.name.to_ascii_lowercase();
    words.iter().any(|word| name.contains(word))
}

/// What the return value means.
pub(super) fn returns(types: &Types<'_>, function: &Function) -> Value {
    let (mut value, why) = match types.plain(&function.returns) {
        Type::Named(name) if name == "void" => (json!({ "is": "nothing" }), "it returns nothing"),
        Type::Named(name) if name == "unsigned char" || name == "bool" => (
            json!({ "is": "success", "ok": "nonzero" }),
            "most functions that return BOOLEAN return TRUE for success",
        ),
        Type::Named(name) if name == "int" => (
            json!({ "is": "success", "ok": "zero" }),
            "most functions that return INT return 0 for success",
        ),
        _ => (
            json!({ "is": "value", "name": "result", "as": "integer", "doc": "" }),
            "the type is none that tells success",
        ),
    };
    if let Value::Object(map) = &mut value {
        map.insert("guess".to_owned(), Value::from(why));
    }
    value
}
