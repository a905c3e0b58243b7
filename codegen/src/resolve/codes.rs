//! Stable codes of the findings in `api/`. A code is never reused for another meaning.

/// A file of `api/` cannot be read.
pub const UNREADABLE: &str = "RES001";
/// A file is not JSON.
pub const SYNTAX: &str = "RES002";
/// A key that the format does not have.
pub const UNKNOWN_KEY: &str = "RES003";
/// A key that the format requires is missing.
pub const MISSING_KEY: &str = "RES004";
/// A value has the wrong type or is none of the known words.
pub const WRONG_FORM: &str = "RES005";
/// A key stands twice in one object.
pub const DUPLICATE_KEY: &str = "RES006";
/// A text for people or agents is empty.
pub const EMPTY: &str = "RES007";
/// Group name and file name differ, or the name is malformed.
pub const GROUP_NAME: &str = "RES008";
/// A summary is more than one line, or ends in a full stop.
pub const SUMMARY: &str = "RES009";

/// The library exports no such function.
pub const UNKNOWN_FUNCTION: &str = "RES010";
/// A function has neither annotations nor an exclusion.
pub const UNDECIDED: &str = "RES011";
/// A function is annotated twice, or annotated and excluded.
pub const DECIDED_TWICE: &str = "RES012";
/// Not exactly one of `tool` and `composite`.
pub const SERVED: &str = "RES013";
/// Two functions have the same earlier name.
pub const ALIAS: &str = "RES014";

/// An entry that was written for someone to fill in has no tier yet.
pub const TIER_UNDECIDED: &str = "RES015";
/// A value that was guessed from names and types has not been checked.
pub const GUESS: &str = "RES016";

/// The role of a parameter that could not be guessed is not decided yet.
pub const ROLE_UNDECIDED: &str = "RES017";

/// Two tools have the same name.
pub const TOOL_TWICE: &str = "RES020";
/// A tool name is longer than clients take.
pub const TOOL_TOO_LONG: &str = "RES021";
/// A tool name has another form than `hd_<group>_<verb>`.
pub const TOOL_FORM: &str = "RES022";
/// A description is longer than clients take.
pub const DESCRIPTION_TOO_LONG: &str = "RES023";
/// A hint promises more than the tier allows.
pub const HINT: &str = "RES024";
/// A description names another tool.
pub const NAMES_TOOL: &str = "RES025";

/// A scalar parameter is not annotated.
pub const PARAM_MISSING: &str = "RES030";
/// A pointer parameter has no role.
pub const POINTER_WITHOUT_ROLE: &str = "RES031";
/// The function has no such parameter.
pub const PARAM_UNKNOWN: &str = "RES032";
/// A role does not fit the parameter's C type.
pub const ROLE_TYPE: &str = "RES033";
/// A relation names a parameter that is not there.
pub const RELATION_MISSING: &str = "RES034";
/// A relation names a parameter of the wrong role.
pub const RELATION_ROLE: &str = "RES035";
/// A JSON form does not fit the C type.
pub const FORM_TYPE: &str = "RES036";
/// A name that is no enumerator of the enum.
pub const NOT_AN_ENUMERATOR: &str = "RES037";
/// A number is outside of its bounds or its type.
pub const OUT_OF_RANGE: &str = "RES038";
/// Two arguments or two results have the same name.
pub const NAME_TWICE: &str = "RES039";
/// The name of an argument or result is malformed or reserved.
pub const NAME_FORM: &str = "RES040";
/// A record has no such field, or the field cannot be set.
pub const FIELD: &str = "RES041";
/// A record holds pointers and cannot leave the process.
pub const RECORD_POINTERS: &str = "RES042";
/// An enumerator is both offered and excluded.
pub const OFFERED_AND_EXCLUDED: &str = "RES043";

/// `returns` does not fit the return type.
pub const RETURNS: &str = "RES050";
/// The status parameter or field is not there, or is no integer.
pub const STATUS: &str = "RES051";

/// An error code of the SDK has no entry.
pub const ERROR_MISSING: &str = "RES060";
/// The SDK has no such error code.
pub const ERROR_UNKNOWN: &str = "RES061";
/// A named constant is not in the catalog.
pub const CONSTANT_MISSING: &str = "RES062";

/// The catalog holds something that has no form in Rust.
pub const UNDECLARABLE: &str = "RES080";
