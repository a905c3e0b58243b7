//! `hyperdbg-mcp`: the program.

fn main() -> std::process::ExitCode {
    hyperdbg_mcp::cli::main()
}
