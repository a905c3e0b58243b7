//! Descriptions and instructions are constants of the program.
use hyperdbg_mcp::output::Untrusted;
use hyperdbg_mcp::tool::ToolSpec;

fn described(spec: ToolSpec, untrusted: Untrusted) -> ToolSpec {
    ToolSpec {
        description: untrusted,
        ..spec
    }
}

fn main() {}
