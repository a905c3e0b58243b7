//! A session whose text is caught, and what it promises about running and stopping.

use super::*;
use crate::commands::run_command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// No wait in a test is longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A session with its text.
pub(crate) struct Bench {
    pub(crate) session: Arc<Session>,
    chunks: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Bench {
    /// Nothing attached.
    pub(crate) fn new() -> Self {
        let chunks = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&chunks);
        let closure = move |bytes: &[u8]| sink.lock().expect("lock").push(bytes.to_vec());
        let session = Session::new(Sink::Closure(Arc::new(closure)), Faults::default());
        Self {
            session: Arc::new(session),
            chunks,
        }
    }

    /// In debugger mode, halted.
    pub(crate) fn debugger() -> Self {
        let bench = Self::new();
        assert!(bench.session.connect_serial(true));
        bench.take();
        bench
    }

    /// In VMI mode with everything loaded.
    pub(crate) fn local() -> Self {
        let bench = Self::new();
        bench.run(".connect local");
        bench.run("load all");
        bench
    }

    /// The text so far, which is forgotten.
    pub(crate) fn take(&self) -> String {
        let chunks = std::mem::take(&mut *self.chunks.lock().expect("lock"));
        String::from_utf8_lossy(&chunks.concat()).into_owned()
    }

    /// The messages so far.
    pub(crate) fn messages(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.chunks.lock().expect("lock"))
    }

    /// Runs a command and gives its text.
    pub(crate) fn run(&self, command: &str) -> String {
        self.take();
        run_command(&self.session, command);
        self.take()
    }

    /// Runs a command on a thread of its own; fails the test when it takes too long.
    pub(crate) fn run_bounded(&self, command: &str) -> String {
        let done = self.start(command);
        done.recv_timeout(PATIENCE)
            .unwrap_or_else(|_| panic!("'{command}' does not come back"));
        self.take()
    }

    /// Starts a command on a thread of its own.
    pub(crate) fn start(&self, command: &str) -> mpsc::Receiver<i32> {
        self.take();
        let (sender, receiver) = mpsc::channel();
        let (session, command) = (Arc::clone(&self.session), command.to_owned());
        std::thread::spawn(move || sender.send(run_command(&session, &command)));
        receiver
    }

    /// Waits until the text so far fits.
    pub(crate) fn wait_for(&self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let text = String::from_utf8_lossy(&self.chunks.lock().expect("lock").concat()).into_owned();
            if fits(&text) {
                return text;
            }
            assert!(start.elapsed() < PATIENCE, "waiting for {what}, got {text}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn register(&self, name: &str) -> u64 {
        let line = self.run(&format!("r {name}"));
        let value = line
            .trim()
            .split_once('=')
            .unwrap_or_else(|| panic!("{line}"))
            .1
            .to_owned();
        u64::from_str_radix(&value, 16).unwrap_or_else(|_| panic!("{line}"))
    }
}

#[test]
fn connecting_halts_the_debuggee_in_its_idle_loop() {
    let bench = Bench::new();
    assert!(bench.session.connect_serial(true));
    let text = bench.take();
    assert!(text.starts_with("waiting for debuggee to connect...\n"), "{text}");
    assert!(text.contains("nt!KiIdleLoop+0x"), "{text}");
    assert!(!bench.session.connect_serial(true), "one connection at a time");
}

#[test]
fn a_breakpoint_stops_the_debuggee_and_reports_first() {
    let bench = Bench::debugger();
    assert_eq!(bench.run("bp nt!NtCreateFile"), "");
    let text = bench.run_bounded("g");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "debuggee is running...");
    assert_eq!(lines[1], "breakpoint 0x1 hit");
    assert_eq!(lines[2], "nt!NtCreateFile:");
    assert!(lines[3].starts_with("fffff803`30201000    53 "), "{text}");
    assert!(lines[3].ends_with("push rbx"), "{text}");
    assert_eq!(bench.register("rip"), 0xffff_f803_3020_1000);
    assert!(
        bench.run_bounded("g").contains("breakpoint 0x1 hit"),
        "it hits again"
    );
}

#[test]
fn the_same_run_gives_the_same_registers() {
    let stop = || {
        let bench = Bench::debugger();
        bench.run("bp Ntfs!NtfsCommonCreate");
        bench.run_bounded("g");
        bench.run_bounded("g");
        bench.run("r")
    };
    assert_eq!(stop(), stop());
}

#[test]
fn a_breakpoint_for_a_process_hits_in_that_process_only() {
    let bench = Bench::debugger();
    bench.run("bp nt!NtCreateFile pid 1a2c");
    for _ in 0..3 {
        bench.run_bounded("g");
        assert_eq!(bench.run("print $pid"), "1a2c\n");
    }
}

