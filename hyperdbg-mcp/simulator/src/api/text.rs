//! Text, callbacks and the parser's tests.

use super::edge::put;
use crate::commands::connection::{BAUD_RATES, is_com_port};
use crate::console::{NoticeCallback, SharedBuffer, Sink, TextCallback, decode};
use crate::say;
use crate::session::Session;
use crate::tokens::tokenize;
use core::ffi::{CStr, c_char, c_ulong, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// Longest path that the driver's setting takes.
const PATH_LIMIT: usize = 260;

/// The value of the last expression that had one: it comes back with an error, too.
pub(super) fn last_value(value: Option<u64>) -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    match value {
        Some(value) => {
            LAST.store(value, Ordering::Relaxed);
            value
        }
        None => LAST.load(Ordering::Relaxed),
    }
}

/// Registers the plain callback. While the shared buffer is still set, the callback is called
/// without an argument: that is how the real library behaves.
///
/// # Safety
/// `handler` is null or a function of the callback's type that stays valid.
pub(super) unsafe fn set_callback(session: &Session, handler: *mut c_void) {
    let sink = match (handler.is_null(), session.console.sink()) {
        (true, _) => Sink::Stdout,
        // SAFETY: the caller promises a function; without its argument it reads whatever is there,
        // which is the trap that is reproduced.
        (false, Sink::Shared(_, buffer)) => Sink::Shared(
            unsafe { std::mem::transmute::<*mut c_void, NoticeCallback>(handler) },
            buffer,
        ),
        // SAFETY: the caller promises a function of this type.
        (false, _) => Sink::Callback(unsafe { std::mem::transmute::<*mut c_void, TextCallback>(handler) }),
    };
    session.console.redirect(sink);
}

/// Registers the callback of the shared form and returns the buffer.
///
/// # Safety
/// `handler` is null or a function without arguments that stays valid.
pub(super) unsafe fn set_shared_callback(session: &Session, handler: *mut c_void) -> *mut c_void {
    let buffer = SharedBuffer::allocate();
    if handler.is_null() {
        session.console.redirect(Sink::Stdout);
    } else {
        // SAFETY: the caller promises a function of this type.
        let callback = unsafe { std::mem::transmute::<*mut c_void, NoticeCallback>(handler) };
        session.console.redirect(Sink::Shared(callback, buffer));
    }
    buffer.address().cast()
}

/// The words of an argument list.
///
/// # Safety
/// `argv` holds `argc` strings.
pub(super) unsafe fn words(argc: i32, argv: *mut *mut c_char) -> Vec<String> {
    (0..usize::try_from(argc).unwrap_or(0))
        .map(|index| {
            // SAFETY: the caller promises that many strings.
            let word = unsafe { CStr::from_ptr(argv.add(index).read()) };
            decode(word.to_bytes())
        })
        .collect()
}

/// The text behind a terminated UTF-16 string.
///
/// # Safety
/// A pointer that is not null points to a terminated string.
pub(super) unsafe fn wide(text: *const u16) -> String {
    let mut units = Vec::new();
    if text.is_null() {
        return String::new();
    }
    loop {
        // SAFETY: the terminator has not come yet.
        let unit = unsafe { text.add(units.len()).read_unaligned() };
        if unit == 0 {
            return String::from_utf16_lossy(&units);
        }
        units.push(unit);
    }
}

/// True for a port and a speed that exist.
pub(super) fn is_serial_port(name: &str, baud: c_ulong) -> bool {
    // The number is 32 bits wide on one platform and 64 on the other.
    #[allow(clippy::useless_conversion)]
    let baud = u64::from(baud);
    is_com_port(name) && BAUD_RATES.contains(&baud)
}

/// Stores a custom driver path. One of exactly the limit does not fit with its NUL: the real library
/// aborts.
pub(super) fn set_driver_path(session: &Session, path: String, name: String) -> u8 {
    for (what, text) in [("path", &path), ("name", &name)] {
        if text.len() > PATH_LIMIT {
            say!(
                session.console,
                "The driver {what} is too long, the maximum length is {PATH_LIMIT}\n"
            );
            return 0;
        }
        if text.len() == PATH_LIMIT {
            std::process::abort();
        }
    }
    session.lock().driver_path = Some((path, name));
    1
}

/// Builds the path of a file beside the program.
///
/// # Safety
/// `location` has room for `size` bytes.
pub(super) unsafe fn beside_program(
    session: &Session,
    file: &str,
    location: *mut c_char,
    size: u32,
    must_exist: u8,
) -> u8 {
    let Ok(program) = std::env::current_exe() else {
        return 0;
    };
    let path = program.with_file_name(file);
    if must_exist != 0 && !path.exists() {
        say!(session.console, "{} not found\n", path.display());
        return 0;
    }
    let text = path.to_string_lossy().into_owned();
    if text.len() + 1 > size as usize {
        return 0;
    }
    for (index, byte) in text.bytes().chain([0]).enumerate() {
        // SAFETY: the text and its NUL fit, and the caller promises the room.
        unsafe { put(location.add(index), byte as c_char) };
    }
    1
}

/// Prints how a command splits.
pub(super) fn show_tokens(session: &Session, command: &str) {
    let rows: Vec<[String; 3]> = tokenize(command)
        .iter()
        .map(|token| {
            let text = token.text.replace('\n', "\\n");
            [
                format!("CommandParsingTokenType: {} ", token.kind.name()),
                format!(", Value 1: '{text}'"),
                format!(", Value 2 (lower): '{}'", text.to_ascii_lowercase()),
            ]
        })
        .collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let [first, second, third] = [width(0), width(1), width(2)];
    for [one, two, three] in &rows {
        say!(session.console, "{one:<first$} {two:<second$} {three:<third$}\n");
    }
}

/// Compares how a command splits with what is expected.
///
/// # Safety
/// `list` holds `count` strings; the two results are numbers or null.
pub(super) unsafe fn check_tokens(
    session: &Session,
    command: &str,
    count: u32,
    list: *mut *mut c_char,
    failed_token: *mut u32,
    failed_position: *mut u32,
) -> u8 {
    let found = tokenize(command);
    // SAFETY: the caller promises that many strings.
    let expected = unsafe { words(i32::try_from(count).unwrap_or(0), list) };
    let report = |token: usize, position: usize| {
        for (target, value) in [(failed_token, token), (failed_position, position)] {
            if !target.is_null() {
                // SAFETY: not null, and the caller promises a number there.
                unsafe { put(target, value as u32) };
            }
        }
    };
    for (index, wanted) in expected.iter().enumerate() {
        let actual = found.get(index).map_or("", |token| token.text.as_str());
        if actual != wanted {
            let position = actual
                .bytes()
                .zip(wanted.bytes())
                .take_while(|(one, other)| one == other)
                .count();
            report(index, position);
            say!(
                session.console,
                "err, token {index:x} is '{actual}' and not '{wanted}'\n"
            );
            return 0;
        }
    }
    if found.len() != expected.len() {
        report(expected.len(), 0);
        say!(
            session.console,
            "err, the command has {} tokens and not {}\n",
            found.len(),
            expected.len()
        );
        return 0;
    }
    1
}
