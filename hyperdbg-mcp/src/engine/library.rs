//! The loaded library: how it is found, made ready and called. Everything here runs on the one thread that owns it.

use std::any::Any;
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr::NonNull;

use hyperdbg_sys::{Exports, Layout};

use super::LibrarySource;
use super::capture::on_text;
use super::platform;
use super::protocol::{Opened, Refusal};
use crate::generated::{Call, DispatchError, Reply, dispatch};

/// Finds an export by name.
pub type Lookup = fn(&CStr) -> Option<NonNull<c_void>>;

/// An export that only the simulator has.
const SIMULATOR_MARK: &CStr = c"hyperdbg_simulator_version";

/// Keeps what holds it on one thread: a pointer is neither `Send` nor `Sync`.
struct OneThread(#[allow(dead_code, reason = "it is there for what it is not")] *const ());

/// The library, loaded and initialised. Nothing in it may be called by two threads, so the thread that opened it keeps it:
/// it is neither `Send` nor `Sync`.
pub struct Library {
    exports: Exports,
    _stays: OneThread,
    /// What is otherwise than in the SDK that this program was made from.
    layout: Layout,
}

impl Library {
    /// Loads from `source` (`embedded` finds the exports of the linked-in one), registers the text callback and lets
    /// the library initialise itself.
    pub(super) fn open(source: &LibrarySource, embedded: Lookup) -> Result<(Self, Opened), String> {
        let (exports, simulator) = match source {
            LibrarySource::Embedded => (Exports::load(embedded), true),
            LibrarySource::Path(path) => load(path)?,
        };
        let opened = Opened {
            missing: exports.missing().into_iter().map(str::to_owned).collect(),
            simulator,
        };
        let Some(set_callback) = exports.hyperdbg_u_set_text_message_callback else {
            return Err("it does not export hyperdbg_u_set_text_message_callback".to_owned());
        };
        let callback: extern "C" fn(*const std::ffi::c_char) -> std::ffi::c_int = on_text;
        // SAFETY: the library calls what it is given here as a function of exactly this type, and the function stays
        // for the life of the process.
        unsafe { set_callback(callback as *mut c_void) };
        if let Some(run_command) = exports.hyperdbg_u_run_command {
            // The first command initialises the library's tables, printers and break handling, whatever it is.
            let mut nothing = [0];
            // SAFETY: an empty C string that lives through the call.
            unsafe { run_command(nothing.as_mut_ptr()) };
        }
        let layout = Layout::default();
        let library = Self {
            exports,
            _stays: OneThread(std::ptr::null()),
            layout,
        };
        Ok((library, opened))
    }

    /// Makes later calls with these numbers and places.
    pub(super) fn arrange(&mut self, layout: Layout) {
        self.layout = layout;
    }

    /// Makes one call.
    pub(super) fn call(&self, call: Call) -> Result<Reply, Refusal> {
        // SAFETY: this is the thread that owns the library, and one call is made at a time.
        let result = catch_unwind(AssertUnwindSafe(|| unsafe {
            dispatch(&self.exports, &self.layout, call)
        }));
        match result {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(DispatchError::MissingExport(symbol))) => Err(Refusal::MissingExport {
                symbol: symbol.to_owned(),
            }),
            Ok(Err(DispatchError::BadArgument { symbol, param, why })) => Err(Refusal::BadArgument {
                symbol: symbol.to_owned(),
                param: param.to_owned(),
                why,
            }),
            Ok(Err(DispatchError::Mismatch { symbol, why })) => Err(Refusal::Mismatch {
                symbol: symbol.to_owned(),
                why,
            }),
            Err(panic) => Err(Refusal::Panicked {
                why: panic_message(panic.as_ref()),
            }),
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

fn load(path: &Path) -> Result<(Exports, bool), String> {
    if !path.is_absolute() {
        return Err("its path is not absolute".to_owned());
    }
    // SAFETY: loading runs the library's initialisers, which is what this process exists for; a library that breaks
    // it costs the worker.
    let library = unsafe { platform::load(path) }.map_err(|error| with_sources(&error))?;
    let lookup = |symbol: &CStr| {
        // SAFETY: an export is a function; what its type is, `Exports` knows, through which alone it is called.
        let found = unsafe { library.get::<Option<unsafe extern "C" fn()>>(symbol.to_bytes_with_nul()) };
        found
            .ok()
            .and_then(|function| *function)
            .and_then(|function| NonNull::new(function as *mut c_void))
    };
    let loaded = (Exports::load(lookup), lookup(SIMULATOR_MARK).is_some());
    // It has threads and handlers by now and never really unmaps.
    std::mem::forget(library);
    Ok(loaded)
}

/// The whole chain: the outermost says only what failed, not why.
fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}
