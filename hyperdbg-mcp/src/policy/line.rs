//! The commands that work on the raw line instead of its tokens: `?`, `print`, `.formats`, `r` and `a`.

use super::Options;
use super::arguments::expression;
use super::command::named;
use super::effects;
use super::tables::{Command, Reading};
use super::tokens::{self, Token, TokenKind};
use super::verdict::{Level, Verdict};

/// Commands that evaluate what stands after their word.
pub(crate) fn evaluate(
    command: &Command,
    text: &[u8],
    first: &Token,
    arguments: &[Token],
    options: &Options<'_>,
) -> Verdict {
    let id = command.forms.first().map_or("", |form| form.id.as_str());
    let mut verdict = named(command, id, options);
    if arguments.is_empty() {
        verdict.reason = "prints how it is used".to_owned();
        return verdict;
    }
    // The library cuts as many bytes off the line as the word has, whatever stands there.
    let line = tokens::trim(text);
    let plain = first.kind == TokenKind::Plain && line.starts_with(&first.text);
    let rest = tokens::trim(line.get(first.text.len()..).unwrap_or_default());
    if !plain {
        verdict.raise(
            Level::Destructive,
            "the command word is not written plainly, so another text is evaluated",
        );
    }
    let part = match command.reading {
        Reading::Eval if rest == b"test" || arguments.iter().all(|token| token.text == b"test") => {
            Verdict::new(
                Level::Destructive,
                "runs the statements of the engine's test files",
            )
        }
        Reading::Eval => effects::script(rest, options),
        Reading::Print => effects::pasted("print", rest, options),
        _ => effects::pasted("formats", rest, options),
    };
    if part.level == Level::Read {
        verdict.reason.clone_from(&part.reason);
    }
    verdict.include(part);
    verdict
}

/// `r`: shows without `=`, writes with it.
pub(crate) fn register(
    command: &Command,
    text: &[u8],
    arguments: &[Token],
    options: &Options<'_>,
) -> Verdict {
    let in_tokens = arguments.iter().any(|token| token.text.contains(&b'='));
    // In the raw line a comment before the sign spoils the register's name, and nothing is written.
    let sign = text.iter().position(|byte| *byte == b'=');
    let in_line = sign.is_some_and(|sign| !text.get(..sign).unwrap_or_default().contains(&b'/'));
    if !in_tokens && !in_line {
        return named(command, "registers.show", options);
    }
    let mut verdict = named(command, "registers.write", options);
    if let Some(value) = sign.and_then(|sign| text.get(sign + 1..)) {
        let mut statement = b"@rax=".to_vec();
        statement.extend_from_slice(value);
        statement.extend_from_slice(b"; ");
        verdict.include(effects::script(&statement, options));
    }
    verdict
}

/// `a` and its spellings: the library cuts the raw line at white space and takes each `{…}` up to its first `}`.
pub(crate) fn assemble(command: &Command, text: &[u8], options: &Options<'_>) -> Verdict {
    let Some(parts) = assemble_parts(text) else {
        return Verdict::new(
            Level::Never,
            "a brace of the instructions is not closed: the library loops without end",
        );
    };
    let part = |at: usize| parts.get(at).map_or(&[][..], Vec::as_slice);
    let (address, snippet, start) = (part(1), part(2), part(3));
    let is_pid = |part: &Vec<u8>| part.windows(3).any(|window| window == b"pid");
    let view = address.is_empty() && start.is_empty() && parts.len() <= 3 && !parts.iter().any(is_pid);
    let mut verdict = named(
        command,
        if view { "assemble.view" } else { "assemble.write" },
        options,
    );
    for place in [address, start] {
        verdict.include(expression(place, options));
    }
    if parts.len() > 2 {
        verdict.include(instructions(snippet, options));
    }
    verdict
}

fn assemble_parts(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut rest = text;
    loop {
        let start = rest
            .iter()
            .position(|byte| !tokens::is_space(*byte))
            .unwrap_or(rest.len());
        rest = rest.get(start..).unwrap_or_default();
        if rest.is_empty() {
            return Some(parts);
        }
        if let Some(inside) = rest.strip_prefix(b"{") {
            let close = inside.iter().position(|byte| *byte == b'}')?;
            if parts.len() < 2 {
                parts.push(Vec::new());
            }
            parts.push(inside.get(..close).unwrap_or_default().to_vec());
            rest = inside.get(close + 1..).unwrap_or_default();
        } else {
            let end = rest
                .iter()
                .position(|byte| tokens::is_space(*byte))
                .unwrap_or(rest.len());
            parts.push(rest.get(..end).unwrap_or_default().to_vec());
            rest = rest.get(end..).unwrap_or_default();
        }
    }
}

/// What assembling a snippet can do, without writing the result anywhere.
pub(crate) fn instructions(snippet: &[u8], options: &Options<'_>) -> Verdict {
    let mut verdict = Verdict::new(Level::Read, "shows the bytes of instructions");
    let snippet: Vec<u8> = snippet.iter().copied().filter(|byte| *byte != b'\n').collect();
    let empty = snippet
        .split(|byte| *byte == b';')
        .all(|statement| statement.iter().all(|byte| *byte == b' '));
    if empty {
        verdict.raise(
            Level::Never,
            "there is no instruction to assemble, which ends the library's process",
        );
    }
    // Directives begin with a dot and can read files of this machine.
    if snippet.contains(&b'.') {
        verdict.raise(
            Level::Destructive,
            "holds an assembler directive, which can read a file of this machine",
        );
    }
    let mut rest = snippet.as_slice();
    while let Some(open) = rest.iter().position(|byte| *byte == b'<') {
        let inside = rest.get(open + 1..).unwrap_or_default();
        let Some(close) = inside.iter().position(|byte| *byte == b'>') else {
            break;
        };
        verdict.include(expression(inside.get(..close).unwrap_or_default(), options));
        rest = inside.get(close + 1..).unwrap_or_default();
    }
    verdict
}
