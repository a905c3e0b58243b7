//! What `#[composite_tool]` accepts and refuses, and with which words.

#[test]
fn declarations_that_break_a_rule_are_refused_on_their_token() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}

#[test]
fn a_declaration_that_keeps_the_rules_becomes_a_tool() {
    trybuild::TestCases::new().pass("tests/accepted/*.rs");
}
