//! The shape of a script: whether it is one that the language can have, how its loops end, and what jumps.
//!
//! The grammar here accepts more than HyperDbg's: a text that HyperDbg refuses has no effect at all. What fits neither
//! is not understood, and so never Read.

use super::scanner::Lexeme;
use super::tables::{self, Effect};
use super::verdict::{Level, NoteKind, Verdict};

/// Nesting that a person would write; deeper text is not followed.
const DEEPEST: usize = 128;
/// Rounds of nested loops, together, that cost nothing worth a word.
const FEW_ROUNDS: u64 = 0x1000;

/// Raises `verdict` by what the shape of the script shows.
pub(crate) fn check(lexemes: &[Lexeme], verdict: &mut Verdict) {
    let mut parser = Parser {
        lexemes,
        at: 0,
        depth: 0,
        loops: Vec::new(),
        verdict,
    };
    let mut understood = true;
    while parser.at < lexemes.len() && understood {
        understood = parser.statement().is_some();
    }
    if !understood {
        parser.verdict.raise(
            Level::Destructive,
            "not understood: this is no script that the language can have",
        );
        check_jumps(lexemes, parser.verdict);
    }
}

/// Where the shape is lost, any jump may stand where it does harm.
pub(crate) fn check_jumps(lexemes: &[Lexeme], verdict: &mut Verdict) {
    let jump =
        |lexeme: &Lexeme| matches!(lexeme, Lexeme::Keyword(word) if word == "break" || word == "continue");
    if lexemes.iter().any(jump) {
        verdict.raise(
            Level::Never,
            "a jump outside of a loop makes the script engine end its process",
        );
    }
}

struct Parser<'a> {
    lexemes: &'a [Lexeme],
    at: usize,
    depth: usize,
    /// Rounds of the loops around this place; none when they cannot be foreseen.
    loops: Vec<Option<u64>>,
    verdict: &'a mut Verdict,
}

