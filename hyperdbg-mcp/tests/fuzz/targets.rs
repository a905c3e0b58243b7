//! What holds for any input. Shared with the libFuzzer programs of `tests/fuzz`.

use hyperdbg_mcp::output::{OutputStore, PAGE_CHARS, Untrusted, render_error, render_output};
use hyperdbg_mcp::policy::{Kind, Level, Options, Verdict, classify};
use hyperdbg_mcp::tool::shape::Shape;
use hyperdbg_mcp::tool::value::{Hex, HexBytes};
use hyperdbg_mcp::tool::{Category, ToolError, ToolOutput};

/// A target by name; the name is also that of its seeds.
pub(crate) type Target = fn(&[u8]);

/// All targets.
pub(crate) const TARGETS: [(&str, Target); 3] = [
    ("classification", classification),
    ("rendering", rendering),
    ("values", values),
];

const KINDS: [Kind; 3] = [Kind::Command, Kind::Expression, Kind::Script];

fn judge(kind: Kind, text: &[u8]) -> Verdict {
    classify(kind, text, &Options::default())
}

fn level(kind: Kind, text: &[u8]) -> Level {
    judge(kind, text).level
}

/// The first byte chooses the kind and what the caller knows, the rest is the text.
pub(crate) fn classification(data: &[u8]) {
    let Some((choice, text)) = data.split_first() else {
        return;
    };
    let kind = KINDS[usize::from(choice % 3)];
    let read = |_: &str| Ok(text.to_vec());
    let options = Options {
        attached: [None, Some(false), Some(true)][usize::from(choice / 3 % 3)],
        read_file: (choice & 0x40 != 0).then_some(&read),
        allow: &[],
    };
    let verdict = classify(kind, text, &options);
    assert_eq!(verdict, classify(kind, text, &options), "the same text, twice");
    assert!(!verdict.reason.is_empty());
    let said = |text: &str| {
        text.chars()
            .all(|ch| ch == '…' || !ch.is_control() && ch.is_ascii())
    };
    assert!(said(&verdict.reason), "{:?}", verdict.reason);
    assert!(verdict.notes.iter().all(|note| said(&note.text)), "{verdict:?}");

    match kind {
        Kind::Command => spacing_case_and_comments(text),
        Kind::Expression => arguments_are_expressions(text),
        Kind::Script => parts(text),
    }
}

/// Where nothing is quoted, braced, escaped or commented out, a line means the same in any spelling.
fn spacing_case_and_comments(text: &[u8]) {
    let plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"{}\\/#".contains(byte) || *byte == b' ';
    if text.len() > 900 || !text.iter().all(plain) {
        return;
    }
    let Some(start) = text.iter().position(|byte| *byte != b' ') else {
        return;
    };
    let line = &text[start..];
    let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
    let word = line[..end].to_ascii_lowercase();
    // What is assembled is read in its own way.
    if matches!(
        word.as_slice(),
        b"a" | b"!a" | b"asm" | b"!asm" | b"assemble" | b"!assemble" | b"assembly" | b"!assembly"
    ) {
        return;
    }
    let plainly = level(Kind::Command, line);
    let mut wide = b"  ".to_vec();
    wide.extend(line[..end].to_ascii_uppercase());
    for byte in &line[end..] {
        wide.push(*byte);
        if *byte == b' ' {
            wide.push(b' ');
        }
    }
    assert_eq!(level(Kind::Command, &wide), plainly, "{}", wide.escape_ascii());
    for comment in [&b" // exit"[..], b" /* eq 1 1 */", b" /**/"] {
        let commented = [line, comment].concat();
        assert_eq!(
            level(Kind::Command, &commented),
            plainly,
            "{}",
            commented.escape_ascii()
        );
    }
}

