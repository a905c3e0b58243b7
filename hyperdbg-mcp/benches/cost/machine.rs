//! The machine that a run was made on, and the page that shows the run.

use std::path::Path;

/// Where the table is kept, between these two lines.
const PAGE: &str = "docs/cost.md";
const BEGIN: &str = "<!-- begin of the table: cargo bench -p hyperdbg-mcp --bench cost -- --write -->\n";
const END: &str = "<!-- end of the table -->\n";

/// One line for people: processor, cores, system.
pub(crate) fn describe() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let processor = read("/proc/cpuinfo")
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or_else(
            || "a processor that the system does not name".to_owned(),
            |(_, name)| name.to_owned(),
        );
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let system = match read("/proc/sys/kernel/osrelease").trim() {
        "" => std::env::consts::OS.to_owned(),
        release => format!("Linux {release}"),
    };
    let build = if cfg!(debug_assertions) {
        "debug build"
    } else {
        "release build"
    };
    format!(
        "{processor}, {cores} cores, {system}, {}, {build}; client, server and worker on one core",
        std::env::consts::ARCH
    )
}

/// Puts a run into the page.
pub(crate) fn write(machine: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(&path).expect("the page can be read");
    let (before, rest) = page
        .split_once(BEGIN)
        .expect("the page has a place for the table");
    let (_, after) = rest.split_once(END).expect("the place for the table ends");
    let page = format!("{before}{BEGIN}\nMeasured on: {machine}.\n\n{table}\n{END}{after}");
    std::fs::write(&path, page).expect("the page can be written");
}
