//! What declarations leave behind: names that later declarations use, and must not contradict.

use std::rc::Rc;

use super::code;
use super::parser::{Parser, Result};
use super::specifiers::Storage;
use super::token::{Kind, Loc, Token};
use super::types::{Prototype, Signature, Tag, Ty, Typedef};
use super::value::Value;
use crate::diagnostic::Diagnostic;

impl Parser<'_> {
    pub(crate) fn redeclared(&self, name: &Token, first: Loc) -> Box<Diagnostic> {
        let message = format!("`{}` is declared again with another meaning", name.text);
        Box::new(
            self.error(code::REDECLARED, name, message)
                .note(format!("first declared at {}", self.sources.origin(first)))
                .help("headers of one release agree; check that the folder holds one release only"),
        )
    }

    pub(crate) fn typedef(&mut self, name: &Token, ty: Ty, constant: bool) -> Result<()> {
        if let Some(known) = self.types.typedef_names.get(&name.text) {
            let known = &self.types.typedefs[*known];
            if self.types.same(&known.ty, &ty) && known.constant == (constant || self.types.is_constant(&ty))
            {
                return Ok(());
            }
            return Err(self.redeclared(name, known.loc));
        }
        self.not_a_value(name)?;
        match &ty {
            Ty::Record(id) => {
                self.types.records[*id]
                    .alias
                    .get_or_insert_with(|| Rc::clone(&name.text));
            }
            Ty::Enum(id) => {
                self.types.enums[*id]
                    .alias
                    .get_or_insert_with(|| Rc::clone(&name.text));
            }
            _ => {}
        }
        let resolved = self.types.resolve(&ty).clone();
        let extent = match resolved {
            Ty::Array { .. } => self.extent_of(&ty, name).ok(),
            _ => None,
        };
        let id = self.types.typedefs.len();
        self.types.typedefs.push(Typedef {
            name: Rc::clone(&name.text),
            constant: constant || self.types.is_constant(&ty),
            ty,
            resolved,
            extent,
            loc: name.loc,
        });
        self.types.typedef_names.insert(Rc::clone(&name.text), id);
        Ok(())
    }

    pub(crate) fn prototype(
        &mut self,
        name: &Token,
        marker: Option<Rc<str>>,
        signature: Signature,
    ) -> Result<()> {
        if let Some(id) = self.types.prototype_names.get(&name.text) {
            let known = &self.types.prototypes[*id];
            if self.types.same_signature(&known.signature, &signature, 0) {
                return Ok(());
            }
            return Err(self.redeclared(name, known.loc));
        }
        let id = self.types.prototypes.len();
        self.types.prototype_names.insert(Rc::clone(&name.text), id);
        self.types.prototypes.push(Prototype {
            name: Rc::clone(&name.text),
            marker,
            signature,
            loc: name.loc,
        });
        Ok(())
    }

    pub(crate) fn variable(&mut self, name: &Token, storage: Storage, ty: &Ty) -> Result<()> {
        let initialized = self.eat("=");
        let unsized_array = matches!(ty, Ty::Array { len: None, .. });
        if storage != Storage::Extern && !(initialized && unsized_array) {
            self.extent_of(ty, name)?;
        }
        self.not_a_value(name)?;
        self.types.variables.insert(Rc::clone(&name.text), name.loc);
        if initialized {
            self.initializer()?;
        }
        Ok(())
    }

    /// Reads over an initializer.
    fn initializer(&mut self) -> Result<()> {
        let first = self.peek().clone();
        let mut depth = 0usize;
        loop {
            let token = self.peek().clone();
            match token.kind {
                Kind::End => {
                    return Err(Box::new(self.error(
                        code::SYNTAX,
                        &first,
                        "this initializer has no end",
                    )));
                }
                Kind::Bad(_) => return Err(self.unexpected(&token, "in an initializer")),
                _ if depth == 0 && (token.is(",") || token.is(";")) => return Ok(()),
                _ if token.is("{") || token.is("(") || token.is("[") => depth += 1,
                _ if token.is("}") || token.is(")") || token.is("]") => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return Err(self.unexpected(&token, "in an initializer")),
                },
                _ => {}
            }
            self.next();
        }
    }

    /// Refuses a type name that an enumerator bears already, and the other way round.
    pub(crate) fn not_a_value(&self, name: &Token) -> Result<()> {
        match self.types.constants.get(&name.text) {
            Some((_, first)) => Err(self.redeclared(name, *first)),
            None => Ok(()),
        }
    }

    pub(crate) fn constant(&self, name: &str) -> Option<Value> {
        self.types.constants.get(name).map(|(value, _)| *value)
    }

    pub(crate) fn tag(&self, name: &str) -> Option<Tag> {
        self.types.tags.get(name).copied()
    }
}
