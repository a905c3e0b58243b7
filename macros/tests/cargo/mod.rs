//! The cargo that a test can start, where there is one that fits.

use std::process::Command;

/// Whether the cargo that runs this test compiles for the system on which it runs; else why not.
pub(crate) fn of_this_system() -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(&cargo)
        .args(["--version", "--verbose"])
        .output()
        .map_err(|error| format!("{} does not start: {error}", cargo.display()))?;
    let told = String::from_utf8_lossy(&output.stdout);
    let host = told
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap_or("unknown");
    match host.contains(std::env::consts::OS) || cfg!(target_os = "macos") && host.contains("darwin") {
        true => Ok(()),
        false => Err(format!("{} is for {host}", cargo.display())),
    }
}
