//! The committed catalog against facts about the same headers that a compiler gave.
//!
//! `oracle/layout_v0.23.json` was measured with clang, without any part of this crate.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::BTreeMap;

use hyperdbg_codegen::catalog::{Catalog, Record, RecordKind, Type};
use hyperdbg_codegen::import;
use serde::Deserialize;

const CATALOG: &str = include_str!("../../api/mcp_api_meta.json");
const ORACLE: &str = include_str!("oracle/layout_v0.23.json");

#[derive(Deserialize)]
struct Oracle {
    records: BTreeMap<String, Shape>,
    linux: BTreeMap<String, LinuxShape>,
    enums: BTreeMap<String, BTreeMap<String, i64>>,
    constants: BTreeMap<String, u64>,
    /// Return type, then the parameters' types.
    functions: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Shape {
    size: u64,
    align: u64,
    packed: bool,
    members: Vec<Member>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Member {
    /// Names from the record to the member; anonymous records have none.
    path: String,
    #[serde(rename = "type")]
    ty: String,
    /// Bits from the start of the record.
    bit: u64,
    width: Option<u32>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct LinuxShape {
    size: u64,
    align: u64,
    /// One for each direct member.
    bits: Vec<u64>,
}

fn catalog() -> Catalog {
    import::read(CATALOG, "api/mcp_api_meta.json").unwrap()
}

fn record<'a>(catalog: &'a Catalog, name: &str) -> &'a Record {
    catalog
        .records
        .iter()
        .find(|record| record.name == name)
        .unwrap_or_else(|| panic!("no record {name}"))
}

/// The members of a record with those of the records inside of it, as the oracle lists them.
fn flatten(catalog: &Catalog, record: &Record, path: &str, base: u64, out: &mut Vec<Member>) {
    for field in &record.fields {
        let path = match (path, field.name.as_str()) {
            (outer, "") => outer.to_owned(),
            ("", name) => name.to_owned(),
            (outer, name) => format!("{outer}.{name}"),
        };
        let start = field.bits.map_or(0, |bits| u64::from(bits.start));
        let bit = base + field.offset * 8 + start;
        if !field.name.is_empty() {
            out.push(Member {
                path: path.clone(),
                ty: field.ty.to_string(),
                bit,
                width: field.bits.map(|bits| bits.width),
            });
        }
        if let Type::Named(name) = &field.ty
            && let Some(inner) = catalog.records.iter().find(|inner| inner.name == *name)
        {
            // The oracle opens structs only: the one union that is reached lies in an array.
            flatten(catalog, inner, &path, bit, out);
        }
    }
}

#[test]
fn the_catalog_agrees_with_the_compiler() {
    let catalog = catalog();
    let oracle: Oracle = serde_json::from_str(ORACLE).unwrap();
    let mut facts = 0;
    let mut mismatches = Vec::new();
    let mut check = |what: String, ours: String, theirs: String| {
        facts += 1;
        if ours != theirs {
            mismatches.push(format!("{what}: the catalog says {ours}, the compiler {theirs}"));
        }
    };

    let named = catalog
        .records
        .iter()
        .filter(|record| !record.name.contains("::"));
    let names: Vec<&str> = named.map(|record| record.name.as_str()).collect();
    check(
        "records".into(),
        format!("{names:?}"),
        format!("{:?}", oracle.records.keys().collect::<Vec<_>>()),
    );
    for (name, theirs) in &oracle.records {
        let ours = record(&catalog, name);
        check(
            format!("size of {name}"),
            ours.size.to_string(),
            theirs.size.to_string(),
        );
        check(
            format!("alignment of {name}"),
            ours.align.to_string(),
            theirs.align.to_string(),
        );
        check(
            format!("packing of {name}"),
            ours.pack.is_some().to_string(),
            theirs.packed.to_string(),
        );
        let mut members = Vec::new();
        flatten(&catalog, ours, "", 0, &mut members);
        check(
            format!("members of {name}"),
            members.len().to_string(),
            theirs.members.len().to_string(),
        );
        for (ours, theirs) in members.iter().zip(&theirs.members) {
            check(format!("name in {name}"), ours.path.clone(), theirs.path.clone());
            check(
                format!("type of {name}.{}", ours.path),
                ours.ty.clone(),
                theirs.ty.clone(),
            );
            check(
                format!("position of {name}.{}", ours.path),
                ours.bit.to_string(),
                theirs.bit.to_string(),
            );
            check(
                format!("width of {name}.{}", ours.path),
                format!("{:?}", ours.width),
                format!("{:?}", theirs.width),
            );
        }
    }
    for (name, theirs) in &oracle.linux {
        let ours = record(&catalog, name);
        let direct = ours.fields.iter();
        let here = LinuxShape {
            size: ours.size,
            align: ours.align,
            bits: direct
                .map(|one| one.offset * 8 + one.bits.map_or(0, |bits| u64::from(bits.start)))
                .collect(),
        };
        let ours = ours.sysv.as_ref().map_or(here, |sysv| LinuxShape {
            size: sysv.size,
            align: sysv.align,
            bits: sysv.bit_offsets.clone(),
        });
        check(
            format!("{name} on Linux"),
            format!("{ours:?}"),
            format!("{theirs:?}"),
        );
    }
    check(
        "enums".into(),
        catalog.enums.len().to_string(),
        oracle.enums.len().to_string(),
    );
    for one in &catalog.enums {
        let theirs = oracle.enums.get(&one.name).cloned().unwrap_or_default();
        check(
            format!("values of {}", one.name),
            one.values.len().to_string(),
            theirs.len().to_string(),
        );
        for value in &one.values {
            let theirs = theirs.get(&value.name);
            check(
                value.name.clone(),
                format!("{:?}", Some(&value.value)),
                format!("{theirs:?}"),
            );
        }
    }
    check(
        "constants".into(),
        catalog.constants.len().to_string(),
        oracle.constants.len().to_string(),
    );
    for constant in &catalog.constants {
        let theirs = oracle.constants.get(&constant.name);
        check(
            constant.name.clone(),
            format!("{:?}", Some(&constant.value)),
            format!("{theirs:?}"),
        );
    }
    check(
        "functions".into(),
        catalog.functions.len().to_string(),
        oracle.functions.len().to_string(),
    );
    for function in &catalog.functions {
        let ours = std::iter::once(&function.returns).chain(function.params.iter().map(|param| &param.ty));
        // An array parameter is a pointer; spaces mean nothing.
        let plain = |text: &str| text.replace("[]", "*").replace(' ', "");
        let ours: Vec<String> = ours.map(|ty| plain(&ty.to_string())).collect();
        let theirs: Vec<String> = oracle
            .functions
            .get(&function.name)
            .into_iter()
            .flatten()
            .map(|text| plain(text))
            .collect();
        check(
            format!("types of {}", function.name),
            format!("{ours:?}"),
            format!("{theirs:?}"),
        );
    }
    println!("{facts} facts compared, {} mismatches", mismatches.len());
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
    assert!(facts > 1_000, "the oracle is not complete: {facts} facts");
}

#[test]
fn the_catalog_holds_what_the_exports_reach() {
    let catalog = catalog();
    let unions = catalog
        .records
        .iter()
        .filter(|record| record.kind == RecordKind::Union)
        .count();
    assert_eq!(
        (
            catalog.functions.len(),
            catalog.enums.len(),
            catalog.records.len() - unions,
            unions
        ),
        (73, 9, 18, 1)
    );
    assert_eq!(catalog.sdk_version, "0.23.0");
    assert_eq!(
        catalog
            .constants
            .iter()
            .filter(|one| one.name.starts_with("DEBUGGER_ERROR_"))
            .count(),
        102
    );
}

#[test]
fn the_catalog_file_is_in_its_one_form() {
    assert_eq!(import::render(&catalog()), CATALOG.replace("\r\n", "\n"));
}
