//! Declarations at file level: what a header is made of once the preprocessor is through.
//!
//! The subset is C as headers use it, plus `extern "C"` and the tags-are-types rule of C++. Everything else is an
//! error at its place; nothing is skipped, with one exception: the initializer of a variable has no part in any
//! layout or prototype, so it is only read to its end.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::code;
use super::source::Sources;
use super::specifiers::Storage;
use super::target::Target;
use super::token::{Hidden, Kind, Loc, Pack, Token};
use super::types::{Tag, Ty, Types};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// Deepest nesting of records, parentheses, declarators and expressions.
const MAX_DEPTH: u32 = 64;
/// Findings after which reading stops.
const MAX_FINDINGS: usize = 20;

pub(crate) type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Reads a list of tokens.
pub(crate) struct Parser<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) target: &'a Target,
    tokens: &'a [Token],
    at: usize,
    end: Token,
    pub(crate) types: &'a mut Types,
    /// Whether the expression of an `#if` is read: unknown names are 0, and there are no types.
    pub(crate) preprocessing: bool,
    /// Over 0 in the branch of an expression that is not evaluated.
    pub(crate) dead: u32,
    depth: u32,
    pub(crate) pack: Option<u64>,
    pack_stack: Vec<Option<u64>>,
    /// Names whose declaration failed: using one is no further finding.
    lost: BTreeSet<Rc<str>>,
}

impl<'a> Parser<'a> {
    /// A parser of `tokens`; `last` is the place that is shown for the end of the input.
    pub(crate) fn new(
        sources: &'a Sources,
        target: &'a Target,
        tokens: &'a [Token],
        types: &'a mut Types,
        last: Loc,
    ) -> Self {
        Self {
            sources,
            target,
            tokens,
            at: 0,
            end: Token {
                kind: Kind::End,
                text: Rc::from(""),
                loc: tokens.last().map_or(last, |token| token.loc),
                line_start: false,
                spaced: false,
                hidden: Hidden::default(),
                from: None,
            },
            types,
            preprocessing: false,
            dead: 0,
            depth: 0,
            pack: None,
            pack_stack: Vec::new(),
            lost: BTreeSet::new(),
        }
    }

    // ---- tokens -----------------------------------------------------------------------------------------------

    pub(crate) fn peek(&self) -> &Token {
        self.ahead(0)
    }

    pub(crate) fn ahead(&self, by: usize) -> &Token {
        self.tokens.get(self.at + by).unwrap_or(&self.end)
    }

