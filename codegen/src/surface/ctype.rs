//! C types resolved down to what a Rust declaration needs.

use std::collections::BTreeMap;

use crate::catalog::{Catalog, Enum, Record, Type};

/// The ABIs that generated code is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abi {
    /// Windows.
    Msvc,
    /// Linux and the other targets.
    SysV,
}

/// A basic integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `char`
    Char,
    /// `signed char`
    I8,
    /// `unsigned char`
    U8,
    /// `short`
    I16,
    /// `unsigned short`, and the 16-bit `wchar_t` of the SDK
    U16,
    /// `int`
    I32,
    /// `unsigned int`
    U32,
    /// `long`: 4 bytes under MSVC, 8 under System V
    Long,
    /// `unsigned long`: 4 bytes under MSVC, 8 under System V
    UnsignedLong,
    /// `long long`
    I64,
    /// `unsigned long long`
    U64,
}

impl Scalar {
    /// The basic type of that C spelling; words may stand in any order that C allows.
    fn from_spelling(text: &str) -> Option<Self> {
        let mut words: Vec<&str> = text.split_whitespace().filter(|word| *word != "int").collect();
        words.sort_unstable();
        Some(match words.as_slice() {
            ["char"] => Self::Char,
            ["char", "signed"] | ["__int8"] | ["__int8", "signed"] => Self::I8,
            // `bool` is a byte that need not be 0 or 1 when C fills it.
            ["char", "unsigned"] | ["__int8", "unsigned"] | ["bool"] => Self::U8,
            ["short"] | ["short", "signed"] | ["__int16"] | ["__int16", "signed"] => Self::I16,
            ["short", "unsigned"] | ["wchar_t"] | ["__int16", "unsigned"] => Self::U16,
            [] if text == "int" => Self::I32,
            ["signed"] | ["__int32"] | ["__int32", "signed"] => Self::I32,
            ["unsigned"] | ["__int32", "unsigned"] => Self::U32,
            ["long"] | ["long", "signed"] => Self::Long,
            ["long", "unsigned"] => Self::UnsignedLong,
            ["long", "long"] | ["long", "long", "signed"] | ["__int64"] | ["__int64", "signed"] => Self::I64,
            ["long", "long", "unsigned"] | ["__int64", "unsigned"] => Self::U64,
            _ => return None,
        })
    }

    /// `sizeof` in bytes; equal to the alignment.
    pub fn size(self, abi: Abi) -> u64 {
        match self {
            Self::Char | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 => 4,
            Self::Long | Self::UnsignedLong => match abi {
                Abi::Msvc => 4,
                Abi::SysV => 8,
            },
            Self::I64 | Self::U64 => 8,
        }
    }

    /// The Rust spelling in declarations of the library.
    pub fn rust(self) -> &'static str {
        match self {
            Self::Char => "c_char",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::Long => "c_long",
            Self::UnsignedLong => "c_ulong",
            Self::I64 => "i64",
            Self::U64 => "u64",
        }
    }

    /// The Rust type that holds its values on every target: what `long` is on Windows, for `long`.
    pub fn portable(self) -> Self {
        match self {
            Self::Char => Self::I8,
            Self::Long => Self::I32,
            Self::UnsignedLong => Self::U32,
            other => other,
        }
    }

    /// Whether it is signed.
    pub fn signed(self) -> bool {
        matches!(
            self,
            Self::Char | Self::I8 | Self::I16 | Self::I32 | Self::Long | Self::I64
        )
    }

    /// Bits that count on every target.
    pub fn bits(self) -> u32 {
        match self.size(Abi::Msvc) {
            1 => 8,
            2 => 16,
            4 => 32,
            _ => 64,
        }
    }

    /// Least value that it holds on every target.
    pub fn min(self) -> i128 {
        if self.signed() {
            -(1i128 << (self.bits() - 1))
        } else {
            0
        }
    }

    /// Greatest value that it holds on every target.
    pub fn max(self) -> i128 {
        let bits = if self.signed() {
            self.bits() - 1
        } else {
            self.bits()
        };
        (1i128 << bits) - 1
    }
}

/// A C type without typedefs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CType {
    /// `void`, as a return value or behind a pointer.
    Void,
    /// A basic integer.
    Scalar(Scalar),
    /// An enum, by its typedef name.
    Enum(String),
    /// A struct or union, by its name in the catalog.
    Record(String),
    /// A pointer.
    Pointer {
        /// What it points to.
        to: Box<CType>,
        /// Whether the pointee is `const`.
        constant: bool,
    },
    /// An array.
    Array {
        /// Element.
        of: Box<CType>,
        /// Number of elements.
        len: u64,
    },
}

impl CType {
    /// The pointee, for pointers.
    pub fn pointee(&self) -> Option<&Self> {
        match self {
            Self::Pointer { to, .. } => Some(to),
            _ => None,
        }
    }

