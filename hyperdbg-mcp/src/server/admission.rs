//! What stands between a call and its tool: the text is classified, the policy decides, a person is asked.

use std::cell::RefCell;
use std::io::Read as _;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, InputRequiredResult};
use rmcp::service::RequestContext;
use serde_json::Value;

use super::registry::Served;
use super::{Gate, View, confirmation};
use crate::audit::{Masker, sha256};
use crate::composite::{replaced, sent};
use crate::engine::{BoxFuture, Link};
use crate::output::{OutputStore, shown};
use crate::policy::approval::Request;
use crate::policy::decision::{self, Decision, Ruling};
use crate::policy::{self, Cleared, Kind, Options, Verdict};
use crate::tier::Tier;
use crate::tool::{Arguments, Category, Connection, Host, Sessions, ToolError, ToolSpec};

/// The largest file of commands that is looked at, in bytes; the classification refuses it then.
const LARGEST_FILE: u64 = 256 * 1024 + 1;

/// What becomes of a call.
pub(super) enum Admission {
    /// It runs over this host.
    Run(Admitted),
    /// The client asks its person and calls again.
    Ask(Box<InputRequiredResult>),
}

/// The server as an admitted call sees it: with the text that was cleared, and bound to the session it was admitted for.
pub(super) struct Admitted {
    view: Arc<View>,
    cleared: Option<Cleared>,
    /// What the text was judged for: its kind, and who evaluates its expressions.
    judged_for: Option<(Kind, Option<bool>)>,
    /// The session that a person confirmed the call for.
    session: Option<String>,
    /// What the result says about the decision.
    pub(super) policy: Option<String>,
    /// Tier of this call.
    pub(super) tier: Option<Tier>,
    /// Who confirmed it.
    pub(super) confirmed_by: Option<String>,
}

impl Host for Admitted {
    fn link(&self) -> BoxFuture<'_, Result<Arc<dyn Link>, ToolError>> {
        Box::pin(async move {
            let link = self.view.link().await?;
            if let Some((kind, judged)) = self.judged_for
                && attached(kind, self.view.peek().map(|current| current.connection).as_ref()) != judged
            {
                return Err(ToolError::new(
                    Category::WrongMode,
                    "The session changed while the text was judged; nothing was sent.",
                )
                .next_step("Call again."));
            }
            match &self.session {
                Some(session) if *session != session_of(&self.view) => Err(ToolError::new(
                    Category::NotConfirmed,
                    "The session is no longer the one that the call was confirmed for; nothing was done.",
                )
                .next_step("Check the session, and call again to have it confirmed anew.")),
                _ => Ok(link),
            }
        })
    }

    fn sessions(&self) -> &dyn Sessions {
        self.view.sessions()
    }

    fn outputs(&self) -> &OutputStore {
        self.view.outputs()
    }

    fn cleared(&self) -> Option<&Cleared> {
        self.cleared.as_ref()
    }
}

/// Names the session that is open, or that none is.
fn session_of(view: &View) -> String {
    match view.peek() {
        Some(current) => format!(
            "session {}, epoch {}: {} in mode {} (worker {})",
            current.id,
            current.book.pages().epoch,
            view.library(),
            current.connection,
            current.target.state().pid.unwrap_or(0)
        ),
        None => format!("{}, no session open", view.library()),
    }
}

/// One call on its way in.
pub(super) struct Call<'a> {
    pub(super) gate: &'a Gate,
    pub(super) masker: &'a Masker,
    pub(super) view: &'a Arc<View>,
    pub(super) served: &'a Served,
    pub(super) arguments: &'a Arguments,
    pub(super) request: &'a CallToolRequestParams,
    pub(super) context: &'a RequestContext<RoleServer>,
}

/// A text with what the classification says of it.
struct Judged {
    kind: Kind,
    attached: Option<bool>,
    text: String,
    verdict: Verdict,
    /// Digests of the files that it runs.
    files: Vec<String>,
}

