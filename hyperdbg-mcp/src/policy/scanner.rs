//! Reads script text into tokens exactly as HyperDbg's script engine does.
//!
//! The rules are those of v0.23's `scanner.c`, odd ones included: backticks vanish inside words that begin like a
//! hexadecimal number, `**/` does not end a comment, a word that names a register is that register whether or not it
//! has an `@`. What the scanner itself refuses ends the reading here too: the engine then runs nothing of the text.

use super::tables;

/// One token of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lexeme {
    /// A keyword or built-in function of the language.
    Keyword(String),
    /// The name of a scalar type.
    Type(String),
    /// A register, with or without `@`.
    Register(String),
    /// `$name`.
    Pseudo(String),
    /// A local name.
    Name(String),
    /// `.name`: a variable that outlives the script.
    Global(String),
    /// `module!symbol`: becomes a number.
    Symbol(String),
    /// A number; `bare` when it is two or more decimal digits without a mark of its base, `lettered` when it begins
    /// with a letter.
    Number {
        bare: bool,
        lettered: bool,
        value: Option<u64>,
    },
    /// A string literal.
    Text(Vec<u8>),
    /// A wide string literal of so many characters.
    WideText(usize),
    /// `#include` and its like.
    Directive(String),
    /// An operator or separator.
    Op(&'static str),
}

/// What was read, and why reading stopped early.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) lexemes: Vec<Lexeme>,
    pub(crate) error: Option<&'static str>,
}

/// How comments end: as the engine reads them, or as people and the command tokenizer do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    Engine,
    Plain,
}

const OPERATORS: [&str; 42] = [
    ">>=", "<<=", "++", "+=", "->", "--", "-=", "*=", ">>", ">=", "<<", "<=", "/=", "==", "!=", "%=", "||",
    "|=", "&&", "&=", "^=", "~", "+", "-", "*", ">", "<", "/", "=", "%", ",", ";", ":", "(", ")", "{", "}",
    "[", "]", "|", "&", "^",
];

/// Reads `text`.
pub(crate) fn scan(text: &[u8], comments: Comments) -> Scan {
    let mut scanner = Scanner {
        text,
        at: 0,
        comments,
        scan: Scan::default(),
    };
    while scanner.scan.error.is_none() && scanner.at < text.len() {
        if let Err(why) = scanner.next() {
            scanner.scan.error = Some(why);
        }
    }
    scanner.scan
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    comments: Comments,
    scan: Scan,
}

fn number(value: Option<u64>) -> Lexeme {
    Lexeme::Number {
        bare: false,
        lettered: false,
        value,
    }
}

