//! The catalog as a file: one deterministic rendering, and reading with checks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::catalog::{Catalog, FORMAT, Record, RecordKind, Type};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::header::code;

/// Longest line that is not broken.
const WIDTH: usize = 110;

/// Findings after which the rest is not reported.
const MAX_FINDINGS: usize = 20;

/// Basic types of C, in the spelling of the catalog.
const BASIC: &[&str] = &[
    "void",
    "bool",
    "char",
    "signed char",
    "unsigned char",
    "wchar_t",
    "short",
    "unsigned short",
    "int",
    "unsigned int",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "float",
    "double",
];

/// The catalog as text: JSON in which a value that fits stands on one line.
pub fn render(catalog: &Catalog) -> String {
    let mut out = String::new();
    // A catalog is made of strings, numbers and lists: it always is JSON.
    let value = serde_json::to_value(catalog).unwrap_or_default();
    write(&value, 0, 0, &mut out);
    out.push('\n');
    out
}

#[cfg(feature = "generate")]
/// A JSON value in the form of the catalog, for a place that is indented by `indent`.
pub(crate) fn pretty(value: &Value, indent: usize) -> String {
    let mut out = String::new();
    // No line is so long that it would have to be broken at its start: objects are.
    write(value, indent, WIDTH, &mut out);
    out
}

/// `used` is what stands on the line already, behind the indentation.
fn write(value: &Value, indent: usize, used: usize, out: &mut String) {
    let flat = flat(value);
    let entries: Vec<(Option<&str>, &Value)> = match value {
        Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
        Value::Object(map) => map.iter().map(|(key, item)| (Some(key.as_str()), item)).collect(),
        _ => Vec::new(),
    };
    // One character is kept for the comma.
    if entries.is_empty() || indent > 0 && indent + used + flat.len() < WIDTH {
        out.push_str(&flat);
        return;
    }
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    out.push(open);
    for (position, (key, item)) in entries.iter().enumerate() {
        out.push_str(if position == 0 { "\n" } else { ",\n" });
        out.push_str(&" ".repeat(indent + 2));
        let before = out.len();
        if let Some(key) = key {
            out.push_str(&format!("{}: ", Value::from(*key)));
        }
        let used = out.len() - before;
        write(item, indent + 2, used, out);
    }
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    out.push(close);
}

fn flat(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flat).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|(key, item)| format!("{}: {}", Value::from(key.as_str()), flat(item)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// Reads a catalog and checks that it does not contradict itself; `file` is the name for diagnostics.
pub fn read(text: &str, file: &str) -> Result<Catalog, Diagnostics> {
    let again = "write it anew with `cargo codegen import --sdk DIR`";
    let catalog: Catalog = serde_json::from_str(text).map_err(|error| {
        let line_start = text
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1))
            .map(str::len)
            .sum::<usize>();
        let span = Span::of(file, text, line_start + error.column().saturating_sub(1), 1);
        let message = format!("this is no catalog: {error}");
        vec![
            Diagnostic::error(code::CATALOG_JSON, message)
                .at(span)
                .help(again),
        ]
    })?;
    if catalog.format != FORMAT {
        let message = format!(
            "the catalog has format {}, this program reads {FORMAT}",
            catalog.format
        );
        return Err(vec![Diagnostic::error(code::CATALOG_FORMAT, message).help(again)]);
    }
    let mut check = Check {
        text,
        file,
        catalog: &catalog,
        known: BTreeSet::new(),
        findings: Vec::new(),
    };
    check.names();
    check.references();
    check.layouts();
    check.cycles();
    if check.findings.is_empty() {
        return Ok(catalog);
    }
    Err(check.findings)
}

struct Check<'a> {
    text: &'a str,
    file: &'a str,
    catalog: &'a Catalog,
    known: BTreeSet<&'a str>,
    findings: Diagnostics,
}

impl<'a> Check<'a> {
    /// Reports at the first place where `name` stands in quotes.
    fn wrong(&mut self, name: &str, message: String) {
        if self.findings.len() >= MAX_FINDINGS {
            return;
        }
        let quoted = Value::from(name).to_string();
        let mut finding = Diagnostic::error(code::CATALOG_INCONSISTENT, message)
            .help("the file is written by `cargo codegen import --sdk DIR` and never edited");
        if let Some(offset) = self.text.find(&quoted) {
            finding = finding.at(Span::of(self.file, self.text, offset, quoted.len()));
        }
        self.findings.push(finding);
    }

