//! What a script can do, judged by each of its tokens: a call, an assignment or a loop has its effect wherever it
//! stands, so nothing can be hidden by the way a text is put together.

use std::collections::BTreeSet;

use super::Options;
use super::scanner::{self, Comments, Lexeme};
use super::structure;
use super::tables::{self, Effect};
use super::verdict::{Level, NoteKind, Verdict};

/// Wide literals from this length on corrupt the script engine's memory.
const WIDE_LITERAL: usize = 8;

/// What a script's text can do.
pub(crate) fn script(text: &[u8], options: &Options<'_>) -> Verdict {
    let mut verdict = with_comments(text, Comments::Engine, options);
    // Where the engine and a reader disagree about the end of a comment, both readings count.
    if text.windows(2).any(|pair| pair == b"**") {
        verdict.include(with_comments(text, Comments::Plain, options));
    }
    verdict
}

/// What an expression can do that HyperDbg pastes into a call of `function`.
pub(crate) fn pasted(function: &str, text: &[u8], options: &Options<'_>) -> Verdict {
    let mut whole = format!("{function}(").into_bytes();
    whole.extend_from_slice(text);
    // Behind a line comment the library's own end of the call is lost, and it refuses the text: then what stands
    // before the comment is judged all the same.
    whole.extend_from_slice(b"\n);");
    script(&whole, options)
}

fn with_comments(text: &[u8], comments: Comments, options: &Options<'_>) -> Verdict {
    let scan = scanner::scan(text, comments);
    let mut walk = Walk {
        lexemes: &scan.lexemes,
        set: BTreeSet::new(),
        pending: Vec::new(),
        verdict: Verdict::new(Level::Read, "only reads"),
        dereferences: false,
        writes: false,
    };
    for at in 0..scan.lexemes.len() {
        walk.visit(at);
    }
    let Walk {
        mut verdict,
        dereferences,
        writes,
        ..
    } = walk;
    if options.attached == Some(false) && (dereferences || writes) {
        verdict.raise(
            Level::Never,
            "nothing is attached, so the memory that it reads or writes is the debugger's own process",
        );
    }
    if let Some(error) = scan.error {
        verdict.raise(Level::Destructive, format!("not understood: {error}"));
        structure::check_jumps(&scan.lexemes, &mut verdict);
        return verdict;
    }
    structure::check(&scan.lexemes, &mut verdict);
    verdict
}

struct Walk<'a> {
    lexemes: &'a [Lexeme],
    /// Local names that have a value so far.
    set: BTreeSet<&'a str>,
    /// Those that get one in the statement at hand, whose value cannot use them yet.
    pending: Vec<&'a str>,
    verdict: Verdict,
    dereferences: bool,
    writes: bool,
}

