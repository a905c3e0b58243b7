//! JSON-RPC over lines, forgiving where clients are known to be careless.
//!
//! rmcp's own transport answers a malformed message without its id, ends the process on a notification before the
//! handshake, and says nothing of lines that are not JSON. This one knows better, and tells when the input ends.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use super::Ending;

/// Bytes of one message.
const MAX_LINE_BYTES: usize = 16 << 20;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// A transport over a pair of streams.
pub struct Lines<R, W> {
    read: BufReader<R>,
    write: Arc<Mutex<Option<W>>>,
    /// A line that is being read; kept here because a read can be dropped and taken up again.
    line: Vec<u8>,
    /// The current line is too long: skip to its end.
    skipping: bool,
    handshake_done: bool,
    unreadable_lines: u64,
    ending: Ending,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// A transport that tells `ending` when the input ends.
    pub fn new(read: R, write: W, ending: Ending) -> Self {
        Self {
            read: BufReader::new(read),
            write: Arc::new(Mutex::new(Some(write))),
            line: Vec::new(),
            skipping: false,
            handshake_done: false,
            unreadable_lines: 0,
            ending,
        }
    }

    /// Completes `self.line`; false at the end of input. Nothing is lost when it is dropped between.
    async fn read_line(&mut self) -> bool {
        loop {
            let available = match self.read.fill_buf().await {
                Ok(available) if !available.is_empty() => available,
                // A last line without its newline is a line.
                Ok(_) => return !self.line.is_empty() && !self.skipping,
                Err(error) => {
                    tracing::warn!(%error, "standard input cannot be read; it counts as ended");
                    return false;
                }
            };
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            if !self.skipping && self.line.len() + taken > MAX_LINE_BYTES {
                tracing::warn!(max = MAX_LINE_BYTES, "a message is too long; it is ignored");
                self.skipping = true;
                self.line = Vec::new();
            }
            if !self.skipping {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.read.consume(taken);
            if newline.is_some() {
                if std::mem::take(&mut self.skipping) {
                    self.line.clear();
                } else {
                    return true;
                }
            }
        }
    }

    /// What a line holds for the service, if anything.
    fn take(&mut self, line: &[u8]) -> Option<RxJsonRpcMessage<RoleServer>> {
        let line = line.trim_ascii();
        let line = line.strip_prefix(BOM).unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
            Ok(message) => self.admit(message),
            Err(error) => {
                self.explain(line, &error);
                None
            }
        }
    }

    /// Holds back what must not come before the handshake: rmcp would end over it.
    fn admit(&mut self, mut message: ClientJsonRpcMessage) -> Option<RxJsonRpcMessage<RoleServer>> {
        if !self.handshake_done {
            match &mut message {
                JsonRpcMessage::Request(request) => self.handshake_done = settles(&mut request.request),
                _ => {
                    tracing::debug!("a message before the handshake that is no request is ignored");
                    return None;
                }
            }
        }
        Some(message)
    }

    fn explain(&mut self, line: &[u8], error: &serde_json::Error) {
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            self.unreadable_lines += 1;
            if self.unreadable_lines == 1 {
                tracing::warn!(
                    "a line on standard input is not JSON and is ignored; more of them are only counted"
                );
            }
            return;
        };
        let id = match value.get("id") {
            Some(Value::Number(id)) => id.as_i64().map(RequestId::Number),
            Some(Value::String(id)) => Some(RequestId::String(id.as_str().into())),
            _ => None,
        };
        let is_notification = value.is_object() && value.get("id").is_none() && value.get("method").is_some();
        if is_notification {
            tracing::debug!("an unknown or malformed notification is ignored");
            return;
        }
        tracing::debug!(%error, "a message is not valid JSON-RPC");
        let answer = ErrorData::invalid_request(
            "this is no JSON-RPC 2.0 message of the Model Context Protocol",
            None,
        );
        let send = self.send(JsonRpcMessage::error(answer, id));
        tokio::spawn(send);
    }
}

/// Whether a request settles how the client talks: `initialize`, or a request that carries everything itself.
fn settles(request: &mut ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28)
                .is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer>
    for Lines<R, W>
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let Some(write) = write.as_mut() else {
                return Err(std::io::ErrorKind::NotConnected.into());
            };
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        while self.read_line().await {
            let line = std::mem::take(&mut self.line);
            let message = self.take(&line);
            self.line = line;
            self.line.clear();
            if message.is_some() {
                return message;
            }
        }
        if self.unreadable_lines > 1 {
            tracing::warn!(
                lines = self.unreadable_lines,
                "lines on standard input were not JSON"
            );
        }
        self.ending.begin();
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.write.lock().await.take();
        Ok(())
    }
}
