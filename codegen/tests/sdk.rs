//! Folders that are no SDK, and the real one where it is at hand.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::path::Path;

use hyperdbg_codegen::catalog::Catalog;
use hyperdbg_codegen::diagnostic::Diagnostics;
use hyperdbg_codegen::import;

const PRELUDE: &str = include_str!("../../api/prelude.h");
const COMMITTED: &str = include_str!("../../api/mcp_api_meta.json");

const EXPORTS: &str = "#pragma once\n#define IMPORT_EXPORT_LIBHYPERDBG __declspec(dllimport)\n\
                       IMPORT_EXPORT_LIBHYPERDBG int\nhyperdbg_u_one();\n";
const CONSTANTS: &str = "#define VERSION_MAJOR 1\n#define VERSION_MINOR 2\n#define VERSION_PATCH 3\n\
                         #define DEBUGGER_ERROR_X 0xc0000001\n";

/// Imports a folder with these files.
fn import_files(files: &[(&str, &str)]) -> Result<Catalog, Diagnostics> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    import::import(folder.path(), PRELUDE)
}

fn only_code(result: Result<Catalog, Diagnostics>) -> &'static str {
    let findings = result.unwrap_err();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].help.is_some());
    findings[0].code
}

#[test]
fn a_small_sdk_is_imported_whatever_the_spelling_of_its_names() {
    let catalog = import_files(&[
        ("HYPERDBGSDK.H", "#include \"SDK/headers/constants.h\"\n"),
        ("Headers/Constants.h", CONSTANTS),
        ("Imports/User/HyperDbgLibImports.h", EXPORTS),
    ])
    .unwrap();
    assert_eq!(catalog.sdk_version, "1.2.3");
    let names: Vec<&str> = catalog.functions.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["hyperdbg_u_one"]);
    assert_eq!(catalog.functions[0].origin, "Imports/User/HyperDbgLibImports.h:4");
    assert_eq!(catalog.constants[0].value, 0xc000_0001);
}

#[test]
fn the_older_name_of_the_export_header_is_known() {
    let older = EXPORTS.replace("LIBHYPERDBG", "CTRL");
    let catalog = import_files(&[
        ("HyperDbgSdk.h", "#include \"SDK/Headers/Constants.h\"\n"),
        ("Headers/Constants.h", CONSTANTS),
        ("Imports/HyperDbgCtrlImports.h", &older),
    ]);
    assert_eq!(catalog.unwrap().functions.len(), 1);
}

#[test]
fn prototypes_without_the_macro_count_in_the_header_of_the_exports_only() {
    let exports = format!("{EXPORTS}int\nhyperdbg_u_two();\n");
    let catalog = import_files(&[
        (
            "HyperDbgSdk.h",
            "#include \"SDK/headers/Constants.h\"\n#include \"SDK/modules/Vmm.h\"\n",
        ),
        ("headers/Constants.h", CONSTANTS),
        ("modules/Vmm.h", "int of_another_module();\n"),
        ("imports/user/HyperDbgLibImports.h", &exports),
    ])
    .unwrap();
    let found: Vec<(&str, bool)> = catalog
        .functions
        .iter()
        .map(|one| (one.name.as_str(), one.unmarked))
        .collect();
    assert_eq!(found, [("hyperdbg_u_one", false), ("hyperdbg_u_two", true)]);
    let text = import::render(&catalog);
    assert!(text.contains("\"unmarked\": true") && !text.contains("\"unmarked\": false"));
    assert_eq!(import::read(&text, "catalog").unwrap(), catalog);
}

#[test]
fn what_is_no_sdk_is_refused_with_one_error() {
    assert_eq!(
        only_code(import::import(Path::new("/no such folder"), PRELUDE)),
        "HDR001"
    );
    assert_eq!(only_code(import_files(&[])), "HDR002");
    assert_eq!(only_code(import_files(&[("notes.txt", "nothing")])), "HDR002");
    assert_eq!(only_code(import_files(&[("windows.h", "int a;")])), "HDR002");
    assert_eq!(only_code(import_files(&[("HyperDbgSdk.h", CONSTANTS)])), "HDR002");
    let twice = [
        ("HyperDbgSdk.h", CONSTANTS),
        ("a/HyperDbgLibImports.h", EXPORTS),
        ("b/HyperDbgLibImports.h", EXPORTS),
    ];
    assert_eq!(only_code(import_files(&twice)), "HDR006");
}

#[test]
fn an_incomplete_sdk_is_refused_with_what_is_missing() {
    let with = |sdk: &str, exports: &str| {
        only_code(import_files(&[
            ("HyperDbgSdk.h", sdk),
            ("HyperDbgLibImports.h", exports),
        ]))
    };
    assert_eq!(with("", EXPORTS), "HDR041");
    assert_eq!(with(&CONSTANTS.replace('3', "NO_NUMBER"), EXPORTS), "HDR024");
    assert_eq!(with(CONSTANTS, "typedef int NUMBER;\n"), "HDR040");
    assert_eq!(with("#include \"SDK/headers/Gone.h\"\n", EXPORTS), "HDR005");
    assert_eq!(
        with(&CONSTANTS.replace("0xc0000001", "SOMETHING"), EXPORTS),
        "HDR024"
    );
    assert_eq!(with(&CONSTANTS.replace("0xc0000001", "-1"), EXPORTS), "HDR043");
}

#[test]
fn members_that_differ_on_linux_are_refused() {
    let record =
        "#ifdef __linux__\ntypedef struct { int A; } R;\n#else\ntypedef struct { int B; } R;\n#endif\n";
    let exports = EXPORTS.replace("one()", "one(R * r)");
    let files = [
        ("HyperDbgSdk.h", format!("{CONSTANTS}{record}")),
        ("HyperDbgLibImports.h", exports),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert_eq!(only_code(import_files(&files)), "HDR044");
}

/// Set `HYPERDBG_SDK` to the folder `hyperdbg/include/SDK` of HyperDbg v0.23.
#[test]
fn the_real_sdk_gives_the_committed_catalog() {
    let Some(folder) = std::env::var_os("HYPERDBG_SDK") else {
        println!("not run: HYPERDBG_SDK does not name an SDK folder");
        return;
    };
    let start = std::time::Instant::now();
    let catalog = import::import(Path::new(&folder), PRELUDE).unwrap_or_else(|findings| {
        panic!(
            "{}",
            findings
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        )
    });
    let spent = start.elapsed();
    println!("imported {} functions in {spent:?}", catalog.functions.len());
    assert!(spent.as_secs() < 1, "{spent:?}");
    let committed = import::read(COMMITTED, "api/mcp_api_meta.json").unwrap();
    if catalog.sdk_version == committed.sdk_version {
        assert_eq!(import::render(&catalog), COMMITTED.replace("\r\n", "\n"));
    } else {
        println!("it is version {}: only read, not compared", catalog.sdk_version);
    }
}
