//! What the declarations say: types, records, enums, typedefs, prototypes.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::target::Target;
use super::token::Loc;
use super::value::{IntType, Value};

/// A basic type of C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basic {
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// `char`
    Char,
    /// `signed char`
    SignedChar,
    /// `unsigned char`
    UnsignedChar,
    /// `wchar_t`
    WideChar,
    /// `short`
    Short,
    /// `unsigned short`
    UnsignedShort,
    /// `int`
    Int,
    /// `unsigned int`
    UnsignedInt,
    /// `long`
    Long,
    /// `unsigned long`
    UnsignedLong,
    /// `long long`
    LongLong,
    /// `unsigned long long`
    UnsignedLongLong,
    /// `float`
    Float,
    /// `double`
    Double,
}

impl Basic {
    /// C's own spelling.
    pub(crate) fn spelling(self) -> &'static str {
        match self {
            Self::Void => "void",
            Self::Bool => "bool",
            Self::Char => "char",
            Self::SignedChar => "signed char",
            Self::UnsignedChar => "unsigned char",
            Self::WideChar => "wchar_t",
            Self::Short => "short",
            Self::UnsignedShort => "unsigned short",
            Self::Int => "int",
            Self::UnsignedInt => "unsigned int",
            Self::Long => "long",
            Self::UnsignedLong => "unsigned long",
            Self::LongLong => "long long",
            Self::UnsignedLongLong => "unsigned long long",
            Self::Float => "float",
            Self::Double => "double",
        }
    }

    /// Size in bytes, which is the alignment too; none for `void`.
    pub(crate) fn bytes(self, target: &Target) -> Option<u64> {
        Some(match self {
            Self::Void => return None,
            Self::Bool | Self::Char | Self::SignedChar | Self::UnsignedChar => 1,
            Self::Short | Self::UnsignedShort => 2,
            Self::WideChar => target.wchar_bytes,
            Self::Int | Self::UnsignedInt | Self::Float => 4,
            Self::Long | Self::UnsignedLong => target.long_bytes,
            Self::LongLong | Self::UnsignedLongLong | Self::Double => 8,
        })
    }

    /// As an integer type; none for `void` and floating point.
    pub(crate) fn integer(self, target: &Target) -> Option<IntType> {
        let signed = match self {
            Self::Void | Self::Float | Self::Double => return None,
            Self::Char | Self::SignedChar | Self::Short | Self::Int | Self::Long | Self::LongLong => true,
            // `wchar_t` is `unsigned short` for MSVC and `int` for GCC on Linux.
            Self::WideChar => target.wchar_bytes == 4,
            _ => false,
        };
        let bytes = self.bytes(target)?;
        Some(IntType { bytes, signed })
    }
}

/// A type as it is written: typedef names stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ty {
    /// A basic type.
    Basic(Basic),
    /// An enum, by index.
    Enum(usize),
    /// A record, by index.
    Record(usize),
    /// A typedef, by index.
    Typedef(usize),
    /// A pointer.
    Pointer {
        /// What it points to.
        to: Box<Ty>,
        /// Whether the pointee is `const`.
        constant: bool,
    },
    /// An array.
    Array {
        /// Element type.
        of: Box<Ty>,
        /// Number of elements; none in `[]`.
        len: Option<u64>,
    },
    /// A function.
    Function(Box<Signature>),
}

/// Return type and parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signature {
    /// Return type.
    pub(crate) returns: Ty,
    /// Parameters in order.
    pub(crate) params: Vec<Parameter>,
    /// Whether `...` follows.
    pub(crate) variadic: bool,
}

/// One parameter, after arrays and functions have become pointers.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    /// Name, where the header gives one.
    pub(crate) name: Option<Rc<str>>,
    /// Type.
    pub(crate) ty: Ty,
}

/// Names of parameters do not make a function another one.
impl PartialEq for Parameter {
    fn eq(&self, other: &Self) -> bool {
        self.ty == other.ty
    }
}

impl Eq for Parameter {}

/// Struct or union.
pub(crate) use crate::catalog::RecordKind;

/// Size and alignment in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// `sizeof`
    pub(crate) size: u64,
    /// `alignof`
    pub(crate) align: u64,
}

/// One member of a record.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Name; none for an anonymous record and an unnamed bit-field.
    pub(crate) name: Option<Rc<str>>,
    /// Type.
    pub(crate) ty: Ty,
    /// Width of a bit-field.
    pub(crate) width: Option<u32>,
    /// Where it is declared.
    pub(crate) loc: Loc,
}

/// Where a member lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Bits from the start of the record.
    pub(crate) bit: u64,
    /// For a bit-field: byte offset of its storage unit.
    pub(crate) unit: u64,
}

/// The layout of a record.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Size and alignment.
    pub(crate) extent: Extent,
    /// One place per member.
    pub(crate) places: Vec<Place>,
    /// Whether the pack value lowered the alignment of a member.
    pub(crate) packed: bool,
}

/// A record.
#[derive(Debug)]
pub(crate) struct Record {
    /// Struct or union.
    pub(crate) kind: RecordKind,
    /// Tag, where there is one.
    pub(crate) tag: Option<Rc<str>>,
    /// First typedef that names it and not a pointer to it.
    pub(crate) alias: Option<Rc<str>>,
    /// The record in which it is declared without a name, and the how manieth such it is there.
    pub(crate) inside: Option<(usize, usize)>,
    /// Where it is declared.
    pub(crate) loc: Loc,
    /// The `#pragma pack` value at its opening brace.
    pub(crate) pack: Option<u64>,
    /// Members in order.
    pub(crate) members: Vec<Member>,
    /// Layout; none while the record is only named.
    pub(crate) layout: Option<Layout>,
}

