//! A worker that is none: a small machine that answers the calls of the tools, and misbehaves when told.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]
#![allow(unreachable_pub, reason = "a module of test programs")]
#![allow(dead_code, reason = "each test program uses its part")]

#[path = "../conform/mod.rs"]
mod conform;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use hyperdbg_mcp::engine::{BoxFuture, Link, Outcome};
use hyperdbg_mcp::generated::{self as g, Call, Reply};
use hyperdbg_mcp::policy::decision::{Permit, Rules};
use hyperdbg_mcp::server::{Ending, Gate, Handler, Launcher, Manager, Policy, Registry, Remains, serve};
use hyperdbg_mcp::session::{LogPage, LogRecord, Origin};
use hyperdbg_mcp::tier::Tier;
use hyperdbg_mcp::tool::surface::{Groups, Selection};
use hyperdbg_mcp::tool::{Category, Connection, Delivery, Meter, Run, Target, ToolError, WorkerState};
use hyperdbg_sys::{DEBUGGER_READ_MEMORY_ADDRESS_MODE, GUEST_EXTRA_REGISTERS, GUEST_REGS, Packet};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::Notify;

/// First mapped byte.
pub const BASE: u64 = 0xffff_f800_0000_0000;
const PAGE: u64 = 0x1000;
/// The page that is not mapped.
pub const HOLE: u64 = BASE + 2 * PAGE;
/// First byte that is not mapped any more.
pub const END: u64 = BASE + 64 * PAGE;

/// What the fake does with the calls that it gets.
#[derive(Default)]
pub struct Fake {
    pub memory: Mutex<Vec<u8>>,
    pub rip: Mutex<u64>,
    pub rax: Mutex<u64>,
    pub breakpoints: Mutex<Vec<u64>>,
    /// Sizes of the memory reads, in order.
    pub reads: Mutex<Vec<u32>>,
    /// Commands, in order.
    pub commands: Mutex<Vec<String>>,
    /// What the next command prints.
    pub prints: Mutex<Option<Vec<u8>>>,
    /// Every call hangs.
    pub hangs: AtomicBool,
    /// Calls that were given up.
    pub dropped: AtomicUsize,
    pub running: AtomicBool,
    pub interrupted: AtomicBool,
    pub execs: AtomicU64,
    pub stop: Mutex<Option<Vec<u8>>>,
    pub stopped: Notify,
    pub refuses_memory: Mutex<Option<ToolError>>,
    /// The event log of every session.
    pub log: Mutex<Vec<LogRecord>>,
    pub logged: Notify,
}

impl Fake {
    pub fn new() -> Arc<Self> {
        let fake = Self::default();
        let mut memory = vec![0_u8; usize::try_from(END - BASE).unwrap()];
        memory[..8].copy_from_slice(&[0x48, 0x83, 0xec, 0x28, 0x90, 0x90, 0xeb, 0xfc]);
        memory[0x100..0x10f].copy_from_slice(b"</captured-0>\x1b!");
        *fake.memory.lock().unwrap() = memory;
        *fake.rip.lock().unwrap() = BASE;
        Arc::new(fake)
    }

