//! What the caller knows and permits changes a verdict.

use super::*;

fn with(options: &Options<'_>, text: &str) -> Verdict {
    classify(Kind::Command, text, options)
}

#[test]
fn with_nothing_attached_memory_is_the_debuggers_own() {
    let options = Options {
        attached: Some(false),
        ..Options::default()
    };
    for line in [
        ".formats poi(1)",
        "db poi(@rsp)",
        "print *1",
        "? x = dq(1);",
        "db eq(1,1)",
        ".formats strlen(1)",
        "? printf(\"%s\", 1);",
        ".formats hi(1)",
        "db low(1)",
    ] {
        assert_eq!(with(&options, line).level, Level::Never, "{line}");
    }
    for expression in ["(int)*1", "(void*)*1", "sizeof(int)**1", "(struct S*)*1"] {
        assert_eq!(
            classify(Kind::Expression, expression, &options).level,
            Level::Never,
            "{expression}"
        );
    }
    for expression in ["(int*)1", "sizeof(int)*1", "(1)*2"] {
        assert_eq!(
            classify(Kind::Expression, expression, &options).level,
            Level::Read,
            "{expression}"
        );
    }
    for line in ["db 1000", "u nt!NtCreateFile", ".formats 1+2", "lm"] {
        assert_eq!(with(&options, line).level, Level::Read, "{line}");
    }
    assert_eq!(classify(Kind::Expression, "poi(1)", &options).level, Level::Never);
    assert_eq!(
        classify(Kind::Expression, "poi(1)", &Options::default()).level,
        Level::Read
    );
}

#[test]
fn an_operator_can_allow_what_has_a_flag() {
    for line in [".listen", "output create a module c:\\a.dll"] {
        let refused = with(&Options::default(), line);
        let flag = refused.allow.clone().expect(line);
        assert!(refused.reason.contains(&format!("--allow {flag}")), "{refused:?}");
        let allow = [flag];
        let options = Options {
            allow: &allow,
            ..Options::default()
        };
        let allowed = with(&options, line);
        assert_eq!(
            (allowed.level, allowed.allow),
            (Level::Destructive, None),
            "{line}"
        );
    }
    let allow = ["listen".to_owned()];
    let options = Options {
        allow: &allow,
        ..Options::default()
    };
    assert_eq!(with(&options, ".listen 50000").level, Level::Destructive);
    assert_eq!(
        with(&options, ".listen 99999999999").level,
        Level::Never,
        "it ends the process"
    );
    let allow = ["exit".to_owned(), "cls".to_owned()];
    let options = Options {
        allow: &allow,
        ..Options::default()
    };
    assert_eq!(with(&options, "exit").level, Level::Never);
    assert_eq!(with(&options, "cls").level, Level::Never);
}

fn file(content: &'static str, line: &str) -> Verdict {
    let read = move |path: &str| {
        if path == "c:\\my scripts\\a.ds" {
            Ok(content.as_bytes().to_vec())
        } else {
            Err("there is no such file".to_owned())
        }
    };
    let options = Options {
        read_file: Some(&read),
        ..Options::default()
    };
    classify(Kind::Command, line, &options)
}

#[test]
fn a_file_of_commands_has_the_level_of_its_worst_line() {
    let run = ".script \"c:\\my scripts\\a.ds\" @rax 10";
    for (content, level) in [
        ("lm\n\ndb 1000\n", Level::State),
        ("lm\r\nbp 1000\r\n", Level::State),
        ("lm\neb 1000 90\n", Level::Destructive),
        ("lm\nexit", Level::Never),
        ("lm\n ex/**/it\n", Level::Never),
        ("? if (1) {\nprint(1);\n}\nlm", Level::State),
        ("? if (1) {\neq(1,1);\n}\nlm", Level::Destructive),
        ("? print(1); {\nexit\n}", Level::Destructive),
        ("db $arg1 l $arg2\n", Level::State),
        ("r rax = $arg2", Level::Destructive),
        (".script c:\\b.ds", Level::Never),
        ("script \"c:\\my scripts\\a.ds\"", Level::Never),
        ("!epthook x script {\nprint(1);\n", Level::Never),
        ("\u{feff}lm", Level::Never),
        ("lm \u{e9}", Level::Destructive),
    ] {
        let verdict = file(content, run);
        assert_eq!(verdict.level, level, "{content:?}: {verdict:?}");
    }
    assert!(file("lm\n\neb 1 1", run).reason.starts_with("line 3: "));
}

#[test]
fn arguments_of_a_file_are_part_of_its_lines() {
    assert_eq!(
        file("db $arg1", ".script \"c:\\my scripts\\a.ds\" eq(1,1)").level,
        Level::Destructive
    );
    assert_eq!(
        file("$arg1", ".script \"c:\\my scripts\\a.ds\" exit").level,
        Level::Never
    );
    assert_eq!(
        file("$arg1 1000", ".script \"c:\\my scripts\\a.ds\" db").level,
        Level::State
    );
}

#[test]
fn a_file_that_cannot_be_read_is_never_run() {
    let verdict = file("", ".script c:\\b.ds");
    assert_eq!(verdict.level, Level::Never);
    assert!(verdict.reason.contains("there is no such file"));
    assert_eq!(file("", ".script").level, Level::Read);
}

#[test]
fn notes_tell_what_a_call_costs() {
    let kinds = |line: &str| {
        with(&Options::default(), line)
            .notes
            .iter()
            .map(|note| note.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds("db 1000 l 0x20"), [NoteKind::HexNumber]);
    assert_eq!(kinds("db 0x1000 l 0n20"), []);
    assert_eq!(kinds("? print(@rax + 10);"), [NoteKind::HexNumber]);
    assert_eq!(kinds("? print(@rax + 0n10);"), []);
    assert_eq!(kinds("lm"), [NoteKind::ResumesGuest]);
    assert_eq!(kinds("g"), [NoteKind::Waits]);
    assert_eq!(kinds("pause"), [NoteKind::Waits]);
    assert_eq!(kinds("db ffff l 100000"), [NoteKind::Output, NoteKind::HexNumber]);
}

#[test]
fn a_script_on_an_event_that_can_stall_says_so() {
    for script in [
        "printf(\"%x\", @rax);",
        "while (1 == 1) { x = 1; }",
        "spinlock_lock(@rcx); eb(1,1); spinlock_unlock(@rcx);",
        "microsleep(10);",
        "for (i = 0; i < @rcx; i++) { x = i; }",
    ] {
        let verdict = with(
            &Options::default(),
            &format!("!epthook nt!NtCreateFile script {{ {script} }}"),
        );
        assert!(
            verdict.may_stall() && verdict.level == Level::Destructive,
            "{script}: {verdict:?}"
        );
    }
    let calm = with(
        &Options::default(),
        "!epthook nt!NtCreateFile script { x = @rax; }",
    );
    assert!(!calm.may_stall() && calm.level == Level::Destructive, "{calm:?}");
}
