//! Raw declarations of libhyperdbg: records, enums and the table of its exports.
