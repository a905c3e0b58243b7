//! What was found of HyperDbg and of this machine, what is wrong with it, and what to do.
//!
//! Nothing is changed. The library is loaded only in a worker process, which may die of it; a driver never.

mod host;
mod library;
mod load;
mod render;

use serde::Serialize;

use crate::discovery::companions::{self, Dependency, Driver, Presence};
use crate::discovery::{self, Candidate, Library, Origin, Request, Surroundings};
use crate::engine::LibrarySource;
use crate::sdk::{self, Compatibility};
use crate::session::WorkerProgram;

pub use load::Load;

/// Version of the JSON form; it grows when a field changes its meaning or goes away.
const SCHEMA_VERSION: u32 = 1;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing; also what could not be found out.
    Info,
    /// Something will not work, or not in every mode.
    Warning,
    /// The server cannot do its work.
    Problem,
}

impl Level {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable name.
    pub id: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What was found.
    pub what: String,
    /// Why it matters, or where it was read.
    pub why: Option<String>,
    /// What to do.
    pub what_to_do: Option<String>,
}

impl Finding {
    fn new(id: &'static str, level: Level, what: impl Into<String>) -> Self {
        Self {
            id,
            level,
            what: what.into(),
            why: None,
            what_to_do: None,
        }
    }

    fn ok(id: &'static str, what: impl Into<String>) -> Self {
        Self::new(id, Level::Ok, what)
    }

    fn info(id: &'static str, what: impl Into<String>) -> Self {
        Self::new(id, Level::Info, what)
    }

    fn warning(id: &'static str, what: impl Into<String>) -> Self {
        Self::new(id, Level::Warning, what)
    }

    fn problem(id: &'static str, what: impl Into<String>) -> Self {
        Self::new(id, Level::Problem, what)
    }

    /// Something that could not be found out.
    fn unknown(id: &'static str, what: &str, why: impl std::fmt::Display) -> Self {
        Self::info(id, format!("unknown: {what}")).why(why.to_string())
    }

    fn why(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }

    fn todo(mut self, what_to_do: impl Into<String>) -> Self {
        self.what_to_do = Some(what_to_do.into());
        self
    }
}

/// What is to be looked at.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the library is looked for.
    pub request: Request,
    /// Look at the built-in simulator instead.
    pub simulator: bool,
    /// Where the library's headers are, and what is made of them.
    pub sdk: sdk::Choice,
    /// What becomes the worker that loads the library; nothing is loaded without it.
    pub worker: Option<WorkerProgram>,
}

/// Everything that was found.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Version of this form.
    pub schema_version: u32,
    /// Version of this program.
    pub program: &'static str,
    /// HyperDbg's release that the program was made for.
    pub catalog_release: Option<&'static str>,
    /// Functions in the catalog.
    pub catalog_functions: usize,
    /// Operating system and processor of this program.
    pub system: String,
    /// Problems among the findings.
    pub problems: usize,
    /// Warnings among the findings.
    pub warnings: usize,
    /// In the order in which they were looked at.
    pub findings: Vec<Finding>,
    /// The library that would be loaded.
    pub library: Option<Library>,
    /// Every place that was, or would have been, looked at.
    pub candidates: Vec<Candidate>,
    /// What the library needs.
    pub dependencies: Vec<Dependency>,
    /// Other files that belong beside the library.
    pub extras: Vec<Presence>,
    /// How the library's own headers fit this program.
    pub compatibility: Option<Compatibility>,
    /// How loading it in a worker went.
    pub load: Option<Load>,
}

impl Report {
    /// Whether the server can do its work.
    pub fn is_well(&self) -> bool {
        self.problems == 0
    }

    /// For a person at a terminal.
    pub fn to_text(&self) -> String {
        render::text(self)
    }

    /// For a program.
    ///
    /// # Errors
    /// None that this type gives occasion to.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }
}

/// Looks at everything.
pub async fn examine(options: &Options) -> Report {
    examine_in(options, &Surroundings::of_this_process()).await
}

/// Looks at everything in given surroundings.
pub async fn examine_in(options: &Options, around: &Surroundings) -> Report {
    let mut findings = Vec::new();
    let mut report = Report {
        schema_version: SCHEMA_VERSION,
        program: env!("CARGO_PKG_VERSION"),
        catalog_release: discovery::release::of_catalog(),
        catalog_functions: hyperdbg_sys::Exports::SYMBOLS.len(),
        system: format!(
            "{} {}",
            std::env::consts::OS,
            discovery::image::Loader::THIS.machine
        ),
        problems: 0,
        warnings: 0,
        findings: Vec::new(),
        library: None,
        candidates: Vec::new(),
        dependencies: Vec::new(),
        extras: Vec::new(),
        compatibility: None,
        load: None,
    };
    let source = if options.simulator {
        findings.push(Finding::info(
            "library",
            "the built-in simulator: no HyperDbg and no target is involved",
        ));
        Some(LibrarySource::Embedded)
    } else {
        let search = discovery::search(&options.request, around);
        library::judge_search(&search, &mut findings);
        report.candidates = search.candidates;
        report.library = search.library;
        report
            .library
            .as_ref()
            .map(|library| LibrarySource::Path(library.path.clone()))
    };
    if let Some(source) = &source {
        let missing = report.library.as_ref().map(|library| library.missing.as_slice());
        let fit = sdk::examine(source, &options.sdk)
            .await
            .held_against(missing.unwrap_or_default());
        let release = report
            .library
            .as_ref()
            .and_then(|library| library.release.as_ref());
        library::judge_headers(&fit, release, &mut findings);
        report.compatibility = Some(fit);
    }
    if let (Some(source), Some(worker)) = (source, &options.worker) {
        let load = load::attempt(source, options.sdk.clone(), worker.clone()).await;
        findings.push(load::judge(&load));
        report.load = Some(load);
    }
    if let Some(library) = &report.library {
        let loads = report.load.as_ref().is_some_and(|load| load.loaded);
        library::judge(library, &mut findings);
        report.dependencies = companions::dependencies(library);
        library::judge_dependencies(&report.dependencies, loads, &mut findings);
        report.extras = companions::extras(library.folder());
        library::judge_extras(&report.extras, &mut findings);
        let program = discovery::places::program_folder();
        // The simulator needs no driver, but takes the path of one.
        let concerned =
            !library.simulator || companions::driver(library.folder(), program.as_deref()) != Driver::Absent;
        if cfg!(windows) && concerned {
            library::judge_drivers(library, program.as_deref(), &mut findings);
        }
    }
    findings.extend(host::examine().await);
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    report.problems = count(Level::Problem);
    report.warnings = count(Level::Warning);
    report.findings = findings;
    report
}

/// How an origin reads in a sentence.
fn by(origin: Origin) -> String {
    match origin.is_named() {
        true => format!("named by {origin}"),
        false => format!("found: {origin}"),
    }
}

#[cfg(test)]
mod tests;
