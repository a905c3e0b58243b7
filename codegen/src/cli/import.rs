//! `import`: from the SDK's headers to the catalog.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{CATALOG, Failure, answer, read};
use crate::diagnostic::Diagnostic;
use crate::emit::{File, write};

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The folder include/SDK of a HyperDbg checkout.
    #[arg(long, value_name = "DIR")]
    sdk: PathBuf,
}

pub(super) fn run(root: &Path, arguments: &Arguments) -> Result<(), Failure> {
    let prelude = read(root, "api/prelude.h")?;
    let catalog = crate::import::import(&arguments.sdk, &prelude)?;
    let file = File {
        path: CATALOG.to_owned(),
        contents: crate::import::render(&catalog),
    };
    let changed = write::place(root, &[file]).map_err(|error| {
        Diagnostic::error("CLI002", format!("the catalog cannot be written: {error}"))
            .help("check the folder's permissions and free space")
    })?;
    answer(&format!(
        "SDK {}: {} functions, {} enums, {} records\n",
        catalog.sdk_version,
        catalog.functions.len(),
        catalog.enums.len(),
        catalog.records.len()
    ));
    answer(if changed.is_empty() {
        "api/mcp_api_meta.json is up to date\n"
    } else {
        "api/mcp_api_meta.json was written; next: cargo codegen generate\n"
    });
    Ok(())
}
