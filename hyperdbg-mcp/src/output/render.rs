//! Both halves of a result: text for a reader, fields for a program.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::escape::calm;
use super::shrink::{shrink, size_of_map, text_size};
use super::store::cut;
use super::{OutputStore, PAGE_CHARS, Untrusted, envelope};
use crate::generated::errors;
use crate::tool::shape::Shape;
use crate::tool::{Category, ToolError, ToolOutput};

/// Characters of our own words in a text half, at most; what is longer is kept in the store.
const HEAD_CHARS: usize = 12_000;
/// Room for the `output` field around its captured text.
const OUTPUT_FIELD_CHARS: usize = 200;

/// A result in the form in which it leaves.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// The text half.
    pub text: String,
    /// The structured half; absent on errors, which fit no tool's output schema.
    pub fields: Option<Map<String, Value>>,
    /// The category, where it is an error.
    pub failure: Option<Category>,
}

/// Both halves of a success. `shape` is the tool's output.
pub fn render_output(output: ToolOutput, shape: &Shape, store: &OutputStore) -> Rendered {
    let ToolOutput {
        mut fields,
        text,
        view,
        captured,
        policy,
    } = output;
    calm_fields(&mut fields);
    let mut view = view;
    let mut head = text.unwrap_or_else(|| {
        let (own, told) = describe(&fields, shape);
        if !told.is_empty() && view.is_none() {
            view = Some(Untrusted::new(told));
        }
        own
    });
    if let Some(policy) = policy {
        if !head.is_empty() && !head.ends_with('\n') {
            head.push('\n');
        }
        let _ = writeln!(head, "policy: {policy}");
        fields.insert("policy".to_owned(), Value::String(policy));
    }
    let shown = |captured: Option<&Untrusted>| {
        let escaped = captured.map(Untrusted::escaped).unwrap_or_default();
        store.masked(escaped)
    };
    let seen = shown(view.as_ref());
    let captured = shown(captured.as_ref());
    let full_fields = (size_of_map(&fields) > PAGE_CHARS - OUTPUT_FIELD_CHARS).then(|| fields.clone());
    let has_captured = !captured.is_empty();
    let shrunk = full_fields.is_some() && {
        let reserve = if has_captured {
            PAGE_CHARS / 4
        } else {
            OUTPUT_FIELD_CHARS
        };
        shrink(&mut fields, PAGE_CHARS - reserve)
    };

    let mut block = seen;
    if !block.is_empty() && has_captured && !block.ends_with('\n') {
        block.push('\n');
    }
    let captured_from = block.len();
    block.push_str(&captured);

    let long_head = head.len() > HEAD_CHARS;
    if long_head {
        let at = cut(&head, HEAD_CHARS);
        let rest = store.masked(head.split_off(at));
        block = format!("{rest}\n{block}");
    }
    let captured_from = if long_head {
        block.len() - captured.len()
    } else {
        captured_from
    };
    let text_budget = PAGE_CHARS.saturating_sub(head.len() + envelope::OVERHEAD_CHARS);
    let field_budget = PAGE_CHARS.saturating_sub(size_of_map(&fields) + OUTPUT_FIELD_CHARS);
    let end = end_of_page(&block, captured_from, text_budget, field_budget);

    let mut kept = None;
    if end < block.len() || shrunk {
        let whole = match full_fields.filter(|_| shrunk) {
            Some(full) => format!(
                "{block}{}",
                serde_json::to_string_pretty(&full).unwrap_or_default()
            ),
            None => block.clone(),
        };
        let whole = store.masked(whole);
        let total = whole.len();
        kept = Some((store.keep(whole), total));
    }
    let rest = kept.as_ref().map(|(id, total)| {
        format!("[shown up to {end} of {total}; read on with hd_output_read {{\"id\": \"{id}\", \"offset\": {end}}}]")
    });

    let mut text = head;
    if !block.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        envelope::wrap(&block[..end], rest.as_deref(), &mut text);
    } else if let Some(rest) = rest {
        let _ = write!(text, "\n{rest}");
    }
    if text.is_empty() {
        text.push_str("Done.");
    }
    if has_captured || kept.is_some() {
        let shown = block.get(captured_from..end).unwrap_or_default();
        fields.insert("output".to_owned(), output_field(shown, end, &block, kept));
    }
    Rendered {
        text,
        fields: Some(fields),
        failure: None,
    }
}

fn output_field(shown: &str, end: usize, block: &str, kept: Option<(String, usize)>) -> Value {
    match kept {
        Some((id, total)) => {
            json!({"captured": shown, "truncated": true, "total": total, "id": id, "next_offset": end})
        }
        None => json!({"captured": shown, "truncated": false, "total": block.len()}),
    }
}

