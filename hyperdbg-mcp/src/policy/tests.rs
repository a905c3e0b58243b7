//! What the classification promises.

use super::*;

mod context;
mod corpus;
mod properties;
