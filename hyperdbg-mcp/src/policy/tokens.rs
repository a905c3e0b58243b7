//! Reads a command line into tokens exactly as HyperDbg's command interpreter does.
//!
//! The rules are those of v0.23's `interpreter.cpp`, odd ones included: only blanks separate, control blanks are
//! trimmed at a token's ends, a comment inside a word joins its halves, the two characters `\n` end a `//` comment,
//! quoted and braced text is a token of its own and may be the command word.

/// How a token was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Bare text.
    Plain,
    /// The inside of double quotes.
    Quoted,
    /// The inside of braces.
    Block,
}

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// The text that the handlers see.
    pub(crate) text: Vec<u8>,
}

impl Token {
    /// The text in lower case, as keywords and command words are compared.
    pub(crate) fn lower(&self) -> String {
        String::from_utf8_lossy(&self.text).to_ascii_lowercase()
    }
}

/// A line as HyperDbg reads it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    pub(crate) tokens: Vec<Token>,
    /// A quote was not closed; the interpreter goes on as if it were.
    pub(crate) open_quote: bool,
    /// A brace was not closed; the interpreter goes on as if it were.
    pub(crate) open_brace: bool,
    /// The line depends on bytes outside of the text (a closing brace at its start, an escape after nothing).
    pub(crate) reads_outside: bool,
}

/// What C's `isspace` says.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 0x09..=0x0d)
}

/// Text without the blanks at its ends.
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    let start = text
        .iter()
        .position(|byte| !is_space(*byte))
        .unwrap_or(text.len());
    let end = text
        .iter()
        .rposition(|byte| !is_space(*byte))
        .map_or(start, |at| at + 1);
    text.get(start..end).unwrap_or_default()
}

/// Reads `text` up to its first NUL.
pub(crate) fn read(text: &[u8]) -> Line {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    Reader {
        input: text.get(..end).unwrap_or_default().to_vec(),
        current: Vec::new(),
        quoted: false,
        depth: 0,
        line: Line::default(),
    }
    .run()
}

struct Reader {
    input: Vec<u8>,
    current: Vec<u8>,
    quoted: bool,
    depth: usize,
    line: Line,
}

impl Reader {
    fn run(mut self) -> Line {
        let mut at = 0;
        while at < self.input.len() {
            at = self.step(at);
        }
        if !self.current.is_empty() && self.current != b" " {
            self.word();
        }
        self.line.open_quote = self.quoted;
        self.line.open_brace = self.depth > 0;
        self.line
    }

    /// Handles the byte at `at` and returns the place of the next one.
    fn step(&mut self, mut at: usize) -> usize {
        let byte = self.byte(at);
        if byte == b'/'
            && !self.quoted
            && let Some(next) = self.comment(at)
        {
            return next;
        }
        if self.quoted && byte == b'"' {
            if self.before(at) != Some(b'\\') {
                self.quoted = false;
                if self.depth == 0 {
                    self.literal();
                } else {
                    self.current.push(byte);
                }
                return at + 1;
            }
            self.input.remove(at - 1);
            if self.depth == 0 {
                self.drop_escape();
            }
            self.current.push(byte);
            return at;
        }
        if byte == b'}' {
            if at == 0 {
                self.line.reads_outside = true;
            }
            if self.before(at) != Some(b'\\') {
                if self.depth > 0 {
                    if !self.quoted {
                        self.depth -= 1;
                    }
                    if self.depth == 0 {
                        self.block();
                        return at + 1;
                    }
                }
            } else if !self.quoted {
                self.input.remove(at - 1);
                at -= 1;
                self.drop_escape();
            }
        }
        if byte == b' ' && !self.quoted && self.depth == 0 {
            if !self.current.is_empty() && self.current != b" " {
                self.word();
            }
            return at + 1;
        }
        if byte == b'"' {
            let before = self.before(at);
            if before.is_some_and(|before| before != b' ')
                && self.depth == 0
                && !self.current.is_empty()
                && !self.quoted
            {
                self.string();
            }
            if before != Some(b'\\') {
                self.quoted = true;
                if self.depth == 0 {
                    return at + 1;
                }
            }
        } else if byte == b'{' && !self.quoted {
            match self.before(at) {
                Some(b'\\') => {
                    self.input.remove(at - 1);
                    at -= 1;
                    self.drop_escape();
                }
                before => {
                    if before.is_some_and(|before| before != b' ') && self.depth == 0 {
                        self.word();
                    }
                    self.depth += 1;
                    if self.depth == 1 {
                        return at + 1;
                    }
                }
            }
        }
        if byte == b'\\' && !self.quoted && self.current.is_empty() && self.input.get(at + 1) == Some(&b'n') {
            return at + 2;
        }
        self.current.push(byte);
        at + 1
    }

    /// Skips the comment that starts at `at`; inside braces its text is kept for the script engine.
    fn comment(&mut self, at: usize) -> Option<usize> {
        match self.input.get(at + 1) {
            Some(b'/') => Some(self.line_comment(at)),
            Some(b'*') => {
                let end = self.find(b"*/", at + 2)? + 2;
                self.keep_comment(at, end);
                Some(end)
            }
            _ => None,
        }
    }

