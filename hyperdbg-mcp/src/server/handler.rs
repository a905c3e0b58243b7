//! Answers MCP requests.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, ErrorData, Implementation, InputRequiredResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use super::admission::{Admission, Call};
use super::instructions::instructions;
use super::registry::{DEADLINE, Lookup, SESSION, SESSION_ID, Served};
use super::resources::Resources;
use super::{Ending, Gate, Manager, Registry, View};
use crate::audit::{self, Audit, Decision, Masker, Pending};
use crate::output::{Rendered, render_error, render_output};
use crate::tier::Tier;
use crate::tool::arguments::{echo, normalise};
use crate::tool::{Arguments, Category, Host, Sessions, ToolError, ToolOutput};

/// How long clients may keep the lists; they do not change while the process lives.
const LIST_TTL_MS: u64 = 3_600_000;
/// The method, as the audit log names it beside tools.
const READ_RESOURCE: &str = "resources/read";
/// Time between two progress notifications; clients expect one every ten seconds.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The server of one process.
#[derive(Clone)]
pub struct Handler {
    registry: Arc<Registry>,
    manager: Arc<Manager>,
    gate: Arc<Gate>,
    info: ServerConfig,
    ending: Ending,
    audit: Arc<Audit>,
    resources: Resources,
}

impl Handler {
    /// A server of the tools in `registry` over the sessions of `manager`; `gate` decides about each call.
    pub fn new(registry: Registry, manager: Arc<Manager>, ending: Ending, gate: Gate) -> Self {
        let opens = manager.opens_by_itself().is_some();
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .build();
        let info = ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("hyperdbg-mcp", env!("CARGO_PKG_VERSION")).with_title("HyperDbg"),
            )
            .with_instructions(instructions(&registry, opens, &gate.policy.rules));
        Self {
            registry: Arc::new(registry),
            resources: Resources::new(Arc::clone(&manager), ending.clone()),
            manager,
            gate: Arc::new(gate),
            info,
            ending,
            audit: Arc::new(Audit::off(Masker::default())),
        }
    }

    /// The same server with a log of its calls.
    #[must_use]
    pub fn audited(mut self, audit: Arc<Audit>) -> Self {
        self.manager.outputs().mask(audit.masker().clone());
        self.audit = audit;
        self
    }

    /// The log of its calls.
    pub fn audit(&self) -> &Arc<Audit> {
        &self.audit
    }

    /// The end of the connection.
    pub fn ending(&self) -> Ending {
        self.ending.clone()
    }

    /// The sessions.
    pub fn manager(&self) -> &Arc<Manager> {
        &self.manager
    }

    /// Records a call that is about to be made, or is not.
    fn record(
        &self,
        view: &View,
        tool: &str,
        tier: Option<Tier>,
        arguments: &serde_json::Map<String, Value>,
        decision: Decision,
    ) -> Result<Pending<'_>, ToolError> {
        let current = view.peek();
        self.audit.intent(&audit::Call {
            tool,
            tier,
            arguments,
            decision,
            command: arguments.get("command").and_then(Value::as_str).map(str::trim),
            session: current.map_or_else(Default::default, |current| audit::Session {
                id: Some(current.id.to_string()),
                epoch: Some(current.book.pages().epoch),
                mode: Some(current.connection.mode()),
                worker_pid: current.target.state().pid,
            }),
        })
    }

    /// Records a call that is not made.
    fn refuse(&self, view: &View, request: &CallToolRequestParams, why: &str, rendered: Option<&Rendered>) {
        let arguments = request.arguments.clone().unwrap_or_default();
        let by = match rendered.and_then(|rendered| rendered.failure) {
            Some(Category::InvalidArgument) | None => "validation",
            Some(Category::NotConfirmed) => "confirmation",
            Some(_) => "policy",
        };
        // What is not made needs no record to be refused.
        if let Ok(pending) = self.record(view, &request.name, None, &arguments, Decision::refused(by, why)) {
            match rendered {
                Some(rendered) => pending.finish(rendered),
                None => pending.finish_without_result("unknown_tool"),
            }
        }
    }

    /// The result without secrets.
    fn masked(&self, mut rendered: Rendered) -> Rendered {
        let masker = self.audit.masker();
        if let Cow::Owned(text) = masker.mask(&rendered.text) {
            rendered.text = text;
        }
        if let Some(fields) = &mut rendered.fields {
            masker.mask_fields(fields);
        }
        rendered
    }

    /// Reads a resource; recorded like a call that reads.
    async fn read(&self, uri: &str) -> Result<String, ErrorData> {
        let view = self.manager.view(None);
        let mut arguments = serde_json::Map::new();
        arguments.insert("uri".to_owned(), Value::String(uri.to_owned()));
        let pending = self
            .record(
                &view,
                READ_RESOURCE,
                Some(Tier::Read),
                &arguments,
                Decision::allowed(),
            )
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        match self.resources.read(uri).await {
            Ok(text) => {
                let rendered = self.masked(Rendered {
                    text,
                    fields: None,
                    failure: None,
                });
                pending.finish(&rendered);
                Ok(rendered.text)
            }
            Err(error) => {
                pending.finish_without_result(Category::InvalidArgument.name());
                Err(error)
            }
        }
    }

    /// Runs a tool, where the gate lets it through.
    async fn run(
        &self,
        served: &Served,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let spec = served.tool.spec;
        let started = Instant::now();
        let arguments = request.arguments.clone().unwrap_or_default();
        let mut pending = None;
        let mut view = self.manager.view(None);
        let result = match normalise(spec.name, &served.input, arguments) {
            Ok(mut arguments) => {
                let mut unknown = None;
                if let Some(Value::String(id)) = arguments.0.remove(SESSION_ID) {
                    unknown = self.manager.unknown(&id);
                    view = self.manager.view(Some(id));
                }
                if let Some(Value::Number(ms)) = arguments.0.remove(DEADLINE) {
                    view = view.within(Duration::from_millis(ms.as_u64().unwrap_or(u64::MAX)));
                }
                match unknown {
                    // Also for the tools that would answer without a session.
                    Some(error) => Err(error),
                    None => {
                        self.decide(served, &view, arguments, &request, context, &mut pending)
                            .await
                    }
                }
            }
            Err(error) => Err(error),
        };
        let outcome = result.as_ref().err().map_or("ok", |error| error.category.name());
        tracing::debug!(tool = spec.name, outcome, elapsed = ?started.elapsed(), "call");
        let (rendered, why) = match result {
            Ok(Ran::Done(output)) => {
                let output = stamped(output, view.stamp());
                let output = render_output(output, &served.output, self.manager.outputs());
                (output, String::new())
            }
            Ok(Ran::Asks(ask)) => return (*ask).into(),
            Err(error) => {
                let why = error.message.clone();
                (self.render(error, &view), why)
            }
        };
        let rendered = self.masked(rendered);
        self.manager.note();
        match pending {
            Some(pending) => pending.finish(&rendered),
            None => self.refuse(&view, &request, &why, Some(&rendered)),
        }
        result_of(rendered).into()
    }

    /// Decides about a call and makes it; `pending` is its record once it may be made.
    async fn decide<'a>(
        &'a self,
        served: &Served,
        view: &Arc<View>,
        arguments: Arguments,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        pending: &mut Option<Pending<'a>>,
    ) -> Result<Ran, ToolError> {
        let name = served.tool.spec.name;
        let call = Call {
            gate: &self.gate,
            masker: self.audit.masker(),
            view,
            served,
            arguments: &arguments,
            request,
            context,
        };
        let mut admitted = match call.admit().await? {
            Admission::Run(admitted) => admitted,
            Admission::Ask(ask) => {
                self.record(view, name, Some(Tier::Read), &arguments.0, Decision::asked())?
                    .finish_without_result("input_required");
                return Ok(Ran::Asks(ask));
            }
        };
        let decision = match admitted.confirmed_by.take() {
            Some(by) => Decision::confirmed(by),
            None => Decision::allowed(),
        };
        let tier = admitted.tier.unwrap_or(Tier::Destructive);
        *pending = Some(self.record(view, name, Some(tier), &arguments.0, decision)?);
        let policy = admitted.policy.take();
        let host: Arc<dyn Host> = Arc::new(admitted);
        // A task of its own, so that a defect in a tool costs the call and not its answer.
        let task = Task(tokio::spawn((served.tool.run)(host, arguments)));
        let mut output = task.result(name).await?;
        output.policy = policy;
        Ok(Ran::Done(output))
    }

    /// An error, with what must be said in every result.
    fn render(&self, mut error: ToolError, view: &View) -> Rendered {
        if let Some(warning) = self.gate.policy.rules.warning() {
            error.message = format!("{} [{warning}]", error.message);
        }
        if let Some(stamp) = view.stamp() {
            let step = error.next_step.get_or_insert_default();
            step.push_str(&format!(" [{stamp}]"));
        }
        render_error(&error, self.manager.outputs())
    }
}

