//! New enumerators that a generated tool would offer before anyone has said whether it should.

use super::Context;
use super::reach::base;
use super::values::{self, Changes};
use crate::catalog::{Enum, Type};

/// One new enumerator at one argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided {
    /// The enumerator.
    pub enumerator: String,
    /// Its number.
    pub value: i64,
    /// The name that it had, where an entry decides on that.
    pub was: Option<String>,
    /// Its enum.
    pub of: String,
    /// Where the enum is defined, `file:line`.
    pub origin: String,
    /// The function that takes the argument.
    pub function: String,
    /// The parameter, and the fields inside its record.
    pub argument: Vec<String>,
}

/// What an entry in `api/` says of the enumerators of one argument.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    /// The generated tool, which offers what is not excluded. A hand-written tool has a list of its own.
    pub(super) tool: Option<String>,
    pub(super) argument: Vec<String>,
    /// Enumerators that the entry names, offered or not.
    pub(super) named: Vec<String>,
    /// The enumerator that the argument is where it is left out.
    pub(super) default: Option<String>,
}

impl Choice {
    fn names(&self, enumerator: &str) -> bool {
        self.named.iter().any(|name| name == enumerator)
    }
}

/// All of two sides.
pub(super) fn all(cx: &Context<'_>) -> Vec<Undecided> {
    let mut found = Vec::new();
    for new in &cx.new.catalog.enums {
        if let Some(old) = cx.old_reach.find_enum(&new.name) {
            found.extend(of(cx, new, &values::changes(old, new)));
        }
    }
    found
}

/// Those of one enum, of which `changes` tell what became.
pub(super) fn of(cx: &Context<'_>, new: &Enum, changes: &Changes) -> Vec<Undecided> {
    let mut found = Vec::new();
    for (before, after) in &cx.pairs {
        for choice in cx.decisions.choices(&before.name) {
            let Some((param, fields)) = choice.argument.split_first() else {
                continue;
            };
            let mut params = after.params.iter().chain(&before.params);
            let param = params.find(|one| one.name == *param);
            let Some(ty) = param.and_then(|param| inside(cx, &param.ty, fields)) else {
                continue;
            };
            if base(&ty) != new.name {
                continue;
            }
            let came = changes.added.iter().filter(|_| choice.tool.is_some());
            let came = came.map(|(name, value)| (name, value, None));
            // A decision on the old name is none on the new one.
            let renamed = changes.renamed.iter().filter(|one| choice.names(&one.was));
            let renamed = renamed.map(|one| (&one.name, &one.value, Some(one.was.clone())));
            let open = came.chain(renamed).filter(|(name, ..)| !choice.names(name));
            found.extend(open.map(|(name, value, was)| Undecided {
                enumerator: name.clone(),
                value: *value,
                was,
                of: new.name.clone(),
                origin: new.origin.clone(),
                function: before.name.clone(),
                argument: choice.argument.clone(),
            }));
        }
    }
    found
}

/// The type of a field inside the record that `ty` points to, without typedefs.
fn inside(cx: &Context<'_>, ty: &Type, fields: &[String]) -> Option<Type> {
    let mut at = cx.new_reach.plain(ty);
    for field in fields {
        let record = cx.new_reach.record(base(&at))?;
        let field = record.fields.iter().find(|one| one.name == *field)?;
        at = cx.new_reach.plain(&field.ty);
    }
    Some(at)
}
