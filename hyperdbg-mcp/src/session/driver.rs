//! The driver that a session would install: the library looks for it beside the program that loaded it, so where it lies
//! beside the library, the library is told.

use std::path::Path;
use std::time::Duration;

use super::Session;
use crate::discovery::companions::{self, Driver};
use crate::discovery::places::{DRIVER_SERVICE, program_folder};
use crate::generated::{Call, Reply, SetCustomDriverPathArgs};
use crate::tool::{Category, ToolError};

/// The export only copies two strings.
const CALL: Duration = Duration::from_secs(10);

/// Tells the library where its driver lies, where it would look elsewhere. Nothing is installed or loaded by that. Gives
/// back what was told, or why it could not be.
///
/// # Errors
/// Those of a worker that does not come back from the call.
pub(super) async fn choose(session: &Session, library: &Path) -> Result<Option<String>, ToolError> {
    let Some(folder) = library.parent() else {
        return Ok(None);
    };
    let path = match companions::driver(folder, program_folder().as_deref()) {
        Driver::BesideProgram | Driver::Absent => return Ok(None),
        Driver::Unusable { why } => {
            return Ok(Some(format!(
                "it lies beside the library and cannot be installed from there: {why}. {}",
                why.next_step()
            )));
        }
        Driver::BesideLibrary { path } => path,
    };
    let call = Call::SetCustomDriverPath(SetCustomDriverPathArgs {
        path: path.clone().into_bytes(),
        service: DRIVER_SERVICE.as_bytes().to_vec(),
    });
    let told = match session.call(call, CALL).await {
        Ok(outcome) => match outcome.reply {
            Reply::SetCustomDriverPath(reply) if reply.returned != 0 => path,
            _ => format!("the library does not take {path} for it"),
        },
        Err(error) if matches!(error.category, Category::WorkerLost | Category::Timeout) => {
            return Err(error);
        }
        Err(error) => format!("the library cannot be told that it is {path}: {}", error.message),
    };
    Ok(Some(told))
}