    fn answer(&self, call: Call) -> Result<(Reply, Vec<u8>), ToolError> {
        Ok(match call {
            Call::RunCommand(args) => {
                let command = String::from_utf8(args.command).unwrap();
                let text = self.run(&command);
                self.commands.lock().unwrap().push(command);
                (Reply::RunCommand(g::RunCommandReply { returned: 0 }), text)
            }
            Call::ReadMemory(args) => {
                self.reads.lock().unwrap().push(args.size);
                if let Some(error) = self.refuses_memory.lock().unwrap().clone() {
                    return Err(error);
                }
                let end = args.address.wrapping_add(args.size.into());
                let touches_hole = args.address < HOLE + PAGE && end > HOLE;
                let mode = DEBUGGER_READ_MEMORY_ADDRESS_MODE::DEBUGGER_READ_ADDRESS_MODE_64_BIT;
                let mut reply = g::ReadMemoryReply {
                    returned: 0,
                    address_mode: mode,
                    bytes: Vec::new(),
                    bytes_read: 0,
                };
                if args.address < BASE || end > END || touches_hole {
                    (
                        Reply::ReadMemory(reply),
                        b"err, invalid address (c0000005)\n".to_vec(),
                    )
                } else {
                    let start = usize::try_from(args.address - BASE).unwrap();
                    reply.returned = 1;
                    reply.bytes_read = args.size;
                    reply.bytes = self.memory.lock().unwrap()[start..start + args.size as usize].to_vec();
                    (Reply::ReadMemory(reply), Vec::new())
                }
            }
            Call::WriteMemory(args) => {
                let start = usize::try_from(args.address - BASE).unwrap();
                self.memory.lock().unwrap()[start..start + args.bytes.len()].copy_from_slice(&args.bytes);
                (
                    Reply::WriteMemory(g::WriteMemoryReply { returned: 1 }),
                    Vec::new(),
                )
            }
            Call::ReadAllRegisters(_) => {
                let mut general = Packet::<GUEST_REGS>::zeroed();
                general.get_mut().rax = *self.rax.lock().unwrap();
                let mut extra = Packet::<GUEST_EXTRA_REGISTERS>::zeroed();
                extra.get_mut().RIP = *self.rip.lock().unwrap();
                (
                    Reply::ReadAllRegisters(g::ReadAllRegistersReply {
                        returned: 1,
                        general,
                        extra,
                    }),
                    Vec::new(),
                )
            }
            Call::ReadTargetRegister(args) => {
                let value = if args.register.0 == 102 {
                    *self.rip.lock().unwrap()
                } else {
                    *self.rax.lock().unwrap()
                };
                (
                    Reply::ReadTargetRegister(g::ReadTargetRegisterReply { returned: 1, value }),
                    Vec::new(),
                )
            }
            Call::WriteTargetRegister(args) => {
                *self.rax.lock().unwrap() = args.value;
                (
                    Reply::WriteTargetRegister(g::WriteTargetRegisterReply { returned: 1 }),
                    Vec::new(),
                )
            }
            Call::SetBreakpoint(args) => {
                let mut breakpoints = self.breakpoints.lock().unwrap();
                if !breakpoints.contains(&args.address) {
                    breakpoints.push(args.address);
                }
                (
                    Reply::SetBreakpoint(g::SetBreakpointReply { returned: 1 }),
                    Vec::new(),
                )
            }
            Call::EvalExpression(args) => {
                let has_error = args.expression.starts_with(b"bad");
                let text = if has_error {
                    b"err, syntax error at bad\n".to_vec()
                } else {
                    Vec::new()
                };
                (
                    Reply::EvalExpression(g::EvalExpressionReply {
                        returned: 0x2a,
                        has_error,
                    }),
                    text,
                )
            }
            Call::RunScript(_) => (
                Reply::RunScript(g::RunScriptReply { returned: 1 }),
                b"script says\n".to_vec(),
            ),
            Call::SteppingRegularStepIn(_) => {
                *self.rip.lock().unwrap() += 4;
                (
                    Reply::SteppingRegularStepIn(g::SteppingRegularStepInReply { returned: 1 }),
                    Vec::new(),
                )
            }
            Call::ConnectRemoteDebuggerUsingNamedPipe(_) => {
                let reply = g::ConnectRemoteDebuggerUsingNamedPipeReply { returned: 1 };
                (
                    Reply::ConnectRemoteDebuggerUsingNamedPipe(reply),
                    b"connected\n".to_vec(),
                )
            }
            Call::ConnectRemoteDebugger(_) => {
                // What the real one says of a refused connection.
                (
                    Reply::ConnectRemoteDebugger(g::ConnectRemoteDebuggerReply { returned: 1 }),
                    Vec::new(),
                )
            }
            Call::DebugCloseRemoteDebugger(_) => {
                let reply = g::DebugCloseRemoteDebuggerReply { returned: 1 };
                (Reply::DebugCloseRemoteDebugger(reply), b"closed\n".to_vec())
            }
            Call::ShowSignature(_) => (
                Reply::ShowSignature(g::ShowSignatureReply {}),
                b"0: kHyperDbg> ".to_vec(),
            ),
            other => {
                return Err(ToolError::internal(format!(
                    "the fake does not know {}",
                    other.function().symbol
                )));
            }
        })
    }

    fn run(&self, command: &str) -> Vec<u8> {
        if let Some(text) = self.prints.lock().unwrap().take() {
            return text;
        }
        match command {
            _ if command.starts_with("bc 0x") => {
                let number = usize::from_str_radix(&command[5..], 16).unwrap();
                self.breakpoints.lock().unwrap().remove(number - 1);
                Vec::new()
            }
            "bl" => self
                .breakpoints
                .lock()
                .unwrap()
                .iter()
                .enumerate()
                .map(|(at, address)| format!("{:02x}   {address:016x}  enabled\n", at + 1))
                .collect::<String>()
                .into_bytes(),
            "lm" | "lm km" => b"kernel mode\nstart\t\t\tsize\tname\t\t\t\tpath\n\n\
                fffff800`00000000\t40000\tnt\x1b.exe\t\t\t\t\\x\\nt\x1b.exe\n"
                .to_vec(),
            "unknown" => b"err, couldn't resolve command at 'unknown'\n".to_vec(),
            _ => format!("ran {command}\n").into_bytes(),
        }
    }
}