const ASSIGNMENTS: [&str; 11] = ["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="];
/// What makes a number of two numbers.
pub(super) const ARITHMETIC: [&str; 10] = ["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"];
const COMPARISON: [&str; 8] = ["&&", "||", "==", "!=", "<", ">", "<=", ">="];

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Lexeme> {
        self.lexemes.get(self.at)
    }

    fn op(&self) -> Option<&'static str> {
        match self.peek() {
            Some(Lexeme::Op(operator)) => Some(operator),
            _ => None,
        }
    }

    fn eat(&mut self, operator: &str) -> bool {
        let found = self.op() == Some(operator);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, operator: &str) -> Option<()> {
        self.eat(operator).then_some(())
    }

    fn keyword(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Lexeme::Keyword(found)) if found == word);
        self.at += usize::from(found);
        found
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn statement(&mut self) -> Option<()> {
        self.nested(Self::statement_here)
    }

    fn statement_here(&mut self) -> Option<()> {
        match self.peek()? {
            Lexeme::Op("{") => self.block(),
            Lexeme::Op("*") => {
                let start = self.at;
                self.at += 1;
                if self.target().is_none() || !self.eat("=") {
                    self.at = start;
                    return self.value();
                }
                self.expression()?;
                self.end()
            }
            Lexeme::Type(_) => {
                self.declaration()?;
                self.end()
            }
            Lexeme::Keyword(word) => match word.as_str() {
                "if" => self.condition(),
                "while" => self.while_loop(),
                "do" => self.do_loop(),
                "for" => self.for_loop(),
                "break" | "continue" => {
                    let word = word.clone();
                    self.at += 1;
                    self.jump(&word);
                    self.expect(";")
                }
                _ => self.value(),
            },
            _ => {
                let start = self.at;
                if self.assignment().is_some() {
                    return self.end();
                }
                self.at = start;
                self.value()
            }
        }
    }

    /// A value that nothing is done with: a call, or what the engine refuses, such as `@rax;`.
    fn value(&mut self) -> Option<()> {
        self.expression()?;
        self.end()
    }

    /// The end of a statement. Without its semicolon the engine refuses the last one, and runs nothing of the text.
    fn end(&mut self) -> Option<()> {
        (self.eat(";") || self.at == self.lexemes.len()).then_some(())
    }

    fn jump(&mut self, word: &str) {
        if word == "continue" {
            self.verdict
                .raise(Level::Never, "`continue` makes the script engine end its process");
        } else if self.loops.is_empty() {
            self.verdict.raise(
                Level::Never,
                "`break` outside of a loop makes the script engine end its process",
            );
        }
    }

    fn block(&mut self) -> Option<()> {
        self.expect("{")?;
        while self.op() != Some("}") {
            self.statement()?;
        }
        self.expect("}")
    }

    fn parenthesised(&mut self) -> Option<()> {
        self.expect("(")?;
        self.expression()?;
        self.expect(")")
    }

    fn condition(&mut self) -> Option<()> {
        self.at += 1;
        self.parenthesised()?;
        self.block()?;
        while self.keyword("elsif") {
            self.parenthesised()?;
            self.block()?;
        }
        if self.keyword("else") {
            self.block()?;
        }
        Some(())
    }

    fn loop_body(&mut self, rounds: Option<u64>) -> Option<()> {
        self.loops.push(rounds);
        let together = self
            .loops
            .iter()
            .try_fold(1_u64, |all, rounds| all.checked_mul((*rounds)?.max(1)));
        if together.is_none_or(|rounds| rounds > FEW_ROUNDS) {
            let reason = "a loop whose end is not near runs up to a million steps with interrupts off";
            self.verdict.raise(Level::State, reason);
            self.verdict.note(NoteKind::MayStall, reason);
        }
        let body = self.block();
        self.loops.pop();
        body
    }

    fn while_loop(&mut self) -> Option<()> {
        self.at += 1;
        self.parenthesised()?;
        self.loop_body(None)
    }

    fn do_loop(&mut self) -> Option<()> {
        self.at += 1;
        self.loop_body(None)?;
        self.keyword("while").then_some(())?;
        self.parenthesised()?;
        self.expect(";")
    }

    fn for_loop(&mut self) -> Option<()> {
        self.at += 1;
        self.expect("(")?;
        let start = self.at;
        match self.peek()? {
            Lexeme::Op(";") => {}
            Lexeme::Type(_) => self.declaration()?,
            _ => self.assignment()?,
        }
        self.expect(";")?;
        self.expression()?;
        self.expect(";")?;
        if self.op() != Some(")") {
            self.assignment()?;
        }
        self.expect(")")?;
        let head = self.lexemes.get(start..self.at)?;
        let rounds = rounds(head, self.lexemes.get(self.at..)?);
        self.loop_body(rounds)
    }

    fn declaration(&mut self) -> Option<()> {
        while matches!(self.peek(), Some(Lexeme::Type(_))) {
            self.at += 1;
        }
        while self.eat("*") {}
        let start = self.at;
        if self.target().is_some() && self.eat("=") && self.op() == Some("{") {
            return self.elements();
        }
        self.at = start;
        self.assignment()
    }

    /// The values of an array.
    fn elements(&mut self) -> Option<()> {
        self.nested(|parser| {
            parser.expect("{")?;
            while parser.op() != Some("}") {
                if parser.op() == Some("{") {
                    parser.elements()?;
                } else {
                    parser.expression()?;
                }
                if !parser.eat(",") {
                    break;
                }
            }
            parser.expect("}")
        })
    }

    fn target(&mut self) -> Option<()> {
        match self.peek()? {
            Lexeme::Name(_) | Lexeme::Register(_) | Lexeme::Global(_) | Lexeme::Pseudo(_) => {
                self.at += 1;
                self.suffixes()
            }
            _ => None,
        }
    }

    fn assignment(&mut self) -> Option<()> {
        self.target()?;
        let operator = self.op()?;
        self.at += 1;
        if matches!(operator, "++" | "--") {
            return Some(());
        }
        ASSIGNMENTS.contains(&operator).then_some(())?;
        self.expression()?;
        while self.eat("=") {
            self.expression()?;
        }
        Some(())
    }

    fn expression(&mut self) -> Option<()> {
        self.nested(|parser| {
            parser.operand()?;
            while parser
                .op()
                .is_some_and(|operator| ARITHMETIC.contains(&operator) || COMPARISON.contains(&operator))
            {
                parser.at += 1;
                parser.operand()?;
            }
            Some(())
        })
    }

    fn operand(&mut self) -> Option<()> {
        self.nested(|parser| {
            while parser
                .op()
                .is_some_and(|operator| matches!(operator, "-" | "+" | "~" | "!" | "*" | "&"))
            {
                parser.at += 1;
            }
            match parser.peek()? {
                Lexeme::Number { .. } | Lexeme::Symbol(_) | Lexeme::Pseudo(_) => {
                    parser.at += 1;
                    Some(())
                }
                Lexeme::Name(_) | Lexeme::Register(_) | Lexeme::Global(_) => {
                    parser.at += 1;
                    parser.suffixes()
                }
                Lexeme::Op("(") => parser.group(),
                Lexeme::Keyword(word) if word == "sizeof" => {
                    parser.at += 1;
                    parser.operand()
                }
                Lexeme::Keyword(word) => parser.call(word),
                _ => None,
            }
        })
    }

    fn group(&mut self) -> Option<()> {
        self.expect("(")?;
        let mut cast = false;
        while matches!(self.peek(), Some(Lexeme::Type(_))) {
            self.at += 1;
            cast = true;
        }
        if !cast {
            self.expression()?;
            return self.expect(")");
        }
        while self.eat("*") {}
        self.expect(")")?;
        // `sizeof(type)` ends here, a cast goes on.
        if matches!(self.peek(), Some(Lexeme::Op(operator)) if !matches!(*operator, "(" | "-" | "+" | "~" | "!" | "*" | "&"))
            || self.peek().is_none()
        {
            return Some(());
        }
        self.operand()
    }

    fn call(&mut self, name: &str) -> Option<()> {
        let function = tables::script().functions.get(name)?;
        self.at += 1;
        self.expect("(")?;
        let mut count = 0;
        if self.op() != Some(")") {
            loop {
                count += 1;
                if matches!(self.peek(), Some(Lexeme::Text(_) | Lexeme::WideText(_))) {
                    self.at += 1;
                } else {
                    self.expression()?;
                }
                if !self.eat(",") {
                    break;
                }
            }
        }
        self.expect(")")?;
        if function.effects.contains(&Effect::Print) && !self.loops.is_empty() {
            self.verdict
                .note(NoteKind::Output, "prints once in each round of a loop");
        }
        function
            .arguments
            .is_none_or(|wanted| wanted == count)
            .then_some(())
    }

    fn suffixes(&mut self) -> Option<()> {
        loop {
            if self.eat("[") {
                self.expression()?;
                self.expect("]")?;
            } else if self
                .op()
                .is_some_and(|operator| operator == "." || operator == "->")
            {
                self.at += 1;
                // A member may have any name.
                matches!(
                    self.peek()?,
                    Lexeme::Name(_) | Lexeme::Register(_) | Lexeme::Keyword(_) | Lexeme::Number { .. }
                )
                .then_some(())?;
                self.at += 1;
            } else {
                return Some(());
            }
        }
    }
}

