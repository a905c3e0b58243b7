//! The command tokenizer, and numbers as commands write them.
//!
//! Only blanks separate; TAB, LF and the like are trimmed at both ends of a token, so
//! `help<LF>exit` is one word. Quotes and braces group. Outside braces comments disappear, and the
//! halves of a word around one join.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Number,
    /// A word.
    Word,
    /// Text in quotes.
    Literal,
    /// Text in braces.
    Block,
}

impl Kind {
    /// The name that the token listing prints.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "Num",
            Self::Word => "String",
            Self::Literal => "StringLiteral",
            Self::Block => "BracketString",
        }
    }
}

/// One token. The text of a number has lost its prefix and its back-ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its text.
    pub text: String,
}

impl Token {
    /// The text in lower case.
    #[must_use]
    pub fn lower(&self) -> String {
        self.text.to_ascii_lowercase()
    }

    /// True when the token is `word`, whatever its case.
    #[must_use]
    pub fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }

    /// The token as a number.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        parse_number(&self.text)
    }

    /// The token as a 32-bit number.
    #[must_use]
    pub fn number32(&self) -> Option<u32> {
        self.number().and_then(|value| u32::try_from(value).ok())
    }
}

fn is_control_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// Splits a command into tokens. Unbalanced quotes and braces end with the text.
#[must_use]
pub fn tokenize(command: &str) -> Vec<Token> {
    Tokenizer {
        input: command.chars().collect(),
        at: 0,
        current: String::new(),
        tokens: Vec::new(),
    }
    .run()
}

struct Tokenizer {
    input: Vec<char>,
    at: usize,
    current: String,
    tokens: Vec<Token>,
}

impl Tokenizer {
    fn run(mut self) -> Vec<Token> {
        while let Some(&c) = self.input.get(self.at) {
            match c {
                '/' if self.comment() => {}
                '\\' if matches!(self.peek(1), Some('{' | '}' | '"')) => {
                    self.current.push(self.input[self.at + 1]);
                    self.at += 2;
                }
                // A stray \n between words is dropped.
                '\\' if self.current.is_empty() && self.peek(1) == Some('n') => self.at += 2,
                ' ' => {
                    self.flush();
                    self.at += 1;
                }
                '"' => {
                    self.flush();
                    self.literal();
                }
                '{' => {
                    self.flush();
                    self.block();
                }
                other => {
                    self.current.push(other);
                    self.at += 1;
                }
            }
        }
        self.flush();
        self.tokens
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.input.get(self.at + ahead).copied()
    }

    /// Skips a comment; false when there is none here.
    fn comment(&mut self) -> bool {
        match self.peek(1) {
            Some('/') => {
                // Outside braces the two characters \n end the comment as well as a newline does.
                while let Some(&c) = self.input.get(self.at) {
                    if c == '\n' || (c == '\\' && self.peek(1) == Some('n')) {
                        break;
                    }
                    self.at += 1;
                }
                true
            }
            Some('*') => {
                let rest = &self.input[self.at + 2..];
                let Some(end) = rest.windows(2).position(|pair| pair == ['*', '/']) else {
                    return false;
                };
                self.at += end + 4;
                true
            }
            _ => false,
        }
    }

    fn literal(&mut self) {
        self.at += 1;
        let mut text = String::new();
        while let Some(&c) = self.input.get(self.at) {
            self.at += 1;
            match c {
                '"' => break,
                '\\' if self.peek(0) == Some('"') => {
                    text.push('"');
                    self.at += 1;
                }
                other => text.push(other),
            }
        }
        if !text.is_empty() {
            self.tokens.push(Token {
                kind: Kind::Literal,
                text,
            });
        }
    }

    /// A brace block keeps its comments and inner braces for the script engine.
    fn block(&mut self) {
        self.at += 1;
        let mut depth = 1;
        let mut in_quotes = false;
        let mut text = String::new();
        while let Some(&c) = self.input.get(self.at) {
            self.at += 1;
            match c {
                '\\' if matches!(self.peek(0), Some('{' | '}')) && !in_quotes => {
                    text.push(self.input[self.at]);
                    self.at += 1;
                    continue;
                }
                '\\' if in_quotes => {
                    text.push(c);
                    if let Some(escaped) = self.peek(0) {
                        text.push(escaped);
                        self.at += 1;
                    }
                    continue;
                }
                '"' => in_quotes = !in_quotes,
                '{' if !in_quotes => depth += 1,
                '}' if !in_quotes => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ => {}
            }
            text.push(c);
        }
        self.tokens.push(Token {
            kind: Kind::Block,
            text,
        });
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.current);
        let text = text.trim_matches(is_control_blank);
        if text.is_empty() {
            return;
        }
        let token = match number_text(text) {
            Some(text) => Token {
                kind: Kind::Number,
                text,
            },
            None => Token {
                kind: Kind::Word,
                text: text.to_owned(),
            },
        };
        self.tokens.push(token);
    }
}