/// Where the page of both halves ends: the captured part of the block also has to fit the structured half.
fn end_of_page(block: &str, captured_from: usize, text_budget: usize, field_budget: usize) -> usize {
    let mut end = cut(block, text_budget);
    while end > captured_from && text_size(&block[captured_from..end]) > field_budget {
        let shorter = captured_from + (end - captured_from) * 3 / 4;
        end = if shorter <= captured_from {
            captured_from
        } else {
            cut(block, shorter).min(shorter)
        };
        end = block.floor_char_boundary(end);
    }
    end
}

/// The text of an error; it carries no structured half, so that no client holds it against the output schema.
pub fn render_error(error: &ToolError, store: &OutputStore) -> Rendered {
    let mut text = format!("error: {}\n{}", error.category, bounded(&error.message));
    if let Some(code) = error.code {
        let name = errors::lookup(code).map_or("not a known code", |info| info.name);
        let _ = write!(text, "\ncode: {code:#010x} ({name})");
    }
    if let Some(step) = &error.next_step {
        let _ = write!(text, "\nnext step: {}", bounded(step));
    }
    if let Some(captured) = &error.captured {
        let block = store.masked(captured.escaped());
        let end = cut(
            &block,
            PAGE_CHARS.saturating_sub(text.len() + envelope::OVERHEAD_CHARS),
        );
        let total = block.len();
        let rest = (end < total).then(|| {
            let id = store.keep(block.clone());
            format!("[shown up to {end} of {total}; read on with hd_output_read {{\"id\": \"{id}\", \"offset\": {end}}}]")
        });
        text.push('\n');
        envelope::wrap(&block[..end], rest.as_deref(), &mut text);
    }
    Rendered {
        text,
        fields: None,
        failure: Some(error.category),
    }
}

fn bounded(text: &str) -> &str {
    &text[..cut(text, 4_000)]
}

/// A text that is no result of a tool: our words, captured data in its envelope, and how to read on.
pub fn render_text(head: &str, captured: &Untrusted, rest: &str, store: &OutputStore) -> String {
    let mut text = String::from(head);
    if captured.is_empty() {
        let _ = write!(text, "\n{rest}");
        return text;
    }
    text.push('\n');
    let block = store.masked(captured.escaped());
    let end = cut(
        &block,
        PAGE_CHARS.saturating_sub(head.len() + rest.len() + envelope::OVERHEAD_CHARS),
    );
    if end < block.len() {
        let total = block.len();
        let shown = block[..end].to_owned();
        let id = store.keep(block);
        let cut =
            format!("[shown up to {end} of {total}; the rest: hyperdbg://output/{id}?offset={end}]\n{rest}");
        envelope::wrap(&shown, Some(&cut), &mut text);
    } else {
        envelope::wrap(&block, Some(rest), &mut text);
    }
    text
}

/// Strings that someone else may have chosen are calmed wherever they are.
fn calm_fields(fields: &mut Map<String, Value>) {
    fields.values_mut().for_each(calm_value);
}

fn calm_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(calm) = calm(text) {
                *text = calm;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(calm_value),
        Value::Object(fields) => calm_fields(fields),
        _ => {}
    }
}

/// A plain listing of the fields: what is ours, and what may hold words of someone else.
fn describe(fields: &Map<String, Value>, shape: &Shape) -> (String, String) {
    let (mut own, mut told) = (String::new(), String::new());
    for (name, value) in fields {
        describe_value(name, value, shape.property(name), &mut own, &mut told);
    }
    own.truncate(own.trim_end().len());
    (own, told)
}

fn describe_value(path: &str, value: &Value, shape: Option<&Shape>, own: &mut String, told: &mut String) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let shape = shape.and_then(|shape| shape.property(name));
                describe_value(&format!("{path}.{name}"), value, shape, own, told);
            }
        }
        Value::Array(values) => {
            let items = match shape {
                Some(Shape::Array { items, .. }) => Some(items.as_ref()),
                _ => None,
            };
            if values.iter().all(|value| !value.is_object() && !value.is_array()) && !free(items, values) {
                let list: Vec<String> = values.iter().map(plain).collect();
                let _ = writeln!(own, "{path}: {}", list.join(" "));
            } else {
                for (at, value) in values.iter().enumerate() {
                    describe_value(&format!("{path}[{at}]"), value, items, own, told);
                }
            }
        }
        Value::String(text) if shape.is_none_or(Shape::is_free_text) => {
            let _ = writeln!(told, "{path}: {text}");
        }
        other => {
            let _ = writeln!(own, "{path}: {}", plain(other));
        }
    }
}

fn free(items: Option<&Shape>, values: &[Value]) -> bool {
    values.iter().any(Value::is_string) && items.is_none_or(Shape::is_free_text)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
#[path = "render/tests.rs"]
mod tests;
