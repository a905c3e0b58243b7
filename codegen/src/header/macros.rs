//! Macro definitions and their expansion, by the hide-set algorithm: a name is not expanded in its own result.
//!
//! Bodies stay token lists until a use is expanded. That is what makes `A * B` with an unparenthesised `B` come out
//! as it does in C, and what lets macros that name types of the kernel stand unused.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::code;
use super::lexer;
use super::source::Sources;
use super::token::{Hidden, Kind, Loc, Token};
use crate::diagnostic::Diagnostic;

/// Most tokens that all expansions of a run may make; HyperDbg's headers need some ten thousand.
const MAX_EXPANDED_TOKENS: usize = 2_000_000;
/// Longest chain of macros that name each other.
const MAX_CHAIN: u32 = 200;
/// Deepest nesting of macro calls in the arguments of macro calls.
const MAX_ARGUMENT_DEPTH: u32 = 32;

/// Names that the compiler would replace by something that depends on place or installation.
const UNSUPPORTED: &[&str] = &[
    "__LINE__",
    "__FILE__",
    "__COUNTER__",
    "_Pragma",
    "__pragma",
    "__has_include",
];

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// One definition.
#[derive(Debug)]
pub(crate) struct Macro {
    pub(crate) name: Rc<str>,
    pub(crate) loc: Loc,
    /// Position among all definitions of the run.
    pub(crate) order: u32,
    params: Option<Vec<Rc<str>>>,
    variadic: bool,
    body: Vec<Token>,
}

impl Macro {
    /// Whether it takes no argument list.
    pub(crate) fn is_object(&self) -> bool {
        self.params.is_none()
    }

    fn same_text(&self, other: &Self) -> bool {
        let spelled = |one: &Self| -> Vec<(Rc<str>, bool)> {
            let tokens = one.body.iter().enumerate();
            tokens
                .map(|(at, token)| (Rc::clone(&token.text), at > 0 && token.spaced))
                .collect()
        };
        self.params == other.params && self.variadic == other.variadic && spelled(self) == spelled(other)
    }
}

/// The definitions in force.
#[derive(Debug)]
pub(crate) struct Macros {
    table: BTreeMap<Rc<str>, Rc<Macro>>,
    markers: &'static [&'static str],
    defined: u32,
    made: Cell<usize>,
}

impl Macros {
    /// An empty table that keeps uses of `markers` by name instead of expanding them.
    pub(crate) fn new(markers: &'static [&'static str]) -> Self {
        Self {
            table: BTreeMap::new(),
            markers,
            defined: 0,
            made: Cell::new(0),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Rc<Macro>> {
        self.table.get(name)
    }

    /// Every definition in force, in the order of definition.
    pub(crate) fn in_order(&self) -> Vec<Rc<Macro>> {
        let mut all: Vec<_> = self.table.values().cloned().collect();
        all.sort_by_key(|one| one.order);
        all
    }

    pub(crate) fn undefine(&mut self, name: &str) {
        self.table.remove(name);
    }

    /// Reads what follows `#define`.
    pub(crate) fn define(&mut self, sources: &Sources, hash: Loc, line: &[Token]) -> Result<()> {
        let fail = |loc: Loc, message: &str| {
            Err(Box::new(
                Diagnostic::error(code::DIRECTIVE, message)
                    .at(sources.span(loc))
                    .help("write `#define NAME text` or `#define NAME(parameters) text`"),
            ))
        };
        let Some(name) = line.first() else {
            return fail(hash, "`#define` without a name");
        };
        if name.kind != Kind::Word || name.is("defined") {
            return fail(name.loc, "`#define` needs a name");
        }
        let mut body = &line[1..];
        let (mut params, mut variadic) = (None, false);
        if let Some(open) = body.first().filter(|token| token.is("(") && !token.spaced) {
            let Some(close) = body.iter().position(|token| token.is(")")) else {
                return fail(open.loc, "the macro's parameter list is never closed");
            };
            let mut names: Vec<Rc<str>> = Vec::new();
            for (at, token) in body[1..close].iter().enumerate() {
                let comma = at % 2 == 1;
                let good = if comma {
                    token.is(",") && !variadic && at + 2 < close
                } else if token.is("...") {
                    variadic = true;
                    at + 2 == close
                } else {
                    token.kind == Kind::Word && !names.contains(&token.text)
                };
                if !good {
                    return fail(token.loc, "the macro's parameter list is malformed");
                }
                if !comma {
                    names.push(if variadic {
                        "__VA_ARGS__".into()
                    } else {
                        Rc::clone(&token.text)
                    });
                }
            }
            params = Some(names);
            body = &body[close + 1..];
        }
        let new = Macro {
            name: Rc::clone(&name.text),
            loc: name.loc,
            order: self.defined,
            params,
            variadic,
            body: body.to_vec(),
        };
        self.defined += 1;
        if let Some(old) = self.table.get(&new.name) {
            if old.same_text(&new) {
                return Ok(());
            }
            return Err(Box::new(
                Diagnostic::error(
                    code::MACRO_REDEFINED,
                    format!("`{}` is defined again with other text", new.name),
                )
                .at(sources.span(name.loc))
                .note(format!("first defined at {}", sources.origin(old.loc)))
                .help(format!(
                    "put `#undef {}` before it, or make both definitions equal",
                    new.name
                )),
            ));
        }
        self.table.insert(Rc::clone(&new.name), Rc::new(new));
        Ok(())
    }

    /// Replaces every macro use in `input`.
    pub(crate) fn expand(&self, sources: &Sources, input: &[Token]) -> Result<Vec<Token>> {
        Expander {
            macros: self,
            sources,
        }
        .expand(input, 0)
    }
}

struct Expander<'a> {
    macros: &'a Macros,
    sources: &'a Sources,
}

