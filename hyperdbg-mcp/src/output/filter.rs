//! [`Filter`]: which stretches of captured text somebody wants to see.

use regex::{Regex, RegexBuilder};

use super::{OutputStore, Untrusted};
use crate::tool::arguments::echo;
use crate::tool::{Category, ToolError};

/// Characters of a filter.
const MAX_CHARS: usize = 200;
/// Bytes that a compiled expression may take.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Bytes of states that matching may keep before it starts over.
const MAX_STATE_BYTES: usize = 1 << 20;

/// A text or a regular expression; what it is held against is the escaped form, the one that readers see.
#[derive(Debug, Clone)]
pub struct Filter {
    regex: Regex,
    words: String,
}

impl Filter {
    /// `/…/` is a regular expression in the syntax of the `regex` crate, `/…/i` one for which letters have no case.
    /// Everything else is a text that is looked for as it stands; its letters have no case either.
    ///
    /// # Errors
    /// `invalid_argument` when it is empty or too long, or is no expression; then with the place where it goes wrong.
    pub fn new(filter: &str) -> Result<Self, ToolError> {
        if filter.is_empty() || filter.chars().count() > MAX_CHARS {
            return Err(bad(format!("A filter has 1 to {MAX_CHARS} characters.")));
        }
        let Some((pattern, any_case)) = expression(filter) else {
            return Self::build(&regex::escape(filter), true, format!("hold `{}`", echo(filter)));
        };
        if pattern.is_empty() {
            return Err(bad(
                "The expression between the slashes of the filter is empty.".to_owned()
            ));
        }
        if let Some((why, at)) = complaint(pattern) {
            return Err(bad(format!(
                "The filter {} is no regular expression: {why}, at character {at} of it.",
                echo(filter)
            )));
        }
        Self::build(pattern, any_case, format!("match {}", echo(filter)))
    }

    fn build(pattern: &str, any_case: bool, words: String) -> Result<Self, ToolError> {
        let regex = RegexBuilder::new(pattern)
            .case_insensitive(any_case)
            // A record of a log can have several lines.
            .multi_line(true)
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_STATE_BYTES)
            .build()
            .map_err(|_| {
                bad(format!(
                    "The filter stands for too much: compiled it takes more than {MAX_COMPILED_BYTES} bytes. \
                     Repeat less, or write [0-9A-Za-z_] for \\w."
                ))
            })?;
        Ok(Self { regex, words })
    }

    /// What it does with lines, as the end of "lines that …".
    pub fn words(&self) -> &str {
        &self.words
    }

    /// Whether it finds something in captured data, in the form in which that is shown; `store` knows what is not.
    pub fn finds_in(&self, captured: &Untrusted, store: &OutputStore) -> bool {
        let escaped = store.masked(captured.escaped());
        self.finds(escaped.strip_suffix('\n').unwrap_or(&escaped))
    }

    /// Whether it finds something in escaped text.
    pub(super) fn finds(&self, escaped: &str) -> bool {
        self.regex.is_match(escaped)
    }
}

/// The expression in a filter, and whether its letters have no case; none where it is plain text.
fn expression(filter: &str) -> Option<(&str, bool)> {
    let rest = filter.strip_prefix('/')?;
    match rest.strip_suffix("/i") {
        Some(pattern) => Some((pattern, true)),
        None => rest.strip_suffix('/').map(|pattern| (pattern, false)),
    }
}

/// What is wrong with an expression, and at which of its characters, counted from 1.
fn complaint(pattern: &str) -> Option<(String, usize)> {
    use regex_syntax::Error;
    let (why, span) = match regex_syntax::parse(pattern).err()? {
        Error::Parse(error) => (error.kind().to_string(), *error.span()),
        Error::Translate(error) => (error.kind().to_string(), *error.span()),
        other => return Some((other.to_string(), 1)),
    };
    let before = pattern.get(..span.start.offset).unwrap_or(pattern);
    Some((why, before.chars().count() + 1))
}

fn bad(message: String) -> ToolError {
    ToolError::new(Category::InvalidArgument, message).next_step(
        "Write a text to look for as it stands, or a regular expression between slashes: /a|b/, /a|b/i for any case.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Masker;

    fn finds(filter: &str, text: &str) -> bool {
        Filter::new(filter).unwrap().finds(text)
    }

    #[test]
    fn plain_text_is_looked_for_as_it_stands_in_any_case() {
        assert!(finds("NT!nt", "0x1 nt!NtCreateFile"));
        assert!(finds("a.c", "xa.cx") && !finds("a.c", "abc"));
        assert!(finds("(", "f(") && finds("\\x1b", "a\\x1b[0m"));
        // Slashes that do not enclose it are text.
        assert!(finds("/", "a/b") && finds("/dev", "/dev/x") && finds("c/", "a/b/c/"));
    }

    #[test]
    fn between_slashes_it_is_an_expression() {
        assert!(finds("/^a.c$/", "abc") && !finds("/^a.c$/", "ABC"));
        assert!(finds("/^a.c$/i", "ABC"));
        assert!(finds(r"/\/dev\//", "x/dev/y"));
        assert!(finds(r"/проба\w*\.exe/", "C:\\пробаХ.exe"));
    }

    #[test]
    fn captured_data_is_searched_as_it_is_shown_line_by_line() {
        let store = OutputStore::default();
        let finds = |filter, bytes: &[u8]| {
            Filter::new(filter)
                .unwrap()
                .finds_in(&Untrusted::new(bytes), &store)
        };
        assert!(finds("/^b\\\\x1b$/", b"a\nb\x1b\nc\n"));
        assert!(finds("/^$/", b"a\n\nb") && !finds("/^$/", b"a\n"));
        assert!(finds("hunter2", b"is hunter2-hunter2"));
        store.mask(Masker::new(["hunter2-hunter2".to_owned()]));
        assert!(
            !Filter::new("hunter2")
                .unwrap()
                .finds_in(&Untrusted::new(b"is hunter2-hunter2".as_slice()), &store)
        );
    }

    #[test]
    fn what_is_no_filter_is_refused_with_the_place() {
        for (filter, part) in [
            ("/a(b/", "unclosed group, at character 2"),
            ("/ü[z-a]/", "at character 3 of it"),
            ("//", "is empty"),
            ("//i", "is empty"),
            ("", "1 to 200"),
            (r"/\w{200}{9}/", "takes more than"),
            (r"/(((\pL{20}){20}){20})/", "takes more than"),
            ("/a**{1000000000}/", "takes more than"),
        ] {
            let error = Filter::new(filter).expect_err(filter);
            assert_eq!(error.category, Category::InvalidArgument);
            assert!(error.message.contains(part), "{filter}: {}", error.message);
            assert!(!error.message.contains('\n'), "{}", error.message);
        }
        assert!(Filter::new(&"a".repeat(201)).is_err());
        assert!(Filter::new(&format!("/{}/", "(".repeat(198))).is_err());
    }
}