    /// The basic integer, for scalars.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Self::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }
}

/// The named types of a catalog.
pub struct Types<'a> {
    typedefs: BTreeMap<&'a str, &'a Type>,
    enums: BTreeMap<&'a str, &'a Enum>,
    records: BTreeMap<&'a str, &'a Record>,
}

impl<'a> Types<'a> {
    /// Indexes `catalog`.
    pub fn new(catalog: &'a Catalog) -> Self {
        Self {
            typedefs: catalog
                .typedefs
                .iter()
                .map(|typedef| (typedef.name.as_str(), &typedef.ty))
                .collect(),
            enums: catalog
                .enums
                .iter()
                .map(|item| (item.name.as_str(), item))
                .collect(),
            records: catalog
                .records
                .iter()
                .map(|item| (item.name.as_str(), item))
                .collect(),
        }
    }

    /// The record of that name.
    pub fn record(&self, name: &str) -> Option<&'a Record> {
        self.records.get(name).copied()
    }

    /// The enum of that name.
    pub fn find_enum(&self, name: &str) -> Option<&'a Enum> {
        self.enums.get(name).copied()
    }

    /// Resolves every typedef in `ty`.
    ///
    /// # Errors
    /// The reason, when a name is unknown, stands for itself, or is a type that the generator does not support.
    pub fn resolve(&self, ty: &Type) -> Result<CType, String> {
        self.resolve_within(ty, 0)
    }

    fn resolve_within(&self, ty: &Type, depth: usize) -> Result<CType, String> {
        if depth > 64 {
            return Err(format!("`{ty}` is defined through itself"));
        }
        Ok(match ty {
            Type::Named(name) => {
                if name == "void" {
                    CType::Void
                } else if self.enums.contains_key(name.as_str()) {
                    CType::Enum(name.clone())
                } else if self.records.contains_key(name.as_str()) {
                    CType::Record(name.clone())
                } else if let Some(target) = self.typedefs.get(name.as_str()) {
                    self.resolve_within(target, depth + 1)?
                } else if let Some(scalar) = Scalar::from_spelling(name) {
                    CType::Scalar(scalar)
                } else {
                    return Err(format!("the type `{name}` is not in the catalog"));
                }
            }
            Type::Pointer { to, constant } => CType::Pointer {
                to: Box::new(self.resolve_within(to, depth + 1)?),
                constant: *constant,
            },
            Type::Array { of, len } => CType::Array {
                of: Box::new(self.resolve_within(of, depth + 1)?),
                len: *len,
            },
        })
    }

    /// Whether `ty` is `wanted` or a typedef chain that passes through it.
    pub fn passes_through(&self, ty: &Type, wanted: &str) -> bool {
        let mut ty = ty;
        for _ in 0..64 {
            let Type::Named(name) = ty else { return false };
            if name == wanted {
                return true;
            }
            match self.typedefs.get(name.as_str()) {
                Some(target) => ty = target,
                None => return false,
            }
        }
        false
    }

    /// Whether `ty` is a truth value: the SDK's `BOOLEAN`, or C++'s `bool`.
    pub fn is_boolean(&self, ty: &Type) -> bool {
        self.passes_through(ty, "BOOLEAN") || self.passes_through(ty, "bool")
    }

    /// The pointee of `ty` as the catalog spells it, through pointer typedefs.
    pub fn pointee(&self, ty: &'a Type) -> Option<&'a Type> {
        let mut ty = ty;
        for _ in 0..64 {
            match ty {
                Type::Pointer { to, .. } => return Some(to),
                Type::Named(name) => ty = self.typedefs.get(name.as_str())?,
                Type::Array { .. } => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_types_are_known_by_every_spelling() {
        assert_eq!(Scalar::from_spelling("unsigned long long"), Some(Scalar::U64));
        assert_eq!(Scalar::from_spelling("long long unsigned int"), Some(Scalar::U64));
        assert_eq!(Scalar::from_spelling("unsigned __int64"), Some(Scalar::U64));
        assert_eq!(Scalar::from_spelling("int"), Some(Scalar::I32));
        assert_eq!(Scalar::from_spelling("unsigned"), Some(Scalar::U32));
        assert_eq!(Scalar::from_spelling("short int"), Some(Scalar::I16));
        assert_eq!(Scalar::from_spelling("double"), None);
        assert_eq!(Scalar::from_spelling(""), None);
    }

    #[test]
    fn long_differs_between_the_targets_and_counts_as_32_bits() {
        assert_eq!(Scalar::UnsignedLong.size(Abi::Msvc), 4);
        assert_eq!(Scalar::UnsignedLong.size(Abi::SysV), 8);
        assert_eq!(Scalar::UnsignedLong.max(), 0xffff_ffff);
        assert_eq!(Scalar::I8.min(), -128);
    }
}
