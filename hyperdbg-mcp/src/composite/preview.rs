//! What a call would replace, read for the person who is asked to confirm it.

use std::sync::Arc;

use super::{memory, registers};
use crate::tier::Read;
use crate::tool::{Arguments, Cx, Host, ToolError};

/// The old value that a call of `tool` would replace, where it can be read; the refusals are those of the call.
pub(crate) async fn replaced(
    host: Arc<dyn Host>,
    tool: &str,
    arguments: Arguments,
) -> Result<Option<(&'static str, String)>, ToolError> {
    let cx = Cx::<Read>::new(host);
    Ok(match tool {
        "hd_mem_write" => Some(("old bytes", memory::replaced(&cx, arguments).await?.to_string())),
        "hd_reg_write" => Some((
            "old value",
            registers::replaced(&cx, arguments).await?.to_string(),
        )),
        _ => None,
    })
}
