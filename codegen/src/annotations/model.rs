//! What the files say, before anything is checked against the catalog.

use super::sources::{At, Place, Sources};
use crate::surface::{BlockingKind, Encoding, Form, Requires, Text, Tier};

/// Everything in `api/` that people write.
#[derive(Debug)]
pub struct Annotations {
    /// The texts, for places.
    pub sources: Sources,
    /// Groups by file name.
    pub groups: Vec<Group>,
    /// Functions that are no tool.
    pub exclusions: Vec<Exclusion>,
    /// Name of the constant that means success.
    pub success: Option<At<String>>,
    /// Error codes by macro name.
    pub errors: Vec<ErrorEntry>,
    /// Whether every file of groups and exclusions could be read: only then does absence mean anything.
    pub functions_complete: bool,
    /// Whether the file of error codes could be read.
    pub errors_complete: bool,
}

/// One file of `api/tools`.
#[derive(Debug)]
pub struct Group {
    /// Name.
    pub name: At<String>,
    /// Heading.
    pub title: String,
    /// One or two sentences.
    pub description: String,
    /// Part of the default surface.
    pub default: bool,
    /// Functions in order.
    pub functions: Vec<Function>,
}

/// One annotated function.
#[derive(Debug)]
pub struct Function {
    /// Symbol, at its key.
    pub symbol: At<String>,
    /// What was said of it; none when that was not readable (reported already).
    pub body: Option<Body>,
}

/// The facts about one function.
#[derive(Debug)]
pub struct Body {
    /// One line.
    pub summary: At<String>,
    /// Tier.
    pub tier: At<Tier>,
    /// Why.
    pub tier_reason: String,
    /// Earlier name.
    pub alias: Option<At<String>>,
    /// Generated tool.
    pub tool: Option<Tool>,
    /// Hand-written tools.
    pub composite: Option<Vec<At<String>>>,
    /// Where the parameters stand.
    pub params_place: Place,
    /// Parameters in the order of the file.
    pub params: Vec<Param>,
    /// Meaning of the return value.
    pub returns: At<Returns>,
    /// Status field.
    pub status: Option<Status>,
    /// Text.
    pub text: Text,
    /// `err, …` means failure.
    pub text_errors: bool,
    /// Preconditions.
    pub requires: Requires,
    /// Kind of wait.
    pub blocking: BlockingKind,
    /// Deadline.
    pub deadline_ms: Option<u64>,
    /// What it waits for.
    pub blocking_note: String,
    /// Hazards.
    pub notes: Vec<String>,
}

impl Body {
    /// Scalar arguments: of parameters, and of fields of records.
    pub fn scalars_mut(&mut self) -> impl Iterator<Item = &mut ScalarRole> {
        self.params.iter_mut().flat_map(|param| {
            let mut found = Vec::new();
            match param.role.as_mut().map(|role| &mut role.value) {
                Some(Role::Value(said)) => found.push(said.as_mut()),
                Some(Role::InOutRecord { inputs, .. }) => {
                    found.extend(inputs.iter_mut().map(|(_, said)| said));
                }
                _ => {}
            }
            found
        })
    }

    /// The place of a scalar argument, and what is said of it; see [`Body::scalars_mut`].
    pub fn scalars(&self) -> impl Iterator<Item = (Vec<&str>, Place, &ScalarRole)> {
        self.params.iter().flat_map(|param| {
            let name = param.name.value.as_str();
            let mut found = Vec::new();
            match param.role.as_ref().map(|role| (role.place, &role.value)) {
                Some((place, Role::Value(said))) => found.push((vec![name], place, said.as_ref())),
                Some((_, Role::InOutRecord { inputs, .. })) => {
                    found.extend(inputs.iter().map(|(path, said)| {
                        let fields = path.value.split('.');
                        (std::iter::once(name).chain(fields).collect(), path.place, said)
                    }));
                }
                _ => {}
            }
            found
        })
    }
}

/// A generated tool.
#[derive(Debug)]
pub struct Tool {
    /// Name.
    pub name: At<String>,
    /// For people.
    pub title: String,
    /// For the agent.
    pub description: At<String>,
    /// Hint.
    pub idempotent: Option<At<bool>>,
    /// Hint.
    pub open_world: Option<bool>,
}

/// One parameter.
#[derive(Debug)]
pub struct Param {
    /// Name in the header, at its key.
    pub name: At<String>,
    /// Its role; none when that was not readable (reported already).
    pub role: Option<At<Role>>,
}

/// A literal in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// Integer.
    Integer(i128),
    /// Truth value.
    Boolean(bool),
    /// String.
    Text(String),
}

/// A scalar argument: a parameter or a field of a record.
#[derive(Debug)]
pub struct ScalarRole {
    /// Argument name.
    pub name: Option<At<String>>,
    /// What it is.
    pub doc: String,
    /// JSON form.
    pub form: Option<At<Form>>,
    /// Default.
    pub default: Option<At<Literal>>,
    /// Least value.
    pub min: Option<At<i128>>,
    /// Greatest value.
    pub max: Option<At<i128>>,
    /// Values are multiples of it.
    pub multiple_of: Option<At<i128>>,
    /// Enumerators that are not offered.
    pub exclude: Vec<At<String>>,
    /// Enumerators that came after the entry was written, and are offered.
    pub offer: Vec<At<String>>,
}

