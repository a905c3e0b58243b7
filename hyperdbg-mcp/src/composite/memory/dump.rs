//! A hex dump with an ASCII column.

use std::fmt::Write;

use super::read::Parts;

const ROW: u64 = 16;

/// The readable parts in rows of sixteen bytes; a hole is a line that names it.
pub(super) fn dump(parts: &Parts) -> String {
    let mut out = String::new();
    let mut holes = parts.holes.iter().peekable();
    for part in &parts.parts {
        while let Some(hole) = holes.next_if(|hole| hole.address < part.address) {
            let _ = writeln!(
                out,
                "{:016x}  -- {:#x} bytes cannot be read --",
                hole.address, hole.size
            );
        }
        let mut rest = part.bytes.as_slice();
        let mut address = part.address;
        while !rest.is_empty() {
            let length = usize::try_from(ROW - address % ROW).unwrap_or(1).min(rest.len());
            let (bytes, after) = rest.split_at(length);
            row(address, bytes, &mut out);
            address = address.wrapping_add(length as u64);
            rest = after;
        }
    }
    for hole in holes {
        let _ = writeln!(
            out,
            "{:016x}  -- {:#x} bytes cannot be read --",
            hole.address, hole.size
        );
    }
    out
}

fn row(address: u64, bytes: &[u8], out: &mut String) {
    let _ = write!(out, "{address:016x} ");
    for byte in bytes {
        let _ = write!(out, " {byte:02x}");
    }
    let width = usize::try_from(ROW).unwrap_or(bytes.len()) - bytes.len();
    let _ = write!(out, "{:width$}  ", "", width = width * 3);
    out.extend(bytes.iter().map(|byte| {
        if (0x20..0x7f).contains(byte) {
            *byte as char
        } else {
            '.'
        }
    }));
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::read::{Hole, Part};
    use super::*;

    #[test]
    fn rows_are_aligned_and_holes_are_named() {
        let parts = Parts {
            parts: vec![
                Part {
                    address: 0x100e,
                    bytes: b"AB\x00C".to_vec(),
                },
                Part {
                    address: 0x3000,
                    bytes: vec![0xff],
                },
            ],
            holes: vec![
                Hole {
                    address: 0x1012,
                    size: 0x1fee,
                },
                Hole {
                    address: 0x3001,
                    size: 1,
                },
            ],
            failure: None,
        };
        assert_eq!(
            dump(&parts),
            "000000000000100e  41 42                                            AB\n\
             0000000000001010  00 43                                            .C\n\
             0000000000001012  -- 0x1fee bytes cannot be read --\n\
             0000000000003000  ff                                               .\n\
             0000000000003001  -- 0x1 bytes cannot be read --\n"
        );
    }
}
