//! Calls one tool and prints its result.

use std::io::Read;
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use super::client::{CallError, Client, text_of};
use super::{ServeFlags, USAGE, fail};

#[derive(Debug, Args)]
pub(super) struct CallFlags {
    /// The tool's name
    tool: String,
    /// Its arguments as a JSON object; `-` reads them from standard input
    arguments: Option<String>,
    /// Print the whole result as JSON
    #[arg(long, env = "HYPERDBG_MCP_JSON", value_parser = clap::builder::FalseyValueParser::new())]
    json: bool,
}

pub(super) async fn run(flags: ServeFlags, verb: CallFlags) -> ExitCode {
    let arguments = match arguments(verb.arguments.as_deref()) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let client = match Client::start(&flags).await {
        Ok(client) => client,
        Err(error) => return fail(&error),
    };
    let result = client.call(&verb.tool, arguments).await;
    client.end().await;
    match result {
        Ok(result) => {
            let failed = result.is_error == Some(true);
            let text = if verb.json {
                serde_json::to_string_pretty(&result).unwrap_or_default()
            } else {
                text_of(&result)
            };
            let printed = super::print(&text);
            if failed { ExitCode::FAILURE } else { printed }
        }
        Err(CallError::Protocol(message)) => usage(&message),
        Err(CallError::Connection(message)) => fail(&message),
    }
}

/// How arguments are written at a prompt. Windows' own takes single quotes for letters.
const HOW: &str = if cfg!(windows) {
    r#"write them like "{\"address\": \"0x1000\"}", or put them into a file and write - < FILE"#
} else {
    r#"write them like '{"address": "0x1000"}', or put them into a file and write - < FILE"#
};

fn arguments(text: Option<&str>) -> Result<serde_json::Map<String, Value>, String> {
    let text = match text {
        None => return Ok(serde_json::Map::new()),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| format!("the arguments cannot be read from standard input: {error}"))?;
            text
        }
        Some(text) => text.to_owned(),
    };
    // Windows' editors and shells like to begin files so.
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(format!("the arguments are not a JSON object; {HOW}")),
        Err(error) => Err(format!("the arguments are not JSON: {error}; {HOW}")),
    }
}

fn usage(message: &str) -> ExitCode {
    eprintln!("hyperdbg-mcp: {message}");
    ExitCode::from(USAGE)
}