fn word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'!'
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn push(&mut self, lexeme: Lexeme) {
        self.scan.lexemes.push(lexeme);
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> String {
        let mut taken = String::new();
        while let Some(byte) = self.peek().filter(|byte| accept(*byte)) {
            if byte != b'`' {
                taken.push(char::from(byte));
            }
            self.at += 1;
        }
        taken
    }

    fn next(&mut self) -> Result<(), &'static str> {
        let Some(byte) = self.peek() else { return Ok(()) };
        match byte {
            b' ' | b'\t' | b'\n' => {
                self.at += 1;
                Ok(())
            }
            b'"' => self.string(),
            b'L' if self.peek_at(1) == Some(b'"') => self.wide_string(),
            b'/' if self.peek_at(1) == Some(b'/') => {
                self.take_while(|byte| byte != b'\n' && byte.is_ascii() && byte != 0);
                // A byte 0xff ends the engine's comment, so that code can hide behind it.
                self.peek()
                    .is_none_or(|byte| byte == b'\n')
                    .then_some(())
                    .ok_or("a comment holds a byte that is not ASCII")
            }
            b'/' if self.peek_at(1) == Some(b'*') => self.block_comment(),
            b'@' => self.marked(
                Lexeme::Register,
                tables::script().registers.as_slice(),
                "`@` before no register",
            ),
            b'$' => self.marked(
                Lexeme::Pseudo,
                tables::script().pseudo_registers.as_slice(),
                "`$` before no pseudo-register",
            ),
            b'.' => self.dot(),
            b'#' => {
                self.at += 1;
                let name = self.take_while(word_byte);
                self.push(Lexeme::Directive(name));
                Ok(())
            }
            b'0' => {
                self.zero();
                Ok(())
            }
            b'1'..=b'9' => {
                self.digits();
                Ok(())
            }
            b'!' if self.peek_at(1) == Some(b'=') => {
                self.at += 2;
                self.push(Lexeme::Op("!="));
                Ok(())
            }
            // The engine reads a lone `!` as an operator before it looks for words.
            b'!' => {
                self.at += 1;
                self.push(Lexeme::Op("!"));
                Ok(())
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            _ => self.operator(),
        }
    }

    fn operator(&mut self) -> Result<(), &'static str> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let operator = OPERATORS
            .iter()
            .find(|operator| rest.starts_with(operator.as_bytes()))
            .ok_or("a character that the script language does not have")?;
        self.at += operator.len();
        self.push(Lexeme::Op(operator));
        Ok(())
    }

    fn block_comment(&mut self) -> Result<(), &'static str> {
        self.at += 2;
        while let Some(byte) = self.peek() {
            if !byte.is_ascii() || byte == 0 {
                return Err("a comment holds a byte that is not ASCII");
            }
            self.at += 1;
            if byte != b'*' {
                continue;
            }
            let next = self.peek();
            if next == Some(b'/') {
                self.at += 1;
                return Ok(());
            }
            // The engine has swallowed the byte after the star, even if that is a star too.
            if self.comments == Comments::Engine && next.is_some() {
                self.at += 1;
            }
        }
        Err("a comment is not closed")
    }

    fn marked(
        &mut self,
        make: impl Fn(String) -> Lexeme,
        known: &[String],
        why: &'static str,
    ) -> Result<(), &'static str> {
        self.at += 1;
        if !self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return Err(why);
        }
        let name = self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !known.contains(&name) && !tables::is_hardware_name(&name) {
            return Err(why);
        }
        self.push(make(name));
        Ok(())
    }

    fn dot(&mut self) -> Result<(), &'static str> {
        self.at += 1;
        let member = matches!(
            self.scan.lexemes.last(),
            Some(
                Lexeme::Global(_)
                    | Lexeme::Name(_)
                    | Lexeme::Register(_)
                    | Lexeme::Pseudo(_)
                    | Lexeme::Symbol(_)
                    | Lexeme::Number { .. }
                    | Lexeme::Op(")" | "]")
            )
        );
        if member {
            self.push(Lexeme::Op("."));
            return Ok(());
        }
        match self.peek() {
            Some(byte) if byte.is_ascii_digit() => {
                self.fraction();
                Ok(())
            }
            Some(byte) if word_byte(byte) => {
                let name = self.take_while(word_byte);
                self.push(Lexeme::Global(name));
                Ok(())
            }
            _ => Err("a dot before no name"),
        }
    }

    fn fraction(&mut self) {
        self.take_while(|byte| byte.is_ascii_digit());
        self.push(number(None));
    }

    fn zero(&mut self) {
        let radix = match self.peek_at(1) {
            Some(b'x') => 16,
            Some(b'o') => 8,
            Some(b'n') => 10,
            Some(b'y') => 2,
            Some(b'.') => {
                self.at += 2;
                return self.fraction();
            }
            _ => return self.digits(),
        };
        self.at += 2;
        let digits = self.take_while(|byte| char::from(byte).is_digit(radix) || byte == b'`');
        self.push(number(u64::from_str_radix(&digits, radix).ok()));
    }

    fn digits(&mut self) {
        let digits = self.take_while(|byte| byte.is_ascii_hexdigit() || byte == b'`');
        let decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
        if decimal && self.peek() == Some(b'.') {
            self.at += 1;
            return self.fraction();
        }
        self.push(Lexeme::Number {
            bare: decimal && digits.len() > 1,
            lettered: false,
            value: u64::from_str_radix(&digits, 16).ok(),
        });
    }

    fn word(&mut self) -> Result<(), &'static str> {
        let first = self.peek().unwrap_or_default();
        let like_hex = first.is_ascii_hexdigit() || first == b'_';
        let mut word = String::new();
        if like_hex {
            word = self.take_while(|byte| byte.is_ascii_hexdigit() || byte == b'`' || byte == b'_');
            if !self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
                self.classify(word, true);
                return Ok(());
            }
        }
        word.push_str(&self.take_while(word_byte));
        if word.contains('!') {
            self.push(Lexeme::Symbol(word));
        } else {
            self.classify(word, false);
        }
        Ok(())
    }

    fn classify(&mut self, word: String, like_hex: bool) {
        let script = tables::script();
        let lexeme = if script.functions.contains_key(&word) || script.keywords.contains(&word) {
            Lexeme::Keyword(word)
        } else if script.registers.contains(&word) || tables::is_hardware_name(&word) {
            Lexeme::Register(word)
        } else if script.types.contains(&word) {
            Lexeme::Type(word)
        } else if like_hex {
            Lexeme::Number {
                bare: false,
                lettered: true,
                value: u64::from_str_radix(&word, 16).ok(),
            }
        } else {
            Lexeme::Name(word)
        };
        self.push(lexeme);
    }

    fn string(&mut self) -> Result<(), &'static str> {
        self.at += 1;
        let text = self.quoted(2)?;
        self.push(Lexeme::Text(text));
        Ok(())
    }

    fn wide_string(&mut self) -> Result<(), &'static str> {
        self.at += 2;
        let text = self.quoted(4)?;
        self.push(Lexeme::WideText(text.len()));
        Ok(())
    }

    /// The inside of a string literal; `hex` is how many digits an `\x` escape takes at most.
    fn quoted(&mut self, hex: usize) -> Result<Vec<u8>, &'static str> {
        let mut text = Vec::new();
        loop {
            let byte = self.peek().ok_or("a quote is not closed")?;
            self.at += 1;
            match byte {
                b'"' => return Ok(text),
                b'\\' => {
                    let escape = self.peek().ok_or("a quote is not closed")?;
                    self.at += 1;
                    match escape {
                        b'n' | b't' | b'\\' | b'"' => text.push(escape),
                        b'x' => {
                            let start = self.at;
                            self.take_while(|byte| byte.is_ascii_hexdigit());
                            if !(1..=hex).contains(&(self.at - start)) {
                                return Err("an escape that the script language does not have");
                            }
                            text.push(b'?');
                        }
                        _ => return Err("an escape that the script language does not have"),
                    }
                }
                _ if byte.is_ascii() && (!byte.is_ascii_control() || byte == b'\n' || byte == b'\t') => {
                    text.push(byte);
                }
                _ => return Err("a string holds a byte that is not printable ASCII"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(text: &str) -> Vec<Lexeme> {
        scan(text.as_bytes(), Comments::Engine).lexemes
    }

    #[test]
    fn backticks_vanish_in_words_that_begin_like_a_number() {
        assert_eq!(engine("e`q(")[0], Lexeme::Keyword("eq".into()));
        assert_eq!(engine("e`a`x")[0], Lexeme::Register("eax".into()));
        assert!(matches!(
            engine("fffff800`12345678")[..],
            [Lexeme::Number {
                value: Some(0xffff_f800_1234_5678),
                ..
            }]
        ));
    }

    #[test]
    fn a_star_before_the_end_of_a_comment_hides_it() {
        assert_eq!(engine("/* **/ eq(1,1); /* */").len(), 0);
        assert!(scan(b"/* **/ eq(1,1); /* */", Comments::Plain).lexemes.len() > 3);
    }

    #[test]
    fn bare_register_names_are_registers() {
        for name in ["rax", "id", "nt", "tr", "df", "al", "ip"] {
            assert_eq!(engine(name), [Lexeme::Register(name.into())]);
        }
    }

    #[test]
    fn a_number_may_stand_directly_before_a_function() {
        assert_eq!(engine("0n1eq(")[1], Lexeme::Keyword("eq".into()));
    }

    #[test]
    fn what_the_engine_refuses_ends_the_reading() {
        for text in [
            "\"open",
            "/* open",
            "@nothing",
            "$nothing",
            "a\rb",
            "printf(\"\\q\")",
            "é",
            "`",
            "// \u{ff}x",
        ] {
            assert!(scan(text.as_bytes(), Comments::Engine).error.is_some(), "{text}");
        }
        assert!(scan(b"// \xff eq(1,1);", Comments::Engine).error.is_some());
    }
}
