//! `hyperdbg-mcp`: the program.

fn main() {}
