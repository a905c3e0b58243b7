//! Access control lists.

use std::path::Path;

use windows_sys::Win32::Foundation::{GENERIC_ALL, GENERIC_WRITE};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_ADD_FILE, FILE_APPEND_DATA, FILE_DELETE_CHILD, FILE_WRITE_DATA, WRITE_DAC, WRITE_OWNER,
};

use super::Part;
use crate::engine::system;

/// Rights with which one can give oneself any other.
const TAKE_OVER: u32 = WRITE_DAC | WRITE_OWNER | GENERIC_ALL;

/// Which large group of users may write, and what to do about it.
pub(super) fn inspect(place: &Path, part: Part) -> Result<Option<(String, String)>, String> {
    let harmful = match part {
        Part::File => FILE_WRITE_DATA | FILE_APPEND_DATA | DELETE | GENERIC_WRITE | TAKE_OVER,
        Part::Folder => FILE_ADD_FILE | FILE_DELETE_CHILD | DELETE | GENERIC_WRITE | TAKE_OVER,
        // To rename a folder one needs DELETE on it, or DELETE_CHILD on the one above.
        Part::Above => FILE_DELETE_CHILD | DELETE | TAKE_OVER,
    };
    let grants = system::grants_to_many(place).map_err(|error| error.to_string())?;
    let open = grants.into_iter().find(|grant| grant.rights & harmful != 0);
    // What lies in a folder inherits, a file passes nothing on.
    let inherit = match part {
        Part::File => "",
        Part::Folder | Part::Above => "(OI)(CI)",
    };
    Ok(open.map(|grant| {
        (
            format!("{} (rights {:#010x})", grant.who, grant.rights),
            // Folders made in the root of a drive inherit write access for every user of the machine. The numbers stand
            // for the system, administrators and users, in any language.
            format!(
                "icacls \"{}\" /inheritance:r /grant:r *S-1-5-18:{inherit}F *S-1-5-32-544:{inherit}F \
                 *S-1-5-32-545:{inherit}RX",
                place.display()
            ),
        )
    }))
}

/// Owners are not looked at here: the access list says all.
pub(super) fn owner_note(_place: &Path) -> Option<String> {
    None
}
