//! The worker's side of sending: text is drained by a thread of its own, answers go out at once behind their text.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::capture::Capture;
use super::protocol::{FrameError, Message, encode};

/// How long the drain steps back when an answer waits for the channel.
const STEP_BACK: Duration = Duration::from_micros(200);

/// A channel that several threads send on.
pub(super) struct Outbox<W> {
    capture: &'static Capture,
    sender: Mutex<Sender<W>>,
    answers_waiting: AtomicUsize,
}

struct Sender<W> {
    writer: W,
    buffer: Vec<u8>,
}

impl<W: Write> Outbox<W> {
    pub(super) fn new(writer: W, capture: &'static Capture) -> Self {
        Self {
            capture,
            sender: Mutex::new(Sender {
                writer,
                buffer: Vec::new(),
            }),
            answers_waiting: AtomicUsize::new(0),
        }
    }

    /// Sends `message`, after all text that was captured before it.
    pub(super) fn send(&self, message: &Message) -> Result<(), FrameError> {
        self.answers_waiting.fetch_add(1, Ordering::Relaxed);
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        self.answers_waiting.fetch_sub(1, Ordering::Relaxed);
        sender.queue_text(self.capture)?;
        sender.queue(message)?;
        sender.flush()
    }

    /// Sends text as it comes, for ever. Returns when the channel is gone.
    pub(super) fn drain(&self) -> FrameError {
        let mut sent = Instant::now();
        loop {
            self.capture.wait(sent);
            while self.answers_waiting.load(Ordering::Relaxed) > 0 {
                std::thread::sleep(STEP_BACK);
            }
            let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
            // Taken under the sender's lock: text that is taken later is sent later.
            if let Err(error) = sender.queue_text(self.capture).and_then(|()| sender.flush()) {
                return error;
            }
            sent = Instant::now();
        }
    }
}

impl<W: Write> Sender<W> {
    fn queue_text(&mut self, capture: &Capture) -> Result<(), FrameError> {
        let records = capture.take();
        if records.is_empty() {
            return Ok(());
        }
        self.queue(&Message::Text(records))
    }

    fn queue(&mut self, message: &Message) -> Result<(), FrameError> {
        encode(message, &mut self.buffer)
    }

    fn flush(&mut self) -> Result<(), FrameError> {
        let result = self
            .writer
            .write_all(&self.buffer)
            .and_then(|()| self.writer.flush());
        self.buffer.clear();
        self.buffer.shrink_to(1 << 20);
        Ok(result?)
    }
}
