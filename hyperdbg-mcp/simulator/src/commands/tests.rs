//! The shape of each command's text.

use super::*;
use crate::session::tests::Bench;

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

#[test]
fn empty_input_gives_a_newline_and_unknown_words_an_error() {
    let bench = Bench::new();
    assert_eq!(bench.run(""), "\n");
    assert_eq!(bench.run("  \t "), "\n");
    assert_eq!(bench.run("frob 1"), "err, couldn't resolve command at 'frob'\n");
    assert_eq!(
        bench.run("help\texit"),
        "err, couldn't resolve command at 'help\texit'\n"
    );
    assert_eq!(run_command(&bench.session, "frob"), 0, "errors give 0, too");
}

#[test]
fn command_words_do_not_mind_case() {
    let bench = Bench::new();
    assert_eq!(
        bench.run(".STATUS"),
        "err, you're not connected to any instance of HyperDbg\n"
    );
}

#[test]
fn every_spelling_has_help_and_no_spelling_comes_twice() {
    let bench = Bench::new();
    let mut seen = std::collections::BTreeSet::new();
    for name in spellings() {
        assert!(seen.insert(name), "{name} twice");
        let text = bench.run(&format!(".help {name}"));
        assert!(text.contains("syntax : "), "{name}: {text}");
    }
    assert_eq!(seen.len(), 206, "all spellings of the real table, and !sim");
    assert!(
        bench
            .run(".help nonsense")
            .starts_with("err, couldn't find the help")
    );
    assert!(bench.run(".help").starts_with("incorrect use of the '.help'\n\n"));
}

#[test]
fn nothing_attached_refuses_what_needs_a_target() {
    let bench = Bench::new();
    assert!(
        bench
            .run("r")
            .starts_with("err, reading registers (r) is not valid")
    );
    assert!(bench.run("k").starts_with("err, tracing callstack"));
    assert!(bench.run("bl").starts_with("err, listing breakpoints"));
    assert!(bench.run("t").starts_with("err, stepping (t)"));
    assert!(bench.run("db 1000").contains("'load kd'"));
    assert!(bench.run("!pte 1000").contains("'load kd'"));
    assert!(bench.run("print 1").starts_with("err, no debuggee"));
    assert_eq!(bench.run("events"), "no active/disabled events \n");
    assert!(
        bench
            .run("!epthook fffff80330201000 script { }")
            .contains("'load vmm'")
    );
}

#[test]
fn db_prints_bytes_and_text_one_message_per_element() {
    let bench = Bench::debugger();
    assert_eq!(
        bench.run("db nt l 10"),
        "err, please enter a valid address\n\n",
        "nt is a flag, and it is 0"
    );
    bench.take();
    run_command(&bench.session, "db fffff803`30000000 l 10");
    let messages = bench.messages();
    assert_eq!(messages.len(), 1 + 16 + 1 + 16 + 1);
    let text = String::from_utf8(messages.concat()).expect("text");
    assert_eq!(
        text,
        "fffff803`30000000  4D 5A 90 00 03 00 00 00 04 00 00 00 FF FF 00 00  MZ..............\n"
    );
    assert_eq!(
        lines(&bench.run("db fffff80330000000")).len(),
        8,
        "0x80 bytes by default"
    );
}

#[test]
fn the_other_dumps_have_their_own_columns() {
    let bench = Bench::debugger();
    let at = "fffff80330000000 l 10";
    let head = "fffff803`30000000  ";
    assert_eq!(
        bench.run(&format!("dd {at}")),
        format!("{head}00905A4D 00000003 00000004 0000FFFF \n")
    );
    assert_eq!(
        bench.run(&format!("dc {at}")),
        format!("{head}00905A4D 00000003 00000004 0000FFFF  MZ..............\n")
    );
    assert_eq!(
        bench.run(&format!("dq {at}")),
        format!("{head}00000003`00905A4D 0000FFFF`00000004 \n")
    );
}

#[test]
fn physical_views_are_marked() {
    let bench = Bench::debugger();
    let physical = bench.run("!va2pa fffff80330000000");
    let text = bench.run(&format!("!db {} l 10", physical.trim()));
    assert!(text.starts_with("#\t00000000`00"), "{text}");
    assert!(text.contains("4D 5A 90 00"), "{text}");
    assert!(bench.run("!db fffffffff000").contains("(c0000052)"));
}

