//! Damaged inputs against what must hold for all of them. The damage is the same in every run; how long it goes on is
//! said by HYPERDBG_MCP_FUZZ_SECONDS, for each target. HYPERDBG_MCP_FUZZ_SEEDS names a folder that the seeds are written to,
//! for `tests/fuzz/run`.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod mutate;
mod seeds;
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use mutate::{Random, damaged};

/// Inputs that every run tries, however slow the machine is.
const LEAST: u64 = 2_000;

fn seconds() -> Duration {
    let said = std::env::var("HYPERDBG_MCP_FUZZ_SECONDS").map(|said| said.parse().unwrap());
    Duration::from_secs(said.unwrap_or(0))
}

fn run(name: &str) {
    let (_, target) = targets::TARGETS.iter().find(|(found, _)| *found == name).unwrap();
    let seeds = seeds::of(name);
    let check = |input: &[u8]| {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(input))) {
            println!("the input: b\"{}\"", input.escape_ascii());
            resume_unwind(panic);
        }
    };
    if let Some(folder) = std::env::var_os("HYPERDBG_MCP_FUZZ_SEEDS") {
        let folder = Path::new(&folder).join(name);
        fs::create_dir_all(&folder).unwrap();
        for (at, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{at:04}")), seed).unwrap();
        }
    }
    seeds.iter().for_each(|seed| check(seed));
    let mut random = Random::new(0x5eed);
    let (began, lasts) = (Instant::now(), seconds());
    let mut tried = 0;
    while tried < LEAST || began.elapsed() < lasts {
        check(&damaged(&mut random, &seeds));
        tried += 1;
    }
    println!("{name}: {} seeds and {tried} damaged inputs", seeds.len());
}

#[test]
fn no_text_is_judged_below_what_it_holds() {
    run("classification");
}

#[test]
fn nothing_captured_leaves_unmarked() {
    run("rendering");
}

#[test]
fn no_value_is_misread() {
    run("values");
}
