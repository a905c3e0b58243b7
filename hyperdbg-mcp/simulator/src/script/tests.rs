use super::*;
use crate::machine::registers::Registers;

/// A target with 64 bytes of memory at 0x1000.
#[derive(Default)]
struct Small {
    registers: Registers,
    memory: Vec<u8>,
}

impl Target for Small {
    fn register(&mut self, id: u32) -> u64 {
        self.registers.get(id).unwrap_or(0)
    }
    fn set_register(&mut self, id: u32, value: u64) {
        self.registers.set(id, value);
    }
    fn pseudo(&mut self, _: &str) -> u64 {
        4
    }
    fn read(&mut self, address: u64, out: &mut [u8]) -> bool {
        let Some(start) = address.checked_sub(0x1000) else {
            return false;
        };
        let Some(bytes) = self.memory.get(start as usize..start as usize + out.len()) else {
            return false;
        };
        out.copy_from_slice(bytes);
        true
    }
    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        let Some(start) = address.checked_sub(0x1000) else {
            return false;
        };
        let Some(slot) = self.memory.get_mut(start as usize..start as usize + bytes.len()) else {
            return false;
        };
        slot.copy_from_slice(bytes);
        true
    }
    fn read_physical(&mut self, _: u64, _: &mut [u8]) -> bool {
        false
    }
    fn write_physical(&mut self, _: u64, _: &[u8]) -> bool {
        false
    }
    fn physical(&mut self, address: u64) -> Option<u64> {
        (address < 0x2000).then_some(address)
    }
    fn virtual_address(&mut self, physical: u64) -> Option<u64> {
        Some(physical)
    }
    fn time_stamp(&mut self) -> u64 {
        7
    }
}

fn symbol(name: &str) -> Option<u64> {
    (name == "nt!NtClose").then_some(0xffff_f803_3020_1400)
}

fn target() -> Small {
    Small {
        registers: Registers::default(),
        memory: (0..64).collect(),
    }
}

fn run_in(target: &mut Small, globals: &mut Globals, text: &str) -> (Outcome, Result<(), RunError>) {
    let script = parse(text, globals, &symbol).unwrap_or_else(|error| panic!("{text}: {error}"));
    run(&script, target, globals)
}

fn value(text: &str) -> u64 {
    let (outcome, result) = run_in(&mut target(), &mut Globals::new(), &format!("formats({text});"));
    assert_eq!(result, Ok(()), "{text}");
    outcome.formatted.expect("a value")
}

fn printed(text: &str) -> String {
    let (outcome, result) = run_in(&mut target(), &mut Globals::new(), text);
    assert_eq!(result, Ok(()), "{text}");
    String::from_utf8(outcome.text).expect("text")
}

#[test]
fn numbers_are_hexadecimal_unless_a_prefix_says_otherwise() {
    assert_eq!(value("10"), 16);
    assert_eq!(value("0n10"), 10);
    assert_eq!(value("0y101"), 5);
    assert_eq!(value("0t17"), 15);
    assert_eq!(value("fffff803`30000000"), 0xffff_f803_3000_0000);
}

#[test]
fn operators_bind_as_in_c() {
    assert_eq!(value("1 + 2 * 3"), 7);
    assert_eq!(value("(1 + 2) * 3"), 9);
    assert_eq!(value("1 << 4 | 1"), 0x11);
    assert_eq!(value("-1 < 0"), 1, "comparisons are signed");
    assert_eq!(value("5 == 5 && !0"), 1);
    assert_eq!(value("nt!NtClose + 8"), 0xffff_f803_3020_1408);
}

#[test]
fn memory_functions_read_the_target() {
    assert_eq!(value("db(1005)"), 5);
    assert_eq!(value("dq(1000)"), 0x0706_0504_0302_0100);
    assert_eq!(value("hi(1000)"), 0x0302);
    assert_eq!(value("*1008 & ff"), 8);
    let (_, result) = run_in(&mut target(), &mut Globals::new(), "print(poi(1));");
    assert_eq!(result, Err(RunError::InvalidAddress(1)));
}

#[test]
fn an_expression_can_write_memory() {
    let mut small = target();
    let (outcome, result) = run_in(&mut small, &mut Globals::new(), "formats(eb(1000, 90));");
    assert_eq!((outcome.formatted, result), (Some(1), Ok(())));
    assert_eq!(small.memory[0], 0x90);
}

#[test]
fn text_pasted_into_a_call_can_run_a_second_statement() {
    let (outcome, _) = run_in(&mut target(), &mut Globals::new(), "formats(1);print(5);");
    assert_eq!(outcome.text, b"5\n");
}

#[test]
fn loops_conditions_and_variables_work() {
    assert_eq!(
        printed("s = 0; for (i = 0; i < 5; i++) { s = s + i; } print(s);"),
        "a\n"
    );
    assert_eq!(
        printed("x = 3; while (1) { x--; if (x == 0) { break; } } print(x);"),
        "0\n"
    );
    assert_eq!(
        printed("if (0) { print(1); } elsif (1) { print(2); } else { print(3); }"),
        "2\n"
    );
    assert_eq!(printed("n = 2; do { n -= 1; } while (n > 0); print(n);"), "0\n");
}

#[test]
fn globals_outlive_a_run_and_locals_do_not() {
    let mut globals = Globals::new();
    run_in(&mut target(), &mut globals, ".count = 5;").1.expect("run");
    let (outcome, _) = run_in(&mut target(), &mut globals, "print(.count + 1);");
    assert_eq!(outcome.text, b"6\n");
    assert!(parse("print(.other);", &globals, &symbol).is_err());
    assert!(parse("print(unknown_name);", &globals, &symbol).is_err());
}

#[test]
fn registers_can_be_assigned() {
    let mut small = target();
    run_in(&mut small, &mut Globals::new(), "@rax = 0x55; @eax += 1;")
        .1
        .expect("run");
    assert_eq!(small.registers.gpr[0], 0x56);
}

#[test]
fn an_endless_loop_meets_the_step_limit() {
    let (_, result) = run_in(&mut target(), &mut Globals::new(), "while (1) { }");
    assert_eq!(result, Err(RunError::TooLong));
}

#[test]
fn printf_formats_like_c() {
    assert_eq!(
        printed(r#"printf("%d %x %llx %04x %c %%|%s\n", -1, ff, 123456789abc, a, 41, "hi");"#),
        "-1 ff 123456789abc 000a A %|hi\n"
    );
}

#[test]
fn inputs_that_end_the_real_process_are_marked() {
    let globals = Globals::new();
    for text in ["break;", "for (i = 0; i < 2; i++) { continue; }", "never_set++;"] {
        let error = parse(text, &globals, &symbol).expect_err(text);
        assert!(error.fatal, "{text}: {error}");
    }
    assert!(!parse("print(", &globals, &symbol).expect_err("unfinished").fatal);
    assert!(
        !parse("print(\"open);", &globals, &symbol)
            .expect_err("open string")
            .fatal
    );
}