/// An enum; always a C `int`.
#[derive(Debug)]
pub(crate) struct Enum {
    /// Tag, where there is one.
    pub(crate) tag: Option<Rc<str>>,
    /// First typedef that names it.
    pub(crate) alias: Option<Rc<str>>,
    /// Where it is declared.
    pub(crate) loc: Loc,
    /// Enumerators in order; none while the enum is only named.
    pub(crate) values: Option<Vec<(Rc<str>, i64)>>,
}

/// A typedef.
#[derive(Debug)]
pub(crate) struct Typedef {
    /// Name.
    pub(crate) name: Rc<str>,
    /// What it stands for, as written.
    pub(crate) ty: Ty,
    /// What it stands for when no typedef is left at the top.
    pub(crate) resolved: Ty,
    /// Whether it stands for a `const` type.
    pub(crate) constant: bool,
    /// Size and alignment of an array type, kept so that long chains of arrays need no recursion.
    pub(crate) extent: Option<Extent>,
    /// Where it is declared.
    pub(crate) loc: Loc,
}

/// A prototype.
#[derive(Debug)]
pub(crate) struct Prototype {
    /// Name.
    pub(crate) name: Rc<str>,
    /// The visibility macro in front of it.
    pub(crate) marker: Option<Rc<str>>,
    /// Its type.
    pub(crate) signature: Signature,
    /// Where it is declared.
    pub(crate) loc: Loc,
}

/// What a tag names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Record(usize),
    Enum(usize),
}

/// Everything that was declared.
#[derive(Debug, Default)]
pub(crate) struct Types {
    /// Records in order.
    pub(crate) records: Vec<Record>,
    /// Enums in order.
    pub(crate) enums: Vec<Enum>,
    /// Typedefs in order.
    pub(crate) typedefs: Vec<Typedef>,
    /// Prototypes in order.
    pub(crate) prototypes: Vec<Prototype>,
    pub(crate) prototype_names: BTreeMap<Rc<str>, usize>,
    pub(crate) tags: BTreeMap<Rc<str>, Tag>,
    pub(crate) typedef_names: BTreeMap<Rc<str>, usize>,
    /// Enumerators, with the place of their declaration.
    pub(crate) constants: BTreeMap<Rc<str>, (Value, Loc)>,
    /// Variables, with the place of their declaration.
    pub(crate) variables: BTreeMap<Rc<str>, Loc>,
}

impl Types {
    /// The type without typedefs at the top.
    pub(crate) fn resolve<'a>(&'a self, ty: &'a Ty) -> &'a Ty {
        match ty {
            Ty::Typedef(id) => self.typedefs.get(*id).map_or(ty, |typedef| &typedef.resolved),
            other => other,
        }
    }

    /// Whether a type named by typedef is `const` by itself.
    pub(crate) fn is_constant(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Typedef(id) if self.typedefs.get(*id).is_some_and(|typedef| typedef.constant))
    }

    pub(crate) fn is_void(&self, ty: &Ty) -> bool {
        matches!(self.resolve(ty), Ty::Basic(Basic::Void))
    }

    /// Whether two spellings mean one type.
    pub(crate) fn same(&self, a: &Ty, b: &Ty) -> bool {
        self.same_to_depth(a, b, 0)
    }

    fn same_to_depth(&self, a: &Ty, b: &Ty, depth: u32) -> bool {
        if a == b {
            return true;
        }
        let constant = |ty: &Ty, constant: bool| constant || self.is_constant(ty);
        // A chain of pointer typedefs that is longer than this is no type of a header.
        depth < 64
            && match (self.resolve(a), self.resolve(b)) {
                (Ty::Pointer { to: a, constant: x }, Ty::Pointer { to: b, constant: y }) => {
                    constant(a, *x) == constant(b, *y) && self.same_to_depth(a, b, depth + 1)
                }
                (Ty::Array { of: a, len: x }, Ty::Array { of: b, len: y }) => {
                    x == y && self.same_to_depth(a, b, depth + 1)
                }
                (Ty::Function(a), Ty::Function(b)) => self.same_signature(a, b, depth + 1),
                (a, b) => a == b,
            }
    }

    /// Whether two prototypes declare one function.
    pub(crate) fn same_signature(&self, a: &Signature, b: &Signature, depth: u32) -> bool {
        let params = a.params.len() == b.params.len() && a.variadic == b.variadic;
        params
            && self.same_to_depth(&a.returns, &b.returns, depth)
            && a.params
                .iter()
                .zip(&b.params)
                .all(|(a, b)| self.same_to_depth(&a.ty, &b.ty, depth))
    }

    /// Name of a record in the catalog; none when nothing names it.
    pub(crate) fn record_name(&self, id: usize) -> Option<String> {
        let record = self.records.get(id)?;
        if let Some(name) = record.alias.as_ref().or(record.tag.as_ref()) {
            return Some(name.to_string());
        }
        // Nesting is bounded by the parser, so this recursion is too.
        let (outer, position) = record.inside?;
        Some(format!("{}::(anonymous {position})", self.record_name(outer)?))
    }

    /// Name of an enum in the catalog; none when nothing names it.
    pub(crate) fn enum_name(&self, id: usize) -> Option<String> {
        let one = self.enums.get(id)?;
        one.alias.as_ref().or(one.tag.as_ref()).map(ToString::to_string)
    }
}
