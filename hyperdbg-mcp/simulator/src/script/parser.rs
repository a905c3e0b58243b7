//! Tokens to a tree.

use super::lexer::{Spanned, Token, tokens};
use super::{Globals, functions};
use std::collections::BTreeSet;
use std::fmt;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expr {
    Number(u64),
    Text { value: String, wide: bool },
    Register(u32),
    Pseudo(String),
    Global(String),
    Local(String),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stmt {
    Eval(Expr),
    /// Target, operator (`=`, `+=`, …) and value.
    Assign(Expr, &'static str, Expr),
    If(Vec<(Expr, Vec<Stmt>)>, Vec<Stmt>),
    While(Expr, Vec<Stmt>),
    DoWhile(Vec<Stmt>, Expr),
    For(Box<Stmt>, Expr, Box<Stmt>, Vec<Stmt>),
    Break,
    Nothing,
}

/// A parsed script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub(super) body: Vec<Stmt>,
}

/// Why a text is no script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub message: String,
    /// Column, from 0.
    pub column: usize,
    /// The real parser does not survive this input: the process ends.
    pub fatal: bool,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at column {}", self.message, self.column)
    }
}

/// Parses a script. `symbol` finds addresses of `module!name`; `globals` tells which global
/// variables exist already.
///
/// # Errors
/// The first place that cannot be understood.
pub fn parse(
    text: &str,
    globals: &Globals,
    symbol: &dyn Fn(&str) -> Option<u64>,
) -> Result<Script, ParseError> {
    let tokens = tokens(text).map_err(|(column, message)| ParseError {
        message,
        column,
        fatal: false,
    })?;
    let known = globals.keys().cloned().collect();
    let mut parser = Parser {
        tokens,
        at: 0,
        globals: known,
        locals: BTreeSet::new(),
        symbol,
        loops: Vec::new(),
    };
    let mut body = Vec::new();
    while *parser.peek() != Token::End {
        body.push(parser.statement()?);
    }
    Ok(Script { body })
}

struct Parser<'a> {
    tokens: Vec<Spanned>,
    at: usize,
    globals: BTreeSet<String>,
    locals: BTreeSet<String>,
    symbol: &'a dyn Fn(&str) -> Option<u64>,
    /// Kinds of the loops around the current statement.
    loops: Vec<&'static str>,
}

const DEPTH_LIMIT: usize = 64;

/// Binary operators from the weakest to the strongest.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

type Parsed<T> = Result<T, ParseError>;

