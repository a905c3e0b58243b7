//! What calls the library stays on the thread that opened it.
use hyperdbg_mcp::engine::Library;

fn to_another_thread<T: Send>(_: T) {}

fn moved(library: Library) {
    to_another_thread(library);
}

fn shared(library: &Library) {
    to_another_thread(library);
}

fn main() {}
