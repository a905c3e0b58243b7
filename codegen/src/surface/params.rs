//! Parameters of functions: what is passed for each, and the typed arguments and results that follow.

use super::CType;

/// One C parameter with what is passed for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Name in the catalog.
    pub name: String,
    /// Type.
    pub ty: CType,
    /// What is passed.
    pub pass: Pass,
}

/// What is passed for a parameter. Indices refer to [`Function::inputs`](super::Function::inputs), [`Function::outputs`](super::Function::outputs) and
/// [`Function::params`](super::Function::params).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pass {
    /// The argument's value.
    Value {
        /// The argument.
        input: usize,
    },
    /// A fixed integer; `None` is a null pointer.
    Constant {
        /// The integer.
        value: Option<i128>,
        /// Why it is fixed.
        reason: String,
    },
    /// The byte length of an argument.
    Length {
        /// The argument.
        input: usize,
    },
    /// A pointer to the argument's bytes: text with a terminator, or plain bytes.
    Buffer {
        /// The argument.
        input: usize,
    },
    /// A pointer to a zeroed buffer whose contents are the result.
    OutBuffer {
        /// The result.
        output: usize,
        /// Its size in bytes (in units for UTF-16).
        capacity: Capacity,
        /// The parameter that receives the number of bytes written.
        written: Option<usize>,
    },
    /// A pointer to a zeroed scalar.
    OutValue {
        /// The result.
        output: usize,
    },
    /// A pointer to a zeroed record, some fields of which are set from arguments.
    Record {
        /// The result.
        output: usize,
        /// Record name.
        record: String,
        /// Fields to set.
        sets: Vec<FieldSet>,
    },
}

/// A field of a record that an argument sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldSet {
    /// Path of C names from the record.
    pub path: Vec<String>,
    /// The argument.
    pub input: usize,
    /// The field's type.
    pub ty: CType,
    /// Whether the field is a bit-field (set by its setter), with its width.
    pub bits: Option<u32>,
}

/// Size of an output buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    /// Always that many.
    Fixed(u64),
    /// As the argument says, up to `max`.
    Input {
        /// The argument.
        input: usize,
        /// Upper bound.
        max: u64,
    },
}

/// How a scalar travels in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `0x…` string that is an address.
    Address,
    /// `0x…` string.
    Hex,
    /// JSON number.
    Integer,
    /// JSON boolean.
    Boolean,
    /// Short enumerator name.
    Enum,
}

/// Encoding of a C string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes below 0x80.
    Ascii,
    /// UTF-8.
    Utf8,
    /// UTF-16 in native byte order.
    Utf16,
}

impl Encoding {
    /// Every encoding with its name in `api/`.
    pub const NAMES: [(&'static str, Self); 3] = [
        ("ascii", Self::Ascii),
        ("utf8", Self::Utf8),
        ("utf16", Self::Utf16),
    ];
}

/// One typed argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Name as the agent sees it.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Its type.
    pub kind: InputKind,
}

/// Type of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputKind {
    /// A number, truth value or enumerator.
    Scalar {
        /// JSON form.
        form: Form,
        /// C type: scalar, enum, or pointer for an address.
        ty: CType,
        /// Default; the argument is required without one.
        default: Option<i128>,
        /// Least value.
        min: i128,
        /// Greatest value.
        max: i128,
        /// Values are multiples of it.
        multiple_of: Option<i128>,
        /// Enumerators that are not offered, by value.
        exclude: Vec<i128>,
    },
    /// A string.
    Text {
        /// Encoding for the library.
        encoding: Encoding,
        /// Least length in bytes (in units for UTF-16).
        min: u64,
        /// Greatest length, without the terminator.
        max: u64,
        /// Whether it may be absent: the library gets NULL, or the record's field stays zero.
        nullable: bool,
        /// Regular expression that the whole text must match.
        pattern: Option<String>,
    },
    /// Bytes.
    Bytes {
        /// Greatest number.
        max: u64,
    },
}

/// One typed result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Name as the agent sees it.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Its type.
    pub kind: OutputKind,
}

/// Type of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputKind {
    /// A number, truth value or enumerator.
    Scalar {
        /// JSON form.
        form: Form,
        /// C type.
        ty: CType,
    },
    /// Bytes.
    Bytes,
    /// A string.
    Text(Encoding),
    /// A record.
    Record(String),
}
