//! The private channel's language: framed messages between the supervisor and a worker.
//!
//! A frame is a little-endian `u32` length and that many bytes of postcard. Both ends are the same program, so the
//! first frame of each direction compares builds and nothing else has to be negotiated.

use std::io::{self, Read};
use std::time::Duration;

use hyperdbg_sys::Layout;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::LibrarySource;
use crate::generated::digest::FILES;
use crate::generated::{Call, Reply};

/// Goes up when a message changes its form.
pub(crate) const VERSION: u32 = 2;

/// Tells calls of one catalog from those of another: their numbers on the wire follow from it.
const CATALOG: u64 = catalog_mark();

const fn catalog_mark() -> u64 {
    // FNV-1a, which a constant can be made with.
    let mut mark: u64 = 0xcbf2_9ce4_8422_2325;
    let mut file = 0;
    while file < FILES.len() {
        let digest = FILES[file].1.as_bytes();
        let mut byte = 0;
        while byte < digest.len() {
            mark = (mark ^ digest[byte] as u64).wrapping_mul(0x0100_0000_01b3);
            byte += 1;
        }
        file += 1;
    }
    mark
}

/// The largest payload. Memory is read in pieces far below this; a longer frame is a broken stream.
pub(crate) const MAX_FRAME: usize = 64 << 20;

/// A buffer that grew past this is given back after its frame.
const KEEP_BUFFER: usize = 1 << 20;

/// The first frame of each direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) version: u32,
    pub(crate) build: String,
}

impl Hello {
    pub(crate) fn ours() -> Self {
        Self {
            version: VERSION,
            build: format!("{} {CATALOG:016x}", env!("CARGO_PKG_VERSION")),
        }
    }
}

/// Supervisor to worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Request {
    Hello(Hello),
    /// Load the library and initialise it. Its text belongs to call [`OPENING`].
    Open(LibrarySource),
    /// Make every later call with these numbers and places.
    Arrange(Layout),
    Call {
        id: u64,
        call: Call,
    },
    /// Break into call `id`, where that is still the one being made.
    Interrupt {
        id: u64,
    },
    Ping {
        token: u64,
    },
    /// End as soon as the library is free.
    Shutdown,
}

/// The number under which opening runs; calls count from 1.
pub(crate) const OPENING: u64 = 0;

/// Worker to supervisor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Message {
    Hello(Hello),
    Opened(Opened),
    OpenFailed {
        why: String,
    },
    /// What the library printed, in order.
    Text(Vec<TextRecord>),
    /// Comes after all text of the call.
    Done(Done),
    Pong {
        token: u64,
    },
    /// The worker ends now, as asked.
    Ended,
}

/// A library that is loaded and initialised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opened {
    /// Exports that the catalog knows and the library lacks.
    pub(crate) missing: Vec<String>,
    /// Whether it says of itself that it is the simulator.
    pub(crate) simulator: bool,
}

/// The end of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) id: u64,
    pub(crate) result: Result<Reply, Refusal>,
    /// Time in the library.
    pub(crate) elapsed: Duration,
}

/// Why a call has no reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Refusal {
    MissingExport {
        symbol: String,
    },
    BadArgument {
        symbol: String,
        param: String,
        why: String,
    },
    /// The library has another SDK, which lacks something that this call needs.
    Mismatch {
        symbol: String,
        why: String,
    },
    /// The call was made, and its answer does not fit into a frame.
    AnswerTooLong {
        bytes: usize,
    },
    NotOpened,
    Panicked {
        why: String,
    },
}

/// A stretch of the library's text from one class of thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TextRecord {
    /// The call that was being made.
    pub(crate) call: Option<u64>,
    /// Whether it came from another thread than the one that makes the calls.
    pub(crate) foreign: bool,
    /// Microseconds since the worker started, which greets at once.
    pub(crate) at_micros: u64,
    /// Bytes that were dropped just before this record because they came faster than they could be sent.
    pub(crate) lost_before: u64,
    #[serde(with = "serde_bytes")]
    pub(crate) text: Vec<u8>,
}

/// Why a stream ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("the channel was closed")]
    Closed,
    #[error("a frame of {0} bytes is over the limit")]
    TooLong(usize),
    #[error("a frame could not be read: {0}")]
    Malformed(postcard::Error),
    #[error("the channel failed: {0}")]
    Io(io::Error),
}

impl From<io::Error> for FrameError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
                Self::Closed
            }
            _ => Self::Io(error),
        }
    }
}

