//! The history of HyperDbg's exports: each release compared with the one before it.
//!
//! The releases are the tags of a git repository; nothing but its git directory is needed.

mod git;
mod table;

use std::path::Path;

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::diff::{self, Change, Decisions, Kind, Layer, Report, Severity, Side};
use crate::import::{Whole, import_whole};
use git::Repository;
pub use table::{DOCUMENT, digest_of, document, json, markdown, text};

/// The git program cannot be run, or the folder is no git directory.
pub const GIT: &str = "RPL001";
/// A tag or commit that the repository does not have, or an empty range.
pub const RANGE: &str = "RPL002";
/// The headers of a release cannot be read.
pub const BROKEN: &str = "RPL003";

/// Folder of the SDK in a checkout; its spelling never changed.
const SDK: &str = "hyperdbg/include/SDK";

/// One release with what changed since the one before it.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// Tag, or what the range named.
    pub name: String,
    /// Day of the commit, `YYYY-MM-DD`.
    pub date: String,
    /// Version that the headers claim.
    pub version: String,
    /// Number of exported functions.
    pub exports: usize,
    /// Number of those that the header declares without the macro that exports them.
    pub unmarked: usize,
    /// Differences from the step before; none for the first.
    pub report: Option<Report>,
}

/// How many things changed in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Functions that came.
    pub added: usize,
    /// Functions that went.
    pub removed: usize,
    /// Functions with another name.
    pub renamed: usize,
    /// Functions with another return type or other parameters.
    pub types: usize,
    /// Records with another layout.
    pub layout: usize,
    /// Enums and constants with values that moved or went.
    pub values: usize,
    /// Enumerators and constants that came.
    pub new_values: usize,
}

impl Counts {
    /// Counts the changes of a report, each function, record, enum and constant once.
    pub fn of(report: &Report) -> Self {
        let subjects = |wanted: &dyn Fn(&Change) -> bool| {
            let found = report.changes.iter().filter(|change| wanted(change));
            let mut found: Vec<&str> = found.map(|change| change.subject.as_str()).collect();
            found.sort_unstable();
            found.dedup();
            found.len()
        };
        let kind = |wanted: Kind| subjects(&|change| change.kind == wanted);
        Self {
            added: kind(Kind::FunctionAdded),
            removed: kind(Kind::FunctionRemoved),
            renamed: kind(Kind::FunctionRenamed),
            types: subjects(&|change| change.layer == Layer::Types && change.severity != Severity::Harmless),
            layout: kind(Kind::RecordLayout),
            values: subjects(&|change| {
                matches!(
                    change.kind,
                    Kind::EnumMoved | Kind::EnumRemoved | Kind::ConstantChanged | Kind::ConstantRemoved
                )
            }),
            new_values: subjects(&|change| matches!(change.kind, Kind::EnumAdded | Kind::ConstantAdded)),
        }
    }
}

/// Walks the releases from `from` to `to`, both included; without them from the first that has the header of the
/// exports to the last. `to` may be any commit: it then follows the last tag before it in the order of versions.
///
/// # Errors
/// When git fails, a name is unknown, or the headers of a release are broken.
pub fn replay(
    repository: &Path,
    from: Option<&str>,
    to: Option<&str>,
    prelude: &str,
) -> Result<Vec<Step>, Diagnostics> {
    let repository = Repository::open(repository).map_err(|finding| vec![*finding])?;
    let names = range(&repository, from, to).map_err(|finding| vec![*finding])?;
    let mut steps: Vec<Step> = Vec::new();
    let mut findings = Diagnostics::new();
    let mut before: Option<Whole> = None;
    for name in names {
        let files = repository.files(&name, SDK).map_err(|finding| vec![*finding])?;
        // Without a start, the history begins with the first release that can be compared.
        let exports = files.iter().any(|path| is_export_header(path));
        if !exports && before.is_none() && from.is_none() {
            continue;
        }
        let whole = match read(&repository, &name, prelude) {
            Ok(whole) => whole,
            Err(found) => {
                findings.extend(found.into_iter().map(|finding| {
                    let note = format!("reported as {}", finding.code);
                    Diagnostic {
                        code: BROKEN,
                        message: format!("the headers of {name} cannot be read: {}", finding.message),
                        ..finding
                    }
                    .note(note)
                }));
                continue;
            }
        };
        let report = before
            .as_ref()
            .map(|old| diff::compare(Side::from(old), Side::from(&whole), &Decisions::none()));
        let functions = &whole.catalog.functions;
        steps.push(Step {
            date: repository.date(&name).map_err(|finding| vec![*finding])?,
            version: whole.catalog.sdk_version.clone(),
            exports: functions.len(),
            unmarked: functions.iter().filter(|one| one.unmarked).count(),
            name,
            report,
        });
        before = Some(whole);
    }
    if findings.is_empty() {
        Ok(steps)
    } else {
        Err(findings)
    }
}

