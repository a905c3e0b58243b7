//! Raw declarations of libhyperdbg: records, enums and the table of its exports.
//!
//! Everything in here that names something of the SDK is generated from the catalog and keeps its C name; the rest
//! ([`packet`], [`named`], [`marshal`], [`layout`]) is what makes those declarations usable without guessing.

mod bits;
pub mod layout;
pub mod marshal;
pub mod named;
pub mod packet;

#[rustfmt::skip]
mod generated;

pub use generated::*;
pub use layout::Layout;
pub use named::{CEnum, Named};
pub use packet::{Packet, Plain};
