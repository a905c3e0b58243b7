//! A library whose commands are faults.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::{Condvar, Mutex, Once};
use std::thread;
use std::time::{Duration, Instant};

type Callback = extern "C" fn(*const c_char) -> c_int;

static CALLBACK: Mutex<Option<Callback>> = Mutex::new(None);
/// Break requests seen.
static BREAKS: (Mutex<u32>, Condvar) = (Mutex::new(0), Condvar::new());

pub(crate) fn lookup(symbol: &CStr) -> Option<NonNull<c_void>> {
    match symbol.to_bytes() {
        b"hyperdbg_u_run_command" => NonNull::new(run_command as *mut c_void),
        b"hyperdbg_u_set_text_message_callback" => NonNull::new(set_callback as *mut c_void),
        _ => None,
    }
}

extern "C" fn set_callback(handler: *mut c_void) {
    // SAFETY: the worker passes a function of this type that stays.
    let callback = unsafe { std::mem::transmute::<*mut c_void, Callback>(handler) };
    *CALLBACK.lock().unwrap() = Some(callback);
}

fn say(text: impl Into<Vec<u8>>) {
    let callback = CALLBACK
        .lock()
        .unwrap()
        .expect("the callback comes before the first command");
    let text = CString::new(text).unwrap();
    callback(text.as_ptr());
}

fn forever() -> ! {
    loop {
        thread::sleep(Duration::from_secs(1000));
    }
}

fn milliseconds(text: &str) -> Duration {
    Duration::from_millis(text.trim().parse().unwrap())
}

/// As the real library does: break requests are taken by a thread of its own from the first command on.
fn install_break_handler() {
    #[cfg(unix)]
    thread::spawn(|| {
        let mut set = nix::sys::signal::SigSet::empty();
        set.add(nix::sys::signal::Signal::SIGINT);
        set.add(nix::sys::signal::Signal::SIGQUIT);
        loop {
            set.wait().unwrap();
            take_break();
        }
    });
    #[cfg(windows)]
    {
        use windows_sys::Win32::System::Console::SetConsoleCtrlHandler;
        unsafe extern "system" fn on_break(_event: u32) -> windows_sys::core::BOOL {
            take_break();
            1
        }
        // SAFETY: the handler is a function of this program.
        assert_ne!(unsafe { SetConsoleCtrlHandler(Some(on_break), 1) }, 0);
    }
}

fn take_break() {
    *BREAKS.0.lock().unwrap() += 1;
    BREAKS.1.notify_all();
}

/// Blocks until a break request or until `limit`; the stop is told by another thread, as the real library does it.
fn resume(limit: Option<Duration>) {
    say("debuggee is running...\n");
    let seen = BREAKS.0.lock().unwrap();
    let before = *seen;
    let (seen, _) = BREAKS
        .1
        .wait_timeout_while(seen, limit.unwrap_or(Duration::from_secs(1000)), |seen| {
            *seen == before
        })
        .unwrap();
    let why = if *seen == before { "breakpoint" } else { "break" };
    drop(seen);
    thread::spawn(move || say(format!("stopped by {why}\n")))
        .join()
        .unwrap();
}

extern "C" fn run_command(command: *mut c_char) -> c_int {
    // SAFETY: the worker passes a C string.
    let command = unsafe { CStr::from_ptr(command) }.to_str().unwrap().to_owned();
    static FIRST: Once = Once::new();
    FIRST.call_once(install_break_handler);
    let (verb, rest) = command.split_once(' ').unwrap_or((&command, ""));
    match verb {
        "" => match std::env::var("FAKE_OPENING").as_deref() {
            Ok("hang") => forever(),
            Ok("crash") => std::process::abort(),
            _ => say("\n"),
        },
        "echo" => say(rest),
        "sleep" => thread::sleep(milliseconds(rest)),
        "returns" => return rest.parse().unwrap(),
        "hang" => forever(),
        "spin" => loop {
            std::hint::spin_loop();
        },
        "crash" => {
            say("about to crash\n");
            let address = std::hint::black_box(1_usize) as *const u8;
            // SAFETY: none: reading an address that is not mapped is the fault.
            let value = unsafe { address.read_volatile() };
            say([value]);
        }
        "abort" => {
            say("about to abort\n");
            eprintln!("terminate called");
            std::process::abort();
        }
        "exit" => {
            say("about to exit\n");
            std::process::exit(rest.parse().unwrap());
        }
        "stdout" => {
            use std::io::Write;
            let mut out = std::io::stdout().lock();
            out.write_all(rest.as_bytes()).unwrap();
            out.flush().unwrap();
        }
        // Past everything that Rust knows of standard output, as a C library prints.
        "c-stdout" => {
            unsafe extern "C" {
                fn puts(text: *const c_char) -> c_int;
                fn fflush(stream: *mut c_void) -> c_int;
            }
            let text = CString::new(rest).unwrap();
            // SAFETY: a C string, and null for every stream.
            unsafe {
                puts(text.as_ptr());
                fflush(std::ptr::null_mut());
            }
        }
        "bytes" => say([0xff, 0x1b, 0xc3]),
        // Many pieces of 1000 bytes in a row.
        "flood" => {
            for _ in 0..rest.parse().unwrap() {
                say([b'x'; 1000]);
            }
            say("the end");
        }
        "endless" => loop {
            say([b'y'; 100]);
        },
        "late" => {
            let (after, text) = rest.split_once(' ').unwrap();
            let (after, text) = (milliseconds(after), text.to_owned());
            thread::spawn(move || {
                thread::sleep(after);
                say(text);
            });
        }
        "foreign" => {
            let text = rest.to_owned();
            thread::spawn(move || say(text)).join().unwrap();
        }
        "chatter" => {
            thread::spawn(|| {
                loop {
                    say([b'z'; 1000]);
                }
            });
        }
        "events" => {
            let count: u32 = rest.parse().unwrap();
            thread::spawn(move || {
                for number in 0..count {
                    say(format!("hit {number}\n"));
                }
            });
        }
        "g" => resume((!rest.is_empty()).then(|| milliseconds(rest))),
        // Takes its time and does not listen.
        "deaf" => {
            let until = Instant::now() + milliseconds(rest);
            while let Some(left) = until.checked_duration_since(Instant::now()) {
                thread::sleep(left);
            }
        }
        "child" => {
            let mut child = std::process::Command::new(std::env::current_exe().unwrap())
                .arg("sleeper")
                .spawn()
                .unwrap();
            say(child.id().to_string());
            thread::spawn(move || child.wait());
        }
        other => say(format!("err, couldn't resolve command at '{other}'\n")),
    }
    0
}