impl ScalarRole {
    /// Enumerators that the entry decides on, by name.
    pub fn enumerators(&self) -> impl Iterator<Item = &At<String>> {
        self.exclude.iter().chain(&self.offer)
    }
}

/// A number, or the parameter that holds it.
#[derive(Debug)]
pub enum Size {
    /// Fixed.
    Fixed(u64),
    /// Parameter name.
    Param(String),
}

/// Role of a parameter.
#[derive(Debug)]
pub enum Role {
    /// Scalar input.
    Value(Box<ScalarRole>),
    /// Fixed value; `None` is NULL.
    Constant {
        /// Value.
        value: At<Option<i128>>,
        /// Why.
        reason: String,
    },
    /// Byte length of another parameter.
    Length {
        /// That parameter.
        of: At<String>,
    },
    /// Terminated input.
    Text {
        /// Argument name.
        name: Option<At<String>>,
        /// What it is.
        doc: String,
        /// Encoding.
        encoding: At<Encoding>,
        /// Least length.
        min: u64,
        /// Greatest length.
        max: At<u64>,
        /// May be absent.
        nullable: bool,
        /// Regular expression for the whole text.
        pattern: Option<At<String>>,
    },
    /// Input bytes.
    InBytes {
        /// Argument name.
        name: Option<At<String>>,
        /// What they are.
        doc: String,
        /// Parameter that gets their number.
        length: At<String>,
        /// Greatest number.
        max: u64,
    },
    /// Output buffer.
    OutBytes {
        /// Result name.
        name: Option<At<String>>,
        /// What they are.
        doc: String,
        /// Size of the buffer.
        capacity: At<Size>,
        /// Parameter that tells how many are valid.
        written: Option<At<String>>,
        /// Greatest size.
        max: u64,
    },
    /// Output string.
    OutText {
        /// Result name.
        name: Option<At<String>>,
        /// What it is.
        doc: String,
        /// Size of the buffer.
        capacity: At<Size>,
        /// Encoding.
        encoding: At<Encoding>,
    },
    /// One scalar to fill.
    OutValue {
        /// Result name.
        name: Option<At<String>>,
        /// What it is.
        doc: String,
        /// JSON form.
        form: Option<At<Form>>,
    },
    /// One record to fill.
    OutRecord {
        /// Result name.
        name: Option<At<String>>,
        /// What it is.
        doc: String,
    },
    /// One record with inputs.
    InOutRecord {
        /// Result name.
        name: Option<At<String>>,
        /// What it is.
        doc: String,
        /// Field paths with their arguments.
        inputs: Vec<(At<String>, ScalarRole)>,
    },
    /// A callback of the engine.
    Callback,
}

impl Role {
    /// Whether the library writes through the parameter.
    pub fn gives_result(&self) -> bool {
        match self {
            Self::OutBytes { .. }
            | Self::OutText { .. }
            | Self::OutValue { .. }
            | Self::OutRecord { .. }
            | Self::InOutRecord { .. } => true,
            Self::Value(_)
            | Self::Constant { .. }
            | Self::Length { .. }
            | Self::Text { .. }
            | Self::InBytes { .. }
            | Self::Callback => false,
        }
    }

    /// The name in the file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Value(_) => "value",
            Self::Constant { .. } => "constant",
            Self::Length { .. } => "length",
            Self::Text { .. } => "string",
            Self::InBytes { .. } => "in_bytes",
            Self::OutBytes { .. } => "out_bytes",
            Self::OutText { .. } => "out_string",
            Self::OutValue { .. } => "out_value",
            Self::OutRecord { .. } => "out_record",
            Self::InOutRecord { .. } => "inout_record",
            Self::Callback => "callback",
        }
    }
}

/// Meaning of the return value.
#[derive(Debug)]
pub enum Returns {
    /// Success when not zero.
    NonZero,
    /// Success when zero.
    Zero,
    /// A result.
    Value {
        /// Result name.
        name: At<String>,
        /// JSON form.
        form: At<Form>,
        /// What it is.
        doc: String,
    },
    /// Says nothing.
    Ignored(String),
    /// VOID.
    Nothing,
}

/// A status field.
#[derive(Debug)]
pub struct Status {
    /// Parameter.
    pub param: At<String>,
    /// Field.
    pub field: At<String>,
    /// Value that means success.
    pub ok: At<u64>,
}

/// A function that is no tool.
#[derive(Debug)]
pub struct Exclusion {
    /// Symbol, at its key.
    pub symbol: At<String>,
    /// Kind of reason.
    pub kind: String,
    /// Why.
    pub reason: String,
    /// Earlier name.
    pub alias: Option<At<String>>,
}

/// One error code.
#[derive(Debug)]
pub struct ErrorEntry {
    /// Macro name, at its key.
    pub name: At<String>,
    /// What it means.
    pub meaning: String,
    /// What to do now.
    pub next_step: String,
    /// Category.
    pub category: String,
}
