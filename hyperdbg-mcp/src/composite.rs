//! The hand-written tools.

use crate::tool::Tool;

/// Every hand-written tool, in the order in which clients see them.
pub static TOOLS: &[Tool] = &[];

use std::sync::Arc;

use crate::engine::Link;
use crate::tool::{Connection, ToolError};

/// Connects a fresh worker; gives back what the library printed.
pub(crate) async fn connect(_link: Arc<dyn Link>, _connection: &Connection) -> Result<Vec<u8>, ToolError> {
    Ok(Vec::new())
}
