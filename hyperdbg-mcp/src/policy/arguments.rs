//! Fits the tokens of a command to its forms.

use super::Options;
use super::effects;
use super::tables::{Form, Kind, Repeat};
use super::tokens::{self, Token};
use super::verdict::{Level, NoteKind, Verdict};

/// The longest `sleep` that a session can afford, in milliseconds.
const LONGEST_WAIT_MS: u64 = 10_000;
/// A length from which a dump is more than anyone reads, in bytes.
const LONG_DUMP: u64 = 0x1_0000;

/// What the arguments of a form can do beyond the form itself; none when they do not fit it.
pub(crate) fn fit(form: &Form, arguments: &[Token], options: &Options<'_>) -> Option<Verdict> {
    let mut verdict = Verdict::new(Level::Read, "");
    let mut elements = form.usage.ordered.iter().peekable();
    let mut rest = arguments.iter();
    while let Some(token) = rest.next() {
        let lower = token.lower();
        if let Some((keyword, kind)) = form.usage.options.iter().find(|(keyword, _)| *keyword == lower) {
            let Some(kind) = kind else { continue };
            let value = rest.next()?;
            if !accept(kind, value, options, &mut verdict) {
                return None;
            }
            if keyword == "l" && tokens::number(&value.text).is_some_and(|length| length >= LONG_DUMP) {
                verdict.note(NoteKind::Output, "a range this long prints more than is useful");
            }
            continue;
        }
        loop {
            let element = elements.peek()?;
            if accept(&element.kind, token, options, &mut verdict) {
                if element.repeat != Repeat::Many {
                    elements.next();
                }
                break;
            }
            if element.repeat == Repeat::Once {
                return None;
            }
            elements.next();
        }
    }
    elements
        .all(|element| element.repeat != Repeat::Once)
        .then_some(verdict)
}

/// Takes `token` as an argument of this kind; what evaluating it can do goes into `verdict`.
fn accept(kind: &Kind, token: &Token, options: &Options<'_>, verdict: &mut Verdict) -> bool {
    let text = &token.text;
    match kind {
        Kind::Words(words) => words.contains(&token.lower()),
        Kind::Address => {
            verdict.include(expression(text, options));
            true
        }
        Kind::Object => {
            let fits = is_object(text);
            if fits {
                verdict.include(expression(text, options));
            }
            fits
        }
        Kind::Number => tokens::number(text).is_some(),
        Kind::Wait => tokens::number(text).is_some_and(|wait| wait <= LONGEST_WAIT_MS),
        Kind::Type => is_type(text),
        Kind::Plain => {
            !text.is_empty()
                && text
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        }
        Kind::LocalPath => is_local_path(text),
        Kind::LocalPipe => {
            let pipe = token.lower();
            let name = pipe.strip_prefix("\\\\.\\pipe\\");
            name.is_some_and(|name| is_local_path(name.as_bytes()) && !name.contains(['/', '\\']))
        }
        Kind::Any => true,
    }
}

/// What an argument that HyperDbg evaluates can do: it tries a number, then a symbol, then an expression.
pub(crate) fn expression(text: &[u8], options: &Options<'_>) -> Verdict {
    // A single word has no operator and no call in it, whatever it names.
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_!?$@.:`".contains(byte);
    if tokens::number(text).is_some() || text.iter().all(word) {
        return Verdict::new(Level::Read, "only reads");
    }
    effects::pasted("formats", text, options)
}

/// Whether a text names a type and nothing else: the library hands it on as an argument of a converter, whose options
/// can write files.
fn is_type(text: &[u8]) -> bool {
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_!*?$:~<>@,".contains(byte);
    text.first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || b"_*?".contains(byte))
        && text.iter().all(name)
}

/// A type or an expression; either may become the type's name.
fn is_object(text: &[u8]) -> bool {
    let option =
        |pair: &[u8]| matches!(pair, [b'!', next] if !next.is_ascii_alphanumeric() && !b"_*?".contains(next));
    !text.starts_with(b"-") && !text.windows(2).any(option) && !text.ends_with(b"!")
}

/// Whether a path leads to a file of this machine: no share, device or pipe, which reach further than a file.
fn is_local_path(text: &[u8]) -> bool {
    let Ok(path) = std::str::from_utf8(text) else {
        return false;
    };
    let separator = |byte: u8| byte == b'/' || byte == b'\\';
    let start = match path.as_bytes() {
        [drive, b':', rest @ ..] if drive.is_ascii_alphabetic() => rest,
        rest => rest,
    };
    let rooted = start.first().is_some_and(|byte| separator(*byte));
    let after_root = start.get(usize::from(rooted)).copied().unwrap_or_default();
    if !after_root.is_ascii_alphanumeric() && !b"_.".contains(&after_root) || start.contains(&b':') {
        return false;
    }
    !path.split(['/', '\\']).any(is_device)
}

/// The names that Windows keeps for devices, with any extension.
fn is_device(component: &str) -> bool {
    let name = component
        .split('.')
        .next()
        .unwrap_or_default()
        .trim_end()
        .to_ascii_lowercase();
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|digit| digit.chars().count() == 1)
    };
    matches!(
        name.as_str(),
        "con" | "prn" | "aux" | "nul" | "conin$" | "conout$"
    ) || numbered("com")
        || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_this_machine_are_local() {
        for path in [
            "C:\\Windows\\System32\\ntoskrnl.exe",
            "a.exe",
            "dir\\a.exe",
            "/usr/bin/a",
            "C:a.exe",
        ] {
            assert!(is_local_path(path.as_bytes()), "{path}");
        }
        for path in [
            "\\\\host\\share\\a.exe",
            "//host/share/a",
            "\\/host\\share",
            "/\\host/share",
            "\\\\?\\UNC\\host\\share",
            "\\\\.\\pipe\\x",
            "\\??\\UNC\\host\\a",
            "COM1",
            "C:\\con.exe",
            "C:\\a\\nul",
            "http://host/a",
            "",
            "C:\\a:b",
            "C:\\\\host\\share",
        ] {
            assert!(!is_local_path(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn a_type_cannot_be_an_option_of_the_converter() {
        assert!(is_type(b"nt!_EPROCESS") && is_type(b"*!_PEB"));
        for text in ["-o", "nt!-o", "nt!_X -o f", ""] {
            assert!(!is_type(text.as_bytes()), "{text}");
        }
        assert!(!is_object(b"nt!-o") && is_object(b"nt!_X") && is_object(b"@rcx+10"));
    }
}
