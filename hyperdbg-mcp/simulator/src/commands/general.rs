//! Everything that is about the debugger itself: formats, scripts, logs, faults.

use super::{Input, run_command};
use crate::console::print_to_stdout;
use crate::disassembly::separated;
use crate::fault::{self, FAULTS};
use crate::machine::cpuid;
use crate::say;
use crate::session::Session;
use crate::tokens::Token;
use std::time::Duration;

/// `.formats EXPRESSION`.
pub(super) fn formats(input: &Input<'_>) {
    let session = input.session;
    if input.rest().is_empty() {
        return input.misuse();
    }
    let Some(value) = session.evaluate(input.rest()) else {
        input.unresolved(input.rest());
        return;
    };
    let console = &session.console;
    say!(console, "evaluate expression:\n");
    say!(console, "Hex :        {}\n", separated(value));
    // These two rows show the low half only, as the real ones do.
    say!(console, "Decimal :    {}\n", value as u32 as i32);
    say!(console, "Octal :      {:o}\n", value as u32);
    say!(console, "Binary :     ");
    for byte in value.to_be_bytes() {
        say!(console, "{byte:08b} ");
    }
    say!(console, "\nChar :       ");
    for byte in value.to_le_bytes() {
        let shown = if (0x20..0x7f).contains(&byte) {
            char::from(byte)
        } else {
            '.'
        };
        say!(console, "{shown}");
    }
    // The clock stands still in the machine.
    say!(console, "\nTime :       01/01/26 - 12:00AM\n");
    let double = f64::from_bits(value);
    say!(console, "Float :      {double:.2} {double:+.0e} {double:E}\n");
    say!(console, "Double :     {double:e}\n");
}

/// `print EXPRESSION`.
pub(super) fn print(input: &Input<'_>) {
    if input.rest().is_empty() {
        return input.misuse();
    }
    input
        .session
        .run_statements(&format!("print({});", input.rest()), true);
}

/// `? STATEMENTS`.
pub(super) fn evaluate(input: &Input<'_>) {
    let session = input.session;
    let text = input.rest();
    if text.is_empty() {
        return input.misuse();
    }
    let attached = {
        let state = session.lock();
        state.is_serial() || state.user.is_some()
    };
    if attached {
        session.run_statements(text, true);
        return;
    }
    say!(
        session.console,
        "this command is meant for the Debugger Mode or an attached process; what follows is a simulated result for \
         TESTING the script engine and says nothing about the system\n\n"
    );
    say!(session.console, "test expression : {text} \n");
    session.run_in_host(text);
}

/// `sleep MILLISECONDS`.
pub(super) fn sleep(input: &Input<'_>) {
    let [time] = input.arguments() else {
        return input.misuse();
    };
    match time.number32() {
        Some(time) => std::thread::sleep(Duration::from_millis(u64::from(time))),
        None => {
            say!(
                input.session.console,
                "please specify a correct hex value for time (milliseconds)\n\n"
            );
            input.misuse();
        }
    }
}

/// `exit`: ends the process.
pub(super) fn exit(input: &Input<'_>) {
    if !input.arguments().is_empty() {
        return input.misuse();
    }
    input.session.unload_all();
    input.session.close_serial();
    std::process::exit(0);
}

/// `cls`: the shell clears the terminal, past the callback.
pub(super) fn clear(_: &Input<'_>) {
    print_to_stdout(b"\x1b[H\x1b[2J\x1b[3J");
}

/// `gg`.
pub(super) fn good_game(input: &Input<'_>) {
    say!(input.session.console, "gg, well played\n");
}

/// CPU features: register and bit of CPUID, name.
const FEATURES: &[(char, u32, &str)] = &[
    ('d', 5, "MSR"),
    ('d', 8, "CX8"),
    ('d', 15, "CMOV"),
    ('d', 23, "MMX"),
    ('d', 25, "SSE"),
    ('d', 26, "SSE2"),
    ('c', 0, "SSE3"),
    ('c', 5, "VMX"),
    ('c', 9, "SSSE3"),
    ('c', 12, "FMA"),
    ('c', 13, "CMPXCHG16B"),
    ('c', 19, "SSE4.1"),
    ('c', 20, "SSE4.2"),
    ('c', 22, "MOVBE"),
    ('c', 23, "POPCNT"),
    ('c', 25, "AES"),
    ('c', 26, "XSAVE"),
    ('c', 28, "AVX"),
    ('c', 29, "F16C"),
    ('c', 30, "RDRAND"),
    ('b', 0, "FSGSBASE"),
    ('b', 3, "BMI1"),
    ('b', 4, "HLE"),
    ('b', 5, "AVX2"),
    ('b', 8, "BMI2"),
    ('b', 9, "ERMS"),
    ('b', 16, "AVX512F"),
    ('b', 18, "RDSEED"),
    ('b', 29, "SHA"),
];

