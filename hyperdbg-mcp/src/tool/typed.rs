//! Hand-written tools as typed functions: their schemas from Rust types, their answers from typed values.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use super::{ToolError, ToolOutput, ToolResult};
use crate::output::Untrusted;

/// What a hand-written tool answers.
#[derive(Debug)]
pub struct Answer<T> {
    /// The typed fields.
    pub value: T,
    /// Our own words about it, for a reader.
    pub text: String,
    /// The fields as a table or dump, where they hold data of the target.
    pub view: Option<Untrusted>,
    /// What the library printed, where that is part of the answer.
    pub captured: Option<Untrusted>,
}

impl<T> Answer<T> {
    /// An answer with a text for readers.
    pub fn new(value: T, text: impl Into<String>) -> Self {
        Self {
            value,
            text: text.into(),
            view: None,
            captured: None,
        }
    }

    /// The same answer with a view of its fields that holds data of the target.
    #[must_use]
    pub fn view(mut self, view: impl Into<Untrusted>) -> Self {
        self.view = Some(view.into()).filter(|view| !view.is_empty());
        self
    }

    /// The same answer with what the library printed.
    #[must_use]
    pub fn captured(mut self, text: impl Into<Untrusted>) -> Self {
        self.captured = Some(text.into()).filter(|text| !text.is_empty());
        self
    }
}

/// The return types that `#[composite_tool]` accepts.
pub trait TypedResult {
    /// The typed fields.
    type Value: Serialize + JsonSchema;

    /// The result in the form of every tool.
    fn into_result(self) -> ToolResult;
}

impl<T: Serialize + JsonSchema> TypedResult for Result<Answer<T>, ToolError> {
    type Value = T;

    fn into_result(self) -> ToolResult {
        let Answer {
            value,
            text,
            view,
            captured,
        } = self?;
        let mut output = ToolOutput::typed(&value)?.text(text);
        output.view = view;
        output.captured = captured;
        Ok(output)
    }
}

/// The result of a handler.
pub fn answer<R: TypedResult>(result: R) -> ToolResult {
    result.into_result()
}

/// The schema of a handler's input.
pub fn input_schema<T: JsonSchema>() -> Schema {
    SchemaSettings::default()
        .for_deserialize()
        .into_generator()
        .into_root_schema_for::<T>()
}

/// The schema of a handler's typed fields.
pub fn output_schema<R: TypedResult>() -> Schema {
    SchemaSettings::default()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<R::Value>()
}
