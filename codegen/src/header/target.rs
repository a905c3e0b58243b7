//! The compilers whose view of the headers is taken.

/// How bit-fields are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitFieldRule {
    /// MSVC: a bit-field shares the storage unit of the one before it when both types have the same size and the unit
    /// has room; else it opens a new unit, aligned as its type is.
    Microsoft,
    /// System V: bit-fields are laid one after the other; one moves on only where it would cross a boundary of its
    /// own type.
    SystemV,
}

/// A compiler, as far as the headers can tell.
#[derive(Debug)]
pub struct Target {
    /// Name in the catalog.
    pub abi: &'static str,
    /// Macros that are defined before the first line.
    pub(crate) predefined: &'static str,
    /// `sizeof(long)`
    pub(crate) long_bytes: u64,
    /// `sizeof(wchar_t)`
    pub(crate) wchar_bytes: u64,
    /// Rule for bit-fields.
    pub(crate) bit_fields: BitFieldRule,
}

/// A program in user mode that MSVC compiles as C++ for x64: what HyperDbg's own user-mode library is.
///
/// C++ rather than C because the prototypes mean `()` the C++ way (no parameters). Dates and times are fixed: the
/// headers put them into constants that are no part of any layout.
pub const MSVC: Target = Target {
    abi: "x86_64-pc-windows-msvc",
    predefined: "#define _WIN32 1\n#define _WIN64 1\n#define _M_X64 100\n#define _M_AMD64 100\n#define _MSC_VER 1940\n\
                 #define _MSC_FULL_VER 194000000\n#define __cplusplus 201703L\n#define __DATE__ \"Jan  1 2000\"\n\
                 #define __TIME__ \"00:00:00\"\n",
    long_bytes: 4,
    wchar_bytes: 2,
    bit_fields: BitFieldRule::Microsoft,
};

/// The same library compiled by GCC for x86-64 Linux; HyperDbg's headers support it since v0.19.
pub const LINUX: Target = Target {
    abi: "x86_64-unknown-linux-gnu",
    predefined: "#define __linux__ 1\n#define __linux 1\n#define __unix__ 1\n#define __x86_64__ 1\n#define __LP64__ 1\n\
                 #define __GNUC__ 13\n#define __cplusplus 201703L\n#define __DATE__ \"Jan  1 2000\"\n\
                 #define __TIME__ \"00:00:00\"\n",
    long_bytes: 8,
    wchar_bytes: 4,
    bit_fields: BitFieldRule::SystemV,
};
