use std::path::Path;

use super::library::judge_drivers;
use super::*;
use crate::discovery::FILE_NAME;
use crate::discovery::companions::{DRIVER_FILES, Place};
use crate::discovery::image::sample::Sample;
use hyperdbg_sys::Exports;

fn options(library: Option<&Path>) -> Options {
    Options {
        request: Request {
            library: library.map(Path::to_owned),
            allow_writable_folder: true,
        },
        simulator: false,
        sdk: sdk::Choice::default(),
        worker: None,
    }
}

async fn report(options: &Options) -> Report {
    let report = examine_in(options, &Surroundings::default()).await;
    for finding in &report.findings {
        let needs_advice = finding.level >= Level::Warning;
        assert!(
            !needs_advice || finding.what_to_do.is_some(),
            "no advice: {finding:?}"
        );
    }
    let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    assert_eq!(json["schema_version"], 1);
    assert_eq!(json["findings"].as_array().unwrap().len(), report.findings.len());
    report
}

#[track_caller]
fn finding<'a>(report: &'a Report, id: &str) -> &'a Finding {
    report
        .findings
        .iter()
        .find(|finding| finding.id == id)
        .unwrap_or_else(|| panic!("no finding {id}: {}", report.to_text()))
}

#[tokio::test]
async fn nothing_is_a_problem_with_a_way_out() {
    let report = report(&options(None)).await;
    assert!(!report.is_well());
    let finding = finding(&report, "library");
    assert_eq!(finding.level, Level::Problem);
    assert!(finding.what_to_do.as_ref().unwrap().contains("--simulator"));
    assert!(report.to_text().contains("problem  library: "));
}

#[tokio::test]
async fn a_text_file_of_the_librarys_name_is_called_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE_NAME);
    std::fs::write(&file, "This is a note.\n").unwrap();
    for named in [file.as_path(), folder.path()] {
        let report = report(&options(Some(named))).await;
        assert_eq!(report.problems, 1);
        assert!(finding(&report, "library").what.contains("a text file"));
    }
}

#[tokio::test]
async fn a_library_with_missing_functions_is_a_warning_that_names_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE_NAME);
    let some: Vec<&str> = Exports::SYMBOLS
        .into_iter()
        .filter(|name| !name.contains("_pt_"))
        .collect();
    std::fs::write(
        &file,
        Sample::native(&some, &["not-there.dll", "../elsewhere.dll"]),
    )
    .unwrap();
    let report = report(&options(Some(&file))).await;
    let exports = finding(&report, "library.exports");
    assert_eq!(exports.level, Level::Warning);
    assert!(
        exports
            .what
            .contains("2 of 73 functions are missing: hyperdbg_u_pt_operation, hyperdbg_u_pt_mmap")
    );
    assert_eq!(finding(&report, "library.release").level, Level::Warning);
    // A name with a separator is not followed.
    assert_eq!(report.dependencies.len(), 1);
    assert_eq!(report.dependencies[0].place, Place::NotSeen);
    assert!(
        finding(&report, "library.dependencies")
            .what
            .contains("not-there.dll")
    );
}

#[tokio::test]
async fn dependencies_are_followed_through_what_lies_beside() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, data: &[u8]| std::fs::write(folder.path().join(name), data).unwrap();
    put(FILE_NAME, &Sample::native(&Exports::SYMBOLS, &["first.x"]));
    put("first.x", &Sample::native(&["a"], &["second.x", "first.x"]));
    put("second.x", b"text");
    let report = report(&options(Some(folder.path()))).await;
    let seen: Vec<_> = report
        .dependencies
        .iter()
        .map(|dependency| (dependency.name.as_str(), dependency.needed_by.as_str()))
        .collect();
    assert_eq!(seen, [("first.x", FILE_NAME), ("second.x", "first.x")]);
    let finding = finding(&report, "library.dependencies");
    assert_eq!(finding.level, Level::Problem);
    assert!(
        finding.what.contains("second.x, which first.x needs"),
        "{finding:?}"
    );
}

#[tokio::test]
async fn a_worker_that_cannot_load_is_a_problem_and_not_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE_NAME);
    std::fs::write(&file, Sample::native(&Exports::SYMBOLS, &[])).unwrap();
    let options = Options {
        worker: Some(WorkerProgram {
            program: folder.path().join("no-such-program"),
            arguments: Vec::new(),
        }),
        ..options(Some(&file))
    };
    let report = report(&options).await;
    assert_eq!(finding(&report, "library.load").level, Level::Problem);
    assert!(!report.load.unwrap().loaded);
}