/// Appends one frame to `buffer`; on failure `buffer` is as before.
pub(crate) fn encode<T: Serialize>(message: &T, buffer: &mut Vec<u8>) -> Result<(), FrameError> {
    struct Append<'a>(&'a mut Vec<u8>);
    impl postcard::ser_flavors::Flavor for Append<'_> {
        type Output = ();
        fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
            self.0.push(byte);
            Ok(())
        }
        fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
            self.0.extend_from_slice(bytes);
            Ok(())
        }
        fn finalize(self) -> postcard::Result<()> {
            Ok(())
        }
    }

    let start = buffer.len();
    buffer.extend_from_slice(&[0; 4]);
    if let Err(error) = postcard::serialize_with_flavor(message, Append(buffer)) {
        buffer.truncate(start);
        return Err(FrameError::Malformed(error));
    }
    let length = buffer.len() - start - 4;
    match u32::try_from(length) {
        Ok(field) if length <= MAX_FRAME => {
            buffer[start..start + 4].copy_from_slice(&field.to_le_bytes());
            Ok(())
        }
        _ => {
            buffer.truncate(start);
            Err(FrameError::TooLong(length))
        }
    }
}

fn length(header: [u8; 4]) -> Result<usize, FrameError> {
    match usize::try_from(u32::from_le_bytes(header)) {
        Ok(length) if length <= MAX_FRAME => Ok(length),
        Ok(length) => Err(FrameError::TooLong(length)),
        Err(_) => Err(FrameError::TooLong(usize::MAX)),
    }
}

fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, FrameError> {
    match postcard::take_from_bytes(payload) {
        Ok((message, [])) => Ok(message),
        Ok(_) => Err(FrameError::Malformed(postcard::Error::DeserializeBadEncoding)),
        Err(error) => Err(FrameError::Malformed(error)),
    }
}

fn give_back(buffer: &mut Vec<u8>) {
    if buffer.capacity() > KEEP_BUFFER {
        *buffer = Vec::new();
    }
}

/// Reads one frame, blocking. `buffer` is scratch space.
pub(crate) fn read_blocking<T: DeserializeOwned>(
    reader: &mut impl Read,
    buffer: &mut Vec<u8>,
) -> Result<T, FrameError> {
    let mut header = [0; 4];
    reader.read_exact(&mut header)?;
    buffer.resize(length(header)?, 0);
    reader.read_exact(buffer)?;
    let message = decode(buffer);
    give_back(buffer);
    message
}

/// Reads one frame. `buffer` is scratch space; a dropped future loses the stream's place.
pub(crate) async fn read<T: DeserializeOwned>(
    reader: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
) -> Result<T, FrameError> {
    let mut header = [0; 4];
    reader.read_exact(&mut header).await?;
    buffer.resize(length(header)?, 0);
    reader.read_exact(buffer).await?;
    let message = decode(buffer);
    give_back(buffer);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ping(token: u64) -> Request {
        Request::Ping { token }
    }

    #[test]
    fn frames_come_back_in_order() {
        let mut bytes = Vec::new();
        encode(&ping(1), &mut bytes).unwrap();
        encode(&Request::Shutdown, &mut bytes).unwrap();
        let (mut reader, mut scratch) = (bytes.as_slice(), Vec::new());
        assert_eq!(
            read_blocking::<Request>(&mut reader, &mut scratch).unwrap(),
            ping(1)
        );
        assert_eq!(
            read_blocking::<Request>(&mut reader, &mut scratch).unwrap(),
            Request::Shutdown
        );
        assert!(matches!(
            read_blocking::<Request>(&mut reader, &mut scratch),
            Err(FrameError::Closed)
        ));
    }

    #[test]
    fn an_oversized_length_is_refused_before_anything_is_allocated() {
        let mut reader: &[u8] = &[0xff, 0xff, 0xff, 0xff, 1, 2, 3];
        let mut scratch = Vec::new();
        assert!(matches!(
            read_blocking::<Request>(&mut reader, &mut scratch),
            Err(FrameError::TooLong(0xffff_ffff))
        ));
        assert_eq!(scratch.capacity(), 0);
    }

    #[test]
    fn garbage_and_trailing_bytes_are_errors() {
        for payload in [vec![0x7f, 0x7f], {
            let mut frame = Vec::new();
            encode(&ping(1), &mut frame).unwrap();
            let mut payload = frame.split_off(4);
            payload.push(0);
            payload
        }] {
            let mut bytes = u32::try_from(payload.len()).unwrap().to_le_bytes().to_vec();
            bytes.extend_from_slice(&payload);
            let result = read_blocking::<Request>(&mut bytes.as_slice(), &mut Vec::new());
            assert!(
                matches!(result, Err(FrameError::Malformed(_))),
                "{payload:?}: {result:?}"
            );
        }
    }

    #[test]
    fn a_frame_cut_short_is_a_closed_channel() {
        let mut bytes = Vec::new();
        encode(&ping(9), &mut bytes).unwrap();
        bytes.pop();
        assert!(matches!(
            read_blocking::<Request>(&mut bytes.as_slice(), &mut Vec::new()),
            Err(FrameError::Closed)
        ));
    }
}
