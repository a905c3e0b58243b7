//! The files beside the groups: exclusions and error codes.

use super::{name_or_null, required};
use crate::annotations::model::{ErrorEntry, Exclusion};
use crate::annotations::reader::Reader;
use crate::annotations::sources::At;

const KINDS: [(&str, ()); 4] = [("test", ()), ("engine", ()), ("internal", ()), ("unsafe", ())];
const CATEGORIES: [(&str, ()); 17] = [
    ("invalid_argument", ()),
    ("policy_denied", ()),
    ("not_confirmed", ()),
    ("not_connected", ()),
    ("wrong_mode", ()),
    ("target_running", ()),
    ("not_loaded", ()),
    ("unsupported_cpu", ()),
    ("unreadable", ()),
    ("debugger", ()),
    ("timeout", ()),
    ("cancelled", ()),
    ("busy", ()),
    ("worker_lost", ()),
    ("missing_export", ()),
    ("abi_mismatch", ()),
    ("internal", ()),
];

pub(super) fn read_exclusions(reader: &mut Reader<'_>) -> Option<Vec<Exclusion>> {
    let sources = reader.sources;
    let value = reader.parse(sources.text(reader.file))?;
    let mut fields = reader.object(&value, "the file")?;
    fields.optional("$schema");
    let list = fields.required(reader, "functions");
    fields.finish(reader);
    let list = reader.object(list?, "`functions`")?;
    let mut exclusions = Vec::new();
    for (symbol, value) in list.entries(reader) {
        let what = format!("the exclusion of `{}`", symbol.value);
        let Some(mut fields) = reader.object(value, &what) else {
            continue;
        };
        let kind = required(&mut fields, reader, "kind", |reader, value, what| {
            let text = reader.string(value, what)?;
            reader.one_of(value, what, &KINDS)?;
            Some(text)
        });
        let reason = required(&mut fields, reader, "reason", Reader::prose);
        let alias = required(&mut fields, reader, "alias", name_or_null);
        fields.finish(reader);
        // An exclusion with a defect still excludes: one finding is enough.
        exclusions.push(Exclusion {
            symbol,
            kind: kind.map_or_else(String::new, |kind| kind.value),
            reason: reason.map_or_else(String::new, |reason| reason.value),
            alias: alias.flatten(),
        });
    }
    Some(exclusions)
}

/// Name of the success constant, and the codes.
pub(super) type ErrorTable = (Option<At<String>>, Vec<ErrorEntry>);

pub(super) fn read_errors(reader: &mut Reader<'_>) -> Option<ErrorTable> {
    let sources = reader.sources;
    let value = reader.parse(sources.text(reader.file))?;
    let mut fields = reader.object(&value, "the file")?;
    fields.optional("$schema");
    let success = required(&mut fields, reader, "success", Reader::prose);
    let list = fields.required(reader, "errors");
    fields.finish(reader);
    let list = reader.object(list?, "`errors`")?;
    let mut entries = Vec::new();
    for (name, value) in list.entries(reader) {
        let what = format!("`{}`", name.value);
        let Some(mut fields) = reader.object(value, &what) else {
            continue;
        };
        let meaning = required(&mut fields, reader, "meaning", Reader::prose);
        let next_step = required(&mut fields, reader, "next_step", Reader::prose);
        let category = required(&mut fields, reader, "category", |reader, value, what| {
            let text = reader.string(value, what)?;
            reader.one_of(value, what, &CATEGORIES)?;
            Some(text)
        });
        fields.finish(reader);
        entries.push(ErrorEntry {
            name,
            meaning: meaning.map_or_else(String::new, |text| text.value),
            next_step: next_step.map_or_else(String::new, |text| text.value),
            category: category.map_or_else(String::new, |text| text.value),
        });
    }
    Some((success, entries))
}
