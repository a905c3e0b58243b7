//! A look-alike libhyperdbg over a small deterministic machine.
