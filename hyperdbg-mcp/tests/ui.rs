//! What the types refuse: text of the target as our own words, and a tool above its tier.

#[path = "../../macros/tests/compiler/mod.rs"]
mod compiler;

fn main() -> std::process::ExitCode {
    compiler::run(vec![("untrusted_data_and_tiers_have_no_way_around", |cases| {
        cases.compile_fail("tests/ui/*.rs");
    })])
}
