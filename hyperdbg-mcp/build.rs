//! Stops the build when `api/` has changed and the generated code has not.
#![allow(
    unreachable_pub,
    reason = "both modules are public where they are used beside this"
)]

use std::path::Path;
use std::process::ExitCode;

#[path = "build/digest.rs"]
mod digest;
#[path = "src/generated/digest.rs"]
#[rustfmt::skip]
mod generated;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/digest.rs");
    println!("cargo::rerun-if-changed=src/generated/digest.rs");
    let api = Path::new("../api");
    // A packaged crate has no `api/`: what was generated is all there is.
    if !api.is_dir() {
        return ExitCode::SUCCESS;
    }
    println!("cargo::rerun-if-changed=../api");
    match digest::files(api) {
        Ok(found) => {
            let changes = changes(&found);
            if changes.is_empty() {
                return ExitCode::SUCCESS;
            }
            println!(
                "cargo::error=api/ has changed since the code was generated: {}",
                changes.join(", ")
            );
            println!("cargo::error=run: cargo codegen generate");
        }
        Err(error) => println!("cargo::error=api/ cannot be read: {error}"),
    }
    ExitCode::FAILURE
}

fn changes(found: &[(String, String)]) -> Vec<String> {
    let known = generated::FILES;
    let mut changes = Vec::new();
    for (path, digest) in found {
        match known.iter().find(|(other, _)| other == path) {
            None => changes.push(format!("{path} is new")),
            Some((_, other)) if other != digest => changes.push(format!("{path} differs")),
            Some(_) => {}
        }
    }
    for (path, _) in known {
        if !found.iter().any(|(other, _)| other == path) {
            changes.push(format!("{path} is gone"));
        }
    }
    changes
}
