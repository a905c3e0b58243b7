//! What a HyperDbg checkout says of its commands and of its script language.
//!
//! The interpreter fills its table with one assignment for each spelling; the script language is generated from a
//! grammar whose first part lists functions, registers and types by arity. Both are plain enough to be read as text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::diagnostic::{Diagnostic, Span};

/// A checkout cannot be read, or is none.
pub(super) const NOT_A_CHECKOUT: &str = "DIF001";
/// A file of the checkout does not have the form that is known.
pub(super) const OTHER_FORM: &str = "DIF002";

/// Largest source file that is read.
const MAX_BYTES: u64 = 8 << 20;
/// Deepest chain of macros in an attribute.
const MAX_DEPTH: usize = 16;

/// Folders of the user-mode library, newest name first.
const LIBRARIES: [&str; 2] = ["libhyperdbg", "hprdbgctrl"];
const TABLE: &str = "code/debugger/core/interpreter.cpp";
const ATTRIBUTES: &str = "header/debugger/commands/commands.h";
const GRAMMAR: &str = "script-engine/python/Grammar.txt";

/// Flag: in debugger mode the command runs here, and is not sent to the debuggee.
const LOCAL: &str = "DEBUGGER_COMMAND_ATTRIBUTE_LOCAL_COMMAND_IN_DEBUGGER_MODE";
/// Flag: after the command the debuggee runs on.
const RESUMES: &str = "DEBUGGER_COMMAND_ATTRIBUTE_WONT_STOP_DEBUGGER_AGAIN";

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// One spelling of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) spelling: String,
    /// The function that runs it: equal for the spellings of one command.
    pub(super) handler: String,
    /// Whether the debuggee gets it in debugger mode.
    pub(super) forwarded: bool,
    /// Whether the debuggee runs on after it.
    pub(super) resumes: bool,
    /// `file:line` of the assignment.
    pub(super) origin: String,
}

/// What the script language knows by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Script {
    /// Functions with the `file:line` of their line.
    pub(super) functions: BTreeMap<String, String>,
    pub(super) registers: BTreeMap<String, String>,
    pub(super) pseudo_registers: BTreeMap<String, String>,
    pub(super) types: BTreeMap<String, String>,
}

/// Reads one file below `folder` or below its folder `hyperdbg`.
fn open(folder: &Path, candidates: &[String]) -> Result<(String, String)> {
    for base in ["", "hyperdbg/"] {
        for candidate in candidates {
            let shown = format!("{base}{candidate}");
            let path = folder.join(&shown);
            let Ok(data) = fs::metadata(&path) else { continue };
            if data.len() > MAX_BYTES {
                return Err(Box::new(
                    Diagnostic::error(OTHER_FORM, format!("`{shown}` has {} bytes", data.len()))
                        .help("check that the folder is a checkout of HyperDbg"),
                ));
            }
            return match fs::read(&path) {
                Ok(bytes) => Ok((shown, String::from_utf8_lossy(&bytes).into_owned())),
                Err(error) => Err(Box::new(
                    Diagnostic::error(NOT_A_CHECKOUT, format!("`{shown}` cannot be read: {error}"))
                        .help("check the permissions of the folder"),
                )),
            };
        }
    }
    Err(Box::new(
        Diagnostic::error(
            NOT_A_CHECKOUT,
            format!("there is no `{}` in `{}`", candidates[0], folder.display()),
        )
        .help("name the folder of a HyperDbg checkout, the one that holds `hyperdbg`"),
    ))
}

/// The interpreter's commands in the order of its table.
pub(super) fn commands(folder: &Path) -> Result<Vec<Command>> {
    let at = |file: &str| LIBRARIES.map(|library| format!("{library}/{file}"));
    let (table_name, table) = open(folder, &at(TABLE))?;
    let (header_name, header) = open(folder, &at(ATTRIBUTES))?;
    let flags = Flags::read(&header_name, &header)?;
    let code = without_comments(&table);
    let mut found = Vec::new();
    for (offset, _) in code.match_indices("CommandsList[\"") {
        let other = |what: &str| {
            Box::new(
                Diagnostic::error(OTHER_FORM, format!("the command table {what}"))
                    .at(Span::of(&table_name, &table, offset, "CommandsList[".len()))
                    .help("the reader of the interpreter's table has to learn this form"),
            )
        };
        let rest = &code[offset + "CommandsList[\"".len()..];
        let Some((spelling, rest)) = rest.split_once("\"]") else {
            return Err(other("has an entry without an end"));
        };
        // Uses of the table are no entries.
        let Some(rest) = rest.trim_start().strip_prefix('=') else {
            continue;
        };
        let entry = rest
            .trim_start()
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'));
        let Some((entry, _)) = entry else {
            return Err(other("has an entry that is no list"));
        };
        let parts: Vec<&str> = entry.split(',').map(str::trim).collect();
        let [handler, help, attributes] = parts[..] else {
            return Err(other(
                "has an entry that is not made of handler, help and attributes",
            ));
        };
        let Some(value) = flags.value(attributes, 0) else {
            return Err(other(&format!(
                "uses the attributes `{attributes}`, which have no known value"
            )));
        };
        // Only the help of `help` itself has no handler.
        let handler = if handler == "NULL" { help } else { handler };
        let line = table[..offset].matches('\n').count() + 1;
        // A spelling that is filled twice keeps what came last, as in C++.
        found.retain(|command: &Command| command.spelling != spelling);
        found.push(Command {
            spelling: spelling.to_owned(),
            handler: handler.trim_start_matches('&').to_owned(),
            forwarded: value & flags.local == 0,
            resumes: value & flags.resumes != 0,
            origin: format!("{table_name}:{line}"),
        });
    }
    if found.is_empty() {
        return Err(Box::new(
            Diagnostic::error(OTHER_FORM, format!("`{table_name}` fills no command table"))
                .help("the reader of the interpreter's table has to learn where it is now"),
        ));
    }
    Ok(found)
}

