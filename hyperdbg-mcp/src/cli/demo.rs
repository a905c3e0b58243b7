//! Shows an agent's session on the simulator: each step calls a tool through the real client and server path, prints
//! what an agent reads, and fails when the result is not what it should be.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use crate::audit::Destination;

use super::client::{CallError, Client, text_of};
use super::{ServeFlags, fail, print};

/// Lines of one result that are shown.
const SHOWN_LINES: usize = 14;

#[derive(Debug, Args)]
pub(super) struct DemoFlags {
    /// Show results in full
    #[arg(long, env = "HYPERDBG_MCP_DEMO_FULL", value_parser = clap::builder::FalseyValueParser::new())]
    full: bool,
}

pub(super) async fn run(flags: ServeFlags, verb: DemoFlags) -> ExitCode {
    let flags = ServeFlags {
        library: None,
        simulator: true,
        open: None,
        allow_writes: true,
        read_only: false,
        // What happens on the simulated machine alone is nothing to keep.
        audit: flags.audit.clone().or(Some(Destination::Off)),
        ..flags
    };
    let client = match Client::start(&flags).await {
        Ok(client) => client,
        Err(error) => return fail(&error),
    };
    let mut demo = Demo {
        client,
        full: verb.full,
    };
    let told = demo.tell().await;
    demo.client.end().await;
    let told = match told {
        Ok(()) => refused_write(&flags, verb.full).await,
        Err(error) => Err(error),
    };
    match told {
        Ok(()) => print(
            "\nThat was a simulated machine. With HyperDbg: hyperdbg-mcp --library PATH --open debugger=PIPE\n",
        ),
        Err(error) => fail(&format!("the demo did not go as it should: {error}")),
    }
}

struct Demo {
    client: Client,
    full: bool,
}

impl Demo {
    async fn tell(&mut self) -> Result<(), String> {
        let tools = self.client.tools().await?;
        let mut text = format!(
            "# hyperdbg-mcp demo\n\nConnected to {}.\nThe agent sees {} tools:\n",
            self.client.server_name(),
            tools.len()
        );
        for tool in &tools {
            let _ = writeln!(
                text,
                "  {:20} {}",
                tool.name,
                tool.title.as_deref().unwrap_or_default()
            );
        }
        print(&text);

        let registers = self
            .step("Where does the target stand?", "hd_reg_read_all", json!({}))
            .await?;
        let rip = registers["registers"]
            .as_array()
            .and_then(|list| list.iter().find(|register| register["name"] == "rip"))
            .and_then(|register| register["value"].as_str())
            .ok_or("the registers hold no rip")?
            .to_owned();

        let read = self
            .step(
                "What is there?",
                "hd_mem_read",
                json!({"address": rip, "size": 64}),
            )
            .await?;
        expect(read["read"] == 64, "64 bytes are read")?;

        let code = self
            .step(
                "As code:",
                "hd_mem_disassemble",
                json!({"address": rip, "count": 8}),
            )
            .await?;
        let instructions = code["instructions"].as_array().cloned().unwrap_or_default();
        expect(instructions.len() > 2, "instructions are decoded")?;

        let modules = self
            .step("Whose code is it?", "hd_mod_list", json!({"which": "kernel"}))
            .await?;
        expect(modules["total"].as_u64().unwrap_or(0) > 0, "modules are listed")?;

        let target = self.breakpoint_target(&instructions).await?;
        let set = self
            .step("Stop there:", "hd_bp_set", json!({"address": target}))
            .await?;
        let id = set["id"].clone();

        let stop = self
            .step("Run.", "hd_exec_continue", json!({"wait_ms": 10_000}))
            .await?;
        expect(
            stop["state"] == "stopped" && stop["reason"] == "breakpoint",
            "the target stops at the breakpoint",
        )?;
        expect(
            stop["id"] == id && stop["rip"] == json!(target),
            "it is the breakpoint that was set",
        )?;

        let stepped = self
            .step(
                "Step three instructions.",
                "hd_exec_step",
                json!({"kind": "in", "count": 3}),
            )
            .await?;
        expect(
            stepped["steps"] == 3 && stepped["path"].as_array().is_some_and(|path| path.len() == 3),
            "three steps are taken",
        )?;

        let value = self
            .step(
                "Ask the script language.",
                "hd_script_eval",
                json!({"expression": "@rsp + 0x8"}),
            )
            .await?;
        expect(value["value"].is_string(), "the expression has a value")?;
        Ok(())
    }

    /// An instruction that the target comes by: the one after the next few, found by stepping ahead a little.
    async fn breakpoint_target(&mut self, instructions: &[Value]) -> Result<String, String> {
        let next = instructions
            .get(1)
            .and_then(|line| line["address"].as_str())
            .map(str::to_owned);
        let stepped = self
            .call("hd_exec_step", json!({"kind": "over", "count": 4}))
            .await?;
        let path = structured(&stepped)?["path"].clone();
        // The target loops: what it has just left it comes by again; else what lies ahead.
        path.as_array()
            .and_then(|path| path.first())
            .and_then(|position| position["rip"].as_str())
            .map(str::to_owned)
            .or(next)
            .ok_or_else(|| "there is no instruction to stop at".to_owned())
    }

    async fn step(&mut self, says: &str, tool: &str, arguments: Value) -> Result<Value, String> {
        let line = format!("\n## {says}\n> {tool} {arguments}\n");
        let result = self.call(tool, arguments).await?;
        print(&format!("{line}{}", shown(&text_of(&result), self.full)));
        structured(&result)
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Result<CallToolResult, String> {
        let Value::Object(arguments) = arguments else {
            return Err("arguments are an object".to_owned());
        };
        let result = self
            .client
            .call(tool, arguments)
            .await
            .map_err(|error| match error {
                CallError::Protocol(message) | CallError::Connection(message) => message,
            })?;
        if result.is_error == Some(true) {
            return Err(format!("{tool}: {}", text_of(&result)));
        }
        Ok(result)
    }
}

/// A server that may not write refuses, and says how a person allows it.
async fn refused_write(flags: &ServeFlags, full: bool) -> Result<(), String> {
    let flags = ServeFlags {
        allow_writes: false,
        read_only: true,
        ..flags.clone()
    };
    let client = Client::start(&flags).await?;
    let arguments = json!({"address": "0xfffff80000001000", "bytes": "90"});
    let line =
        format!("\n## The same server with --read-only: a write is refused.\n> hd_mem_write {arguments}\n");
    let Value::Object(arguments) = arguments else {
        return Err("arguments are an object".to_owned());
    };
    let result = client.call("hd_mem_write", arguments).await;
    client.end().await;
    match result {
        Ok(result) => {
            let text = text_of(&result);
            print(&format!("{line}{}", shown(&text, full)));
            expect(
                result.is_error == Some(true) && text.contains("policy_denied"),
                "the write is refused by policy",
            )
        }
        Err(CallError::Protocol(message) | CallError::Connection(message)) => Err(message),
    }
}

fn structured(result: &CallToolResult) -> Result<Value, String> {
    result
        .structured_content
        .clone()
        .ok_or_else(|| "a result has no structured half".to_owned())
}

fn expect(holds: bool, what: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(format!("expected that {what}"))
    }
}

fn shown(text: &str, full: bool) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if full || lines.len() <= SHOWN_LINES {
        return format!("{text}\n");
    }
    format!(
        "{}\n  … {} lines more\n",
        lines[..SHOWN_LINES].join("\n"),
        lines.len() - SHOWN_LINES
    )
}
