//! Whether a call succeeded, judged by everything that HyperDbg tells: return value, status field, text.

use super::{Category, FunctionInfo, Success, ToolError};

/// Judges one call. `returned` is the return value, `status` the status field, `text` what was printed.
///
/// HyperDbg's return values are not enough: several functions return success for a refused request, and some
/// tell only by text (a line that starts with `err, `, with an error code in parentheses at its end).
pub fn verdict(
    function: &'static FunctionInfo,
    returned: Option<i128>,
    status: Option<u64>,
    text: &[u8],
) -> Result<(), ToolError> {
    let refused = match function.success {
        Success::NonZero => returned == Some(0),
        Success::Zero => returned.is_some_and(|value| value != 0),
        Success::Unsaid => false,
    };
    let bad_status = match (function.status_ok, status) {
        (Some(ok), Some(value)) if value != ok => Some(value),
        _ => None,
    };
    if !refused && bad_status.is_none() {
        return Ok(());
    }
    Err(ToolError::new(Category::Debugger, format!("{} failed", function.symbol)).captured(text.to_vec()))
}
