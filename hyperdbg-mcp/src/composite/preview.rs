//! What a call would send and replace: judged before it is made, and shown to the person who is asked to confirm it.

use std::sync::Arc;

use serde_json::Value;

use super::{events, memory, registers};
use crate::policy::{self, Kind};
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

/// The text that a call of `tool` would send to one of the library's interpreters; none where it sends none.
pub(crate) fn sent(tool: &str, arguments: &Arguments) -> Result<Option<(Kind, String)>, ToolError> {
    if tool == "hd_event_set" {
        return Ok(Some((Kind::Command, events::line(arguments.clone())?)));
    }
    Ok(policy::text_of(tool).map(|(kind, argument)| {
        let text = arguments.0.get(argument).and_then(Value::as_str);
        (kind, text.unwrap_or_default().trim().to_owned())
    }))
}
