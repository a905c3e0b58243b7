//! Places in `api/tools` that must say whether a tool offers a new enumerator.

use super::ENUMERATOR_UNDECIDED;
use crate::annotations::Annotations;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::diff::Undecided;

/// A finding for each.
pub(super) fn places(annotations: &Annotations, undecided: &[Undecided]) -> Diagnostics {
    undecided
        .iter()
        .filter_map(|one| place(annotations, one))
        .collect()
}

fn place(annotations: &Annotations, one: &Undecided) -> Option<Diagnostic> {
    let functions = annotations.groups.iter().flat_map(|group| &group.functions);
    let mut bodies = functions.filter(|function| function.symbol.value == one.function);
    let body = bodies.find_map(|function| function.body.as_ref())?;
    let (_, role, said) = body
        .scalars()
        .find(|(argument, ..)| argument.iter().eq(one.argument.iter()))?;
    // Beside what is decided already, where there is something.
    let at = said.enumerators().next().map_or(role, |name| name.place);
    let shown = format!("`{}` ({}) of `{}`", one.enumerator, one.value, one.of);
    let message = match &one.was {
        None => format!("`{}` would offer the new {shown}", one.argument.join(".")),
        Some(was) => format!("what is said of `{was}` is not said of {shown}, as it is called now"),
    };
    let finding = Diagnostic::error(ENUMERATOR_UNDECIDED, message);
    let finding = finding
        .at(annotations.sources.span(at))
        .note(format!(
            "`{}` takes it; the enum is defined at {}",
            one.function, one.origin
        ))
        .help(format!(
            "see what the library does with it, then write \"{}\" into `offer` or `exclude` here",
            one.enumerator
        ));
    Some(finding)
}
