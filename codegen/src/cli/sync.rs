//! `sync`: one step from one release to another.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Failure, answer};
use crate::diff;
use crate::emit::write::{Difference, Differences};
use crate::sync::{self, Outcome};

/// Arguments of `sync`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The folder include/SDK of a HyperDbg checkout.
    #[arg(long, value_name = "DIR")]
    sdk: PathBuf,
}

pub(super) fn run(root: &Path, arguments: &Arguments) -> Result<(), Failure> {
    match sync::sync(root, &arguments.sdk)? {
        Outcome::Done {
            report,
            files,
            retired,
            revived,
        } => {
            answer(&diff::text(&report));
            answer("\n");
            for name in retired {
                answer(&format!(
                    "retired {name}: its entry stays in api/ and is not used\n"
                ));
            }
            for name in revived {
                answer(&format!("took back {name}\n"));
            }
            list(&files);
            answer(&format!("in step with SDK {}\n", report.new_version));
            Ok(())
        }
        Outcome::Open {
            report,
            files,
            places,
        } => {
            answer(&diff::text(&report));
            answer("\n");
            list(&files);
            Err(Failure::Open(places))
        }
    }
}

fn list(files: &Differences) {
    for (path, difference) in files {
        let what = match difference {
            Difference::Missing | Difference::Changed(_) => "wrote",
            Difference::Orphan => "removed",
        };
        answer(&format!("{what} {path}\n"));
    }
}
