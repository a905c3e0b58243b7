//! The stable codes of findings, explained.

/// All explanations: a line with the code and a title, then the text, then an empty line.
const TEXT: &str = include_str!("codes.txt");

/// One explained code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explained {
    /// The code, such as `HDR021`.
    pub code: &'static str,
    /// What it stands for.
    pub title: &'static str,
    /// Why it happens and what to do.
    pub text: &'static str,
}

/// Every code, in order.
pub fn all() -> impl Iterator<Item = Explained> {
    TEXT.split("\n\n").filter_map(|entry| {
        let (head, text) = entry.trim_end().split_once('\n')?;
        let (code, title) = head.split_once(' ')?;
        Some(Explained { code, title, text })
    })
}

/// The explanation of a code, in any case; as it is shown.
pub fn explain(code: &str) -> Option<String> {
    let found = all().find(|one| one.code.eq_ignore_ascii_case(code))?;
    Some(format!("{}: {}\n\n{}\n", found.code, found.title, found.text))
}

/// Whether a name has the form of a code.
pub fn is_code(name: &str) -> bool {
    let (letters, digits) = name.split_at_checked(3).unwrap_or_default();
    digits.len() == 3
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::{all, explain, is_code};

    /// Codes between quotes in the sources of this crate.
    fn used(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                used(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]").next().unwrap_or_default();
                found.extend(text.split('"').filter(|word| is_code(word)).map(str::to_owned));
            }
        }
    }

    #[test]
    fn every_code_is_explained_and_nothing_else() {
        let mut found = BTreeSet::new();
        used(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        let explained: Vec<&str> = all().map(|one| one.code).collect();
        let sorted: BTreeSet<String> = explained.iter().map(|code| (*code).to_owned()).collect();
        assert_eq!(found, sorted);
        assert!(explained.is_sorted() && explained.len() == sorted.len());
    }

    #[test]
    fn a_code_is_found_in_any_case() {
        let shown = explain("hdr021").unwrap();
        assert!(shown.starts_with("HDR021: A type is unknown\n\n"), "{shown}");
        assert!(explain("HDR999").is_none());
        assert!(is_code("RES015") && !is_code("hd_mem_read") && !is_code("RES15") && !is_code("äöü123"));
    }
}
