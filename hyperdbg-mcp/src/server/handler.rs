//! Answers MCP requests.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use super::instructions::instructions;
use super::registry::{Lookup, SESSION, SESSION_ID, Served};
use super::{Ending, Manager, Registry};
use crate::output::{Rendered, render_error, render_output};
use crate::tool::arguments::{echo, normalise};
use crate::tool::{Category, Host, ToolError, ToolOutput};

/// How long clients may keep the lists; they do not change while the process lives.
const LIST_TTL_MS: u64 = 3_600_000;
/// Time between two progress notifications; clients expect one every ten seconds.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The server of one process.
#[derive(Clone)]
pub struct Handler {
    registry: Arc<Registry>,
    manager: Arc<Manager>,
    info: ServerConfig,
    ending: Ending,
}

impl Handler {
    /// A server of the tools in `registry` over the sessions of `manager`.
    pub fn new(registry: Registry, manager: Arc<Manager>, ending: Ending) -> Self {
        let opens = manager.opens_by_itself().is_some();
        let info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("hyperdbg-mcp", env!("CARGO_PKG_VERSION")).with_title("HyperDbg"),
            )
            .with_instructions(instructions(&registry, opens));
        Self {
            registry: Arc::new(registry),
            manager,
            info,
            ending,
        }
    }

    /// The end of the connection.
    pub fn ending(&self) -> Ending {
        self.ending.clone()
    }

    /// The sessions.
    pub fn manager(&self) -> &Arc<Manager> {
        &self.manager
    }

    /// Runs a tool and gives both halves of its result.
    async fn run(&self, served: &Served, arguments: serde_json::Map<String, Value>) -> Rendered {
        let spec = served.tool.spec;
        let started = Instant::now();
        let mut view = self.manager.view(None);
        let result = match normalise(spec.name, &served.input, arguments) {
            Ok(mut arguments) => {
                if let Some(Value::String(id)) = arguments.0.remove(SESSION_ID) {
                    view = self.manager.view(Some(id));
                }
                let host: Arc<dyn Host> = view.clone();
                // A task of its own, so that a defect in a tool costs the call and not its answer.
                let task = Task(tokio::spawn((served.tool.run)(host, arguments)));
                task.result(spec.name).await
            }
            Err(error) => Err(error),
        };
        let outcome = result.as_ref().err().map_or("ok", |error| error.category.name());
        tracing::debug!(tool = spec.name, outcome, elapsed = ?started.elapsed(), "call");
        match (result, view.stamp()) {
            (Ok(output), stamp) => {
                render_output(stamped(output, stamp), &served.output, self.manager.outputs())
            }
            (Err(mut error), stamp) => {
                if let Some(stamp) = stamp {
                    error
                        .next_step
                        .get_or_insert_default()
                        .push_str(&format!(" [{stamp}]"));
                }
                render_error(&error, self.manager.outputs())
            }
        }
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
async fn heartbeat(context: &RequestContext<RoleServer>, name: &str) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let started = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        let seconds = started.elapsed().as_secs();
        let mut progress = ProgressNotificationParam::new(token.clone(), started.elapsed().as_secs_f64());
        progress.message = Some(format!("{name} has been running for {seconds} s"));
        if context.peer.notify_progress(progress).await.is_err() {
            return std::future::pending().await;
        }
    }
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
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
        let served = match self.registry.lookup(&request.name) {
            Lookup::Served(served) => served,
            Lookup::Refused(error) => {
                return Ok(result_of(render_error(&error, self.manager.outputs())).into());
            }
            Lookup::Unknown(nearest) => {
                let hint = nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
                let message = format!("there is no tool `{}`{hint}", echo(&request.name));
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        let rendered = tokio::select! {
            rendered = self.run(served, request.arguments.unwrap_or_default()) => rendered,
            never = heartbeat(&context, served.tool.spec.name) => match never {},
            // rmcp sends nothing for a request that was taken back; what is returned here is dropped.
            () = context.ct.cancelled() => render_error(&cancelled("the client took the request back"), self.manager.outputs()),
            () = self.ending.give_up() => render_error(&cancelled("the client closed its end"), self.manager.outputs()),
        };
        Ok(result_of(rendered).into())
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
            "initialize" | "tools/list" | "ping" | "server/discover" => Err(ErrorData::invalid_params(
                format!("the parameters of {method} do not have its form"),
                None,
            )),
            _ => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, echo(&method), None)),
        }
    }
}

fn cancelled(why: &str) -> ToolError {
    ToolError::new(Category::Cancelled, format!("The call was given up because {why}."))
        .next_step("Nothing is sent again by itself; check the session's state before repeating a call that changes something.")
}
