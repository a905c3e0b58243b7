//! Findings about the library's file and what lies beside it.

use std::path::Path;

use super::{Finding, by};
use crate::discovery::companions::{self, Dependency, Driver, Place, Presence};
use crate::discovery::folder::{self, Access};
use crate::discovery::places::DRIVER_SERVICE;
use crate::discovery::{Library, Origin, Search, Verdict, list, release};
use crate::sdk::{Compatibility, Headers};

pub(super) fn judge_search(search: &Search, findings: &mut Vec<Finding>) {
    if let Some(library) = &search.library {
        findings.push(
            Finding::ok(
                "library",
                format!("{} ({})", library.path.display(), by(library.origin)),
            )
            .why(format!(
                "{} bytes, SHA-256 {}",
                library.size_bytes, library.sha256
            )),
        );
        let tried: Vec<_> = search
            .candidates
            .iter()
            .filter(|candidate| candidate.verdict != Verdict::NotTried)
            .cloned()
            .collect();
        findings.push(
            Finding::info("library.search", format!("looked at:{}", list(&tried)))
                .why(format!("the order is: {}; the first that fits is taken", order())),
        );
    } else {
        let named = search
            .candidates
            .iter()
            .find_map(|candidate| match &candidate.verdict {
                Verdict::Refused { reason, why } if candidate.origin.is_named() => {
                    Some((candidate, reason, why))
                }
                _ => None,
            });
        let finding = match named {
            Some((candidate, reason, why)) => Finding::problem(
                "library",
                format!(
                    "the library {} cannot be used: {}: {why}",
                    by(candidate.origin),
                    candidate.path.display()
                ),
            )
            .why("what is named is taken or refused; nothing else is taken in its place")
            .todo(reason.next_step()),
            None => Finding::problem("library", "HyperDbg's library was not found")
                .why(format!("looked at:{}\nThe order is: {}", list(&search.candidates), order()))
                .todo(
                    "Unpack a release of HyperDbg and name its folder with --library or HYPERDBG_LIBRARY, or use the \
                     built-in simulator with --simulator.",
                ),
        };
        findings.push(finding);
    }
    for candidate in &search.candidates {
        if let Verdict::Refused { reason, why } = &candidate.verdict
            && !candidate.origin.is_named()
        {
            findings.push(
                Finding::warning(
                    "library.passed_over",
                    format!(
                        "{} ({}) was passed over: {why}",
                        candidate.path.display(),
                        candidate.origin
                    ),
                )
                .todo(reason.next_step()),
            );
        }
    }
}

/// The places in the order in which they are tried.
fn order() -> String {
    Origin::ORDER.map(Origin::name).join(", ")
}

pub(super) fn judge(library: &Library, findings: &mut Vec<Finding>) {
    findings.push(Finding::info(
        "library.file",
        format!(
            "{}, {}; file version {}; signature {}",
            library.image.format,
            library.image.machine,
            library.image.file_version.as_deref().unwrap_or("absent"),
            library.image.signature
        ),
    ));
    if library.simulator {
        findings.push(
            Finding::warning("library.simulator", "it is the simulator, not HyperDbg")
                .why("everything that it shows is made up")
                .todo("Name HyperDbg's own library to debug something."),
        );
    }
    judge_access(library, findings);
    let total = library.present + library.missing.len();
    findings.push(match library.missing.as_slice() {
        [] => Finding::ok(
            "library.exports",
            format!("all {total} functions of the catalog are there"),
        ),
        missing => Finding::warning(
            "library.exports",
            format!(
                "{} of {total} functions are missing: {}",
                missing.len(),
                missing.join(", ")
            ),
        )
        .why("tools that need them answer missing_export")
        .todo("Use the release of HyperDbg that this program was made for, if you need those tools."),
    });
    let catalog = release::of_catalog();
    findings.push(match &library.release {
        None => Finding::unknown("library.release", "the release of HyperDbg", "no name of a known release is exported"),
        Some(found) if catalog.is_some_and(|tag| found.tags == [tag]) && found.fit == release::Fit::Exact => {
            Finding::ok("library.release", format!("HyperDbg {found}"))
                .why("a later build may have the same names and other layouts")
        }
        Some(found) => Finding::warning("library.release", format!("HyperDbg {found}"))
            .why(format!(
                "this program was made for {}; records and enum values differ among releases, also where the names are \
                 the same",
                catalog.unwrap_or("another release")
            ))
            .todo("Use that release, or mistrust what tools with typed results show."),
    });
}

