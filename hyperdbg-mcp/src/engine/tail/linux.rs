//! Linux: an anonymous file, whose descriptor the worker inherits.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

/// What the worker needs to find the memory.
pub(super) type Key = OwnedFd;

/// A mapping.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) base: NonNull<u8>,
    size: NonZeroUsize,
}

impl Memory {
    pub(super) fn create(size: NonZeroUsize) -> io::Result<(Self, Key)> {
        let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
        let file = File::from(memfd_create(c"hyperdbg-text-tail", flags)?);
        file.set_len(size.get() as u64)?;
        // A file cut short by the other end would make reading it fatal here.
        let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
        fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
        Ok((Self::map(&file, size)?, file.into()))
    }

    pub(super) fn open(key: Key, size: NonZeroUsize) -> io::Result<Self> {
        let file = File::from(key);
        if file.metadata()?.len() != size.get() as u64 {
            return Err(io::Error::other("the tail has another size"));
        }
        Self::map(&file, size)
    }

    fn map(file: &File, size: NonZeroUsize) -> io::Result<Self> {
        // SAFETY: a fresh mapping at an address of the kernel's choice, of a file that is long enough.
        let base = unsafe {
            mmap(
                None,
                size,
                ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
                MapFlags::MAP_SHARED,
                file,
                0,
            )?
        };
        Ok(Self {
            base: base.cast(),
            size,
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: this value made the mapping and lends its address to nobody that outlives it.
        let _ = unsafe { munmap(self.base.cast(), self.size.get()) };
    }
}