/// How often a loop runs whose head counts a name from one number to another, and whose body leaves it alone.
fn rounds(head: &[Lexeme], body: &[Lexeme]) -> Option<u64> {
    let head = match head {
        [Lexeme::Type(_), rest @ ..] => rest,
        _ => head,
    };
    let [
        Lexeme::Name(name),
        Lexeme::Op("="),
        Lexeme::Number {
            value: Some(from), ..
        },
        Lexeme::Op(";"),
        Lexeme::Name(tested),
        Lexeme::Op(compare),
        Lexeme::Number { value: Some(to), .. },
        Lexeme::Op(";"),
        Lexeme::Name(counted),
        Lexeme::Op("++"),
        Lexeme::Op(")"),
    ] = head
    else {
        return None;
    };
    let end = match *compare {
        "<" => *to,
        "<=" => to.checked_add(1)?,
        _ => return None,
    };
    let is_name = |lexeme: &Lexeme| matches!(lexeme, Lexeme::Name(found) if found == name);
    let changes = |pair: &[Lexeme]| match pair {
        [lexeme, Lexeme::Op(operator)] => {
            is_name(lexeme) && (ASSIGNMENTS.contains(operator) || matches!(*operator, "++" | "--"))
        }
        [Lexeme::Op("&"), lexeme] => is_name(lexeme),
        _ => false,
    };
    let referenced = |window: &[Lexeme]| match window {
        [Lexeme::Keyword(function), Lexeme::Op("("), lexeme] => function == "reference" && is_name(lexeme),
        _ => false,
    };
    let touched = body.windows(2).any(changes) || body.windows(3).any(referenced);
    (tested == name && counted == name && !touched).then(|| end.saturating_sub(*from))
}
