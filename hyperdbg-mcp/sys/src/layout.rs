//! Numbers and places that are others in the loaded library than in the SDK that this crate was made from: values are
//! translated on their way into a call and out of it.
//!
//! An empty [`Layout`] translates nothing, and costs nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::named::CEnum;
use crate::packet::{Packet, Plain};

/// What is otherwise in the loaded library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// By C name: every number that this crate knows, with the one of the library; none where it has no such
    /// enumerator.
    pub enums: BTreeMap<String, Vec<(i32, Option<i32>)>>,
    /// By C name.
    pub records: BTreeMap<String, Place>,
}

/// Where the parts of a record lie in the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Bytes of the record there.
    pub size_bytes: usize,
    /// What to copy.
    pub pieces: Vec<Piece>,
}

/// A run of bits; bit 0 is the least significant of a record's first byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// First bit in the record of this crate.
    pub here: usize,
    /// First bit in the library's.
    pub there: usize,
    /// Number of bits.
    pub bits: usize,
    /// The enum whose numbers are translated; its values have 32 bits.
    pub names: Option<String>,
}

impl Layout {
    /// Whether everything is as this crate was made.
    pub fn is_as_built(&self) -> bool {
        self.enums.is_empty() && self.records.is_empty()
    }

    /// The library's number of an enumerator.
    ///
    /// # Errors
    /// That the library has none, in words.
    pub fn number<E: CEnum>(&self, value: E) -> Result<E, String> {
        match self.number_there(E::C_NAME, value.value()) {
            Some(number) => Ok(E::from_value(number)),
            None => Err(absent(E::C_NAME, value.name(), value.value())),
        }
    }

    /// The enumerator that a number of the library stands for.
    ///
    /// A number that only the library knows stays as it is, but where this crate knows another enumerator by it, it
    /// becomes one below zero that nobody knows.
    #[must_use]
    pub fn meaning<E: CEnum>(&self, value: E) -> E {
        E::from_value(self.number_here(E::C_NAME, value.value()))
    }

    /// Makes a record ready to be handed to the library.
    ///
    /// # Errors
    /// That it holds an enumerator that the library does not have, in words.
    pub fn lend<T: Plain>(&self, record: &str, packet: Packet<T>) -> Result<Lent<'_, T>, String> {
        let Some(place) = self.records.get(record) else {
            return Ok(Lent { packet, there: None });
        };
        // Never smaller than what this crate knows: too much room does no harm.
        let room = place.size_bytes.max(size_of::<T>());
        let mut buffer = vec![0u128; room.div_ceil(size_of::<u128>())];
        let bytes = bytes_of(&mut buffer);
        for piece in &place.pieces {
            match &piece.names {
                None => copy(packet.bytes(), piece.here, bytes, piece.there, piece.bits),
                Some(names) => {
                    let value = read(packet.bytes(), piece.here, piece.bits);
                    let number = self
                        .number_there(names, value)
                        .ok_or_else(|| absent(names, None, value))?;
                    copy(&number.to_le_bytes(), 0, bytes, piece.there, piece.bits.min(32));
                }
            }
        }
        Ok(Lent {
            packet,
            there: Some(There {
                layout: self,
                place,
                buffer,
            }),
        })
    }

    fn number_there(&self, name: &str, value: i32) -> Option<i32> {
        let Some(numbers) = self.enums.get(name) else {
            return Some(value);
        };
        match numbers.iter().find(|(ours, _)| *ours == value) {
            Some((_, theirs)) => *theirs,
            None => Some(value),
        }
    }

    fn number_here(&self, name: &str, value: i32) -> i32 {
        let Some(numbers) = self.enums.get(name) else {
            return value;
        };
        if let Some((ours, _)) = numbers.iter().find(|(_, theirs)| *theirs == Some(value)) {
            return *ours;
        }
        let known = |value: i32| numbers.iter().any(|(ours, _)| *ours == value);
        if !known(value) {
            return value;
        }
        let mut stranger = if value < 0 { value } else { !value };
        while known(stranger) {
            stranger = stranger.wrapping_sub(1);
        }
        stranger
    }
}

fn absent(of: &str, name: Option<&str>, value: i32) -> String {
    match name {
        Some(name) => format!("the loaded library's {of} has no {name}"),
        None => format!("the loaded library's {of} has nothing for {value}"),
    }
}

/// A record while the library has it.
#[derive(Debug)]
pub struct Lent<'a, T: Plain> {
    packet: Packet<T>,
    there: Option<There<'a>>,
}

#[derive(Debug)]
struct There<'a> {
    layout: &'a Layout,
    place: &'a Place,
    buffer: Vec<u128>,
}

impl<T: Plain> Lent<'_, T> {
    /// What is handed to the library. Where that has other records, a record of its kind lies there, and no `T`.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        match &mut self.there {
            None => self.packet.as_mut_ptr(),
            Some(there) => there.buffer.as_mut_ptr().cast(),
        }
    }

    /// The record as this crate knows it, with what the library wrote.
    pub fn take_back(self) -> Packet<T> {
        let mut packet = self.packet;
        let Some(mut there) = self.there else {
            return packet;
        };
        let bytes = bytes_of(&mut there.buffer);
        for piece in &there.place.pieces {
            match &piece.names {
                None => copy(bytes, piece.there, packet.bytes_mut(), piece.here, piece.bits),
                Some(names) => {
                    let value = there
                        .layout
                        .number_here(names, read(bytes, piece.there, piece.bits));
                    copy(
                        &value.to_le_bytes(),
                        0,
                        packet.bytes_mut(),
                        piece.here,
                        piece.bits.min(32),
                    );
                }
            }
        }
        packet
    }
}

