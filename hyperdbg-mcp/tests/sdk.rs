//! The headers beside a library decide what may be called, and are read with distrust.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod headers;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hyperdbg_codegen::catalog::Catalog;
use hyperdbg_mcp::engine::LibrarySource;
use hyperdbg_mcp::sdk::{Choice, Compatibility, Headers, examine};

const NONE_MISSING: [&str; 0] = [];

/// A folder with `SDK` in it, and the library that would lie beside it.
fn release(catalog: &Catalog) -> (tempfile::TempDir, LibrarySource) {
    let folder = tempfile::tempdir().unwrap();
    headers::write(catalog, &folder.path().join("SDK"));
    let library = LibrarySource::Path(folder.path().join("libhyperdbg.so"));
    (folder, library)
}

async fn judged(catalog: &Catalog) -> Compatibility {
    let (_folder, library) = release(catalog);
    examine(&library, &Choice::default())
        .await
        .held_against(&NONE_MISSING)
}

async fn why_unusable(folder: &Path) -> String {
    let choice = Choice {
        folder: Some(folder.to_owned()),
        ..Choice::default()
    };
    let started = Instant::now();
    let fit = examine(&LibrarySource::Embedded, &choice).await;
    assert!(started.elapsed() < Duration::from_secs(7));
    assert!(fit.disabled.is_empty() && fit.layout.is_as_built());
    match fit.headers {
        Headers::Unusable { why, .. } => why,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn headers_that_say_the_same_change_nothing() {
    let fit = judged(&headers::catalog()).await;
    assert!(
        matches!(&fit.headers, Headers::Read { version, functions: 73, .. } if version == "0.23.0"),
        "{fit:?}"
    );
    assert!(fit.disabled.is_empty(), "{fit:?}");
    assert!(
        fit.moved.is_empty() && fit.notes.is_empty() && fit.layout.is_as_built(),
        "{fit:?}"
    );
}

#[tokio::test]
async fn what_differs_in_type_disables_only_what_needs_it() {
    let mut catalog = headers::catalog();
    headers::add_parameter(&mut catalog, "hyperdbg_u_set_breakpoint");
    headers::record(&mut catalog, "HYPERTRACE_LBR_DUMP_PACKETS")
        .fields
        .retain(|field| field.name != "CurrentLbrCapacity");
    let idt = headers::record(&mut catalog, "INTERRUPT_DESCRIPTOR_TABLE_ENTRIES_PACKETS");
    idt.fields[1] = headers::field("IdtEntry", "UINT64[128]");
    // Its only user hands over no such record.
    headers::record(&mut catalog, "DEBUGGER_DT_COMMAND_OPTIONS")
        .fields
        .remove(0);
    let fit = judged(&catalog).await;
    let disabled: Vec<&str> = fit.disabled.keys().map(String::as_str).collect();
    assert_eq!(
        disabled,
        [
            "hyperdbg_u_get_idt_entry",
            "hyperdbg_u_lbr_dump",
            "hyperdbg_u_set_breakpoint"
        ]
    );
    assert!(
        fit.disabled["hyperdbg_u_lbr_dump"]
            .contains("`HYPERTRACE_LBR_DUMP_PACKETS.CurrentLbrCapacity` is gone")
    );
    assert!(fit.disabled["hyperdbg_u_get_idt_entry"].contains("UINT64[128] instead of UINT64[256]"));
    assert!(fit.disabled["hyperdbg_u_set_breakpoint"].contains("takes more parameters"));
    assert!(fit.layout.is_as_built());
}

#[tokio::test]
async fn what_only_moved_is_translated_or_disables_where_that_is_not_wanted() {
    let mut catalog = headers::catalog();
    // As upstream's builds after v0.23 do.
    headers::renumber(&mut catalog, "DEBUGGER_SHOW_MEMORY_STYLE", |value| {
        if value == 8 { 10 } else { value }
    });
    headers::add_value(
        &mut catalog,
        "DEBUGGER_SHOW_MEMORY_STYLE",
        "DEBUGGER_SHOW_COMMAND_DW",
        8,
    );
    headers::record(&mut catalog, "GUEST_EXTRA_REGISTERS")
        .fields
        .insert(0, headers::field("Gdtr", "UINT64"));
    let (_folder, library) = release(&catalog);
    let fit = examine(&library, &Choice::default()).await;
    assert!(fit.disabled.is_empty(), "{:?}", fit.disabled);
    assert_eq!(fit.moved.len(), 2, "{:?}", fit.moved);
    assert_eq!(
        fit.layout.enums["DEBUGGER_SHOW_MEMORY_STYLE"].last(),
        Some(&(8, Some(10)))
    );
    assert_eq!(fit.layout.records["GUEST_EXTRA_REGISTERS"].size_bytes, 40);
    let fixed = Choice {
        translate: false,
        ..Choice::default()
    };
    let fit = examine(&library, &fixed).await;
    let disabled: Vec<&str> = fit.disabled.keys().map(String::as_str).collect();
    assert_eq!(
        disabled,
        [
            "hyperdbg_u_read_all_registers",
            "hyperdbg_u_show_memory_or_disassemble"
        ]
    );
    assert!(fit.layout.is_as_built());
}

#[tokio::test]
async fn headers_of_another_build_are_not_believed() {
    let mut catalog = headers::catalog();
    catalog
        .functions
        .retain(|one| one.name != "hyperdbg_u_request_cpuid");
    let (_folder, library) = release(&catalog);
    let fit = examine(&library, &Choice::default()).await;
    let as_old = fit.clone().held_against(&["hyperdbg_u_request_cpuid"]);
    assert!(matches!(as_old.headers, Headers::Read { functions: 72, .. }));
    let as_new = fit.held_against(&NONE_MISSING);
    let Headers::Unusable { why, .. } = as_new.headers else {
        panic!("believed")
    };
    assert!(why.contains("it exports hyperdbg_u_request_cpuid"), "{why}");
}

#[tokio::test]
async fn a_function_that_the_library_lacks_is_no_matter_of_its_types() {
    let mut catalog = headers::catalog();
    headers::add_parameter(&mut catalog, "hyperdbg_u_set_breakpoint");
    let (_folder, library) = release(&catalog);
    let fit = examine(&library, &Choice::default()).await;
    let fit = fit.held_against(&["hyperdbg_u_set_breakpoint"]);
    assert!(fit.disabled.is_empty());
    assert_eq!(fit.notes.len(), 1, "{:?}", fit.notes);
}

#[tokio::test]
async fn no_headers_are_told_as_absent_and_the_simulator_needs_none() {
    let folder = tempfile::tempdir().unwrap();
    let library = LibrarySource::Path(folder.path().join("libhyperdbg.so"));
    let fit = examine(&library, &Choice::default()).await;
    let sought = folder.path().join("SDK");
    assert_eq!(fit.headers, Headers::Absent { sought });
    let fit = examine(&LibrarySource::Embedded, &Choice::default()).await;
    assert_eq!(fit.headers, Headers::BuiltIn);
}

#[tokio::test]
async fn broken_and_hostile_headers_are_a_finding_in_bounded_time() {
    let put = |name: &str, text: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        headers::write(&headers::catalog(), folder.path());
        std::fs::write(folder.path().join("headers/HyperDbgSdk.h"), text).unwrap();
        (name.to_owned(), folder)
    };
    let doubling: String = (1..200)
        .map(|at| format!("#define M{at} M{0} M{0}\n", at - 1))
        .collect();
    let cases = [
        put("binary", &[0, 159, 146, 150].repeat(1000)),
        put("no end", b"#if 1\ntypedef struct {"),
        put("unknown type", b"typedef NOBODY X;"),
        put(
            "expansion",
            format!("#define M0 x\n{doubling}int y = M199;").as_bytes(),
        ),
        put("depth", "(".repeat(200_000).as_bytes()),
        put("itself", b"#include \"HyperDbgSdk.h\"\n"),
        put("huge array", b"typedef struct _A { char a[0x7fffffffffff]; } A;"),
        put("escape", b"typedef \x1b[2J\x07 X;"),
    ];
    for (name, folder) in &cases {
        let why = why_unusable(folder.path()).await;
        assert!(why.chars().count() < 500, "{name}: {why}");
        assert!(!why.contains(char::is_control), "{name}: {why:?}");
    }
    let empty = tempfile::tempdir().unwrap();
    assert!(why_unusable(empty.path()).await.contains("holds no headers"));
    let nowhere: PathBuf = empty.path().join("nowhere");
    assert!(
        why_unusable(&nowhere)
            .await
            .contains("cannot read the SDK folder")
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_the_place_of_a_header_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    headers::write(&headers::catalog(), folder.path());
    let header = folder.path().join("headers/HyperDbgSdk.h");
    std::fs::remove_file(&header).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(&header)
        .status()
        .unwrap();
    assert!(made.success());
    assert!(
        why_unusable(folder.path())
            .await
            .contains("it is not a regular file")
    );
}

#[cfg(unix)]
#[tokio::test]
async fn headers_that_more_people_can_write_than_the_library_are_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, library) = release(&headers::catalog());
    let LibrarySource::Path(path) = &library else {
        panic!()
    };
    std::fs::write(path, "").unwrap();
    let sdk = folder.path().join("SDK");
    std::fs::set_permissions(&sdk, std::fs::Permissions::from_mode(0o777)).unwrap();
    let fit = examine(&library, &Choice::default()).await;
    assert!(
        matches!(&fit.headers, Headers::Unusable { why, .. } if why.contains("can be written by")),
        "{:?}",
        fit.headers
    );
}
