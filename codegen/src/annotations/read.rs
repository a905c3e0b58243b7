//! Reads the files of `api/` into the model.

mod roles;
mod tables;

use std::fs;
use std::io;
use std::path::Path;

use jsonc_parser::ast::Value;

use roles::role;
use tables::{read_errors, read_exclusions};

use super::model::{Annotations, Body, Function, Group, Param, Returns, Status, Tool};
use super::reader::{Fields, Reader};
use super::sources::{At, Sources};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::resolve::codes;
use crate::surface::{BlockingKind, Form, Requires, Text, Tier};
use crate::sync::UNDECIDED;

const FORMS: [(&str, Form); 5] = [
    ("address", Form::Address),
    ("hex", Form::Hex),
    ("integer", Form::Integer),
    ("boolean", Form::Boolean),
    ("enum", Form::Enum),
];
const TEXTS: [(&str, Text); 3] = [
    ("none", Text::None),
    ("status", Text::Status),
    ("result", Text::Result),
];
const MODES: [&str; 6] = ["any", "offline", "local", "debugger", "remote", "user"];

/// Reads `api/tools/*.json`, `exclusions.json` and `errors.json` under the folder `api`, with what is retired.
///
/// The annotations are as complete as the files allow; findings about their form come along, because
/// [`resolve`](crate::resolve::resolve) can still find more.
pub fn load_all(api: &Path) -> (Annotations, Diagnostics) {
    let mut errors = Diagnostics::new();
    let mut sources = Sources::default();
    let mut groups = Vec::new();
    let names = match tool_files(&api.join("tools")) {
        Ok(names) => names,
        Err(error) => {
            errors.push(
                Diagnostic::error(
                    codes::UNREADABLE,
                    format!("api/tools cannot be listed: {}", error.kind()),
                )
                .help("run the command in the workspace, or name its folder with --root"),
            );
            Vec::new()
        }
    };
    let mut functions_complete = errors.is_empty();
    let mut files = Vec::new();
    for name in names {
        let stem = name.trim_end_matches(".json").to_owned();
        match open(api, &format!("tools/{name}"), &mut sources, &mut errors) {
            Some(file) => files.push((stem, file)),
            None => functions_complete = false,
        }
    }
    let exclusions_file = open(api, "exclusions.json", &mut sources, &mut errors);
    let errors_file = open(api, "errors.json", &mut sources, &mut errors);
    for (stem, file) in files {
        let mut reader = Reader {
            sources: &sources,
            file,
            errors: &mut errors,
        };
        match group(&mut reader, &stem) {
            Some(group) => groups.push(group),
            None => functions_complete = false,
        }
    }
    let mut exclusions = None;
    if let Some(file) = exclusions_file {
        let mut reader = Reader {
            sources: &sources,
            file,
            errors: &mut errors,
        };
        exclusions = read_exclusions(&mut reader);
    }
    let mut table = None;
    if let Some(file) = errors_file {
        let mut reader = Reader {
            sources: &sources,
            file,
            errors: &mut errors,
        };
        table = read_errors(&mut reader);
    }
    functions_complete &= exclusions.is_some();
    let errors_complete = table.is_some();
    let (success, codes) = table.unwrap_or_default();
    let annotations = Annotations {
        sources,
        groups,
        exclusions: exclusions.unwrap_or_default(),
        success,
        errors: codes,
        functions_complete,
        errors_complete,
    };
    (annotations, errors)
}

fn tool_files(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".json") && !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn open(api: &Path, name: &str, sources: &mut Sources, errors: &mut Diagnostics) -> Option<usize> {
    let shown = format!("api/{name}");
    let failed = match fs::read(api.join(name)) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => return Some(sources.add(shown, text)),
            Err(_) => {
                Diagnostic::error(codes::UNREADABLE, format!("{shown} is not UTF-8")).help("save it as UTF-8")
            }
        },
        Err(error) => Diagnostic::error(
            codes::UNREADABLE,
            format!("{shown} cannot be read: {}", error.kind()),
        )
        .help("restore the file from version control"),
    };
    errors.push(failed);
    None
}

