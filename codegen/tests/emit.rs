//! What is generated: a golden for a small surface, and the committed files for the real one.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs;
use std::path::Path;

use hyperdbg_codegen::emit::write::{Difference, compare};
use hyperdbg_codegen::emit::{self, File};
use hyperdbg_codegen::surface::Surface;
use hyperdbg_codegen::{annotations, digest, import, resolve};
use serde_json::Value;
use support::{golden, tests_folder};

fn surface(api: &Path) -> Surface {
    let text = fs::read_to_string(api.join("mcp_api_meta.json")).unwrap();
    let catalog = import::read(&text, "api/mcp_api_meta.json").unwrap();
    let (annotations, findings) = annotations::load(api);
    assert_eq!(findings, []);
    resolve::resolve(&catalog, &annotations).unwrap()
}

fn files(api: &Path) -> Vec<File> {
    emit::surface(&surface(api), &digest::files(api).unwrap()).unwrap()
}

fn demo() -> Vec<File> {
    files(&tests_folder("resolve").join("base"))
}

#[test]
fn a_small_surface_gives_the_files_that_were_reviewed() {
    let expected = tests_folder("emit").join("demo");
    let files = demo();
    let stale: Vec<&str> = files
        .iter()
        .filter(|file| !golden(&expected.join(&file.path), &file.contents))
        .map(|file| file.path.as_str())
        .collect();
    assert!(
        stale.is_empty(),
        "other files than expected: {stale:?}; run BLESS=1 cargo test and review the diff"
    );
    let orphans: Vec<_> = compare(&expected, &files)
        .unwrap()
        .into_iter()
        .filter(|(_, difference)| *difference == Difference::Orphan)
        .collect();
    assert_eq!(orphans, []);
}

#[test]
fn committed_files_are_what_would_be_generated() {
    let root = tests_folder("../..");
    let differences = compare(&root, &files(&root.join("api"))).unwrap();
    assert!(
        differences.is_empty(),
        "stale: {differences:?}; run: cargo codegen generate"
    );
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(demo(), demo());
}

#[test]
fn everything_generated_is_rust_and_ends_lines_the_same_way() {
    for file in demo() {
        assert!(!file.contents.contains('\r'), "{}", file.path);
        assert!(file.contents.ends_with('\n') && file.contents.lines().next().unwrap().contains(emit::MARK));
        if file.path.ends_with(".rs") {
            let parsed = syn::parse_file(&file.contents);
            assert!(parsed.is_ok(), "{}: {:?}", file.path, parsed.err());
        }
    }
}

#[test]
fn exported_is_exposed_plus_excluded() {
    let surface = surface(&tests_folder("../../api"));
    assert_eq!(
        surface.library.exports.len(),
        surface.functions.len() + surface.excluded.len()
    );
}

/// JSON texts in the generated table of tools.
fn schemas(files: &[File]) -> Vec<Value> {
    let table = files
        .iter()
        .find(|file| file.path.ends_with("/tools.rs"))
        .unwrap();
    let parsed = syn::parse_file(&table.contents).unwrap();
    let mut found = Strings(Vec::new());
    syn::visit::Visit::visit_file(&mut found, &parsed);
    found
        .0
        .iter()
        .filter_map(|text| serde_json::from_str(text).ok())
        .filter(Value::is_object)
        .collect()
}

struct Strings(Vec<String>);

impl<'a> syn::visit::Visit<'a> for Strings {
    fn visit_lit_str(&mut self, literal: &'a syn::LitStr) {
        self.0.push(literal.value());
    }
}

#[test]
fn schemas_keep_to_what_every_client_takes() {
    for files in [demo(), files(&tests_folder("../../api"))] {
        let schemas = schemas(&files);
        assert!(schemas.len() > 10);
        for schema in schemas {
            assert_eq!(schema["type"], "object");
            walk(&schema);
        }
    }
}

fn walk(schema: &Value) {
    let object = schema.as_object().unwrap();
    for key in [
        "$ref", "$defs", "$schema", "format", "oneOf", "anyOf", "allOf", "not",
    ] {
        assert!(!object.contains_key(key), "{key} in {schema}");
    }
    match object["type"].as_str().unwrap() {
        "object" => object["properties"].as_object().unwrap().values().for_each(walk),
        "array" => walk(&object["items"]),
        "integer" | "boolean" | "string" => {}
        other => panic!("the type {other} in {schema}"),
    }
}

#[test]
fn arguments_refuse_what_they_do_not_know() {
    let surface = surface(&tests_folder("../../api"));
    let table = files(&tests_folder("../../api"));
    let closed = schemas(&table)
        .iter()
        .filter(|schema| schema["additionalProperties"] == false)
        .count();
    assert_eq!(closed, surface.tools().len());
}
