//! The part of a declaration around a name: pointers, arrays, parameter lists.

use std::rc::Rc;

use super::code;
use super::parser::{Parser, Result};
use super::specifiers::Specifiers;
use super::token::{Kind, Token};
use super::types::{Parameter, Signature, Ty};

/// Most parts (stars, brackets, parameter lists) of one declarator.
const MAX_PARTS: usize = 16;

/// A name with its type.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) name: Option<Token>,
    pub(crate) ty: Ty,
    /// Whether the name itself (for an array: its elements) is `const`.
    pub(crate) constant: bool,
}

/// One step from the name towards the type in front.
enum Part {
    Pointer { constant: bool },
    Array(Option<u64>),
    Function { params: Vec<Parameter>, variadic: bool },
}

impl Parser<'_> {
    /// Reads a declarator; `may_be_unnamed` for parameters, type names and bit-fields.
    pub(crate) fn declarator(&mut self, specifiers: &Specifiers, may_be_unnamed: bool) -> Result<Declared> {
        let first = self.peek().clone();
        let mut parts = Vec::new();
        let name = self.nested(|parser| parser.parts(may_be_unnamed, &mut parts))?;
        let at = name.as_ref().unwrap_or(&first);
        if parts.len() > MAX_PARTS {
            let message = format!("this declarator has over {MAX_PARTS} parts");
            return Err(Box::new(self.error(code::LIMIT, at, message)));
        }
        let mut ty = specifiers.ty.clone();
        let mut constant = specifiers.constant;
        for part in parts.into_iter().rev() {
            ty = match part {
                Part::Pointer { constant: own } => Ty::Pointer {
                    to: Box::new(ty),
                    constant: std::mem::replace(&mut constant, own),
                },
                Part::Array(len) => self.array(ty, len, at)?,
                Part::Function { params, variadic } => {
                    if matches!(self.types.resolve(&ty), Ty::Array { .. } | Ty::Function(_)) {
                        let message = "a function cannot return an array or a function";
                        return Err(Box::new(self.error(code::SYNTAX, at, message)));
                    }
                    constant = false;
                    Ty::Function(Box::new(Signature {
                        returns: ty,
                        params,
                        variadic,
                    }))
                }
            };
        }
        Ok(Declared { name, ty, constant })
    }

    fn array(&self, of: Ty, len: Option<u64>, at: &Token) -> Result<Ty> {
        let element = self.types.resolve(&of);
        let unsized_element = matches!(element, Ty::Array { len: None, .. } | Ty::Function(_));
        if unsized_element || self.types.is_void(&of) {
            let message = "the elements of this array have no size";
            return Err(Box::new(self.error(code::ARRAY, at, message)));
        }
        self.extent_of(&of, at)?;
        let ty = Ty::Array {
            of: Box::new(of),
            len,
        };
        if len.is_some() {
            self.extent_of(&ty, at)?;
        }
        Ok(ty)
    }

    /// Collects the parts from the name outwards.
    fn parts(&mut self, may_be_unnamed: bool, out: &mut Vec<Part>) -> Result<Option<Token>> {
        let mut pointers = Vec::new();
        self.decorations()?;
        while self.eat("*") {
            let mut constant = false;
            loop {
                self.decorations()?;
                if self.eat("const") {
                    constant = true;
                } else if !(self.eat("volatile") || self.eat("__restrict") || self.eat("restrict")) {
                    break;
                }
            }
            if pointers.len() >= MAX_PARTS {
                let token = self.peek().clone();
                let message = format!("this declarator has over {MAX_PARTS} parts");
                return Err(Box::new(self.error(code::LIMIT, &token, message)));
            }
            pointers.push(constant);
        }
        let token = self.peek().clone();
        let name = if token.is("(") && self.is_inner_declarator() {
            self.next();
            let name = self.nested(|parser| parser.parts(may_be_unnamed, out))?;
            self.expect(")", "after the inner declarator")?;
            name
        } else if token.kind == Kind::Word {
            Some(self.next())
        } else if may_be_unnamed {
            None
        } else {
            return Err(self.unexpected(&token, "where a name must stand"));
        };
        loop {
            if self.peek().is("[") {
                let open = self.next();
                let len = if self.peek().is("]") {
                    None
                } else {
                    Some(self.length(&open)?)
                };
                self.expect("]", "after the array's length")?;
                out.push(Part::Array(len));
            } else if self.peek().is("(") {
                self.next();
                let (params, variadic) = self.nested(Self::parameters)?;
                out.push(Part::Function { params, variadic });
            } else {
                break;
            }
            if out.len() > MAX_PARTS {
                break;
            }
        }
        self.decorations()?;
        out.extend(
            pointers
                .into_iter()
                .rev()
                .map(|constant| Part::Pointer { constant }),
        );
        Ok(name)
    }

    /// Whether `(` opens a declarator and not a parameter list.
    fn is_inner_declarator(&self) -> bool {
        let next = self.ahead(1);
        next.is("*")
            || next.is("(")
            || self.is_convention(1)
            || next.kind == Kind::Word && !self.is_type_ahead(1)
    }

    fn length(&mut self, open: &Token) -> Result<u64> {
        let value = self.expression()?;
        u64::try_from(value.number()).map_err(|_| {
            Box::new(
                self.error(
                    code::ARRAY,
                    open,
                    format!("the array's length is {}", value.number()),
                )
                .help("a length is a number from 0"),
            )
        })
    }

    /// What stands between the parentheses of a function; the opening one is read.
    fn parameters(&mut self) -> Result<(Vec<Parameter>, bool)> {
        let mut params: Vec<Parameter> = Vec::new();
        if self.eat(")") {
            return Ok((params, false));
        }
        loop {
            if self.eat("...") {
                self.expect(")", "after `...`")?;
                return Ok((params, true));
            }
            let first = self.peek().clone();
            let specifiers = self.specifiers(false)?;
            let declared = self.declarator(&specifiers, true)?;
            let lone_void = params.is_empty() && declared.name.is_none() && self.peek().is(")");
            if self.types.is_void(&declared.ty) {
                if lone_void {
                    self.next();
                    return Ok((params, false));
                }
                let message = "a parameter cannot be `void`";
                return Err(Box::new(self.error(code::SYNTAX, &first, message)));
            }
            let name = declared.name.as_ref().map(|token| Rc::clone(&token.text));
            if let Some(token) = &declared.name
                && params
                    .iter()
                    .any(|param| param.name.as_ref() == Some(&token.text))
            {
                let message = format!("two parameters are called `{}`", token.text);
                return Err(Box::new(self.error(code::REDECLARED, token, message)));
            }
            // In a parameter an array and a function mean a pointer.
            let ty = match declared.ty {
                Ty::Array { of, .. } => Ty::Pointer {
                    to: of,
                    constant: declared.constant,
                },
                Ty::Function(_) => Ty::Pointer {
                    to: Box::new(declared.ty),
                    constant: false,
                },
                ty => match self.types.resolve(&ty) {
                    Ty::Array { of, .. } => Ty::Pointer {
                        to: of.clone(),
                        constant: declared.constant,
                    },
                    _ => ty,
                },
            };
            params.push(Parameter { name, ty });
            if self.eat(")") {
                return Ok((params, false));
            }
            self.expect(",", "between parameters")?;
        }
    }

    /// A type without a name, as in `sizeof(T *)`.
    pub(crate) fn type_name(&mut self) -> Result<Ty> {
        let specifiers = self.nested(|parser| parser.specifiers(false))?;
        let declared = self.declarator(&specifiers, true)?;
        match declared.name {
            Some(name) => Err(self.unexpected(&name, "in a type without a name")),
            None => Ok(declared.ty),
        }
    }
}
