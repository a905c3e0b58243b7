//! From what C says and what people wrote to what is exposed: one total function, and every check there is.
//!
//! All findings of one run are reported together, each at its place in `api/`.

pub mod codes;
mod errors;
mod params;
mod returns;
mod scalar;
mod tools;

use std::collections::BTreeMap;

use heck::{ToSnakeCase, ToUpperCamelCase};

use crate::annotations::{Annotations, At, Body, Place, Sources};
use crate::catalog::{Catalog, Function as CFunction};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::surface::ctype::Types;
use crate::surface::{Blocking, Composite, Excluded, Function, Group, Library, Served, Surface};

/// Deadline of calls that wait for nothing: long enough for a busy machine.
const INSTANT_DEADLINE_MS: u64 = 5_000;

/// Resolves annotations against a catalog.
///
/// # Errors
/// Every contradiction between the two.
pub fn resolve(catalog: &Catalog, annotations: &Annotations) -> Result<Surface, Diagnostics> {
    let library = Library::new(catalog)?;
    let types = Types::new(catalog);
    let mut cx = Context {
        sources: &annotations.sources,
        library: &library,
        types: &types,
        errors: Diagnostics::new(),
    };
    let decisions = decide(&mut cx, catalog, annotations);
    tools::check_names(&mut cx, annotations);
    check_aliases(&mut cx, annotations);
    let mut functions = Vec::new();
    let mut excluded = Vec::new();
    for c_function in &catalog.functions {
        match decisions.get(c_function.name.as_str()) {
            Some(Decision::Exposed { group, body }) => {
                functions.extend(function(&mut cx, catalog, c_function, group, body));
            }
            Some(Decision::Excluded(exclusion)) => {
                let export = library.find_export(&c_function.name);
                excluded.push(Excluded {
                    symbol: c_function.name.clone(),
                    kind: exclusion.kind.clone(),
                    reason: exclusion.reason.clone(),
                    alias: exclusion.alias.as_ref().map(|alias| alias.value.clone()),
                    prototype: export.map_or_else(String::new, |export| export.prototype.clone()),
                    origin: c_function.origin.clone(),
                });
            }
            None => {}
        }
    }
    let (errors, success_code) = errors::resolve(&mut cx, catalog, annotations);
    let found = cx.errors;
    if !found.is_empty() {
        return Err(found);
    }
    let composites = composites(&functions);
    Ok(Surface {
        sdk_version: catalog.sdk_version.clone(),
        groups: annotations
            .groups
            .iter()
            .map(|group| Group {
                name: group.name.value.clone(),
                title: group.title.clone(),
                description: group.description.clone(),
                default: group.default,
            })
            .collect(),
        library,
        functions,
        composites,
        excluded,
        errors,
        success_code,
    })
}

/// The known name that `found` was most likely meant to be.
pub fn nearest<'a>(found: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|name| (strsim::normalized_damerau_levenshtein(found, name), name))
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// What the parts of the resolver share.
struct Context<'a> {
    sources: &'a Sources,
    library: &'a Library,
    types: &'a Types<'a>,
    errors: Diagnostics,
}

impl Context<'_> {
    fn fail(
        &mut self,
        code: &'static str,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let finding = Diagnostic::error(code, message)
            .at(self.sources.span(place))
            .help(help);
        self.errors.push(finding);
    }

    /// Records that a second thing clashes with the one at `first`.
    fn clash(&mut self, code: &'static str, first: Place, second: Place, message: String, help: &str) {
        let span = self.sources.span(first);
        let finding = Diagnostic::error(code, message)
            .at(self.sources.span(second))
            .note(format!("the other one is at {}:{}", span.file, span.line))
            .help(help);
        self.errors.push(finding);
    }
}

enum Decision<'a> {
    Exposed { group: &'a str, body: &'a Body },
    Excluded(&'a crate::annotations::Exclusion),
}

