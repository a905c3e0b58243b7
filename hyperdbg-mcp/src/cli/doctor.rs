//! Shows what was found of HyperDbg and of this machine.

use std::process::ExitCode;

use clap::Args;

use super::{ServeFlags, fail};
use crate::doctor::{self, Options};
use crate::session::WorkerProgram;

#[derive(Debug, Args)]
pub(super) struct DoctorFlags {
    /// Print the report as JSON
    #[arg(long, env = "HYPERDBG_MCP_JSON", value_parser = clap::builder::FalseyValueParser::new())]
    json: bool,

    /// Judge the library by its file only, without loading it in a worker process
    #[arg(long, env = "HYPERDBG_MCP_NO_LOAD", value_parser = clap::builder::FalseyValueParser::new())]
    no_load: bool,
}

pub(super) async fn run(flags: &ServeFlags, verb: &DoctorFlags) -> ExitCode {
    let worker = match verb.no_load {
        true => None,
        false => match WorkerProgram::this_program() {
            Ok(program) => Some(program),
            Err(error) => return fail(&format!("this program cannot be found again: {error}")),
        },
    };
    let report = doctor::examine(&Options {
        request: flags.request(),
        simulator: flags.simulator,
        sdk: flags.sdk(),
        worker,
    })
    .await;
    let printed = match verb.json {
        true => match report.to_json() {
            Ok(json) => super::print(&json),
            Err(error) => return fail(&error.to_string()),
        },
        false => super::print(&report.to_text()),
    };
    match report.is_well() {
        true => printed,
        false => ExitCode::FAILURE,
    }
}
