//! A session's link that notes what makes earlier knowledge stale, and refuses an input that has ended workers before.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::sessions::Manager;
use crate::engine::{BoxFuture, Link, Outcome};
use crate::generated::{Call, Reply};
use crate::policy;
use crate::tool::{Category, Current, ToolError};

/// Inputs that are remembered for having ended a worker.
const REMEMBERED: usize = 16;
/// So often the same input may end a worker before it is refused.
const CRASHES: u32 = 2;

/// Functions after which addresses, ids and names that were learned before may no longer hold.
const RELOADING: [&str; 12] = [
    "hyperdbg_u_connect_local_debugger",
    "hyperdbg_u_connect_remote_debugger",
    "hyperdbg_u_connect_remote_debugger_using_com_port",
    "hyperdbg_u_connect_remote_debugger_using_named_pipe",
    "hyperdbg_u_debug_close_remote_debugger",
    "hyperdbg_u_load_all_modules",
    "hyperdbg_u_load_kd_module",
    "hyperdbg_u_load_vmm",
    "hyperdbg_u_unload_all_modules",
    "hyperdbg_u_unload_kd",
    "hyperdbg_u_unload_vmm",
    "hyperdbg_u_start_process",
];

/// Forms of commands of the same effect, as `api/commands.json` calls them.
const RELOADING_FORMS: [&str; 13] = [
    "attach",
    "connect.local",
    "connect.remote",
    "debug.remote",
    "detach",
    "disconnect",
    "kill",
    "load",
    "restart",
    "start",
    "sym.load",
    "sym.reload",
    "unload",
];

/// The link of a session, watched.
pub(super) struct Watched {
    pub(super) manager: Arc<Manager>,
    pub(super) current: Current,
    /// When the tool's call is to be over, where its caller said so.
    pub(super) until: Option<Instant>,
}

fn reloads(call: &Call) -> bool {
    match call {
        Call::RunCommand(args) => {
            policy::form_of(&args.command).is_some_and(|form| RELOADING_FORMS.contains(&form.as_str()))
        }
        _ => RELOADING.contains(&call.function().symbol),
    }
}

fn no_time(call: &Call) -> ToolError {
    ToolError::new(
        Category::Timeout,
        format!(
            "The deadline_ms of this call was over before {} was called; that was not sent.",
            call.function().symbol
        ),
    )
    .next_step("Allow more time, or ask for less. The session works on.")
}

impl Link for Watched {
    fn call(&self, call: Call, deadline: Duration) -> BoxFuture<'_, Result<Outcome<Reply>, ToolError>> {
        Box::pin(async move {
            self.manager.crashes.refuse(&call)?;
            let deadline = match self
                .until
                .map(|until| until.saturating_duration_since(Instant::now()))
            {
                Some(Duration::ZERO) => return Err(no_time(&call)),
                left => left.map_or(deadline, |left| left.min(deadline)),
            };
            let reloads = reloads(&call);
            let alive = self.current.target.state().alive;
            let input = call.clone();
            let result = self.current.target.call(call, deadline).await;
            if reloads {
                self.current.book.pages().epoch = self.manager.next_epoch();
            }
            if alive && matches!(&result, Err(error) if error.category == Category::WorkerLost) {
                self.manager.crashes.remember(input);
            }
            result
        })
    }
}

/// Inputs that ended workers, and how often.
#[derive(Debug, Default)]
pub(super) struct Crashes(Mutex<Vec<(Call, u32)>>);

impl Crashes {
    fn refuse(&self, call: &Call) -> Result<(), ToolError> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match list
            .iter()
            .find(|(input, times)| input == call && *times >= CRASHES)
        {
            Some((_, times)) => Err(ToolError::new(
                Category::WorkerLost,
                format!(
                    "This very input of {} has ended {times} workers; it is not sent again.",
                    call.function().symbol
                ),
            )
            .next_step("Change the input. The session works on.")),
            None => Ok(()),
        }
    }

    fn remember(&self, call: Call) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, times)) = list.iter_mut().find(|(input, _)| *input == call) {
            *times += 1;
            return;
        }
        if list.len() >= REMEMBERED {
            list.remove(0);
        }
        list.push((call, 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::RunCommandArgs;

    fn command(text: &str) -> Call {
        Call::RunCommand(RunCommandArgs {
            command: text.as_bytes().to_vec(),
        })
    }

    #[test]
    fn only_the_same_input_is_refused_and_only_after_it_crashed_repeatedly() {
        let crashes = Crashes::default();
        crashes.remember(command("poi(1)"));
        assert!(crashes.refuse(&command("poi(1)")).is_ok());
        crashes.remember(command("poi(1)"));
        let error = crashes.refuse(&command("poi(1)")).unwrap_err();
        assert!(error.message.contains("has ended 2 workers"), "{error}");
        assert!(crashes.refuse(&command("poi(2)")).is_ok());
        for n in 0..REMEMBERED {
            crashes.remember(command(&n.to_string()));
        }
        assert!(
            crashes.refuse(&command("poi(1)")).is_ok(),
            "the oldest is forgotten"
        );
    }

    #[test]
    fn loading_and_connecting_make_a_new_epoch() {
        for line in ["load vmm", ".sym reload", ".connect local", "unload all"] {
            assert!(reloads(&command(line)), "{line}");
        }
        for line in ["lm", "g", "bl", "loadx"] {
            assert!(!reloads(&command(line)), "{line}");
        }
    }
}