/// The macros that attributes are made of.
struct Flags {
    macros: BTreeMap<String, String>,
    local: u64,
    resumes: u64,
}

impl Flags {
    fn read(name: &str, header: &str) -> Result<Self> {
        let joined = without_comments(header)
            .replace("\r\n", "\n")
            .replace("\\\n", " ");
        let mut macros = BTreeMap::new();
        for line in joined.lines() {
            let Some(rest) = line.trim_start().strip_prefix("#define") else {
                continue;
            };
            if let Some((name, value)) = rest.trim().split_once(char::is_whitespace) {
                macros.insert(name.to_owned(), value.trim().to_owned());
            }
        }
        let mut flags = Self {
            macros,
            local: 0,
            resumes: 0,
        };
        let need = |flag: &str| {
            flags.value(flag, 0).filter(|value| *value != 0).ok_or_else(|| {
                Box::new(
                    Diagnostic::error(OTHER_FORM, format!("`{name}` does not define `{flag}`"))
                        .help("the reader of the command attributes has to learn their new names"),
                )
            })
        };
        let (local, resumes) = (need(LOCAL)?, need(RESUMES)?);
        flags.local = local;
        flags.resumes = resumes;
        Ok(flags)
    }

    /// The value of flags joined by `|`.
    fn value(&self, text: &str, depth: usize) -> Option<u64> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut value = 0;
        for part in text.split('|') {
            let part = part.trim().trim_start_matches('(').trim_end_matches(')').trim();
            value |= match part {
                "NULL" => 0,
                _ => match self.macros.get(part) {
                    Some(meaning) => self.value(meaning, depth + 1)?,
                    None => match part.strip_prefix("0x") {
                        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
                        None => part.parse().ok()?,
                    },
                },
            };
        }
        Some(value)
    }
}

/// The text with comments turned into spaces, so that offsets and lines stay.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let blank = |c: char, out: &mut String| {
        if c == '\n' {
            out.push('\n');
        } else {
            out.extend(std::iter::repeat_n(' ', c.len_utf8()));
        }
    };
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('"' | '\'', _) => {
                out.push(c);
                while let Some(next) = chars.next() {
                    out.push(next);
                    if next == '\\' {
                        out.extend(chars.next());
                    } else if next == c || next == '\n' {
                        break;
                    }
                }
            }
            ('/', Some('/')) => {
                blank(c, &mut out);
                while let Some(next) = chars.next_if(|next| *next != '\n') {
                    blank(next, &mut out);
                }
            }
            ('/', Some('*')) => {
                blank(c, &mut out);
                let mut last = ' ';
                chars.next();
                out.push(' ');
                for next in chars.by_ref() {
                    blank(next, &mut out);
                    if last == '*' && next == '/' {
                        break;
                    }
                    last = next;
                }
            }
            _ => out.push(c),
        }
    }
    out
}

/// What the script language knows by name.
pub(super) fn script(folder: &Path) -> Result<Script> {
    let (name, text) = open(folder, &[GRAMMAR.to_owned()])?;
    let mut script = Script::default();
    for (number, line) in text.lines().enumerate() {
        let Some((set, words)) = line.strip_prefix('.').and_then(|line| line.split_once("->")) else {
            continue;
        };
        let set = match set {
            "Registers" => &mut script.registers,
            "PseudoRegisters" => &mut script.pseudo_registers,
            "ScriptVariableType" => &mut script.types,
            _ if is_functions(set) => &mut script.functions,
            _ => continue,
        };
        let origin = format!("{name}:{}", number + 1);
        set.extend(
            words
                .split_whitespace()
                .map(|word| (word.to_owned(), origin.clone())),
        );
    }
    if script.functions.is_empty() {
        return Err(Box::new(
            Diagnostic::error(OTHER_FORM, format!("`{name}` lists no functions"))
                .help("the reader of the script grammar has to learn where they are now"),
        ));
    }
    Ok(script)
}

/// `OneOpFunc1`, `ZeroOpFunc2`, `VarArgFunc1`.
fn is_functions(set: &str) -> bool {
    let stem = set.trim_end_matches(|c: char| c.is_ascii_digit());
    stem.len() < set.len() && (stem.ends_with("OpFunc") || stem == "VarArgFunc")
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_become_spaces_of_the_same_length() {
        let text = "a /* ü\n */ b // c\n\"// no\" '/*'";
        let plain = without_comments(text);
        assert_eq!(plain.len(), text.len());
        assert_eq!(plain, "a      \n    b     \n\"// no\" '/*'");
    }
}
