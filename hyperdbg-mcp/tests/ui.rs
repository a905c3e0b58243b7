//! What the types refuse: text of the target as our own words, and a tool above its tier.
//!
//! The cases are compiled by a cargo at run time; where none fits, they count as ignored, and a line says why.

#[path = "../../macros/tests/cargo/mod.rs"]
mod cargo;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let cargo = cargo::of_this_system();
    if let Err(why) = &cargo {
        eprintln!("note: the cases cannot be compiled here: {why}");
    }
    let trial = Trial::test("untrusted_data_and_tiers_have_no_way_around", || {
        trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
        Ok(())
    });
    let trials = vec![trial.with_ignored_flag(cargo.is_err())];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