/// Which function is exposed and which excluded: each exactly once.
fn decide<'a>(
    cx: &mut Context<'_>,
    catalog: &'a Catalog,
    annotations: &'a Annotations,
) -> BTreeMap<&'a str, Decision<'a>> {
    let known: BTreeMap<&str, &CFunction> = catalog
        .functions
        .iter()
        .map(|function| (function.name.as_str(), function))
        .collect();
    let mut places: BTreeMap<&str, Place> = BTreeMap::new();
    let mut decisions = BTreeMap::new();
    let annotated = annotations.groups.iter().flat_map(|group| {
        group.functions.iter().map(|function| {
            (
                &function.symbol,
                Some((group.name.value.as_str(), function.body.as_ref())),
                None,
            )
        })
    });
    let excluded = annotations
        .exclusions
        .iter()
        .map(|exclusion| (&exclusion.symbol, None, Some(exclusion)));
    for (symbol, exposed, exclusion) in annotated.chain(excluded) {
        let name = symbol.value.as_str();
        if !known.contains_key(name) {
            let help = match nearest(name, known.keys().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "remove the entry, or import the SDK that has it".to_owned(),
            };
            cx.fail(
                codes::UNKNOWN_FUNCTION,
                symbol.place,
                format!("the library exports no function `{name}`"),
                help,
            );
            continue;
        }
        if let Some(first) = places.get(name).copied() {
            cx.clash(
                codes::DECIDED_TWICE,
                first,
                symbol.place,
                format!("`{name}` is decided on twice"),
                "keep one: a function is in one group, or excluded",
            );
            continue;
        }
        places.insert(name, symbol.place);
        if let Some((group, Some(body))) = exposed {
            decisions.insert(name, Decision::Exposed { group, body });
        } else if let Some(exclusion) = exclusion {
            decisions.insert(name, Decision::Excluded(exclusion));
        }
    }
    for function in &catalog.functions {
        if annotations.functions_complete && !places.contains_key(function.name.as_str()) {
            cx.errors.push(
                Diagnostic::error(
                    codes::UNDECIDED,
                    format!(
                        "`{}` is exported, but neither annotated nor excluded",
                        function.name
                    ),
                )
                .note(format!("declared at {}", function.origin))
                .help(
                    "give it a tier and a tool in api/tools/<group>.json, or a reason in api/exclusions.json",
                ),
            );
        }
    }
    decisions
}

fn check_aliases(cx: &mut Context<'_>, annotations: &Annotations) {
    let mut seen: BTreeMap<&str, Place> = BTreeMap::new();
    let bodies = annotations
        .groups
        .iter()
        .flat_map(|group| &group.functions)
        .filter_map(|function| function.body.as_ref()?.alias.as_ref());
    let excluded = annotations
        .exclusions
        .iter()
        .filter_map(|exclusion| exclusion.alias.as_ref());
    for At { value, place } in bodies.chain(excluded) {
        match seen.get(value.as_str()).copied() {
            Some(first) => cx.clash(
                codes::ALIAS,
                first,
                *place,
                format!("two functions have the alias `{value}`"),
                "an earlier name belongs to one function: write null for the other",
            ),
            None => {
                seen.insert(value, *place);
            }
        }
    }
}

/// `hyperdbg_u_read_memory` → `read_memory`, unless two functions would get the same name.
fn method_name(catalog: &Catalog, symbol: &str) -> String {
    let short = |symbol: &str| {
        symbol
            .strip_prefix("hyperdbg_u_")
            .or_else(|| symbol.strip_prefix("hwdbg_"))
            .unwrap_or(symbol)
            .to_snake_case()
    };
    let name = short(symbol);
    let same = catalog
        .functions
        .iter()
        .filter(|function| short(&function.name) == name)
        .count();
    if same == 1 { name } else { symbol.to_snake_case() }
}

fn function(
    cx: &mut Context<'_>,
    catalog: &Catalog,
    c_function: &CFunction,
    group: &str,
    body: &Body,
) -> Option<Function> {
    if body.summary.value.contains('\n') || body.summary.value.trim_end().ends_with('.') {
        cx.fail(
            codes::SUMMARY,
            body.summary.place,
            "the summary is not one line without a full stop",
            "it becomes the first line of a doc comment: shorten it, and drop the full stop",
        );
    }
    let export = cx.library.find_export(&c_function.name)?;
    let served = tools::served(cx, group, body, &c_function.name);
    let resolved = params::resolve(cx, c_function, export, body);
    let returns = returns::resolve(cx, c_function, export, body);
    let (params, inputs, outputs) = resolved?;
    let returns = returns?;
    returns::check_names(cx, body, &outputs);
    let status = match &body.status {
        None => None,
        Some(status) => Some(returns::status(cx, status, &params, &outputs)?),
    };
    let method = method_name(catalog, &c_function.name);
    Some(Function {
        symbol: c_function.name.clone(),
        variant: method.to_upper_camel_case(),
        method,
        group: group.to_owned(),
        summary: body.summary.value.trim().to_owned(),
        tier: body.tier.value,
        tier_reason: body.tier_reason.clone(),
        alias: body.alias.as_ref().map(|alias| alias.value.clone()),
        served: served?,
        params,
        inputs,
        outputs,
        return_type: export.returns.clone(),
        returns,
        status,
        text: body.text,
        text_errors: body.text_errors,
        requires: body.requires.clone(),
        blocking: Blocking {
            kind: body.blocking,
            deadline_ms: body.deadline_ms.unwrap_or(INSTANT_DEADLINE_MS),
            note: body.blocking_note.clone(),
        },
        notes: body.notes.clone(),
        prototype: export.prototype.clone(),
        origin: export.origin.clone(),
    })
}

fn composites(functions: &[Function]) -> Vec<Composite> {
    let mut tools: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for function in functions {
        if let Served::Composite(names) = &function.served {
            for name in names {
                tools.entry(name).or_default().push(function.symbol.clone());
            }
        }
    }
    tools
        .into_iter()
        .map(|(name, symbols)| Composite {
            name: name.to_owned(),
            group: tools::group_of(name).unwrap_or_default().to_owned(),
            symbols,
        })
        .collect()
}
