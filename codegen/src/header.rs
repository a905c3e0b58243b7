//! HyperDbg's SDK headers, read without a C compiler.
