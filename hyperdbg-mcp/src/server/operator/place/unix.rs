//! A socket in a folder that only its owner can enter.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use interprocess::local_socket::prelude::*;
use interprocess::local_socket::{GenericFilePath, Listener, ListenerOptions, Stream};

/// The folders in which doors of this user can be. Servers take the first; one that a client started may know fewer
/// than the operator's shell.
fn folders() -> io::Result<Vec<PathBuf>> {
    let strategy = etcetera::choose_base_strategy().map_err(io::Error::other)?;
    let last = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
    let bases = strategy.runtime_dir().into_iter().chain([last]);
    Ok(bases.map(|base| base.join("hyperdbg-mcp")).collect())
}

fn socket(folder: &Path, server: &str) -> PathBuf {
    folder.join(format!("approve-{server}.sock"))
}

/// Makes `folder`, or takes it as it is where nobody else can enter it.
fn own(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let metadata = fs::symlink_metadata(folder)?;
    let mine = metadata.uid() == nix::unistd::geteuid().as_raw();
    if !metadata.is_dir() || !mine || metadata.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!(
            "{} must be a folder of this user alone: chmod 700 it, or take it away",
            folder.display()
        )));
    }
    Ok(())
}

pub(in super::super) fn listen(server: &str) -> io::Result<Listener> {
    let mut failure = io::Error::other("there is no folder for it");
    for folder in folders()? {
        match own(&folder).and_then(|()| listen_in(&folder, server)) {
            Ok(listener) => return Ok(listener),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn listen_in(folder: &Path, server: &str) -> io::Result<Listener> {
    sweep(folder);
    let path = socket(folder, server);
    let options = ListenerOptions::new().name(path.as_path().to_fs_name::<GenericFilePath>()?);
    // Elsewhere the folder alone keeps others out.
    #[cfg(target_os = "linux")]
    let options = interprocess::os::unix::local_socket::ListenerOptionsExt::mode(options, 0o600);
    options.create_sync()
}

/// Takes away the sockets of servers that were killed.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_socket = path.extension().is_some_and(|extension| extension == "sock");
        let refuses = || {
            let name = path.as_path().to_fs_name::<GenericFilePath>().ok()?;
            Stream::connect(name).err().map(|error| error.kind())
        };
        if is_socket && refuses() == Some(io::ErrorKind::ConnectionRefused) {
            let _ = fs::remove_file(&path);
        }
    }
}

pub(in super::super) fn connect(server: &str) -> io::Result<Stream> {
    let mut failure = io::Error::from(io::ErrorKind::NotFound);
    for folder in folders()? {
        // A folder that someone else can enter may hold someone else's socket.
        let found = own(&folder).and_then(|()| connect_in(&folder, server));
        match found {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn connect_in(folder: &Path, server: &str) -> io::Result<Stream> {
    let path = socket(folder, server);
    Stream::connect(path.as_path().to_fs_name::<GenericFilePath>()?)
}
