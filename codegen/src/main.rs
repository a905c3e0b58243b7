//! `cargo codegen`: imports HyperDbg's headers and generates the code of hyperdbg-mcp.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    hyperdbg_codegen::cli::main()
}