    fn names(&mut self) {
        let catalog = self.catalog;
        let types = catalog.enums.iter().map(|one| &one.name);
        let types = types.chain(catalog.records.iter().map(|one| &one.name));
        let types = types.chain(catalog.typedefs.iter().map(|one| &one.name));
        for name in types {
            if !self.known.insert(name) {
                self.wrong(name, format!("two types are called `{name}`"));
            }
        }
        let mut seen = BTreeSet::new();
        let values = catalog.functions.iter().map(|one| &one.name);
        let values = values.chain(catalog.constants.iter().map(|one| &one.name));
        for name in values {
            if !seen.insert(name) {
                self.wrong(name, format!("two functions or constants are called `{name}`"));
            }
        }
    }

    fn references(&mut self) {
        let catalog = self.catalog;
        for function in &catalog.functions {
            self.reference(&function.name, &function.returns);
            let mut names = BTreeSet::new();
            for param in &function.params {
                self.reference(&function.name, &param.ty);
                if !names.insert(&param.name) {
                    self.wrong(
                        &function.name,
                        format!("two parameters are called `{}`", param.name),
                    );
                }
            }
        }
        for record in &catalog.records {
            for field in &record.fields {
                self.reference(&record.name, &field.ty);
            }
        }
        for typedef in &catalog.typedefs {
            self.reference(&typedef.name, &typedef.ty);
            if let Some(callback) = &typedef.callback {
                self.reference(&typedef.name, &callback.returns);
                for param in &callback.params {
                    self.reference(&typedef.name, &param.ty);
                }
            }
        }
    }

    fn reference(&mut self, user: &str, ty: &Type) {
        let name = base(ty);
        if !BASIC.contains(&name) && !self.known.contains(name) {
            self.wrong(
                user,
                format!("`{user}` uses the type `{name}`, which the catalog does not hold"),
            );
        }
    }

    fn layouts(&mut self) {
        let catalog = self.catalog;
        for one in &catalog.enums {
            if one.values.is_empty() {
                self.wrong(&one.name, format!("the enum `{}` has no values", one.name));
            }
        }
        for record in &catalog.records {
            if let Some(what) = layout_mistake(record) {
                self.wrong(
                    &record.name,
                    format!("the layout of `{}` is impossible: {what}", record.name),
                );
            }
        }
    }

    /// A typedef must not stand for itself, whatever lies between.
    fn cycles(&mut self) {
        let typedefs: BTreeMap<&str, &Type> = self
            .catalog
            .typedefs
            .iter()
            .map(|one| (one.name.as_str(), &one.ty))
            .collect();
        let mut good: BTreeSet<&str> = BTreeSet::new();
        for start in typedefs.keys() {
            let mut path = BTreeSet::from([*start]);
            let mut at = *start;
            while let Some(ty) = typedefs.get(at) {
                at = base(ty);
                if good.contains(at) {
                    break;
                }
                if !path.insert(at) {
                    self.wrong(start, format!("the typedef `{start}` stands for itself"));
                    break;
                }
            }
            good.extend(path);
        }
    }
}

/// The name at the bottom of a type.
fn base(ty: &Type) -> &str {
    let mut at = ty;
    loop {
        match at {
            Type::Named(name) => return name,
            Type::Pointer { to, .. } => at = to,
            Type::Array { of, .. } => at = of,
        }
    }
}

fn layout_mistake(record: &Record) -> Option<&'static str> {
    if !record.align.is_power_of_two() || record.size == 0 || !record.size.is_multiple_of(record.align) {
        return Some("the size is no multiple of the alignment");
    }
    if record.fields.is_empty() {
        return Some("there are no fields");
    }
    let mut before = 0;
    for field in &record.fields {
        if field.offset > record.size || field.bits.is_some() && field.offset == record.size {
            return Some("a field lies outside");
        }
        if field
            .bits
            .is_some_and(|bits| bits.width == 0 || bits.start > 63 || bits.width > 64 - bits.start)
        {
            return Some("a bit-field is wider than its storage");
        }
        if record.kind == RecordKind::Union && field.offset != 0 {
            return Some("a member of the union does not lie at its start");
        }
        if field.offset < before {
            return Some("the fields are not in order");
        }
        before = field.offset;
    }
    let alternative = record.sysv.as_ref()?;
    if alternative.bit_offsets.len() != record.fields.len() {
        return Some("the other layout has another number of fields");
    }
    if !alternative.align.is_power_of_two() || !alternative.size.is_multiple_of(alternative.align) {
        return Some("the size of the other layout is no multiple of its alignment");
    }
    None
}