fn bytes_of(buffer: &mut [u128]) -> &mut [u8] {
    let length = size_of_val(buffer);
    // SAFETY: the same memory, all of it initialised; bytes have no alignment and no invalid value.
    unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr().cast(), length) }
}

/// Up to 32 bits as a number.
fn read(from: &[u8], start: usize, bits: usize) -> i32 {
    let mut bytes = [0; 4];
    copy(from, start, &mut bytes, 0, bits.min(32));
    i32::from_le_bytes(bytes)
}

/// Copies bits; what lies outside of either side is left out.
fn copy(from: &[u8], start: usize, to: &mut [u8], place: usize, bits: usize) {
    let aligned = [start, place, bits].iter().all(|bit| bit % 8 == 0);
    if aligned
        && let (Some(from), Some(to)) = (
            from.get(start / 8..(start + bits) / 8),
            to.get_mut(place / 8..(place + bits) / 8),
        )
    {
        to.copy_from_slice(from);
        return;
    }
    for bit in 0..bits {
        let (at, target) = (start + bit, place + bit);
        if let (Some(byte), Some(other)) = (from.get(at / 8), to.get_mut(target / 8)) {
            let mask = 1 << (target % 8);
            match byte >> (at % 8) & 1 {
                0 => *other &= !mask,
                _ => *other |= mask,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DEBUGGER_SHOW_MEMORY_STYLE, SMI_OPERATION_PACKETS, SMI_OPERATION_REQUEST_TYPE};

    fn layout() -> Layout {
        let style = vec![(7, Some(7)), (8, Some(10)), (9, None)];
        let smi = vec![(0, Some(5)), (1, Some(0))];
        let piece = |here: usize, there: usize, bits: usize, names: Option<&str>| Piece {
            here,
            there,
            bits,
            names: names.map(str::to_owned),
        };
        Layout {
            enums: BTreeMap::from([
                ("DEBUGGER_SHOW_MEMORY_STYLE".to_owned(), style),
                ("SMI_OPERATION_REQUEST_TYPE".to_owned(), smi),
            ]),
            records: BTreeMap::from([(
                "SMI_OPERATION_PACKETS".to_owned(),
                Place {
                    size_bytes: 64,
                    pieces: vec![
                        piece(0, 320, 32, Some("SMI_OPERATION_REQUEST_TYPE")),
                        piece(64, 0, 64, None),
                        // Not at a byte.
                        piece(128, 385, 32, None),
                    ],
                },
            )]),
        }
    }

    #[test]
    fn enumerators_keep_their_names_and_what_only_the_library_knows_takes_no_other() {
        let layout = layout();
        let style = DEBUGGER_SHOW_MEMORY_STYLE;
        assert_eq!(layout.number(style(8)), Ok(style(10)));
        assert_eq!(layout.number(style(7)), Ok(style(7)));
        assert_eq!(layout.meaning(style(10)), style(8));
        assert_eq!(
            layout.meaning(style(8)),
            style(-9),
            "8 is something else there, and 8 is known here"
        );
        assert_eq!(layout.meaning(style(77)), style(77));
        assert!(layout.number(style(9)).is_err());
        assert_eq!(Layout::default().number(style(9)), Ok(style(9)));
    }

    #[test]
    fn a_record_that_lies_otherwise_comes_back_as_it_was_written() {
        let mut packet = Packet::<SMI_OPERATION_PACKETS>::zeroed();
        packet.get_mut().SmiOperationType = SMI_OPERATION_REQUEST_TYPE(1);
        packet.get_mut().SmiCount = 0x1122_3344_5566_7788;
        packet.get_mut().KernelStatus = 0xffff_fffe;
        let layout = layout();
        let mut lent = layout.lend("SMI_OPERATION_PACKETS", packet.clone()).unwrap();
        let there = lent.as_mut_ptr().cast::<u8>();
        // SAFETY: the buffer has the 64 bytes that the layout says.
        let bytes = unsafe { std::slice::from_raw_parts_mut(there, 64) };
        assert_eq!(bytes[0..8], 0x1122_3344_5566_7788_u64.to_le_bytes());
        assert_eq!(bytes[40..44], 0_i32.to_le_bytes());
        assert_eq!(bytes[48..53], [0xfc, 0xff, 0xff, 0xff, 0x01]);
        bytes[40] = 5;
        bytes[0] = 1;
        let back = lent.take_back();
        assert_eq!(back.get().SmiOperationType, SMI_OPERATION_REQUEST_TYPE(0));
        assert_eq!(back.get().SmiCount, 0x1122_3344_5566_7701);
        assert_eq!(back.get().KernelStatus, 0xffff_fffe);
        let as_built = Layout::default();
        let lent = as_built.lend("SMI_OPERATION_PACKETS", packet.clone()).unwrap();
        assert_eq!(lent.take_back(), packet);
    }

    #[test]
    fn pieces_outside_of_a_record_are_left_out() {
        let mut layout = layout();
        let place = layout.records.get_mut("SMI_OPERATION_PACKETS").unwrap();
        place.size_bytes = 1;
        place.pieces.push(Piece {
            here: 1 << 30,
            there: 1 << 40,
            bits: 8,
            names: None,
        });
        let lent = layout
            .lend("SMI_OPERATION_PACKETS", Packet::<SMI_OPERATION_PACKETS>::zeroed())
            .unwrap();
        assert_eq!(lent.take_back().get().SmiCount, 0);
    }
}
