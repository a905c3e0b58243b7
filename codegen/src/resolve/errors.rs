//! HyperDbg's error codes: every macro of the headers has an entry, and every entry a macro.

use std::collections::BTreeMap;

use super::{Context, codes, tools::did_you_mean};
use crate::annotations::Annotations;
use crate::catalog::Catalog;
use crate::diagnostic::Diagnostic;
use crate::surface::ErrorCode;

const PREFIX: &str = "DEBUGGER_ERROR_";

/// The table by code, and the code that means success.
pub(super) fn resolve(
    cx: &mut Context<'_>,
    catalog: &Catalog,
    annotations: &Annotations,
) -> (Vec<ErrorCode>, u32) {
    let constants: BTreeMap<&str, u64> = catalog
        .constants
        .iter()
        .map(|constant| (constant.name.as_str(), constant.value))
        .collect();
    let mut table = Vec::new();
    for entry in &annotations.errors {
        let name = entry.name.value.as_str();
        let code = constants.get(name).and_then(|value| u32::try_from(*value).ok());
        let Some(code) = code.filter(|_| name.starts_with(PREFIX)) else {
            let known = constants.keys().copied().filter(|name| name.starts_with(PREFIX));
            cx.fail(
                codes::ERROR_UNKNOWN,
                entry.name.place,
                format!("the SDK has no error code `{name}`"),
                match super::nearest(name, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "remove the entry".to_owned(),
                },
            );
            continue;
        };
        table.push(ErrorCode {
            name: name.to_owned(),
            code,
            meaning: entry.meaning.clone(),
            next_step: entry.next_step.clone(),
            category: entry.category.clone(),
        });
    }
    for constant in &catalog.constants {
        let entered = annotations
            .errors
            .iter()
            .any(|entry| entry.name.value == constant.name);
        if annotations.errors_complete && constant.name.starts_with(PREFIX) && !entered {
            cx.errors.push(
                Diagnostic::error(
                    codes::ERROR_MISSING,
                    format!("`{}` has no entry in api/errors.json", constant.name),
                )
                .note(format!("defined at {} as {:#x}", constant.origin, constant.value))
                .help("add its meaning, what to do next, and a category"),
            );
        }
    }
    table.sort_by_key(|entry| entry.code);
    let mut success = 0;
    if let Some(name) = &annotations.success {
        match constants
            .get(name.value.as_str())
            .and_then(|value| u32::try_from(*value).ok())
        {
            Some(code) => success = code,
            None => {
                let help = did_you_mean(
                    &name.value,
                    constants.keys().copied().filter(|name| name.contains("SUCCESS")),
                );
                cx.fail(
                    codes::CONSTANT_MISSING,
                    name.place,
                    format!("the catalog has no constant `{}`", name.value),
                    help,
                );
            }
        }
    }
    (table, success)
}
