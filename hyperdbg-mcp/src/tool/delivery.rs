//! A stop on its way to a caller: told once, and never lost where the caller goes away before it is told.

use crate::engine::Outcome;
use crate::generated::Reply;

type Back = Box<dyn FnOnce(Option<Outcome<Reply>>) + Send + Sync>;

/// The end of a resume, held by the call that will tell it. Dropped untold, it goes back to be told to the next.
pub struct Delivery {
    exec: u64,
    requested: bool,
    outcome: Option<Outcome<Reply>>,
    back: Option<Back>,
}

impl Delivery {
    /// The stop of resume number `exec`. `back` gets the outcome again where nobody was told of it, and nothing where
    /// somebody was.
    pub fn new(
        exec: u64,
        requested: bool,
        outcome: Outcome<Reply>,
        back: impl FnOnce(Option<Outcome<Reply>>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            exec,
            requested,
            outcome: Some(outcome),
            back: Some(Box::new(back)),
        }
    }

    /// Number of the resume that it ends.
    pub fn exec(&self) -> u64 {
        self.exec
    }

    /// Whether a break had been sent before it came.
    pub fn requested(&self) -> bool {
        self.requested
    }

    /// What was printed from the resume to the stop.
    pub fn text(&self) -> &[u8] {
        self.outcome.as_ref().map_or(&[], |outcome| outcome.text.bytes())
    }

    /// Counts as told from here on.
    pub fn tell(mut self) -> Option<Outcome<Reply>> {
        self.outcome.take()
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if let Some(back) = self.back.take() {
            back(self.outcome.take());
        }
    }
}

impl std::fmt::Debug for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Delivery")
            .field("exec", &self.exec)
            .field("requested", &self.requested)
            .finish_non_exhaustive()
    }
}
