//! Who may do what: access lists of files, and this process's own standing.

use std::io;
use std::path::Path;
use std::ptr::{addr_of, null_mut};

use windows_sys::Win32::Foundation::{GENERIC_ALL, LocalFree};
use windows_sys::Win32::Security::Authorization::{GetNamedSecurityInfoW, SE_FILE_OBJECT};
use windows_sys::Win32::Security::{
    ACCESS_ALLOWED_ACE, ACE_HEADER, ACL, CheckTokenMembership, CreateWellKnownSid, DACL_SECURITY_INFORMATION,
    GetAce, INHERIT_ONLY_ACE, IsWellKnownSid, PSECURITY_DESCRIPTOR, PSID, SECURITY_MAX_SID_SIZE,
    WELL_KNOWN_SID_TYPE, WinAnonymousSid, WinAuthenticatedUserSid, WinBuiltinAdministratorsSid,
    WinBuiltinGuestsSid, WinBuiltinUsersSid, WinInteractiveSid, WinLocalSid, WinNetworkSid, WinWorldSid,
};
use windows_sys::Win32::System::SystemServices::{ACCESS_ALLOWED_ACE_TYPE, ACCESS_ALLOWED_CALLBACK_ACE_TYPE};

use super::wide;

/// Groups that any account of the machine, or of the network, is in.
const MANY: [(WELL_KNOWN_SID_TYPE, &str); 8] = [
    (WinWorldSid, "Everyone"),
    (WinAuthenticatedUserSid, "Authenticated Users"),
    (WinBuiltinUsersSid, "Users"),
    (WinInteractiveSid, "Interactive"),
    (WinLocalSid, "Local"),
    (WinNetworkSid, "Network"),
    (WinAnonymousSid, "Anonymous"),
    (WinBuiltinGuestsSid, "Guests"),
];

/// Rights that a large group of users has on a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The group.
    pub(crate) who: &'static str,
    /// Access mask.
    pub(crate) rights: u32,
}

/// A security descriptor that the system allocated.
struct Descriptor(PSECURITY_DESCRIPTOR);

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: it came from a function whose documentation says to free it so, and is freed once.
        unsafe { LocalFree(self.0) };
    }
}

/// What large groups of users may do with a file or folder. Denials are not subtracted: too much caution is cheap.
pub(crate) fn grants_to_many(path: &Path) -> io::Result<Vec<Grant>> {
    let name = wide(path.as_os_str())?;
    let mut list: *mut ACL = null_mut();
    let mut descriptor: PSECURITY_DESCRIPTOR = null_mut();
    // SAFETY: the name ends with a NUL; the results are written to live variables, the others are not asked for.
    let status = unsafe {
        GetNamedSecurityInfoW(
            name.as_ptr(),
            SE_FILE_OBJECT,
            DACL_SECURITY_INFORMATION,
            null_mut(),
            null_mut(),
            &raw mut list,
            null_mut(),
            &raw mut descriptor,
        )
    };
    if status != 0 {
        return Err(io::Error::from_raw_os_error(status.cast_signed()));
    }
    let _descriptor = Descriptor(descriptor);
    if list.is_null() {
        // No access list at all: everything is allowed.
        return Ok(vec![Grant {
            who: "Everyone",
            rights: GENERIC_ALL,
        }]);
    }
    // SAFETY: the list lies in the descriptor, which lives to the end of this function.
    let entries = u32::from(unsafe { (*list).AceCount });
    let mut grants = Vec::new();
    for index in 0..entries {
        let mut entry = null_mut();
        // SAFETY: the list is alive and the index is below its count.
        if unsafe { GetAce(list, index, &raw mut entry) } == 0 || entry.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: every entry begins with a header.
        let header = unsafe { entry.cast::<ACE_HEADER>().read() };
        let allows =
            [ACCESS_ALLOWED_ACE_TYPE, ACCESS_ALLOWED_CALLBACK_ACE_TYPE].contains(&header.AceType.into());
        if !allows || u32::from(header.AceFlags) & INHERIT_ONLY_ACE != 0 {
            continue;
        }
        let entry = entry.cast::<ACCESS_ALLOWED_ACE>();
        // SAFETY: entries of these two types have this beginning: header, mask, then the SID.
        let rights = unsafe { (*entry).Mask };
        // SAFETY: only the address of the SID within the entry is taken.
        let sid: PSID = unsafe { addr_of!((*entry).SidStart) }.cast_mut().cast();
        for (kind, who) in MANY {
            // SAFETY: the SID of an entry of a list that the system made is valid.
            if unsafe { IsWellKnownSid(sid, kind) } != 0 {
                grants.push(Grant { who, rights });
            }
        }
    }
    Ok(grants)
}

/// Whether this process has an administrator's rights now (elevated, where Windows asks for consent).
pub(crate) fn is_administrator() -> io::Result<bool> {
    // Aligned as a SID wants it.
    let mut sid = [0_u32; SECURITY_MAX_SID_SIZE.div_ceil(4) as usize];
    let mut size_bytes = SECURITY_MAX_SID_SIZE;
    let place: PSID = sid.as_mut_ptr().cast();
    // SAFETY: the buffer is of the size that is said.
    if unsafe {
        CreateWellKnownSid(
            WinBuiltinAdministratorsSid,
            null_mut(),
            place,
            &raw mut size_bytes,
        )
    } == 0
    {
        return Err(io::Error::last_os_error());
    }
    let mut member = 0;
    // SAFETY: a valid SID; no token means the calling thread's.
    match unsafe { CheckTokenMembership(null_mut(), place, &raw mut member) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(member != 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_access_list_of_a_folder_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        assert!(grants_to_many(folder.path()).is_ok());
        let missing = folder.path().join("nothing");
        assert!(grants_to_many(&missing).is_err());
    }

    #[test]
    fn this_process_is_an_administrator_or_not() {
        assert!(is_administrator().is_ok());
    }
}
