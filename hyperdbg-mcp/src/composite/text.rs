//! What commands, expressions and scripts must be before the library sees them: some forms end its process.

use crate::tool::{Category, ToolError};

/// Bytes of a command line or expression; a longer unknown word would be echoed into a buffer that is too small.
pub(super) const MAX_COMMAND_BYTES: usize = 2_000;
/// Bytes of a script.
pub(super) const MAX_SCRIPT_BYTES: usize = 16_384;

/// What a text is, for its rules and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Command,
    Expression,
    Script,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Expression => "expression",
            Self::Script => "script",
        }
    }

    fn max_bytes(self) -> usize {
        match self {
            Self::Command | Self::Expression => MAX_COMMAND_BYTES,
            Self::Script => MAX_SCRIPT_BYTES,
        }
    }
}

/// Refuses what the library must not get.
pub(super) fn check(kind: Kind, text: &str) -> Result<(), ToolError> {
    let name = kind.name();
    let bad =
        |problem: String, step: &str| Err(ToolError::new(Category::InvalidArgument, problem).next_step(step));
    if text.trim().is_empty() {
        return bad(format!("The {name} is empty."), "Write what is to be done.");
    }
    if text.len() > kind.max_bytes() {
        return bad(
            format!(
                "The {name} has {} bytes; HyperDbg takes {} safely.",
                text.len(),
                kind.max_bytes()
            ),
            "Shorten it, or split it.",
        );
    }
    let allowed = |ch: char| (' '..='~').contains(&ch) || matches!(ch, '\n' | '\t');
    if let Some((at, ch)) = text.char_indices().find(|(_, ch)| !allowed(*ch)) {
        return bad(
            format!(
                "The {name} holds the character U+{:04X} at byte {at}; HyperDbg takes plain ASCII only.",
                u32::from(ch)
            ),
            "Write it with ASCII characters only.",
        );
    }
    if kind == Kind::Command && text.trim_end().contains('\n') {
        return bad(
            "The command has several lines; a newline does not separate words or commands in HyperDbg."
                .to_owned(),
            "Send one command at a time, on one line.",
        );
    }
    if let Err(problem) = balance(text) {
        return bad(
            format!("The {name} {problem}."),
            "Close what is open, and call again.",
        );
    }
    if kind == Kind::Command {
        return refuse_process_enders(text);
    }
    Ok(())
}

/// Whether quotes, braces and comments close. HyperDbg does not say so when they do not, and loops or goes on as if
/// they did.
fn balance(text: &str) -> Result<(), String> {
    let bytes = text.as_bytes();
    let mut depth = 0_u32;
    let mut parentheses = 0_i32;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' | b'\'' if *byte == b'"' || is_character(&bytes[at..]) => match quote_end(bytes, at) {
                Some(end) => at = end,
                None => return Err("has a quote that is not closed".to_owned()),
            },
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = bytes[at..]
                    .iter()
                    .position(|byte| *byte == b'\n')
                    .map_or(bytes.len(), |end| at + end);
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => match find(&bytes[at + 2..], b"*/") {
                Some(end) => at += end + 3,
                None => return Err("has a comment that is not closed".to_owned()),
            },
            b'{' => depth += 1,
            b'}' if depth == 0 => return Err("closes a brace that is not open".to_owned()),
            b'}' => depth -= 1,
            b'(' => parentheses += 1,
            b')' => parentheses -= 1,
            _ => {}
        }
        if parentheses < 0 {
            return Err("closes a parenthesis that is not open".to_owned());
        }
        at += 1;
    }
    match (depth, parentheses) {
        (0, 0) => Ok(()),
        (0, _) => Err("has a parenthesis that is not closed".to_owned()),
        _ => Err("has a brace that is not closed".to_owned()),
    }
}

/// Whether a single quote begins a character literal, not an apostrophe in a word.
fn is_character(bytes: &[u8]) -> bool {
    matches!(bytes, [b'\'', b'\\', _, b'\'', ..]) || matches!(bytes, [b'\'', _, b'\'', ..])
}

