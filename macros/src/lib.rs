//! `#[composite_tool]`: registers a hand-written tool like a generated one.
