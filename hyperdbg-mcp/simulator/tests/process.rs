//! What the simulator does to its process: ends, hangs, signals, standard output. Each case runs in
//! a process of its own, so this test has no harness: without an argument it runs every case, as a
//! child it runs one.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every call keeps the contract that its export documents"
)]
#![allow(clippy::print_stdout, reason = "this is the test's own report")]

use core::ffi::{CStr, c_char, c_int};
use hyperdbg_simulator::fault;
use hyperdbg_simulator::generated::*;
use std::ffi::CString;
use std::io::{Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// Tells the child what to do.
const CASE: &str = "SIMULATOR_TEST_CASE";

/// No child may take longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a child is expected to end.
enum End {
    /// With this code.
    Code(i32),
    /// Of a signal; on Windows of an error code.
    Killed,
    /// Not at all: it is killed after a moment.
    Never,
}

/// Name, commands or a special case, faults in the environment, the end, and what standard output
/// and standard error hold.
struct Case {
    name: &'static str,
    commands: &'static [&'static str],
    faults: &'static str,
    end: End,
    stdout: &'static str,
    stderr_bytes: usize,
}

const fn case(name: &'static str, commands: &'static [&'static str], faults: &'static str, end: End) -> Case {
    Case {
        name,
        commands,
        faults,
        end,
        stdout: "",
        stderr_bytes: 0,
    }
}

const CASES: &[Case] = &[
    case(
        "a bad pointer in an expression",
        &[".formats poi(1)"],
        "",
        End::Killed,
    ),
    case(
        "a bad pointer in a length",
        &["? print(strlen(1));"],
        "",
        End::Killed,
    ),
    case("a bad pointer by the star", &[".formats *1"], "", End::Killed),
    case("nothing to assemble", &["a { }"], "", End::Killed),
    case("a switch without a number", &[".switch pid"], "", End::Killed),
    case(
        "a hardware script without its text",
        &["!hw script"],
        "",
        End::Killed,
    ),
    case("an open brace to assemble", &["a {nop"], "", End::Never),
    case("a silent peer", &[".connect 192.0.2.2"], "", End::Never),
    case(
        "a silent serial port",
        &[".debug remote serial 115200 com4"],
        "",
        End::Never,
    ),
    case("two calls at once", &["two calls"], "race", End::Killed),
    case("an empty symbol path", &[".sympath \"\""], "", End::Killed),
    case("a break outside a loop", &["? break;"], "", End::Killed),
    case("a name that was never set", &["? x++;"], "", End::Killed),
    case("exit", &["exit"], "", End::Code(0)),
    case("dot exit", &[".exit"], "", End::Code(0)),
    case("listening", &[".connect local", ".listen"], "", End::Never),
    case("the fault hang", &["!sim hang"], "", End::Never),
    case("the fault crash", &["!sim crash"], "", End::Killed),
    case("the fault abort", &["!sim abort"], "", End::Killed),
    case("the fault exit", &["!sim exit"], "", End::Code(0)),
    case("the fault flood", &["!sim flood"], "", End::Never),
    case("a fault for another command", &["cpu"], "crash@db", End::Code(7)),
    case("a fault for this command", &["db 1000"], "crash@db", End::Killed),
    case("a fault for every command", &["cpu"], "abort", End::Killed),
    case(
        "a fault for an export",
        &["show_signature"],
        "exit@show_signature",
        End::Code(0),
    ),
    Case {
        stdout: "went past the callback",
        ..case("the fault stdout", &["!sim stdout"], "", End::Code(7))
    },
    Case {
        stdout: "\x1b[2J",
        ..case("clearing", &["cls"], "", End::Code(7))
    },
    Case {
        stdout: "vendor : GenuineIntel",
        ..case("no callback", &["no callback", "cpu"], "", End::Code(7))
    },
    Case {
        stderr_bytes: 1 << 20,
        ..case("the fault stderr-flood", &["!sim stderr-flood"], "", End::Code(7))
    },
    Case {
        stderr_bytes: 20,
        ..case("a wrong fault", &["cpu"], "nonsense", End::Code(7))
    },
    case("an interrupt breaks in", &["interrupt"], "", End::Code(9)),
];

fn main() -> ExitCode {
    if let Ok(name) = std::env::var(CASE) {
        child(&name);
    }
    let wanted = std::env::args()
        .nth(1)
        .filter(|argument| !argument.starts_with('-'));
    let (mut passed, mut failed) = (0, 0);
    for case in CASES {
        if wanted
            .as_ref()
            .is_some_and(|wanted| !case.name.contains(wanted.as_str()))
        {
            continue;
        }
        match parent(case) {
            Ok(()) => {
                println!("test {} ... ok", case.name);
                passed += 1;
            }
            Err(why) => {
                println!("test {} ... FAILED: {why}", case.name);
                failed += 1;
            }
        }
    }
    // As the usual harness says it, for who counts.
    let told = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {told}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out"
    );
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn parent(case: &Case) -> Result<(), String> {
    let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    let mut child = command
        .env(CASE, case.name)
        .env(fault::VARIABLE, case.faults)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut stdout = child.stdout.take().ok_or("no stdout")?;
    let mut stderr = child.stderr.take().ok_or("no stderr")?;
    let out = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    let err = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stderr.read_to_end(&mut bytes).map(|_| bytes)
    });
    let patience = if matches!(case.end, End::Never) {
        Duration::from_millis(400)
    } else {
        PATIENCE
    };
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break Some(status),
            None if start.elapsed() > patience => break None,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    if status.is_none() {
        child.kill().map_err(|error| error.to_string())?;
        child.wait().map_err(|error| error.to_string())?;
    }
    let out = out
        .join()
        .map_err(|_| "reader")?
        .map_err(|error| error.to_string())?;
    let err = err
        .join()
        .map_err(|_| "reader")?
        .map_err(|error| error.to_string())?;
    let told = format!(
        "{status:?}, {}",
        String::from_utf8_lossy(&err[..err.len().min(300)])
    );
    let right = match (&case.end, status) {
        (End::Never, None) => true,
        (End::Code(code), Some(status)) => status.code() == Some(*code),
        (End::Killed, Some(status)) => status
            .code()
            .is_none_or(|code| cfg!(windows) && code != 0 && code != 7),
        _ => false,
    };
    if !right {
        return Err(format!("ended with {told}"));
    }
    if !String::from_utf8_lossy(&out).contains(case.stdout) {
        return Err(format!("standard output holds {}", String::from_utf8_lossy(&out)));
    }
    // A program that crashes may get its crash shown there by the system.
    let shown = cfg!(windows) && matches!(case.end, End::Killed);
    if case.stdout.is_empty() && !out.is_empty() && !shown {
        return Err(format!(
            "standard output is not empty: {}",
            String::from_utf8_lossy(&out)
        ));
    }
    if err.len() < case.stderr_bytes {
        return Err(format!("standard error holds {} bytes", err.len()));
    }
    Ok(())
}