fn group(reader: &mut Reader<'_>, stem: &str) -> Option<Group> {
    let sources = reader.sources;
    let value = reader.parse(sources.text(reader.file))?;
    let mut fields = reader.object(&value, "the file")?;
    fields.optional("$schema");
    let name = required(&mut fields, reader, "group", Reader::string);
    let title = required(&mut fields, reader, "title", Reader::prose);
    let description = required(&mut fields, reader, "description", Reader::prose);
    let default = required(&mut fields, reader, "default", Reader::boolean);
    let mut functions = Vec::new();
    if let Some(value) = fields.required(reader, "functions") {
        let what = fields.key("functions");
        if let Some(list) = reader.object(value, &what) {
            for (symbol, value) in list.entries(reader) {
                let body = body(reader, value, &symbol.value);
                functions.push(Function { symbol, body });
            }
        }
    }
    fields.finish(reader);
    let name = name?;
    if name.value != stem {
        reader.fail(
            codes::GROUP_NAME,
            name.place,
            format!("the group is `{}`, but the file is `{stem}.json`", name.value),
            format!("write \"{stem}\", or rename the file"),
        );
    }
    if name.value.is_empty() || !name.value.bytes().all(|byte| byte.is_ascii_lowercase()) {
        reader.fail(
            codes::GROUP_NAME,
            name.place,
            format!("the group name `{}` is not made of a to z", name.value),
            "use one lower-case word",
        );
    }
    // The file's name is what the rest is checked against: one finding about the group is enough.
    let name = At::new(stem.to_owned(), name.place);
    Some(Group {
        name,
        title: title?.value,
        description: description?.value,
        default: default?.value,
        functions,
    })
}

/// Reads a required key.
fn required<'a, T>(
    fields: &mut Fields<'_, '_>,
    reader: &mut Reader<'a>,
    key: &'static str,
    read: impl FnOnce(&mut Reader<'a>, &Value<'_>, &str) -> Option<T>,
) -> Option<T> {
    let value = fields.required(reader, key)?;
    let what = fields.key(key);
    read(reader, value, &what)
}

/// Reads an optional key. The outer `None` is a finding.
fn optional<'a, T>(
    fields: &mut Fields<'_, '_>,
    reader: &mut Reader<'a>,
    key: &'static str,
    read: impl FnOnce(&mut Reader<'a>, &Value<'_>, &str) -> Option<T>,
) -> Option<Option<T>> {
    match fields.optional(key) {
        None => Some(None),
        Some(value) => {
            let what = fields.key(key);
            read(reader, value, &what).map(Some)
        }
    }
}

fn body(reader: &mut Reader<'_>, value: &Value<'_>, symbol: &str) -> Option<Body> {
    let mut fields = reader.object(value, &format!("`{symbol}`"))?;
    fields.guess(reader);
    let summary = required(&mut fields, reader, "summary", Reader::prose);
    let tier = required(&mut fields, reader, "tier", |reader, value, what| {
        undecided(reader, value, what, codes::TIER_UNDECIDED)?;
        reader.one_of(value, what, &Tier::NAMES)
    });
    let tier_reason = required(&mut fields, reader, "tier_reason", Reader::prose);
    let alias = required(&mut fields, reader, "alias", name_or_null);
    let tool = optional(&mut fields, reader, "tool", tool);
    let composite = optional(&mut fields, reader, "composite", Reader::strings);
    let mut params_place = fields.place(reader);
    let params = match fields.required(reader, "params") {
        None => None,
        Some(value) => {
            let what = fields.key("params");
            reader.object(value, &what).map(|list| {
                params_place = list.place(reader);
                list.entries(reader)
                    .into_iter()
                    .map(|(name, value)| {
                        let role = role(reader, value, &name.value);
                        Param { name, role }
                    })
                    .collect::<Vec<_>>()
            })
        }
    };
    let returns = required(&mut fields, reader, "returns", returns);
    let status = optional(&mut fields, reader, "status", status);
    let text = required(&mut fields, reader, "text", |reader, value, what| {
        reader.one_of(value, what, &TEXTS)
    });
    let text_errors = optional(&mut fields, reader, "text_errors", Reader::boolean);
    let requires = optional(&mut fields, reader, "requires", requires);
    let blocking = required(&mut fields, reader, "blocking", blocking);
    let notes = optional(&mut fields, reader, "notes", Reader::strings);
    fields.finish(reader);
    let (kind, deadline_ms, blocking_note) = blocking?;
    Some(Body {
        summary: summary?,
        tier: tier?,
        tier_reason: tier_reason?.value,
        alias: alias?,
        tool: tool?,
        composite: composite?,
        params_place,
        params: params?,
        returns: returns?,
        status: status?,
        text: text?.value,
        text_errors: text_errors?.is_none_or(|value| value.value),
        requires: requires?.unwrap_or_default(),
        blocking: kind,
        deadline_ms,
        blocking_note,
        notes: notes?
            .unwrap_or_default()
            .into_iter()
            .map(|note| note.value)
            .collect(),
    })
}

