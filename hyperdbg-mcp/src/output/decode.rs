//! What characters captured bytes stand for. The library prints whatever bytes it has: mostly ASCII, names of the
//! target in the code page of this system, sometimes UTF-8.

use std::borrow::Cow;

use encoding_rs::Encoding;

/// UTF-8 for the characters of `bytes`, line by line: a line that is UTF-8 stays what it is, another is read in
/// `code_page` (a number of Windows). A line that is text in neither stays as it came, for the escape to show its bytes.
pub(super) fn decode(bytes: &[u8], code_page: u32) -> Cow<'_, [u8]> {
    if std::str::from_utf8(bytes).is_ok() {
        return bytes.into();
    }
    // An encoding that can start with ASCII and leave it could hide a newline.
    let Some(encoding) = u16::try_from(code_page)
        .ok()
        .and_then(codepage::to_encoding)
        .filter(|encoding| encoding.is_ascii_compatible() && *encoding != encoding_rs::UTF_8)
    else {
        return bytes.into();
    };
    let mut decoded = Vec::with_capacity(bytes.len() + bytes.len() / 2);
    // No byte of a character is a newline in these encodings.
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match text_of(line, encoding) {
            Some(text) => decoded.extend_from_slice(text.as_bytes()),
            None => decoded.extend_from_slice(line),
        }
    }
    decoded.into()
}

fn text_of<'a>(line: &'a [u8], encoding: &'static Encoding) -> Option<Cow<'a, str>> {
    match std::str::from_utf8(line) {
        Ok(text) => Some(text.into()),
        Err(_) => encoding.decode_without_bom_handling_and_without_replacement(line),
    }
}

#[cfg(test)]
mod tests {
    use super::super::escape::escape;
    use super::*;

    /// What a reader sees.
    fn shown(bytes: &[u8], code_page: u32) -> String {
        escape(&decode(bytes, code_page))
    }

    #[test]
    fn names_in_the_code_page_of_the_system_are_readable() {
        for (code_page, bytes, text) in [
            (
                932,
                b"path: C:\\\x83\x65\x83\x58\x83\x67\\\x95\x5c.exe\n".as_slice(),
                "path: C:\\テスト\\表.exe\n",
            ),
            (936, b"path: C:\\\xb2\xe2\xca\xd4.exe\n", "path: C:\\测试.exe\n"),
            (
                1251,
                b"path: C:\\\xcf\xf0\xee\xe1\xe0.exe\n",
                "path: C:\\Проба.exe\n",
            ),
            (1252, b"b\xfccher \x80 5\n", "bücher € 5\n"),
        ] {
            assert_eq!(shown(bytes, code_page), text, "code page {code_page}");
        }
    }

    #[test]
    fn utf8_comes_first_on_every_system() {
        let text = "Проба 测试 テスト ü\n";
        for code_page in [932, 936, 1251, 1252, 65001, 0] {
            assert_eq!(shown(text.as_bytes(), code_page), text, "code page {code_page}");
        }
        // Line by line: a line in the code page does not spoil one in UTF-8.
        let mixed = ["один\n".as_bytes(), b"\xe4\xe2\xe0\n", "три".as_bytes()].concat();
        assert_eq!(shown(&mixed, 1251), "один\nдва\nтри");
    }

    #[test]
    fn what_is_text_in_neither_is_escaped_byte_by_byte() {
        assert_eq!(shown(b"a\xff\xc3b\n", 65001), "a\\xff\\xc3b\n");
        assert_eq!(shown(b"a\xff\xfeb\nok\n", 932), "a\\xff\\xfeb\nok\n");
        // Cut in the middle of a character.
        assert_eq!(shown(b"\x83\x65\x83", 932), "\\x83e\\x83");
        assert_eq!(shown(b"\xb2", 936), "\\xb2");
        for unknown in [0, 1200, 1201, 12000, 65000, 70000, u32::MAX] {
            assert_eq!(shown(b"a\xff", unknown), "a\\xff", "code page {unknown}");
        }
    }

    #[test]
    fn a_code_page_hides_nothing_that_acts_on_a_reader() {
        assert_eq!(shown(b"\xff\x1b[2J\x07\r\n", 1251), "я\\x1b[2J\\x07\\x0d\n");
        // The one byte of it that stands for a control character.
        assert_eq!(shown(b"\x98", 1251), "\\u{98}");
        // Bytes of escapes inside characters do not count: the second one here is a backslash.
        assert_eq!(shown(b"\x95\x5cx41", 932), "表x41");
    }
}
