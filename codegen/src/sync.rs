//! One step from one release of HyperDbg to another: import, resolve, generate, or say what must be decided first.
//!
//! ```text
//! SDK ─► catalog ─► fixups ─► resolve ─► all files, written together
//!                                └► something is open ─► scaffolds in api/tools, and the places to fill in
//! ```
//!
//! Nothing is written unless all of it can be: an error leaves `api/` and the generated files as they were.

mod carry;
mod edit;
mod guess;
mod offers;
mod scaffold;

pub(crate) use scaffold::UNDECIDED;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::annotations::{self, Annotations, Retired, retired};
use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::diff::{self, Decisions, Report, Side, Undecided};
use crate::digest;
use crate::emit::write::{self, Differences};
use crate::emit::{self, File};
use crate::fixups::Fixups;
use crate::import::{self, import_whole};
use crate::resolve::{self, codes};

/// A file cannot be read or written.
pub const FILES: &str = "SYN001";
/// There is no group that a scaffold could be written into.
pub const NO_GROUP: &str = "SYN002";
/// A new enumerator that a tool would offer is neither offered nor excluded yet.
pub const ENUMERATOR_UNDECIDED: &str = "SYN003";

/// The catalog's place under the root.
const CATALOG: &str = "api/mcp_api_meta.json";

/// Findings that say that a file is broken, and not that something is to be decided.
const BROKEN: [&str; 7] = [
    codes::UNREADABLE,
    codes::SYNTAX,
    codes::UNKNOWN_KEY,
    codes::MISSING_KEY,
    codes::WRONG_FORM,
    codes::DUPLICATE_KEY,
    codes::GROUP_NAME,
];

/// How a step ended.
#[derive(Debug)]
pub enum Outcome {
    /// Everything is in step.
    Done {
        /// What changed in the headers.
        report: Report,
        /// Files that were written or removed.
        files: Differences,
        /// Functions, error codes and enumerators whose entries are out of use now.
        retired: Vec<String>,
        /// Functions, error codes and enumerators whose entries are in use again.
        revived: Vec<String>,
    },
    /// Something must be decided first.
    Open {
        /// What changed in the headers.
        report: Report,
        /// Files that got scaffolds.
        files: Differences,
        /// The places to fill in.
        places: Diagnostics,
    },
}

/// Brings the workspace `root` in step with the SDK in `sdk`.
///
/// # Errors
/// When the SDK or a file of `api/` is broken, or something cannot be written. Nothing was written then.
pub fn sync(root: &Path, sdk: &Path) -> Result<Outcome, Diagnostics> {
    let api = root.join("api");
    let prelude = read(root, "api/prelude.h").map_err(|finding| vec![*finding])?;
    let old = read(root, CATALOG).map_err(|finding| vec![*finding])?;
    let old = import::read(&old, CATALOG)?;
    let new = import_whole(sdk, &prelude)?;
    let mut corrected = new.catalog.clone();
    Fixups::load(&api)?.apply(&mut corrected)?;

    let carried = carry::files(
        &api,
        &diff::renamed_parameters(Side::from(&old), Side::from(&new)),
    )
    .map_err(|error| vec![unreadable("api/tools", &error)])?;
    let staged = Staged::new(&api, &carried).map_err(|error| vec![failed(&error)])?;
    let api = staged.folder();

    let retired_before = Retired::load(api).map_err(|finding| vec![*finding])?;
    let (mut annotations, mut findings) = annotations::load_all(api);
    let decisions = Decisions::of(&annotations);
    let report = diff::compare(Side::from(&old), Side::from(&new), &decisions);
    let retired_now = retire(&annotations, &retired_before, &old, &corrected);
    if findings.iter().any(is_broken) {
        return Err(findings);
    }
    let everything = scaffold::Context {
        annotations: &annotations,
        old: &old,
        new: &corrected,
        report: &report,
    };
    let scaffolds = scaffold::files(&everything)?;
    let undecided = diff::undecided(Side::from(&old), Side::from(&new), &decisions);
    retired_now.apply(&mut annotations);
    let surface = match resolve::resolve(&corrected, &annotations) {
        Ok(surface) if findings.is_empty() && undecided.is_empty() => surface,
        result => {
            findings.extend(result.err().into_iter().flatten());
            let written = over(carried, scaffolds);
            let files = write::place(root, &written).map_err(|error| vec![failed(&error)])?;
            return Ok(Outcome::Open {
                report,
                files,
                places: places(
                    &root.join("api"),
                    &retired_now,
                    &corrected,
                    findings,
                    &written,
                    &undecided,
                ),
            });
        }
    };

    let mut files = vec![File {
        path: CATALOG.to_owned(),
        contents: import::render(&new.catalog),
    }];
    if !retired_now.is_empty() {
        files.push(File {
            path: retired::PATH.to_owned(),
            contents: retired_now.render(),
        });
    }
    files.extend(carried);
    let digests = digests(api, &files).map_err(|error| vec![failed(&error)])?;
    files.extend(emit::surface(&surface, &digests).map_err(|finding| vec![*finding])?);
    let mut changed = write::apply(root, &files).map_err(|error| vec![failed(&error)])?;
    if retired_now.is_empty() && root.join(retired::PATH).exists() {
        fs::remove_file(root.join(retired::PATH)).map_err(|error| vec![failed(&error)])?;
        changed.push((retired::PATH.to_owned(), write::Difference::Orphan));
        changed.sort_by(|a, b| a.0.cmp(&b.0));
    }
    let (before, now) = (names(&retired_before), names(&retired_now));
    Ok(Outcome::Done {
        report,
        files: changed,
        retired: now.difference(&before).cloned().collect(),
        revived: before.difference(&now).cloned().collect(),
    })
}

