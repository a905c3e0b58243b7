//! Typed calls into HyperDbg: [`Engine`] is what a tool holds, the worker process is what answers.

#[cfg(windows)]
pub(crate) mod system;

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::generated::{Call, Reply};
use crate::tier::TierType;
use crate::tool::ToolError;

/// What one call gave back: the typed reply, and what the library printed meanwhile.
#[derive(Debug, Clone)]
pub struct Outcome<R> {
    /// Return value and output parameters.
    pub reply: R,
    /// Everything that the text callback delivered during the call, as raw bytes of the library.
    pub text: Vec<u8>,
    /// Time that the call spent in the library.
    pub elapsed: Duration,
}

impl<R> Outcome<R> {
    /// The same outcome with another reply.
    pub fn try_map<S, E>(self, map: impl FnOnce(R) -> Result<S, E>) -> Result<Outcome<S>, E> {
        Ok(Outcome {
            reply: map(self.reply)?,
            text: self.text,
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
