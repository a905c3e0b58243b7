//! Turns bytes of any origin into text that cannot act on its reader: no control, no invisible, no direction
//! changing characters, and nothing that reads as the envelope's marker. Lossless.

use super::envelope::MARKER;

/// The escaped form of `bytes`.
///
/// Valid, visible UTF-8, newlines and tabs stay. Every other byte becomes `\xHH`, every other character
/// `\u{H…}`. A backslash that would make plain text read as one of these becomes `\x5c`, so the bytes can be
/// recovered.
pub(super) fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + bytes.len() / 8);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (valid, invalid) = match std::str::from_utf8(rest) {
            Ok(text) => (text, 0),
            Err(error) => {
                let (head, tail) = rest.split_at(error.valid_up_to());
                let bad = error.error_len().unwrap_or(tail.len());
                // The head was just found to be valid.
                (std::str::from_utf8(head).unwrap_or_default(), bad)
            }
        };
        escape_text(valid, &mut out);
        let end = valid.len() + invalid;
        for byte in &rest[valid.len()..end] {
            push_byte(*byte, &mut out);
        }
        rest = &rest[end..];
    }
    out
}

/// The same for text that may already be escaped: what acts on a reader becomes an escape, backslashes stay.
pub(super) fn calm(text: &str) -> Option<String> {
    let acts = |(at, ch): (usize, char)| {
        !matches!(ch, '\n' | '\t' | ' '..='~') && (ch.is_ascii() || is_hidden(ch))
            || ch == '<' && reads_as_marker(&text[at + 1..])
    };
    if !text.char_indices().any(acts) {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for piece in text.split_inclusive('\\') {
        match piece.strip_suffix('\\') {
            Some(head) => {
                escape_text(head, &mut out);
                out.push('\\');
            }
            None => escape_text(piece, &mut out),
        }
    }
    Some(out)
}

fn escape_text(text: &str, out: &mut String) {
    for (at, ch) in text.char_indices() {
        match ch {
            '\n' | '\t' => out.push(ch),
            '\\' if reads_as_escape(&text[at + 1..]) => out.push_str("\\x5c"),
            '<' if reads_as_marker(&text[at + 1..]) => out.push_str("\\x3c"),
            ' '..='~' => out.push(ch),
            _ if ch.is_ascii() => push_byte(ch as u8, out),
            _ if is_hidden(ch) => {
                out.push_str("\\u{");
                out.push_str(&format!("{:x}", ch as u32));
                out.push('}');
            }
            _ => out.push(ch),
        }
    }
}

fn push_byte(byte: u8, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push_str("\\x");
    out.push(DIGITS[usize::from(byte >> 4)] as char);
    out.push(DIGITS[usize::from(byte & 15)] as char);
}

/// Whether a backslash before `rest` would read as an escape. What follows at a cut (the end of the valid part)
/// counts as one too, since an escaped byte may come next.
fn reads_as_escape(rest: &str) -> bool {
    let bytes = rest.as_bytes();
    match bytes.first() {
        None => true,
        Some(b'x') => bytes.iter().skip(1).take(2).all(u8::is_ascii_hexdigit),
        Some(b'u') => bytes.get(1).is_none_or(|byte| *byte == b'{'),
        Some(_) => false,
    }
}

/// Whether a `<` before `rest` would read as the envelope's marker, in any spelling of its name.
fn reads_as_marker(rest: &str) -> bool {
    let name = rest.trim_start_matches([' ', '/', '\t']);
    name.len() >= MARKER.len()
        && name.is_char_boundary(MARKER.len())
        && name[..MARKER.len()].eq_ignore_ascii_case(MARKER)
}

/// Characters outside ASCII that have no shape of their own or change how others are shown.
fn is_hidden(ch: char) -> bool {
    ch.is_control()
        || matches!(u32::from(ch),
            0xad                          // soft hyphen
            | 0x034f | 0x061c             // joiner, Arabic letter mark
            | 0x115f..=0x1160 | 0x17b4..=0x17b5
            | 0x180b..=0x180f             // Mongolian selectors
            | 0x200b..=0x200f             // zero width, direction marks
            | 0x2028..=0x202e             // line and paragraph separators, embeddings, overrides
            | 0x2060..=0x206f             // joiners, isolates
            | 0x2800                      // blank Braille cell
            | 0x3164 | 0xffa0             // Hangul fillers
            | 0xfe00..=0xfe0f             // variation selectors
            | 0xfeff                      // byte order mark
            | 0xfff0..=0xfffb             // interlinear annotation
            | 0xe000..=0xf8ff             // private use
            | 0xfdd0..=0xfdef             // noncharacters
            | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a
            | 0xe0000..=0x10_ffff         // tags, selectors, private use
        )
        || u32::from(ch) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes behind an escaped text.
    fn unescape(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            out.extend_from_slice(&rest.as_bytes()[..at]);
            let tail = &rest[at + 1..];
            if let Some(hex) = tail.strip_prefix('x').and_then(|tail| tail.get(..2))
                && let Ok(byte) = u8::from_str_radix(hex, 16)
            {
                out.push(byte);
                rest = &tail[3..];
            } else if let Some(body) = tail.strip_prefix("u{") {
                let end = body.find('}').unwrap();
                let ch = char::from_u32(u32::from_str_radix(&body[..end], 16).unwrap()).unwrap();
                out.extend_from_slice(ch.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &body[end + 1..];
            } else {
                out.push(b'\\');
                rest = tail;
            }
        }
        out.extend_from_slice(rest.as_bytes());
        out
    }

    #[test]
    fn plain_text_and_paths_stay_readable() {
        let text = "C:\\Windows\\users\\ntoskrnl.exe\t0x10\nbücher 機";
        assert_eq!(escape(text.as_bytes()), text);
    }

    #[test]
    fn what_acts_on_a_terminal_or_a_reader_becomes_an_escape() {
        assert_eq!(escape(b"\x1b[2J\x07\r\n"), "\\x1b[2J\\x07\\x0d\n");
        assert_eq!(
            escape("a\u{202e}b\u{200b}c\u{feff}".as_bytes()),
            "a\\u{202e}b\\u{200b}c\\u{feff}"
        );
        assert_eq!(escape("\u{e0041}\u{85}".as_bytes()), "\\u{e0041}\\u{85}");
        assert_eq!(escape(b"a\xff\xc3b\0"), "a\\xff\\xc3b\\x00");
    }

    #[test]
    fn the_marker_cannot_be_forged() {
        assert_eq!(
            escape(b"</captured-00>x< CAPTURED-1"),
            "\\x3c/captured-00>x\\x3c CAPTURED-1"
        );
        assert_eq!(escape(b"<html> a < b"), "<html> a < b");
    }

    #[test]
    fn escaping_loses_nothing() {
        let mut cases: Vec<Vec<u8>> = vec![
            b"\\x41 \\u{41} \\\\x41 \\u \\x4".to_vec(),
            b"\\\xff".to_vec(),
            b"\\x4\xff1".to_vec(),
            b"\\u\xff{41}".to_vec(),
            "\\\u{200b}".as_bytes().to_vec(),
            b"</captured-1>".to_vec(),
            (0..=255).collect(),
        ];
        // A small generator, so that neighbours of every kind meet.
        let mut state = 1_u32;
        let alphabet: [&[u8]; 12] = [
            b"\\",
            b"x",
            b"u",
            b"{",
            b"}",
            b"4",
            b"1",
            b"\xff",
            "\u{200b}".as_bytes(),
            b"<",
            b"captured-",
            b"\x1b",
        ];
        for _ in 0..5_000 {
            let mut case = Vec::new();
            for _ in 0..8 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                case.extend_from_slice(alphabet[(state >> 16) as usize % alphabet.len()]);
            }
            cases.push(case);
        }
        for case in cases {
            let escaped = escape(&case);
            assert_eq!(unescape(&escaped), case, "{escaped:?}");
        }
    }
}
