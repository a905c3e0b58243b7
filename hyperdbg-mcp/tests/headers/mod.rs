//! SDK headers of our own, written from a catalog: what a test alters in the catalog, it alters in the headers.
#![allow(dead_code, reason = "not every test uses all of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use hyperdbg_codegen::catalog::{Catalog, Enum, EnumValue, Field, Record, RecordKind, Type};

/// The catalog that the program was built from.
pub(crate) fn catalog() -> Catalog {
    let text = include_str!("../../../api/mcp_api_meta.json");
    hyperdbg_codegen::import::read(text, "api/mcp_api_meta.json").unwrap()
}

/// Writes the headers as a release has them: in `folder/imports/user` and `folder/headers`.
pub(crate) fn write(catalog: &Catalog, folder: &Path) {
    for (place, name, text) in [
        ("headers", "HyperDbgSdk.h", sdk(catalog)),
        ("imports/user", "HyperDbgLibImports.h", imports(catalog)),
    ] {
        let place = folder.join(place);
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join(name), text).unwrap();
    }
}

/// A record of the catalog, to be changed.
pub(crate) fn record<'a>(catalog: &'a mut Catalog, name: &str) -> &'a mut Record {
    let found = catalog.records.iter_mut().find(|record| record.name == name);
    found.unwrap()
}

/// Gives every enumerator a number.
pub(crate) fn renumber(catalog: &mut Catalog, name: &str, number: impl Fn(i64) -> i64) {
    let found = catalog.enums.iter_mut().find(|one| one.name == name).unwrap();
    for value in &mut found.values {
        value.value = number(value.value);
    }
}

/// Adds an enumerator.
pub(crate) fn add_value(catalog: &mut Catalog, of: &str, name: &str, value: i64) {
    let found = catalog.enums.iter_mut().find(|one| one.name == of).unwrap();
    found.values.push(EnumValue {
        name: name.to_owned(),
        value,
    });
}

/// A member; where it lies follows from its place among the others.
pub(crate) fn field(name: &str, ty: &str) -> Field {
    Field {
        name: name.to_owned(),
        ty: ty.parse().unwrap(),
        offset: 0,
        bits: None,
    }
}

/// The function of that name takes one more parameter.
pub(crate) fn add_parameter(catalog: &mut Catalog, function: &str) {
    let found = catalog
        .functions
        .iter_mut()
        .find(|one| one.name == function)
        .unwrap();
    found.params.push(hyperdbg_codegen::catalog::Param {
        name: "more".to_owned(),
        ty: Type::named("UINT32"),
        unnamed: false,
    });
}

fn sdk(catalog: &Catalog) -> String {
    let mut text = String::from("#pragma once\n");
    for (part, number) in ["MAJOR", "MINOR", "PATCH"]
        .iter()
        .zip(catalog.sdk_version.split('.'))
    {
        writeln!(text, "#define VERSION_{part} {number}").unwrap();
    }
    for one in &catalog.constants {
        writeln!(text, "#define {} {:#x}", one.name, one.value).unwrap();
    }
    for one in &catalog.enums {
        text.push_str(&enumeration(one));
    }
    let mut known: BTreeSet<&str> = catalog.enums.iter().map(|one| one.name.as_str()).collect();
    let records: Vec<&Record> = catalog
        .records
        .iter()
        .filter(|one| !one.name.contains("::"))
        .collect();
    let names: BTreeSet<&str> = catalog
        .typedefs
        .iter()
        .map(|one| one.name.as_str())
        .chain(records.iter().map(|one| one.name.as_str()))
        .collect();
    // What needs a name that is not declared yet waits for the next round.
    for _ in 0..names.len() {
        for one in &catalog.typedefs {
            let needs = base(&one.ty);
            if known.contains(one.name.as_str()) || names.contains(needs) && !known.contains(needs) {
                continue;
            }
            known.insert(&one.name);
            match one.name.as_str() {
                "WCHAR" => text.push_str(
                    "#ifdef __linux__\ntypedef unsigned short WCHAR;\n#else\ntypedef wchar_t WCHAR;\n#endif\n",
                ),
                name => writeln!(text, "typedef {};", declared(&one.ty, name)).unwrap(),
            }
        }
        for one in &records {
            let waits = members(catalog, one)
                .iter()
                .any(|needs| names.contains(needs.as_str()) && !known.contains(needs.as_str()));
            if known.contains(one.name.as_str()) || waits {
                continue;
            }
            known.insert(&one.name);
            text.push_str(&structure(catalog, one));
        }
    }
    text
}

fn base(ty: &Type) -> &str {
    match ty {
        Type::Named(name) => name,
        Type::Pointer { to, .. } => base(to),
        Type::Array { of, .. } => base(of),
    }
}

fn members(catalog: &Catalog, record: &Record) -> Vec<String> {
    let mut names = Vec::new();
    for field in &record.fields {
        match anonymous(catalog, &field.ty) {
            Some(inner) => names.extend(members(catalog, inner)),
            None => names.push(base(&field.ty).to_owned()),
        }
    }
    names
}

fn anonymous<'a>(catalog: &'a Catalog, ty: &Type) -> Option<&'a Record> {
    let name = base(ty);
    let unnamed = name.contains("::").then_some(name)?;
    catalog.records.iter().find(|one| one.name == unnamed)
}

fn declared(ty: &Type, name: &str) -> String {
    match ty {
        Type::Array { .. } => {
            let spelled = ty.to_string();
            let (element, lengths) = spelled.split_at(spelled.find('[').unwrap());
            format!("{element} {name}{lengths}")
        }
        _ => format!("{ty} {name}"),
    }
}

fn enumeration(one: &Enum) -> String {
    let values: Vec<String> = one
        .values
        .iter()
        .map(|value| format!("    {} = {},\n", value.name, value.value))
        .collect();
    format!("typedef enum _{0}\n{{\n{1}}} {0};\n", one.name, values.concat())
}

fn structure(catalog: &Catalog, record: &Record) -> String {
    let body = format!(
        "typedef {} {};\n",
        aggregate(catalog, record, &format!("_{}", record.name)),
        record.name
    );
    match record.pack {
        Some(pack) => format!("#pragma pack(push, {pack})\n{body}#pragma pack(pop)\n"),
        None => body,
    }
}

fn aggregate(catalog: &Catalog, record: &Record, tag: &str) -> String {
    let word = match record.kind {
        RecordKind::Struct => "struct",
        RecordKind::Union => "union",
    };
    let mut text = format!("{word} {tag}\n{{\n");
    for field in &record.fields {
        let line = match (anonymous(catalog, &field.ty), field.bits) {
            (Some(inner), _) => format!("{} {}", aggregate(catalog, inner, ""), field.name),
            (None, Some(bits)) => format!("{} {} : {}", field.ty, field.name, bits.width),
            (None, None) => declared(&field.ty, &field.name),
        };
        writeln!(text, "    {line};").unwrap();
    }
    text.push('}');
    text
}

fn imports(catalog: &Catalog) -> String {
    let mut text = String::from("#pragma once\n#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)\n");
    for function in &catalog.functions {
        let params: Vec<String> = function
            .params
            .iter()
            .map(|param| declared(&param.ty, &param.name))
            .collect();
        writeln!(
            text,
            "IMPORT_EXPORT_LIBHYPERDBG {} {}({});",
            function.returns,
            function.name,
            params.join(", ")
        )
        .unwrap();
    }
    text
}