impl Call<'_> {
    fn spec(&self) -> &'static ToolSpec {
        self.served.tool.spec
    }

    /// Decides, and asks where the decision says so.
    pub(super) async fn admit(&self) -> Result<Admission, ToolError> {
        let judged = self.judge()?;
        let ruling = self.rule(judged.as_ref());
        match &ruling.decision {
            Decision::Run => {
                let said = self.said(&ruling, judged.is_some());
                Ok(Admission::Run(self.admitted(judged, &ruling, None, said)))
            }
            Decision::Refuse { step } => {
                let message = policy::sentence(&format!(
                    "the call of {} is refused: {}",
                    self.spec().name,
                    ruling.reason
                ));
                // A line that no command can be is malformed; one of a form that is never sent is denied.
                let malformed = ruling.tier.is_none()
                    && judged
                        .as_ref()
                        .is_some_and(|judged| judged.kind == Kind::Command && judged.verdict.form.is_none());
                let category = if malformed {
                    Category::InvalidArgument
                } else {
                    Category::PolicyDenied
                };
                Err(ToolError::new(category, message).next_step(step.clone()))
            }
            Decision::Confirm => match confirmation::ask(self, &ruling).await? {
                confirmation::Answer::Ask(ask) => Ok(Admission::Ask(ask)),
                confirmation::Answer::Confirmed { by, session } => {
                    let said = self.line(&format!("destructive: {}; {by}", ruling.reason));
                    // The file of a `.script` may have changed while the person was asked: the request holds its digest.
                    let judged = self.judge()?;
                    let mut admitted = self.admitted(judged, &ruling, Some(session), Some(said));
                    admitted.confirmed_by = Some(by);
                    Ok(Admission::Run(admitted))
                }
            },
        }
    }

    fn admitted(
        &self,
        judged: Option<Judged>,
        ruling: &Ruling,
        session: Option<String>,
        policy: Option<String>,
    ) -> Admitted {
        Admitted {
            view: Arc::clone(self.view),
            judged_for: judged.as_ref().map(|judged| (judged.kind, judged.attached)),
            cleared: judged.map(|judged| Cleared {
                text: judged.text,
                form: judged.verdict.form,
                notes: judged.verdict.notes,
            }),
            session,
            policy,
            tier: ruling.tier,
            confirmed_by: None,
        }
    }

    /// What a result says about the decision; nothing where there was nothing to decide.
    fn said(&self, ruling: &Ruling, is_text: bool) -> Option<String> {
        match ruling.tier {
            Some(tier) if is_text || tier == Tier::Destructive => {
                Some(self.line(&format!("{tier}: {}", ruling.reason)))
            }
            _ => self.gate.policy.rules.warning(),
        }
    }

    fn line(&self, text: &str) -> String {
        match self.gate.policy.rules.warning() {
            Some(warning) => format!("{text}. {warning}"),
            None => text.to_owned(),
        }
    }

    /// The text of the call, classified exactly as it will be sent; none where the tool takes none.
    fn judge(&self) -> Result<Option<Judged>, ToolError> {
        let Some((kind, text)) = sent(self.spec().name, self.arguments)? else {
            return Ok(None);
        };
        let rules = &self.gate.policy.rules;
        if let Some((problem, step)) = policy::complaint(kind, &text)
            && (!rules.unclassified || text.is_empty())
        {
            return Err(ToolError::new(Category::InvalidArgument, problem).next_step(step));
        }
        let files = RefCell::new(Vec::new());
        let read = |path: &str| {
            let content = read_file(path)?;
            files
                .borrow_mut()
                .push(format!("{path} sha256 {}", sha256(&content)));
            Ok(content)
        };
        let allow = rules.forms();
        let connection = self.view.peek().map(|current| current.connection);
        let connection = connection.or_else(|| self.view.opens_by_itself());
        let attached = attached(kind, connection.as_ref());
        let options = Options {
            attached,
            read_file: Some(&read),
            allow: &allow,
        };
        let verdict = policy::classify(kind, &text, &options);
        Ok(Some(Judged {
            kind,
            attached,
            text,
            verdict,
            files: files.into_inner(),
        }))
    }

    fn rule(&self, judged: Option<&Judged>) -> Ruling {
        decision::decide(
            &self.gate.policy.rules,
            self.spec(),
            judged.map(|judged| &judged.verdict),
        )
    }

    /// The request as a person is shown it, on the session as it is now. Fails where the call itself would.
    pub(super) async fn describe(&self, ruling: &Ruling) -> Result<Request, ToolError> {
        let spec = self.spec();
        // Nobody is asked for what cannot be done now.
        if !spec.functions.is_empty() && spec.group != "session" {
            self.view.link().await?;
        }
        let judged = self.judge()?;
        let host: Arc<dyn Host> = self.view.clone();
        let replaced = replaced(host, spec.name, self.arguments.clone()).await?;
        let session = session_of(self.view);
        let mut lines = vec![
            format!("tool: {} ({})", spec.name, spec.title),
            format!("target:\n  {}", shown(session.as_bytes())),
            format!("why it is asked:\n  {}", shown(ruling.reason.as_bytes())),
        ];
        if let Some(judged) = &judged {
            lines.push(format!(
                "{}:\n  {}",
                judged.kind.name(),
                shown(judged.text.as_bytes())
            ));
            for file in &judged.files {
                lines.push(format!("runs the file:\n  {}", shown(file.as_bytes())));
            }
            for note in &judged.verdict.notes {
                lines.push(format!("note:\n  {}", shown(note.text.as_bytes())));
            }
        }
        if let Some((name, value)) = replaced {
            lines.push(format!("{name}:\n  {}", shown(value.as_bytes())));
        }
        // The text itself is shown above, as it will be sent.
        let text = policy::text_of(spec.name).map(|(_, argument)| argument);
        for (name, value) in self
            .arguments
            .0
            .iter()
            .filter(|(name, _)| Some(name.as_str()) != text)
        {
            let value = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            lines.push(format!("{name}:\n  {}", shown(value.as_bytes())));
        }
        Ok(Request::new(
            spec.name,
            &self.arguments.0,
            session,
            self.masker.mask(&lines.join("\n")).into_owned(),
        ))
    }
}

/// Whether a debuggee evaluates expressions. Only a debuggee in debugger mode does; else the library does it in its own
/// process, and what a remote HyperDbg does with a command is not known here.
fn attached(kind: Kind, connection: Option<&Connection>) -> Option<bool> {
    match connection? {
        Connection::Remote { .. } if kind == Kind::Command => None,
        connection => Some(connection.is_debugger()),
    }
}

/// The content of a file of commands, bounded.
fn read_file(path: &str) -> Result<Vec<u8>, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut content = Vec::new();
    file.take(LARGEST_FILE)
        .read_to_end(&mut content)
        .map_err(|error| error.to_string())?;
    Ok(content)
}
