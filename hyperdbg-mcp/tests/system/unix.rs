//! Signals and `/proc`.

use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// Whether a process runs; one that only waits to be reaped does not.
pub fn exists(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim_start()
            .starts_with(['Z', 'X'])
    })
}

/// Kills a process.
pub fn kill(pid: u32) {
    nix::sys::signal::kill(Pid::from_raw(pid.try_into().unwrap()), Signal::SIGKILL).unwrap();
}
