//! libFuzzer over `targets::values`.
#![no_main]

#[path = "../../../hyperdbg-mcp/tests/fuzz/targets.rs"]
#[allow(dead_code)]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::values(data));