#[test]
fn holes_are_errors_in_debugger_mode_and_short_in_local_mode() {
    let bench = Bench::debugger();
    let text = bench.run("db fffff80330001000");
    assert!(
        text.starts_with("err, ") && text.ends_with("(c0000005)\n"),
        "{text}"
    );
    assert!(bench.run("db fffff80330000ff0 l 20").ends_with("(c0000005)\n"));
    let bench = Bench::local();
    let text = bench.run("db fffff80330000ff0 l 20");
    assert_eq!(lines(&text).len(), 2);
    assert!(lines(&text)[1].contains("?? ?? "), "{text}");
    assert!(
        bench
            .run("db 7ff6a1b00000 l 10 pid 9999")
            .ends_with("(c000003c)\n")
    );
    assert!(bench.run("db 7ff6a1b00000 l 10 pid 11b8").contains("MZ"));
}

#[test]
fn u_shows_symbols_addresses_and_text() {
    let bench = Bench::debugger();
    let text = bench.run("u nt!NtClose l 20");
    let all = lines(&text);
    assert_eq!(all[0], "nt!NtClose:");
    assert_eq!(
        all[1],
        "fffff803`30201400    48 81 F9 00 01 00 00                cmp rcx, 0x100"
    );
    assert!(text.contains("jb 0xFFFFF80330201"), "{text}");
    assert!(
        bench
            .run("u nt!NtCreateFile l 40")
            .contains("call <nt!IoCreateFile (fffff803`30202000)>")
    );
    assert_eq!(
        bench.run("settings addressconversion off"),
        "set address conversion to disabled\n"
    );
    assert!(!bench.run("u nt!NtClose l 20").contains('!'));
    let text = bench.run("u2 fffff80330201400 l 10");
    assert!(text.contains("64-bit program"), "{text}");
}

#[test]
fn a_32_bit_program_is_noticed() {
    let bench = Bench::local();
    let text = bench.run("u 401000 l b pid 2240");
    assert!(
        text.starts_with("the target address seems to belong to a 32-bit program"),
        "{text}"
    );
    let text = bench.run("u2 401000 l b pid 2240");
    assert!(text.contains("mov eax, dword ptr ss:[ebp+0x8]"), "{text}");
}

#[test]
fn editing_is_silent_and_reads_back() {
    let bench = Bench::debugger();
    assert_eq!(bench.run("eb simdemo!DemoBanner 41 42"), "");
    assert_eq!(bench.run("ed simdemo!DemoBanner+4 11223344"), "");
    assert_eq!(bench.run("eq simdemo!DemoBanner+8 1122334455667788"), "");
    let text = bench.run("db simdemo!DemoBanner l 10");
    assert!(
        text.contains("41 42 6D 64 44 33 22 11 88 77 66 55 44 33 22 11"),
        "{text}"
    );
    assert!(bench.run("eb fffff80330001000 90").ends_with("(c000000c)\n"));
    assert!(bench.run("eb simdemo!DemoBanner 100").contains("byte (hex)"));
    assert!(
        bench
            .run("eb simdemo!DemoBanner 90 pid 4")
            .starts_with("err, a process id")
    );
}

#[test]
fn searches_print_one_address_per_hit() {
    let bench = Bench::debugger();
    assert_eq!(
        bench.run("sb fffff80330000000 4d 5a l 1000"),
        "fffff80330000000\n"
    );
    assert_eq!(
        bench.run("sq fffff80330000000 1122334455667788 l 1000"),
        "not found\n"
    );
    assert!(bench.run("sb 1 2").starts_with("incorrect use"));
}

