//! Bit-fields in byte storage: what a compiler other than MSVC makes of a run of bit-fields.

/// The `width` bits (at most 64) from bit `start`; bit 0 is the least significant of the first byte.
#[cfg_attr(
    windows,
    allow(
        dead_code,
        reason = "records with byte storage exist on the other targets only"
    )
)]
pub(crate) fn get(storage: &[u8], start: usize, width: usize) -> u64 {
    (0..width).fold(0, |value, bit| {
        let at = start + bit;
        let set = storage.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
        value | u64::from(set) << bit
    })
}

/// Sets those bits to the low bits of `value`.
#[cfg_attr(
    windows,
    allow(
        dead_code,
        reason = "records with byte storage exist on the other targets only"
    )
)]
pub(crate) fn set(storage: &mut [u8], start: usize, width: usize, value: u64) {
    for bit in 0..width {
        let at = start + bit;
        if let Some(byte) = storage.get_mut(at / 8) {
            *byte &= !(1 << (at % 8));
            *byte |= u8::from(value >> bit & 1 == 1) << (at % 8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_across_bytes_are_read_and_written_alone() {
        let mut storage = [0xff, 0x00];
        set(&mut storage, 6, 4, 0b0101);
        assert_eq!(storage, [0b0111_1111, 0b0000_0001]);
        assert_eq!(get(&storage, 6, 4), 0b0101);
        assert_eq!(get(&storage, 0, 6), 0x3f);
    }
}