#[tokio::test]
async fn what_was_passed_over_on_the_way_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(FILE_NAME), "text").unwrap();
    let around = Surroundings {
        program_folder: Some(folder.path().to_owned()),
        ..Surroundings::default()
    };
    let report = examine_in(&options(None), &around).await;
    let finding = finding(&report, "library.passed_over");
    assert!(finding.what.contains("beside the program") && finding.what.contains("a text file"));
}

#[tokio::test]
async fn names_cannot_steer_the_terminal() {
    let mut report = report(&options(None)).await;
    report.findings = vec![Finding::info("library", "a\u{1b}[31mb\u{202e}c\r\nd")];
    let text = report.to_text();
    assert!(
        text.contains("a\\u{1b}[31mb\\u{202e}c\\u{d}\n         d\n"),
        "{text}"
    );
}

#[test]
fn drivers_are_looked_for_beside_the_program() {
    let root = tempfile::tempdir().unwrap();
    let root = dunce::canonicalize(root.path()).unwrap();
    let (library_folder, program) = (root.join("hyperdbg"), root.join("program"));
    std::fs::create_dir_all(&library_folder).unwrap();
    std::fs::create_dir_all(&program).unwrap();
    let file = library_folder.join(FILE_NAME);
    std::fs::write(&file, Sample::native(&Exports::SYMBOLS, &[])).unwrap();
    let library = discovery::examine(&file, Origin::Flag, true).unwrap();
    let judged = |program: &Path| {
        let mut findings = Vec::new();
        judge_drivers(&library, Some(program), &mut findings);
        assert_eq!(findings.len(), 1);
        findings.remove(0)
    };
    let put = |folder: &Path| {
        for name in DRIVER_FILES {
            std::fs::write(folder.join(name), Sample::driver()).unwrap();
        }
    };

    assert!(judged(&program).what.contains("lacks hyperkd.sys"));
    assert_eq!(judged(&library_folder).level, Level::Warning);
    put(&library_folder);
    let apart = judged(&program);
    assert_eq!(apart.level, Level::Ok);
    assert!(apart.what.contains("each session tells the library"), "{apart:?}");
    assert!(
        apart
            .why
            .as_ref()
            .unwrap()
            .contains("config.ini stays beside this program"),
        "{apart:?}"
    );
    assert!(judged(&library_folder).what.contains("beside this program"));
    std::fs::write(library_folder.join(DRIVER_FILES[0]), "text").unwrap();
    let unfit = judged(&program);
    assert_eq!(unfit.level, Level::Warning);
    assert!(unfit.what.contains("cannot be installed"), "{unfit:?}");
    put(&program);
    assert_eq!(judged(&program).level, Level::Ok);
    std::fs::remove_file(program.join(DRIVER_FILES[1])).unwrap();
    assert!(judged(&program).what.contains("lacks hyperhv.dll"));
}

#[tokio::test]
async fn headers_beside_the_library_are_judged_without_loading_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join(FILE_NAME),
        Sample::native(&Exports::SYMBOLS, &[]),
    )
    .unwrap();
    let absent = report(&options(Some(folder.path()))).await;
    let found = finding(&absent, "library.sdk");
    assert_eq!(
        found.level,
        Level::Info,
        "the names are exactly those of the catalog"
    );
    assert!(
        found
            .why
            .as_ref()
            .unwrap()
            .contains("v0.23 by its exported names"),
        "{found:?}"
    );

    let headers = folder.path().join("SDK").join("headers");
    std::fs::create_dir_all(&headers).unwrap();
    for name in ["HyperDbgSdk.h", "HyperDbgLibImports.h"] {
        std::fs::write(headers.join(name), "#if 1\n").unwrap();
    }
    let broken = report(&options(Some(folder.path()))).await;
    let found = finding(&broken, "library.sdk");
    assert_eq!(found.level, Level::Warning);
    assert!(found.what.contains("this condition is never closed"), "{found:?}");
    assert_eq!(broken.problems, absent.problems, "the session opens all the same");
    let json: serde_json::Value = serde_json::from_str(&broken.to_json().unwrap()).unwrap();
    assert_eq!(json["compatibility"]["headers"]["state"], "unusable");
}