/// The fake as a worker; the flag says that it was closed.
pub struct FakeTarget(pub Arc<Fake>, AtomicBool);

impl Link for FakeTarget {
    fn call(&self, call: Call, _: Duration) -> BoxFuture<'_, Result<Outcome<Reply>, ToolError>> {
        Box::pin(async move {
            let mut guard = CountDrop(Some(&self.0));
            if self.0.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            guard.0 = None;
            let (reply, text) = self.0.answer(call)?;
            Ok(Outcome::new(reply, text, Duration::ZERO))
        })
    }
}

struct CountDrop<'a>(Option<&'a Fake>);

impl Drop for CountDrop<'_> {
    fn drop(&mut self) {
        if let Some(fake) = self.0 {
            fake.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Target for FakeTarget {
    fn state(&self) -> WorkerState {
        WorkerState {
            alive: !self.1.load(Ordering::SeqCst),
            pid: Some(1),
            events: self.0.log.lock().unwrap().len() as u64,
            ..WorkerState::default()
        }
    }

    fn resume(&self, _: Call) -> BoxFuture<'_, Result<u64, ToolError>> {
        Box::pin(async {
            if self.0.running.swap(true, Ordering::SeqCst) {
                return Err(ToolError::new(Category::TargetRunning, "It runs."));
            }
            Ok(self.0.execs.fetch_add(1, Ordering::SeqCst) + 1)
        })
    }

    fn last_exec(&self) -> u64 {
        self.0.execs.load(Ordering::SeqCst)
    }

    fn count(&self, _: &Arc<Meter>) {}

    fn log(&self, _: &str) {}

    fn events(&self, since: u64, limit: usize, wait: Duration) -> BoxFuture<'_, LogPage> {
        Box::pin(async move {
            let since = usize::try_from(since).unwrap();
            let newer = async {
                loop {
                    let logged = self.0.logged.notified();
                    if self.0.log.lock().unwrap().len() > since {
                        return;
                    }
                    logged.await;
                }
            };
            let _ = tokio::time::timeout(wait, newer).await;
            let log = self.0.log.lock().unwrap();
            let start = since.min(log.len());
            let records: Vec<LogRecord> = log[start..].iter().take(limit).cloned().collect();
            let next = start + records.len();
            LogPage {
                records,
                next: next as u64,
                missed: 0,
                more: next < log.len(),
            }
        })
    }

    fn run(&self) -> Run {
        if self.0.stop.lock().unwrap().is_some() {
            Run::StopUntold
        } else if self.0.running.load(Ordering::SeqCst) {
            Run::Running
        } else {
            Run::Settled
        }
    }

    fn wait(&self, timeout: Duration) -> BoxFuture<'_, Result<Option<Delivery>, ToolError>> {
        Box::pin(async move {
            let wait = async {
                loop {
                    if let Some(text) = self.0.stop.lock().unwrap().take() {
                        return text;
                    }
                    self.0.stopped.notified().await;
                }
            };
            let Ok(text) = tokio::time::timeout(timeout, wait).await else {
                return Ok(None);
            };
            self.0.running.store(false, Ordering::SeqCst);
            let reply = Reply::ContinueDebuggee(g::ContinueDebuggeeReply {});
            let fake = Arc::clone(&self.0);
            let requested = self.0.interrupted.swap(false, Ordering::SeqCst);
            Ok(Some(Delivery::new(
                self.last_exec(),
                requested,
                Outcome::new(reply, text, Duration::ZERO),
                move |untold| {
                    if let Some(outcome) = untold {
                        *fake.stop.lock().unwrap() = Some(outcome.text.bytes().to_vec());
                        fake.stopped.notify_one();
                    }
                },
            )))
        })
    }

    fn interrupt(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async {
            self.0.interrupted.store(true, Ordering::SeqCst);
            self.0.stop_with("fffff800`00000000  90  nop\n");
            Ok(())
        })
    }

    fn untold_loss(&self) -> Option<ToolError> {
        None
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.1.store(true, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }

    fn connected(&self, _: &Connection) {}
}

impl Fake {
    /// Adds a record to the event log.
    pub fn logs(&self, text: &str) {
        let mut log = self.log.lock().unwrap();
        let sequence = log.len() as u64 + 1;
        log.push(LogRecord {
            sequence,
            at: Duration::from_millis(sequence),
            origin: Origin::LibraryThread,
            during: None,
            lost_before: 0,
            text: text.as_bytes().to_vec().into(),
        });
        drop(log);
        self.logged.notify_waiters();
    }

