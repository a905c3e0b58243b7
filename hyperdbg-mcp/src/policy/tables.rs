//! The facts that classification rests on: `api/commands.json` and `api/script.json`, parsed once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use super::verdict::Level;

/// The commands of one handler.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Command {
    pub(crate) names: Vec<String>,
    /// What it is for, in a few words.
    pub(crate) does: String,
    /// Which reader its arguments need.
    #[serde(default)]
    pub(crate) reading: Reading,
    /// In debugger mode the debuggee's own HyperDbg runs it: the guest runs for a moment.
    #[serde(default)]
    pub(crate) forwarded: bool,
    /// It converts digits in a way that ends its process when they do not fit 32 bits.
    #[serde(default)]
    pub(crate) decimal: bool,
    /// In debugger mode it is forwarded and the guest stays running.
    #[serde(default)]
    pub(crate) resumes: bool,
    pub(crate) forms: Vec<Form>,
    /// The tier of whatever fits no form.
    pub(crate) otherwise: Level,
}

/// How a command reads its line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reading {
    /// The tokens, by its forms.
    #[default]
    Tokens,
    /// The raw line as statements.
    Eval,
    /// The raw line inside `print(…);`.
    Print,
    /// The raw line inside `formats(…);`.
    Formats,
    /// The raw line, split at `=`.
    Register,
    /// The raw line, split at blanks and braces.
    Assemble,
    /// A file of commands.
    Script,
    /// The fields of an event.
    Event,
    /// The fields of an event, of which a script is not optional.
    HwClock,
}

/// One way to use a command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Form {
    pub(crate) id: String,
    pub(crate) usage: Usage,
    pub(crate) tier: Level,
    pub(crate) why: String,
    /// An operator may allow it although it is never sent by default.
    #[serde(default)]
    pub(crate) allowable: bool,
    /// It can wait without a limit.
    #[serde(default)]
    pub(crate) waits: bool,
}

impl Form {
    /// Whether one of its arguments is evaluated as an expression.
    pub(crate) fn evaluates(&self) -> bool {
        let ordered = self.usage.ordered.iter().map(|element| &element.kind);
        let options = self.usage.options.iter().filter_map(|(_, kind)| kind.as_ref());
        ordered
            .chain(options)
            .any(|kind| matches!(kind, Kind::Address | Kind::Object))
    }
}

/// The arguments of a form.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Usage {
    /// In this order.
    pub(crate) ordered: Vec<Element>,
    /// Anywhere: a keyword, and what follows it.
    pub(crate) options: Vec<(String, Option<Kind>)>,
}

/// One place in a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) kind: Kind,
    pub(crate) repeat: Repeat,
}

/// How often an element may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    Once,
    Optional,
    Many,
}

/// What an argument is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One of these words, in any case.
    Words(Vec<String>),
    /// Evaluated as an expression.
    Address,
    /// A type's name or an expression, evaluated all the same.
    Object,
    /// A number, never evaluated.
    Number,
    /// A number of milliseconds that a session can afford to wait.
    Wait,
    /// A type's name, never evaluated.
    Type,
    /// Letters, digits and underscores.
    Plain,
    /// A file of this machine.
    LocalPath,
    /// A named pipe of this machine.
    LocalPipe,
    /// Anything; never evaluated.
    Any,
}

impl TryFrom<String> for Usage {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut usage = Usage {
            ordered: Vec::new(),
            options: Vec::new(),
        };
        let mut rest = text.trim();
        while !rest.is_empty() {
            if let Some(option) = rest.strip_prefix('[') {
                let (inside, after) = option.split_once(']').ok_or("a bracket is not closed")?;
                let mut words = inside.split_whitespace();
                let keyword = words.next().ok_or("an option without a word")?;
                let kind = words
                    .next()
                    .map(|word| element(word).map(|element| element.kind))
                    .transpose()?;
                usage.options.push((keyword.to_owned(), kind));
                rest = after.trim_start();
            } else {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                usage.ordered.push(element(word)?);
                rest = after.trim_start();
            }
        }
        Ok(usage)
    }
}

fn element(text: &str) -> Result<Element, String> {
    let (text, repeat) = match (text.strip_suffix('?'), text.strip_suffix("..")) {
        (Some(text), _) => (text, Repeat::Optional),
        (None, Some(text)) => (text, Repeat::Many),
        (None, None) => (text, Repeat::Once),
    };
    let kind = match text.strip_prefix('<').and_then(|text| text.strip_suffix('>')) {
        None => Kind::Words(text.split('|').map(str::to_owned).collect()),
        Some("address") => Kind::Address,
        Some("object") => Kind::Object,
        Some("number") => Kind::Number,
        Some("wait") => Kind::Wait,
        Some("type") => Kind::Type,
        Some("plain") => Kind::Plain,
        Some("local-path") => Kind::LocalPath,
        Some("local-pipe") => Kind::LocalPipe,
        Some("any") => Kind::Any,
        Some(other) => return Err(format!("no kind of argument is called `{other}`")),
    };
    Ok(Element { kind, repeat })
}

