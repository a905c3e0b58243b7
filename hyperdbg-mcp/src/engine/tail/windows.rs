//! Windows: a named section with a random name that only this user opens.

use std::io;
use std::num::NonZeroUsize;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::NonNull;

use windows_sys::Win32::Foundation::{ERROR_ALREADY_EXISTS, GetLastError, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, FILE_MAP_WRITE, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile,
    OpenFileMappingW, PAGE_READWRITE, UnmapViewOfFile,
};

use crate::engine::confine::{OwnerOnly, random_name, wide};

/// What the worker needs to find the memory: its name.
pub(super) type Key = String;

/// A view of the section.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) base: NonNull<u8>,
    /// Keeps the name alive until the worker has opened it.
    _section: OwnedHandle,
}

impl Memory {
    pub(super) fn create(size: NonZeroUsize) -> io::Result<(Self, Key)> {
        let name = format!(r"Local\{}", random_name()?);
        let units = wide(&name);
        let owner = OwnerOnly::new()?;
        let attributes = owner.attributes();
        let bytes = u32::try_from(size.get()).map_err(io::Error::other)?;
        // SAFETY: the attributes and the terminated name live through the call; no file stands behind the section.
        let section = unsafe {
            CreateFileMappingW(
                INVALID_HANDLE_VALUE,
                &raw const attributes,
                PAGE_READWRITE,
                0,
                bytes,
                units.as_ptr(),
            )
        };
        // SAFETY: no pointers.
        let existed = unsafe { GetLastError() } == ERROR_ALREADY_EXISTS;
        let section = owned(section)?;
        if existed {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        Ok((Self::map(section, size)?, name))
    }

    pub(super) fn open(key: Key, size: NonZeroUsize) -> io::Result<Self> {
        let units = wide(&key);
        // SAFETY: the terminated name lives through the call.
        let section = unsafe { OpenFileMappingW(FILE_MAP_READ | FILE_MAP_WRITE, 0, units.as_ptr()) };
        Self::map(owned(section)?, size)
    }

    fn map(section: OwnedHandle, size: NonZeroUsize) -> io::Result<Self> {
        // SAFETY: a fresh view at an address of the system's choice; it fails when the section is shorter.
        let view = unsafe {
            MapViewOfFile(
                section.as_raw_handle(),
                FILE_MAP_READ | FILE_MAP_WRITE,
                0,
                0,
                size.get(),
            )
        };
        let base = NonNull::new(view.Value.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Self {
            base,
            _section: section,
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let view = MEMORY_MAPPED_VIEW_ADDRESS {
            Value: self.base.as_ptr().cast(),
        };
        // SAFETY: this value made the view and lends its address to nobody that outlives it.
        unsafe { UnmapViewOfFile(view) };
    }
}

fn owned(handle: windows_sys::Win32::Foundation::HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a fresh handle that nothing else owns.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}
