//! Lines of a stop report, as HyperDbg prints them: they tell that the target halted, and are no text of an event.

/// Whether this line belongs to the report of a stop, by its shape.
pub(crate) fn is_line(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let line = line.trim();
    line.is_empty() || line == RUNNING || is_heading(line) || is_symbol(line) || is_code(line)
}

/// What is printed when the target is let run.
pub(crate) const RUNNING: &str = "debuggee is running...";

/// The line that says why.
fn is_heading(line: &str) -> bool {
    (line.starts_with("breakpoint 0x") && line.ends_with(" hit"))
        || (line.starts_with("event 0x") && line.contains(" triggered ("))
}

/// A line of disassembly: the address in two halves comes first.
pub(crate) fn is_code(line: &str) -> bool {
    let address = line.split(' ').next().unwrap_or_default();
    address.len() == 17
        && address.bytes().enumerate().all(|(at, byte)| match at {
            8 => byte == b'`',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The line with the name before it.
pub(crate) fn is_symbol(line: &str) -> bool {
    line.ends_with(':') && line.contains('!') && !line.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_report_are_told_from_what_scripts_print() {
        for line in [
            "debuggee is running...\n",
            "\n",
            "breakpoint 0x1f hit\r\n",
            "event 0x2 triggered (pre)\n",
            "nt!KiIdleLoop+0x2:\n",
            "fffff803`30200202    48 FF 05 FF FD 9F 00    inc qword ptr ds:[x]\n",
        ] {
            assert!(is_line(line.as_bytes()), "{line}");
        }
        for line in [
            "hit\n",
            "breakpoint 0x1 hit me\n",
            "fffff803 x\n",
            "nt!x: y\n",
            "\u{fffd}",
        ] {
            assert!(!is_line(line.as_bytes()), "{line}");
        }
    }
}
