//! Commands that arm an event: their options, and the scripts and code that run on each hit.

use super::Options;
use super::arguments::expression;
use super::command::named;
use super::effects;
use super::line;
use super::scanner::{self, Comments, Lexeme};
use super::tables::{self, Command, Effect, Reading};
use super::tokens::{self, Token, TokenKind};
use super::verdict::{Level, NoteKind, Verdict};

/// What arming an event can do.
pub(crate) fn arm(command: &Command, arguments: &[Token], options: &Options<'_>) -> Verdict {
    let id = command.forms.first().map_or("", |form| form.id.as_str());
    let mut verdict = named(command, id, options);
    let has = |word: &str| arguments.iter().any(|token| token.lower() == word);
    let blocks: Vec<&Token> = arguments
        .iter()
        .filter(|token| token.kind == TokenKind::Block)
        .collect();
    let scripted = has("script") && !blocks.is_empty();
    if command.reading == Reading::HwClock && !arguments.is_empty() && !scripted {
        return Verdict::new(Level::Never, "without a script the library ends its process").form(id);
    }
    for (word, what) in [
        ("script", "runs a script on each hit"),
        ("code", "runs machine code on each hit"),
        ("condition", "runs machine code on each hit"),
        ("asm", "runs machine code on each hit"),
    ] {
        if has(word) {
            verdict.raise(Level::Destructive, what);
        }
    }
    let short_circuits =
        |pair: &[Token]| matches!(pair, [word, on] if word.lower() == "sc" && on.lower() == "on");
    if arguments.windows(2).any(short_circuits) {
        verdict.raise(
            Level::Destructive,
            "keeps the machine from doing what raised the event",
        );
    }
    // A block need not follow its keyword, and of several the last one counts: each is held to every reading.
    for block in blocks {
        verdict.raise(Level::Destructive, "carries a script or code");
        if has("script") {
            verdict.include(on_each_hit(&block.text, options));
        }
        if has("asm") {
            verdict.include(line::instructions(&block.text, options));
        }
    }
    for token in arguments.iter().filter(|token| token.kind != TokenKind::Block) {
        verdict.include(expression(&token.text, options));
    }
    verdict
}

/// What a script does when it runs on each hit, in root mode and with interrupts off.
fn on_each_hit(text: &[u8], options: &Options<'_>) -> Verdict {
    if tokens::trim(text).starts_with(b"file:") {
        return Verdict::new(
            Level::Destructive,
            "takes its script from a file that was not read",
        );
    }
    let mut verdict = effects::script(text, options);
    let prints = scanner::scan(text, Comments::Engine)
        .lexemes
        .iter()
        .any(|lexeme| match lexeme {
            Lexeme::Keyword(name) => tables::script()
                .functions
                .get(name)
                .is_some_and(|function| function.effects.contains(&Effect::Print)),
            _ => false,
        });
    if prints {
        verdict.note(
            NoteKind::MayStall,
            "it prints on each hit, which on a busy path stalls the machine",
        );
    }
    if verdict.may_stall() {
        verdict.raise(Level::Destructive, "its script can stall the machine");
    }
    verdict
}
