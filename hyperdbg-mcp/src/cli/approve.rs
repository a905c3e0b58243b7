//! Lets one request of a running server through: shows it first, and asks.

use std::process::ExitCode;

use clap::Args;

use super::client::asks;
use super::fail;
use crate::server::operator::Operator;

#[derive(Debug, Args)]
pub(super) struct ApproveFlags {
    /// The approval id from the refusal
    id: String,
    /// Approve without asking; for scripts
    #[arg(long, env = "HYPERDBG_MCP_APPROVE_YES", value_parser = clap::builder::FalseyValueParser::new())]
    yes: bool,
}

pub(super) fn run(flags: &ApproveFlags) -> ExitCode {
    match approve(flags) {
        Ok(true) => super::print(&format!(
            "Approved: the same call goes through once. Tell the agent to make it again ({}).",
            flags.id
        )),
        Ok(false) => fail("not approved; the request is declined"),
        Err(error) => fail(&error),
    }
}

fn approve(flags: &ApproveFlags) -> Result<bool, String> {
    let mut operator = Operator::reach(&flags.id)?;
    let (shown, digest) = operator.show()?;
    super::print(&format!(
        "An agent asks to do this, once:\n\n{shown}\n\nLines that begin with | are values, not words of hyperdbg-mcp.\n"
    ));
    if !flags.yes && !asks("").map_err(|error| format!("the answer cannot be read: {error}"))? {
        operator.decline()?;
        return Ok(false);
    }
    operator.approve(digest)?;
    Ok(true)
}
