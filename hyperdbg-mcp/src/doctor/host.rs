//! Findings about the machine: whether HyperDbg's hypervisor and driver could run here.
//!
//! All of it matters only for debugging this very machine, so nothing here is worse than a warning.

#[cfg(any(windows, test))]
mod facts;
#[cfg(windows)]
mod windows;

use super::Finding;

#[cfg(windows)]
pub(super) async fn examine() -> Vec<Finding> {
    facts::judge(&windows::gather().await)
}

/// Other systems: there is no driver, so nothing of the machine matters.
#[cfg(not(windows))]
#[allow(clippy::unused_async)]
pub(super) async fn examine() -> Vec<Finding> {
    vec![
        Finding::info(
            "host.system",
            match std::env::consts::OS {
                "linux" => "HyperDbg has no driver on Linux".to_owned(),
                other => format!("HyperDbg has no driver on {other}"),
            },
        )
        .why(
            "the library loads here, and expressions, scripts and commands that need no target work; local, kernel and \
             user-mode debugging, symbols and the assembler do not",
        )
        .todo("Use Windows x64 for debugging, or --simulator to try the tools."),
    ]
}
