use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn later() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

/// What the filter lets through: number, offset and text of each line.
fn expected<'a>(text: &'a str, filter: &Filter) -> Vec<(usize, usize, &'a str)> {
    let mut offset = 0;
    let mut found = Vec::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        if filter.finds(bare) {
            found.push((at + 1, offset, bare));
        }
        offset += line.len();
    }
    found
}

/// Number, offset and text of the lines of a page.
fn parsed(page: &Lines) -> Vec<(usize, usize, &str)> {
    let lines: Vec<_> = page
        .text
        .lines()
        .map(|line| {
            let (head, text) = line.split_once(": ").unwrap();
            let (number, offset) = head.split_once('@').unwrap();
            (number.parse().unwrap(), offset.parse().unwrap(), text)
        })
        .collect();
    assert_eq!(lines.len(), page.count);
    lines
}

/// Follows the cursor from the beginning to the end.
fn pages(text: &str, limit: usize, filter: &Filter, until: Instant, longest: usize) -> Vec<Lines> {
    let mut pages = Vec::new();
    let mut offset = Some(0);
    while let Some(at) = offset {
        let page = search(text, at, limit, filter, until, longest);
        assert_eq!(page.offset, at);
        assert!(page.next_offset.is_none_or(|next| next > at), "{page:?}");
        offset = page.next_offset;
        pages.push(page);
    }
    pages
}

fn filters() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a".to_owned()),
        Just("/^$/".to_owned()),
        Just("/^a|ü$/".to_owned()),
        Just("/./".to_owned()),
        Just("zz".to_owned()),
        "[ab1]{1,2}",
    ]
}

proptest! {
    #[test]
    fn every_line_that_the_filter_lets_through_is_there_once(
        text in "([abü1: ]{0,6}\n){0,12}[aü]{0,40}\n{0,3}[bü]{0,9}",
        filter in filters(),
        limit in 1_usize..120,
        is_hurried in any::<bool>(),
    ) {
        let filter = Filter::new(&filter).unwrap();
        let until = if is_hurried { Instant::now() } else { later() };
        let pages = pages(&text, limit, &filter, until, LONGEST);
        let found: Vec<_> = pages.iter().flat_map(parsed).collect();
        let expected = expected(&text, &filter);
        prop_assert_eq!(found.len(), expected.len());
        for ((number, offset, shown), (line, at, whole)) in found.into_iter().zip(expected) {
            prop_assert_eq!((number, offset), (line, at));
            prop_assert!(whole.starts_with(shown));
            let is_cut = pages.iter().any(|page| page.cut_at == Some(at));
            prop_assert_eq!(is_cut, shown != whole);
        }
        for page in &pages {
            prop_assert!(page.text.len() <= limit || page.count == 1);
        }
    }

    #[test]
    fn parts_of_a_long_line_are_the_same_wherever_the_search_begins(
        text in "([aü]{0,30}\n?){0,5}",
        longest in 4_usize..9,
        at in 0_usize..200,
        is_hurried in any::<bool>(),
    ) {
        let filter = Filter::new("/(?s)^.*$/").unwrap();
        let until = if is_hurried { Instant::now() } else { later() };
        let pages = pages(&text, 40, &filter, until, longest);
        let all: Vec<_> = pages.iter().flat_map(parsed).collect();
        // Nothing is lost: the parts and the newlines are the text.
        let mut joined = String::new();
        for (_, offset, part) in &all {
            prop_assert!(*offset == joined.len() || *offset == joined.len() + 1);
            if *offset > joined.len() {
                joined.push('\n');
            }
            joined.push_str(part);
        }
        prop_assert_eq!(joined.trim_end_matches('\n'), text.trim_end_matches('\n'));
        // An offset anywhere means the part that it lies in.
        if at < text.len() {
            let page = search(&text, at, 10_000, &filter, later(), longest);
            let from = all.iter().rposition(|(_, offset, _)| *offset <= at).unwrap();
            prop_assert_eq!(parsed(&page), all[from..].to_vec());
        }
    }
}

#[test]
fn a_line_that_fits_no_page_is_cut_and_said_to_be() {
    let text = format!("short\n{}\nshort\n", "x".repeat(500));
    let filter = Filter::new("/./").unwrap();
    let first = lines(&text, 0, 100, &filter, later());
    assert_eq!(
        (first.text.as_str(), first.next_offset),
        ("1@0: short\n", Some(6))
    );
    let second = lines(&text, 6, 100, &filter, later());
    assert_eq!(
        (second.count, second.cut_at, second.next_offset),
        (1, Some(6), Some(507))
    );
    assert_eq!(second.text.len(), 100);
    let third = lines(&text, 507, 100, &filter, later());
    assert_eq!((third.text.as_str(), third.next_offset), ("3@507: short\n", None));
}

#[test]
fn a_search_stops_when_its_time_is_over_and_goes_on_from_there() {
    let text = "nothing of the kind\n".repeat(100_000) + "needle\n";
    let filter = Filter::new("needle").unwrap();
    let page = lines(&text, 0, 1_000, &filter, Instant::now());
    assert_eq!(page.count, 0);
    let next = page.next_offset.unwrap();
    assert!(next >= LONGEST && next < text.len() / 2);
    let page = lines(&text, next, 1_000, &filter, later());
    assert_eq!(
        (page.text.as_str(), page.next_offset),
        ("100001@2000000: needle\n", None)
    );
}

#[test]
fn a_hostile_expression_costs_little_more_than_the_time_it_was_given() {
    let text = "ab \u{fc}_".repeat(40_000);
    for pattern in [
        r"/(\w*\W?){2}\d$/",
        r"/(a|b|ab|.)*(a|b|ab|.){400}\d/",
        r"/(.*a){80}\d/",
        r"/([a-z ü]{0,90}_){40}x/",
        r"/(a|_)[^x]{900}x/",
    ] {
        let filter = Filter::new(pattern).unwrap();
        let started = Instant::now();
        let page = lines(&text, 0, 1_000, &filter, started + Duration::from_millis(100));
        let took = started.elapsed();
        // A stride or two more; minutes if it could not be broken off.
        assert!(page.next_offset.is_none_or(|next| next > 0));
        assert!(took < Duration::from_secs(20), "{pattern}: {took:?}");
    }
}
