//! The URIs of resources.

use std::fmt;

/// Begins every URI of this server.
const SCHEME: &str = "hyperdbg://";
/// Bytes of the longest URI that could mean something here.
const MAX_BYTES: usize = 128;

/// What a URI names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// Part of a kept output, from a byte on.
    Output { id: String, offset: Option<u64> },
    /// The event log of a session: the newest records, or those after a number.
    Events { session: String, since: Option<u64> },
}

/// Why a text is no URI of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoAddress {
    /// No URI of this server looks like it.
    Malformed(&'static str),
    /// It could be one of some server, and names nothing here.
    Unknown,
}

impl Address {
    /// Reads a URI. There is one spelling of each: nothing is decoded, resolved or trimmed.
    pub(super) fn parse(uri: &str) -> Result<Self, NoAddress> {
        use NoAddress::{Malformed, Unknown};
        if uri.len() > MAX_BYTES {
            return Err(Malformed("it is longer than any URI of this server"));
        }
        if !uri.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Malformed(
                "it holds a space, a control character or a character outside ASCII",
            ));
        }
        if uri.contains('%') {
            return Err(Malformed(
                "it is percent-encoded; ids are plain here, such as out-1 and s1",
            ));
        }
        let Some(rest) = uri.strip_prefix(SCHEME) else {
            return Err(Unknown);
        };
        if rest.contains('#') {
            return Err(Malformed("it has a fragment"));
        }
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let parts: Vec<&str> = path.split('/').collect();
        if parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
            return Err(Malformed("a part of its path is empty, `.` or `..`"));
        }
        match parts.as_slice() {
            ["output", id] => Ok(Self::Output {
                id: (*id).to_owned(),
                offset: number(query, "offset=", "only `?offset=NUMBER` can follow an output")?,
            }),
            ["session", id, "events"] => Ok(Self::Events {
                session: (*id).to_owned(),
                since: number(query, "since=", "only `?since=NUMBER` can follow an event log")?,
            }),
            _ => Err(Unknown),
        }
    }

    /// A kept output.
    pub(super) fn output(id: &str, offset: Option<u64>) -> Self {
        Self::Output {
            id: id.to_owned(),
            offset,
        }
    }

    /// The event log of a session.
    pub(super) fn events(session: &str, since: Option<u64>) -> Self {
        Self::Events {
            session: session.to_owned(),
            since,
        }
    }
}

/// The number in a query of one parameter; none where there is no query.
fn number(query: Option<&str>, name: &str, otherwise: &'static str) -> Result<Option<u64>, NoAddress> {
    let Some(query) = query else { return Ok(None) };
    query
        .strip_prefix(name)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|digits| digits.parse().ok())
        .map(Some)
        .ok_or(NoAddress::Malformed(otherwise))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output { id, offset } => {
                write!(f, "{SCHEME}output/{id}")?;
                offset.map_or(Ok(()), |offset| write!(f, "?offset={offset}"))
            }
            Self::Events { session, since } => {
                write!(f, "{SCHEME}session/{session}/events")?;
                since.map_or(Ok(()), |since| write!(f, "?since={since}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        for (uri, address) in [
            ("hyperdbg://output/out-1", Address::output("out-1", None)),
            (
                "hyperdbg://output/out-1?offset=12",
                Address::output("out-1", Some(12)),
            ),
            ("hyperdbg://session/s1/events", Address::events("s1", None)),
            (
                "hyperdbg://session/s1/events?since=0",
                Address::events("s1", Some(0)),
            ),
        ] {
            assert_eq!(address.to_string(), uri);
            assert_eq!(Address::parse(uri), Ok(address));
        }
    }

    #[test]
    fn there_is_one_spelling_of_each() {
        let long = format!("hyperdbg://output/{}", "a".repeat(200));
        for uri in [
            "hyperdbg://output/%6fut-1",
            "hyperdbg://output/../output/out-1",
            "hyperdbg://output/./out-1",
            "hyperdbg://output//out-1",
            "hyperdbg://output/out-1/",
            "hyperdbg://output/out-1\n",
            "hyperdbg://output/out-1\0",
            " hyperdbg://output/out-1",
            "hyperdbg://output/ｏut-1",
            "hyperdbg://output/out-1#x",
            "hyperdbg://output/out-1?",
            "hyperdbg://output/out-1?offset=",
            "hyperdbg://output/out-1?offset=-1",
            "hyperdbg://output/out-1?offset=+1",
            "hyperdbg://output/out-1?offset=1&offset=2",
            "hyperdbg://output/out-1?offset=99999999999999999999",
            "hyperdbg://output/out-1?since=1",
            "hyperdbg://session/s1/events?offset=1",
            &long,
        ] {
            assert!(
                matches!(Address::parse(uri), Err(NoAddress::Malformed(_))),
                "{uri:?}"
            );
        }
        for uri in [
            "",
            "file:///etc/passwd",
            "HYPERDBG://output/out-1",
            "hyperdbg:output/out-1",
            "hyperdbg://output",
            "hyperdbg://output/out-1/x",
            "hyperdbg://session/s1",
            "hyperdbg://session/s1/memory",
        ] {
            assert_eq!(Address::parse(uri), Err(NoAddress::Unknown), "{uri:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_written_the_same(
            uri in "(hyperdbg://)?(output/|session/|/|\\.\\.|%2e|out-1|s1|events|[?#&=0-9a-z\\PC]){0,9}",
        ) {
            if let Ok(address) = Address::parse(&uri) {
                prop_assert_eq!(Address::parse(&address.to_string()), Ok(address));
            }
        }
    }
}