/// `cpu`.
pub(super) fn cpu(input: &Input<'_>) {
    let console = &input.session.console;
    if !input.arguments().is_empty() {
        return input.misuse();
    }
    say!(console, "vendor : {}\n", cpuid::VENDOR);
    say!(console, "brand : {}\n", cpuid::BRAND);
    say!(console, "\n");
    for (register, bit, name) in FEATURES {
        let bits = match register {
            'c' => cpuid::FEATURES_ECX,
            'd' => cpuid::FEATURES_EDX,
            _ => cpuid::EXTENDED_EBX,
        };
        let supported = if (bits >> bit) & 1 == 0 {
            "not supported"
        } else {
            "supported"
        };
        say!(console, "{name} {supported}\n");
    }
}

/// `flush`.
pub(super) fn flush(input: &Input<'_>) {
    if input.session.needs_kd() {
        say!(
            input.session.console,
            "flushing buffers was successful, total 0 messages were cleared.\n"
        );
    }
}

/// `.logopen FILE`.
pub(super) fn open_log(input: &Input<'_>) {
    let session = input.session;
    let [path] = input.arguments() else {
        return input.misuse();
    };
    if session.console.is_logging() {
        say!(session.console, "err, log file is already opened\n");
        return;
    }
    match std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path.text)
    {
        Ok(file) => {
            session.console.set_log(Some(file));
            say!(
                session.console,
                "save commands and results into file : {}\n",
                path.text
            );
        }
        Err(error) => say!(session.console, "unable to open file : {} ({error})\n", path.text),
    }
}

/// `.logclose`.
pub(super) fn close_log(input: &Input<'_>) {
    let session = input.session;
    if !session.console.is_logging() {
        say!(session.console, "err, you didn't open a log file, yet\n");
        return;
    }
    session.console.set_log(None);
    say!(session.console, "log file closed\n");
}

/// `output`, `output create NAME TYPE VALUE`, `output open|close NAME`.
pub(super) fn output(input: &Input<'_>) {
    let session = input.session;
    let state_name = |open: bool| if open { "opened" } else { "not opened" };
    match input.arguments() {
        [] => {
            let outputs = session.lock().outputs.clone();
            if outputs.is_empty() {
                say!(session.console, "output forwarding list is empty\n");
            }
            for (index, (name, kind, open)) in outputs.iter().enumerate() {
                say!(
                    session.console,
                    "{index:x}  {kind:<9}  {:<10}  {name}\n",
                    state_name(*open)
                );
            }
        }
        [verb, name, kind, _] if verb.is("create") => {
            let known = ["file", "namedpipe", "tcp", "module"];
            if !known.iter().any(|known| kind.is(known)) {
                say!(session.console, "err, incorrect type near '{}'\n\n", kind.text);
                return input.misuse();
            }
            session
                .lock()
                .outputs
                .push((name.text.clone(), kind.lower(), false));
            say!(session.console, "the output is created; 'output open' opens it\n");
        }
        [verb, name] if verb.is("open") || verb.is("close") => {
            let open = verb.is("open");
            let mut state = session.lock();
            let slot = state.outputs.iter_mut().find(|(known, ..)| *known == name.text);
            let text = match slot {
                None => "err, the name you entered, not found. Did you use 'output' command to create it?\n",
                Some((.., is_open)) => {
                    *is_open = open;
                    ""
                }
            };
            drop(state);
            if !text.is_empty() {
                session.console.say(text);
            }
        }
        _ => input.misuse(),
    }
}

/// `.script FILE [ARGUMENTS]`.
pub(super) fn script(input: &Input<'_>) {
    if input.arguments().is_empty() {
        return input.misuse();
    }
    let words: Vec<String> = input.arguments().iter().map(|token| token.text.clone()).collect();
    run_file(input.session, &words);
}