#[test]
fn registers_come_in_one_block_or_one_line() {
    let bench = Bench::debugger();
    let text = bench.run("r");
    let all = lines(&text);
    assert_eq!(all.len(), 10);
    assert!(all[0].starts_with("RAX=") && all[0].contains(" RBX="));
    assert!(all[1].contains(" RSI= 0"), "the blank of the real one");
    assert!(all[5].ends_with("IOPL=00"));
    assert!(all[6].starts_with("OF ") && all[7].contains("AXF "));
    assert!(all[8].starts_with("CS 0010 SS 0018"));
    assert!(all[9].starts_with("RFLAGS="));
    assert_eq!(bench.run("r rax = 1234"), "");
    assert_eq!(bench.run("r @RAX"), "rax=0000000000001234\n");
    assert_eq!(bench.run("r rbx=@rax+0n10"), "");
    assert_eq!(bench.run("r rbx"), "rbx=000000000000123e\n");
    assert_eq!(bench.run("r nonsense"), "err, invalid register\n");
}

#[test]
fn breakpoints_are_listed_in_columns() {
    let bench = Bench::debugger();
    assert_eq!(bench.run("bl"), "Breakpoints list is empty\n");
    assert_eq!(bench.run("bp nt!NtClose core 1"), "");
    assert_eq!(bench.run("bp fffff80330201000 pid 4"), "");
    assert_eq!(bench.run("bd 1"), "");
    assert_eq!(
        bench.run("bl"),
        "Id   Address           Status\n--   ---------------   --------\n\
         01   fffff80330201400  disabled core = 1 \n02   fffff80330201000  enabled pid = 4 \n"
    );
    assert!(bench.run("bp nt!NtClose").ends_with("(c0000019)\n"));
    assert!(bench.run("bc 7").ends_with("(c000001a)\n"));
    assert!(bench.run("bd 1").ends_with("(c000001b)\n"));
    assert!(
        bench
            .run("bp nt!Nothing")
            .contains("err, couldn't resolve error at 'nt!Nothing'")
    );
}

#[test]
fn events_are_listed_with_tabs() {
    let bench = Bench::debugger();
    bench.run("!epthook nt!NtClose");
    bench.run(&format!("!syscall script {{ {} }}", "print(1); ".repeat(10)));
    let text = bench.run("events");
    let all = lines(&text);
    assert_eq!(all[0], "0\t(enabled)\t    !epthook nt!NtClose");
    assert!(all[1].ends_with("..."), "{text}");
    assert_eq!(bench.run("events d 0"), "");
    assert!(bench.run("events").starts_with("0\t(disabled)"));
    assert!(
        bench.run("events c 0").contains("'g'"),
        "cleared later in debugger mode"
    );
    assert!(bench.run("events").starts_with("1\t"));
    assert_eq!(bench.run("events e 9"), "err, tag id is invalid\n");
    assert!(bench.run("!exception 20").ends_with("(c0000007)\n"));
    assert!(bench.run("!interrupt 10").ends_with("(c0000008)\n"));
    assert!(bench.run("!epthook fffff80330001000").ends_with("(c0000005)\n"));
    assert!(bench.run("!syscall script { print( }").contains("Syntax Error: "));
}

#[test]
fn lm_shows_user_and_kernel_modules() {
    let bench = Bench::local();
    let text = bench.run("lm pid 11b8");
    assert!(
        text.starts_with(
            "user mode\nstart\t\t\tentrypoint\t\tpath\n\n00007ff6a1b00000\t00007ff6a1b01000\tC:\\"
        ),
        "{text}"
    );
    assert!(text.contains(&format!(
        "\n{}\n\nkernel mode\nstart\t\t\tsize\tname\t\t\t\tpath\n\n",
        "=".repeat(78)
    )));
    assert!(
        text.contains("fffff803`30000000\t1047000\tntoskrnl.exe\t\t\t\\SystemRoot\\system32\\ntoskrnl.exe\n")
    );
    assert_eq!(lines(&bench.run("lm km m ntfs")).len(), 4);
    assert!(bench.run("lm um pid 9999").ends_with("(c000001e)\n"));
    let bench = Bench::debugger();
    assert_eq!(
        run_command(&bench.session, "lm km"),
        2,
        "forwarded in debugger mode"
    );
    assert!(bench.take().ends_with("\n\n"));
}

#[test]
fn x_finds_names_by_pattern() {
    let bench = Bench::debugger();
    assert_eq!(
        bench.run("x nt!NtC*"),
        "fffff803`30201000  nt!NtCreateFile\nfffff803`30201400  nt!NtClose\n"
    );
    assert_eq!(bench.run("x nothing*"), "");
    assert_eq!(Bench::new().run("x nt!NtC*"), "", "no symbols are loaded");
}

