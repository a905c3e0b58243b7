//! The stable codes of what can be wrong with a header, an SDK folder or a catalog file.
//!
//! A code is never reused for another meaning; numbers leave gaps between the stages.

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:literal;)+) => {
        $($(#[doc = $doc])+ pub const $name: &str = $value;)+

        /// Every code, in ascending order.
        pub const ALL: &[&str] = &[$($value),+];
    };
}

codes! {
    /// The SDK folder does not exist, is no folder, or cannot be read.
    FOLDER = "HDR001";
    /// The folder is readable, but it is not HyperDbg's SDK.
    NOT_AN_SDK = "HDR002";
    /// A header cannot be read from disk.
    UNREADABLE = "HDR003";
    /// A header is not a text file in an encoding that is understood.
    NOT_TEXT = "HDR004";
    /// An included header does not exist.
    INCLUDE_MISSING = "HDR005";
    /// An included name stands for several headers.
    INCLUDE_AMBIGUOUS = "HDR006";
    /// The input passes a bound that keeps hostile input from exhausting memory, stack or time.
    LIMIT = "HDR007";
    /// A character, literal or comment that is not C.
    LEXICAL = "HDR010";
    /// A preprocessor directive that is unknown or malformed.
    DIRECTIVE = "HDR011";
    /// An `#error` line was reached.
    ERROR_DIRECTIVE = "HDR012";
    /// `#if`, `#elif`, `#else` and `#endif` do not match.
    CONDITIONAL = "HDR013";
    /// A macro is defined twice with different text.
    MACRO_REDEFINED = "HDR014";
    /// A function-like macro is called with the wrong arguments, or `#`/`##` cannot work.
    MACRO_CALL = "HDR015";
    /// A pragma whose effect on layouts is unknown, or a malformed `#pragma pack`.
    PRAGMA = "HDR016";
    /// Syntax that is no C, or not part of the supported subset.
    SYNTAX = "HDR020";
    /// A name is used as a type and none of that name is declared.
    UNKNOWN_TYPE = "HDR021";
    /// A name is declared again with another meaning.
    REDECLARED = "HDR022";
    /// A type is used by value before it is complete.
    INCOMPLETE = "HDR023";
    /// A constant expression has no value.
    EXPRESSION = "HDR024";
    /// A static assertion is false.
    ASSERTION = "HDR025";
    /// An enumerator's value does not fit a C `int`.
    ENUM_RANGE = "HDR026";
    /// A bit-field with an impossible type or width.
    BIT_FIELD = "HDR027";
    /// An array with an impossible length or element, or a type that is too large.
    ARRAY = "HDR028";
    /// An attribute that would change a layout or an ABI.
    ATTRIBUTE = "HDR029";
    /// A record without members, whose size C and C++ disagree about.
    EMPTY_RECORD = "HDR030";
    /// The header of the exports declares no exported function.
    NO_EXPORTS = "HDR040";
    /// The macros with the SDK's version are missing or are no numbers.
    VERSION = "HDR041";
    /// An exported function or a type that it reaches has a shape that the catalog cannot say.
    NOT_REPRESENTABLE = "HDR042";
    /// A macro that must be a number is none.
    CONSTANT = "HDR043";
    /// A record has other members on Linux than on Windows.
    MEMBERS_DIFFER = "HDR044";
    /// A catalog file is not JSON of the catalog's form.
    CATALOG_JSON = "HDR050";
    /// A catalog file was written in another format version.
    CATALOG_FORMAT = "HDR051";
    /// A catalog file contradicts itself.
    CATALOG_INCONSISTENT = "HDR052";
}

/// What to do about a finding of this code when nothing more precise is known.
pub(crate) fn help(code: &str) -> &'static str {
    match code {
        LIMIT => "no header of the SDK comes near this bound: check what was passed as the SDK folder",
        LEXICAL => "correct the header, or restore it from the release",
        PRAGMA => "put the pragma in front of the declaration that it is meant for",
        EXPRESSION => "constants are made of integers, enumerators, `sizeof` and macros of these",
        ENUM_RANGE => "MSVC keeps every enum in 32 bits",
        BIT_FIELD => "a bit-field has an integer type and at most as many bits",
        ARRAY => "check the length of the array",
        EMPTY_RECORD => "give the record a member, or only name it without a body",
        REDECLARED => "headers of one release agree; check that the folder holds one release only",
        _ => "if this is C that a header may use, the header front end has to learn it",
    }
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn codes_are_unique_and_ascending() {
        assert!(ALL.windows(2).all(|pair| pair[0] < pair[1]), "{ALL:?}");
    }
}
