//! Damaged headers are refused or read; they never bring the program down.
//!
//! The damage is random but the same in every run.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};

use hyperdbg_codegen::import;

const PRELUDE: &str = include_str!("../../api/prelude.h");
/// Damaged variants of each fixture.
const ROUNDS: u64 = 25;

/// xorshift64*
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }
}

fn fixtures() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/headers");
    let mut found = Vec::new();
    for kind in ["read", "refused"] {
        for entry in fs::read_dir(root.join(kind)).unwrap() {
            let path = entry.unwrap().path().join("input.h");
            let bytes = fs::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

/// Pieces that are worth putting where they do not belong.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "*",
    "#",
    "##",
    "\\\n",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    ":",
    "=",
    "-",
    "~",
    "?",
    "struct ",
    "union ",
    "enum ",
    "typedef ",
    "sizeof(",
    "const ",
    "0x",
    "99999999999",
    "unsigned ",
    "long ",
    "\n#if ",
    "\n#else\n",
    "\n#endif\n",
    "\n#define A A(",
    "\n#include \"input.h\"\n",
    "\n#pragma pack(push, 1)\n",
    "defined(",
    "static_assert(",
    "extern \"C\" {",
    "\u{e9}",
    "\0",
    "\r",
    "...",
    "void ",
    "0]",
    "-1]",
];

fn damage(random: &mut Random, original: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => {
                let end = (at + random.below(12)).min(bytes.len());
                bytes.drain(at..end);
            }
            2 => {
                let piece = PIECES[random.below(PIECES.len())];
                bytes.splice(at..at, piece.bytes());
            }
            3 => {
                let end = (at + random.below(60)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = u8::try_from(random.below(256)).unwrap();
                }
            }
            _ => {
                let from = random.below(other.len());
                let end = (from + random.below(80)).min(other.len());
                bytes.splice(at..at, other[from..end].iter().copied());
            }
        }
    }
    bytes
}

#[test]
fn damaged_headers_never_panic() {
    let fixtures = fixtures();
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input.h");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut read, mut refused) = (0, 0);
    for (path, bytes) in &fixtures {
        // These take their time up to the bound, every time.
        if path.to_string_lossy().contains("macro_bomb") {
            continue;
        }
        for _ in 0..ROUNDS {
            let other = &fixtures[random.below(fixtures.len())].1;
            let damaged = damage(&mut random, bytes, other);
            fs::write(&input, &damaged).unwrap();
            let outcome = std::panic::catch_unwind(|| import::describe(folder.path(), "input.h", PRELUDE));
            match outcome {
                Ok(Ok(catalog)) => {
                    read += 1;
                    // What is read can be written and read again.
                    let text = import::render(&catalog);
                    assert!(
                        import::read(&text, "again").is_ok(),
                        "{}",
                        String::from_utf8_lossy(&damaged)
                    );
                }
                Ok(Err(findings)) => {
                    refused += 1;
                    assert!(!findings.is_empty());
                    assert!(findings.iter().all(|finding| !finding.to_string().is_empty()));
                }
                Err(_) => panic!("from {}:\n{}", path.display(), String::from_utf8_lossy(&damaged)),
            }
        }
    }
    println!("{read} damaged headers were read, {refused} refused");
    assert!(
        read > 100 && refused > 100,
        "the damage is too weak or too strong: {read} read, {refused} refused"
    );
}

/// A header that is cut after any of its bytes.
#[test]
fn cut_headers_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input.h");
    for (path, bytes) in fixtures() {
        if !path.to_string_lossy().contains("macro_calls")
            && !path.to_string_lossy().contains("anonymous_members")
        {
            continue;
        }
        for end in 0..bytes.len() {
            fs::write(&input, &bytes[..end]).unwrap();
            let _ = import::describe(folder.path(), "input.h", PRELUDE);
        }
    }
}

