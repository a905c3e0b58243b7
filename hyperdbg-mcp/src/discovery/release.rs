//! Which release of HyperDbg a library is, as far as the set of its exported names tells.
//!
//! No export returns the version, and several releases export the same names; layouts and enum values may differ among
//! them. So the answer is a range, and says how sure it is.

mod table;

use std::collections::BTreeSet;

use serde::Serialize;

use table::STEPS;

/// How well a set of names fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// The names are exactly those of these releases.
    Exact,
    /// No release has exactly these names; these come nearest.
    Nearest,
}

/// A guess at the release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Release {
    /// Tags that fit equally well, oldest first.
    pub tags: Vec<&'static str>,
    /// How well.
    pub fit: Fit,
    /// Names that those releases have and the library lacks.
    pub missing: Vec<&'static str>,
    /// Names that the library has and those releases lack.
    pub additional: Vec<String>,
}

impl std::fmt::Display for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tags = match self.tags.as_slice() {
            [] => "unknown".to_owned(),
            [only] => (*only).to_owned(),
            [first, .., last] => format!("{first} to {last}"),
        };
        match self.fit {
            Fit::Exact => write!(f, "{tags} by its exported names"),
            Fit::Nearest => write!(
                f,
                "nearest to {tags} by its exported names ({} missing, {} more)",
                self.missing.len(),
                self.additional.len()
            ),
        }
    }
}

/// Guesses the release from a library's exported names; `None` when there is none of HyperDbg's.
pub fn guess(exports: &BTreeSet<String>) -> Option<Release> {
    let ours: BTreeSet<&str> = exports
        .iter()
        .map(String::as_str)
        .filter(|name| STEPS.iter().any(|step| step.added.contains(name)) || name.starts_with("hyperdbg_u_"))
        .collect();
    if ours.is_empty() {
        return None;
    }
    let mut names: BTreeSet<&'static str> = BTreeSet::new();
    let mut best: Option<(usize, Release)> = None;
    for step in STEPS {
        names.extend(step.added);
        for name in step.removed {
            names.remove(name);
        }
        let missing: Vec<&'static str> = names
            .iter()
            .copied()
            .filter(|name| !ours.contains(name))
            .collect();
        let additional: Vec<String> = ours
            .iter()
            .filter(|name| !names.contains(*name))
            .map(|name| (*name).to_owned())
            .collect();
        let distance = missing.len() + additional.len();
        // Among equals the newer wins: a build between two tags is on its way to the next one.
        if best.as_ref().is_none_or(|(least, _)| distance <= *least) {
            let fit = match distance {
                0 => Fit::Exact,
                _ => Fit::Nearest,
            };
            best = Some((
                distance,
                Release {
                    tags: step.releases.to_vec(),
                    fit,
                    missing,
                    additional,
                },
            ));
        }
    }
    best.map(|(_, release)| release)
}

/// The release that the catalog was made from, where its names are those of one.
pub fn of_catalog() -> Option<&'static str> {
    let names = hyperdbg_sys::Exports::SYMBOLS
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    let release = guess(&names)?;
    match (release.fit, release.tags.as_slice()) {
        (Fit::Exact, [.., newest]) => Some(newest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn set_of(tag: &str) -> BTreeSet<String> {
        let mut set = BTreeSet::new();
        for step in STEPS {
            set.extend(step.added.iter().map(|name| (*name).to_owned()));
            for name in step.removed {
                set.remove(*name);
            }
            if step.releases.contains(&tag) {
                return set;
            }
        }
        panic!("no release {tag}");
    }

    #[test]
    fn the_table_counts_as_many_exports_as_each_release_had() {
        let counts: Vec<usize> = STEPS
            .iter()
            .flat_map(|step| step.releases)
            .map(|tag| set_of(tag).len())
            .collect();
        assert_eq!(
            counts,
            [
                20, 36, 47, 49, 51, 51, 54, 54, 54, 54, 54, 55, 57, 57, 57, 57, 67, 69, 70, 71, 73
            ]
        );
    }

    #[test]
    fn the_newest_release_of_the_table_is_the_one_of_the_catalog() {
        let catalog = names(&hyperdbg_sys::Exports::SYMBOLS);
        assert_eq!(set_of("v0.23"), catalog);
        let release = guess(&catalog).unwrap();
        assert_eq!((release.tags, release.fit), (vec!["v0.23"], Fit::Exact));
        assert_eq!(of_catalog(), Some("v0.23"));
    }

    #[test]
    fn releases_with_equal_names_are_told_as_a_range() {
        let release = guess(&set_of("v0.17")).unwrap();
        assert_eq!(release.tags, ["v0.16", "v0.17", "v0.18", "v0.18.1"]);
        assert_eq!(release.to_string(), "v0.16 to v0.18.1 by its exported names");
    }

    #[test]
    fn a_build_between_releases_is_told_as_near_with_what_differs() {
        let mut set = set_of("v0.23");
        set.insert("hyperdbg_u_of_tomorrow".to_owned());
        set.remove("hyperdbg_u_assemble");
        let release = guess(&set).unwrap();
        assert_eq!((release.tags, release.fit), (vec!["v0.23"], Fit::Nearest));
        assert_eq!(release.missing, ["hyperdbg_u_assemble"]);
        assert_eq!(release.additional, ["hyperdbg_u_of_tomorrow"]);
    }

    #[test]
    fn names_that_are_not_hyperdbgs_give_no_release() {
        assert_eq!(guess(&BTreeSet::new()), None);
        assert_eq!(
            guess(&names(&["HyperDbgInterpreter", "hwdbg_something_internal"])),
            None
        );
    }
}
