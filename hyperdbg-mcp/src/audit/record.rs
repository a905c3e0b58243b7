//! What the lines say.

use serde_json::{Map, Value, json};

use super::chain::{canonical, sha256};
use super::{Call, Masker, Session};

/// Version of the lines' form.
const FORMAT: u64 = 1;
/// Arguments whose canonical form is longer than this are recorded by their hash.
const MAX_ARGUMENT_BYTES: usize = 4_096;
/// Characters of a name, a reason or a command that are recorded.
const MAX_TEXT_CHARS: usize = 2_100;

/// What was decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It may be made.
    Allowed,
    /// A person confirmed it.
    Confirmed,
    /// The client was asked to have it confirmed, and calls again.
    Asked,
    /// It is not made.
    Refused,
}

impl Taken {
    fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Confirmed => "confirmed",
            Self::Asked => "asked",
            Self::Refused => "refused",
        }
    }
}

/// A decision, and who took it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What.
    pub taken: Taken,
    /// Who: `policy`, `validation`, `confirmation`, or who confirmed it.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

impl Decision {
    /// Allowed by the tool's tier and the server's flags.
    pub fn allowed() -> Self {
        Self {
            taken: Taken::Allowed,
            by: "policy".to_owned(),
            reason: None,
        }
    }

    /// Confirmed by a person who was asked through `by`.
    pub fn confirmed(by: impl Into<String>) -> Self {
        Self {
            taken: Taken::Confirmed,
            by: by.into(),
            reason: None,
        }
    }

    /// Left to a person who is being asked.
    pub fn asked() -> Self {
        Self {
            taken: Taken::Asked,
            by: "policy".to_owned(),
            reason: None,
        }
    }

    /// Refused by `by` for `reason`.
    pub fn refused(by: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            taken: Taken::Refused,
            by: by.into(),
            reason: Some(reason.into()),
        }
    }
}

/// The server that a log belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Server {
    /// The library, for people.
    pub library: String,
    /// Only tools that observe.
    pub read_only: bool,
    /// Tools above Read are served.
    pub allow_writes: bool,
}

pub(super) type Fields = Map<String, Value>;

pub(super) fn fields(value: Value) -> Fields {
    match value {
        Value::Object(fields) => fields,
        _ => Fields::new(),
    }
}

pub(super) fn start(server: &Server) -> Fields {
    fields(json!({
        "kind": "start",
        "format": FORMAT,
        "version": env!("CARGO_PKG_VERSION"),
        "sdk": crate::generated::SDK_VERSION,
        "server_pid": std::process::id(),
        "library": server.library,
        "read_only": server.read_only,
        "allow_writes": server.allow_writes,
    }))
}

pub(super) fn intent(call: &Call<'_>, masker: &Masker) -> Fields {
    let mut record = fields(json!({
        "kind": "intent",
        "tool": bounded(call.tool),
        "decision": call.decision.taken.name(),
        "decided_by": call.decision.by,
    }));
    if let Some(reason) = &call.decision.reason {
        record.insert("reason".to_owned(), bounded(reason).into());
    }
    if let Some(tier) = call.tier {
        record.insert("tier".to_owned(), tier.to_string().into());
    }
    if let Some(command) = call.command {
        record.insert("command".to_owned(), bounded(command).into());
    }
    insert_session(&mut record, &call.session);
    let mut arguments = Value::Object(call.arguments.clone());
    masker.mask_value(&mut arguments);
    for name in ["pid", "address", "size"] {
        let value = arguments.get(name).filter(|value| match value {
            Value::String(text) => text.len() <= 64,
            other => other.is_number(),
        });
        if let Some(value) = value {
            record.insert(name.to_owned(), value.clone());
        }
    }
    let text = canonical(&arguments);
    if text.len() <= MAX_ARGUMENT_BYTES {
        record.insert("arguments".to_owned(), arguments);
    } else {
        record.insert("arguments_bytes".to_owned(), text.len().into());
        record.insert("arguments_sha256".to_owned(), sha256(text.as_bytes()).into());
    }
    record
}

/// The half of an outcome that its intent knew already.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub(super) intent: u64,
    pub(super) tool: String,
}

pub(super) fn outcome(
    about: &About,
    outcome: &str,
    elapsed_us: u64,
    result: Option<(String, usize)>,
) -> Fields {
    let mut record = fields(json!({
        "kind": "outcome",
        "intent": about.intent,
        "tool": about.tool,
        "outcome": outcome,
        "elapsed_us": elapsed_us,
    }));
    if let Some((hash, bytes)) = result {
        record.insert("result_sha256".to_owned(), hash.into());
        record.insert("result_bytes".to_owned(), bytes.into());
    }
    record
}

pub(super) fn insert_session(record: &mut Fields, session: &Session) {
    let entries: [(&str, Option<Value>); 4] = [
        ("session", session.id.clone().map(Value::from)),
        ("epoch", session.epoch.map(Value::from)),
        ("mode", session.mode.map(Value::from)),
        ("worker_pid", session.worker_pid.map(Value::from)),
    ];
    for (name, value) in entries {
        if let Some(value) = value {
            record.insert(name.to_owned(), value);
        }
    }
}

/// A text with a visible cut.
pub(super) fn bounded(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