#[test]
fn stacks_show_calls_or_everything() {
    let bench = Bench::debugger();
    bench.run("bp nt!strlen");
    bench.run_bounded("g");
    let text = bench.run("k l 60");
    let all = lines(&text);
    assert!(all[0].starts_with("[$+000]   fffff803302020"), "{text}");
    assert!(all[0].contains("    (from nt!IoCreateFile+0x"), "{text}");
    assert!(all[0].ends_with(">)"));
    assert!(
        all.iter().any(|line| line.contains("nt!NtCreateFile+0x")),
        "{text}"
    );
    let all = bench.run("kq l 60");
    assert_eq!(lines(&all).len(), 12);
    assert_eq!(lines(&bench.run("kd l 10")).len(), 4);
}

#[test]
fn processes_and_threads_are_shown_and_listed() {
    let bench = Bench::debugger();
    assert_eq!(
        bench.run(".process"),
        "process id: 4\nprocess (_EPROCESS): ffffb08f`40010080\nprocess name (16-Byte): System\n"
    );
    assert!(
        bench
            .run(".thread")
            .starts_with("thread id: 8 (pid: 4)\nthread (_ETHREAD): ffffb08f`40040080\n")
    );
    let text = bench.run(".process list");
    assert!(text.contains(
        "PROCESS\tffffb08f40010080\n\tProcess Id: 0004\tDirBase (Kernel Cr3): 0000000000400000\tImage: System\n\n"
    ));
    assert_eq!(text.matches("PROCESS\t").count(), 9);
    let text = bench.run(".thread list");
    assert_eq!(lines(&text)[0], "PROCESS\tffffb08f40010080\tIMAGE\tSystem");
    assert_eq!(lines(&text)[1], "\tTHREAD\tffffb08f40040080 (4.8)");
}

#[test]
fn page_tables_are_shown_by_entry() {
    let bench = Bench::debugger();
    let text = bench.run("!pte fffff80330000000");
    let all = lines(&text);
    assert_eq!(all[0], "VA fffff80330000000");
    assert!(all[1].starts_with("PML4E (PXE) at ffff") && all[1].contains("\tcontains 0000"));
    assert_eq!(all.len(), 5);
    let pte = all[4].split_whitespace().nth(2).expect("address");
    let value = all[4].split_whitespace().last().expect("value").to_uppercase();
    assert!(
        bench
            .run(&format!("dq {pte} l 8"))
            .contains(&format!("{}`{}", &value[..8], &value[8..])),
        "{text}"
    );
    let text = bench.run("!pte ffffb08f40010080");
    assert!(
        text.ends_with("PDE is a large page, so it doesn't have a PTE\n"),
        "{text}"
    );
    assert!(bench.run("!va2pa 10").ends_with("(c0000005)\n"));
    let physical = bench.run("!va2pa ffffb08f40010080");
    assert_eq!(
        bench.run(&format!("!pa2va {}", physical.trim())),
        "ffffb08f40010080\n"
    );
}

#[test]
fn expressions_are_evaluated_and_formatted() {
    let bench = Bench::debugger();
    assert_eq!(bench.run("print nt!NtClose + 1"), "fffff80330201401\n");
    assert_eq!(
        bench.run("? print(dq(nt!PsInitialSystemProcess));"),
        "ffffb08f40010080\n"
    );
    assert!(bench.run("? print(poi(1));").ends_with("(c0000016)\n"));
    assert!(bench.run("print nothing").contains("Syntax Error: "));
    let text = bench.run(".formats 0x41");
    assert!(text.starts_with(
        "evaluate expression:\nHex :        00000000`00000041\nDecimal :    65\nOctal :      101\n"
    ));
    assert!(text.contains("Char :       A.......\n"));
    assert!(
        Bench::new()
            .run(".formats 0n16")
            .contains("Hex :        00000000`00000010")
    );
    assert!(
        Bench::new().run("? print(1+2);").ends_with("3\n"),
        "a simulated result without a target"
    );
}

