//! Directives: conditions, includes, definitions, pragmas. Its result is one flat list of expanded tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::code;
use super::lexer;
use super::macros::Macros;
use super::parser::Parser;
use super::source::Sources;
use super::target::Target;
use super::token::{Kind, Loc, Pack, Token};
use super::types::Types;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// Deepest nesting of includes.
const MAX_INCLUDE_DEPTH: u32 = 32;
/// Most `#include` lines that are followed; HyperDbg's headers have 17.
const MAX_INCLUDES: u32 = 5_000;
/// Most tokens that are read from files, repeated includes counted each time.
const MAX_TOKENS: usize = 2_000_000;
/// Findings after which reading stops.
const MAX_FINDINGS: usize = 20;

/// Headers of the system that the prelude stands in for.
const SYSTEM_HEADERS: &[&str] = &[
    "assert.h",
    "basetsd.h",
    "limits.h",
    "minwindef.h",
    "sal.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "sys/types.h",
    "tchar.h",
    "time.h",
    "wchar.h",
    "windef.h",
    "windows.h",
    "winnt.h",
    "wtypes.h",
];

/// Pragmas that change no layout.
const HARMLESS_PRAGMAS: &[&str] = &["warning", "region", "endregion", "comment", "message"];

/// One open `#if`.
struct Condition {
    loc: Loc,
    /// Whether the group that is being read counts.
    active: bool,
    /// Whether a group of this `#if` has counted already.
    taken: bool,
    /// Whether the group around the `#if` counts.
    outer: bool,
    closed_by_else: bool,
}

/// Reads files one after the other into one list of tokens.
pub(crate) struct Preprocessor<'a> {
    sources: &'a mut Sources,
    target: &'a Target,
    pub(crate) macros: Macros,
    pub(crate) tokens: Vec<Token>,
    pub(crate) findings: Diagnostics,
    /// Names that conditions have asked for.
    pub(crate) asked: BTreeSet<Rc<str>>,
    once: BTreeSet<u32>,
    lexed: BTreeMap<u32, Rc<[Token]>>,
    includes: u32,
    /// Text since the last directive; expanded as one piece, so that a macro call may span lines.
    run: Vec<Token>,
    read: usize,
    stopped: bool,
}