/// Writes the SDK of one release into a folder.
///
/// # Errors
/// When git fails, or a file cannot be written.
pub fn unpack(repository: &Path, name: &str, target: &Path) -> Result<(), Diagnostics> {
    let repository = Repository::open(repository).map_err(|finding| vec![*finding])?;
    let unpacked = repository.unpack(name, SDK, target);
    unpacked.map_err(|finding| vec![*finding])
}

fn is_export_header(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    name == "hyperdbglibimports.h" || name == "hyperdbgctrlimports.h"
}

/// Reads the SDK of one revision.
fn read(repository: &Repository, name: &str, prelude: &str) -> Result<Whole, Diagnostics> {
    let failed = |error: std::io::Error| {
        vec![
            Diagnostic::error(GIT, format!("the headers of {name} cannot be unpacked: {error}"))
                .help("check the free space of the folder for temporary files"),
        ]
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    repository
        .unpack(name, SDK, folder.path())
        .map_err(|finding| vec![*finding])?;
    import_whole(folder.path(), prelude)
}

/// The names to walk, oldest first.
fn range(
    repository: &Repository,
    from: Option<&str>,
    to: Option<&str>,
) -> Result<Vec<String>, Box<Diagnostic>> {
    let mut tags: Vec<(Version, String)> = repository
        .tags()?
        .into_iter()
        .filter_map(|tag| Some((Version::of(&tag)?, tag)))
        .collect();
    tags.sort();
    let names: Vec<String> = tags.into_iter().map(|(_, tag)| tag).collect();
    let place = |wanted: &str| names.iter().position(|name| name == wanted);
    let first = match from {
        None => 0,
        Some(from) => place(from).ok_or_else(|| unknown(from, &names))?,
    };
    let mut chosen: Vec<String> = match to {
        None => names[first..].to_vec(),
        Some(to) => match place(to) {
            Some(last) if last < first => return Err(empty(from.unwrap_or_default(), to)),
            Some(last) => names[first..=last].to_vec(),
            None => {
                repository.check(to).map_err(|_| unknown(to, &names))?;
                let mut chosen = Vec::new();
                for name in &names[first..] {
                    if repository.contains(to, name)? {
                        chosen.push(name.clone());
                    }
                }
                chosen.push(to.to_owned());
                chosen
            }
        },
    };
    chosen.dedup();
    Ok(chosen)
}

fn unknown(name: &str, names: &[String]) -> Box<Diagnostic> {
    let finding = Diagnostic::error(RANGE, format!("the repository has no release `{name}`"));
    Box::new(match (names.first(), names.last()) {
        (Some(first), Some(last)) => finding.help(format!("its releases go from {first} to {last}")),
        _ => finding.help("fetch its tags: `git fetch --tags`"),
    })
}

fn empty(from: &str, to: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(RANGE, format!("{from} is later than {to}")).help("swap `--from` and `--to`"))
}

/// `v0.20-beta`: numbers, then whether it is a full release.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version([u64; 3], bool, String);

impl Version {
    fn of(tag: &str) -> Option<Self> {
        let text = tag.strip_prefix('v')?;
        let (numbers, suffix) = text.split_once('-').unwrap_or((text, ""));
        let mut parsed = [0; 3];
        for (at, number) in numbers.split('.').enumerate() {
            *parsed.get_mut(at)? = number.parse().ok()?;
        }
        Some(Self(parsed, suffix.is_empty(), suffix.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn releases_are_ordered_by_their_numbers() {
        let mut tags = ["v0.10", "v0.9.1", "v0.20-beta", "v0.20", "v0.13.1", "v0.13"];
        tags.sort_by_key(|tag| Version::of(tag));
        assert_eq!(
            tags,
            ["v0.9.1", "v0.10", "v0.13", "v0.13.1", "v0.20-beta", "v0.20"]
        );
        assert!(Version::of("nightly").is_none() && Version::of("v1.2.3.4").is_none());
    }
}
