//! The tools of this process, ready to be listed and called; fixed from the start.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model;
use serde_json::{Map, Value, json};

use crate::generated;
use crate::tier::Tier;
use crate::tool::schema::Side;
use crate::tool::shape::Shape;
use crate::tool::surface::{self, Selection};
use crate::tool::{Tool, ToolError, ToolSpec};

/// One tool that is served.
pub struct Served {
    /// The tool.
    pub tool: &'static Tool,
    /// What clients see of it.
    pub model: model::Tool,
    /// Its arguments.
    pub input: Shape,
    /// Its result.
    pub output: Shape,
}

/// The tools that are served, and why others are not.
pub struct Registry {
    selection: Selection,
    served: Vec<Served>,
    by_name: HashMap<&'static str, usize>,
}

/// What a name means here.
pub enum Lookup<'a> {
    /// A tool that is served.
    Served(&'a Served),
    /// A tool that exists and is not served.
    Refused(ToolError),
    /// No tool; the nearest name that is served.
    Unknown(Option<&'a str>),
}

impl Registry {
    /// The tools that `selection` serves. Fails on a tool whose schemas have no portable form: a defect.
    pub fn new(selection: Selection) -> Result<Self, String> {
        let mut served = Vec::new();
        for tool in surface::all().filter(|tool| selection.refusal(tool).is_none()) {
            served.push(
                Served::new(tool, selection.read_only)
                    .map_err(|error| format!("{}: {error}", tool.spec.name))?,
            );
        }
        let by_name = served
            .iter()
            .enumerate()
            .map(|(at, served)| (served.tool.spec.name, at))
            .collect();
        Ok(Self {
            selection,
            served,
            by_name,
        })
    }

    /// Every tool that is served.
    pub fn served(&self) -> &[Served] {
        &self.served
    }

    /// The flags that made it.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// What `name` means here.
    pub fn lookup(&self, name: &str) -> Lookup<'_> {
        if let Some(served) = self.by_name.get(name).and_then(|at| self.served.get(*at)) {
            return Lookup::Served(served);
        }
        match surface::all().find(|tool| tool.spec.name == name) {
            Some(tool) => Lookup::Refused(
                self.selection
                    .refusal(tool)
                    .unwrap_or_else(|| ToolError::internal(format!("{name} should be served and is not"))),
            ),
            None => Lookup::Unknown(surface::nearest(
                name,
                self.served.iter().map(|served| served.tool.spec.name),
            )),
        }
    }
}

impl Served {
    fn new(tool: &'static Tool, read_only: bool) -> Result<Self, String> {
        let spec = tool.spec;
        let input = with_call_arguments(spec, spec.input_schema.portable(Side::Input)?);
        let output = with_output(spec, spec.output_schema.portable(Side::Output)?);
        let shape = Shape::of(&output)?;
        Ok(Self {
            tool,
            input: Shape::of(&input)?,
            output: shape,
            model: model::Tool::new(spec.name, spec.description, Arc::new(input))
                .with_title(spec.title)
                .with_raw_output_schema(Arc::new(slim(output)))
                .with_annotations(annotations(spec, read_only)),
        })
    }
}

/// The tool that opens sessions: it acts on none yet.
const OPEN: &str = "hd_session_open";
/// The argument by which a call names its session, where it acts on one.
pub(super) const SESSION_ID: &str = "session_id";
/// The argument by which a call lowers the deadline of what it calls, where that is long.
pub(super) const DEADLINE: &str = "deadline_ms";
/// A deadline from which on callers may want a shorter one.
const LONG: Duration = Duration::from_secs(30);
/// Functions whose time depends on what they are asked for.
const AS_ASKED: [&str; 4] = [
    "hyperdbg_u_eval_expression",
    "hyperdbg_u_read_memory",
    "hyperdbg_u_run_command",
    "hyperdbg_u_run_script",
];
/// The field in which a result tells its session's id, epoch and run state.
pub(super) const SESSION: &str = "session";

/// Whether a tool acts on a session that is open.
fn acts_on_session(spec: &ToolSpec) -> bool {
    spec.name != OPEN && (!spec.functions.is_empty() || matches!(spec.group, "exec" | "event"))
}

/// Whether a call of the tool may take long: what it is about, which is the first function that it names, takes as long
/// as what it is asked for, or has a long deadline.
fn can_last(spec: &ToolSpec) -> bool {
    if spec.name == OPEN {
        return true;
    }
    let Some(first) = spec.functions.first() else {
        return false;
    };
    AS_ASKED.contains(first)
        || generated::FUNCTIONS
            .iter()
            .any(|function| function.symbol == *first && function.deadline >= LONG)
}

/// The schema with the arguments that name the session and lower the deadline: in one place for all tools, so that none has to know of it.
fn with_call_arguments(spec: &ToolSpec, mut schema: Map<String, Value>) -> Map<String, Value> {
    let acts = acts_on_session(spec);
    if (acts || spec.name == OPEN)
        && let Some(Value::Object(properties)) = schema.get_mut("properties")
    {
        if acts {
            properties.insert(SESSION_ID.to_owned(), json!({"type": "string"}));
        }
        if can_last(spec) && !properties.contains_key("timeout_ms") && !properties.contains_key("wait_ms") {
            properties.insert(DEADLINE.to_owned(), json!({"type": "integer", "minimum": 1}));
        }
    }
    schema
}

/// The schema with the field in which a result carries what the library printed, and where to read on.
fn with_output(spec: &ToolSpec, mut schema: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        // Of what only reads, something is said only where the operator took a protection away.
        if spec.tier > Tier::Read {
            properties
                .entry("policy")
                .or_insert_with(|| json!({"type": "string"}));
        }
        properties.insert(SESSION.to_owned(), json!({"type": "string"}));
        // What calls no function of the library prints nothing.
        if spec.functions.is_empty() {
            return schema;
        }
        properties.entry("output").or_insert_with(|| {
            json!({
                "type": "object",
                "properties": {
                    "captured": {"type": "string"},
                    "truncated": {"type": "boolean"},
                    "total": {"type": "integer"},
                    "id": {"type": "string"},
                    "next_offset": {"type": "integer"}
                }
            })
        });
    }
    schema
}

/// The schema of a result without what only bounds it: it is read by a model before every conversation, and the types
/// that make the result keep the bounds anyway.
fn slim(mut schema: Map<String, Value>) -> Map<String, Value> {
    fn walk(value: &mut Value) {
        let Value::Object(fields) = value else { return };
        fields.retain(|word, bound| {
            !matches!(word.as_str(), "pattern" | "minimum" | "maximum") || bound.is_object()
        });
        for (word, inner) in fields.iter_mut() {
            match (word.as_str(), inner) {
                ("properties", Value::Object(properties)) => properties.values_mut().for_each(walk),
                ("items", items) => walk(items),
                _ => {}
            }
        }
    }
    let mut value = Value::Object(std::mem::take(&mut schema));
    walk(&mut value);
    match value {
        Value::Object(schema) => schema,
        _ => schema,
    }
}

/// `read_only` says that nothing above Read runs, whatever the tool could do elsewhere.
fn annotations(spec: &ToolSpec, read_only: bool) -> model::ToolAnnotations {
    let tier = if read_only { Tier::Read } else { spec.tier };
    // The title is the tool's own field; here it would be there twice.
    let hints = model::ToolAnnotations::new()
        .read_only(tier == Tier::Read)
        .open_world(spec.hints.open_world);
    if tier == Tier::Read {
        return hints.destructive(false).idempotent(true);
    }
    hints
        .destructive(tier == Tier::Destructive)
        .idempotent(spec.hints.idempotent)
}