#[test]
fn settings_are_shown_and_changed() {
    let bench = Bench::new();
    assert_eq!(bench.run("settings syntax"), "disassembler syntax is : intel\n");
    assert_eq!(bench.run("settings syntax att"), "set syntax to at&t\n");
    assert_eq!(bench.run("settings autoflush"), "auto-flush is disabled\n");
    assert_eq!(
        bench.run("settings autounpause off"),
        "set auto-unpause to disabled\n"
    );
    assert!(
        bench
            .run("settings nonsense")
            .starts_with("incorrect use of the 'settings', please")
    );
}

#[test]
fn status_and_prompt_follow_the_mode() {
    let bench = Bench::new();
    assert_eq!(bench.run(".connect local"), "local debugging (vmi-mode)\n");
    assert_eq!(bench.run(".status"), "local debugging ('vmi mode')\n");
    assert!(bench.run(".connect local").contains("'.disconnect'"));
    assert_eq!(bench.run(".disconnect"), "disconnected successfully\n");
    assert!(
        bench
            .run(".debug remote namedpipe \\\\.\\pipe\\x pause")
            .contains("press CTRL+C")
    );
    assert_eq!(
        bench.run(".status"),
        "remote debugging - debugger ('debugger mode')\n"
    );
    bench.session.show_prompt();
    assert_eq!(bench.take(), "0: kHyperDbg> ");
    assert!(bench.run(".debug close").starts_with("unloading debugger"));
    bench.session.show_prompt();
    assert_eq!(bench.take(), "HyperDbg> ");
    assert!(
        bench
            .run(".debug remote serial 1234 com1")
            .starts_with("err, baud rate is invalid")
    );
    assert!(
        bench
            .run(".debug remote serial 115200 com9")
            .starts_with("err, COM port is invalid")
    );
}

#[test]
fn loading_needs_a_connection_and_an_order() {
    let bench = Bench::new();
    assert!(bench.run("load vmm").contains("'.connect'"));
    bench.run(".connect local");
    assert!(bench.run("load vmm").starts_with("loading the vmm module\n"));
    assert!(bench.run("load vmm").contains("already"));
    assert!(bench.run(".disconnect").contains("'unload'"));
    assert!(bench.run("unload kd").starts_with("err, the vmm module"));
    assert!(bench.run("unload all").ends_with("all modules are unloaded\n"));
    assert_eq!(bench.session.unload_all(), 0, "with nothing loaded it succeeds");
}

#[test]
fn a_remote_session_runs_commands_at_the_other_end() {
    let bench = Bench::new();
    assert!(bench.run(".connect 10.0.0.1").contains("unable to connect"));
    assert_eq!(bench.run(".connect 300.0.0.1"), "incorrect ip address\n");
    assert_eq!(
        bench.run(".connect 192.0.2.1 50001"),
        "connected to 192.0.2.1:50001\n"
    );
    assert_eq!(run_command(&bench.session, "cpu"), 2);
    assert!(bench.take().starts_with("vendor : GenuineIntel\n"));
    assert_eq!(
        bench.run(".status"),
        "remote debugging ('vmi mode'), ip : 192.0.2.1:50001 \n"
    );
    bench.session.show_prompt();
    assert_eq!(bench.take(), "[192.0.2.1:50001] HyperDbg> ");
    assert_eq!(bench.run(".disconnect"), "disconnected successfully\n");
}

#[test]
fn the_hardware_commands_show_tables() {
    let bench = Bench::debugger();
    let text = bench.run("!idt");
    assert!(
        text.starts_with("IDT Entries:\n\nIDT[0x0:0]\t: fffff803`30200540\tnt!KiDivideErrorFault\n"),
        "{text}"
    );
    assert_eq!(lines(&text).len(), 258);
    assert_eq!(
        bench.run("!idt e"),
        "IDT[0xe:14] : fffff803`30200640\tnt!KiPageFault\n"
    );
    assert!(bench.run("!apic").starts_with("***  (xAPIC Mode)"));
    assert_eq!(lines(&bench.run("!ioapic")).len(), 24);
    assert_eq!(bench.run("~"), "current processor : 0x0\n");
    assert!(
        bench
            .run("~ 1")
            .starts_with("current operating core changed to 0x1\n")
    );
    assert!(bench.run("~ 2").ends_with("(c0000014)\n"));
    let text = bench.run("rdmsr c0000082");
    assert!(
        text.starts_with("core : 0x0 - msr[c0000082] = fffff803`30200000\ncore : 0x1 - "),
        "{text}"
    );
    let text = bench.run("cpu");
    assert!(text.starts_with("vendor : GenuineIntel\nbrand : "), "{text}");
    assert!(text.contains("VMX supported\n"));
}

