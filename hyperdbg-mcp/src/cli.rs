//! The command line: one verb a file, every flag once.

mod approve;
mod audit;
mod call;
mod classify;
mod client;
mod demo;
mod doctor;
mod flags;
mod launch;
mod serve;
mod tools;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::audit::Masker;

pub use flags::ServeFlags;

/// Exit code of a command line that cannot be understood.
const USAGE: u8 = 2;

/// MCP server through which AI agents drive HyperDbg, the hypervisor-based kernel debugger.
///
/// Without a verb it serves one client on standard input and output.
#[derive(Debug, Parser)]
#[command(name = "hyperdbg-mcp", version = version(), max_term_width = 110)]
struct Cli {
    #[command(flatten)]
    flags: ServeFlags,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Serve one client on standard input and output (the default).
    Serve,
    /// Show an agent's session on the simulator.
    Demo(demo::DemoFlags),
    /// Call one tool and print its result.
    Call(call::CallFlags),
    /// List the tools that a client would see.
    Tools(tools::ToolsFlags),
    /// Show what was found of HyperDbg and this machine, what is wrong, and what to do.
    Doctor(doctor::DoctorFlags),
    /// Let one call through that a server refused for want of a confirmation
    Approve(approve::ApproveFlags),
    /// Tell what a command, an expression or a script can do, without sending it.
    Classify(classify::ClassifyFlags),
    /// Verify or show the log of calls.
    Audit(audit::AuditFlags),
    /// Runs the library for a server; started by it, not by people.
    #[command(hide = true)]
    Worker {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

/// Program and SDK version.
fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        format!(
            "{} (HyperDbg SDK {})",
            env!("CARGO_PKG_VERSION"),
            crate::generated::SDK_VERSION
        )
    });
    &VERSION
}

/// Runs the program on the process's own arguments.
pub fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    // The worker's arguments are not for people: they are handed on as they are, before anything else happens here.
    if arguments.get(1).is_some_and(|verb| verb == "worker") {
        return crate::engine::worker::run(arguments.drain(2..));
    }
    // What this program's starter let it inherit is not for workers.
    #[cfg(windows)]
    crate::engine::confine::keep_handles();
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { USAGE } else { 0 };
            // Help and version go to standard output, which nothing else uses then.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    log_to_stderr(cli.flags.masker());
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("hyperdbg-mcp: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(async {
        match cli.verb {
            None | Some(Verb::Serve) => serve::run(cli.flags).await,
            Some(Verb::Demo(demo)) => demo::run(cli.flags, demo).await,
            Some(Verb::Call(call)) => call::run(cli.flags, call).await,
            Some(Verb::Tools(tools)) => tools::run(&cli.flags, &tools),
            Some(Verb::Doctor(doctor)) => doctor::run(&cli.flags, &doctor).await,
            Some(Verb::Approve(request)) => approve::run(&request),
            Some(Verb::Classify(text)) => classify::run(&text),
            Some(Verb::Audit(verb)) => audit::run(&verb),
            Some(Verb::Worker { arguments }) => crate::engine::worker::run(arguments),
        }
    });
    // A read of standard input that is still pending must not hold the process.
    runtime.shutdown_background();
    code
}

fn log_to_stderr(masker: Masker) {
    let filter =
        EnvFilter::try_from_env("HYPERDBG_MCP_LOG").unwrap_or_else(|_| EnvFilter::new("warn,rmcp=error"));
    // A second call in one process keeps the first.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || MaskedStderr(masker.clone()))
        .with_target(false)
        .without_time()
        .try_init();
}

/// Standard error without secrets; each event of the log is one write.
struct MaskedStderr(Masker);

impl std::io::Write for MaskedStderr {
    fn write(&mut self, event: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        std::io::stderr().write_all(self.0.mask(&text).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

/// Prints a verb's result; standard output is nobody else's then.
fn print(text: &str) -> ExitCode {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    match write!(out, "{text}{newline}").and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // Who closes the pipe early has seen enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Tells a person what went wrong.
fn fail(message: &str) -> ExitCode {
    eprintln!("hyperdbg-mcp: {message}");
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_flag_has_an_environment_form() {
        for argument in Cli::command().get_arguments() {
            let name = argument.get_id().as_str();
            if ["help", "version"].contains(&name) {
                continue;
            }
            let env = argument
                .get_env()
                .and_then(|env| env.to_str())
                .unwrap_or_default();
            assert!(
                env.starts_with("HYPERDBG_MCP_") || env == "HYPERDBG_LIBRARY",
                "{name}: {env:?}"
            );
        }
    }

    #[test]
    fn the_serving_flags_stand_before_or_after_the_verb() {
        for line in [
            ["hyperdbg-mcp", "--simulator", "--tools", "all", "tools"],
            ["hyperdbg-mcp", "tools", "--simulator", "--tools", "all"],
        ] {
            let cli = Cli::try_parse_from(line).unwrap();
            assert!(cli.flags.simulator && matches!(cli.verb, Some(Verb::Tools(_))));
            assert_eq!(cli.flags.selection().groups, crate::tool::surface::Groups::All);
        }
        assert!(Cli::try_parse_from(["hyperdbg-mcp", "--simulator", "--library", "/x"]).is_err());
        assert!(Cli::try_parse_from(["hyperdbg-mcp", "--tools", "nothing"]).is_err());
        assert!(Cli::try_parse_from(["hyperdbg-mcp", "--open", "debugger"]).is_err());
    }
}
