//! Bodies of records and enums.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::code;
use super::layout::{self, NoExtent};
use super::parser::{Parser, Result};
use super::specifiers::Specifiers;
use super::token::{Kind, Loc, Token};
use super::types::{Enum, Extent, Member, Record, RecordKind, Tag, Ty};
use super::value::Value;

impl Parser<'_> {
    /// The record of this tag, new where it is not known or has no tag.
    pub(crate) fn record_id(
        &mut self,
        kind: RecordKind,
        keyword: &Token,
        tag: Option<&Token>,
    ) -> Result<usize> {
        if let Some(name) = tag {
            match self.tag(&name.text) {
                Some(Tag::Record(id)) if self.types.records[id].kind == kind => return Ok(id),
                Some(Tag::Record(id)) => return Err(self.redeclared(name, self.types.records[id].loc)),
                Some(Tag::Enum(id)) => return Err(self.redeclared(name, self.types.enums[id].loc)),
                None => {}
            }
        }
        let id = self.types.records.len();
        self.types.records.push(Record {
            kind,
            tag: tag.map(|name| Rc::clone(&name.text)),
            alias: None,
            inside: None,
            loc: tag.unwrap_or(keyword).loc,
            pack: None,
            members: Vec::new(),
            layout: None,
        });
        if let Some(name) = tag {
            self.types.tags.insert(Rc::clone(&name.text), Tag::Record(id));
        }
        Ok(id)
    }

    /// The enum of this tag, new where it is not known or has no tag.
    pub(crate) fn enum_id(&mut self, keyword: &Token, tag: Option<&Token>) -> Result<usize> {
        if let Some(name) = tag {
            match self.tag(&name.text) {
                Some(Tag::Enum(id)) => return Ok(id),
                Some(Tag::Record(id)) => return Err(self.redeclared(name, self.types.records[id].loc)),
                None => {}
            }
        }
        let id = self.types.enums.len();
        self.types.enums.push(Enum {
            tag: tag.map(|name| Rc::clone(&name.text)),
            alias: None,
            loc: tag.unwrap_or(keyword).loc,
            values: None,
        });
        if let Some(name) = tag {
            self.types.tags.insert(Rc::clone(&name.text), Tag::Enum(id));
        }
        Ok(id)
    }

    /// Reads `{ members }` and lays the record out.
    pub(crate) fn record_body(&mut self, id: usize, name: &Token) -> Result<()> {
        let record = &self.types.records[id];
        if record.layout.is_some() {
            return Err(self.redeclared(name, record.loc));
        }
        let (kind, pack) = (record.kind, self.pack);
        self.types.records[id].loc = name.loc;
        self.next();
        let mut members: Vec<Member> = Vec::new();
        let mut unnamed_records = 0;
        while !self.eat("}") {
            let token = self.peek().clone();
            match token.kind {
                Kind::End => {
                    let finding = self.error(code::SYNTAX, name, "the body of this record is never closed");
                    return Err(Box::new(finding.help("close it with `}`")));
                }
                Kind::Pack(_) => {
                    let message = "`#pragma pack` inside of a record is not supported";
                    return Err(Box::new(self.error(code::PRAGMA, &token, message)));
                }
                _ => {}
            }
            if self.static_assertion()? {
                continue;
            }
            let specifiers = self.specifiers(false)?;
            if specifiers.untagged_record
                && let Ty::Record(inner) = specifiers.ty
            {
                self.types.records[inner].inside = Some((id, unnamed_records));
                unnamed_records += 1;
            }
            if self.eat(";") {
                self.nameless_member(&token, &specifiers, &mut members)?;
                continue;
            }
            loop {
                let member = self.member(&specifiers)?;
                members.push(member);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(";", "after the member")?;
        }
        self.distinct(&members)?;
        self.lay_out(id, kind, pack, members, name)
    }

    /// `struct { ... };` is an anonymous member, `enum { ... };` declares enumerators only.
    fn nameless_member(
        &self,
        first: &Token,
        specifiers: &Specifiers,
        members: &mut Vec<Member>,
    ) -> Result<()> {
        if specifiers.untagged_record {
            members.push(Member {
                name: None,
                ty: specifiers.ty.clone(),
                width: None,
                loc: first.loc,
            });
            return Ok(());
        }
        if matches!(specifiers.ty, Ty::Enum(_)) && specifiers.declares {
            return Ok(());
        }
        let message = "this declares no member, or an anonymous one: compilers disagree";
        let finding = self.error(code::SYNTAX, first, message);
        Err(Box::new(
            finding.help("give the member a name, or take the record's tag away"),
        ))
    }

    fn member(&mut self, specifiers: &Specifiers) -> Result<Member> {
        let first = self.peek().clone();
        let declared = self.declarator(specifiers, first.is(":"))?;
        let at = declared.name.clone().unwrap_or(first);
        let width = if self.peek().is(":") {
            let colon = self.next();
            Some(self.bit_width(&declared.ty, declared.name.is_some(), &colon)?)
        } else {
            None
        };
        if matches!(self.types.resolve(&declared.ty), Ty::Function(_)) {
            let finding = self.error(code::SYNTAX, &at, "functions inside of records are not supported");
            return Err(Box::new(finding));
        }
        Ok(Member {
            name: declared.name.map(|token| token.text),
            ty: declared.ty,
            width,
            loc: at.loc,
        })
    }

    fn bit_width(&mut self, ty: &Ty, named: bool, colon: &Token) -> Result<u32> {
        let bytes = match self.types.resolve(ty) {
            Ty::Basic(basic) => basic.integer(self.target).map(|integer| integer.bytes),
            Ty::Enum(_) => Some(4),
            _ => None,
        };
        let Some(bytes) = bytes else {
            let finding = self.error(code::BIT_FIELD, colon, "a bit-field must have an integer type");
            return Err(Box::new(finding));
        };
        let width = self.expression()?.number();
        let least = i128::from(named);
        if width < least || width > i128::from(bytes * 8) {
            let message = format!("a bit-field of this type cannot be {width} bits wide");
            let help = format!(
                "widths go from 1 to {}; 0 is for a bit-field without a name",
                bytes * 8
            );
            return Err(Box::new(self.error(code::BIT_FIELD, colon, message).help(help)));
        }
        Ok(u32::try_from(width).unwrap_or_default())
    }

    fn distinct(&self, members: &[Member]) -> Result<()> {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for member in members {
            if let Some(name) = &member.name
                && !seen.insert(name)
            {
                let finding = crate::diagnostic::Diagnostic::error(
                    code::REDECLARED,
                    format!("two members of this record are called `{name}`"),
                );
                return Err(Box::new(finding.at(self.sources.span(member.loc))));
            }
        }
        Ok(())
    }

    fn lay_out(
        &mut self,
        id: usize,
        kind: RecordKind,
        pack: Option<u64>,
        members: Vec<Member>,
        name: &Token,
    ) -> Result<()> {
        let mut extents = Vec::with_capacity(members.len());
        for (position, member) in members.iter().enumerate() {
            let at = Token {
                loc: member.loc,
                from: None,
                ..name.clone()
            };
            let flexible = kind == RecordKind::Struct && position + 1 == members.len();
            extents.push(match &member.ty {
                Ty::Array { of, len: None } if flexible => Extent {
                    size: 0,
                    align: self.extent_of(of, &at)?.align,
                },
                ty => self.extent_of(ty, &at)?,
            });
        }
        let pairs: Vec<(&Member, Extent)> = members.iter().zip(extents).collect();
        let layout = layout::record(kind, pack, self.target, &pairs);
        let layout = match layout {
            Ok(layout) if layout.extent.size > 0 => layout,
            Ok(_) => {
                let message = "this record has no member with a size; C and C++ disagree about its own";
                return Err(Box::new(self.error(code::EMPTY_RECORD, name, message)));
            }
            Err(NoExtent::TooLarge | NoExtent::Incomplete) => {
                return Err(Box::new(self.error(
                    code::ARRAY,
                    name,
                    "this record is larger than 2 GiB",
                )));
            }
        };
        let record = &mut self.types.records[id];
        record.pack = pack;
        record.members = members;
        record.layout = Some(layout);
        Ok(())
    }

    /// Reads `{ enumerators }`.
    pub(crate) fn enum_body(&mut self, id: usize, name: &Token) -> Result<()> {
        let known = &self.types.enums[id];
        if known.values.is_some() {
            return Err(self.redeclared(name, known.loc));
        }
        self.types.enums[id].loc = name.loc;
        self.next();
        let mut values: Vec<(Rc<str>, i64)> = Vec::new();
        let mut next = 0i128;
        while !self.eat("}") {
            let token = self.next();
            if token.kind != Kind::Word {
                return Err(self.unexpected(&token, "where an enumerator must stand"));
            }
            if self.eat("=") {
                next = self.expression()?.number();
            }
            let value = self.enumerator(&token, next)?;
            values.push((Rc::clone(&token.text), value));
            next = i128::from(value) + 1;
            if !self.eat(",") {
                let begins = self.sources.origin(name.loc);
                self.expect("}", "after the last enumerator")
                    .map_err(|finding| Box::new(finding.note(format!("the enum begins at {begins}"))))?;
                break;
            }
        }
        if values.is_empty() {
            return Err(Box::new(self.error(
                code::SYNTAX,
                name,
                "this enum has no enumerators",
            )));
        }
        self.types.enums[id].values = Some(values);
        Ok(())
    }

    /// Declares one enumerator; MSVC keeps every enum in an `int` and wraps what only fits unsigned.
    fn enumerator(&mut self, name: &Token, number: i128) -> Result<i64> {
        if i32::try_from(number).is_err() && u32::try_from(number).is_err() {
            let message = format!("the value {number} does not fit an enum, which is a C `int`");
            return Err(Box::new(self.error(code::ENUM_RANGE, name, message)));
        }
        let value = Value::int(number);
        let clash: Option<Loc> = self
            .types
            .constants
            .get(&name.text)
            .map(|(_, loc)| *loc)
            .or_else(|| {
                self.types
                    .typedef_names
                    .get(&name.text)
                    .map(|id| self.types.typedefs[*id].loc)
            })
            .or_else(|| self.types.variables.get(&name.text).copied());
        if let Some(first) = clash {
            return Err(self.redeclared(name, first));
        }
        self.types
            .constants
            .insert(Rc::clone(&name.text), (value, name.loc));
        Ok(i64::try_from(value.number()).unwrap_or_default())
    }
}
