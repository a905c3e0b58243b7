//! Named pipes between supervisor and worker.

use std::io;
use std::os::windows::io::AsRawHandle;

use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
use windows_sys::Win32::System::Pipes::GetNamedPipeClientProcessId;

use super::OwnerOnly;

/// The supervisor's end of a pipe.
pub(crate) type Pipe = NamedPipeServer;

/// Makes the only instance of a pipe, for one client of this user on this machine. `outbound` pipes carry what the
/// supervisor sends.
pub(crate) fn create_pipe(name: &str, outbound: bool) -> io::Result<Pipe> {
    let owner = OwnerOnly::new()?;
    let mut attributes = owner.attributes();
    let mut options = ServerOptions::new();
    options
        .access_outbound(outbound)
        .access_inbound(!outbound)
        .first_pipe_instance(true)
        .reject_remote_clients(true)
        .max_instances(1);
    // SAFETY: the attributes and the descriptor in them live through the call.
    unsafe { options.create_with_security_attributes_raw(name, (&raw mut attributes).cast()) }
}

/// The process that opened the other end.
pub(crate) fn client_pid(pipe: &Pipe) -> io::Result<u32> {
    let mut pid = 0;
    // SAFETY: a handle of a pipe, and a place for the number.
    match unsafe { GetNamedPipeClientProcessId(pipe.as_raw_handle(), &raw mut pid) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(pid),
    }
}

#[cfg(test)]
mod tests {
    use super::super::descriptor::user_sid;
    use super::super::random_name;
    use super::*;

    use std::ptr::null_mut;

    use windows_sys::Win32::Foundation::LocalFree;
    use windows_sys::Win32::Security::Authorization::{
        ConvertSecurityDescriptorToStringSecurityDescriptorW, GetSecurityInfo, SDDL_REVISION_1,
        SE_KERNEL_OBJECT,
    };
    use windows_sys::Win32::Security::{DACL_SECURITY_INFORMATION, OWNER_SECURITY_INFORMATION};

    /// Owner and access list of a pipe, as text.
    fn access(pipe: &Pipe) -> String {
        let wanted = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
        let mut descriptor = null_mut();
        let mut text = null_mut();
        let mut length = 0;
        // SAFETY: each call gets a live handle or descriptor and places for what it allocates, which is freed last.
        unsafe {
            assert_eq!(
                GetSecurityInfo(
                    pipe.as_raw_handle(),
                    SE_KERNEL_OBJECT,
                    wanted,
                    null_mut(),
                    null_mut(),
                    null_mut(),
                    null_mut(),
                    &raw mut descriptor
                ),
                0
            );
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

    #[tokio::test]
    async fn only_this_user_may_open_a_pipe_and_only_once() {
        let name = format!(r"\\.\pipe\{}", random_name().unwrap());
        let pipe = create_pipe(&name, true).unwrap();
        let (user, shown) = (user_sid().unwrap(), access(&pipe));
        assert!(shown.starts_with(&format!("O:{user}")), "{shown}");
        let (_, list) = shown.split_once("D:").unwrap();
        assert!(list.starts_with('P'), "nothing is inherited: {shown}");
        assert_eq!(list.matches('(').count(), 1, "{shown}");
        assert!(list.ends_with(&format!(";;;{user})")), "{shown}");
        assert!(
            create_pipe(&name, true).is_err(),
            "a second server took the name over"
        );
    }

    #[tokio::test]
    async fn the_client_of_a_pipe_is_known() {
        let name = format!(r"\\.\pipe\{}", random_name().unwrap());
        let pipe = create_pipe(&name, true).unwrap();
        let client = std::fs::File::open(&name).unwrap();
        pipe.connect().await.unwrap();
        assert_eq!(client_pid(&pipe).unwrap(), std::process::id());
        drop(client);
    }
}
