//! Typed calls into HyperDbg: [`Engine`] is what a tool holds, the worker process is what answers.

mod capture;
#[cfg(windows)]
pub(crate) mod confine;
mod library;
mod locale;
mod outbox;
mod platform;
pub(crate) mod protocol;
#[cfg(windows)]
pub(crate) mod system;
mod tail;
pub mod worker;

use std::future::Future;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::generated::{Call, Reply};
use crate::output::Untrusted;
use crate::tier::TierType;
use crate::tool::ToolError;

pub use library::Library;
pub(crate) use locale::active_code_page;
pub(crate) use tail::TailReader;

/// Where the functions come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LibrarySource {
    /// A shared library, by absolute path.
    Path(PathBuf),
    /// The simulator that is linked into this program.
    Embedded,
}

/// What one call gave back: the typed reply, and what the library printed meanwhile.
#[derive(Debug, Clone)]
pub struct Outcome<R> {
    /// Return value and output parameters.
    pub reply: R,
    /// What the text callback delivered during the call, byte by byte.
    pub text: Untrusted,
    /// Bytes of text that were not kept because the call printed more than the bound; they are missing from the
    /// middle of `text`, never from its end.
    pub text_lost: u64,
    /// Whether some of the text came from another thread than the calling one: it can be an event's output.
    pub foreign_text: bool,
    /// Time that the call spent in the library.
    pub elapsed: Duration,
}

impl<R> Outcome<R> {
    /// An outcome whose text is complete and came from the calling thread.
    pub fn new(reply: R, text: impl Into<Untrusted>, elapsed: Duration) -> Self {
        Self {
            reply,
            text: text.into(),
            text_lost: 0,
            foreign_text: false,
            elapsed,
        }
    }

    /// The same outcome with another reply.
    pub fn try_map<S, E>(self, map: impl FnOnce(R) -> Result<S, E>) -> Result<Outcome<S>, E> {
        Ok(Outcome {
            reply: map(self.reply)?,
            text: self.text,
            text_lost: self.text_lost,
            foreign_text: self.foreign_text,
            elapsed: self.elapsed,
        })
    }
}

/// A boxed future, as dynamic links need it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that can carry a [`Call`] to a library and bring the reply back: a worker process, or a fake in tests.
pub trait Link: Send + Sync + 'static {
    /// Makes one call. `deadline` counts from now and includes waiting for the library to be free.
    fn call(&self, call: Call, deadline: Duration) -> BoxFuture<'_, Result<Outcome<Reply>, ToolError>>;
}

/// The capability to call the functions that tier `T` permits; the methods are generated.
pub struct Engine<T> {
    link: Arc<dyn Link>,
    tier: PhantomData<fn() -> T>,
}

impl<T: TierType> Engine<T> {
    /// A capability over `link`.
    pub(crate) fn new(link: Arc<dyn Link>) -> Self {
        Self {
            link,
            tier: PhantomData,
        }
    }

    /// Makes one call with the function's own deadline.
    pub(crate) async fn invoke(&self, call: Call) -> Result<Outcome<Reply>, ToolError> {
        let deadline = call.function().deadline;
        self.link.call(call, deadline).await
    }
}
