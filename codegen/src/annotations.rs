//! The hand-written half of `api/`: read with the place of every value, so that a finding can point at it.
//!
//! This module knows the form of the files; what the values mean against the catalog is
//! [`resolve`](mod@crate::resolve)'s business.

mod model;
mod read;
mod reader;
mod sources;

pub use model::{
    Annotations, Body, ErrorEntry, Exclusion, Function, Group, Literal, Param, Returns, Role, ScalarRole,
    Size, Status, Tool,
};
pub use read::load;
pub use sources::{At, Place, Sources};
