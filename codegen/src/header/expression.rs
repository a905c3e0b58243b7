//! Constant expressions: conditions, array lengths, widths, enumerators, assertions, macros with a number.

use super::code;
use super::parser::{Parser, Result};
use super::token::{Kind, Token};
use super::types::{RecordKind, Ty};
use super::value::{self, IntType, LONG_LONG, Value};

/// Binary operators by rank, loosest first.
const RANKS: &[&[&str]] = &[
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

impl Parser<'_> {
    /// An expression that ends where the tokens end.
    pub(crate) fn whole_expression(&mut self) -> Result<Value> {
        let value = self.expression()?;
        let token = self.peek().clone();
        if token.kind == Kind::End {
            return Ok(value);
        }
        Err(self.broken(&token, "after the expression"))
    }

    /// A conditional expression: a comma and an assignment end it.
    pub(crate) fn expression(&mut self) -> Result<Value> {
        self.nested(Self::conditional)
    }

    fn conditional(&mut self) -> Result<Value> {
        let condition = self.binary(0)?;
        if !self.peek().is("?") {
            return Ok(condition);
        }
        self.next();
        let chosen = self.branch(condition.is_true(), Self::expression)?;
        self.expect(":", "in the conditional expression")?;
        let other = self.branch(!condition.is_true(), Self::expression)?;
        Ok(if condition.is_true() {
            chosen.in_common_type(other)
        } else {
            other.in_common_type(chosen)
        })
    }

    /// Reads a part that counts only when `live`.
    fn branch(&mut self, live: bool, read: impl FnOnce(&mut Self) -> Result<Value>) -> Result<Value> {
        self.dead += u32::from(!live);
        let value = read(self);
        self.dead -= u32::from(!live);
        value
    }

    /// Operators of `rank` and tighter, from left to right.
    fn binary(&mut self, rank: usize) -> Result<Value> {
        let Some(operators) = RANKS.get(rank) else {
            return self.unary();
        };
        let mut left = self.binary(rank + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.peek().is(operator)) {
            let token = self.next();
            let live = match *operator {
                "&&" => left.is_true(),
                "||" => !left.is_true(),
                _ => true,
            };
            let right = self.branch(live, |parser| parser.binary(rank + 1))?;
            left = match left.binary(operator, right) {
                Ok(value) => self.widened(value),
                // The type still counts where the value does not.
                Err(_) if self.dead > 0 && matches!(*operator, "<<" | ">>") => left,
                Err(_) if self.dead > 0 => left.in_common_type(right),
                Err(reason) => return Err(Box::new(self.error(code::EXPRESSION, &token, reason))),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Value> {
        let token = self.peek().clone();
        if token.kind == Kind::Punct && matches!(&*token.text, "+" | "-" | "~" | "!") {
            self.next();
            let value = self.nested(Self::unary)?;
            return value
                .unary(&token.text)
                .map(|value| self.widened(value))
                .ok_or_else(|| self.broken(&token, "in the expression"));
        }
        if !self.preprocessing {
            if token.is("sizeof") {
                return self.size_of();
            }
            if matches!(&*token.text, "alignof" | "_Alignof" | "__alignof") {
                self.next();
                let extent = self.extent_in_parentheses()?;
                return Ok(self.size(extent.align));
            }
            if token.is("(") && self.is_type_ahead(1) {
                return self.cast(&token);
            }
        }
        self.primary()
    }

    fn size(&self, bytes: u64) -> Value {
        let ty = IntType {
            bytes: 8,
            signed: false,
        };
        Value::new(i128::from(bytes), ty)
    }

    fn size_of(&mut self) -> Result<Value> {
        let keyword = self.next();
        if !(self.peek().is("(") && self.is_type_ahead(1)) {
            let named = if self.peek().is("(") {
                self.ahead(1)
            } else {
                self.peek()
            };
            if named.kind == Kind::Word && !self.types.variables.contains_key(&named.text) {
                let message = format!("unknown type {} in `sizeof`", named.describe());
                return Err(Box::new(self.error(code::UNKNOWN_TYPE, named, message).help(
                    "a type that Windows' own headers declare belongs into api/prelude.h",
                )));
            }
            let finding = self.error(code::EXPRESSION, &keyword, "`sizeof` is supported for types only");
            return Err(Box::new(finding.help("write `sizeof(TYPE)`")));
        }
        let extent = self.extent_in_parentheses()?;
        Ok(self.size(extent.size))
    }

    fn extent_in_parentheses(&mut self) -> Result<super::types::Extent> {
        let open = self.expect("(", "before the type")?;
        let ty = self.type_name()?;
        self.expect(")", "after the type")?;
        self.extent_of(&ty, &open)
    }

    fn cast(&mut self, open: &Token) -> Result<Value> {
        self.next();
        let ty = self.type_name()?;
        self.expect(")", "after the type of the cast")?;
        let value = self.nested(Self::unary)?;
        let integer = match self.types.resolve(&ty) {
            Ty::Basic(basic) => basic
                .integer(self.target)
                .map(|integer| (integer, basic.spelling() == "bool")),
            Ty::Enum(_) => Some((value::INT, false)),
            _ => None,
        };
        match integer {
            Some((_, true)) => Ok(Value::boolean(value.is_true())),
            Some((integer, false)) => Ok(value.cast(integer)),
            None => {
                let finding = self.error(
                    code::EXPRESSION,
                    open,
                    "only casts to integer types have a constant value",
                );
                Err(Box::new(finding))
            }
        }
    }

    /// In a condition every number is as wide as can be.
    fn widened(&self, value: Value) -> Value {
        if self.preprocessing {
            value.in_common_type(Value::new(0, LONG_LONG))
        } else {
            value
        }
    }

    fn primary(&mut self) -> Result<Value> {
        let token = self.next();
        let read = match token.kind {
            Kind::Number if self.preprocessing => value::widest(&token.text),
            Kind::Number => value::integer(&token.text, self.target.long_bytes),
            Kind::Char => value::character(&token.text),
            Kind::Word => return self.word(&token),
            Kind::Punct if token.is("(") => {
                let value = self.expression()?;
                self.expect(")", "in the expression")?;
                return Ok(value);
            }
            _ => return Err(self.broken(&token, "in the expression")),
        };
        match read {
            Ok(value) => Ok(self.widened(value)),
            Err(reason) => Err(Box::new(self.error(code::EXPRESSION, &token, reason))),
        }
    }

    fn word(&mut self, token: &Token) -> Result<Value> {
        if matches!(&*token.text, "true" | "false") {
            return Ok(Value::boolean(token.is("true")));
        }
        if self.preprocessing {
            if self.peek().is("(") {
                let message = format!("`{}` is no macro that takes arguments", token.text);
                return Err(Box::new(self.error(code::EXPRESSION, token, message)));
            }
            return Ok(Value::new(0, LONG_LONG));
        }
        if matches!(&*token.text, "offsetof" | "__builtin_offsetof" | "FIELD_OFFSET") {
            return self.offset_of();
        }
        match self.constant(&token.text) {
            Some(value) => Ok(value),
            None => {
                let message = format!("`{}` is no constant", token.text);
                let finding = self.error(code::EXPRESSION, token, message);
                Err(Box::new(finding.help(
                    "constants are numbers, enumerators and macros made of them",
                )))
            }
        }
    }

    /// `offsetof(RECORD, MEMBER)`
    fn offset_of(&mut self) -> Result<Value> {
        let open = self.expect("(", "after `offsetof`")?;
        let ty = self.type_name()?;
        self.expect(",", "after the record")?;
        let member = self.next();
        self.expect(")", "after the member")?;
        self.extent_of(&ty, &open)?;
        let Ty::Record(id) = *self.types.resolve(&ty) else {
            return Err(Box::new(self.error(
                code::EXPRESSION,
                &open,
                "`offsetof` needs a record",
            )));
        };
        let record = &self.types.records[id];
        let position = record
            .members
            .iter()
            .position(|one| one.name.as_ref() == Some(&member.text));
        let place = position.and_then(|position| record.layout.as_ref()?.places.get(position).copied());
        match (
            place,
            position.and_then(|position| record.members[position].width),
        ) {
            (Some(place), None) => Ok(self.size(place.bit / 8)),
            _ => {
                let kind = if record.kind == RecordKind::Struct {
                    "struct"
                } else {
                    "union"
                };
                let message = format!("the {kind} has no member {} with an offset", member.describe());
                Err(Box::new(self.error(code::EXPRESSION, &member, message)))
            }
        }
    }

    fn broken(&self, token: &Token, context: &str) -> Box<crate::diagnostic::Diagnostic> {
        match token.kind {
            Kind::Bad(reason) => Box::new(self.error(code::LEXICAL, token, reason)),
            _ => {
                let message = format!("unexpected {} {context}", token.describe());
                Box::new(self.error(code::EXPRESSION, token, message))
            }
        }
    }
}
