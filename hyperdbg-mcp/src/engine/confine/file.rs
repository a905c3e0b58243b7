//! Files and folders that only this user can use. A file would otherwise take over what its folder grants.

use std::fs::File;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle};
use std::path::Path;
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::{
    ERROR_ALREADY_EXISTS, GENERIC_READ, GENERIC_WRITE, GetLastError, INVALID_HANDLE_VALUE, LocalFree,
};
use windows_sys::Win32::Security::Authorization::{GetSecurityInfo, SE_FILE_OBJECT};
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, OWNER_SECURITY_INFORMATION, PROTECTED_DACL_SECURITY_INFORMATION,
    SetKernelObjectSecurity,
};
use windows_sys::Win32::Storage::FileSystem::{
    CreateDirectoryW, CreateFileW, FILE_ATTRIBUTE_NORMAL, FILE_SHARE_DELETE, FILE_SHARE_READ,
    FILE_SHARE_WRITE, OPEN_ALWAYS, READ_CONTROL, WRITE_DAC,
};

use super::descriptor::{sid_text, user_sid};
use super::{MAX_PATH, OwnerOnly, for_system};

/// A folder's name must leave room for a short file name in it.
const MAX_FOLDER: usize = MAX_PATH - 12;

/// Who may own a file of this user: administrators in whose name an elevated process makes files, and the system.
const TRUSTED: [&str; 2] = ["S-1-5-32-544", "S-1-5-18"];

fn units(path: &Path, limit: usize) -> io::Result<Vec<u16>> {
    let mut units: Vec<u16> = for_system(path, limit).as_os_str().encode_wide().collect();
    if units.contains(&0) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path holds a NUL",
        ));
    }
    units.push(0);
    Ok(units)
}

/// Opens or makes a file for reading and writing. One that was there before is taken from whoever else could use it,
/// except who has it open.
///
/// # Errors
/// What the system refuses; also when the file belongs to another user, who could take the access back.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let owner = OwnerOnly::of_file()?;
    let attributes = owner.attributes();
    let name = units(path, MAX_PATH)?;
    // SAFETY: the terminated name and the attributes live through the call.
    let handle = unsafe {
        CreateFileW(
            name.as_ptr(),
            GENERIC_READ | GENERIC_WRITE | READ_CONTROL | WRITE_DAC,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            &raw const attributes,
            OPEN_ALWAYS,
            FILE_ATTRIBUTE_NORMAL,
            null_mut(),
        )
    };
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: no pointers.
    let existed = unsafe { GetLastError() } == ERROR_ALREADY_EXISTS;
    // SAFETY: a fresh handle that nothing else owns.
    let file = unsafe { File::from_raw_handle(handle) };
    if existed {
        restrict(&file, &owner)?;
    }
    Ok(file)
}

/// Gives a file that was there before the access list of `owner`.
fn restrict(file: &File, owner: &OwnerOnly) -> io::Result<()> {
    let owned_by = owner_of(file)?;
    if owned_by != user_sid()? && !TRUSTED.contains(&owned_by.as_str()) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("it belongs to another user ({owned_by})"),
        ));
    }
    set_list(file, owner)
        .map_err(|error| io::Error::new(error.kind(), format!("it cannot be kept to its owner: {error}")))
}