    pub fn stop_with(&self, text: &str) {
        *self.stop.lock().unwrap() = Some(text.as_bytes().to_vec());
        self.stopped.notify_waiters();
        self.stopped.notify_one();
    }
}

struct Fakes(Arc<Fake>);

impl Launcher for Fakes {
    fn launch(&self) -> BoxFuture<'_, Result<Arc<dyn Target>, ToolError>> {
        Box::pin(async {
            Ok(Arc::new(FakeTarget(Arc::clone(&self.0), AtomicBool::new(false))) as Arc<dyn Target>)
        })
    }

    fn library(&self) -> String {
        "a fake".to_owned()
    }
}

/// A server over a fake, and the client's end of its streams.
pub struct Wire {
    pub fake: Arc<Fake>,
    pub write: WriteHalf<DuplexStream>,
    read: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub server: tokio::task::JoinHandle<Result<(), String>>,
    next_id: u64,
}

/// How the server is started.
pub struct Setup {
    pub selection: Selection,
    pub policy: Policy,
    pub opens: Option<Connection>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            selection: Selection {
                groups: Groups::All,
                read_only: false,
            },
            policy: Policy {
                rules: Rules {
                    permits: vec![Permit::Tier(Tier::Destructive)],
                    ..Rules::default()
                },
                ..Policy::default()
            },
            opens: Some(Connection::DebuggerPipe {
                pipe: r"\\.\pipe\x".to_owned(),
            }),
        }
    }
}

impl Wire {
    pub fn start(setup: Setup) -> Self {
        let fake = Fake::new();
        let registry = Registry::new(setup.selection).unwrap();
        let manager = Manager::new(
            Box::new(Fakes(Arc::clone(&fake))),
            setup.opens,
            true,
            Remains::default(),
        );
        let gate = Gate::new(setup.policy).unwrap();
        let handler = Handler::new(registry, manager, Ending::of_connection(), gate);
        let (near, far) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(far);
        let server = tokio::spawn(serve(handler, read, write));
        let (read, write) = tokio::io::split(near);
        Self {
            fake,
            write,
            read: BufReader::new(read).lines(),
            server,
            next_id: 100,
        }
    }

    /// One that has shaken hands in the protocol of 2025-11-25.
    pub async fn ready() -> Self {
        let mut wire = Self::start(Setup::default());
        wire.shake_hands().await;
        wire
    }

    pub async fn shake_hands(&mut self) {
        self.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#).await;
        assert_eq!(self.receive().await["id"], 1);
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
    }

    pub async fn send(&mut self, line: &str) {
        self.write
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    pub async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(20), self.read.next_line()).await;
        serde_json::from_str(&line.expect("an answer in time").unwrap().expect("an answer")).unwrap()
    }

    /// Whether nothing arrives for a while.
    pub async fn is_silent(&mut self, time: Duration) -> bool {
        tokio::time::timeout(time, self.read.next_line()).await.is_err()
    }

    /// The next message, where one comes in that time.
    pub async fn message_within(&mut self, time: Duration) -> Option<Value> {
        let line = tokio::time::timeout(time, self.read.next_line()).await.ok()?;
        Some(serde_json::from_str(&line.unwrap()?).unwrap())
    }

    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
            .await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// The result of a tool call.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self
            .request("tools/call", json!({"name": tool, "arguments": arguments}))
            .await;
        let result = answer["result"].clone();
        assert!(result.is_object(), "{answer}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.chars().count() <= 24_000);
        if result["isError"] == true {
            assert!(result.get("structuredContent").is_none(), "{result}");
        } else {
            let fields = &result["structuredContent"];
            assert!(fields.to_string().chars().count() <= 24_000);
            let schema = self.output_schema(tool);
            assert_eq!(conform::misfits(&schema, fields), Vec::<String>::new(), "{tool}");
        }
        result
    }

    /// What the tool says of its results.
    fn output_schema(&self, tool: &str) -> Value {
        static REGISTRY: LazyLock<Registry> =
            LazyLock::new(|| Registry::new(Setup::default().selection).unwrap());
        let served = REGISTRY
            .served()
            .iter()
            .find(|served| served.tool.spec.name == tool)
            .unwrap();
        serde_json::to_value(&served.model).unwrap()["outputSchema"].clone()
    }

    /// The structured half of a success.
    pub async fn fields(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{}", result["content"][0]["text"]);
        result["structuredContent"].clone()
    }

    /// The text of an error, after a check of its category.
    pub async fn error(&mut self, category: &str, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        assert_eq!(result["isError"], true, "{text}");
        assert!(text.starts_with(&format!("error: {category}\n")), "{text}");
        text
    }
}