impl Parser<'_> {
    fn peek(&self) -> &Token {
        // The list ends with End, and `at` never goes past it.
        &self.tokens[self.at].token
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(ParseError {
            message: message.into(),
            column: self.tokens[self.at].at,
            fatal: false,
        })
    }

    fn fatal<T>(&self, message: &str) -> Parsed<T> {
        Err(ParseError {
            message: message.to_owned(),
            column: self.tokens[self.at].at,
            fatal: true,
        })
    }

    fn is(&self, operator: &str) -> bool {
        matches!(self.peek(), Token::Operator(found) if *found == operator)
    }

    fn take(&mut self, operator: &str) -> bool {
        let found = self.is(operator);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, operator: &str) -> Parsed<()> {
        if self.take(operator) {
            Ok(())
        } else {
            self.error(format!("'{operator}' is missing"))
        }
    }

    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.expect("{")?;
        let mut body = Vec::new();
        while !self.is("}") {
            if *self.peek() == Token::End {
                return self.error("'}' is missing");
            }
            body.push(self.statement()?);
        }
        self.next();
        Ok(body)
    }

    fn loop_block(&mut self, kind: &'static str) -> Parsed<Vec<Stmt>> {
        if self.loops.len() >= DEPTH_LIMIT {
            return self.error("loops are nested too deep");
        }
        self.loops.push(kind);
        let body = self.block();
        self.loops.pop();
        body
    }

    fn condition(&mut self) -> Parsed<Expr> {
        self.expect("(")?;
        let condition = self.expression(0)?;
        self.expect(")")?;
        Ok(condition)
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let Token::Keyword(keyword) = *self.peek() else {
            if self.take(";") {
                return Ok(Stmt::Nothing);
            }
            let statement = self.simple()?;
            self.expect(";")?;
            return Ok(statement);
        };
        self.next();
        match keyword {
            "if" => {
                let mut branches = vec![(self.condition()?, self.block()?)];
                while *self.peek() == Token::Keyword("elsif") {
                    self.next();
                    branches.push((self.condition()?, self.block()?));
                }
                let mut otherwise = Vec::new();
                if *self.peek() == Token::Keyword("else") {
                    self.next();
                    otherwise = self.block()?;
                }
                Ok(Stmt::If(branches, otherwise))
            }
            "while" => Ok(Stmt::While(self.condition()?, self.loop_block("while")?)),
            "do" => {
                let body = self.loop_block("do")?;
                if self.next() != Token::Keyword("while") {
                    return self.error("'while' is missing");
                }
                let condition = self.condition()?;
                self.expect(";")?;
                Ok(Stmt::DoWhile(body, condition))
            }
            "for" => {
                self.expect("(")?;
                let first = if self.is(";") {
                    Stmt::Nothing
                } else {
                    self.simple()?
                };
                self.expect(";")?;
                let condition = if self.is(";") {
                    Expr::Number(1)
                } else {
                    self.expression(0)?
                };
                self.expect(";")?;
                let step = if self.is(")") {
                    Stmt::Nothing
                } else {
                    self.simple()?
                };
                self.expect(")")?;
                Ok(Stmt::For(
                    Box::new(first),
                    condition,
                    Box::new(step),
                    self.loop_block("for")?,
                ))
            }
            "break" => {
                if self.loops.is_empty() {
                    return self.fatal("'break' outside a loop");
                }
                self.expect(";")?;
                Ok(Stmt::Break)
            }
            "continue" if self.loops.last() == Some(&"for") => self.fatal("'continue' inside 'for'"),
            other => self.error(format!("'{other}' is misplaced")),
        }
    }

    /// An assignment or a value, without its semicolon.
    fn simple(&mut self) -> Parsed<Stmt> {
        let start = self.at;
        if let Token::Name(name) = self.peek().clone() {
            self.next();
            if self.take("=") {
                let value = self.expression(0)?;
                self.locals.insert(name.clone());
                return Ok(Stmt::Assign(Expr::Local(name), "=", value));
            }
            if (self.is("++") || self.is("--")) && !self.locals.contains(&name) {
                return self.fatal("a name that was never set is incremented");
            }
            self.at = start;
        }
        if let Token::Global(name) = self.peek().clone() {
            self.next();
            if self.take("=") {
                let value = self.expression(0)?;
                self.globals.insert(name.clone());
                return Ok(Stmt::Assign(Expr::Global(name), "=", value));
            }
            self.at = start;
        }
        let target = self.expression(0)?;
        let Token::Operator(operator) = *self.peek() else {
            return Ok(Stmt::Eval(target));
        };
        let is_place = matches!(
            target,
            Expr::Local(_) | Expr::Global(_) | Expr::Register(_) | Expr::Unary("*", _)
        );
        match operator {
            "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" if is_place => {
                self.next();
                let value = self.expression(0)?;
                Ok(Stmt::Assign(target, operator, value))
            }
            "++" | "--" if is_place => {
                self.next();
                let operator = if operator == "++" { "+=" } else { "-=" };
                Ok(Stmt::Assign(target, operator, Expr::Number(1)))
            }
            _ => Ok(Stmt::Eval(target)),
        }
    }

    fn expression(&mut self, level: usize) -> Parsed<Expr> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary(0);
        };
        let mut left = self.expression(level + 1)?;
        while let Token::Operator(operator) = *self.peek() {
            if !operators.contains(&operator) {
                break;
            }
            self.next();
            let right = self.expression(level + 1)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self, depth: usize) -> Parsed<Expr> {
        if depth > DEPTH_LIMIT {
            return self.error("too many operators in a row");
        }
        if let Token::Operator(operator @ ("-" | "+" | "~" | "!" | "*" | "&")) = *self.peek() {
            self.next();
            let operand = self.unary(depth + 1)?;
            return Ok(Expr::Unary(operator, Box::new(operand)));
        }
        self.primary(depth)
    }

    fn primary(&mut self, depth: usize) -> Parsed<Expr> {
        match self.peek().clone() {
            Token::Number(value) => {
                self.next();
                Ok(Expr::Number(value))
            }
            Token::Text { value, wide } => {
                self.next();
                Ok(Expr::Text { value, wide })
            }
            Token::Register(id) => {
                self.next();
                Ok(Expr::Register(id))
            }
            Token::Pseudo(name) => {
                self.next();
                Ok(Expr::Pseudo(name))
            }
            Token::Global(name) => {
                if !self.globals.contains(&name) {
                    return self.error(format!("unresolved variable '.{name}'"));
                }
                self.next();
                Ok(Expr::Global(name))
            }
            Token::Symbol(name) => match (self.symbol)(&name) {
                Some(address) => {
                    self.next();
                    Ok(Expr::Number(address))
                }
                None => self.error(format!("unresolved symbol '{name}'")),
            },
            Token::Name(name) => self.name(name),
            Token::Operator("(") if depth < DEPTH_LIMIT => {
                self.next();
                let inner = self.expression(0)?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::End => self.error("the text ends too early"),
            other => self.error(format!("unexpected {}", describe(&other))),
        }
    }

    fn name(&mut self, name: String) -> Parsed<Expr> {
        let start = self.at;
        self.next();
        if !self.take("(") {
            if self.locals.contains(&name) {
                return Ok(Expr::Local(name));
            }
            if let Some(address) = (self.symbol)(&name) {
                return Ok(Expr::Number(address));
            }
            self.at = start;
            return self.error(format!("unresolved variable '{name}'"));
        }
        let mut arguments = Vec::new();
        if !self.is(")") {
            arguments.push(self.expression(0)?);
            while self.take(",") {
                arguments.push(self.expression(0)?);
            }
        }
        self.expect(")")?;
        match functions::arity(&name) {
            None => {
                self.at = start;
                self.error(format!("unknown function '{name}'"))
            }
            Some((least, most)) if arguments.len() < least || arguments.len() > most => {
                self.error(format!("wrong number of arguments for '{name}'"))
            }
            Some(_) => Ok(Expr::Call(name, arguments)),
        }
    }
}

fn describe(token: &Token) -> String {
    match token {
        Token::Operator(operator) => format!("'{operator}'"),
        Token::Keyword(keyword) => format!("'{keyword}'"),
        _ => "token".to_owned(),
    }
}