/// What the library's own headers say, or what their absence leaves open.
pub(super) fn judge_headers(
    fit: &Compatibility,
    release: Option<&release::Release>,
    findings: &mut Vec<Finding>,
) {
    const ID: &str = "library.sdk";
    let ours = crate::generated::SDK_VERSION;
    let by_names = || match release {
        Some(release) => format!("all that is known is its release: {release}"),
        None => "its names say nothing of its release".to_owned(),
    };
    const ELSE: &str = "Put the folder SDK of the same release beside the library, or name it with --sdk.";
    match &fit.headers {
        Headers::BuiltIn => return,
        Headers::Absent { sought } => {
            let same = release.is_some_and(|found| {
                found.fit == release::Fit::Exact
                    && release::of_catalog().is_some_and(|tag| found.tags == [tag])
            });
            let what = format!("no SDK headers are beside the library ({})", sought.display());
            let why = format!(
                "{}; names do not tell layouts and enum values, which are taken for those of {ours}",
                by_names()
            );
            findings.push(match same {
                true => Finding::info(ID, what).why(why).todo(ELSE),
                false => Finding::warning(ID, what).why(why).todo(ELSE),
            });
            return;
        }
        Headers::Unusable { folder, why } => {
            findings.push(
                Finding::warning(
                    ID,
                    format!("the SDK headers in {} are not used: {why}", folder.display()),
                )
                .why(format!(
                    "{}; layouts and enum values are taken for those of {ours}",
                    by_names()
                ))
                .todo(ELSE),
            );
            return;
        }
        Headers::Read {
            folder,
            version,
            functions,
        } => {
            let what = format!(
                "SDK headers in {}: version {version}, {functions} functions",
                folder.display()
            );
            let clean = fit.disabled.is_empty() && fit.moved.is_empty() && fit.notes.is_empty();
            findings.push(match clean {
                true => Finding::ok(
                    ID,
                    format!("{what}; nothing differs from this program's catalog ({ours})"),
                ),
                false => Finding::info(ID, format!("{what}; this program's catalog is {ours}")),
            });
        }
    }
    if !fit.moved.is_empty() {
        findings.push(
            Finding::info(
                "library.sdk.moved",
                format!(
                    "{} moved, and calls are translated: {}",
                    count(fit.moved.len()),
                    fit.moved.join("; ")
                ),
            )
            .why("enumerators and members of records are found by their names in the library's headers"),
        );
    }
    if !fit.disabled.is_empty() {
        let each: Vec<String> = fit
            .disabled
            .iter()
            .map(|(function, why)| format!("{function}: {why}"))
            .collect();
        findings.push(
            Finding::warning(
                "library.sdk.disabled",
                format!("disabled functions ({}): {}", each.len(), each.join("; ")),
            )
            .why("tools that need them answer abi_mismatch; the rest work")
            .todo("Use the release of HyperDbg that this program was made for, if you need those tools."),
        );
    }
    for note in &fit.notes {
        findings.push(Finding::info("library.sdk.note", note.clone()));
    }
}

fn count(things: usize) -> String {
    match things {
        1 => "one thing".to_owned(),
        more => format!("{more} things"),
    }
}

fn judge_access(library: &Library, findings: &mut Vec<Finding>) {
    findings.push(match &library.access {
        Access::Closed => Finding::ok(
            "library.access",
            "only its owner and administrators can replace it or plant something beside it",
        ),
        Access::Exposed(exposed) => Finding::warning(
            "library.access",
            format!("{} can be written by {}", exposed.place.display(), exposed.who),
        )
        .why(format!(
            "{}; it was allowed by --allow-writable-folder",
            exposed.how
        ))
        .todo(exposed.remedy.clone()),
        Access::Unknown { place, why } => Finding::unknown(
            "library.access",
            "who can replace the library",
            format_args!("{}: {why}", place.display()),
        ),
    });
    if let Some(note) = folder::foreign_owner(&library.path) {
        findings.push(
            Finding::warning("library.owner", note)
                .why("that user can replace the library")
                .todo("Check that you trust that user, or use a copy of your own."),
        );
    }
    if library.on_network {
        findings.push(
            Finding::warning("library.network", "it lies on another machine")
                .why("whoever has that machine decides what runs here")
                .todo("Copy HyperDbg to this machine."),
        );
    }
}

