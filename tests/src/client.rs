//! A line-by-line MCP client over the child's stdin and stdout.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a test waits for one line. Far longer than anything takes: machines are shared.
const PATIENCE: Duration = Duration::from_secs(60);

/// A protocol revision, and with it the way a conversation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// 2024-11-05: `initialize`; knows results as text only.
    V2024November,
    /// 2025-06-18: `initialize`, structured results.
    V2025June,
    /// 2025-11-25: `initialize`.
    V2025November,
    /// 2026-07-28: no handshake; every request carries its version and capabilities.
    V2026July,
}

impl Protocol {
    /// The revisions that know structured results.
    pub const ALL: [Self; 3] = [Self::V2025June, Self::V2025November, Self::V2026July];

    /// The revision's name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::V2024November => "2024-11-05",
            Self::V2025June => "2025-06-18",
            Self::V2025November => "2025-11-25",
            Self::V2026July => "2026-07-28",
        }
    }
}

/// The answer to one `tools/call`.
#[derive(Debug, Clone)]
pub struct ToolAnswer {
    /// The whole result object.
    pub result: Value,
}

impl ToolAnswer {
    /// Whether the tool says it failed.
    pub fn is_error(&self) -> bool {
        self.result["isError"] == json!(true)
    }

    /// The text half, all parts joined.
    pub fn text(&self) -> String {
        let parts = self.result["content"].as_array().cloned().unwrap_or_default();
        parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The structured half; panics with the text when the call failed.
    pub fn fields(&self) -> &Value {
        assert!(!self.is_error(), "the call failed: {}", self.text());
        &self.result["structuredContent"]
    }
}

/// The program as a child process.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Receiver<String>,
    protocol: Protocol,
    next_id: u64,
    /// What the client declares that it can do.
    pub capabilities: Value,
    /// Messages that arrived while another answer was awaited.
    pub others: Vec<Value>,
}

impl Client {
    /// Starts the program with `arguments` and performs the handshake of `protocol`.
    pub fn start(protocol: Protocol, arguments: &[&str]) -> Self {
        let mut client = Self::start_raw(protocol, arguments, &[]);
        client.handshake();
        client
    }

    /// Starts the program without saying anything to it; `environment` is added to the child's.
    pub fn start_raw(protocol: Protocol, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = Command::new(crate::program());
        command
            .args(arguments)
            .env_remove("HYPERDBG_LIBRARY")
            // Tests leave nothing in the state directory of whoever runs them.
            .env("HYPERDBG_MCP_AUDIT", "off")
            .env("HYPERDBG_MCP_STATE", "off")
            // A checkout may lie where every user of the machine can write, as below the root of a Windows drive.
            .env("HYPERDBG_MCP_ALLOW_WRITABLE_FOLDER", "1")
            .envs(environment.iter().copied());
        Self::start_command(protocol, &mut command)
    }

    /// Starts the program as the command says, without saying anything to it.
    pub fn start_command(protocol: Protocol, command: &mut Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = match command.spawn() {
            // Wine fails now and then to start a process.
            Err(error) if error.raw_os_error() == Some(1359) => command.spawn(),
            spawned => spawned,
        }
        .expect("the program starts");
        let lines = pump(child.stdout.take().expect("stdout is piped"));
        let stderr = pump(child.stderr.take().expect("stderr is piped"));
        let stdin = child.stdin.take();
        Self {
            child,
            stdin,
            lines,
            stderr,
            protocol,
            next_id: 1,
            capabilities: json!({}),
            others: Vec::new(),
        }
    }

    /// Opens the conversation the way the revision wants it.
    pub fn handshake(&mut self) -> Value {
        if self.protocol == Protocol::V2026July {
            return self.request("server/discover", json!({}));
        }
        let answer = self.request(
            "initialize",
            json!({
                "protocolVersion": self.protocol.name(),
                "capabilities": self.capabilities,
                "clientInfo": {"name": "end-to-end", "version": "1"},
            }),
        );
        self.notify("notifications/initialized", json!({}));
        answer
    }

    /// Sends one raw line.
    pub fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        writeln!(stdin, "{line}")
            .and_then(|()| stdin.flush())
            .expect("the program reads its stdin");
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send_line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request and returns its id without waiting.
    pub fn send(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        if self.protocol == Protocol::V2026July {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(self.protocol.name());
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({"name": "end-to-end", "version": "1"});
        }
        self.send_line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// The next message, whatever it is; `None` at the end of the program's output.
    pub fn next_message(&mut self, patience: Duration) -> Option<Value> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => Some(serde_json::from_str(&line).unwrap_or_else(|error| {
                panic!("stdout carries something that is not JSON ({error}): {line:?}")
            })),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                panic!("no message within {patience:?}\n{}", self.stderr_so_far())
            }
        }
    }

    /// Waits for the answer to request `id`; other messages are kept in `others`.
    pub fn wait(&mut self, id: u64) -> Value {
        if let Some(place) = self.others.iter().position(|message| message["id"] == json!(id)) {
            return self.others.remove(place);
        }
        loop {
            let Some(message) = self.next_message(PATIENCE) else {
                panic!("the program ended before it answered\n{}", self.stderr_so_far());
            };
            if message["id"] == json!(id) && message.get("method").is_none() {
                return message;
            }
            self.others.push(message);
        }
    }

    /// Sends a request and returns its result; panics on a protocol error.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.wait(id);
        assert!(answer.get("error").is_none(), "{method} was refused: {answer}");
        answer["result"].clone()
    }

    /// Sends a request that must be refused, and returns the error object.
    pub fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.wait(id);
        assert!(
            answer.get("error").is_some(),
            "{method} was not refused: {answer}"
        );
        answer["error"].clone()
    }

    /// Every tool that the server lists.
    pub fn tools(&mut self) -> Vec<Value> {
        self.request("tools/list", json!({}))["tools"]
            .as_array()
            .cloned()
            .expect("a list of tools")
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, arguments: Value) -> ToolAnswer {
        ToolAnswer {
            result: self.request("tools/call", json!({"name": tool, "arguments": arguments})),
        }
    }

    /// Process id of the server.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Closes the program's stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Closes stdin and waits for the end; panics when the program is still there after `patience`.
    pub fn finish(mut self, patience: Duration) -> ExitStatus {
        self.close_stdin();
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                return status;
            }
            assert!(
                started.elapsed() < patience,
                "still running {patience:?} after the end of its input\n{}",
                self.stderr_so_far()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// What the program has written to stderr until now.
    pub fn stderr_so_far(&mut self) -> String {
        let mut text = String::new();
        while let Ok(line) = self.stderr.recv_timeout(Duration::from_millis(100)) {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads lines on a thread of its own. Bytes that are no UTF-8 are kept visible as replacement characters.
fn pump(source: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(source);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(count) if count > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned();
            if sender.send(text).is_err() {
                return;
            }
            line.clear();
        }
    });
    receiver
}
