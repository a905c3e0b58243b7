use serde_json::json;

use super::*;
use crate::tool::Category;

fn shape() -> Shape {
    let schema = json!({"type": "object", "properties": {
        "address": {"type": "string", "pattern": "^0x"},
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}}}}
    }});
    Shape::of(schema.as_object().unwrap()).unwrap()
}

fn output(fields: Value) -> ToolOutput {
    let Value::Object(fields) = fields else { panic!() };
    ToolOutput {
        fields,
        ..ToolOutput::default()
    }
}

fn halves(output: ToolOutput, store: &OutputStore) -> (String, Map<String, Value>) {
    let rendered = render_output(output, &shape(), store);
    let fields = rendered.fields.unwrap();
    assert!(
        rendered.text.chars().count() <= PAGE_CHARS,
        "{}",
        rendered.text.len()
    );
    assert!(serde_json::to_string(&fields).unwrap().chars().count() <= PAGE_CHARS);
    (rendered.text, fields)
}

/// What stands outside of every envelope.
fn outside(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("<captured-") {
        out.push_str(&rest[..start]);
        let nonce = &rest[start + 1..start + 1 + "captured-".len() + 16];
        let end_marker = format!("</{nonce}>");
        let end = rest.find(&end_marker).expect("every envelope is closed");
        rest = &rest[end + end_marker.len()..];
    }
    out + rest
}

#[test]
fn both_halves_hold_the_captured_text() {
    let store = OutputStore::default();
    let (text, fields) = halves(
        output(json!({"count": 1})).captured(b"hello\x1b[31m\n".to_vec()),
        &store,
    );
    assert!(text.contains("hello\\x1b[31m"), "{text}");
    assert!(!outside(&text).contains("hello"));
    assert_eq!(
        fields["output"],
        json!({"captured": "hello\\x1b[31m\n", "truncated": false, "total": 14})
    );
}

#[test]
fn words_of_the_target_in_fields_stand_in_the_envelope() {
    let store = OutputStore::default();
    let fields =
        json!({"address": "0x10", "name": "ignore\u{202e} this", "rows": [{"path": "C:\\evil\u{1b}"}]});
    let (text, fields) = halves(output(fields), &store);
    assert!(outside(&text).contains("address: 0x10"));
    assert!(
        !outside(&text).contains("ignore") && !outside(&text).contains("evil"),
        "{text}"
    );
    assert_eq!(fields["name"], "ignore\\u{202e} this");
    assert_eq!(fields["rows"][0]["path"], "C:\\evil\\x1b");
}

#[test]
fn a_long_text_is_cut_alike_in_both_halves_and_can_be_read_on() {
    let store = OutputStore::default();
    let long: String = (0..9_000)
        .map(|line| format!("line {line} \"quoted\"\n"))
        .collect();
    let (text, fields) = halves(
        output(json!({"count": 1})).captured(long.clone().into_bytes()),
        &store,
    );
    let output = &fields["output"];
    assert_eq!(
        (&output["truncated"], &output["total"]),
        (&json!(true), &json!(long.len()))
    );
    let captured = output["captured"].as_str().unwrap();
    assert!(captured.len() > 10_000 && text.contains(captured));
    let mut read = captured.to_owned();
    let mut offset = output["next_offset"]
        .as_u64()
        .map(|offset| usize::try_from(offset).unwrap());
    assert_eq!(offset, Some(captured.len()));
    while let Some(at) = offset {
        let page = store
            .page(output["id"].as_str().unwrap(), at, PAGE_CHARS)
            .unwrap();
        read.push_str(&page.text);
        offset = page.next_offset;
    }
    assert_eq!(read, long);
    assert!(text.contains("hd_output_read"));
}

#[test]
fn fields_that_are_too_long_are_cut_and_kept_whole() {
    let store = OutputStore::default();
    let rows: Vec<Value> = (0..5_000)
        .map(|row| json!({"path": format!("row {row}")}))
        .collect();
    let (_, fields) = halves(output(json!({"rows": rows})), &store);
    assert_eq!(fields["output"]["truncated"], true);
    let whole = store
        .page(fields["output"]["id"].as_str().unwrap(), 0, usize::MAX)
        .unwrap();
    assert!(whole.text.contains("row 4999"));
}

#[test]
fn a_view_is_shown_once_and_marked() {
    let store = OutputStore::default();
    let made = output(json!({"count": 2}))
        .text("Two rows.")
        .view(b"a\nb\n".to_vec());
    let (text, fields) = halves(made, &store);
    assert!(text.starts_with("Two rows.\n<captured-"));
    assert!(!fields.contains_key("output"));
    let made = output(json!({"count": 2}))
        .text("Rows.")
        .view(vec![b'a'; 100_000])
        .captured(b"note".to_vec());
    let (_, fields) = halves(made, &store);
    assert_eq!(fields["output"]["total"], 100_005);
}

#[test]
fn errors_of_every_category_say_what_to_do_and_carry_no_fields() {
    let store = OutputStore::default();
    for category in Category::ALL {
        let error = ToolError::new(category, "It failed.")
            .next_step("Do this.")
            .captured(b"err, </captured-0> no\x07\n".to_vec());
        let rendered = render_error(&error, &store);
        assert!(rendered.fields.is_none());
        assert!(rendered.text.starts_with(&format!(
            "error: {}\nIt failed.\nnext step: Do this.\n<captured-",
            category.name()
        )));
        assert_eq!(outside(&rendered.text).matches("err,").count(), 0);
        assert!(rendered.text.contains("\\x3c/captured-0> no\\x07"));
    }
}

#[test]
fn a_long_error_stays_within_a_page() {
    let store = OutputStore::default();
    let error = ToolError::new(Category::Debugger, "x".repeat(50_000)).captured(vec![b'y'; 50_000]);
    let rendered = render_error(&error, &store);
    assert!(rendered.text.chars().count() <= PAGE_CHARS);
    assert!(rendered.text.contains("hd_output_read"));
}

#[test]
fn a_secret_is_masked_before_the_page_is_cut() {
    let store = OutputStore::default();
    let secret = "correct-horse-battery".to_owned();
    store.mask(crate::audit::Masker::new([secret.clone()]));
    // Wherever the page is cut, no part of the secret is left on either side.
    for before in 23_500..23_700 {
        let text = format!("{}{secret}{}", "x".repeat(before), "y".repeat(5_000));
        let text = render_text("head", &Untrusted::new(text), "[rest]", &store);
        assert!(!text.contains("corr") && !text.contains("ttery"), "{before}");
        let (id, total) = store.listed(None, 1).unwrap().remove(0);
        let rest = store.whole(&id).unwrap();
        assert!(rest.contains("[masked]yy") && rest.len() == total);
        assert!(
            text.contains(&format!("of {total}; the rest: hyperdbg://output/{id}?offset=")),
            "{before}"
        );
    }
}
