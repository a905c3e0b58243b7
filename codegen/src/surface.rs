//! What we expose, resolved: everything that an emitter writes stands in here, so that none has to guess.

pub mod ctype;
pub mod layout;
mod library;
pub mod words;

pub use ctype::{Abi, CType, Scalar};
pub use layout::{Layout, Repr};
pub use library::{EnumType, EnumValue, Export, Library, RecordField, RecordType};

/// The whole surface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surface {
    /// Version of the SDK that the catalog was read from.
    pub sdk_version: String,
    /// The C side: exports, enums, records.
    pub library: Library,
    /// Groups by name.
    pub groups: Vec<Group>,
    /// Functions that are not excluded, in the order of the header.
    pub functions: Vec<Function>,
    /// Hand-written tools by name, with the functions that they call.
    pub composites: Vec<Composite>,
    /// Excluded functions, in the order of the header.
    pub excluded: Vec<Excluded>,
    /// HyperDbg's error codes, ascending.
    pub errors: Vec<ErrorCode>,
    /// The code that means success.
    pub success_code: u32,
}

impl Surface {
    /// Functions that are served as a generated tool, by tool name.
    pub fn tools(&self) -> Vec<(&Function, &Tool)> {
        let mut tools: Vec<_> = self
            .functions
            .iter()
            .filter_map(|function| match &function.served {
                Served::Tool(tool) => Some((function, tool)),
                Served::Composite(_) => None,
            })
            .collect();
        tools.sort_by(|a, b| a.1.name.cmp(&b.1.name));
        tools
    }

    /// The group of that name.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }
}

/// A group of tools, as `--tools` takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Name.
    pub name: String,
    /// For headings.
    pub title: String,
    /// One or two sentences.
    pub description: String,
    /// Whether it is served unless told otherwise.
    pub default: bool,
}

/// Safety tier, in ascending order of harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Observes only.
    Read,
    /// Changes state that can be changed back.
    State,
    /// Can destroy state.
    Destructive,
}

impl Tier {
    /// Every tier with its name in `api/`.
    pub const NAMES: [(&'static str, Self); 3] = [
        ("read", Self::Read),
        ("state", Self::State),
        ("destructive", Self::Destructive),
    ];

    /// The name in `api/`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::State => "state",
            Self::Destructive => "destructive",
        }
    }

    /// The Rust type and variant of that name.
    pub fn rust(self) -> &'static str {
        match self {
            Self::Read => "Read",
            Self::State => "State",
            Self::Destructive => "Destructive",
        }
    }
}

/// One function that tools may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Exported symbol.
    pub symbol: String,
    /// Name of the Rust method; also of the modules' functions.
    pub method: String,
    /// Name of the variants of `Call` and `Reply`.
    pub variant: String,
    /// Group.
    pub group: String,
    /// One line without a final dot.
    pub summary: String,
    /// Safety tier.
    pub tier: Tier,
    /// Why it has that tier.
    pub tier_reason: String,
    /// Name in the first catalog.
    pub alias: Option<String>,
    /// What serves it.
    pub served: Served,
    /// Parameters in C order.
    pub params: Vec<Param>,
    /// Typed arguments in the order of the parameters.
    pub inputs: Vec<Input>,
    /// Typed results in the order of the parameters.
    pub outputs: Vec<Output>,
    /// The C return type.
    pub return_type: CType,
    /// What the return value means.
    pub returns: Returns,
    /// The status field that tells success.
    pub status: Option<Status>,
    /// What comes through the text callback.
    pub text: Text,
    /// Whether an `err, …` line means failure.
    pub text_errors: bool,
    /// Preconditions.
    pub requires: Requires,
    /// How long it can take.
    pub blocking: Blocking,
    /// Hazards worth a line in the reference.
    pub notes: Vec<String>,
    /// C prototype.
    pub prototype: String,
    /// `file:line` in the SDK.
    pub origin: String,
}

/// What serves a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Served {
    /// A generated tool.
    Tool(Tool),
    /// Hand-written tools of these names.
    Composite(Vec<String>),
}

/// One generated tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// `hd_<group>_<verb>`.
    pub name: String,
    /// For people.
    pub title: String,
    /// For the agent.
    pub description: String,
    /// Calling it twice does no more than calling it once.
    pub idempotent: bool,
    /// It reaches another machine.
    pub open_world: bool,
}

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

/// What is passed for a parameter. Indices refer to [`Function::inputs`], [`Function::outputs`] and
/// [`Function::params`].
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

/// What a return value means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Returns {
    /// Success when it is not zero.
    NonZero,
    /// Success when it is zero.
    Zero,
    /// It is a result.
    Value(Output),
    /// It says nothing.
    Ignored(String),
    /// There is none.
    Nothing,
}

/// A status field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The record's place among the results.
    pub output: usize,
    /// Field of the record.
    pub field: String,
    /// The value that means success.
    pub ok: u64,
}

/// What comes through the text callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// Nothing.
    None,
    /// Messages.
    Status,
    /// The answer itself.
    Result,
}

/// Preconditions of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requires {
    /// Modes in which it works; empty: any.
    pub mode: Vec<String>,
    /// Kernel module that must be loaded locally.
    pub module: Option<String>,
    /// State of the debuggee in debugger mode.
    pub state: Option<String>,
    /// Whether it needs an elevated process.
    pub admin: bool,
}

/// How long a call can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocking {
    /// Kind.
    pub kind: BlockingKind,
    /// Deadline in milliseconds.
    pub deadline_ms: u64,
    /// What it waits for.
    pub note: String,
}

/// What a call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockingKind {
    /// Nothing.
    Instant,
    /// Something that ends by itself.
    Bounded,
    /// A reply, without limit.
    Reply,
    /// The debuggee's next stop.
    UntilStop,
    /// The session's end.
    Session,
}

impl BlockingKind {
    /// Every kind with its name in `api/`.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("instant", Self::Instant),
        ("bounded", Self::Bounded),
        ("reply", Self::Reply),
        ("until_stop", Self::UntilStop),
        ("session", Self::Session),
    ];
}

/// A hand-written tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composite {
    /// Name.
    pub name: String,
    /// Group, as its name says.
    pub group: String,
    /// Symbols that the annotations say it calls, in the order of the header.
    pub symbols: Vec<String>,
}

/// A function that is no tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excluded {
    /// Exported symbol.
    pub symbol: String,
    /// Kind of reason.
    pub kind: String,
    /// Why.
    pub reason: String,
    /// Name in the first catalog.
    pub alias: Option<String>,
    /// C prototype.
    pub prototype: String,
    /// `file:line` in the SDK.
    pub origin: String,
}

/// One of HyperDbg's error codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorCode {
    /// Macro name.
    pub name: String,
    /// Value.
    pub code: u32,
    /// What it means.
    pub meaning: String,
    /// What to do now.
    pub next_step: String,
    /// Category of the tool error, in its wire form.
    pub category: String,
}
