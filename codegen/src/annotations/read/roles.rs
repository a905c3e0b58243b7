//! Roles of parameters.

use jsonc_parser::ast::Value;

use super::{FORMS, optional, required, undecided};
use crate::annotations::model::{Role, ScalarRole, Size};
use crate::annotations::reader::{Fields, Reader};
use crate::annotations::sources::At;
use crate::resolve::codes;
use crate::surface::Encoding;

fn scalar(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> Option<ScalarRole> {
    let name = optional(fields, reader, "name", Reader::prose);
    let doc = required(fields, reader, "doc", Reader::prose);
    let form = optional(fields, reader, "as", |reader, value, what| {
        reader.one_of(value, what, &FORMS)
    });
    let default = optional(fields, reader, "default", Reader::literal);
    let min = optional(fields, reader, "min", Reader::integer);
    let max = optional(fields, reader, "max", Reader::integer);
    let multiple_of = optional(fields, reader, "multiple_of", Reader::integer);
    let exclude = optional(fields, reader, "exclude", Reader::strings);
    let offer = optional(fields, reader, "offer", Reader::strings);
    Some(ScalarRole {
        name: name?,
        doc: doc?.value,
        form: form?,
        default: default?,
        min: min?,
        max: max?,
        multiple_of: multiple_of?,
        exclude: exclude?.unwrap_or_default(),
        offer: offer?.unwrap_or_default(),
    })
}

const ROLES: [&str; 11] = [
    "value",
    "constant",
    "length",
    "string",
    "in_bytes",
    "out_bytes",
    "out_string",
    "out_value",
    "out_record",
    "inout_record",
    "callback",
];

pub(super) fn role(reader: &mut Reader<'_>, value: &Value<'_>, param: &str) -> Option<At<Role>> {
    let mut fields = reader.object(value, &format!("the parameter `{param}`"))?;
    fields.guess(reader);
    let known = ROLES.map(|name| (name, name));
    let role = required(&mut fields, reader, "role", |reader, value, what| {
        undecided(reader, value, what, codes::ROLE_UNDECIDED)?;
        reader.one_of(value, what, &known)
    })?;
    let read = match role.value {
        "value" => scalar(reader, &mut fields).map(|said| Role::Value(Box::new(said))),
        "constant" => {
            let value = required(&mut fields, reader, "value", Reader::integer_or_null);
            let reason = required(&mut fields, reader, "reason", Reader::prose);
            value.zip(reason).map(|(value, reason)| Role::Constant {
                value,
                reason: reason.value,
            })
        }
        "length" => required(&mut fields, reader, "of", Reader::prose).map(|of| Role::Length { of }),
        "callback" => required(&mut fields, reader, "reason", Reader::prose).map(|_| Role::Callback),
        other => pointer_role(reader, &mut fields, other),
    };
    // After a finding in the role itself, the keys that were not asked for say nothing.
    if read.is_some() {
        fields.finish(reader);
    }
    // A role is shown at its value, which is what a person edits.
    Some(At::new(read?, role.place))
}

fn pointer_role(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>, role: &str) -> Option<Role> {
    let name = optional(fields, reader, "name", Reader::prose);
    let doc = required(fields, reader, "doc", Reader::prose);
    let encoding = |fields: &mut Fields<'_, '_>, reader: &mut Reader<'_>| {
        required(fields, reader, "encoding", |reader, value, what| {
            reader.one_of(value, what, &Encoding::NAMES)
        })
    };
    let read = match role {
        "string" => {
            let encoding = encoding(fields, reader);
            let min = optional(fields, reader, "min_bytes", Reader::count);
            let max = required(fields, reader, "max_bytes", Reader::count);
            let nullable = optional(fields, reader, "nullable", Reader::boolean);
            // What the library may write into gets a private copy: as every string does.
            let writable = optional(fields, reader, "writable", Reader::boolean);
            let pattern = optional(fields, reader, "pattern", Reader::prose);
            writable?;
            Role::Text {
                name: name?,
                doc: doc?.value,
                encoding: encoding?,
                min: min?.map_or(0, |min| min.value),
                max: max?,
                nullable: nullable?.is_some_and(|value| value.value),
                pattern: pattern?,
            }
        }
        "in_bytes" => {
            let length = required(fields, reader, "length", Reader::prose);
            let max = required(fields, reader, "max_bytes", Reader::count);
            Role::InBytes {
                name: name?,
                doc: doc?.value,
                length: length?,
                max: max?.value,
            }
        }
        "out_bytes" => {
            let capacity = required(fields, reader, "capacity", size);
            let written = optional(fields, reader, "written", Reader::prose);
            let max = required(fields, reader, "max_bytes", Reader::count);
            Role::OutBytes {
                name: name?,
                doc: doc?.value,
                capacity: capacity?,
                written: written?,
                max: max?.value,
            }
        }
        "out_string" => {
            let capacity = required(fields, reader, "capacity", size);
            let encoding = encoding(fields, reader);
            Role::OutText {
                name: name?,
                doc: doc?.value,
                capacity: capacity?,
                encoding: encoding?,
            }
        }
        "out_value" => {
            let form = optional(fields, reader, "as", |reader, value, what| {
                reader.one_of(value, what, &FORMS)
            });
            Role::OutValue {
                name: name?,
                doc: doc?.value,
                form: form?,
            }
        }
        "out_record" => Role::OutRecord {
            name: name?,
            doc: doc?.value,
        },
        _ => {
            let inputs = required(fields, reader, "inputs", inputs);
            Role::InOutRecord {
                name: name?,
                doc: doc?.value,
                inputs: inputs?,
            }
        }
    };
    Some(read)
}

fn inputs(reader: &mut Reader<'_>, value: &Value<'_>, what: &str) -> Option<Vec<(At<String>, ScalarRole)>> {
    let list = reader.object(value, what)?;
    let mut inputs = Vec::new();
    for (path, value) in list.entries(reader) {
        let mut fields = reader.object(value, &format!("the field `{}`", path.value))?;
        let scalar = scalar(reader, &mut fields);
        fields.finish(reader);
        inputs.push((path, scalar?));
    }
    Some(inputs)
}

fn size(reader: &mut Reader<'_>, value: &Value<'_>, what: &str) -> Option<At<Size>> {
    if matches!(value, Value::StringLit(_)) {
        let name = reader.string(value, what)?;
        return Some(At::new(Size::Param(name.value), name.place));
    }
    let count = reader.count(value, what)?;
    Some(At::new(Size::Fixed(count.value), count.place))
}
