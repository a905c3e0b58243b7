//! How results leave the program: bounded pages, captured data marked as such, the rest kept for reading on.

mod decode;
mod envelope;
mod escape;
mod filter;
mod lines;
mod render;
mod shown;
mod shrink;
mod store;
mod untrusted;

pub use filter::Filter;
pub use lines::{Lines, lines};
pub use render::{Rendered, render_error, render_output, render_text};
pub use shown::shown;
pub use store::{NotKept, OutputStore, Page};
pub use untrusted::{Captured, Untrusted};

/// Characters that one half of a result holds at most.
pub const PAGE_CHARS: usize = 24_000;
