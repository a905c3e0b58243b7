//! The JSON Schemas of `api/schema` say what the files of `api/` are: editors help by them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs;
use std::path::Path;

use hyperdbg_codegen::diff;
use serde_json::Value;
use support::{misfits, tests_folder};

/// The file and the schema that it names.
fn with_schema(path: &Path) -> Option<(String, String)> {
    let text = fs::read_to_string(path).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let schema = path.parent()?.join(value.get("$schema")?.as_str()?);
    Some((text, fs::read_to_string(schema).unwrap()))
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
}

#[test]
fn every_file_fits_the_schema_that_it_names() {
    let api = Path::new(env!("CARGO_MANIFEST_DIR")).join("../api");
    let mut held = 0;
    for folder in [
        api.clone(),
        api.join("tools"),
        tests_folder("decisions/api/tools"),
        tests_folder("diff/api/tools"),
        tests_folder("sync/api/tools"),
    ] {
        for path in files(&folder) {
            let Some((text, schema)) = with_schema(&path) else {
                continue;
            };
            assert_eq!(
                misfits(&schema, &text),
                Vec::<String>::new(),
                "{}",
                path.display()
            );
            held += 1;
        }
    }
    assert!(held >= 19, "only {held} files were held against a schema");
}

#[test]
fn what_does_not_belong_is_a_misfit() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/tools/view.json");
    let (text, schema) = with_schema(&path).unwrap();
    for (old, new) in [
        ("\"tier\": \"read\"", "\"tier\": \"reed\""),
        ("\"exclude\": [", "\"offers\": [], \"exclude\": ["),
        ("\"role\": \"value\"", "\"role\": \"valve\""),
        ("\"default\": false", "\"default\": 0"),
    ] {
        assert!(text.contains(old));
        assert_ne!(
            misfits(&schema, &text.replacen(old, new, 1)),
            Vec::<String>::new(),
            "{new}"
        );
    }
}

#[test]
fn the_schema_of_the_report_tells_its_version() {
    let schema: Value = serde_json::from_str(diff::SCHEMA).unwrap();
    assert_eq!(schema["properties"]["format"]["const"], diff::FORMAT);
    let id = schema["$id"].as_str().unwrap();
    assert!(id.ends_with(&format!("/{}", diff::FORMAT)), "{id}");
    let other = "{\"format\": 0, \"old\": {}, \"changes\": [{}]}";
    assert!(misfits(diff::SCHEMA, other).len() >= 4);
}
