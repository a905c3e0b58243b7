//! What C says: the facts of HyperDbg's SDK that the exported functions reach, in the form that is committed as
//! `api/mcp_api_meta.json`.
//!
//! The catalog holds no policy and no prose of upstream; a person never edits it. Types are written the way C
//! spells them (`const CHAR *`, `UINT64[400]`), so that a review can read them; [`Type`] is their structured form.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Version of the catalog's own format.
pub const FORMAT: u32 = 1;

/// The whole catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    /// [`FORMAT`] of the program that wrote it.
    pub format: u32,
    /// Version that the SDK's own macros declare, such as `0.23.0`.
    pub sdk_version: String,
    /// ABI of every size and offset in here: `x86_64-pc-windows-msvc`.
    pub abi: String,
    /// Exported functions in the order of the header.
    pub functions: Vec<Function>,
    /// Enums that the functions reach, by name.
    pub enums: Vec<Enum>,
    /// Structs and unions that the functions reach, by name.
    pub records: Vec<Record>,
    /// Every other type name that is used above: scalars, `PVOID`, pointer typedefs.
    pub typedefs: Vec<Typedef>,
    /// Constants that the program needs by name: error codes and limits.
    pub constants: Vec<Constant>,
}

/// One exported function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// Exported symbol.
    pub name: String,
    /// Return type.
    pub returns: Type,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// `file:line` of the declaration, relative to the SDK folder.
    pub origin: String,
    /// Whether the header of the exports declares it without the macro that exports it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmarked: bool,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Name in the header; `arg<N>` (from 0) where the header gives none.
    pub name: String,
    /// Type; an array declarator is recorded as the pointer that it decays to.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Whether the header leaves the parameter unnamed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unnamed: bool,
}

/// One enum; its underlying type is C `int`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enum {
    /// Typedef name.
    pub name: String,
    /// Enumerators in the order of the header.
    pub values: Vec<EnumValue>,
    /// `file:line` of the declaration.
    pub origin: String,
}

/// One enumerator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnumValue {
    /// Name.
    pub name: String,
    /// Value.
    pub value: i64,
}

/// Struct or union.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// `struct`
    Struct,
    /// `union`
    Union,
}

/// One record with its layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Typedef name. An anonymous member record is `OUTER::(anonymous N)` with N from 0 in declaration order.
    pub name: String,
    /// Struct or union.
    pub kind: RecordKind,
    /// `sizeof` in bytes.
    pub size: u64,
    /// `alignof` in bytes.
    pub align: u64,
    /// The `#pragma pack` value in force where it lowers a member's alignment or the record's, else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<u64>,
    /// Members in order. Unnamed bit-fields are left out; they show as gaps.
    pub fields: Vec<Field>,
    /// `file:line` of the declaration.
    pub origin: String,
    /// Where the System V ABI (Linux) places members elsewhere than MSVC: that layout. Absent when equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sysv: Option<AltLayout>,
}

/// The layout of a record under another ABI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AltLayout {
    /// `sizeof` in bytes.
    pub size: u64,
    /// `alignof` in bytes.
    pub align: u64,
    /// Bit offset of each member from the start of the record, in the order of [`Record::fields`].
    pub bit_offsets: Vec<u64>,
}

/// One member of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Name; empty for an anonymous member record.
    pub name: String,
    /// Type as declared.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Offset in bytes; for a bit-field the offset of its storage unit.
    pub offset: u64,
    /// For a bit-field: the position in its storage unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<Bits>,
}

/// Position of a bit-field in its storage unit; bit 0 is the least significant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bits {
    /// First bit.
    pub start: u32,
    /// Number of bits.
    pub width: u32,
}

/// A type name that is neither an enum nor a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Typedef {
    /// Name, such as `UINT32` or `PLAPIC_PAGE`.
    pub name: String,
    /// What it stands for: a C spelling whose names are basic C types, records, enums or other typedefs.
    #[serde(rename = "is")]
    pub ty: Type,
    /// For a pointer to a function (`is` then says `void *`): what it calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<Callback>,
}

/// The function behind a function-pointer typedef.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Callback {
    /// Return type.
    pub returns: Type,
    /// Parameters in order.
    pub params: Vec<Param>,
}