/// The text of a number token: hexadecimal digits without prefix; decimal ones keep `0n`.
fn number_text(text: &str) -> Option<String> {
    parse_number(text)?;
    let plain: String = text.chars().filter(|c| *c != '`').collect();
    let lower = plain.to_ascii_lowercase();
    let stripped = ["0x", "\\x", "x"]
        .iter()
        .find_map(|prefix| lower.strip_prefix(prefix));
    Some(stripped.map_or(plain.clone(), |digits| {
        plain[plain.len() - digits.len()..].to_owned()
    }))
}

/// Reads a number: hexadecimal by default and after `0x` or `x`, decimal after `0n` or `n`;
/// back-ticks do not count.
#[must_use]
pub fn parse_number(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let hexadecimal = ["0x", "\\x", "x"]
        .iter()
        .find_map(|prefix| lower.strip_prefix(prefix));
    let decimal = ["0n", "\\n", "n"]
        .iter()
        .find_map(|prefix| lower.strip_prefix(prefix));
    let (digits, radix) = match (hexadecimal, decimal) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) => (digits, 10),
        (None, None) => (lower.as_str(), 16),
    };
    let digits: String = digits.chars().filter(|c| *c != '`').collect();
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    // A number that is too long saturates, as strtoull does.
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    Some(u64::from_str_radix(digits, radix).unwrap_or(u64::MAX))
}

/// State of the multi-line check: open braces and an open quote.
#[derive(Clone, Copy, Debug, Default)]
pub struct MultiLine {
    in_quotes: bool,
    escaped: bool,
    depth: u32,
}

impl MultiLine {
    /// Feeds one line; true when the command needs more lines.
    pub fn feed(&mut self, line: &str) -> bool {
        for c in line.chars() {
            let escaped = std::mem::take(&mut self.escaped);
            match c {
                '"' if !escaped => self.in_quotes = !self.in_quotes,
                '\\' => self.escaped = !escaped,
                '{' if !self.in_quotes => self.depth += 1,
                '}' if !self.in_quotes => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        self.in_quotes || self.depth > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<String> {
        tokenize(command).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn only_blanks_separate_words() {
        assert_eq!(words("bp  nt!X\tpid 4"), ["bp", "nt!X\tpid", "4"]);
        assert_eq!(words("help\nexit"), ["help\nexit"]);
        assert_eq!(words("\t bl \n"), ["bl"]);
        assert!(tokenize(" \t\n").is_empty());
    }

    #[test]
    fn comments_vanish_and_join_the_halves_of_a_word() {
        assert_eq!(words("r // rax"), ["r"]);
        assert_eq!(words("ex/* c */it"), ["exit"]);
        assert_eq!(words("a // b\\n c"), ["a", "c"]);
        assert_eq!(words("# r"), ["#", "r"], "a hash is no comment");
    }

    #[test]
    fn quotes_and_braces_group() {
        let tokens = tokenize("x \"a b\" script { if (1) { print(\"}\"); } // c\n }");
        let kinds: Vec<Kind> = tokens.iter().map(|token| token.kind).collect();
        assert_eq!(kinds, [Kind::Word, Kind::Literal, Kind::Word, Kind::Block]);
        assert_eq!(tokens[3].text, " if (1) { print(\"}\"); } // c\n ");
        assert_eq!(words("a{b}c"), ["a", "b", "c"]);
        assert_eq!(words("say \"a \\\" b"), ["say", "a \" b"]);
    }

    #[test]
    fn numbers_are_hexadecimal_by_default() {
        assert_eq!(parse_number("10"), Some(16));
        assert_eq!(parse_number("0n10"), Some(10));
        assert_eq!(parse_number("fffff803`30000000"), Some(0xffff_f803_3000_0000));
        assert_eq!(parse_number("x10"), Some(16));
        assert_eq!(parse_number("nt!X"), None);
        assert_eq!(parse_number(""), None);
        assert_eq!(parse_number("0n1f"), None);
        assert_eq!(
            tokenize("0x1F")[0],
            Token {
                kind: Kind::Number,
                text: "1F".into()
            }
        );
    }

    #[test]
    fn an_open_brace_or_quote_asks_for_more_lines() {
        let mut state = MultiLine::default();
        assert!(state.feed("!syscall script {"));
        assert!(state.feed("  print(1);"));
        assert!(!state.feed("}"));
        assert!(MultiLine::default().feed("say \"open"));
    }
}
