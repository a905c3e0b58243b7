//! What the classification promises.

use super::*;

mod smuggling;