/// What nobody has decided on yet, in an entry that was written to be filled in.
fn undecided(reader: &mut Reader<'_>, value: &Value<'_>, what: &str, code: &'static str) -> Option<()> {
    let word = match value {
        Value::StringLit(text) if text.value == UNDECIDED => reader.string(value, what)?,
        _ => return Some(()),
    };
    let help = if code == codes::TIER_UNDECIDED {
        "write read, state or destructive, or exclude the function in api/exclusions.json"
    } else {
        "see what the library does with it, then write its role; api/schema/tools.schema.json lists them"
    };
    reader.fail(code, word.place, format!("{what} is not decided"), help);
    None
}

fn name_or_null(reader: &mut Reader<'_>, value: &Value<'_>, what: &str) -> Option<Option<At<String>>> {
    if matches!(value, Value::NullKeyword(_)) {
        return Some(None);
    }
    reader.prose(value, what).map(Some)
}

fn tool(reader: &mut Reader<'_>, value: &Value<'_>, what: &str) -> Option<Tool> {
    let mut fields = reader.object(value, what)?;
    let name = required(&mut fields, reader, "name", Reader::prose);
    let title = required(&mut fields, reader, "title", Reader::prose);
    let description = required(&mut fields, reader, "description", Reader::prose);
    let idempotent = optional(&mut fields, reader, "idempotent", Reader::boolean);
    let open_world = optional(&mut fields, reader, "open_world", Reader::boolean);
    fields.finish(reader);
    Some(Tool {
        name: name?,
        title: title?.value,
        description: description?,
        idempotent: idempotent?,
        open_world: open_world?.map(|value| value.value),
    })
}

fn returns(reader: &mut Reader<'_>, value: &Value<'_>, what: &str) -> Option<At<Returns>> {
    let mut fields = reader.object(value, what)?;
    fields.guess(reader);
    let known = ["success", "value", "ignored", "nothing"].map(|name| (name, name));
    let is = required(&mut fields, reader, "is", |reader, value, what| {
        reader.one_of(value, what, &known)
    })?;
    let read = match is.value {
        "success" => required(&mut fields, reader, "ok", |reader, value, what| {
            reader.one_of(value, what, &[("nonzero", true), ("zero", false)])
        })
        .map(|ok| if ok.value { Returns::NonZero } else { Returns::Zero }),
        "value" => {
            let name = required(&mut fields, reader, "name", Reader::prose);
            let form = required(&mut fields, reader, "as", |reader, value, what| {
                reader.one_of(value, what, &FORMS)
            });
            let doc = required(&mut fields, reader, "doc", Reader::prose);
            match (name, form, doc) {
                (Some(name), Some(form), Some(doc)) => Some(Returns::Value {
                    name,
                    form,
                    doc: doc.value,
                }),
                _ => None,
            }
        }
        "ignored" => required(&mut fields, reader, "reason", Reader::prose)
            .map(|reason| Returns::Ignored(reason.value)),
        _ => Some(Returns::Nothing),
    };
    if read.is_some() {
        fields.finish(reader);
    }
    Some(At::new(read?, is.place))
}

