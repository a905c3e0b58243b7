//! Signals: the calling thread blocks SIGINT and SIGQUIT, and a thread that never ends waits for them.

use crate::session::Shared;
use std::sync::Weak;

pub(super) fn install(shared: Weak<Shared>) {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set, the other calls get the initialised set; the mask of
    // this thread is what the caller's library changes too, and children inherit it likewise.
    let set = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGINT);
        libc::sigaddset(set.as_mut_ptr(), libc::SIGQUIT);
        let set = set.assume_init();
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        set
    };
    let name = "simulator-signals".to_owned();
    // Without the thread the signals stay blocked, and a debuggee cannot be broken into; there is
    // nobody to tell at this point.
    let _ = std::thread::Builder::new().name(name).spawn(move || {
        loop {
            let mut signal = 0;
            // SAFETY: both pointers are valid for the call, and the thread inherited the blocked mask.
            let failed = unsafe { libc::sigwait(&raw const set, &raw mut signal) } != 0;
            if failed {
                return;
            }
            super::interrupted(&shared);
        }
    });
}
