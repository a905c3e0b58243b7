//! Command lines that a tool may send as they stand, each with the tier of that line.

/// The function that sends command lines.
pub(crate) const RUN_COMMAND: &str = "hyperdbg_u_run_command";

/// Lines without arguments that only list; everything else has the tier of the function.
pub(crate) static FORMS: &[(&str, &str)] = &[
    (".status", "read"),
    ("bl", "read"),
    ("events", "read"),
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
