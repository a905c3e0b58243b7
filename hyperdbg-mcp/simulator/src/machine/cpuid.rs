//! What the simulated processor says about itself.

/// The vendor string.
pub const VENDOR: &str = "GenuineIntel";
/// The brand string.
pub const BRAND: &str = "HyperDbg Simulated CPU @ 1.00GHz";
/// Bits of CPUID.1:ECX.
pub const FEATURES_ECX: u32 = 0x7ffa_fbbf;
/// Bits of CPUID.1:EDX.
pub const FEATURES_EDX: u32 = 0xbfeb_fbff;
/// Bits of CPUID.7:EBX.
pub const EXTENDED_EBX: u32 = 0x029c_67af;

/// EAX, EBX, ECX and EDX of a leaf. Unknown leaves are zero.
#[must_use]
pub fn query(leaf: u32, subleaf: u32) -> [u32; 4] {
    let word = |text: &str, at: usize| {
        let mut raw = [0; 4];
        let bytes = text.as_bytes();
        for (index, slot) in raw.iter_mut().enumerate() {
            *slot = bytes.get(at + index).copied().unwrap_or(0);
        }
        u32::from_le_bytes(raw)
    };
    match (leaf, subleaf) {
        (0, _) => [0x16, word(VENDOR, 0), word(VENDOR, 8), word(VENDOR, 4)],
        (1, _) => [0x000a_0671, 0x0002_0800, FEATURES_ECX, FEATURES_EDX],
        (7, 0) => [0, EXTENDED_EBX, 0, 0],
        (0x8000_0000, _) => [0x8000_0008, 0, 0, 0],
        (0x8000_0001, _) => [0, 0, 0x121, 0x2c10_0800],
        (0x8000_0002..=0x8000_0004, _) => {
            let at = (leaf - 0x8000_0002) as usize * 16;
            [
                word(BRAND, at),
                word(BRAND, at + 4),
                word(BRAND, at + 8),
                word(BRAND, at + 12),
            ]
        }
        (0x8000_0008, _) => [0x3027, 0, 0, 0],
        _ => [0; 4],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vendor_is_spread_over_ebx_edx_ecx() {
        let [_, ebx, ecx, edx] = query(0, 0);
        let text: Vec<u8> = [ebx, edx, ecx]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        assert_eq!(text, VENDOR.as_bytes());
        assert_ne!(query(1, 0)[2] & (1 << 5), 0, "the simulated processor has VMX");
        assert_eq!(query(0x1234, 0), [0; 4]);
    }
}