/// An address of a command is held to the rule of expressions, and nothing passes behind it.
fn arguments_are_expressions(text: &[u8]) {
    let one_word = |byte: &u8| byte.is_ascii_graphic() && !b"\"{}\\/#".contains(byte);
    if text.is_empty() || text.len() > 900 || !text.iter().all(one_word) {
        return;
    }
    let symbol = text
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_!?$@.:`".contains(byte));
    let in_command = level(Kind::Command, &[b"db ", text].concat());
    assert!(
        symbol || in_command >= level(Kind::Expression, text),
        "{}",
        text.escape_ascii()
    );
    let smuggled = [text, b");eq(1,1"].concat();
    assert!(
        level(Kind::Expression, &smuggled) >= Level::Destructive,
        "{}",
        smuggled.escape_ascii()
    );
}

/// Whole statements together are never below one of them.
fn parts(text: &[u8]) {
    let Some(at) = text.iter().position(|byte| *byte == b'\n') else {
        return;
    };
    let (first, second) = (&text[..at], &text[at + 1..]);
    let whole = |part: &[u8]| {
        let verdict = judge(Kind::Script, part);
        let ends = matches!(part.trim_ascii_end().last(), None | Some(b';' | b'}'));
        (ends && verdict.level < Level::Never && !verdict.reason.contains("not understood"))
            .then_some(verdict.level)
    };
    if let (Some(one), Some(other)) = (whole(first), whole(second)) {
        let together = level(Kind::Script, text);
        assert!(together >= one.max(other), "{}", text.escape_ascii());
    }
}

/// Whatever the target says leaves between one pair of markers, visible, and within its bounds.
pub(crate) fn rendering(data: &[u8]) {
    let (view, captured) = data.split_at(data.len() / 3);
    let store = OutputStore::new(1 << 20);
    let Ok(shape) = Shape::of(
        serde_json::json!({"type": "object", "properties": {}})
            .as_object()
            .unwrap_or(&serde_json::Map::new()),
    ) else {
        unreachable!("an object without properties is a shape")
    };
    let mut output = ToolOutput {
        text: Some("Ran.".to_owned()),
        view: Some(Untrusted::new(view)),
        captured: Some(Untrusted::new(captured)),
        ..ToolOutput::default()
    };
    let name = String::from_utf8_lossy(view).into_owned();
    output.fields.insert("name".to_owned(), name.into());
    let rendered = render_output(output, &shape, &store);
    marked(&rendered.text);
    let fields = serde_json::Value::Object(rendered.fields.unwrap_or_default());
    assert!(fields.to_string().chars().count() <= PAGE_CHARS);
    quiet(&fields);
    let error = ToolError::new(Category::Debugger, "It failed.").captured(captured.to_vec());
    marked(&render_error(&error, &store).text);
}

fn marked(text: &str) {
    assert!(text.chars().count() <= PAGE_CHARS);
    assert!(text.chars().all(visible), "{text:?}");
    let opened: Vec<_> = text.match_indices("<captured-").collect();
    let closed: Vec<_> = text.match_indices("</captured-").collect();
    assert!(opened.len() <= 1 && opened.len() == closed.len(), "{text:?}");
    if let ([(open, _)], [(close, _)]) = (opened.as_slice(), closed.as_slice()) {
        let nonce = |at: usize, marker: &str| text.get(at + marker.len()..at + marker.len() + 16);
        assert_eq!(nonce(*open, "<captured-"), nonce(*close, "</captured-"));
    }
}

fn quiet(value: &serde_json::Value) {
    match value {
        serde_json::Value::String(text) => assert!(text.chars().all(visible), "{text:?}"),
        serde_json::Value::Array(values) => values.iter().for_each(quiet),
        serde_json::Value::Object(fields) => fields.values().for_each(quiet),
        _ => {}
    }
}

fn visible(ch: char) -> bool {
    matches!(ch, '\n' | '\t')
        || !ch.is_control()
            && !matches!(ch, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Values of arguments: what is accepted means what it says, what is refused is echoed harmlessly.
pub(crate) fn values(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match text.parse::<Hex>() {
        Ok(value) => assert_eq!(value.to_string().parse(), Ok(value)),
        Err(why) => harmless(&why),
    }
    match text.parse::<HexBytes>() {
        Ok(bytes) => assert_eq!(bytes.to_string().parse(), Ok(bytes)),
        Err(why) => harmless(&why),
    }
}

fn harmless(why: &str) {
    assert!(why.len() <= 1_000 && why.chars().all(visible), "{why:?}");
}
