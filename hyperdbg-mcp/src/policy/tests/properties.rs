//! What holds for any text.

use proptest::prelude::*;

use super::corpus::cases;
use super::*;

fn level(kind: Kind, text: impl AsRef<[u8]>) -> Level {
    classify(kind, text, &Options::default()).level
}

/// A text that is likely to mean something: pieces of both languages in any order.
fn soup() -> impl Strategy<Value = String> {
    let pieces = [
        "db", "eq", "eb(", "poi(", "print(", "@rax", "rax", "x", ".g", "$pid", "1", "ff", "0x10", "0n5", "=",
        "==", "++", "+=", "*", "->", "[", "]", "(", ")", "{", "}", ";", ",", "\"", "\\", "\\n", "\n", "\t",
        " ", "  ", "/*", "*/", "**/", "//", "`", "if", "while", "for", "do", "break", "continue", "struct",
        "int", "script", "exit", "lm", "r", "a", "?", ".script", "!epthook", "asm", "code", "<", ">",
        "#include", "L\"", "é", "~", "-",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24).prop_map(|parts| parts.concat())
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Command, Kind::Expression, Kind::Script])
}

/// Statements of the corpus that stand on their own.
fn statements() -> Vec<(Level, String)> {
    cases()
        .into_iter()
        .filter(|case| {
            case.kind == Kind::Script && case.input.ends_with([';', '}']) && !case.input.contains("/*")
        })
        .map(|case| (case.tier, case.input))
        .collect()
}

fn commands(level: Level) -> Vec<String> {
    let plain = |input: &str| {
        !input.is_empty() && input.trim() == input && input.chars().all(|c| c.is_ascii_graphic() || c == ' ')
    };
    let cases = cases()
        .into_iter()
        .filter(|case| case.kind == Kind::Command && case.tier == level);
    cases
        .map(|case| case.input)
        .filter(|input| plain(input) && !input.contains(['"', '{', '\\', '/']))
        .collect()
}

/// Pieces of one word, so that a command takes them as one argument.
fn one_argument() -> impl Strategy<Value = String> {
    let pieces = [
        "eq(", "poi(", "@rax", "x", ".g", "$pid", "1", "ff", "0n5", "=", "++", "*", "(", ")", ";", ",", "`",
        "-", "~", "nt!Nt", "[", "]",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 1..10).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic(kind in kinds(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        classify(kind, &bytes, &Options::default());
    }

    #[test]
    fn no_text_makes_it_panic(kind in kinds(), text in soup()) {
        let read = |_: &str| Ok(text.clone().into_bytes());
        let options = Options { attached: Some(false), read_file: Some(&read), allow: &[] };
        classify(kind, &text, &options);
        classify(kind, format!(".script {text}"), &options);
    }

    #[test]
    fn the_same_text_gets_the_same_verdict(kind in kinds(), text in soup()) {
        let options = Options::default();
        prop_assert_eq!(classify(kind, &text, &options), classify(kind, &text, &options));
    }

    #[test]
    fn statements_together_are_never_below_one_of_them(
        picks in prop::collection::vec(prop::sample::select(statements()), 1..6)
    ) {
        let text: String = picks.iter().map(|(_, text)| text.as_str()).collect();
        prop_assume!(text.len() <= Kind::Script.limit_bytes());
        // A name that one statement sets has a value in the next: that alone lowers a crash to what is left.
        let floor = picks.iter().map(|(level, _)| (*level).min(Level::Destructive)).max();
        prop_assert!(level(Kind::Script, &text) >= floor.unwrap_or(Level::Read).min(Level::Destructive)
            || picks.iter().any(|(level, _)| *level == Level::Never), "{}", text);
    }

    #[test]
    fn a_writer_after_any_text_is_never_read(text in one_argument()) {
        let script = format!("{text};eq(1,1);");
        prop_assert!(level(Kind::Script, &script) >= Level::Destructive, "{}", script);
        let pasted = format!("1);{script}print(1");
        prop_assert!(level(Kind::Expression, pasted) >= Level::Destructive);
    }

    #[test]
    fn case_of_the_word_spacing_and_comments_change_nothing(
        line in prop::sample::select([Level::Read, Level::State, Level::Destructive].map(commands).concat()),
        upper in any::<bool>(),
        gap in prop::sample::select(vec![" ", "   "]),
        comment in prop::sample::select(vec!["", " // eq 1 1", " /* exit */", " /**/"]),
        lead in prop::sample::select(vec!["", " ", "  "]),
    ) {
        // Where the engine scans the raw line, blanks inside it are its own affair.
        let (word, rest) = line.split_once(' ').unwrap_or((line.as_str(), ""));
        let assembles = matches!(word.to_ascii_lowercase().as_str(), "a" | "!a" | "asm" | "assemble");
        prop_assume!(!assembles);
        let word = if upper { word.to_ascii_uppercase() } else { word.to_owned() };
        let changed = format!("{lead}{word}{gap}{}{comment}", rest.replace(' ', gap));
        prop_assert_eq!(level(Kind::Command, &changed), level(Kind::Command, &line), "{}", changed);
    }

    #[test]
    fn an_address_is_held_to_the_rule_of_expressions(text in one_argument()) {
        let argument = level(Kind::Command, format!("db {text}"));
        let expression = level(Kind::Expression, &text);
        prop_assert!(argument >= expression || argument == Level::Read && text.chars().all(|c| c.is_ascii_alphanumeric() || "_!?$@.:`".contains(c)));
    }
}
