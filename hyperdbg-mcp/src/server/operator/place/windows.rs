//! A named pipe that only its owner can open.

use std::io;

use interprocess::local_socket::prelude::*;
use interprocess::local_socket::{GenericFilePath, Listener, ListenerOptions, Stream};
use interprocess::os::windows::local_socket::ListenerOptionsExt;
use interprocess::os::windows::security_descriptor::SecurityDescriptor;
use widestring::u16cstr;

fn pipe(server: &str) -> String {
    format!(r"\\.\pipe\hyperdbg-mcp-approve-{server}")
}

pub(in super::super) fn listen(server: &str) -> io::Result<Listener> {
    // Full access for the owner, inherited from nowhere, and nobody else.
    let rights = SecurityDescriptor::deserialize(u16cstr!("D:P(A;;GA;;;OW)"))?;
    let name = pipe(server);
    ListenerOptions::new()
        .name(name.as_str().to_fs_name::<GenericFilePath>()?)
        .security_descriptor(rights)
        .create_sync()
}

pub(in super::super) fn connect(server: &str) -> io::Result<Stream> {
    let name = pipe(server);
    Stream::connect(name.as_str().to_fs_name::<GenericFilePath>()?)
}
