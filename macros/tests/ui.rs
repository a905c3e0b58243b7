//! What `#[composite_tool]` accepts and refuses, and with which words.
//!
//! Each case is compiled by a cargo at run time. Where the tests were built on another system (for Windows, run under
//! wine) there is none that fits; the tests then count as ignored, and a line says why.

#[path = "cargo/mod.rs"]
mod cargo;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let cargo = cargo::of_this_system();
    if let Err(why) = &cargo {
        eprintln!("note: the cases cannot be compiled here: {why}");
    }
    let trials = vec![
        Trial::test(
            "declarations_that_break_a_rule_are_refused_on_their_token",
            || {
                trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
                Ok(())
            },
        ),
        Trial::test("a_declaration_that_keeps_the_rules_becomes_a_tool", || {
            trybuild::TestCases::new().pass("tests/accepted/*.rs");
            Ok(())
        }),
    ];
    let trials = trials
        .into_iter()
        .map(|trial| trial.with_ignored_flag(cargo.is_err()))
        .collect();
    // One after the other: they share the folder in which they compile.
    let arguments = Arguments {
        test_threads: Some(1),
        ..Arguments::from_args()
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}