#[test]
fn disabled_and_cleared_breakpoints_do_not_hit() {
    let bench = Bench::debugger();
    bench.run("bp nt!NtCreateFile");
    bench.run("bp nt!NtClose");
    assert_eq!(bench.run("bd 1"), "");
    assert!(bench.run_bounded("g").contains("breakpoint 0x2 hit"));
    assert!(bench.run_bounded("g").contains("breakpoint 0x2 hit"));
    assert_eq!(bench.run("bc 2"), "");
    assert_eq!(bench.run("be 1"), "");
    assert!(bench.run_bounded("g").contains("breakpoint 0x1 hit"));
}

#[test]
fn steps_go_into_and_over_calls() {
    let bench = Bench::debugger();
    bench.run("bp nt!IoCreateFile");
    bench.run_bounded("g");
    let call = (0..20).find(|_| bench.run_bounded("t").contains("call "));
    assert!(call.is_some(), "a call follows");
    let before = bench.register("rip");
    let text = bench.run_bounded("p");
    assert_eq!(bench.register("rip"), before + 5, "over the call: {text}");
    let call = (0..20).find(|_| bench.run_bounded("p").contains("call "));
    assert!(call.is_some(), "another call follows");
    let text = bench.run_bounded("t");
    assert!(
        text.contains("nt!ExAllocatePoolWithTag:"),
        "into the call: {text}"
    );
    let text = bench.run_bounded("gu");
    assert!(text.contains("nt!IoCreateFile+0x"), "and out again: {text}");
}

#[test]
fn a_conditional_jump_says_whether_it_is_taken() {
    let bench = Bench::debugger();
    bench.run("bp nt!NtReadFile");
    bench.run_bounded("g");
    let text: String = (0..4).map(|_| bench.run_bounded("t")).collect();
    assert!(text.contains("jz ") && text.contains("[not taken]"), "{text}");
}

#[test]
fn a_break_in_stops_an_endless_run_at_a_place_where_it_waits() {
    let bench = Bench::debugger();
    let done = bench.start("g");
    bench.wait_for("the run", |text| text.contains("debuggee is running"));
    assert!(
        done.recv_timeout(Duration::from_millis(50)).is_err(),
        "a run without a stop goes on"
    );
    let prompt = {
        bench.session.show_prompt();
        bench.take()
    };
    assert!(prompt.ends_with("ffffffff: kHyperDbg> "), "{prompt}");
    let start = Instant::now();
    while !bench.session.request_break_in() {
        assert!(start.elapsed() < PATIENCE);
    }
    assert_eq!(done.recv_timeout(PATIENCE), Ok(0));
    assert!(bench.take().contains("nt!KiIdleLoop+0x"));
    assert!(
        !bench.session.request_break_in(),
        "a halted debuggee is left alone"
    );
}

#[test]
fn the_pause_command_does_not_halt_a_debuggee() {
    let bench = Bench::debugger();
    let done = bench.start("g");
    bench.wait_for("the run", |text| text.contains("running"));
    crate::commands::running::pause(&bench.session);
    assert!(done.recv_timeout(Duration::from_millis(50)).is_err());
    bench.session.request_break_in();
    assert!(done.recv_timeout(PATIENCE).is_ok());
}

#[test]
fn closing_wakes_a_call_that_waits_for_a_stop() {
    let bench = Bench::debugger();
    let done = bench.start("g");
    bench.wait_for("the run", |text| text.contains("running"));
    assert!(bench.session.close_serial());
    assert!(done.recv_timeout(PATIENCE).is_ok());
    assert!(!bench.session.close_serial());
}

#[test]
fn connecting_without_pause_blocks_until_the_first_stop() {
    let bench = Bench::new();
    let (sender, done) = mpsc::channel();
    let session = Arc::clone(&bench.session);
    std::thread::spawn(move || sender.send(session.connect_serial(false)));
    bench.wait_for("the run", |text| text.contains("debuggee is running"));
    assert!(done.recv_timeout(Duration::from_millis(50)).is_err());
    while !bench.session.request_break_in() {}
    assert_eq!(done.recv_timeout(PATIENCE), Ok(true));
}

#[test]
fn a_break_event_stops_and_names_itself() {
    let bench = Bench::debugger();
    assert_eq!(bench.run("!syscall 55"), "");
    let text = bench.run_bounded("g");
    assert!(text.contains("event 0x0 triggered (pre)\n"), "{text}");
    assert!(text.contains("ntdll!NtCreateFile+0x"), "{text}");
    assert_eq!(bench.register("rax"), 0x55);
    bench.run("!cpuid stage post");
    let text = bench.run_bounded("g");
    assert!(
        text.contains("event 0x1 triggered (post)") || text.contains("event 0x0 triggered (pre)"),
        "{text}"
    );
}