impl Expander<'_> {
    fn fail<T>(&self, code: &'static str, at: &Token, message: String, help: &str) -> Result<T> {
        Err(Box::new(
            Diagnostic::error(code, message)
                .at(self.sources.span(at.loc))
                .help(help),
        ))
    }

    fn expand(&self, input: &[Token], depth: u32) -> Result<Vec<Token>> {
        let mut work: Vec<Token> = input.iter().rev().cloned().collect();
        let mut out = Vec::with_capacity(input.len());
        while let Some(mut token) = work.pop() {
            if token.kind != Kind::Word || token.hidden.contains(&token.text) {
                out.push(token);
                continue;
            }
            if UNSUPPORTED.contains(&&*token.text) {
                let message = format!("`{}` is not supported", token.text);
                return self.fail(
                    code::DIRECTIVE,
                    &token,
                    message,
                    "its value would depend on where the header lies",
                );
            }
            let Some(definition) = self.macros.get(&token.text).cloned() else {
                out.push(token);
                continue;
            };
            if self.macros.markers.contains(&&*token.text) {
                token.kind = Kind::Marker;
                out.push(token);
                continue;
            }
            if token.hidden.depth() >= MAX_CHAIN {
                let message = format!("over {MAX_CHAIN} macros name each other in a chain");
                return self.fail(
                    code::LIMIT,
                    &token,
                    message,
                    "no header of the SDK needs such a chain",
                );
            }
            let body = if definition.is_object() {
                let hidden = token.hidden.with(&definition.name);
                self.substitute(&definition, &token, &[], &hidden, depth)?
            } else if work.last().is_some_and(|next| next.is("(")) {
                let (arguments, close) = self.arguments(&definition, &token, &mut work)?;
                let hidden = token.hidden.intersection(&close.hidden).with(&definition.name);
                self.substitute(&definition, &token, &arguments, &hidden, depth)?
            } else {
                out.push(token);
                continue;
            };
            let made = self.macros.made.get() + body.len() + 1;
            if made > MAX_EXPANDED_TOKENS {
                let message = format!("the macros expand to over {MAX_EXPANDED_TOKENS} tokens");
                return self.fail(
                    code::LIMIT,
                    &token,
                    message,
                    "no header of the SDK needs that many",
                );
            }
            self.macros.made.set(made);
            work.extend(body.into_iter().rev());
        }
        Ok(out)
    }

    /// Takes `( ... )` off `work`; returns one token list per parameter, and the closing parenthesis.
    fn arguments(
        &self,
        definition: &Macro,
        name: &Token,
        work: &mut Vec<Token>,
    ) -> Result<(Vec<Vec<Token>>, Token)> {
        let params = definition.params.as_deref().unwrap_or_default();
        work.pop();
        let mut arguments = vec![Vec::new()];
        let mut depth = 0usize;
        loop {
            let Some(token) = work.pop() else {
                let message = format!("the call of the macro `{}` is never closed", definition.name);
                let help = "close it with `)`; directives may not stand inside a macro call";
                return self.fail(code::MACRO_CALL, name, message, help);
            };
            if token.is(")") {
                if depth == 0 {
                    return self.counted(definition, name, arguments, token);
                }
                depth -= 1;
            } else if token.is("(") {
                depth += 1;
            } else if token.is(",") && depth == 0 && !(definition.variadic && arguments.len() == params.len())
            {
                arguments.push(Vec::new());
                continue;
            }
            if let Some(last) = arguments.last_mut() {
                last.push(token);
            }
        }
    }

    fn counted(
        &self,
        definition: &Macro,
        name: &Token,
        mut arguments: Vec<Vec<Token>>,
        close: Token,
    ) -> Result<(Vec<Vec<Token>>, Token)> {
        let wanted = definition.params.as_ref().map_or(0, Vec::len);
        if wanted == 0 && arguments.iter().all(Vec::is_empty) {
            arguments.clear();
        }
        if definition.variadic && arguments.len() + 1 == wanted {
            arguments.push(Vec::new());
        }
        if arguments.len() != wanted {
            let message = format!(
                "the macro `{}` takes {wanted} arguments, not {}",
                definition.name,
                arguments.len()
            );
            let help = format!("it is defined at {}", self.sources.origin(definition.loc));
            return self.fail(code::MACRO_CALL, name, message, &help);
        }
        Ok((arguments, close))
    }

    /// The body with arguments put in, `#` and `##` applied.
    fn substitute(
        &self,
        definition: &Macro,
        name: &Token,
        arguments: &[Vec<Token>],
        hidden: &Hidden,
        depth: u32,
    ) -> Result<Vec<Token>> {
        let params = definition.params.as_deref().unwrap_or_default();
        let body = &definition.body;
        let argument = |token: &Token| -> Option<&Vec<Token>> {
            let at = params
                .iter()
                .position(|param| token.kind == Kind::Word && *param == token.text)?;
            arguments.get(at)
        };
        let own = |token: &Token| Token {
            loc: name.loc,
            line_start: false,
            from: Some(name.from.clone().unwrap_or_else(|| Rc::clone(&definition.name))),
            ..token.clone()
        };
        let mut out: Vec<Token> = Vec::new();
        let mut at = 0;
        // Where in `out` the left side of a `##` that waits for its right side begins.
        let mut paste: Option<usize> = None;
        while let Some(token) = body.get(at) {
            let next = body.get(at + 1);
            let before_paste = next.is_some_and(|next| next.is("##"));
            let (operand, consumed) = match argument(token) {
                _ if token.is("#") && !definition.is_object() => {
                    let Some(tokens) = next.and_then(&argument) else {
                        let help = format!(
                            "`{}` is defined at {}",
                            definition.name,
                            self.sources.origin(definition.loc)
                        );
                        return self.fail(
                            code::MACRO_CALL,
                            name,
                            "`#` must stand before a parameter".into(),
                            &help,
                        );
                    };
                    (vec![own(&stringified(token, tokens))], 2)
                }
                Some(raw) if before_paste || paste.is_some() => (raw.clone(), 1),
                Some(raw) => {
                    if depth >= MAX_ARGUMENT_DEPTH {
                        let message = format!("macro calls nest over {MAX_ARGUMENT_DEPTH} deep");
                        return self.fail(
                            code::LIMIT,
                            name,
                            message,
                            "no header of the SDK needs such a depth",
                        );
                    }
                    (self.expand(raw, depth + 1)?, 1)
                }
                None => (vec![own(token)], 1),
            };
            let start = paste.take().unwrap_or(out.len());
            if at > 0 && body[at - 1].is("##") {
                self.paste(
                    definition,
                    name,
                    &mut out,
                    start,
                    operand,
                    argument(token).is_some(),
                )?;
            } else {
                out.extend(operand);
            }
            at += consumed;
            if body.get(at).is_some_and(|token| token.is("##")) {
                if at + 1 == body.len() || at == 0 {
                    let message = "`##` stands at the end of the macro".to_owned();
                    return self.fail(
                        code::MACRO_CALL,
                        name,
                        message,
                        "put a token on both sides of `##`",
                    );
                }
                paste = Some(start);
                at += 1;
            }
        }
        for (at, token) in out.iter_mut().enumerate() {
            token.hidden = token.hidden.union(hidden);
            token.line_start = false;
            if at == 0 {
                token.spaced = name.spaced;
            }
        }
        Ok(out)
    }

    /// Joins the last token of `out` (no earlier than `from`) with the first of `operand`.
    fn paste(
        &self,
        definition: &Macro,
        name: &Token,
        out: &mut Vec<Token>,
        from: usize,
        operand: Vec<Token>,
        is_argument: bool,
    ) -> Result<()> {
        let comma =
            is_argument && definition.variadic && out.len() > from && out.last().is_some_and(|t| t.is(","));
        if comma {
            // `, ## __VA_ARGS__`: the comma goes with an empty list, and stays unpasted before another.
            if operand.is_empty() {
                out.pop();
            }
            out.extend(operand);
            return Ok(());
        }
        let mut operand = operand.into_iter();
        if out.len() > from
            && let Some(right) = operand.next()
            && let Some(left) = out.pop()
        {
            let text = format!("{}{}", left.text, right.text);
            let Some((kind, text)) = lexer::single(&text) else {
                let message = format!("`{}` and `{}` do not join to a token", left.text, right.text);
                let help = format!(
                    "`{}` is defined at {}",
                    definition.name,
                    self.sources.origin(definition.loc)
                );
                return self.fail(code::MACRO_CALL, name, message, &help);
            };
            out.push(Token { kind, text, ..left });
        }
        out.extend(operand);
        Ok(())
    }
}

fn stringified(hash: &Token, tokens: &[Token]) -> Token {
    let mut text = String::from("\"");
    for (at, token) in tokens.iter().enumerate() {
        if at > 0 && token.spaced {
            text.push(' ');
        }
        for char in token.text.chars() {
            let quoted = matches!(token.kind, Kind::Str | Kind::Char) && matches!(char, '"' | '\\');
            if quoted || char == '"' {
                text.push('\\');
            }
            text.push(char);
        }
    }
    text.push('"');
    Token {
        kind: Kind::Str,
        text: text.into(),
        ..hash.clone()
    }
}