#[test]
fn long_chains_end_in_an_error_or_a_result_but_not_in_an_overflow() {
    let folder = tempfile::tempdir().unwrap();
    let describe = |text: &str| {
        fs::write(folder.path().join("input.h"), text).unwrap();
        import::describe(folder.path(), "input.h", PRELUDE)
    };
    let count = 20_000;
    let chain = |line: &dyn Fn(usize) -> String| (1..count).map(line).collect::<String>();
    let aliases = format!(
        "typedef int T0;\n{}",
        chain(&|n| format!("typedef T{} T{n};\n", n - 1))
    );
    assert_eq!(describe(&aliases).unwrap().typedefs.len(), count);
    let pointers = format!(
        "typedef int T0;\n{}",
        chain(&|n| format!("typedef T{} * T{n};\n", n - 1))
    );
    assert_eq!(describe(&pointers).unwrap().typedefs.len(), count);
    let arrays = format!(
        "typedef int T0;\n{}",
        chain(&|n| format!("typedef T{} T{n}[1];\n", n - 1))
    );
    assert_eq!(describe(&arrays).unwrap().typedefs.len(), count);
    let records = format!(
        "struct R0 {{ char A; }};\n{}",
        chain(&|n| format!("struct R{n} {{ R{} A; }};\n", n - 1))
    );
    assert_eq!(describe(&records).unwrap().records.len(), count);
    let sum = format!("int x[1{}];\n", " + 1".repeat(count));
    assert!(describe(&sum).is_ok());
    let same = format!("{pointers}typedef T{0} SAME;\ntypedef T{0} SAME;\n", count - 1);
    assert!(describe(&same).is_ok());
    let negations = format!("int x[{}1];\n", "- ".repeat(count));
    assert_eq!(describe(&negations).unwrap_err()[0].code, "HDR007");
    let choices = format!("int x[{}1];\n", "1 ? 1 : ".repeat(count));
    assert_eq!(describe(&choices).unwrap_err()[0].code, "HDR007");
    let conditions = format!("{}int x;\n{}", "#if 1\n".repeat(count), "#endif\n".repeat(count));
    assert!(describe(&conditions).is_ok());
    let macros = format!(
        "#define M0 1\n{}int x[M{}];\n",
        chain(&|n| format!("#define M{n} M{}\n", n - 1)),
        count - 1
    );
    assert_eq!(describe(&macros).unwrap_err()[0].code, "HDR007");
    let pushes = "#pragma pack(push, 1)\n".repeat(count);
    assert_eq!(describe(&pushes).unwrap_err()[0].code, "HDR007");
}

/// The main thread of a Windows program has 1 MiB.
#[test]
fn the_deepest_input_fits_a_small_stack() {
    let deep = |open: &str, middle: &str, close: &str, count: usize| {
        format!("{}{middle}{}", open.repeat(count), close.repeat(count))
    };
    let run = move || {
        let folder = tempfile::tempdir().unwrap();
        for count in [20, 30, 31, 60, 62, 63, 64, 1_000] {
            for text in [
                format!("int a[{}];", deep("(", "1", ")", count)),
                format!("int a[{}];", deep("sizeof(char[", "1", "])", count)),
                format!("int a[{}];", deep("(int)", "1", "", count)),
                format!("int a[{}];", deep("1 ? (", "1", ") : 2", count)),
                format!("{};", deep("struct { ", "int a;", "} b;", count)),
                format!("int {};", deep("(*", "a", ")", count)),
                format!("void f({});", deep("int g(", "int a", ")", count)),
                format!("enum {{ A = {} }};", deep("sizeof(enum { B = ", "1", "})", count)),
                format!("#define F(x) x\nint a[{}];", deep("F(", "1", ")", count)),
                format!("#if {}\n#endif\n", deep("(", "1", ")", count)),
                format!(
                    "struct {{ int a[{}]; }} b;",
                    deep("sizeof(struct { int a[", "1", "]; })", count)
                ),
                format!(
                    "{};",
                    deep("typedef int (*f)(struct { int a; ", "int b;", "} c);", count)
                ),
            ] {
                fs::write(folder.path().join("input.h"), text).unwrap();
                let _ = import::describe(folder.path(), "input.h", PRELUDE);
            }
        }
    };
    std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap();
}
