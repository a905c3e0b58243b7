//! Splits a script into tokens.

use crate::machine::registers;

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Number(u64),
    Text { value: String, wide: bool },
    Register(u32),
    Pseudo(String),
    Global(String),
    Name(String),
    Symbol(String),
    Keyword(&'static str),
    Operator(&'static str),
    End,
}

/// A token and where it starts.
#[derive(Clone, Debug)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) at: usize,
}

const KEYWORDS: &[&str] = &["if", "elsif", "else", "while", "do", "for", "break", "continue"];

/// Names that are a pseudo-register with or without `$`.
pub(super) const PSEUDO: &[&str] = &[
    "pid",
    "tid",
    "pname",
    "core",
    "proc",
    "thread",
    "peb",
    "teb",
    "ip",
    "buffer",
    "context",
    "event_tag",
    "event_id",
    "event_stage",
    "date",
    "time",
];

const OPERATORS: &[&str] = &[
    "<<=", ">>=", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=",
    "&=", "|=", "^=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">", "=", "(", ")", "{", "}",
    ";", ",",
];

/// Tokens of `text`, ended by [`Token::End`]; or where it stops making sense.
pub(super) fn tokens(text: &str) -> Result<Vec<Spanned>, (usize, String)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&c) = bytes.get(at) {
        let rest = &text[at..];
        if c.is_ascii_whitespace() {
            at += 1;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            let end = rest
                .find("*/")
                .ok_or_else(|| (at, "a comment is not closed".to_owned()))?;
            at += end + 2;
        } else {
            let (token, length) = token(rest).map_err(|why| (at, why))?;
            found.push(Spanned { token, at });
            at += length;
        }
    }
    found.push(Spanned {
        token: Token::End,
        at,
    });
    Ok(found)
}

fn token(rest: &str) -> Result<(Token, usize), String> {
    let first = rest.chars().next().unwrap_or(' ');
    if first == '"' {
        return string(rest, false);
    }
    if rest.starts_with("L\"") {
        return string(&rest[1..], true).map(|(token, length)| (token, length + 1));
    }
    if let '@' | '$' | '.' = first {
        return sigil(first, &rest[1..]).map(|(token, length)| (token, length + 1));
    }
    if first.is_ascii_alphanumeric() || first == '_' {
        return Ok(word(rest));
    }
    for operator in OPERATORS {
        if rest.starts_with(operator) {
            return Ok((Token::Operator(operator), operator.len()));
        }
    }
    Err(format!("unexpected character '{first}'"))
}

fn string(rest: &str, wide: bool) -> Result<(Token, usize), String> {
    let mut value = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Ok((Token::Text { value, wide }, at + 1)),
            '\\' => match characters.next().map(|(_, c)| c) {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('r') => value.push('\r'),
                Some(other) => value.push(other),
                None => break,
            },
            other => value.push(other),
        }
    }
    Err("a string is not closed".to_owned())
}

fn word_length(text: &str, extra: &[char]) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || extra.contains(&c)))
        .unwrap_or(text.len())
}

fn sigil(sign: char, rest: &str) -> Result<(Token, usize), String> {
    let length = word_length(rest, &[]);
    let name = rest[..length].to_ascii_lowercase();
    let token = match sign {
        '@' => registers::id_of(&name).map(Token::Register),
        '$' => PSEUDO.contains(&name.as_str()).then_some(Token::Pseudo(name)),
        _ => (length > 0).then(|| Token::Global(rest[..length].to_owned())),
    };
    token
        .map(|token| (token, length))
        .ok_or_else(|| format!("'{sign}{}' is not known", &rest[..length]))
}

fn word(rest: &str) -> (Token, usize) {
    // A back-tick is dropped inside a word that begins like a number.
    let hexadecimal = rest.starts_with(|c: char| c.is_ascii_hexdigit());
    let extra: &[char] = if hexadecimal { &['`'] } else { &[] };
    let length = word_length(rest, extra);
    let spelled: String = rest[..length].chars().filter(|c| *c != '`').collect();
    let lower = spelled.to_ascii_lowercase();
    if rest[length..].starts_with('!') && !rest[length..].starts_with("!=") {
        let name = word_length(&rest[length + 1..], &['$', '?', '@', ':']);
        if name > 0 {
            let end = length + 1 + name;
            return (Token::Symbol(rest[..end].to_owned()), end);
        }
    }
    if let Some(keyword) = KEYWORDS.iter().find(|keyword| **keyword == lower) {
        return (Token::Keyword(keyword), length);
    }
    let called = rest[length..].trim_start().starts_with('(');
    if called && super::functions::exists(&lower) {
        return (Token::Name(lower), length);
    }
    if let Some(id) = registers::id_of(&lower) {
        return (Token::Register(id), length);
    }
    if PSEUDO.contains(&lower.as_str()) {
        return (Token::Pseudo(lower), length);
    }
    if let Some(value) = number(&lower) {
        return (Token::Number(value), length);
    }
    (Token::Name(spelled), length)
}

/// Hexadecimal unless a prefix says otherwise: `0n` decimal, `0t` octal, `0y` binary.
fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (&text[2..], 16),
        Some("0n") => (&text[2..], 10),
        Some("0t") => (&text[2..], 8),
        Some("0y") => (&text[2..], 2),
        _ => (text, 16),
    };
    if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}
