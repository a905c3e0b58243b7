//! What we expose, resolved: everything that an emitter writes stands in here, so that none has to guess.

pub mod ctype;
pub mod layout;
mod library;
mod params;
pub mod words;

pub use ctype::{Abi, CType, Scalar};
pub use layout::{Layout, Repr};
pub use library::{EnumType, EnumValue, Export, Library, RecordField, RecordType};
pub use params::{Capacity, Encoding, FieldSet, Form, Input, InputKind, Output, OutputKind, Param, Pass};

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
