//! Where text goes: the registered callback, or the process's standard output.
//!
//! As in the real library every message is a call of its own, cut at [`CHUNK_LIMIT`] bytes and at
//! the first NUL, and nothing marks where one answer ends.

use std::ffi::{CString, c_char, c_int};
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Bytes of one message, without its NUL.
pub const CHUNK_LIMIT: usize = 4355;

/// Bytes of input that are no UTF-8 travel through the program as characters from here on, and leave
/// it as the bytes that they were: the real library hands everything back unchecked.
const RAW_BYTES: u32 = 0xf_ff00;

/// The text of C input.
#[must_use]
pub fn decode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(
            chunk
                .invalid()
                .iter()
                .filter_map(|byte| char::from_u32(RAW_BYTES + u32::from(*byte))),
        );
    }
    text
}

/// The bytes of text that may hold such characters.
fn encode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u32::from(c).checked_sub(RAW_BYTES) {
            Some(byte @ 0x80..=0xff) => bytes.push(byte as u8),
            _ => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    bytes
}

/// A callback that takes the text.
pub type TextCallback = unsafe extern "C" fn(*const c_char) -> c_int;
/// A callback that is told to look into the shared buffer.
pub type NoticeCallback = unsafe extern "C" fn() -> c_int;

/// A Rust receiver of text.
pub type TextClosure = dyn Fn(&[u8]) + Send + Sync;

/// A place that text can go to.
#[derive(Clone, Default)]
pub enum Sink {
    /// Standard output of the process.
    #[default]
    Stdout,
    /// A C callback.
    Callback(TextCallback),
    /// A C callback after the text was put in a shared buffer.
    Shared(NoticeCallback, SharedBuffer),
    /// A Rust closure, for users of the rlib and for tests.
    Closure(Arc<TextClosure>),
}

/// The buffer of the shared form. It is never freed: another thread may be about to write to it.
#[derive(Clone, Copy)]
pub struct SharedBuffer(*mut u8);

// SAFETY: the buffer lives for ever, and all writes to it happen under the console's buffer lock.
unsafe impl Send for SharedBuffer {}
// SAFETY: as above.
unsafe impl Sync for SharedBuffer {}

impl SharedBuffer {
    /// A zeroed buffer that holds one message and its NUL.
    #[must_use]
    pub fn allocate() -> Self {
        let buffer: &'static mut [u8] = Box::leak(vec![0; CHUNK_LIMIT + 1].into_boxed_slice());
        Self(buffer.as_mut_ptr())
    }

    /// Its address, for the C caller.
    #[must_use]
    pub fn address(self) -> *mut u8 {
        self.0
    }
}

/// The way out for all text.
#[derive(Default)]
pub struct Console {
    sink: RwLock<Sink>,
    buffer: Mutex<()>,
    log: Mutex<Option<File>>,
}

impl Console {
    /// Sends text to `sink` from now on.
    pub fn redirect(&self, sink: Sink) {
        *self.sink.write().unwrap_or_else(PoisonError::into_inner) = sink;
    }

    /// The current sink.
    pub fn sink(&self) -> Sink {
        self.sink.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens or closes the log that gets a copy of everything.
    pub fn set_log(&self, log: Option<File>) {
        *self.log.lock().unwrap_or_else(PoisonError::into_inner) = log;
    }

    /// True while a log is open.
    pub fn is_logging(&self) -> bool {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Sends one message.
    pub fn say(&self, text: &str) {
        self.say_bytes(&encode(text));
    }

    /// Sends one message of any bytes.
    pub fn say_bytes(&self, bytes: &[u8]) {
        let end = bytes
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(bytes.len())
            .min(CHUNK_LIMIT);
        let bytes = &bytes[..end];
        if let Some(log) = self.log.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            // A full disk must not end a session; the real library does not look either.
            let _ = log.write_all(bytes);
        }
        match self.sink() {
            Sink::Stdout => print_to_stdout(bytes),
            Sink::Closure(closure) => closure(bytes),
            Sink::Callback(callback) => {
                let Ok(text) = CString::new(bytes) else { return };
                // SAFETY: whoever registered the callback promised a function of this type that
                // stays valid; the text is NUL-terminated and lives through the call.
                unsafe { callback(text.as_ptr()) };
            }
            Sink::Shared(callback, buffer) => {
                let _guard = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
                // SAFETY: the buffer has CHUNK_LIMIT + 1 bytes and lives for ever; the lock keeps
                // other messages out; the callback is what was registered.
                unsafe {
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.0, bytes.len());
                    buffer.0.add(bytes.len()).write(0);
                    callback();
                }
            }
        }
    }
}

/// Writes to the standard output of the process, past any callback.
pub fn print_to_stdout(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    // A closed pipe is the reader's business.
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// Sends one message, formatted.
#[macro_export]
#[doc(hidden)]
macro_rules! say {
    ($console:expr, $($argument:tt)*) => {
        $console.say(&format!($($argument)*))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture() -> (Console, Arc<Mutex<Vec<Vec<u8>>>>) {
        let console = Console::default();
        let chunks = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&chunks);
        console.redirect(Sink::Closure(Arc::new(move |bytes| {
            sink.lock().expect("lock").push(bytes.to_vec());
        })));
        (console, chunks)
    }

    #[test]
    fn bytes_that_are_no_text_come_back_as_they_were() {
        let (console, chunks) = capture();
        say!(console, "'{}'", decode(b"a\xff\xc3\x28\xc3\xa4"));
        assert_eq!(chunks.lock().expect("lock")[0], b"'a\xff\xc3\x28\xc3\xa4'");
    }

    #[test]
    fn a_message_is_one_call_and_is_cut_at_the_limit_and_at_a_nul() {
        let (console, chunks) = capture();
        say!(console, "{}", "a".repeat(5000));
        console.say_bytes(b"before\0after");
        let chunks = chunks.lock().expect("lock");
        assert_eq!(chunks[0].len(), CHUNK_LIMIT);
        assert_eq!(chunks[1], b"before");
    }
}
