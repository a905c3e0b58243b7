//! Safety tiers, as values and as types: what a tool may do is checked by the compiler.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a call can do to the target, in ascending order of harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Observes only.
    Read,
    /// Changes the debugger's or the target's state in a way that can be undone: breakpoints, stepping, resuming.
    State,
    /// Can destroy the target's state or the machine: writes, driver loading, arbitrary commands.
    Destructive,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::State => "state",
            Self::Destructive => "destructive",
        })
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Read {}
    impl Sealed for super::State {}
    impl Sealed for super::Destructive {}
}

/// A [`Tier`] as a type.
pub trait TierType: sealed::Sealed + Send + Sync + 'static {
    /// The tier's value.
    const TIER: Tier;
}

/// The type of [`Tier::Read`].
#[derive(Debug, Clone, Copy)]
pub struct Read;
/// The type of [`Tier::State`].
#[derive(Debug, Clone, Copy)]
pub struct State;
/// The type of [`Tier::Destructive`].
#[derive(Debug, Clone, Copy)]
pub struct Destructive;

impl TierType for Read {
    const TIER: Tier = Tier::Read;
}
impl TierType for State {
    const TIER: Tier = Tier::State;
}
impl TierType for Destructive {
    const TIER: Tier = Tier::Destructive;
}

/// Says that a tool of tier `Self` may call a function of tier `X`.
#[diagnostic::on_unimplemented(
    message = "a tool of tier `{Self}` may not call a function of tier `{X}`",
    label = "this function needs tier `{X}`",
    note = "raise the tool's tier, or use a function that the tool's tier permits"
)]
pub trait Permits<X: TierType>: TierType {}

impl Permits<Read> for Read {}
impl Permits<Read> for State {}
impl Permits<State> for State {}
impl Permits<Read> for Destructive {}
impl Permits<State> for Destructive {}
impl Permits<Destructive> for Destructive {}
