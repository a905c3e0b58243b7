//! From text to tokens: line continuations, comments, literals.

use std::rc::Rc;

use super::code;
use super::source::Sources;
use super::token::{Hidden, Kind, Loc, Token};
use crate::diagnostic::Diagnostic;

/// Punctuation, longest first.
const PUNCTUATION: &[&str] = &[
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "##", "::", "{", "}", "[", "]", "(", ")", ";", ":", ",", ".", "?", "#",
    "+", "-", "*", "/", "%", "&", "|", "^", "!", "~", "<", ">", "=",
];

/// Prefixes of character constants and string literals.
const PREFIXES: &[&str] = &["L", "u8", "u", "U"];

/// The tokens of a file. Only a comment without end is an error here; other mistakes become [`Kind::Bad`].
pub(crate) fn tokens(sources: &Sources, file: u32) -> Result<Vec<Token>, Box<Diagnostic>> {
    let text = sources.text(file);
    let mut lexer = Lexer { text, at: 0, file };
    let mut out = Vec::new();
    let (mut line_start, mut spaced) = (true, false);
    loop {
        let start = lexer.at;
        match lexer.blank() {
            Ok(Blank::None) => {}
            Ok(Blank::Space) => {
                spaced = true;
                continue;
            }
            Ok(Blank::Line) => {
                line_start = true;
                spaced = true;
                continue;
            }
            Err(message) => {
                let loc = lexer.loc(start, start + 2);
                return Err(Box::new(
                    Diagnostic::error(code::LEXICAL, message)
                        .at(sources.span(loc))
                        .help("close the comment with `*/`"),
                ));
            }
        }
        let Some((kind, text)) = lexer.token() else {
            return Ok(out);
        };
        out.push(Token {
            kind,
            text,
            loc: lexer.loc(start, lexer.at),
            line_start,
            spaced,
            hidden: Hidden::default(),
            from: None,
        });
        (line_start, spaced) = (false, false);
    }
}

/// The single token that `text` spells, if it is exactly one.
pub(crate) fn single(text: &str) -> Option<(Kind, Rc<str>)> {
    let mut lexer = Lexer { text, at: 0, file: 0 };
    let token = lexer.token()?;
    (lexer.at == text.len() && !matches!(token.0, Kind::Bad(_))).then_some(token)
}

enum Blank {
    None,
    Space,
    Line,
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    file: u32,
}

impl Lexer<'_> {
    fn loc(&self, from: usize, to: usize) -> Loc {
        // Files are at most `MAX_FILE_BYTES` long, so offsets fit.
        let small = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Loc {
            file: self.file,
            offset: small(from),
            len: small(to.saturating_sub(from)),
        }
    }

    /// The next character, past line continuations.
    fn peek(&mut self) -> Option<char> {
        loop {
            let rest = &self.text[self.at..];
            let spliced = rest
                .strip_prefix('\\')
                .and_then(|rest| rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')));
            match spliced {
                Some(after) => self.at = self.text.len() - after.len(),
                None => return rest.chars().next(),
            }
        }
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let before = self.at;
        for char in wanted.chars() {
            if self.bump() != Some(char) {
                self.at = before;
                return false;
            }
        }
        true
    }

    /// Skips one piece of white space or one comment.
    fn blank(&mut self) -> Result<Blank, &'static str> {
        match self.peek() {
            Some('\n') => {
                self.bump();
                return Ok(Blank::Line);
            }
            Some(' ' | '\t' | '\r' | '\x0b' | '\x0c') => {
                self.bump();
                return Ok(Blank::Space);
            }
            Some('/') => {}
            _ => return Ok(Blank::None),
        }
        if self.eat("//") {
            while self.peek().is_some_and(|char| char != '\n') {
                self.bump();
            }
            return Ok(Blank::Space);
        }
        if self.eat("/*") {
            while !self.eat("*/") {
                if self.bump().is_none() {
                    return Err("this comment is never closed");
                }
            }
            return Ok(Blank::Space);
        }
        Ok(Blank::None)
    }

    fn token(&mut self) -> Option<(Kind, Rc<str>)> {
        let first = self.peek()?;
        if first.is_ascii_alphabetic() || first == '_' || first == '$' {
            let word = self.word();
            if PREFIXES.contains(&&*word)
                && let Some(quote @ ('"' | '\'')) = self.peek()
            {
                return Some(self.literal(word, quote));
            }
            if &*word == "R" && self.peek() == Some('"') {
                return Some((Kind::Bad("raw strings are not supported"), word.into()));
            }
            return Some((Kind::Word, word.into()));
        }
        if first == '"' || first == '\'' {
            return Some(self.literal(String::new(), first));
        }
        let before = self.at;
        if first == '.' {
            self.bump();
        }
        if self.peek().is_some_and(|char| char.is_ascii_digit()) {
            self.at = before;
            return Some((Kind::Number, self.number().into()));
        }
        self.at = before;
        for punctuation in PUNCTUATION {
            if self.eat(punctuation) {
                return Some((Kind::Punct, (*punctuation).into()));
            }
        }
        self.bump();
        let reason = if first.is_ascii() {
            "this character means nothing in C"
        } else {
            "characters beyond ASCII are understood in comments and literals only"
        };
        Some((Kind::Bad(reason), first.to_string().into()))
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(char) = self.peek() {
            if !(char.is_ascii_alphanumeric() || char == '_' || char == '$') {
                break;
            }
            self.bump();
            word.push(char);
        }
        word
    }

    fn number(&mut self) -> String {
        let mut number = String::new();
        while let Some(char) = self.peek() {
            let signed_exponent = matches!(char, '+' | '-')
                && number.ends_with(['e', 'E', 'p', 'P'])
                && (number.ends_with(['p', 'P']) || !number.starts_with("0x") && !number.starts_with("0X"));
            if !(char.is_ascii_alphanumeric() || matches!(char, '_' | '.') || signed_exponent) {
                break;
            }
            self.bump();
            number.push(char);
        }
        number
    }

    fn literal(&mut self, prefix: String, quote: char) -> (Kind, Rc<str>) {
        let mut text = prefix;
        self.bump();
        text.push(quote);
        loop {
            match self.peek() {
                None | Some('\n') => {
                    let reason = if quote == '"' {
                        "this string literal is never closed"
                    } else {
                        "this character constant is never closed"
                    };
                    return (Kind::Bad(reason), text.into());
                }
                Some(char) => {
                    self.bump();
                    text.push(char);
                    if char == '\\' {
                        if let Some(escaped) = self.peek()
                            && escaped != '\n'
                        {
                            self.bump();
                            text.push(escaped);
                        }
                    } else if char == quote {
                        let kind = if quote == '"' { Kind::Str } else { Kind::Char };
                        return (kind, text.into());
                    }
                }
            }
        }
    }
}