    fn line_comment(&mut self, at: usize) -> usize {
        let quote = self.find(b"\"", at);
        let mut quote_end = Some(0);
        if let Some(quote) = quote
            && self.before(at) != Some(b'\\')
        {
            quote_end = self.find(b"\"", quote + 1);
        }
        let mut closing = None;
        if self.depth > 0 {
            let from = match quote_end {
                Some(end) if end > at => Some(end),
                Some(_) => Some(at),
                None => None,
            };
            closing = from.and_then(|from| self.find(b"}", from));
            while let Some(place) = closing {
                if self.before(place) != Some(b'\\') {
                    break;
                }
                self.input.remove(place - 1);
                // The byte behind the brace is not looked at. Where no brace follows, the original looks before the
                // text for the escape of one.
                closing = self.find(b"}", place + 1);
                self.line.reads_outside |= closing.is_none();
            }
        }
        let mut escaped = self.find(b"\\n", at);
        // "Not found" is the largest place there is, as in the original's comparison.
        let place = |found: Option<usize>| found.unwrap_or(usize::MAX);
        if place(quote) != 0 && place(quote) <= place(escaped) && place(escaped) <= place(quote_end) {
            escaped = None;
        }
        let newline = self.find(b"\n", at);
        let end = [closing, escaped, newline].into_iter().flatten().min();
        match end {
            Some(end) if self.before(end) != Some(b'\\') => {
                self.keep_comment(at, end);
                end
            }
            _ => {
                self.keep_comment(at, self.input.len());
                self.input.len()
            }
        }
    }

    fn keep_comment(&mut self, start: usize, end: usize) {
        if self.depth > 0 {
            self.current
                .extend_from_slice(self.input.get(start..end).unwrap_or_default());
        }
    }

    fn find(&self, what: &[u8], from: usize) -> Option<usize> {
        let rest = self.input.get(from..)?;
        rest.windows(what.len())
            .position(|window| window == what)
            .map(|at| from + at)
    }

    fn byte(&self, at: usize) -> u8 {
        self.input.get(at).copied().unwrap_or_default()
    }

    fn before(&self, at: usize) -> Option<u8> {
        self.input.get(at.checked_sub(1)?).copied()
    }

    fn drop_escape(&mut self) {
        if self.current.pop().is_none() {
            self.line.reads_outside = true;
        }
    }

    fn word(&mut self) {
        self.string();
    }

    fn string(&mut self) {
        let text = trim(&self.current).to_vec();
        if !text.is_empty() {
            self.push(TokenKind::Plain, text);
        }
        self.current.clear();
    }

    fn literal(&mut self) {
        let text = std::mem::take(&mut self.current);
        if !text.is_empty() {
            self.push(TokenKind::Quoted, text);
        }
    }

    fn block(&mut self) {
        let text = std::mem::take(&mut self.current);
        self.push(TokenKind::Block, text);
    }

    fn push(&mut self, kind: TokenKind, text: Vec<u8>) {
        self.line.tokens.push(Token { kind, text });
    }
}

/// The number that HyperDbg's handlers read from a token: hexadecimal unless marked, backticks ignored.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let hex = ["0x", "0X", "\\x", "\\X", "x", "X"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix));
    let decimal = ["0n", "0N", "\\n", "\\N", "n", "N"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix));
    let (digits, radix) = match (hex, decimal) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) => (digits, 10),
        (None, None) => (text, 16),
    };
    let digits: String = digits.chars().filter(|digit| *digit != '`').collect();
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    // Too large a hexadecimal number saturates; too large a decimal one is no number there, which is stricter here.
    match u64::from_str_radix(&digits, radix) {
        Ok(value) => Some(value),
        Err(_) if radix == 16 => Some(u64::MAX),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        read(line.as_bytes())
            .tokens
            .iter()
            .map(|token| String::from_utf8_lossy(&token.text).into_owned())
            .collect()
    }

    #[test]
    fn only_blanks_separate_words() {
        assert_eq!(texts("db 0x1000  l 20"), ["db", "0x1000", "l", "20"]);
        assert_eq!(texts("help\tbp"), ["help\tbp"]);
        assert_eq!(texts("help\nexit"), ["help\nexit"]);
        assert_eq!(texts("\t exit\r\n"), ["exit"]);
    }

    #[test]
    fn a_comment_inside_a_word_joins_its_halves() {
        assert_eq!(texts("ex/**/it"), ["exit"]);
        assert_eq!(texts("e/* x */q 1"), ["eq", "1"]);
    }

    #[test]
    fn the_first_end_of_comment_counts() {
        assert_eq!(texts("/* a **/ exit /* */"), ["exit"]);
    }

    #[test]
    fn an_escaped_newline_ends_a_line_comment() {
        assert_eq!(texts("// note \\n exit"), ["exit"]);
        assert_eq!(texts("// note \n exit"), ["exit"]);
        assert_eq!(texts("lm // exit"), ["lm"]);
    }

    #[test]
    fn quoted_and_braced_words_are_words() {
        assert_eq!(texts("\"exit\""), ["exit"]);
        assert_eq!(texts("{exit}"), ["exit"]);
        assert_eq!(texts("\"\" exit"), ["exit"]);
        assert_eq!(texts("a {nop; nop}"), ["a", "nop; nop"]);
    }

    #[test]
    fn what_is_not_closed_is_reported() {
        assert!(read(b"? printf(\"x").open_quote);
        assert!(read(b"!epthook x script { printf(\"x\");").open_brace);
        assert!(read(b"}").reads_outside);
    }

    #[test]
    fn behind_an_escaped_brace_in_a_comment_one_byte_is_not_looked_at() {
        assert_eq!(texts("{x \\\"//x\\}*/\\}}}exit"), ["x \\\"//x}*/}}", "exit"]);
        assert!(read(b"a {x // \\}").reads_outside);
    }

    #[test]
    fn numbers_are_hexadecimal_unless_marked() {
        assert_eq!(number(b"10"), Some(16));
        assert_eq!(number(b"0n10"), Some(10));
        assert_eq!(number(b"fffff800`00000000"), Some(0xffff_f800_0000_0000));
        assert_eq!(number(b"zz"), None);
    }
}