impl<'a> Preprocessor<'a> {
    pub(crate) fn new(
        sources: &'a mut Sources,
        target: &'a Target,
        markers: &'static [&'static str],
    ) -> Self {
        Self {
            sources,
            target,
            macros: Macros::new(markers),
            tokens: Vec::new(),
            findings: Vec::new(),
            asked: BTreeSet::new(),
            once: BTreeSet::new(),
            lexed: BTreeMap::new(),
            includes: 0,
            run: Vec::new(),
            read: 0,
            stopped: false,
        }
    }

    fn report(&mut self, finding: impl Into<Box<Diagnostic>>) {
        let finding = *finding.into();
        // What follows after a bound is passed would not end either.
        self.stopped |= finding.code == code::LIMIT || self.findings.len() + 1 >= MAX_FINDINGS;
        self.findings.push(finding);
    }

    fn fail(&mut self, code: &'static str, loc: Loc, message: impl Into<String>, help: &str) {
        let finding = Diagnostic::error(code, message)
            .at(self.sources.span(loc))
            .help(help);
        self.report(finding);
    }

    /// Reads one file with everything that it includes.
    pub(crate) fn file(&mut self, file: u32, depth: u32) {
        let tokens = match self.lexed.get(&file) {
            Some(known) => Rc::clone(known),
            None => match lexer::tokens(self.sources, file) {
                Ok(tokens) => Rc::from(tokens),
                Err(finding) => return self.report(finding),
            },
        };
        self.lexed.insert(file, Rc::clone(&tokens));
        let mut open: Vec<Condition> = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            self.read += 1;
            if self.read > MAX_TOKENS {
                let message = format!("over {MAX_TOKENS} tokens were read");
                self.fail(
                    code::LIMIT,
                    token.loc,
                    message,
                    "look for a header that includes itself without `#pragma once`",
                );
            }
            if self.stopped {
                return;
            }
            if token.line_start && token.is("#") {
                let end = tokens[at + 1..].iter().position(|token| token.line_start);
                let end = end.map_or(tokens.len(), |more| at + 1 + more);
                self.read += end - at;
                self.directive(token.loc, &tokens[at + 1..end], &mut open, file, depth);
                at = end;
                continue;
            }
            if open.last().is_none_or(|condition| condition.active) {
                self.run.push(token.clone());
            }
            at += 1;
        }
        self.flush();
        for condition in open {
            self.fail(
                code::CONDITIONAL,
                condition.loc,
                "this condition is never closed",
                "close it with `#endif`",
            );
        }
    }

    /// Expands the text since the last directive.
    fn flush(&mut self) {
        if self.run.is_empty() || self.stopped {
            self.run.clear();
            return;
        }
        let run = std::mem::take(&mut self.run);
        match self.macros.expand(self.sources, &run) {
            Ok(tokens) => self.tokens.extend(tokens),
            Err(finding) => self.report(finding),
        }
    }

    fn directive(&mut self, hash: Loc, line: &[Token], open: &mut Vec<Condition>, file: u32, depth: u32) {
        let active = open.last().is_none_or(|condition| condition.active);
        let Some((name, rest)) = line.split_first() else {
            return;
        };
        match &*name.text {
            "if" | "ifdef" | "ifndef" => {
                let holds = active
                    && match &*name.text {
                        "if" => self.condition(name.loc, rest),
                        "ifdef" => self.is_defined(name, rest),
                        _ => !self.is_defined(name, rest),
                    };
                open.push(Condition {
                    loc: name.loc,
                    active: holds,
                    taken: holds,
                    outer: active,
                    closed_by_else: false,
                });
            }
            "elif" | "else" => self.alternative(name, rest, open),
            "endif" => {
                if open.pop().is_none() {
                    self.fail(
                        code::CONDITIONAL,
                        name.loc,
                        "`#endif` without `#if`",
                        "remove it, or add the `#if`",
                    );
                }
            }
            _ if !active => {}
            "define" => {
                self.flush();
                if let Err(finding) = self.macros.define(self.sources, hash, rest) {
                    self.report(finding);
                }
            }
            "undef" => {
                self.flush();
                match rest.first() {
                    Some(word) if word.kind == Kind::Word => self.macros.undefine(&word.text),
                    _ => self.fail(
                        code::DIRECTIVE,
                        name.loc,
                        "`#undef` needs a name",
                        "write `#undef NAME`",
                    ),
                }
            }
            "include" => {
                self.flush();
                self.include(name, rest, file, depth);
            }
            "pragma" => {
                self.flush();
                self.pragma(rest, file);
            }
            "error" => {
                let words: Vec<&str> = rest.iter().map(|token| &*token.text).collect();
                let message = format!("the header stops here: #error {}", words.join(" "));
                self.fail(
                    code::ERROR_DIRECTIVE,
                    name.loc,
                    message,
                    "the header refuses the macros that are in force",
                );
            }
            _ => {
                let message = format!("unknown directive `#{}`", name.text);
                let help = "known are define, undef, include, if, ifdef, ifndef, elif, else, endif, pragma and error";
                self.fail(code::DIRECTIVE, name.loc, message, help);
            }
        }
    }

    fn alternative(&mut self, name: &Token, rest: &[Token], open: &mut [Condition]) {
        let is_else = name.is("else");
        let Some(last) = open.last_mut() else {
            let message = format!("`#{}` without `#if`", name.text);
            return self.fail(
                code::CONDITIONAL,
                name.loc,
                message,
                "remove it, or add the `#if`",
            );
        };
        if last.closed_by_else {
            let message = format!("`#{}` after `#else`", name.text);
            return self.fail(
                code::CONDITIONAL,
                name.loc,
                message,
                "`#else` must be the last group of its `#if`",
            );
        }
        last.closed_by_else = is_else;
        let candidate = last.outer && !last.taken;
        last.active = candidate && (is_else || self.condition(name.loc, rest));
        last.taken |= last.active;
    }

    fn is_defined(&mut self, directive: &Token, rest: &[Token]) -> bool {
        match rest {
            [name] if name.kind == Kind::Word => {
                self.asked.insert(Rc::clone(&name.text));
                self.macros.get(&name.text).is_some()
            }
            _ => {
                let message = format!("`#{}` needs exactly one name", directive.text);
                self.fail(
                    code::DIRECTIVE,
                    directive.loc,
                    message,
                    "write one macro name after it",
                );
                false
            }
        }
    }

    /// The value of the expression after `#if` or `#elif`.
    fn condition(&mut self, at: Loc, line: &[Token]) -> bool {
        let names = line.iter().filter(|token| token.kind == Kind::Word);
        self.asked.extend(names.map(|token| Rc::clone(&token.text)));
        let value = self.without_defined(line).and_then(|line| {
            let tokens = self.macros.expand(self.sources, &line)?;
            let mut types = Types::default();
            let mut parser = Parser::new(self.sources, self.target, &tokens, &mut types, at);
            parser.preprocessing = true;
            parser.whole_expression()
        });
        match value {
            Ok(value) => value.is_true(),
            Err(finding) => {
                self.report(finding);
                false
            }
        }
    }

    /// Replaces `defined X` and `defined(X)`, which must happen before macros are expanded.
    fn without_defined(&self, line: &[Token]) -> Result<Vec<Token>, Box<Diagnostic>> {
        let mut out = Vec::with_capacity(line.len());
        let mut at = 0;
        while let Some(token) = line.get(at) {
            if !token.is("defined") {
                out.push(token.clone());
                at += 1;
                continue;
            }
            let (name, used) = match &line[at + 1..] {
                [open, name, close, ..] if open.is("(") && close.is(")") => (name, 4),
                [name, ..] => (name, 2),
                [] => (token, 1),
            };
            if name.kind != Kind::Word || used == 1 {
                return Err(Box::new(
                    Diagnostic::error(code::DIRECTIVE, "`defined` needs a macro name")
                        .at(self.sources.span(token.loc))
                        .help("write `defined(NAME)`"),
                ));
            }
            let text = if self.macros.get(&name.text).is_some() {
                "1"
            } else {
                "0"
            };
            out.push(Token {
                kind: Kind::Number,
                text: Rc::from(text),
                ..token.clone()
            });
            at += used;
        }
        Ok(out)
    }

    fn include(&mut self, directive: &Token, rest: &[Token], file: u32, depth: u32) {
        let wanted = match rest {
            [name] if name.kind == Kind::Str => name.text.trim_matches('"').to_owned(),
            [open, middle @ .., close] if open.is("<") && close.is(">") && !middle.is_empty() => {
                middle.iter().map(|token| &*token.text).collect()
            }
            _ => {
                let help = "write `#include \"NAME.h\"` or `#include <NAME.h>`";
                return self.fail(
                    code::DIRECTIVE,
                    directive.loc,
                    "`#include` without a header's name",
                    help,
                );
            }
        };
        let loc = rest.first().map_or(directive.loc, |token| token.loc);
        self.includes += 1;
        if self.includes > MAX_INCLUDES {
            let message = format!("over {MAX_INCLUDES} headers were included");
            return self.fail(
                code::LIMIT,
                loc,
                message,
                "look for headers that include each other without `#pragma once`",
            );
        }
        let found = self.sources.find(&wanted, Some(file));
        let path = match found.as_slice() {
            [path] => path.clone(),
            [] if SYSTEM_HEADERS
                .iter()
                .any(|known| wanted.eq_ignore_ascii_case(known)) =>
            {
                return;
            }
            [] => {
                let message = format!("there is no header `{wanted}` in the SDK folder");
                let help = "name the complete SDK folder; of the system's headers only the common ones are stood in \
                            for by api/prelude.h";
                return self.fail(code::INCLUDE_MISSING, loc, message, help);
            }
            several => {
                let message = format!("`{wanted}` names several headers: {}", several.join(", "));
                return self.fail(
                    code::INCLUDE_AMBIGUOUS,
                    loc,
                    message,
                    "write the folder in front of the name",
                );
            }
        };
        if depth >= MAX_INCLUDE_DEPTH {
            let message = format!("includes nest over {MAX_INCLUDE_DEPTH} deep");
            return self.fail(
                code::LIMIT,
                loc,
                message,
                "look for headers that include each other without `#pragma once`",
            );
        }
        match self.sources.load(&path) {
            Ok(file) if self.once.contains(&file) => {}
            Ok(file) => self.file(file, depth + 1),
            Err(finding) => {
                let finding = finding.at(self.sources.span(loc));
                self.report(finding);
            }
        }
    }

    fn pragma(&mut self, rest: &[Token], file: u32) {
        let Some(name) = rest.first() else { return };
        match &*name.text {
            "once" => {
                self.once.insert(file);
            }
            "pack" => match self
                .macros
                .expand(self.sources, &rest[1..])
                .map(|tokens| pack(&tokens))
            {
                Ok(Some(action)) => self.tokens.push(Token {
                    kind: Kind::Pack(action),
                    ..name.clone()
                }),
                Ok(None) => {
                    let help = "supported are pack(push), pack(push, N), pack(pop), pack(N) and pack() with N of 1, 2, 4, \
                                8 or 16";
                    self.fail(
                        code::PRAGMA,
                        name.loc,
                        "this form of `#pragma pack` is not supported",
                        help,
                    );
                }
                Err(finding) => self.report(finding),
            },
            known if HARMLESS_PRAGMAS.contains(&known) => {}
            _ => {
                let message = format!("unknown pragma `{}`", name.text);
                let help = "a pragma may change layouts; when this one does not, add it to the harmless ones";
                self.fail(code::PRAGMA, name.loc, message, help);
            }
        }
    }
}

/// What stands after `pack`, if it is understood.
fn pack(tokens: &[Token]) -> Option<Pack> {
    let inner = match tokens {
        [open, inner @ .., close] if open.is("(") && close.is(")") => inner,
        _ => return None,
    };
    let number = |token: &Token| {
        let value: u64 = token.text.parse().ok()?;
        [1, 2, 4, 8, 16].contains(&value).then_some(value)
    };
    match inner {
        [] => Some(Pack::Reset),
        [word] if word.is("push") => Some(Pack::Push(None)),
        [word] if word.is("pop") => Some(Pack::Pop),
        [one] => number(one).map(Pack::Set),
        [word, comma, one] if word.is("push") && comma.is(",") => Some(Pack::Push(Some(number(one)?))),
        _ => None,
    }
}