static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static MORE: Condvar = Condvar::new();

unsafe extern "C" fn receive(text: *const c_char) -> c_int {
    if let Ok(mut all) = TEXT.lock() {
        all.extend(unsafe { CStr::from_ptr(text) }.to_bytes());
        MORE.notify_all();
    }
    0
}

/// Runs one case and leaves with 7 when nothing ended the process before.
fn child(name: &str) -> ! {
    let Some(case) = CASES.iter().find(|case| case.name == name) else {
        std::process::exit(3)
    };
    unsafe { hyperdbg_u_set_text_message_callback(receive as *mut _) };
    for command in case.commands {
        match *command {
            "no callback" => unsafe { hyperdbg_u_unset_text_message_callback() },
            "show_signature" => unsafe { hyperdbg_u_show_signature() },
            "interrupt" => interrupt(),
            "two calls" => {
                std::thread::spawn(|| unsafe { hyperdbg_u_run_command(c"sleep 7d0".as_ptr().cast_mut()) });
                std::thread::sleep(Duration::from_millis(100));
                unsafe { hyperdbg_u_show_signature() };
            }
            command => {
                let Ok(command) = CString::new(command) else {
                    std::process::exit(4)
                };
                unsafe { hyperdbg_u_run_command(command.as_ptr().cast_mut()) };
            }
        }
    }
    let _ = std::io::stdout().flush();
    std::process::exit(7);
}

/// Waits for that text.
fn wait(what: &str) {
    let Ok(mut text) = TEXT.lock() else {
        std::process::exit(5)
    };
    while !String::from_utf8_lossy(&text).contains(what) {
        match MORE.wait_timeout(text, PATIENCE) {
            Ok((guard, timeout)) if !timeout.timed_out() => text = guard,
            _ => std::process::exit(6),
        }
    }
}

/// Breaks into a running debuggee with a signal, and leaves with 9 when it worked.
#[cfg(unix)]
fn interrupt() {
    // The first command blocks the signal in this thread, which the others inherit.
    unsafe { hyperdbg_u_run_command(c"".as_ptr().cast_mut()) };
    unsafe { hyperdbg_u_connect_remote_debugger_using_named_pipe(c"pipe".as_ptr(), 1) };
    let run = std::thread::spawn(|| unsafe { hyperdbg_u_continue_debuggee() });
    wait("debuggee is running...");
    std::thread::sleep(Duration::from_millis(50));
    if run.is_finished() {
        std::process::exit(8);
    }
    unsafe { libc::kill(libc::getpid(), libc::SIGINT) };
    if run.join().is_ok() {
        std::process::exit(9);
    }
}

/// Breaks into a running debuggee with a console event, in a console of its own.
#[cfg(windows)]
fn interrupt() {
    use windows_sys::Win32::System::Console::{
        AllocConsole, CTRL_C_EVENT, FreeConsole, GenerateConsoleCtrlEvent,
    };
    unsafe {
        FreeConsole();
        AllocConsole();
        hyperdbg_u_run_command(c"".as_ptr().cast_mut());
        hyperdbg_u_connect_remote_debugger_using_named_pipe(c"pipe".as_ptr(), 1);
    }
    let run = std::thread::spawn(|| unsafe { hyperdbg_u_continue_debuggee() });
    wait("debuggee is running...");
    if unsafe { GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0) } == 0 {
        std::process::exit(std::io::Error::last_os_error().raw_os_error().unwrap_or(8) + 100);
    }
    if run.join().is_ok() {
        std::process::exit(9);
    }
}
