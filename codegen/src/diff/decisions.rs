//! What `api/` says of each function, as far as a comparison needs it.

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "generate")]
use crate::annotations::Annotations;

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
                let mut tools = Vec::new();
                if let Some(body) = &function.body {
                    tools.extend(body.tool.iter().map(|tool| tool.name.value.clone()));
                    let composite = body.composite.iter().flatten();
                    tools.extend(composite.map(|name| name.value.clone()));
                }
                let decision = Decision {
                    file: annotations.sources.path_of(function.symbol.place).to_owned(),
                    tools,
                    excluded: None,
                };
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
}
