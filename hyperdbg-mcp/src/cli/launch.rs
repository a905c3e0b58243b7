//! Puts a server together from the flags.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ServeFlags;
use crate::audit::{self, Audit};
use crate::discovery;
use crate::engine::{BoxFuture, LibrarySource};
use crate::sdk;
use crate::server::{Ending, Gate, Handler, Launcher, Manager, Registry, Remains};
use crate::session::{Session, SessionConfig, WorkerProgram};
use crate::tool::{Opening, Target, ToolError};

/// Starts worker processes of this program.
struct Workers {
    library: LibrarySource,
    sdk: sdk::Choice,
    profiles: Profiles,
}

/// The openings that the configuration names, or why it cannot be read.
type Profiles = Result<BTreeMap<String, Result<Opening, String>>, String>;

fn profiles() -> Profiles {
    let Some(file) = discovery::config::usual_file() else {
        return Ok(BTreeMap::new());
    };
    let config =
        discovery::config::read(&file).map_err(|problem| format!("{}: {problem}", file.display()))?;
    Ok(config
        .profiles
        .into_iter()
        .map(|(name, profile)| (name, profile.and_then(|profile| profile.opening())))
        .collect())
}

impl Launcher for Workers {
    fn launch(&self) -> BoxFuture<'_, Result<Arc<dyn Target>, ToolError>> {
        Box::pin(async {
            let program = WorkerProgram::this_program().map_err(|error| {
                ToolError::internal(format!("this program cannot be found again: {error}"))
            })?;
            let config = SessionConfig {
                sdk: self.sdk.clone(),
                ..SessionConfig::new(self.library.clone(), program)
            };
            let session: Arc<dyn Target> = Session::open(config).await?;
            Ok(session)
        })
    }

    fn library(&self) -> String {
        match &self.library {
            LibrarySource::Embedded => "the built-in simulated machine".to_owned(),
            LibrarySource::Path(path) => path.display().to_string(),
        }
    }

    fn profiles(&self) -> BTreeMap<String, Result<Opening, String>> {
        self.profiles.clone().unwrap_or_default()
    }

    fn configuration_problem(&self) -> Option<String> {
        self.profiles.as_ref().err().cloned()
    }
}

/// The notes about what sessions leave. Without them the server works; only the next one cannot say what was left.
fn remains(flags: &ServeFlags) -> Remains {
    let state = flags.state.clone().unwrap_or_default();
    let begun = state.path().and_then(|folder| {
        folder.map_or(Ok(Remains::default()), |folder| {
            Remains::in_folder(&folder).map_err(|error| format!("{}: {error}", folder.display()))
        })
    });
    match begun {
        Ok(remains) => {
            for left in remains.found() {
                eprintln!("hyperdbg-mcp: {left}");
            }
            remains
        }
        Err(error) => {
            eprintln!("hyperdbg-mcp: what sessions leave cannot be noted ({error}).");
            Remains::default()
        }
    }
}

/// The server that the flags describe; `operator` lets `hyperdbg-mcp approve` reach it.
pub(super) fn handler(flags: &ServeFlags, ending: Ending, operator: bool) -> Result<Handler, String> {
    let source = if flags.simulator {
        LibrarySource::Embedded
    } else {
        let library = discovery::locate(&flags.request()).map_err(|error| error.to_string())?;
        LibrarySource::Path(library.path)
    };
    let policy = flags.policy(operator);
    if let Some(warning) = policy.rules.warning() {
        eprintln!("hyperdbg-mcp: {warning}");
    }
    let gate = Gate::new(policy)?;
    let registry = Registry::new(flags.selection())?;
    let serves_open = registry
        .served()
        .iter()
        .any(|served| served.tool.spec.name == "hd_session_open");
    let workers = Workers {
        library: source,
        sdk: flags.sdk(),
        profiles: profiles(),
    };
    let library = workers.library();
    if let Some(problem) = workers.configuration_problem() {
        eprintln!("hyperdbg-mcp: the configuration cannot be used ({problem}).");
    }
    let secrets: Vec<String> = workers
        .profiles
        .iter()
        .flat_map(BTreeMap::values)
        .filter_map(|profile| profile.as_ref().ok())
        .flat_map(|opening| opening.secrets.clone())
        .collect();
    let remains = if operator {
        remains(flags)
    } else {
        Remains::default()
    };
    let manager = Manager::new(Box::new(workers), flags.opens_by_itself(), serves_open, remains);
    let server = audit::Server {
        library,
        read_only: flags.read_only,
        allow_writes: flags.allow_writes,
    };
    let audit = Audit::open(flags.audit.as_ref(), &server, flags.masker().and(secrets));
    Ok(Handler::new(registry, manager, ending, gate).audited(Arc::new(audit)))
}
