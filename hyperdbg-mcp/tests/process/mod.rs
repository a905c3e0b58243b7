//! The real program as a child, spoken to line by line.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]
#![allow(unreachable_pub, reason = "a module of test programs")]
#![allow(dead_code, reason = "each test program uses its part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

#[path = "../system/mod.rs"]
pub mod system;
use system::exists;

/// Longer than any call of these tests takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program, which cargo builds above its tests. The variable in which it names it has a hyphen, and a compiler that
/// is started by a shell script does not get it.
pub fn path_of_program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name = format!("hyperdbg-mcp{}", std::env::consts::EXE_SUFFIX);
    let path = test.ancestors().nth(2).unwrap().join(name);
    assert!(path.is_file(), "{} is not built", path.display());
    path
}

/// The program with nothing of this process's environment that it would read.
pub fn program() -> Command {
    let mut command = Command::new(path_of_program());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HYPERDBG_") {
            command.env_remove(name);
        }
    }
    // Tests leave no log in the state directory of whoever runs them.
    command
        .env("HYPERDBG_MCP_AUDIT", "off")
        .env("HYPERDBG_MCP_STATE", "off");
    // A checkout may lie where every user of the machine can write, as below the root of a Windows drive.
    command.env("HYPERDBG_MCP_ALLOW_WRITABLE_FOLDER", "1");
    command
}

/// The simulator as a shared library: it is built beside every test program.
pub fn shared_simulator() -> PathBuf {
    let name = if cfg!(windows) {
        "hyperdbg_simulator.dll"
    } else {
        "libhyperdbg_simulator.so"
    };
    let path = std::env::current_exe().unwrap().with_file_name(name);
    assert!(path.is_file(), "{} is not built", path.display());
    path
}

/// A server that shook hands.
pub struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Receiver<String>,
    next_id: u64,
}

impl Server {
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_in("2025-06-18", program().args(arguments))
    }

    pub fn start_in(version: &str, command: &mut Command) -> Self {
        let mut server = Self::spawn(command);
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = server.request("initialize", &params);
        assert_eq!(answer["result"]["protocolVersion"], version);
        server.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        server
    }

    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = forward(child.stdout.take().unwrap());
        let stderr = forward(child.stderr.take().unwrap());
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            stderr,
            next_id: 0,
        }
    }

    pub fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// The next message; nothing but JSON-RPC may stand on standard output.
    pub fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("an answer in time");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    pub fn fields(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(
            result["isError"], true,
            "{tool}: {}",
            result["content"][0]["text"]
        );
        result["structuredContent"].clone()
    }

    /// The text of an error, after a check of its category.
    pub fn error(&mut self, category: &str, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.starts_with(&format!("error: {category}\n")), "{text}");
        assert_eq!(result["isError"], true);
        text
    }

    pub fn worker_pid(&mut self) -> u64 {
        self.fields("hd_session_status", json!({}))["worker_pid"]
            .as_u64()
            .expect("a session is open")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Closes its input and waits for its end.
    pub fn end(mut self) -> (ExitStatus, Duration, String) {
        let started = Instant::now();
        drop(self.stdin.take());
        let status = self.wait();
        let stderr: Vec<String> = self.stderr.iter().collect();
        (status, started.elapsed(), stderr.join("\n"))
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn forward(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Whether a process is gone within two seconds.
pub fn is_gone(pid: u64) -> bool {
    let pid = u32::try_from(pid).unwrap();
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(2) {
        if !exists(pid) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    !exists(pid)
}

/// Kills a process.
pub fn kill(pid: u64) {
    system::kill(u32::try_from(pid).unwrap());
}