/// Runs the commands of a file. `$arg0` is the file, `$arg1` the first argument. A file that runs
/// itself ends in a stack overflow, as it does in the real library.
pub(crate) fn run_file(session: &Session, words: &[String]) {
    let Some(path) = words.first() else { return };
    let text = match std::fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => {
            print_to_stdout(b"err, could not open the script file\n");
            return;
        }
    };
    let mut command = String::new();
    let mut state = crate::tokens::MultiLine::default();
    for line in text.lines() {
        if !command.is_empty() {
            command.push('\n');
        }
        command.push_str(line);
        if state.feed(line) {
            continue;
        }
        let mut ready = std::mem::take(&mut command);
        state = crate::tokens::MultiLine::default();
        for (index, word) in words.iter().enumerate().rev() {
            ready = ready.replace(&format!("$arg{index}"), word);
        }
        if ready.trim().is_empty() {
            continue;
        }
        session.show_prompt();
        say!(session.console, "{ready}\n");
        run_command(session, &ready);
    }
    print_to_stdout(b"\n");
}

/// `test query|trap-status|pool|breakpoint on|off|trap on|off`.
pub(super) fn test(input: &Input<'_>) {
    let session = input.session;
    if !session.lock().is_serial() {
        say!(
            session.console,
            "err, the tests need a debuggee in debugger-mode\n"
        );
        return;
    }
    let words: Vec<String> = input.arguments().iter().map(Token::lower).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["query"] => {
            let cores = session.lock_halted().machine.scheduled();
            for core in 0..cores {
                say!(session.console, "core : {core:x} - the core is locked\n");
            }
        }
        ["trap-status"] => say!(session.console, "trap count: 0\n"),
        ["pool"] => say!(session.console, "no pre-allocated pool is in use\n"),
        ["breakpoint", "on" | "off"] => {
            session.lock_halted().breakpoints.masked = words[1] == "off";
            say!(
                session.console,
                "breakpoint interception is turned {}\n",
                words[1]
            );
        }
        ["trap", "on" | "off"] => say!(
            session.console,
            "debug trap interception is turned {}\n",
            words[1]
        ),
        _ => input.misuse(),
    }
}

/// `!hide`, `!measure`: compiled out or deprecated.
pub(super) fn not_in_this_build(input: &Input<'_>) {
    say!(
        input.session.console,
        "the command '{}' is not part of this build\n",
        input.word()
    );
}

/// `!unhide`.
pub(super) fn unhide(input: &Input<'_>) {
    crate::api_support::set_hidden(input.session, false);
}

/// Commands that the simulated machine has no use for.
pub(super) fn unsupported(input: &Input<'_>) {
    if let [script] = input.arguments()
        && script.is("script")
        && input.word().eq_ignore_ascii_case("!hw")
    {
        // The real library lets an exception escape when the script is missing.
        std::process::abort();
    }
    say!(
        input.session.console,
        "err, '{}' is not supported by the simulated machine\n",
        input.word()
    );
}

/// `asm` and its like: registered spellings that the handler refuses.
pub(super) fn refused_spelling(input: &Input<'_>) {
    say!(input.session.console, "unknown assemble command\n\n");
}

/// `!sim FAULT [MILLISECONDS]`: misbehave; `!sim driver`: tell which driver would be installed.
pub(super) fn simulate(input: &Input<'_>) {
    let session = input.session;
    if let [driver] = input.arguments()
        && driver.is("driver")
    {
        let chosen = session.lock().driver_path.clone();
        match chosen {
            Some((path, service)) => say!(session.console, "driver {path}, service {service}\n"),
            None => say!(session.console, "the driver beside the program\n"),
        }
        return;
    }
    let fault = input
        .arguments()
        .first()
        .and_then(|token| fault::find(&token.text));
    let Some(fault) = fault else {
        say!(session.console, "!sim : causes a fault of the simulator.\n\n");
        say!(
            session.console,
            "syntax : \t!sim [Fault (string)] [Milliseconds (decimal)]\n\n"
        );
        for spec in FAULTS {
            say!(session.console, "{:<14} : {}\n", spec.name, spec.effect);
        }
        return;
    };
    if !fault.acts_at_once() {
        let on = session.faults.toggle(fault);
        say!(
            session.console,
            "the fault is {}\n",
            if on { "on" } else { "off" }
        );
        return;
    }
    let delay = input
        .arguments()
        .get(1)
        .and_then(|token| token.text.parse().ok())
        .map(Duration::from_millis);
    session.share().misbehave(fault, delay);
}
