//! What `api/` says of each function, as far as a comparison needs it.

use std::collections::{BTreeMap, BTreeSet};

use super::offers::Choice;
#[cfg(feature = "generate")]
use crate::annotations::{Annotations, Body, Literal, Role};

/// Decisions by function.
#[derive(Debug, Clone, Default)]
pub struct Decisions {
    functions: BTreeMap<String, Decision>,
    errors: BTreeSet<String>,
}

#[derive(Debug, Clone)]
struct Decision {
    file: String,
    tools: Vec<String>,
    excluded: Option<String>,
    /// Scalar arguments, with the enumerators that are decided on.
    choices: Vec<Choice>,
    /// Parameters that results are read from.
    results: BTreeSet<String>,
    /// Fields of records that it names.
    fields: BTreeSet<String>,
}

impl Decisions {
    /// No decisions: between two releases, no tools are at hand.
    pub fn none() -> Self {
        Self::default()
    }

    #[cfg(feature = "generate")]
    /// The decisions of `api/`; entries that could not be read are left out.
    pub fn of(annotations: &Annotations) -> Self {
        let mut decisions = Self::default();
        for group in &annotations.groups {
            for function in &group.functions {
                let mut decision = Decision {
                    file: annotations.sources.path_of(function.symbol.place).to_owned(),
                    tools: Vec::new(),
                    excluded: None,
                    choices: Vec::new(),
                    results: BTreeSet::new(),
                    fields: BTreeSet::new(),
                };
                if let Some(body) = &function.body {
                    let tools = &mut decision.tools;
                    tools.extend(body.tool.iter().map(|tool| tool.name.value.clone()));
                    let composite = body.composite.iter().flatten();
                    tools.extend(composite.map(|name| name.value.clone()));
                    decision.choices = choices(body);
                    decision.results = results(body);
                    decision.fields = fields(body);
                }
                decisions
                    .functions
                    .insert(function.symbol.value.clone(), decision);
            }
        }
        for exclusion in &annotations.exclusions {
            let decision = Decision {
                file: annotations.sources.path_of(exclusion.symbol.place).to_owned(),
                tools: Vec::new(),
                excluded: Some(exclusion.kind.clone()),
                choices: Vec::new(),
                results: BTreeSet::new(),
                fields: BTreeSet::new(),
            };
            decisions
                .functions
                .insert(exclusion.symbol.value.clone(), decision);
        }
        let errors = annotations.errors.iter();
        decisions.errors = errors.map(|one| one.name.value.clone()).collect();
        decisions
    }

    /// Tools that call one of the functions, by name.
    pub fn tools(&self, functions: &[String]) -> Vec<String> {
        let decisions = functions.iter().filter_map(|name| self.functions.get(name));
        let tools: BTreeSet<&String> = decisions.flat_map(|decision| &decision.tools).collect();
        tools.into_iter().cloned().collect()
    }

    /// The file that decides on a function.
    pub fn file(&self, function: &str) -> Option<&str> {
        self.functions
            .get(function)
            .map(|decision| decision.file.as_str())
    }

    /// The kind of reason for which a function is excluded.
    pub fn excluded(&self, function: &str) -> Option<&str> {
        self.functions.get(function)?.excluded.as_deref()
    }

    /// Whether an error code has an entry.
    pub fn explains(&self, error: &str) -> bool {
        self.errors.contains(error)
    }

    /// What is decided on enumerators, argument by argument.
    pub(super) fn choices(&self, function: &str) -> &[Choice] {
        self.functions
            .get(function)
            .map_or(&[], |decision| &decision.choices)
    }

    /// Whether the entry of a function names an enumerator as a default.
    pub(super) fn has_default(&self, function: &str, enumerator: &str) -> bool {
        let mut choices = self.choices(function).iter();
        choices.any(|choice| choice.default.as_deref() == Some(enumerator))
    }

    /// Whether the entry of a function names a field of a record.
    pub(super) fn names_field(&self, function: &str, field: &str) -> bool {
        let decision = self.functions.get(function);
        decision.is_some_and(|decision| decision.fields.contains(field))
    }

    /// Whether results are read from a parameter.
    pub(super) fn reads_result(&self, function: &str, param: &str) -> bool {
        let decision = self.functions.get(function);
        decision.is_some_and(|decision| decision.results.contains(param))
    }
}

#[cfg(feature = "generate")]
fn choices(body: &Body) -> Vec<Choice> {
    let tool = body.tool.as_ref();
    let scalars = body.scalars().map(|(argument, _, said)| Choice {
        tool: tool.map(|tool| tool.name.value.clone()),
        argument: argument.into_iter().map(str::to_owned).collect(),
        named: said.enumerators().map(|name| name.value.clone()).collect(),
        default: match said.default.as_ref().map(|default| &default.value) {
            Some(Literal::Text(name)) => Some(name.clone()),
            _ => None,
        },
    });
    scalars.collect()
}

#[cfg(feature = "generate")]
fn results(body: &Body) -> BTreeSet<String> {
    let results = body.params.iter().filter(|param| {
        let role = param.role.as_ref().map(|role| &role.value);
        role.is_some_and(Role::gives_result)
    });
    results.map(|param| param.name.value.clone()).collect()
}

#[cfg(feature = "generate")]
fn fields(body: &Body) -> BTreeSet<String> {
    let arguments = body
        .scalars()
        .flat_map(|(argument, ..)| argument.into_iter().skip(1));
    let status = body
        .status
        .iter()
        .flat_map(|status| status.field.value.split('.'));
    arguments.chain(status).map(str::to_owned).collect()
}
