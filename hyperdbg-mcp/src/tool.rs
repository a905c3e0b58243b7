//! What a tool is: its description, its arguments, its result and its errors. Knows no transport.

pub mod arguments;
mod book;
mod cx;
mod delivery;
mod error;
mod host;
mod meter;
pub(crate) mod report;
pub mod schema;
pub mod shape;
mod spec;
pub mod surface;
pub mod typed;
mod undo;
pub mod value;
mod verdict;

pub use book::{Armed, Book, Pages};
pub use cx::{Cx, SessionView};
pub use delivery::Delivery;
pub use error::{Category, ToolError};
pub use host::{Connection, Current, Host, Opening, Run, Sessions, Target, WorkerState};
pub use meter::{Budget, Counts, Meter};
pub use spec::{FunctionInfo, Hints, SchemaSource, Success, ToolSpec};
pub use undo::{Listing, Undo};
pub(crate) use undo::{sweep, undo};
pub use verdict::{complaint, verdict};

use serde_json::{Map, Value};

use crate::engine::BoxFuture;
use crate::output::Untrusted;

/// Arguments of one tool call: an object that already fits the tool's input schema (names known, JSON forms
/// normalised, required ones present).
#[derive(Debug, Clone, Default)]
pub struct Arguments(pub Map<String, Value>);

impl Arguments {
    /// The typed form. What a schema cannot say (an address that does not parse) fails here, by the argument's name.
    pub fn typed<T: serde::de::DeserializeOwned>(self) -> Result<T, ToolError> {
        serde_json::from_value(Value::Object(self.0)).map_err(|error| {
            ToolError::new(Category::InvalidArgument, error.to_string()).next_step(
                "Correct the argument and call again; the tool's input schema lists each one's form.",
            )
        })
    }
}

/// A successful result: typed fields, and the library's text where there was any.
#[derive(Debug, Clone, Default)]
pub struct ToolOutput {
    /// Becomes `structuredContent`; fits the tool's output schema together with the captured text.
    pub fields: Map<String, Value>,
    /// Text for a reader; made from `fields` when absent.
    pub text: Option<String>,
    /// A view of `fields` that holds data of the target (a hex dump, a table of names): shown in the text half
    /// only, as captured data.
    pub view: Option<Untrusted>,
    /// What the library printed: shown as captured data, never as our own words.
    pub captured: Option<Untrusted>,
    /// What the policy has to say about the call: our own words, in both halves.
    pub policy: Option<String>,
}

impl ToolOutput {
    /// A result from its typed form, which must serialise to a JSON object.
    pub fn typed<T: serde::Serialize>(value: &T) -> Result<Self, ToolError> {
        match serde_json::to_value(value) {
            Ok(Value::Object(fields)) => Ok(Self {
                fields,
                ..Self::default()
            }),
            Ok(other) => Err(ToolError::internal(format!("a result is not an object: {other}"))),
            Err(error) => Err(ToolError::internal(format!(
                "a result cannot be written as JSON: {error}"
            ))),
        }
    }

    /// The same result with a text for readers.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// The same result with a view of its fields that holds data of the target.
    #[must_use]
    pub fn view(mut self, view: impl Into<Untrusted>) -> Self {
        self.view = Some(view.into());
        self
    }

    /// The same result with what the library printed; empty text counts as none.
    #[must_use]
    pub fn captured(mut self, text: impl Into<Untrusted>) -> Self {
        let text = text.into();
        self.captured = (!text.is_empty()).then_some(text);
        self
    }
}

/// What a tool answers.
pub type ToolResult = Result<ToolOutput, ToolError>;

/// A tool as the server keeps it.
pub struct Tool {
    /// What clients see of it.
    pub spec: &'static ToolSpec,
    /// Runs it.
    pub run: fn(std::sync::Arc<dyn Host>, Arguments) -> BoxFuture<'static, ToolResult>,
}