#[test]
fn a_monitor_sees_the_write_to_its_range() {
    let bench = Bench::debugger();
    assert_eq!(bench.run("!monitor w simdemo!DemoLastResult l 8"), "");
    let text = bench.run_bounded("g");
    assert!(text.contains("event 0x0 triggered (pre)"), "{text}");
    assert!(text.contains("simdemo!DemoDispatch:"), "{text}");
}

#[test]
fn script_events_print_from_aside_while_the_debuggee_runs() {
    let bench = Bench::debugger();
    assert_eq!(
        bench.run("!epthook nt!NtClose script { printf(\"closing %llx\\n\", @rcx); }"),
        ""
    );
    let done = bench.start("g");
    bench.wait_for("event text", |text| text.matches("closing 1").count() >= 3);
    bench.session.request_break_in();
    done.recv_timeout(PATIENCE).expect("stop");
}

#[test]
fn a_script_can_stop_the_debuggee() {
    let bench = Bench::debugger();
    bench.run("!epthook nt!NtClose script { if ($pid == 1a2c) { print($pid); pause(); } }");
    let text = bench.run_bounded("g");
    assert!(text.contains("1a2c\n"), "{text}");
    assert!(text.contains("nt!NtClose:"), "{text}");
}

#[test]
fn local_events_report_later_and_break_is_refused() {
    let bench = Bench::local();
    let text = bench.run("!syscall");
    assert!(text.starts_with("err, ") && text.contains("VMI"), "{text}");
    assert_eq!(
        bench.run("!msrwrite c0000102 script { printf(\"wrote\\n\"); }"),
        ""
    );
    bench.wait_for("event text", |text| text.contains("wrote\nwrote\n"));
    bench.run("pause");
    std::thread::sleep(Duration::from_millis(30));
    bench.take();
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(bench.take(), "", "text is thrown away while paused");
    bench.run("g");
    bench.wait_for("event text", |text| text.contains("wrote\n"));
    assert_eq!(
        bench
            .run("events c 0")
            .lines()
            .filter(|line| line.starts_with("err"))
            .count(),
        0
    );
}

#[test]
fn switching_a_process_stops_when_it_is_reached() {
    let bench = Bench::debugger();
    let text = bench.run(".process pid 11b8");
    assert!(text.contains("'g'"), "{text}");
    let text = bench.run_bounded("g");
    assert!(text.contains("switched to the specified process\n"), "{text}");
    assert!(bench.run(".process").contains("process id: 11b8\n"));
    assert!(bench.run(".process pid 999").contains("(c0000020)"));
}

#[test]
fn a_fault_in_the_guest_stops_it_with_a_reason() {
    let bench = Bench::debugger();
    bench.run("bp nt!strlen");
    bench.run_bounded("g");
    bench.run("bc 1");
    bench.run("r rcx = 10");
    let text = bench.run_bounded("g");
    assert!(
        text.contains("page fault (#PF) reading 0000000000000010"),
        "{text}"
    );
    assert_eq!(bench.register("cr2"), 0x10);
}

#[test]
fn an_instruction_that_cannot_be_executed_is_named() {
    let bench = Bench::debugger();
    bench.run("bp nt!strlen");
    bench.run_bounded("g");
    bench.run("bc 1");
    // fsqrt
    bench.run("eb nt!strlen d9 fa");
    let text = bench.run_bounded("t");
    assert!(
        text.contains("the simulated core cannot execute 'fsqrt'"),
        "{text}"
    );
}

#[test]
fn an_int3_in_the_code_stops_without_a_number() {
    let bench = Bench::debugger();
    bench.run("eb nt!NtClose cc");
    let text = bench.run_bounded("g");
    assert!(text.contains("nt!NtClose+0x1:"), "{text}");
    assert!(!text.contains("hit"), "{text}");
}

#[test]
fn a_user_process_is_started_stepped_and_released() {
    let bench = Bench::local();
    assert!(!bench.session.start_process("C:\\nothing.exe"));
    assert!(bench.take().contains("(c000002a)"));
    assert!(bench.session.start_process("C:\\Windows\\System32\\notepad.exe"));
    assert!(bench.take().contains("notepad!main:"));
    bench.session.show_prompt();
    assert_eq!(bench.take(), "1a2c:3000 (paused) u64HyperDbg> ");
    let text = bench.run_bounded("p 6");
    assert!(text.contains("notepad!main"), "{text}");
    assert!(bench.run("r rip").starts_with("rip=00007ff6d210"));
    let text = bench.run_bounded("g");
    assert_eq!(text, "", "it returns at once");
    bench.run("pause");
    bench.wait_for("the stop", |text| text.contains("`"));
    assert!(bench.session.lock().is_user_paused());
}
