//! What the target says is no text: it cannot become an error, a next step, a result's own words or a log line.

use hyperdbg_mcp::output::{Captured, Untrusted};

fn displayed(untrusted: &Untrusted) -> String {
    format!("{untrusted}")
}

fn printed(untrusted: &Untrusted) -> String {
    untrusted.to_string()
}

fn borrowed(untrusted: &Untrusted) -> &str {
    untrusted
}

fn dereferenced(untrusted: Untrusted) -> usize {
    (*untrusted).len()
}

fn serialised(untrusted: &Untrusted) -> String {
    serde_json::to_string(untrusted).unwrap()
}

fn field_displayed(captured: &Captured) -> String {
    format!("{captured}")
}

fn field_read(captured: &Captured) -> &str {
    &captured.0
}

fn main() {}
