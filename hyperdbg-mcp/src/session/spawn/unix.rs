//! Unix: the channel is one inherited end of a socket pair, the worker leads a process group of its own.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

use command_fds::CommandFdExt;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use super::Started;
use crate::engine::{LibrarySource, TailReader};

pub(in crate::session) type Reader = OwnedReadHalf;
pub(in crate::session) type Writer = OwnedWriteHalf;

/// What ends with the worker: its process group, which needs no keeping.
#[derive(Debug)]
pub(in crate::session) struct Family;

pub(super) async fn start(mut command: Command, library: &LibrarySource) -> io::Result<Started> {
    let (ours, theirs) = StdStream::pair()?;
    ours.set_nonblocking(true)?;
    let (reader, writer) = UnixStream::from_std(ours)?.into_split();
    let theirs = OwnedFd::from(theirs);
    command.arg("--channel").arg(theirs.as_raw_fd().to_string());
    let mut theirs = vec![theirs];
    let (tail, ring) = TailReader::create()?;
    if let Some(ring) = ring {
        command.arg("--tail").arg(ring.as_raw_fd().to_string());
        theirs.push(ring);
    }
    command.process_group(0);
    if let Some(path) = search_path(library) {
        command.env("LD_LIBRARY_PATH", path);
    }
    command.as_std_mut().preserved_fds(theirs);
    Ok(Started {
        child: spawn_on_lasting_thread(command).await?,
        reader,
        writer,
        tail,
        family: Family,
    })
}

/// The library's folder, then what was there. Empty and relative entries would mean the current directory.
fn search_path(library: &LibrarySource) -> Option<OsString> {
    let LibrarySource::Path(path) = library else {
        return None;
    };
    let folder = path.parent()?.to_owned();
    let inherited = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let inherited = std::env::split_paths(&inherited).filter(|entry| entry.is_absolute());
    // A folder with a colon in its name cannot be listed; the library is still loaded by its own path.
    std::env::join_paths(std::iter::once::<PathBuf>(folder).chain(inherited)).ok()
}

type Job = Box<dyn FnOnce() + Send>;

/// Spawns on a thread that lives as long as the process: Linux ties the parent-death signal to the thread that forked,
/// and threads of an asynchronous runtime come and go.
async fn spawn_on_lasting_thread(mut command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<Sender<Job>> = OnceLock::new();
    let gone = || io::Error::other("the thread that starts workers is gone");
    let spawner = match SPAWNER.get() {
        Some(spawner) => spawner,
        None => {
            let (sender, jobs) = channel::<Job>();
            std::thread::Builder::new()
                .name("worker-spawner".to_owned())
                .spawn(move || jobs.into_iter().for_each(|job| job()))?;
            // Losing the race against another caller ends this thread before it has spawned anything.
            SPAWNER.get_or_init(|| sender)
        }
    };
    let runtime = tokio::runtime::Handle::current();
    let (answer, answered) = oneshot::channel();
    let job: Job = Box::new(move || {
        let _runtime = runtime.enter();
        // A child that nobody waits for any more is killed as it is dropped.
        let _ = answer.send(command.spawn());
    });
    spawner.send(job).map_err(|_| gone())?;
    answered.await.map_err(|_| gone())?
}

/// Kills the worker and whatever it started. The caller has not reaped it yet.
pub(in crate::session) fn kill(child: &mut Child, _family: &Family) {
    if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) {
        let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
    }
    let _ = child.start_kill();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_searched_beside_the_library_and_never_in_the_current_directory() {
        let path = search_path(&LibrarySource::Path("/opt/hyper dbg/libhyperdbg.so".into())).unwrap();
        let entries: Vec<PathBuf> = std::env::split_paths(&path).collect();
        assert_eq!(entries[0], PathBuf::from("/opt/hyper dbg"));
        assert!(entries.iter().all(|entry| entry.is_absolute()), "{entries:?}");
        assert_eq!(search_path(&LibrarySource::Embedded), None);
    }
}
