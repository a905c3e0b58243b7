//! Command lines that a tool may send as they stand, each with the tier of that line.

/// The function that sends command lines.
pub(crate) const RUN_COMMAND: &str = "hyperdbg_u_run_command";

/// Lines that only list, and lines that take back what was set (there a number follows); everything else has the tier
/// of the function.
pub(crate) static FORMS: &[(&str, &str)] = &[
    (".status", "read"),
    ("bc", "state"),
    ("bl", "read"),
    ("events", "read"),
    ("events c", "state"),
    ("events d", "state"),
    ("events e", "state"),
    ("lm", "read"),
    ("lm km", "read"),
    ("lm um", "read"),
];

/// The listings of the server's context, each with its line.
pub(crate) static LISTINGS: &[(&str, &str)] = &[
    ("Breakpoints", "bl"),
    ("KernelModules", "lm km"),
    ("Modules", "lm"),
    ("UserModules", "lm um"),
];