    pub(crate) fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let found = self.peek().is(text);
        if found {
            self.at += 1;
        }
        found
    }

    pub(crate) fn expect(&mut self, text: &str, context: &str) -> Result<Token> {
        if self.peek().is(text) {
            return Ok(self.next());
        }
        let token = self.peek().clone();
        if let Kind::Bad(_) = token.kind {
            return Err(self.unexpected(&token, context));
        }
        Err(Box::new(self.error(
            code::SYNTAX,
            &token,
            format!("expected `{text}` {context}, found {}", token.describe()),
        )))
    }

    // ---- findings ---------------------------------------------------------------------------------------------

    pub(crate) fn error(&self, code: &'static str, at: &Token, message: impl Into<String>) -> Diagnostic {
        let found = Diagnostic::error(code, message).at(self.sources.span(at.loc));
        match &at.from {
            Some(name) => found.note(format!("this comes out of the macro `{name}`")),
            None => found,
        }
    }

    /// A token that nothing can begin or go on with.
    pub(crate) fn unexpected(&self, token: &Token, context: &str) -> Box<Diagnostic> {
        Box::new(match token.kind {
            Kind::Bad(reason) => self.error(code::LEXICAL, token, reason),
            _ => self
                .error(
                    code::SYNTAX,
                    token,
                    format!("unexpected {} {context}", token.describe()),
                )
                .help("if this is C that a header may use, the header front end has to learn it"),
        })
    }

    /// Runs `inner` one level deeper, or refuses when the input nests too deep.
    pub(crate) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            let token = self.peek().clone();
            let finding = self.error(
                code::LIMIT,
                &token,
                format!("this nests over {MAX_DEPTH} levels deep"),
            );
            return Err(Box::new(finding.help("no header of the SDK needs such a depth")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Whether a finding only follows from an earlier one.
    pub(crate) fn is_lost(&self, name: &str) -> bool {
        self.lost.contains(name)
    }

    // ---- file level -------------------------------------------------------------------------------------------

    /// Reads everything; the findings are empty when all of it was understood.
    pub(crate) fn file(&mut self) -> Diagnostics {
        let mut findings = Diagnostics::new();
        let mut linkage: Vec<Token> = Vec::new();
        while self.peek().kind != Kind::End && findings.len() < MAX_FINDINGS {
            let start = self.at;
            if self.peek().is("extern") && self.ahead(1).kind == Kind::Str {
                match self.linkage() {
                    Ok(Some(brace)) => linkage.push(brace),
                    Ok(None) => {}
                    Err(finding) => findings.push(*finding),
                }
                continue;
            }
            if self.peek().is("}") && linkage.pop().is_some() {
                self.at += 1;
                continue;
            }
            if let Err(finding) = self.declaration() {
                let limit = finding.code == code::LIMIT;
                let follows = !findings.is_empty() && self.follows_from_lost(start);
                if !follows {
                    findings.push(*finding);
                }
                if limit {
                    break;
                }
                self.recover(start);
            }
        }
        if findings.is_empty()
            && let Some(brace) = linkage.pop()
        {
            findings.push(
                self.error(code::SYNTAX, &brace, "this brace is never closed")
                    .help("close it with `}`"),
            );
        }
        findings
    }

    /// `extern "C"`, with the brace that it opens, if any.
    fn linkage(&mut self) -> Result<Option<Token>> {
        self.next();
        let language = self.next();
        if !matches!(&*language.text, "\"C\"" | "\"C++\"") {
            let finding = self.error(
                code::SYNTAX,
                &language,
                "only the linkages \"C\" and \"C++\" exist",
            );
            return Err(Box::new(finding));
        }
        Ok(self.peek().is("{").then(|| self.next()))
    }

    fn follows_from_lost(&self, start: usize) -> bool {
        let end = (self.at + 1).min(self.tokens.len());
        let read = self.tokens.get(start..end).unwrap_or_default();
        read.iter()
            .any(|token| token.kind == Kind::Word && self.lost.contains(&token.text))
    }

    /// Goes to the end of the declaration that begins at `start`, and notes the names that it would have declared.
    fn recover(&mut self, start: usize) {
        self.depth = 0;
        let failed = self.at;
        self.at = start;
        let mut depth = 0usize;
        while self.peek().kind != Kind::End {
            let token = self.next();
            if depth == 0 && self.would_declare(&token) {
                self.lost.insert(Rc::clone(&token.text));
            }
            if token.is("{") {
                depth += 1;
            } else if token.is("}") {
                depth = depth.saturating_sub(1);
                // A body of a function ends without `;`.
                if depth == 0
                    && token.is("}")
                    && self.at > failed
                    && self.peek().line_start
                    && !self.names_follow()
                {
                    break;
                }
            } else if token.is(";") && depth == 0 && self.at > failed {
                break;
            }
            if let Kind::Pack(action) = token.kind {
                let _ = self.apply_pack(&token, action);
            }
        }
        self.at = self.at.max(start + 1);
    }

    /// Whether a failed declaration may have been about to declare this word: it means nothing yet.
    fn would_declare(&self, token: &Token) -> bool {
        let complete = match self.tag(&token.text) {
            Some(Tag::Record(id)) => self.types.records[id].layout.is_some(),
            Some(Tag::Enum(id)) => self.types.enums[id].values.is_some(),
            None => false,
        };
        token.kind == Kind::Word
            && !complete
            && !super::specifiers::is_reserved(&token.text)
            && !self.types.typedef_names.contains_key(&token.text)
    }

    fn names_follow(&self) -> bool {
        self.peek().kind == Kind::Word && (self.ahead(1).is(";") || self.ahead(1).is(","))
            || self.peek().is(";")
    }

    fn declaration(&mut self) -> Result<()> {
        let first = self.peek().clone();
        if let Kind::Pack(action) = first.kind {
            self.next();
            return self.apply_pack(&first, action);
        }
        if self.eat(";") {
            return Ok(());
        }
        if self.static_assertion()? {
            return Ok(());
        }
        let specifiers = self.specifiers(true)?;
        if self.eat(";") {
            if specifiers.declares {
                return Ok(());
            }
            return Err(Box::new(self.error(
                code::SYNTAX,
                &first,
                "this declaration declares nothing",
            )));
        }
        loop {
            let declared = self.declarator(&specifiers, false)?;
            let Some(name) = declared.name else {
                let token = self.peek().clone();
                return Err(self.unexpected(&token, "where a name must stand"));
            };
            match (specifiers.storage, declared.ty) {
                (Storage::Typedef, ty) => self.typedef(&name, ty, declared.constant)?,
                (_, Ty::Function(signature)) => {
                    if self.peek().is("{") {
                        let finding =
                            self.error(code::SYNTAX, &name, "bodies of functions are not supported");
                        return Err(Box::new(
                            finding.help("the SDK's headers declare functions and define none"),
                        ));
                    }
                    self.prototype(&name, specifiers.marker.clone(), *signature)?;
                }
                (storage, ty) => self.variable(&name, storage, &ty)?,
            }
            if self.eat(",") {
                continue;
            }
            self.expect(";", "after the declaration")?;
            return Ok(());
        }
    }

    /// `static_assert(condition, "text");`
    pub(crate) fn static_assertion(&mut self) -> Result<bool> {
        let keyword = self.peek().clone();
        if !(keyword.is("static_assert") || keyword.is("_Static_assert")) {
            return Ok(false);
        }
        self.next();
        self.expect("(", "after the keyword")?;
        let holds = self.expression()?.is_true();
        if self.eat(",") {
            while self.peek().kind == Kind::Str {
                self.next();
            }
        }
        self.expect(")", "after the assertion")?;
        self.expect(";", "after the assertion")?;
        if holds {
            return Ok(true);
        }
        let finding = self.error(code::ASSERTION, &keyword, "this assertion of the header is false");
        Err(Box::new(finding.help(
            "either the headers are of mixed versions, or a type came out with another size than in the compiler",
        )))
    }

    pub(crate) fn apply_pack(&mut self, at: &Token, action: Pack) -> Result<()> {
        match action {
            Pack::Push(value) => {
                if self.pack_stack.len() >= MAX_DEPTH as usize {
                    let finding = self.error(code::LIMIT, at, "`#pragma pack(push)` nests too deep");
                    return Err(Box::new(finding));
                }
                self.pack_stack.push(self.pack);
                self.pack = value.or(self.pack);
            }
            Pack::Set(value) => self.pack = Some(value),
            Pack::Reset => self.pack = None,
            Pack::Pop => match self.pack_stack.pop() {
                Some(value) => self.pack = value,
                None => {
                    let finding = self.error(code::PRAGMA, at, "`#pragma pack(pop)` without a push");
                    return Err(Box::new(
                        finding.help("remove it, or add the `#pragma pack(push, N)`"),
                    ));
                }
            },
        }
        Ok(())
    }
}