fn quote_end(bytes: &[u8], start: usize) -> Option<usize> {
    let quote = bytes[start];
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            _ if *byte == quote => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// The first word of a command as HyperDbg looks it up.
pub(crate) fn first_word(command: &str) -> String {
    // A comment inside a word is removed and the halves join.
    let mut plain = command.to_owned();
    while let Some(start) = plain.find("/*") {
        let end = plain[start..]
            .find("*/")
            .map_or(plain.len(), |end| start + end + 2);
        plain.replace_range(start..end, "");
    }
    let rest = plain.trim();
    // A quoted or braced word is still looked up.
    let (rest, ends): (&str, &[char]) = match rest.strip_prefix(['"', '{']) {
        Some(inner) => (inner.trim_start(), &[' ', '\t', '"', '}']),
        None => (rest, &[' ', '\t', '\n']),
    };
    let word = rest.split(ends).next().unwrap_or_default();
    word.split("//").next().unwrap_or_default().to_ascii_lowercase()
}

/// Words that end the library's process, take over its output, or open this machine to the network.
const NEVER: [(&str, &str); 9] = [
    ("exit", "ends the debugger's process"),
    (".exit", "ends the debugger's process"),
    ("cls", "runs a shell command in the debugger's process"),
    (".cls", "runs a shell command in the debugger's process"),
    ("clear", "runs a shell command in the debugger's process"),
    (".clear", "runs a shell command in the debugger's process"),
    (
        ".listen",
        "lets anyone on the network run commands on this machine",
    ),
    (
        "listen",
        "lets anyone on the network run commands on this machine",
    ),
    (".script", "runs a file whose commands have not been looked at"),
];

fn refuse_process_enders(command: &str) -> Result<(), ToolError> {
    let word = first_word(command);
    if let Some((word, why)) = NEVER.iter().find(|(name, _)| *name == word) {
        let step = match *word {
            "exit" | ".exit" => "Close the session instead.",
            ".script" => "Send its commands one by one.",
            _ => "Leave it out; nothing here needs it.",
        };
        return Err(ToolError::new(
            Category::PolicyDenied,
            format!("`{word}` is never sent: it {why}."),
        )
        .next_step(step));
    }
    let words: Vec<&str> = command.split_ascii_whitespace().collect();
    let needs_more = match words.as_slice() {
        [first, second] => {
            let (first, second) = (first.to_ascii_lowercase(), second.to_ascii_lowercase());
            (matches!(first.as_str(), ".switch" | "switch") && matches!(second.as_str(), "pid" | "tid"))
                || (first == "!hw" && second == "script")
        }
        _ => false,
    };
    let empty_path = words
        .first()
        .is_some_and(|word| matches!(word.to_ascii_lowercase().as_str(), ".sympath" | "sympath"))
        && words.get(1) == Some(&"\"\"");
    let assembles = matches!(word.as_str(), "a" | "!a");
    if needs_more || empty_path || (assembles && has_empty_block(command)) {
        return Err(ToolError::new(
            Category::InvalidArgument,
            "HyperDbg ends its process on this command without its last argument.",
        )
        .next_step("Give the argument that is missing."));
    }
    Ok(())
}

fn has_empty_block(command: &str) -> bool {
    command.split_once('{').is_none_or(|(_, block)| {
        let block = block.rsplit_once('}').map_or(block, |(block, _)| block);
        block.chars().all(|ch| ch.is_ascii_whitespace() || ch == ';')
    })
}

/// Numbers that read as decimal and are hexadecimal to HyperDbg.
pub(super) fn bare_numbers(text: &str) -> Vec<&str> {
    text.split(|ch: char| {
        !(ch.is_ascii_alphanumeric() || matches!(ch, '_' | '`' | '.' | '!' | '@' | '$' | '%'))
    })
    .filter(|word| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_digit()))
    .collect()
}

/// The note about them, where there are any.
pub(super) fn radix_note(text: &str) -> Option<String> {
    let numbers = bare_numbers(text);
    let first = numbers.first()?;
    Some(format!(
        "HyperDbg reads bare digits as hexadecimal: `{first}` was taken as 0x{first}. Write 0x… for hexadecimal or 0n… for decimal."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn category(kind: Kind, text: &str) -> Option<Category> {
        check(kind, text).err().map(|error| error.category)
    }

    #[test]
    fn what_the_library_cannot_take_is_refused() {
        let bad = Some(Category::InvalidArgument);
        for text in [
            "",
            "  ",
            "lm\0",
            "l\u{fc}",
            "print(1",
            "{",
            "}",
            "eval \"x",
            "a { nop",
            "? /* open",
            ")(",
            ".switch pid",
            "!HW script",
            ".sympath \"\"",
            "a 0x1000 { ; }",
            "a 0x1000",
            "lm\nbl",
        ] {
            assert_eq!(category(Kind::Command, text), bad, "{text:?}");
        }
        assert_eq!(category(Kind::Command, &"x".repeat(2_001)), bad);
        assert_eq!(category(Kind::Expression, "\x1b"), bad);
        assert_eq!(category(Kind::Script, &"x".repeat(16_385)), bad);
    }

    #[test]
    fn what_ends_or_opens_the_process_is_never_sent() {
        for text in [
            "exit",
            " EXIT ",
            ".exit",
            "cls",
            ".cls",
            "clear",
            ".listen 50000",
            "\"exit\"",
            "{exit}",
            "ex/* */it",
            "exit//x",
            "/* x */ exit",
            ".script c:\\x.ds",
            "exit // now",
        ] {
            assert_eq!(
                category(Kind::Command, text),
                Some(Category::PolicyDenied),
                "{text:?}"
            );
        }
    }

    #[test]
    fn plain_commands_pass() {
        for text in [
            "lm",
            "db 0x1000 l 0x20",
            "u nt!NtCreateFile",
            "? print(@rax);",
            "bl",
            "k",
            ".help exit",
            "? printf(\"}{)\\n\");",
            "!epthook nt!x script { if (@rax == 0x0) { printf(\"a\\\"b\"); } }",
            ".switch pid 0x10",
            "a 0x1000 { nop }",
            "eval 'a'",
        ] {
            assert_eq!(category(Kind::Command, text), None, "{text:?}");
        }
        assert_eq!(
            category(Kind::Script, "x = 1;\nprintf(\"%d\", x); // note }\n"),
            None
        );
    }

    #[test]
    fn numbers_that_read_as_decimal_are_noted() {
        assert_eq!(
            bare_numbers("db 1000 l 20 0x30 0n40 5 nt!x10 @r10 fffff80012"),
            ["1000", "20"]
        );
        assert!(
            radix_note("db 1000")
                .unwrap()
                .contains("`1000` was taken as 0x1000")
        );
        assert_eq!(radix_note("db 0x1000"), None);
    }
}