/// The result with its session's id, epoch and run state, in both halves.
fn stamped(mut output: ToolOutput, stamp: Option<String>) -> ToolOutput {
    if let Some(stamp) = stamp {
        if let Some(text) = &mut output.text {
            text.push_str(&format!("\n[{stamp}]"));
        }
        output.fields.insert(SESSION.to_owned(), Value::String(stamp));
    }
    output
}

/// What became of a call that did not fail.
enum Ran {
    Done(ToolOutput),
    /// The client asks its person and calls again.
    Asks(Box<InputRequiredResult>),
}

/// A task that ends when it is no longer waited for.
struct Task(tokio::task::JoinHandle<Result<ToolOutput, ToolError>>);

impl Task {
    async fn result(mut self, name: &str) -> Result<ToolOutput, ToolError> {
        match (&mut self.0).await {
            Ok(result) => result,
            Err(_) => Err(ToolError::internal(format!("{name} panicked"))),
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn result_of(rendered: Rendered) -> CallToolResult {
    let content = vec![ContentBlock::text(rendered.text)];
    match rendered.fields {
        Some(fields) => {
            let mut result = CallToolResult::success(content);
            result.structured_content = Some(Value::Object(fields));
            result
        }
        None => CallToolResult::error(content),
    }
}

/// Tells the client that a call goes on, for as long as it is polled.
/// An opening tells each of its steps at once.
async fn heartbeat(context: &RequestContext<RoleServer>, name: &str, manager: &Manager) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let started = tokio::time::Instant::now();
    let opens = name == "hd_session_open";
    let mut steps = manager.steps();
    loop {
        let step = tokio::select! {
            () = tokio::time::sleep(HEARTBEAT) => *steps.borrow(),
            _ = steps.changed(), if opens => match *steps.borrow_and_update() {
                Some(step) => Some(step),
                None => continue,
            },
        };
        let step = step.filter(|_| opens);
        let seconds = started.elapsed().as_secs();
        let mut progress = ProgressNotificationParam::new(token.clone(), started.elapsed().as_secs_f64());
        progress.message = Some(match step {
            Some(step) => format!("{name} is {} ({seconds} s)", step.what),
            None => format!("{name} has been running for {seconds} s"),
        });
        if context.peer.notify_progress(progress).await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// Whether this request is made as in 2026-07-28 or later.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.info.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        Ok(
            DiscoverResult::from_server_info(
                self.supported_protocol_versions().into_owned(),
                self.get_info(),
            )
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private),
        )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self
            .registry
            .served()
            .iter()
            .map(|served| served.model.clone())
            .collect();
        let list = ListToolsResult::with_all_items(tools);
        Ok(if is_modern(&context) {
            list.with_ttl_ms(LIST_TTL_MS)
                .with_cache_scope(CacheScope::Private)
        } else {
            list
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let view = self.manager.view(None);
        let served = match self.registry.lookup(&request.name) {
            Lookup::Served(served) => served,
            Lookup::Refused(error) => {
                let why = error.message.clone();
                let rendered = self.masked(self.render(error, &view));
                self.refuse(&view, &request, &why, Some(&rendered));
                return Ok(result_of(rendered).into());
            }
            Lookup::Unknown(nearest) => {
                self.refuse(&view, &request, "there is no such tool", None);
                let hint = nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
                let name = self.audit.masker().mask(&request.name);
                let message = format!("there is no tool `{}`{hint}", echo(&name));
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        let why = tokio::select! {
            response = self.run(served, request, &context) => return Ok(response),
            never = heartbeat(&context, served.tool.spec.name, &self.manager) => match never {},
            // rmcp sends nothing for a request that was taken back; what is returned here is dropped.
            () = context.ct.cancelled() => "the client took the request back",
            () = self.ending.give_up() => "the client closed its end",
        };
        Ok(result_of(self.render(cancelled(why), &view)).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if !is_modern(&context) {
            self.resources.watch_list(context.peer);
        }
        self.resources
            .list(request.and_then(|request| request.cursor).as_deref())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let list = Resources::templates();
        Ok(if is_modern(&context) {
            list.with_ttl_ms(LIST_TTL_MS)
                .with_cache_scope(CacheScope::Private)
        } else {
            list
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let text = self.read(&request.uri).await?;
        let contents = ResourceContents::text(text, request.uri);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.resources.subscribe(&request.uri, context.peer)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.resources.unsubscribe(&request.uri).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(self.resources.accepted(requested))
    }

    async fn listen(&self, listener: SubscriptionContext) -> Result<(), ErrorData> {
        self.resources.listen(&listener).await;
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        // A known method is here because its parameters do not have its form.
        match method.as_str() {
            "tools/call" => Err(ErrorData::invalid_params(
                match params.as_ref().and_then(|params| params.get("name")) {
                    Some(Value::String(_)) => "`arguments` must be a JSON object of the tool's arguments",
                    _ => "`name` must be the name of a tool, as a string",
                },
                None,
            )),
            "initialize"
            | "tools/list"
            | "ping"
            | "server/discover"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
            | "resources/subscribe"
            | "resources/unsubscribe"
            | "subscriptions/listen" => Err(ErrorData::invalid_params(
                format!("the parameters of {method} do not have its form"),
                None,
            )),
            _ => Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                echo(&self.audit.masker().mask(&method)),
                None,
            )),
        }
    }
}

fn cancelled(why: &str) -> ToolError {
    ToolError::new(Category::Cancelled, format!("The call was given up because {why}."))
        .next_step("Nothing is sent again by itself; check the session's state before repeating a call that changes something.")
}
