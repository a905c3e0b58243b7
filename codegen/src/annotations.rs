//! The hand-written half of `api/`: read with the place of every value, so that a finding can point at it.
//!
//! This module knows the form of the files; what the values mean against the catalog is
//! [`resolve`](mod@crate::resolve)'s business.

use std::path::Path;

use crate::diagnostic::Diagnostics;

mod model;
mod read;
mod reader;
pub mod retired;
mod sources;

pub use model::{
    Annotations, Body, ErrorEntry, Exclusion, Function, Group, Literal, Param, Returns, Role, ScalarRole,
    Size, Status, Tool,
};
pub use read::load_all;
pub use retired::Retired;
pub use sources::{At, Place, Sources};

/// Reads `api/` without what is retired.
///
/// The annotations are as complete as the files allow; findings about their form come along, because
/// [`resolve`](crate::resolve::resolve) can still find more.
pub fn load(api: &Path) -> (Annotations, Diagnostics) {
    let (mut annotations, mut findings) = load_all(api);
    match Retired::load(api) {
        Ok(retired) => retired.apply(&mut annotations),
        Err(finding) => findings.push(*finding),
    }
    (annotations, findings)
}