impl<'a> Walk<'a> {
    fn at(&self, at: usize) -> Option<&'a Lexeme> {
        self.lexemes.get(at)
    }

    fn before(&self, at: usize, back: usize) -> Option<&'a Lexeme> {
        self.lexemes.get(at.checked_sub(back)?)
    }

    fn is_op(lexeme: Option<&Lexeme>, operator: &str) -> bool {
        matches!(lexeme, Some(Lexeme::Op(found)) if *found == operator)
    }

    fn visit(&mut self, at: usize) {
        let Some(lexeme) = self.at(at) else { return };
        let called = Self::is_op(self.at(at + 1), "(");
        match lexeme {
            Lexeme::Keyword(name) => {
                if matches!(name.as_str(), "neg" | "not") {
                    self.inverts(at + 1);
                }
                self.keyword(name, called);
            }
            Lexeme::Name(name) if called => {
                self.verdict.raise(
                    Level::Destructive,
                    format!("calls `{}`, which is no known function", short(name)),
                );
            }
            Lexeme::Name(_) => {}
            Lexeme::Register(_)
            | Lexeme::Pseudo(_)
            | Lexeme::Global(_)
            | Lexeme::Symbol(_)
            | Lexeme::Number { .. }
                if called =>
            {
                self.verdict
                    .raise(Level::Destructive, "calls something that is no known function");
            }
            Lexeme::Number {
                bare: true, value, ..
            } => {
                let digits = value.map_or_else(String::new, |value| format!("{value:x}"));
                self.verdict.hex_number(digits.as_bytes());
            }
            Lexeme::Text(text) if text.contains(&b'%') && text.contains(&b's') => self.dereferences = true,
            Lexeme::WideText(length) if *length >= WIDE_LITERAL => self.verdict.raise(
                Level::Never,
                "a wide literal of eight or more characters corrupts the memory of the script engine",
            ),
            Lexeme::Directive(_) => {
                self.verdict.raise(
                    Level::Destructive,
                    "`#include` puts a file that was not read into the script",
                );
            }
            Lexeme::Op(operator) => self.operator(at, operator),
            _ => {}
        }
    }

    fn keyword(&mut self, name: &str, called: bool) {
        let Some(function) = tables::script().functions.get(name) else {
            if matches!(name, "struct" | "typedef" | "return") {
                self.verdict
                    .raise(Level::Destructive, format!("`{name}` is not analysed"));
            }
            return;
        };
        if !called {
            self.verdict.raise(
                Level::Destructive,
                format!("`{name}` stands without its arguments"),
            );
        }
        self.verdict
            .raise(function.tier, format!("`{name}` {}", function.why));
        for effect in &function.effects {
            match effect {
                Effect::Dereference => self.dereferences |= name != "printf",
                Effect::Write => self.writes = true,
                Effect::Stall => {
                    self.verdict
                        .note(NoteKind::MayStall, format!("`{name}` {}", function.why));
                }
                Effect::Print => {}
            }
        }
    }

    fn operator(&mut self, at: usize, operator: &str) {
        match operator {
            ";" => self.set.extend(self.pending.drain(..)),
            "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "<<=" | ">>=" | "&=" | "^=" | "|=" => {
                self.assignment(at, operator != "=");
            }
            "++" | "--" => self.assignment(at, true),
            "*" if self.is_unary(at) && !self.is_of_type(at) => self.dereferences = true,
            "-" if self.is_unary(at) => self.inverts(at + 1),
            "~" => self.inverts(at + 1),
            "->" | "[" => self.dereferences = true,
            _ => {}
        }
    }

    /// Whether the operator at `at` has no operand on its left: there is none, or it ends a cast.
    fn is_unary(&self, at: usize) -> bool {
        !ends_operand(self.before(at, 1)) || self.ends_cast(at)
    }

    /// Whether the star at `at` belongs to a type, in a declaration or a cast.
    fn is_of_type(&self, at: usize) -> bool {
        let mut back = 1;
        while Self::is_op(self.before(at, back), "*") {
            back += 1;
        }
        matches!(self.before(at, back), Some(Lexeme::Type(_)))
    }

    /// Whether `(type)`, `(type *)` or `(struct name *)` ends before `at`.
    fn ends_cast(&self, at: usize) -> bool {
        let mut back = 1;
        if !Self::is_op(self.before(at, back), ")") {
            return false;
        }
        back += 1;
        while Self::is_op(self.before(at, back), "*") {
            back += 1;
        }
        let structure = matches!(self.before(at, back + 1), Some(Lexeme::Keyword(word)) if word == "struct");
        let types = back;
        while matches!(self.before(at, back), Some(Lexeme::Type(_))) {
            back += 1;
        }
        if structure {
            back += 2;
        }
        let measured = matches!(self.before(at, back + 1), Some(Lexeme::Keyword(word)) if word == "sizeof");
        back > types && Self::is_op(self.before(at, back), "(") && !measured
    }

    /// A negation or inversion of what stands at `at`: the engine does not survive an operand without a type, which
    /// are names without a value and numbers that begin with a letter.
    fn inverts(&mut self, mut at: usize) {
        let mut grouped = false;
        while let Some(Lexeme::Op("(" | "+" | "-" | "~")) = self.at(at) {
            grouped |= Self::is_op(self.at(at), "(");
            at += 1;
        }
        let goes_on =
            matches!(self.at(at + 1), Some(Lexeme::Op(operator)) if structure::ARITHMETIC.contains(operator));
        let alone = !(grouped && goes_on);
        let untyped = match self.at(at) {
            Some(Lexeme::Name(name)) => !self.set.contains(name.as_str()),
            Some(Lexeme::Number { lettered, .. }) => *lettered,
            _ => false,
        };
        if alone && untyped {
            self.verdict.raise(
                Level::Never,
                "negates a number that begins with a letter, or a name without a value: the script engine ends its \
                 process; write 0x before the number",
            );
        }
    }

    /// The name of the array that `type name[2][3] =` declares before `at`; none when preparing one so large would hold
    /// up the engine.
    fn declared_array(&self, at: usize) -> Option<&'a str> {
        const LARGEST: u64 = 0x400;
        let mut back = 1;
        let mut elements = 1_u64;
        while let (Some(Lexeme::Op("]")), Some(Lexeme::Number { value, .. }), Some(Lexeme::Op("["))) = (
            self.before(at, back),
            self.before(at, back + 1),
            self.before(at, back + 2),
        ) {
            elements = elements.checked_mul((*value)?)?;
            back += 3;
        }
        match (self.before(at, back), self.before(at, back + 1)) {
            (Some(Lexeme::Name(name)), Some(Lexeme::Type(_))) if back > 1 && elements <= LARGEST => {
                Some(name)
            }
            _ => None,
        }
    }

    /// An assignment whose operator stands at `at`; `needs_value` when the name must have been set before.
    fn assignment(&mut self, at: usize, needs_value: bool) {
        let plain_target = match self.before(at, 2) {
            None | Some(Lexeme::Type(_)) => true,
            Some(Lexeme::Op("*")) => self.is_of_type(at - 2),
            Some(Lexeme::Op(operator)) => matches!(*operator, ";" | "{" | "}" | "(" | "="),
            Some(_) => false,
        };
        if let Some(name) = self.declared_array(at) {
            self.pending.push(name);
            return;
        }
        if let Some(Lexeme::Name(name)) = self.before(at, 1)
            && plain_target
        {
            if needs_value && !self.set.contains(name.as_str()) {
                let name = short(name);
                self.verdict.raise(
                    Level::Never,
                    format!("changes `{name}`, which has no value yet: the script engine ends its process"),
                );
            }
            self.pending.push(name);
            // To HyperDbg this is a local name too; who writes it means the register.
            if tables::script().registers.contains(&name.to_ascii_lowercase()) {
                let reason = format!("`{name}` is written like the register of that name");
                self.verdict.raise(Level::Destructive, reason);
            }
            return;
        }
        let (level, reason): (Level, String) = match self.before(at, 1) {
            Some(Lexeme::Global(name)) if plain_target => (
                Level::State,
                format!("sets `.{}`, which outlives the script", short(name)),
            ),
            Some(Lexeme::Register(name)) => (Level::Destructive, format!("writes the register `{name}`")),
            Some(Lexeme::Pseudo(name)) => (Level::Destructive, format!("writes `${name}`")),
            _ => {
                self.writes = true;
                (
                    Level::Destructive,
                    "writes through an address or to something unknown".to_owned(),
                )
            }
        };
        self.verdict.raise(level, reason);
    }
}

/// Whether a token can be the end of an operand, so that a star after it multiplies.
fn ends_operand(lexeme: Option<&Lexeme>) -> bool {
    matches!(
        lexeme,
        Some(
            Lexeme::Name(_)
                | Lexeme::Register(_)
                | Lexeme::Pseudo(_)
                | Lexeme::Global(_)
                | Lexeme::Symbol(_)
                | Lexeme::Number { .. }
                | Lexeme::Op(")" | "]")
        )
    )
}

/// A name for a sentence: it is the caller's text, so it is bounded.
pub(crate) fn short(name: &str) -> String {
    const MOST: usize = 40;
    let mut short: String = name.chars().filter(char::is_ascii_graphic).take(MOST).collect();
    if name.len() > MOST {
        short.push('…');
    }
    short
}
