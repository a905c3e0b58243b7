//! What arrives from a worker, and what its end means for who waits.

use std::process::ExitStatus;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::failure::{Kill, Loss, interrupted, refused};
use super::log::{LogRecord, Origin};
use super::shared::{Overrun, Resumes, Shared, Sink, Stop, lock};
use super::status::{Mode, Observed, RunState};
use crate::engine::Outcome;
use crate::engine::protocol::{Done, Hello, Message, OPENING, TextRecord};
use crate::tool::{Category, Meter, ToolError};

impl Shared {
    /// Takes in one message of the worker.
    pub(super) fn receive(&self, message: Message) {
        match message {
            Message::Hello(hello) => {
                let _ = self.worker_began.set(self.began.elapsed());
                if hello != Hello::ours() {
                    self.kill(Kill::OtherBuild(hello.build));
                }
            }
            Message::Opened(opened) => {
                let _ = self.opened.set(opened);
                self.finish_opening(Ok(()));
            }
            Message::OpenFailed { why } => self.finish_opening(Err(why)),
            Message::Text(records) => {
                for record in records {
                    self.receive_text(record);
                }
            }
            Message::Done(done) => self.finish(done),
            Message::Pong { token } => {
                let mut state = lock(&self.state);
                if let Some(index) = state.pings.iter().position(|(sent, _)| *sent == token) {
                    let _ = state.pings.swap_remove(index).1.send(());
                }
            }
            Message::Ended => {}
        }
    }

    fn receive_text(&self, record: TextRecord) {
        let during = {
            let mut state = lock(&self.state);
            state.text_bytes += record.lost_before + record.text.len() as u64;
            match &mut state.pending {
                Some(pending) if record.call == Some(pending.id) => {
                    pending.text.lose(record.lost_before);
                    pending.text.push(&record.text);
                    pending.foreign |= record.foreign;
                    if !record.foreign {
                        return;
                    }
                    Some(pending.function)
                }
                _ => None,
            }
        };
        let mut record = record;
        let room = self.admit(&record);
        if room == 0 && !record.text.is_empty() {
            return;
        }
        record.text.truncate(room);
        let worker_began = self.worker_began.get().copied().unwrap_or_default();
        self.log_event(LogRecord {
            sequence: 0,
            at: worker_began + Duration::from_micros(record.at_micros),
            origin: if record.foreign {
                Origin::LibraryThread
            } else {
                Origin::CallingThread
            },
            during,
            lost_before: record.lost_before,
            text: record.text.into(),
        });
    }

    /// How much of a text the budgets of armed events have room for; counts it.
    fn admit(&self, record: &TextRecord) -> usize {
        let meters: Vec<Arc<Meter>> = {
            let mut meters = lock(&self.meters);
            meters.retain(|meter| meter.strong_count() > 0);
            meters.iter().filter_map(Weak::upgrade).collect()
        };
        Meter::admit(meters.iter().map(AsRef::as_ref), &record.text, record.lost_before)
    }

    pub(super) fn log_event(&self, record: LogRecord) {
        let newest = {
            let mut events = lock(&self.events);
            events.push(record);
            events.last()
        };
        self.newest_event.send_replace(newest);
    }

    fn finish_opening(&self, result: Result<(), String>) {
        let Some(pending) = lock(&self.state).pending.take_if(|pending| pending.id == OPENING) else {
            return;
        };
        let Sink::Opener(sink) = pending.sink else {
            return;
        };
        let result = result.map_err(|why| {
            ToolError::new(
                Category::NotConnected,
                format!("The library could not be opened: {why}."),
            )
            .next_step(
                "Check the path, that the library is for this system and processor, and what it depends on.",
            )
            .captured(pending.text.finish().0)
        });
        let _ = sink.send(result);
    }

    fn finish(&self, done: Done) {
        let mut state = lock(&self.state);
        let Some(pending) = state.pending.take_if(|pending| pending.id == done.id) else {
            return;
        };
        let foreign_text = pending.foreign;
        let (text, text_lost) = pending.text.finish();
        let result = match done.result {
            Err(refusal) => Err(refused(refusal, text)),
            Ok(_) if pending.overrun == Some(Overrun::Deadline) => Err(interrupted(
                pending.function,
                pending.deadline,
                pending.resumes == Resumes::Yes,
                text,
            )),
            Ok(reply) => Ok(Outcome {
                reply,
                text,
                text_lost,
                foreign_text,
                elapsed: done.elapsed,
            }),
        };
        if let Err(error) = &result {
            state.last_error = Some(error.to_string());
        }
        if pending.resumes == Resumes::Yes {
            self.stopped.notify_waiters();
        }
        // Elsewhere than in debugger mode such a call can return without anything having run.
        if pending.resumes == Resumes::Yes && state.mode == Some(Mode::Debugger) && result.is_ok() {
            state.observed = Some(Observed {
                state: RunState::Paused,
                by: "the last call that resumes the target has returned",
            });
        }
        match pending.sink {
            Sink::Caller(sink) => {
                let _ = sink.send(result);
            }
            Sink::Resume => {
                state.stop = Some(Stop {
                    exec: pending.id,
                    requested: pending.interrupted,
                    result,
                });
                self.resumed.send_replace(false);
            }
            Sink::Opener(_) => {}
        }
    }

    /// Takes in the end of the worker. `unseen` is text that was printed but never arrived.
    pub(super) fn lose(&self, status: Option<ExitStatus>, unseen: (u64, Vec<u8>)) {
        let mut state = lock(&self.state);
        let mut pending = state.pending.take();
        let (lost_before, text) = unseen;
        state.text_bytes += lost_before + text.len() as u64;
        if let Some(pending) = &mut pending {
            pending.text.lose(lost_before);
            pending.text.push(&text);
        } else if !text.is_empty() {
            self.log_event(LogRecord {
                sequence: 0,
                at: self.began.elapsed(),
                origin: Origin::LibraryThread,
                during: None,
                lost_before,
                text: text.into(),
            });
        }
        let loss = Loss {
            kill: state.kill.clone(),
            status,
            during: pending
                .as_ref()
                .map(|pending| (pending.function, pending.sent.elapsed())),
            mode: state.mode,
        };
        if let Some(pending) = pending {
            let mut captured = pending.text.finish().0;
            // What a runtime says as it dies goes to stderr, not to the callback.
            captured.append(&lock(&self.stray).text_after(pending.stray_before));
            let error = loss.of_call(pending.deadline, captured);
            state.last_error = Some(error.to_string());
            match pending.sink {
                Sink::Opener(sink) => state.loss_told = sink.send(Err(error)).is_ok(),
                Sink::Caller(sink) => state.loss_told = sink.send(Err(error)).is_ok(),
                Sink::Resume => {
                    state.stop = Some(Stop {
                        exec: pending.id,
                        requested: pending.interrupted,
                        result: Err(error),
                    });
                }
            }
        } else if loss.kill != Some(Kill::Closed) {
            state.last_error = Some(loss.of_later_call().to_string());
        }
        state.observed = None;
        state.pings.clear();
        state.loss = Some(loss);
        drop(state);
        self.turn.close();
        self.resumed.send_replace(false);
        self.stopped.notify_waiters();
        self.ended.send_replace(true);
    }
}
