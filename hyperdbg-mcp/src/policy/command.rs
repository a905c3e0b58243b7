//! Classifies a command line: cut into tokens, looked up by its first word, fitted to a form.

use super::arguments;
use super::effects::short;
use super::tables::{self, Command, Form, Reading};
use super::tokens::{self, Line, Token, TokenKind};
use super::verdict::{Level, NoteKind, Verdict};
use super::{Options, event, file, line};

/// The longest command word worth sending: the library echoes unknown ones.
const LONGEST_WORD: usize = 64;

/// Where a line comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The caller.
    Caller,
    /// A file of commands.
    File,
}

/// What a line can do.
pub(crate) fn classify(text: &[u8], options: &Options<'_>, origin: Origin) -> Verdict {
    let read = tokens::read(text);
    let mut verdict = match refuse(&read) {
        Some(refusal) => refusal,
        None => dispatch(text, &read, options, origin),
    };
    for token in read.tokens.iter().skip(1) {
        if token.kind == TokenKind::Plain && token.text.len() > 1 && token.text.iter().all(u8::is_ascii_digit)
        {
            verdict.hex_number(&token.text);
        }
    }
    verdict
}

fn refuse(line: &Line) -> Option<Verdict> {
    let reason = if line.open_quote {
        "a quote is not closed; close it"
    } else if line.open_brace {
        "a brace is not closed; close it"
    } else if line.reads_outside {
        "a closing brace or an escape stands where the library reads memory outside of the text; leave it out"
    } else {
        return None;
    };
    Some(Verdict::new(Level::Never, reason))
}

fn dispatch(text: &[u8], line: &Line, options: &Options<'_>, origin: Origin) -> Verdict {
    let Some((first, arguments)) = line.tokens.split_first() else {
        return Verdict::new(Level::Read, "an empty line does nothing");
    };
    if !first.text.is_ascii() {
        return Verdict::new(
            Level::Never,
            "the command word is not ASCII, so no command is meant; write it anew",
        );
    }
    if first.text.len() > LONGEST_WORD {
        return Verdict::new(
            Level::Never,
            "the command word is too long for any command; put a blank after it",
        );
    }
    let word = first.lower();
    let Some(command) = tables::commands().get(&word) else {
        return unknown(&word, arguments);
    };
    let mut verdict = match command.reading {
        Reading::Tokens => by_form(command, arguments, options),
        Reading::Eval | Reading::Print | Reading::Formats => {
            line::evaluate(command, text, first, arguments, options)
        }
        Reading::Register => line::register(command, text, arguments, options),
        Reading::Assemble => line::assemble(command, text, options),
        Reading::Script => file::run(command, arguments, options, origin),
        Reading::Event | Reading::HwClock => event::arm(command, arguments, options),
    };
    if verdict.reason.is_empty() {
        verdict.reason.clone_from(&command.does);
    }
    if command.decimal && arguments.iter().any(|token| overflows(&token.text)) {
        verdict.raise(
            Level::Never,
            "a number of ten or more digits ends the library's process here",
        );
    }
    if command.resumes {
        verdict.note(
            NoteKind::Waits,
            "in debugger mode the guest runs on and the call waits for its next stop",
        );
    } else if command.forwarded {
        verdict.note(
            NoteKind::ResumesGuest,
            "in debugger mode the guest runs for a moment to carry this out",
        );
    }
    verdict
}

/// Whether an argument, or a part of it between dots, is a decimal number that can pass 31 bits.
fn overflows(argument: &[u8]) -> bool {
    const DIGITS_THAT_FIT: usize = 9;
    argument
        .split(|byte| *byte == b'.')
        .any(|part| part.len() > DIGITS_THAT_FIT && part.iter().all(u8::is_ascii_digit))
}

fn unknown(word: &str, arguments: &[Token]) -> Verdict {
    let word = short(word);
    let mut reason = format!("`{word}` is no command of HyperDbg");
    if word.contains(['(', ';', '=']) || arguments.is_empty() && word.contains('!') {
        reason.push_str("; to evaluate an expression, put `?` and a blank before it");
    }
    Verdict::new(Level::Destructive, reason)
}

/// The first form that the arguments fit decides; what fits none has the command's other tier.
fn by_form(command: &Command, arguments: &[Token], options: &Options<'_>) -> Verdict {
    for form in &command.forms {
        if let Some(part) = arguments::fit(form, arguments, options) {
            let mut verdict = of_form(form, options);
            verdict.include(part);
            return verdict;
        }
    }
    let mut verdict = Verdict::new(command.otherwise, "");
    verdict.reason = match command.otherwise {
        Level::Read => format!("{}; these arguments only make it print its usage", command.does),
        _ => format!("{}; these arguments fit no form that is known", command.does),
    };
    if command.forms.iter().any(Form::evaluates) {
        // Arguments that are evaluated do so even where the command then refuses them.
        for token in arguments {
            let part = arguments::expression(&token.text, options);
            if part.level == Level::Never {
                verdict.include(part);
            }
        }
    }
    verdict
}

/// The verdict of a form by itself.
pub(crate) fn of_form(form: &Form, options: &Options<'_>) -> Verdict {
    let mut level = form.tier;
    let mut allow = None;
    if form.allowable {
        if options.allow.contains(&form.id) {
            level = Level::Destructive;
        } else {
            allow = Some(form.id.clone());
        }
    }
    let mut reason = form.why.clone();
    if let Some(id) = &allow {
        reason = format!("{reason}; an operator can allow it with --allow {id}");
    }
    let mut verdict = Verdict::new(level, reason).form(&form.id);
    verdict.allow = allow;
    if form.waits {
        verdict.note(NoteKind::Waits, "it can wait long, or without a limit");
    }
    verdict
}

/// The verdict of the command's form with this identifier.
pub(crate) fn named(command: &Command, id: &str, options: &Options<'_>) -> Verdict {
    match command.forms.iter().find(|form| form.id == id) {
        Some(form) => of_form(form, options),
        None => Verdict::new(command.otherwise, command.does.clone()),
    }
}