pub(super) fn judge_dependencies(dependencies: &[Dependency], loads: bool, findings: &mut Vec<Finding>) {
    let before = findings.len();
    for dependency in dependencies {
        let name = &dependency.name;
        let by = &dependency.needed_by;
        match &dependency.place {
            Place::Beside | Place::System => {}
            Place::Unfit { why } => findings.push(
                Finding::problem(
                    "library.dependencies",
                    format!("{name}, which {by} needs, cannot be loaded: {why}"),
                )
                .todo("Unpack all files of one release into one folder."),
            ),
            // Somewhere the system found it.
            Place::NotSeen if loads => {}
            Place::NotSeen => {
                let what =
                    format!("{name}, which {by} needs, lies neither beside the library nor in the system");
                let todo = format!("Put {name} of the same release beside the library.");
                findings.push(match cfg!(windows) {
                    true => Finding::problem("library.dependencies", what).todo(todo),
                    // A loader of Linux has more places: run paths, its cache, a variable.
                    false => Finding::warning("library.dependencies", what).todo(todo),
                });
            }
        }
    }
    if findings.len() == before {
        let beside: Vec<&str> = dependencies
            .iter()
            .filter(|dependency| dependency.place == Place::Beside)
            .map(|dependency| dependency.name.as_str())
            .collect();
        findings.push(Finding::ok(
            "library.dependencies",
            match beside.as_slice() {
                [] => "nothing that it needs is missing".to_owned(),
                names => format!(
                    "nothing that it needs is missing; beside it: {}",
                    names.join(", ")
                ),
            },
        ));
    }
}

pub(super) fn judge_extras(extras: &[Presence], findings: &mut Vec<Finding>) {
    let line = |present: bool| -> Vec<String> {
        extras
            .iter()
            .filter(|extra| extra.present == present)
            .map(|extra| format!("{} ({})", extra.name, extra.purpose))
            .collect()
    };
    for (present, what) in [(true, "beside it"), (false, "not beside it")] {
        let names = line(present);
        if !names.is_empty() {
            findings.push(Finding::info(
                "library.extras",
                format!("{what}: {}", names.join(", ")),
            ));
        }
    }
}

/// The library looks for its driver and its settings beside the program that loaded it: this one.
pub(super) fn judge_drivers(library: &Library, program: Option<&Path>, findings: &mut Vec<Finding>) {
    const ID: &str = "driver.files";
    const WHY: &str = "the library looks for hyperkd.sys and config.ini beside the program that loads it, not beside \
                       itself; only debugging this very machine needs the driver";
    const ALL: &str = "Unpack the whole release; antivirus software likes to take drivers away.";
    let folder = library.folder();
    let lacks = |folder: &Path, missing: &[&str]| {
        Finding::warning(ID, format!("{} lacks {}", folder.display(), missing.join(", ")))
            .why(WHY)
            .todo(ALL)
    };
    let (place, finding) = match (companions::driver(folder, program), program) {
        (Driver::BesideProgram, Some(program)) => (
            program,
            Finding::ok(ID, "the driver's files lie beside this program").why(WHY),
        ),
        (Driver::BesideLibrary { path }, _) => (
            folder,
            Finding::ok(
                ID,
                format!(
                    "the driver's files lie beside the library; each session tells the library so: path {path}, service \
                     {DRIVER_SERVICE}"
                ),
            )
            .why(format!(
                "{WHY}. The export hyperdbg_u_set_custom_driver_path takes its path: ASCII, at most {} bytes. \
                 config.ini stays beside this program",
                companions::DRIVER_PATH_BYTES
            )),
        ),
        (Driver::Unusable { why }, _) => (
            folder,
            Finding::warning(
                ID,
                format!("the driver lies beside the library, from where it cannot be installed: {why}"),
            )
            .why(WHY)
            .todo(why.next_step()),
        ),
        (Driver::Absent | Driver::BesideProgram, _) => {
            findings.push(lacks(folder, &companions::missing_driver_files(folder)));
            return;
        }
    };
    // The driver alone does not start without the libraries of the kernel that it links to.
    match companions::missing_driver_files(place).as_slice() {
        [] => findings.push(finding),
        missing => findings.push(lacks(place, missing)),
    }
}