/// A named integer constant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Macro name.
    pub name: String,
    /// Value.
    pub value: u64,
    /// `file:line` of the definition.
    pub origin: String,
}

/// Most stars and array lengths in the spelling of one type.
const MAX_PARTS: usize = 32;

/// A C type, as far as the SDK uses them.
///
/// Basic types are [`Type::Named`] with C's own spelling (`unsigned long`, `char`, `void`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Type {
    /// A basic type, enum, record or typedef.
    Named(String),
    /// A pointer.
    Pointer {
        /// What it points to.
        to: Box<Type>,
        /// Whether the pointee is `const`.
        constant: bool,
    },
    /// An array of known length (members of records only).
    Array {
        /// Element type.
        of: Box<Type>,
        /// Number of elements.
        len: u64,
    },
}

impl Type {
    /// A named type.
    pub fn named(name: impl Into<String>) -> Self {
        Self::Named(name.into())
    }

    /// A pointer to `self`.
    #[must_use]
    pub fn pointer(self, constant: bool) -> Self {
        Self::Pointer {
            to: Box::new(self),
            constant,
        }
    }

    /// An array of `self`.
    #[must_use]
    pub fn array(self, len: u64) -> Self {
        Self::Array {
            of: Box::new(self),
            len,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Pointer { to, constant } => {
                if *constant {
                    f.write_str("const ")?;
                }
                match **to {
                    Self::Pointer { .. } => write!(f, "{to}*"),
                    _ => write!(f, "{to} *"),
                }
            }
            Self::Array { of, len } => {
                // C writes the outermost length first: `T[2][3]` is an array of two `T[3]`.
                let mut lengths = format!("[{len}]");
                let mut element = of;
                while let Self::Array { of, len } = &**element {
                    lengths.push_str(&format!("[{len}]"));
                    element = of;
                }
                write!(f, "{element}{lengths}")
            }
        }
    }
}

impl From<Type> for String {
    fn from(ty: Type) -> Self {
        ty.to_string()
    }
}

impl TryFrom<String> for Type {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl std::str::FromStr for Type {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || format!("`{text}` is not a type: expected NAME, `const NAME *`, NAME[N] or the like");
        let mut rest = text.trim();
        let mut lengths = Vec::new();
        while let Some(open) = rest.strip_suffix(']') {
            let (head, len) = open.rsplit_once('[').ok_or_else(fail)?;
            lengths.push(len.parse::<u64>().map_err(|_| fail())?);
            rest = head.trim_end();
        }
        let mut stars = 0usize;
        while let Some(head) = rest.strip_suffix('*') {
            stars += 1;
            rest = head.trim_end();
        }
        let constant = rest.starts_with("const ");
        let name = rest.strip_prefix("const ").unwrap_or(rest).trim();
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ' ' | ':' | '(' | ')');
        // Each part is one level of recursion for whoever walks the type.
        if stars + lengths.len() > MAX_PARTS {
            return Err(fail());
        }
        if name.is_empty() || !name.chars().all(word) || (constant && stars == 0) {
            return Err(fail());
        }
        let mut ty = Self::named(name);
        for level in 0..stars {
            ty = ty.pointer(constant && level == 0);
        }
        for len in lengths {
            ty = ty.array(len);
        }
        Ok(ty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_survive_their_c_spelling() {
        for text in [
            "VOID",
            "unsigned long",
            "CHAR *",
            "const WCHAR *",
            "CHAR **",
            "UINT64[400]",
            "UINT8[2][3]",
            "MSR_LBR_INFO::(anonymous 0)",
        ] {
            let ty: Type = text.parse().unwrap();
            assert_eq!(ty.to_string(), text);
        }
        let grid: Type = "UINT8[2][3]".parse().unwrap();
        assert_eq!(grid, Type::named("UINT8").array(3).array(2));
    }

    #[test]
    fn what_is_no_type_is_refused() {
        let deep = format!("X {}", "*".repeat(1_000_000));
        for text in ["", "*", "const X", "UINT8[x]", "UINT8]", "a-b", &deep] {
            assert!(text.parse::<Type>().is_err(), "{text}");
        }
    }
}
