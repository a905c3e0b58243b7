//! `.script`: a file of commands, read and classified line by line as the library will run it.

use super::command::{self, Origin};
use super::tables::Command;
use super::tokens::{self, Token};
use super::verdict::{Level, NoteKind, Verdict};
use super::{Kind, Options, malformed};

/// The longest file that is followed, in bytes.
const LARGEST_FILE: usize = 256 * 1024;

/// What running a file of commands can do.
pub(crate) fn run(command: &Command, arguments: &[Token], options: &Options<'_>, origin: Origin) -> Verdict {
    let Some(path) = arguments.first() else {
        return Verdict::new(Level::Read, "prints how it is used").form("script");
    };
    if origin == Origin::File {
        return Verdict::new(
            Level::Never,
            "runs another file from inside a file; name that file by itself",
        )
        .form("script");
    }
    let Some(read_file) = options.read_file else {
        return Verdict::new(
            Level::Never,
            "runs a file of commands that was not read; send its commands one by one",
        )
        .form("script");
    };
    let name: String = String::from_utf8_lossy(&path.text).replace('"', "");
    let content = match read_file(&name) {
        Ok(content) => content,
        Err(why) => {
            return Verdict::new(
                Level::Never,
                format!("runs a file of commands that cannot be read: {why}"),
            )
            .form("script");
        }
    };
    if content.len() > LARGEST_FILE || content.contains(&0) {
        let reason = "runs a file that is too large or no text; send its commands one by one";
        return Verdict::new(Level::Never, reason).form("script");
    }
    let mut verdict = command::named(command, "script", options);
    for (at, text) in lines(&content) {
        let text = substitute(text, arguments);
        if text.iter().all(|byte| tokens::is_space(*byte)) {
            continue;
        }
        let mut part = match malformed(Kind::Command, &text) {
            Some(refusal) => refusal,
            None => command::classify(&text, options, Origin::File),
        };
        if !text.is_ascii() {
            part.raise(Level::Destructive, "holds bytes that are not ASCII");
        }
        if part.level > Level::Read {
            part.reason = format!("line {at}: {}", part.reason);
        }
        verdict.include(part);
    }
    verdict.note(
        NoteKind::Also,
        "the file must not change between this look at it and its run",
    );
    verdict
}

/// The commands of a file with the number of the line in which each ends: a line is continued while a quote or a brace
/// is open, as the library counts them.
fn lines(content: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let mut commands = Vec::new();
    let mut pending: Vec<u8> = Vec::new();
    let mut open = Open::default();
    let all: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
    for (at, line) in all.iter().enumerate() {
        open.read(line);
        pending.extend_from_slice(line);
        if open.quoted || open.braces > 0 {
            pending.push(b'\n');
            continue;
        }
        commands.push((at + 1, std::mem::take(&mut pending)));
        open = Open::default();
    }
    if !pending.is_empty() {
        commands.push((all.len(), pending));
    }
    commands
}

#[derive(Default)]
struct Open {
    quoted: bool,
    escaped: bool,
    braces: usize,
}

impl Open {
    fn read(&mut self, line: &[u8]) {
        for byte in line {
            let escaped = std::mem::take(&mut self.escaped);
            match byte {
                b'"' if !escaped => self.quoted = !self.quoted,
                b'{' if !self.quoted => self.braces += 1,
                b'}' if !self.quoted => self.braces = self.braces.saturating_sub(1),
                b'\\' => self.escaped = !escaped,
                _ => {}
            }
        }
    }
}

/// Puts the arguments in the place of `$arg0`, `$arg1`, …, in that order: `$arg0` is the file's own name.
fn substitute(text: Vec<u8>, arguments: &[Token]) -> Vec<u8> {
    let mut text = text;
    for (at, argument) in arguments.iter().enumerate() {
        if text.len() > Kind::Command.limit_bytes() {
            break;
        }
        let name = format!("$arg{at}").into_bytes();
        let mut replaced = Vec::with_capacity(text.len());
        let mut rest = text.as_slice();
        while let Some(found) = rest.windows(name.len()).position(|window| window == name) {
            replaced.extend_from_slice(rest.get(..found).unwrap_or_default());
            replaced.extend_from_slice(&argument.text);
            rest = rest.get(found + name.len()..).unwrap_or_default();
        }
        replaced.extend_from_slice(rest);
        text = replaced;
    }
    text
}