fn set_list(file: &File, owner: &OwnerOnly) -> io::Result<()> {
    // SAFETY: an open file, and a descriptor that lives through the call.
    let set = unsafe {
        SetKernelObjectSecurity(
            file.as_raw_handle(),
            DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
            owner.as_ptr(),
        )
    };
    match set {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The owner of an open file, in the form `S-1-…`.
fn owner_of(file: &File) -> io::Result<String> {
    let (mut owner, mut descriptor) = (null_mut(), null_mut());
    // SAFETY: an open file, and places for the answers; the others are not asked for.
    let status = unsafe {
        GetSecurityInfo(
            file.as_raw_handle(),
            SE_FILE_OBJECT,
            OWNER_SECURITY_INFORMATION,
            &raw mut owner,
            null_mut(),
            null_mut(),
            null_mut(),
            &raw mut descriptor,
        )
    };
    if status != 0 {
        return Err(io::Error::from_raw_os_error(status.cast_signed()));
    }
    let text = match owner.is_null() {
        true => Err(io::Error::other("it has no owner")),
        false => sid_text(owner),
    };
    // SAFETY: the call allocated it, and the SID in it is not used any more.
    unsafe { LocalFree(descriptor) };
    text
}

/// Makes a folder and those above it. Those that are there stay as they are.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let owner = OwnerOnly::of_folder()?;
    let attributes = owner.attributes();
    let name = units(path, MAX_FOLDER)?;
    // SAFETY: the terminated name and the attributes live through the call.
    let make = || match unsafe { CreateDirectoryW(name.as_ptr(), &raw const attributes) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    };
    let made = match make() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_folder(path.parent().ok_or(error)?)?;
            make()
        }
        made => made,
    };
    match made {
        // Somebody else was faster.
        Err(_) if path.is_dir() => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use windows_sys::Win32::Security::Authorization::{
        ConvertSecurityDescriptorToStringSecurityDescriptorW, GetNamedSecurityInfoW, SDDL_REVISION_1,
    };

    use super::*;
    use crate::engine::system::grants_to_many;

    /// Owner and access list of a file or folder, as text.
    fn access(path: &Path) -> String {
        let wanted = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
        let name = units(path, MAX_PATH).unwrap();
        let (mut descriptor, mut text, mut length) = (null_mut(), null_mut(), 0);
        // SAFETY: each call gets a terminated name or a live descriptor, and places for what it allocates, which is
        // freed last.
        unsafe {
            let status = GetNamedSecurityInfoW(
                name.as_ptr(),
                SE_FILE_OBJECT,
                wanted,
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                &raw mut descriptor,
            );
            assert_eq!(status, 0);
            assert_ne!(
                ConvertSecurityDescriptorToStringSecurityDescriptorW(
                    descriptor,
                    SDDL_REVISION_1,
                    wanted,
                    &raw mut text,
                    &raw mut length
                ),
                0
            );
            let units = std::slice::from_raw_parts(text, length as usize);
            let shown = String::from_utf16_lossy(units).trim_end_matches('\0').to_owned();
            LocalFree(text.cast());
            LocalFree(descriptor);
            shown
        }
    }

    /// Wine makes access lists from Unix permissions: it adds the system, and forgets that a list is protected.
    fn on_wine() -> bool {
        windows_registry::CURRENT_USER.open(r"Software\Wine").is_ok()
    }

    #[track_caller]
    fn is_mine_alone(path: &Path) {
        let shown = access(path);
        assert_eq!(grants_to_many(path).unwrap(), [], "{shown}");
        let user = user_sid().unwrap();
        assert!(shown.starts_with(&format!("O:{user}")), "{shown}");
        let (_, list) = shown.split_once("D:").unwrap();
        let (flags, entries) = list.split_once('(').unwrap();
        let of_others: Vec<&str> = entries
            .split('(')
            .filter(|entry| !entry.ends_with(&format!(";{user})")))
            .collect();
        match on_wine() {
            true => assert!(of_others.iter().all(|entry| entry.ends_with(";SY)")), "{shown}"),
            false => {
                assert_eq!(of_others, [""; 0], "{shown}");
                assert!(flags.starts_with('P'), "something is inherited: {shown}");
            }
        }
    }

    #[test]
    fn a_new_file_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit ü.jsonl");
        let mut file = open_file(&path).unwrap();
        file.write_all(b"x").unwrap();
        is_mine_alone(&path);
        drop(file);
        assert_eq!(std::fs::read(&path).unwrap(), b"x");
        assert_eq!(
            open_file(&path).unwrap().metadata().unwrap().len(),
            1,
            "it is not cut"
        );
    }

    #[test]
    fn a_file_that_was_open_to_others_is_taken_from_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let file = open_file(&path).unwrap();
        let everybody = OwnerOnly::from_text("D:(A;;FA;;;WD)").unwrap();
        set_list(&file, &everybody).unwrap();
        assert_ne!(grants_to_many(&path).unwrap(), []);
        drop(file);
        open_file(&path).unwrap();
        is_mine_alone(&path);
    }

    #[test]
    fn new_folders_are_their_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a b").join("ü");
        make_folder(&below).unwrap();
        make_folder(&below).unwrap();
        is_mine_alone(&below);
        is_mine_alone(below.parent().unwrap());
        assert!(make_folder(&folder.path().join("a?b")).is_err());
    }
}
