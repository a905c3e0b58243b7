//! A client in the same process, over the real server path: what `call` and `demo` speak through.

use std::io::{BufRead, IsTerminal, Write};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, ErrorData, Implementation, JsonObject, Tool,
};
use rmcp::service::{RequestContext, RunningService, ServiceError};
use rmcp::{ClientHandler, RoleClient, ServiceExt};

use super::{ServeFlags, launch};
use crate::server::{Ending, serve};

/// Bytes in flight between the two ends.
const PIPE_BYTES: usize = 1 << 20;

/// The client's side of the conversation: asks the person at the terminal, where there is one.
struct Terminal(ClientConfig);

impl ClientHandler for Terminal {
    fn get_info(&self) -> ClientConfig {
        self.0.clone()
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Cancel));
        };
        let says_yes = tokio::task::spawn_blocking(move || asks(&message)).await;
        Ok(ElicitResult::new(match says_yes {
            Ok(Ok(true)) => ElicitationAction::Accept,
            Ok(Ok(false)) => ElicitationAction::Decline,
            _ => ElicitationAction::Cancel,
        }))
    }
}

/// Whether the person at the terminal says yes.
pub(super) fn asks(question: &str) -> std::io::Result<bool> {
    eprint!("{question}\n\nLet it through? [y/N] ");
    std::io::stderr().flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// A client with its server.
pub(super) struct Client {
    client: RunningService<RoleClient, Terminal>,
    server: tokio::task::JoinHandle<Result<(), String>>,
}

impl Client {
    /// Starts the server that `flags` describe and shakes hands with it.
    pub(super) async fn start(flags: &ServeFlags) -> Result<Self, String> {
        let handler = launch::handler(flags, Ending::of_connection(), false)?;
        let (near, far) = tokio::io::duplex(PIPE_BYTES);
        let (read, write) = tokio::io::split(far);
        let server = tokio::spawn(serve(handler, read, write));
        let me = Implementation::new("hyperdbg-mcp command line", env!("CARGO_PKG_VERSION"));
        let mut capabilities = ClientCapabilities::default();
        if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            capabilities.elicitation = Some(ElicitationCapability::new());
        }
        let client = Terminal(ClientConfig::new(capabilities, me))
            .serve(near)
            .await
            .map_err(|error| error.to_string())?;
        Ok(Self { client, server })
    }

    /// What the server says of itself.
    pub(super) fn server_name(&self) -> String {
        let Some(info) = self.client.peer_info() else {
            return String::new();
        };
        let name = info.server_info.as_ref().map_or_else(String::new, |server| {
            format!("{} {}", server.name, server.version)
        });
        format!("{name}, protocol {}", info.protocol_version)
    }

    /// Every tool that is served.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, String> {
        self.client
            .list_all_tools()
            .await
            .map_err(|error| error.to_string())
    }

    /// Calls a tool.
    pub(super) async fn call(&self, name: &str, arguments: JsonObject) -> Result<CallToolResult, CallError> {
        let request = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        self.client.call_tool(request).await.map_err(|error| match error {
            ServiceError::McpError(error) => CallError::Protocol(error.message.into_owned()),
            other => CallError::Connection(other.to_string()),
        })
    }

    /// Ends both.
    pub(super) async fn end(self) {
        let _ = self.client.cancel().await;
        let _ = self.server.await;
    }
}

/// Why a call has no result.
pub(super) enum CallError {
    /// The server refused the request as such: no such tool.
    Protocol(String),
    /// The connection failed.
    Connection(String),
}

/// The text half of a result.
pub(super) fn text_of(result: &CallToolResult) -> String {
    let texts: Vec<&str> = result
        .content
        .iter()
        .filter_map(|block| block.as_text().map(|text| text.text.as_str()))
        .collect();
    texts.join("\n")
}
