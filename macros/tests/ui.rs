//! What `#[composite_tool]` accepts and refuses, and with which words.

mod compiler;

fn main() -> std::process::ExitCode {
    compiler::run(vec![
        (
            "declarations_that_break_a_rule_are_refused_on_their_token",
            |cases| {
                cases.compile_fail("tests/refused/*.rs");
            },
        ),
        ("a_declaration_that_keeps_the_rules_becomes_a_tool", |cases| {
            cases.pass("tests/accepted/*.rs");
        }),
    ])
}
