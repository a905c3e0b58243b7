//! Runs a tree.

use super::parser::{Expr, Script, Stmt};
use super::{Globals, Outcome, STEP_LIMIT, Target};
use std::collections::BTreeMap;
use std::fmt;

/// Why a run stopped early. What it did until then stays done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// Memory that is not there.
    InvalidAddress(u64),
    /// Division by zero.
    DivideByZero,
    /// More than [`STEP_LIMIT`] operations.
    TooLong,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidAddress(address) => write!(f, "the script used the invalid address {address:x}"),
            Self::DivideByZero => write!(f, "the script divided by zero"),
            Self::TooLong => write!(f, "the script exceeded {STEP_LIMIT} operations"),
        }
    }
}

pub(super) struct Runner<'a, T: Target> {
    pub(super) target: &'a mut T,
    pub(super) outcome: Outcome,
    globals: &'a mut Globals,
    locals: BTreeMap<String, u64>,
    steps: u32,
}

/// Runs `script`. The outcome holds what happened before an error, too.
pub fn run<T: Target>(
    script: &Script,
    target: &mut T,
    globals: &mut Globals,
) -> (Outcome, Result<(), RunError>) {
    let mut runner = Runner {
        target,
        outcome: Outcome::default(),
        globals,
        locals: BTreeMap::new(),
        steps: 0,
    };
    let result = runner.block(&script.body).map(|_| ());
    (runner.outcome, result)
}

/// How a block ended.
#[derive(PartialEq, Eq)]
enum Flow {
    On,
    Break,
}

impl<T: Target> Runner<'_, T> {
    fn tick(&mut self) -> Result<(), RunError> {
        self.steps += 1;
        if self.steps > STEP_LIMIT {
            Err(RunError::TooLong)
        } else {
            Ok(())
        }
    }

    fn block(&mut self, body: &[Stmt]) -> Result<Flow, RunError> {
        for statement in body {
            if self.statement(statement)? == Flow::Break {
                return Ok(Flow::Break);
            }
        }
        Ok(Flow::On)
    }

    fn statement(&mut self, statement: &Stmt) -> Result<Flow, RunError> {
        self.tick()?;
        match statement {
            Stmt::Nothing => {}
            Stmt::Eval(value) => {
                self.value(value)?;
            }
            Stmt::Assign(place, operator, value) => self.assign(place, operator, value)?,
            Stmt::If(branches, otherwise) => {
                for (condition, body) in branches {
                    if self.value(condition)? != 0 {
                        return self.block(body);
                    }
                }
                return self.block(otherwise);
            }
            Stmt::While(condition, body) => {
                while self.value(condition)? != 0 {
                    self.tick()?;
                    if self.block(body)? == Flow::Break {
                        break;
                    }
                }
            }
            Stmt::DoWhile(body, condition) => loop {
                self.tick()?;
                if self.block(body)? == Flow::Break || self.value(condition)? == 0 {
                    break;
                }
            },
            Stmt::For(first, condition, step, body) => {
                self.statement(first)?;
                while self.value(condition)? != 0 {
                    self.tick()?;
                    if self.block(body)? == Flow::Break {
                        break;
                    }
                    self.statement(step)?;
                }
            }
            Stmt::Break => return Ok(Flow::Break),
        }
        Ok(Flow::On)
    }

    fn assign(&mut self, place: &Expr, operator: &'static str, value: &Expr) -> Result<(), RunError> {
        let mut value = self.value(value)?;
        if let Some(operator) = operator.strip_suffix('=').filter(|operator| !operator.is_empty()) {
            let old = self.value(place)?;
            value = binary(operator, old, value)?;
        }
        match place {
            Expr::Local(name) => {
                self.locals.insert(name.clone(), value);
            }
            Expr::Global(name) => {
                self.globals.insert(name.clone(), value);
            }
            Expr::Register(id) => self.target.set_register(*id, value),
            Expr::Unary("*", address) => {
                let address = self.value(address)?;
                self.store(address, 8, value)?;
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn value(&mut self, expr: &Expr) -> Result<u64, RunError> {
        self.tick()?;
        Ok(match expr {
            Expr::Number(value) => *value,
            // A literal has no address here; the functions that take one look at it themselves.
            Expr::Text { .. } => 0,
            Expr::Register(id) => self.target.register(*id),
            Expr::Pseudo(name) => self.target.pseudo(name),
            Expr::Global(name) => self.globals.get(name).copied().unwrap_or(0),
            Expr::Local(name) => self.locals.get(name).copied().unwrap_or(0),
            Expr::Unary(operator, operand) => {
                let value = self.value(operand)?;
                match *operator {
                    "-" => value.wrapping_neg(),
                    "~" => !value,
                    "!" => u64::from(value == 0),
                    "*" => self.load(value, 8)?,
                    _ => value,
                }
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                binary(operator, left, right)?
            }
            Expr::Call(name, arguments) => self.call(name, arguments)?,
        })
    }
}

fn binary(operator: &str, left: u64, right: u64) -> Result<u64, RunError> {
    let (signed_left, signed_right) = (left as i64, right as i64);
    Ok(match operator {
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right).ok_or(RunError::DivideByZero)?,
        "%" => left.checked_rem(right).ok_or(RunError::DivideByZero)?,
        "&" => left & right,
        "|" => left | right,
        "^" => left ^ right,
        "<<" => left.checked_shl(u32::try_from(right).unwrap_or(64)).unwrap_or(0),
        ">>" => left.checked_shr(u32::try_from(right).unwrap_or(64)).unwrap_or(0),
        "==" => u64::from(left == right),
        "!=" => u64::from(left != right),
        "<" => u64::from(signed_left < signed_right),
        ">" => u64::from(signed_left > signed_right),
        "<=" => u64::from(signed_left <= signed_right),
        ">=" => u64::from(signed_left >= signed_right),
        "&&" => u64::from(left != 0 && right != 0),
        _ => u64::from(left != 0 || right != 0),
    })
}