fn status(reader: &mut Reader<'_>, value: &Value<'_>, what: &str) -> Option<Status> {
    let mut fields = reader.object(value, what)?;
    let param = required(&mut fields, reader, "param", Reader::prose);
    let field = required(&mut fields, reader, "field", Reader::prose);
    let ok = required(&mut fields, reader, "ok", Reader::string);
    fields.finish(reader);
    let ok = ok?;
    let number = ok
        .value
        .strip_prefix("0x")
        .and_then(|digits| u64::from_str_radix(digits, 16).ok());
    if number.is_none() {
        reader.fail(
            codes::WRONG_FORM,
            ok.place,
            format!("`{}` is not a hexadecimal number", ok.value),
            "write it as \"0x…\"",
        );
    }
    Some(Status {
        param: param?,
        field: field?,
        ok: At::new(number?, ok.place),
    })
}

fn requires(reader: &mut Reader<'_>, value: &Value<'_>, what: &str) -> Option<Requires> {
    let mut fields = reader.object(value, what)?;
    let mode = optional(&mut fields, reader, "mode", Reader::strings);
    let module = optional(&mut fields, reader, "module", name_or_null);
    let state = optional(&mut fields, reader, "state", name_or_null);
    let admin = optional(&mut fields, reader, "admin", Reader::boolean);
    fields.finish(reader);
    let mut check = |found: &At<String>, known: &[&'static str], what: &str| {
        if !known.contains(&found.value.as_str()) {
            reader.fail(
                codes::WRONG_FORM,
                found.place,
                format!("`{}` is not a {what}: {}", found.value, known.join(", ")),
                "write one of them",
            );
        }
    };
    let (mode, module, state) = (mode?.unwrap_or_default(), module?.flatten(), state?.flatten());
    mode.iter().for_each(|found| check(found, &MODES, "mode"));
    module
        .iter()
        .for_each(|found| check(found, &["kd", "vmm", "trace"], "kernel module"));
    state
        .iter()
        .for_each(|found| check(found, &["paused", "running"], "state"));
    let mode: Vec<String> = mode.into_iter().map(|mode| mode.value).collect();
    Some(Requires {
        mode: if mode.iter().any(|mode| mode == "any") {
            Vec::new()
        } else {
            mode
        },
        module: module.map(|module| module.value),
        state: state.map(|state| state.value),
        admin: admin?.is_some_and(|value| value.value),
    })
}

fn blocking(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    what: &str,
) -> Option<(BlockingKind, Option<u64>, String)> {
    let mut fields = reader.object(value, what)?;
    let kind = required(&mut fields, reader, "kind", |reader, value, what| {
        reader.one_of(value, what, &BlockingKind::NAMES)
    });
    let deadline = optional(&mut fields, reader, "deadline_ms", Reader::count);
    let note = required(&mut fields, reader, "note", Reader::prose);
    let place = fields.place(reader);
    fields.finish(reader);
    let (kind, deadline) = (kind?, deadline?);
    if deadline.is_none() && kind.value != BlockingKind::Instant {
        reader.fail(
            codes::MISSING_KEY,
            place,
            format!("{what} lacks `deadline_ms`, which every kind but instant needs"),
            "say after how many milliseconds the call is given up",
        );
        return None;
    }
    if let Some(zero) = deadline.as_ref().filter(|deadline| deadline.value == 0) {
        reader.fail(
            codes::WRONG_FORM,
            zero.place,
            "a deadline of 0 ms gives every call up at once".to_owned(),
            "write at least 1",
        );
    }
    Some((kind.value, deadline.map(|deadline| deadline.value), note?.value))
}
