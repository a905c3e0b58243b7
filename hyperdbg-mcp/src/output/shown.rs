//! Values as a person is shown them before deciding: neutralised, on marked lines, cut where they are long.

use super::escape::escape;

/// Characters of one value that are shown.
const MOST_CHARS: usize = 600;
/// Lines of one value that are shown.
const MOST_LINES: usize = 12;

/// `value` in lines that begin with `|`, so that it cannot pass for our own words; what is cut off is counted.
pub fn shown(value: &[u8]) -> String {
    let text = escape(value);
    let total = text.chars().count();
    let end = text
        .char_indices()
        .nth(MOST_CHARS)
        .map_or(text.len(), |(at, _)| at);
    let mut lines: Vec<String> = text[..end]
        .split('\n')
        .take(MOST_LINES)
        .map(|line| format!("| {}", line.replace('\t', "    ")))
        .collect();
    if end < text.len() || text[..end].split('\n').count() > MOST_LINES {
        lines.push(format!("[CUT: {total} characters in all; the rest is not shown]"));
    }
    lines.join("\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_leave_its_lines() {
        assert_eq!(shown(b"90 90"), "| 90 90");
        assert_eq!(
            shown("a\ntool: hd_mem_read\x1b[2J\u{202e}".as_bytes()),
            "| a\n  | tool: hd_mem_read\\x1b[2J\\u{202e}"
        );
        assert_eq!(shown(b"a\rb"), "| a\\x0db");
    }

    #[test]
    fn what_is_cut_is_said() {
        let long = shown(&[b'x'; 1000]);
        assert!(long.contains("[CUT: 1000 characters in all"), "{long}");
        let many = shown("x\n".repeat(40).as_bytes());
        assert_eq!(many.matches("| x").count(), MOST_LINES);
        assert!(many.contains("[CUT:"), "{many}");
    }
}