fn names(retired: &Retired) -> BTreeSet<String> {
    retired.names().cloned().collect()
}

fn is_broken(finding: &Diagnostic) -> bool {
    BROKEN.contains(&finding.code)
}

fn read(root: &Path, path: &str) -> Result<String, Box<Diagnostic>> {
    fs::read_to_string(root.join(path)).map_err(|error| Box::new(unreadable(path, &error)))
}

fn unreadable(path: &str, error: &io::Error) -> Diagnostic {
    Diagnostic::error(FILES, format!("{path} cannot be read: {}", error.kind()))
        .help("run this in the workspace, or name its folder with --root")
}

fn failed(error: &io::Error) -> Diagnostic {
    Diagnostic::error(FILES, format!("the files cannot be written: {error}"))
        .help("check the folder's permissions and free space")
}

/// What has an entry and is not in the new catalog, but was in the old one or is retired already.
fn retire(annotations: &Annotations, before: &Retired, old: &Catalog, new: &Catalog) -> Retired {
    let mut retired = Retired::default();
    let annotated = annotations.groups.iter().flat_map(|group| &group.functions);
    let annotated = annotated.map(|one| one.symbol.value.as_str());
    let excluded = annotations.exclusions.iter().map(|one| one.symbol.value.as_str());
    for name in annotated.chain(excluded) {
        if new.functions.iter().any(|one| one.name == name) {
            continue;
        }
        let last = old.functions.iter().find(|one| one.name == name);
        let last = last.map(|one| format!("{} of {}", one.origin, old.sdk_version));
        if let Some(last) = last.or_else(|| before.functions.get(name).cloned()) {
            retired.functions.insert(name.to_owned(), last);
        }
    }
    for entry in &annotations.errors {
        let name = entry.name.value.as_str();
        if new.constants.iter().any(|one| one.name == name) {
            continue;
        }
        let last = old.constants.iter().find(|one| one.name == name);
        let last = last.map(|one| format!("{} of {}", one.origin, old.sdk_version));
        if let Some(last) = last.or_else(|| before.errors.get(name).cloned()) {
            retired.errors.insert(name.to_owned(), last);
        }
    }
    let has = |catalog: &Catalog, name: &str| -> Option<String> {
        let found = catalog
            .enums
            .iter()
            .find(|one| one.values.iter().any(|value| value.name == name))?;
        Some(format!("{} of {}", found.origin, catalog.sdk_version))
    };
    for name in annotations.enumerators() {
        let name = name.value.as_str();
        if has(new, name).is_none()
            && let Some(last) = has(old, name).or_else(|| before.enumerators.get(name).cloned())
        {
            retired.enumerators.insert(name.to_owned(), last);
        }
    }
    retired
}

/// What is open once the scaffolds are there.
fn places(
    api: &Path,
    retired: &Retired,
    catalog: &Catalog,
    findings: Diagnostics,
    scaffolds: &[File],
    undecided: &[Undecided],
) -> Diagnostics {
    let mut places = findings;
    let (mut annotations, found) = annotations::load_all(api);
    // Before what is retired is taken away: its places can still be pointed at.
    let offers = offers::places(&annotations, undecided);
    if !scaffolds.is_empty() {
        places = found;
        retired.apply(&mut annotations);
        if let Err(more) = resolve::resolve(catalog, &annotations) {
            places.extend(more);
        }
    }
    places.extend(offers);
    places.sort_by_key(|place| {
        let span = place.span.as_ref();
        span.map(|span| (span.file.clone(), span.line, span.column))
    });
    places
}

/// Files, with those of `later` in the place of those of the same path.
fn over(files: Vec<File>, later: Vec<File>) -> Vec<File> {
    let mut files: Vec<File> = files
        .into_iter()
        .filter(|file| later.iter().all(|other| other.path != file.path))
        .collect();
    files.extend(later);
    files
}

/// The digests of `api/` as it will be.
fn digests(api: &Path, changed: &[File]) -> io::Result<Vec<(String, String)>> {
    let staged = Staged::new(api, changed)?;
    if changed.iter().all(|file| file.path != retired::PATH) {
        let retired = staged.folder().join("retired.json");
        if retired.exists() {
            fs::remove_file(retired)?;
        }
    }
    digest::files(staged.folder())
}

/// A copy of `api/` in which some files are others.
struct Staged(tempfile::TempDir);

impl Staged {
    fn new(api: &Path, changed: &[File]) -> io::Result<Self> {
        let staged = tempfile::tempdir()?;
        copy(api, staged.path())?;
        for file in changed {
            if let Some(path) = file.path.strip_prefix("api/") {
                fs::write(staged.path().join(path), &file.contents)?;
            }
        }
        Ok(Self(staged))
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