/// What a function of the script language does besides its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Effect {
    /// Reads memory at an address that a script gives.
    Dereference,
    /// Writes memory.
    Write,
    /// Prints.
    Print,
    /// Makes the core wait.
    Stall,
}

/// A function of the script language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Function {
    /// How many arguments it takes; any number when absent.
    pub(crate) arguments: Option<usize>,
    pub(crate) tier: Level,
    pub(crate) effects: Vec<Effect>,
    pub(crate) why: String,
}

/// The names of the script language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    #[serde(rename = "$schema")]
    _schema: String,
    pub(crate) functions: BTreeMap<String, Function>,
    pub(crate) keywords: BTreeSet<String>,
    pub(crate) types: BTreeSet<String>,
    pub(crate) registers: Vec<String>,
    pub(crate) pseudo_registers: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandFile {
    #[serde(rename = "$schema")]
    _schema: String,
    commands: Vec<Command>,
}

/// The commands, by every spelling.
pub(crate) struct Commands {
    commands: Vec<Command>,
    by_name: HashMap<String, usize>,
}

impl Commands {
    /// The command that a lower-case first word runs.
    pub(crate) fn get(&self, word: &str) -> Option<&Command> {
        self.commands.get(*self.by_name.get(word)?)
    }

    /// All of them, in the file's order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter()
    }
}

// The files are part of the program, and a test reads both: they parse wherever that test ran.
#[expect(
    clippy::expect_used,
    reason = "embedded files, held by `the_tables_are_well_formed`"
)]
static COMMANDS: LazyLock<Commands> = LazyLock::new(|| {
    let file: CommandFile =
        serde_json::from_str(include_str!("../../../api/commands.json")).expect("api/commands.json");
    let mut by_name = HashMap::new();
    for (at, command) in file.commands.iter().enumerate() {
        for name in &command.names {
            by_name.insert(name.clone(), at);
        }
    }
    Commands {
        commands: file.commands,
        by_name,
    }
});

#[expect(
    clippy::expect_used,
    reason = "embedded files, held by `the_tables_are_well_formed`"
)]
static SCRIPT: LazyLock<Script> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../api/script.json")).expect("api/script.json")
});

/// The command table.
pub(crate) fn commands() -> &'static Commands {
    &COMMANDS
}

/// The script language's table.
pub(crate) fn script() -> &'static Script {
    &SCRIPT
}

/// Whether a name is a pin or port of a hardware debugger, which the script engine treats as a register.
pub(crate) fn is_hardware_name(name: &str) -> bool {
    name.starts_with("hw_pin") || name.starts_with("hw_port")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_well_formed() {
        let mut names = BTreeSet::new();
        for command in commands().iter() {
            assert!(
                !command.does.is_empty() && !command.forms.is_empty(),
                "{:?}",
                command.names
            );
            for name in &command.names {
                assert_eq!(*name, name.to_ascii_lowercase());
                assert!(names.insert(name), "{name} stands twice");
            }
            for form in &command.forms {
                assert!(
                    !form.id.is_empty() && !form.why.is_empty() && !form.why.ends_with('.'),
                    "{}",
                    form.id
                );
                assert!(!form.allowable || form.tier == Level::Never, "{}", form.id);
                let many = form
                    .usage
                    .ordered
                    .iter()
                    .position(|element| element.repeat == Repeat::Many);
                let words =
                    |kind: &Kind| matches!(kind, Kind::Words(words) if words.iter().any(String::is_empty));
                assert!(
                    !form.usage.ordered.iter().any(|element| words(&element.kind)),
                    "{}",
                    form.id
                );
                assert!(
                    many.is_none_or(|at| at + 1 == form.usage.ordered.len()),
                    "{}",
                    form.id
                );
            }
        }
        assert_eq!(names.len(), 205, "every spelling of v0.23");
        assert_eq!(script().registers.len(), 120);
        assert!(
            script()
                .functions
                .values()
                .all(|function| !function.why.is_empty())
        );
    }

    #[test]
    fn a_form_that_evaluates_never_falls_back_to_a_weaker_tier() {
        for command in commands().iter() {
            if command.forms.iter().any(Form::evaluates) {
                assert!(command.otherwise >= Level::Destructive, "{:?}", command.names);
            }
        }
    }

    #[test]
    fn a_function_that_writes_is_destructive() {
        for (name, function) in &script().functions {
            if function.effects.contains(&Effect::Write) {
                assert_eq!(function.tier, Level::Destructive, "{name}");
            }
        }
    }
}
