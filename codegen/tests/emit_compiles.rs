//! The golden declarations compile: layouts are checked by the compiler, bit-fields and unions by hand.
#![allow(unreachable_pub, reason = "the declarations are public where they are used")]

#[allow(missing_docs, dead_code)]
#[path = "../../hyperdbg-mcp/sys/src/bits.rs"]
mod bits;
#[path = "emit/demo/hyperdbg-mcp/sys/src/generated/mod.rs"]
#[rustfmt::skip]
#[allow(dead_code)]
mod generated;

/// What the declarations take from their crate.
mod named {
    pub(crate) use hyperdbg_sys::named::*;
}
/// What the declarations take from their crate.
mod packet {
    pub(crate) use hyperdbg_sys::packet::*;
}

use generated::{Exports, KIND, PACKET, PAIR, VIEW};
use named::CEnum;
use packet::{Packet, Plain};

#[test]
fn a_bit_field_lies_where_c_puts_it() {
    let mut packet = Packet::<PACKET>::zeroed();
    packet.get_mut().set_Flag(1);
    packet.get_mut().set_Level(0b101);
    packet.get_mut().Tail = 0xee;
    assert_eq!(packet.bytes()[24], 0b1011);
    assert_eq!(packet.get().Level(), 5);
    // The two ABIs disagree about the byte after the bit-fields.
    let tail = if cfg!(windows) { 28 } else { 25 };
    assert_eq!(packet.bytes()[tail], 0xee);
    packet.get_mut().set_Level(0xff);
    assert_eq!(
        (packet.get().Flag(), packet.get().Level(), packet.get().Tail),
        (1, 7, 0xee)
    );
}

#[test]
fn a_packed_record_has_no_padding() {
    assert_eq!((size_of::<PAIR>(), align_of::<PAIR>()), (5, 1));
    let pair = PAIR {
        Low: 1,
        High: 0x0203_0405,
    };
    assert_eq!(Packet::new(pair).bytes(), [1, 5, 4, 3, 2]);
    assert_eq!(format!("{pair:?}"), "PAIR { Low: 1, High: 33752069 }");
}

#[test]
fn a_union_shows_the_same_bytes_in_every_member() {
    let mut view = VIEW::zeroed();
    view.All = 0x8000_0000_0000_1234;
    let bits = view.get_anonymous_0();
    assert_eq!((bits.Cycles(), bits.Valid()), (0x1234, 1));
}

#[test]
fn enumerators_lose_their_shared_prefix_and_unknown_values_keep_their_number() {
    assert_eq!(KIND::from_short_name("far"), Some(KIND::KIND_FAR));
    assert_eq!(KIND(-1).short_name(), Some("nowhere"));
    assert_eq!(KIND(17).to_string(), "KIND(17)");
}

#[test]
fn nothing_is_loaded_from_a_library_without_symbols() {
    let exports = Exports::load(|_| None);
    assert_eq!(exports.missing(), Exports::SYMBOLS);
}
