//! What else runs on this machine.

use std::collections::BTreeSet;
use std::io;
use std::mem::{offset_of, size_of};

use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SystemProcessInformation};
use windows_sys::Win32::Foundation::{RtlNtStatusToDosError, STATUS_INFO_LENGTH_MISMATCH};
use windows_sys::Win32::System::WindowsProgramming::SYSTEM_PROCESS_INFORMATION;

/// Room for the first try; grown while it does not suffice.
const FIRST_BYTES: u32 = 256 << 10;
/// A list longer than this is none.
const MOST_BYTES: u32 = 64 << 20;
/// Bytes of a record.
const RECORD: usize = size_of::<SYSTEM_PROCESS_INFORMATION>();

/// File names of the programs that run, in lower case.
pub(crate) fn running_programs() -> io::Result<BTreeSet<String>> {
    let mut room = FIRST_BYTES;
    loop {
        // In words, so that it is aligned for the records.
        let mut list = vec![0_u64; room as usize / size_of::<u64>()];
        let mut written = 0;
        // SAFETY: the buffer has room for that many bytes.
        let status = unsafe {
            NtQuerySystemInformation(
                SystemProcessInformation,
                list.as_mut_ptr().cast(),
                room,
                &raw mut written,
            )
        };
        match status {
            0.. => {
                let start = list.as_ptr() as usize;
                // SAFETY: the bytes of the words, all of which were set.
                let bytes =
                    unsafe { std::slice::from_raw_parts(list.as_ptr().cast(), size_of_val(list.as_slice())) };
                return Ok(names(bytes, start));
            }
            STATUS_INFO_LENGTH_MISMATCH if room < MOST_BYTES => room *= 4,
            // SAFETY: no pointers.
            _ => {
                return Err(io::Error::from_raw_os_error(
                    unsafe { RtlNtStatusToDosError(status) }.cast_signed(),
                ));
            }
        }
    }
}

/// The names in a list that the system wrote at `start`: records that lead to each other, with names that lie in the
/// list as well.
fn names(list: &[u8], start: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut at = 0_usize;
    while let Some(bytes) = list.get(at..).filter(|bytes| bytes.len() >= RECORD) {
        // SAFETY: a whole record lies there, as was just checked, and any bytes are one; where it begins does not matter.
        let record = unsafe {
            bytes
                .as_ptr()
                .cast::<SYSTEM_PROCESS_INFORMATION>()
                .read_unaligned()
        };
        let name = record.ImageName;
        let begins = (name.Buffer as usize).wrapping_sub(start);
        if let Some(name) = begins
            .checked_add(usize::from(name.Length))
            .and_then(|ends| list.get(begins..ends))
        {
            let units = name
                .chunks_exact(2)
                .map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
            let name: String = char::decode_utf16(units)
                .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect();
            found.insert(name.to_lowercase());
        }
        match record.NextEntryOffset as usize {
            0 => break,
            step => at = at.saturating_add(step),
        }
    }
    found
}

const _: () = assert!(offset_of!(SYSTEM_PROCESS_INFORMATION, ImageName) == 56);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_runs() {
        let own = std::env::current_exe().unwrap();
        let own = own.file_name().unwrap().to_str().unwrap().to_lowercase();
        let running = running_programs().unwrap();
        assert!(running.contains(&own), "{running:?}");
    }

    #[test]
    fn a_list_that_leads_out_of_itself_is_not_followed() {
        let mut list = vec![0_u8; RECORD];
        list[..4].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
        // Its name: a length and a place.
        list[56] = 0xfe;
        list[64] = 0x10;
        assert!(names(&list, 0).is_empty());
        assert!(names(&list[1..], 0).is_empty());
        assert!(names(&[], 0).is_empty());
        list[56] = 2;
        assert_eq!(names(&list, 0), BTreeSet::from(["\0".to_owned()]));
    }
}
