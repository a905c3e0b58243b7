//! Records as bytes, and bytes as records: [`Plain`] says which types allow it, [`Packet`] does it.

use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A type that is nothing but its bytes.
///
/// # Safety
/// The type has no padding, every bit pattern is a valid value, and it holds no pointer.
pub unsafe trait Plain: Copy + 'static {
    /// The value whose bytes are all zero.
    fn zeroed() -> Self {
        // SAFETY: every bit pattern is valid, zero included.
        unsafe { std::mem::zeroed() }
    }
}

// SAFETY: integers have no padding and no invalid value.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for i8 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for i16 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for i64 {}
// SAFETY: an array has no bytes beside its elements'.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// One `T` on the heap, aligned for it, whose bytes can be seen. Travels as bytes.
#[derive(Clone)]
pub struct Packet<T: Plain>(Box<T>);

impl<T: Plain> Packet<T> {
    /// A packet of zeroes, as the library expects records that it fills.
    pub fn zeroed() -> Self {
        Self(Box::new(T::zeroed()))
    }

    /// A packet that holds `value`.
    pub fn new(value: T) -> Self {
        Self(Box::new(value))
    }

    /// The packet of these bytes; none where their number is not the record's size.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut packet = Self::zeroed();
        let target = packet.bytes_mut();
        (target.len() == bytes.len()).then(|| target.copy_from_slice(bytes))?;
        Some(packet)
    }

    /// The record's address, to be handed to the library.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        &raw mut *self.0
    }

    /// The record's bytes.
    pub fn bytes(&self) -> &[u8] {
        let start = (&raw const *self.0).cast::<u8>();
        // SAFETY: the box holds `size_of::<T>()` bytes, all initialised because `T` has no padding.
        unsafe { std::slice::from_raw_parts(start, size_of::<T>()) }
    }

    /// The record's bytes, to be changed.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let start = (&raw mut *self.0).cast::<u8>();
        // SAFETY: as in `bytes`; any bytes written make a valid `T`, and the box is borrowed for as long.
        unsafe { std::slice::from_raw_parts_mut(start, size_of::<T>()) }
    }

    /// The record.
    pub fn get(&self) -> &T {
        &self.0
    }

    /// The record, to be changed.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Plain> PartialEq for Packet<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl<T: Plain> Eq for Packet<T> {}

impl<T: Plain + fmt::Debug> fmt::Debug for Packet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl<T: Plain> Serialize for Packet<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.bytes())
    }
}

impl<'de, T: Plain> Deserialize<'de> for Packet<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Bytes(PhantomData))
    }
}

struct Bytes<T>(PhantomData<T>);

impl<T: Plain> de::Visitor<'_> for Bytes<T> {
    type Value = Packet<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", size_of::<T>())
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Packet::from_bytes(bytes).ok_or_else(|| E::invalid_length(bytes.len(), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_survives_the_wire_and_refuses_another_size() {
        let packet = Packet::new([0x1122_3344_u32, 5]);
        let wire = postcard::to_stdvec(&packet).unwrap();
        assert_eq!(wire.len(), 1 + 8);
        assert_eq!(postcard::from_bytes::<Packet<[u32; 2]>>(&wire).unwrap(), packet);
        assert!(postcard::from_bytes::<Packet<[u32; 3]>>(&wire).is_err());
        assert!(Packet::<u64>::from_bytes(&[0; 7]).is_none());
    }

    #[test]
    fn what_the_library_writes_is_seen() {
        let mut packet = Packet::<[u16; 2]>::zeroed();
        assert_eq!(packet.bytes(), [0; 4]);
        // SAFETY: the pointer is valid and aligned for as long as the packet is.
        unsafe { packet.as_mut_ptr().write([1, 2]) };
        assert_eq!(packet.get(), &[1, 2]);
        assert_eq!(packet.bytes(), [1u16.to_ne_bytes(), 2u16.to_ne_bytes()].concat());
    }
}
