//! A blocking client that adds as little as possible of its own.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub(crate) struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: String,
    id: u64,
}

impl Client {
    /// Starts this program with `arguments` and initialises the conversation.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_in(arguments, &[])
    }

    /// The same with further environment variables.
    pub(crate) fn start_in(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let program = std::env::current_exe().expect("this program has a path");
        let mut child = Command::new(program)
            .args(arguments)
            // What is measured leaves nothing in the folders of whoever measures.
            .envs([("HYPERDBG_MCP_AUDIT", "off"), ("HYPERDBG_MCP_STATE", "off")])
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut client = Self {
            child,
            stdin,
            stdout,
            line: String::new(),
            id: 0,
        };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "cost", "version": "1"},
        });
        client.send("initialize", &hello);
        client.receive();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        writeln!(client.stdin, "{initialized}").expect("the server reads");
        client
    }

    fn send(&mut self, method: &str, params: &Value) {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        writeln!(self.stdin, "{request}").expect("the server reads");
    }

    fn receive(&mut self) -> Value {
        self.line.clear();
        self.stdout.read_line(&mut self.line).expect("the server writes");
        let answer: Value = serde_json::from_str(&self.line).expect("an answer is JSON");
        assert!(
            answer.get("error").is_none() && answer["result"]["isError"] != json!(true),
            "{answer}"
        );
        answer
    }

    /// One call and its answer.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.send("tools/call", &json!({"name": tool, "arguments": arguments}));
        self.receive()
    }

    /// Many calls at once.
    pub(crate) fn pipeline(&mut self, count: usize, tool: &str, arguments: &Value) {
        for _ in 0..count {
            self.send("tools/call", &json!({"name": tool, "arguments": arguments}));
        }
        for _ in 0..count {
            self.receive();
        }
    }

    /// Process id of the server.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