#[test]
fn branch_records_follow_the_run() {
    let bench = Bench::debugger();
    assert!(bench.run("!lbr enable").starts_with("the LBR is enabled"));
    assert!(bench.run("!lbr enable").contains("(c000005c)"));
    bench.run("bp nt!IoCreateFile");
    bench.run_bounded("g");
    let text = bench.run("!lbrdump core 0");
    assert!(
        text.starts_with("LBR Chronological Trace on core: 0x0\n\n\t [ 0] Branch Mispredicted: false, "),
        "{text}"
    );
    assert!(
        text.contains("To: fffff80330202000"),
        "the call that was stopped at: {text}"
    );
}

#[test]
fn lists_are_walked_until_they_close() {
    let bench = Bench::debugger();
    let text = bench.run("dl nt!PsActiveProcessHead");
    assert!(text.starts_with(
        "walking linked list (virtual address) from fffff80330c00030 (offset = 0)\n\n00: fffff803"
    ));
    assert!(
        text.ends_with("\n(list is circular, returned to head)\n"),
        "{text}"
    );
    assert!(
        bench
            .run("dl nt!PsActiveProcessHead l 2")
            .contains("(stopped after 2 nodes")
    );
}

#[test]
fn assembling_shows_the_bytes_and_writes_them() {
    let bench = Bench::debugger();
    let text = bench.run("a {mov rax, 5; ret}");
    assert!(
        text.contains("generated assembly: 8 (decimal) bytes, 2 (decimal) statements ==>> "),
        "{text}"
    );
    assert!(text.ends_with("= 48 c7 c0 05 00 00 00 c3 \n"), "{text}");
    let text = bench.run("a nt!NtClose {nop; ret}");
    assert!(
        text.ends_with("successfully assembled at 0xfffff80330201400 address\n"),
        "{text}"
    );
    assert!(bench.run("u nt!NtClose l 2").contains("nop"));
    assert!(bench.run("a {frobnicate}").contains("err, failed to assemble"));
}

#[test]
fn a_script_file_runs_line_by_line_with_its_arguments() {
    let bench = Bench::debugger();
    let folder = std::env::temp_dir().join(format!("simulator-script-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("folder");
    let file = folder.join("commands.ds");
    std::fs::write(&file, "print $arg1 + 1\n\n? {\nprint(5);\n}\n").expect("file");
    let text = bench.run(&format!(".script \"{}\" 41", file.display()));
    std::fs::remove_dir_all(&folder).expect("clean up");
    assert!(text.contains("print 41 + 1\n42\n"), "{text}");
}

#[test]
fn the_fault_command_lists_and_causes_faults() {
    let bench = Bench::debugger();
    let text = bench.run("!sim");
    for spec in crate::fault::FAULTS {
        assert!(text.contains(spec.name), "{}", spec.name);
    }
    bench.take();
    run_command(&bench.session, "!sim long-chunk");
    assert_eq!(bench.messages()[0].len(), crate::console::CHUNK_LIMIT);
    run_command(&bench.session, "!sim invalid-utf8");
    assert!(String::from_utf8(bench.messages().concat()).is_err());
    run_command(&bench.session, "!sim split-utf8");
    let messages = bench.messages();
    assert!(String::from_utf8(messages[0].clone()).is_err());
    assert_eq!(String::from_utf8(messages.concat()).expect("whole"), "grüße\n");
    assert_eq!(bench.run("!sim late-event 30"), "");
    bench.wait_for("late text", |text| text.contains("late text"));
    assert!(bench.run("!sim foreign-text").contains("(foreign)"));
    assert_eq!(bench.run("!sim short-read"), "the fault is on\n");
    assert_eq!(bench.run("!sim short-read"), "the fault is off\n");
}
