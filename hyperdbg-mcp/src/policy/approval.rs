//! Requests that wait for a person: each is bound to what the person is shown, may be used once, and expires.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::audit::{canonical, sha256};

/// Requests that are remembered; the oldest make room.
const KEPT: usize = 64;

/// What a person is asked to let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Name of the tool.
    pub tool: String,
    /// Digest of the tool and its arguments.
    call: String,
    /// The session that it acts on.
    pub session: String,
    /// What the person is shown, rendered and bounded.
    pub shown: String,
}

impl Request {
    /// The request for a call of `tool` on `session`; `shown` is what the person reads.
    pub fn new(
        tool: &str,
        arguments: &serde_json::Map<String, Value>,
        session: String,
        shown: String,
    ) -> Self {
        Self {
            tool: tool.to_owned(),
            call: digest(&json!([tool, arguments])),
            session,
            shown,
        }
    }

    /// Digest of all that the request is bound to.
    pub fn digest(&self) -> String {
        digest(&json!([self.call, self.session, self.shown]))
    }
}

/// SHA-256 over the canonical form, in which the order of a client's arguments does not matter.
fn digest(parts: &Value) -> String {
    sha256(canonical(parts).as_bytes())
}

/// Why a confirmation does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// No request has this id.
    Unknown(String),
    /// It came too late.
    Expired(String),
    /// It let its call through already.
    Used(String),
    /// The person said no.
    Declined(String),
    /// The call has other arguments than the one that was shown.
    OtherArguments(String),
    /// The session is another one than when the request was shown.
    OtherSession(String),
    /// What the call would change is no longer what was shown.
    Changed(String),
    /// It was not made by this server, or was altered.
    Forged,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(id) => write!(f, "No request waits under the id {id}."),
            Self::Expired(id) => write!(f, "The request {id} has expired: its confirmation came too late."),
            Self::Used(id) => write!(
                f,
                "The confirmation of request {id} was used already: it lets one call through, once."
            ),
            Self::Declined(id) => write!(f, "The person declined the request {id}."),
            Self::OtherArguments(id) => write!(
                f,
                "The confirmation of request {id} is for other arguments than those of this call."
            ),
            Self::OtherSession(id) => write!(
                f,
                "The confirmation of request {id} is for another session than the one that is open now."
            ),
            Self::Changed(id) => write!(
                f,
                "What the call would change is no longer what was shown with request {id}."
            ),
            Self::Forged => f.write_str("The confirmation was not made by this server, or was altered."),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Approved,
    Used,
    Declined,
}

#[derive(Debug)]
struct Entry {
    id: String,
    request: Request,
    since: Instant,
    state: State,
}

/// A request that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// Its id.
    pub id: String,
    /// Why an earlier confirmation does not count, where there is one.
    pub before: Option<Rejection>,
}

/// The requests of one server.
#[derive(Debug)]
pub struct Approvals {
    name: String,
    life: Duration,
    entries: Mutex<Vec<Entry>>,
}

impl Approvals {
    /// None yet. Ids begin with `name`; a request lives for `life`.
    pub fn new(name: String, life: Duration) -> Self {
        Self {
            name,
            life,
            entries: Mutex::default(),
        }
    }

    /// What its ids begin with.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_expired(&self, entry: &Entry) -> bool {
        entry.since.elapsed() >= self.life
    }

    /// The request as one that waits: the same one where it waits already. `random` becomes part of a new id.
    pub fn open(&self, request: Request, random: &str) -> Ticket {
        let mut entries = self.lock();
        let waiting = entries.iter().find(|entry| {
            entry.request == request && entry.state == State::Waiting && !self.is_expired(entry)
        });
        if let Some(entry) = waiting {
            return Ticket {
                id: entry.id.clone(),
                before: None,
            };
        }
        let before = self.before(&entries, &request);
        let id = format!("{}-{random}", self.name);
        if entries.len() >= KEPT {
            entries.remove(0);
        }
        entries.push(Entry {
            id: id.clone(),
            request,
            since: Instant::now(),
            state: State::Waiting,
        });
        Ticket { id, before }
    }

    /// What became of the last request that resembles this one.
    fn before(&self, entries: &[Entry], request: &Request) -> Option<Rejection> {
        let entry = entries.iter().rev().find(|entry| {
            entry.request.call == request.call
                || entry.request.tool == request.tool && entry.state == State::Approved
        })?;
        let id = entry.id.clone();
        Some(match entry.state {
            State::Used => Rejection::Used(id),
            State::Declined => Rejection::Declined(id),
            _ if self.is_expired(entry) => Rejection::Expired(id),
            State::Waiting => return None,
            State::Approved => match difference(&entry.request, request) {
                Some(difference) => difference(id),
                None => return None,
            },
        })
    }

    /// Uses an approval that an operator gave for exactly this request; its id, where there is one.
    pub fn redeem(&self, request: &Request) -> Option<String> {
        let mut entries = self.lock();
        let entry = entries.iter_mut().find(|entry| {
            entry.state == State::Approved && entry.request == *request && entry.since.elapsed() < self.life
        })?;
        entry.state = State::Used;
        Some(entry.id.clone())
    }

    /// Uses the request `id`, which the person confirmed where it was asked, for `request`.
    pub fn confirm(&self, id: &str, request: &Request) -> Result<(), Rejection> {
        let mut entries = self.lock();
        let Some(entry) = entries.iter_mut().find(|entry| entry.id == id) else {
            return Err(Rejection::Unknown(id.to_owned()));
        };
        let id = id.to_owned();
        match entry.state {
            State::Used => return Err(Rejection::Used(id)),
            State::Declined => return Err(Rejection::Declined(id)),
            State::Waiting | State::Approved => {}
        }
        if entry.since.elapsed() >= self.life {
            return Err(Rejection::Expired(id));
        }
        if let Some(difference) = difference(&entry.request, request) {
            return Err(difference(id));
        }
        entry.state = State::Used;
        Ok(())
    }

    /// Notes that the person said no.
    pub fn decline(&self, id: &str) {
        if let Some(entry) = self.lock().iter_mut().find(|entry| entry.id == id)
            && entry.state != State::Used
        {
            entry.state = State::Declined;
        }
    }

    /// What the request `id` shows, with its digest.
    pub fn show(&self, id: &str) -> Result<(String, String), Rejection> {
        let entries = self.lock();
        let entry = self.waiting(&entries, id)?;
        Ok((entry.request.shown.clone(), entry.request.digest()))
    }

    /// Lets the request `id` through once; `digest` is that of what the operator was shown.
    pub fn approve(&self, id: &str, digest: &str) -> Result<(), Rejection> {
        let mut entries = self.lock();
        if self.waiting(&entries, id)?.request.digest() != digest {
            return Err(Rejection::Changed(id.to_owned()));
        }
        if let Some(entry) = entries.iter_mut().find(|entry| entry.id == id) {
            entry.state = State::Approved;
        }
        Ok(())
    }

    fn waiting<'a>(&self, entries: &'a [Entry], id: &str) -> Result<&'a Entry, Rejection> {
        let Some(entry) = entries.iter().find(|entry| entry.id == id) else {
            return Err(Rejection::Unknown(id.to_owned()));
        };
        match entry.state {
            State::Used => Err(Rejection::Used(id.to_owned())),
            State::Declined => Err(Rejection::Declined(id.to_owned())),
            _ if self.is_expired(entry) => Err(Rejection::Expired(id.to_owned())),
            _ => Ok(entry),
        }
    }
}

/// How `now` differs from what was shown.
fn difference(shown: &Request, now: &Request) -> Option<fn(String) -> Rejection> {
    if shown.call != now.call {
        Some(Rejection::OtherArguments)
    } else if shown.session != now.session {
        Some(Rejection::OtherSession)
    } else if shown.shown != now.shown {
        Some(Rejection::Changed)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(bytes: &str) -> Request {
        let Value::Object(arguments) = json!({"address": "0x1000", "bytes": bytes}) else {
            unreachable!()
        };
        Request::new(
            "hd_mem_write",
            &arguments,
            "session 1".to_owned(),
            format!("write {bytes}"),
        )
    }

    fn approvals(life: Duration) -> Approvals {
        Approvals::new("abcd".to_owned(), life)
    }

    fn approved(approvals: &Approvals) -> String {
        let id = approvals.open(request("90"), "1").id;
        let (_, digest) = approvals.show(&id).unwrap();
        approvals.approve(&id, &digest).unwrap();
        id
    }

    #[test]
    fn an_approval_lets_exactly_its_request_through_once() {
        let approvals = approvals(Duration::from_secs(60));
        let id = approved(&approvals);
        assert_eq!(approvals.redeem(&request("91")), None);
        assert_eq!(
            approvals.open(request("91"), "2").before,
            Some(Rejection::OtherArguments(id.clone()))
        );
        assert_eq!(approvals.redeem(&request("90")), Some(id.clone()));
        assert_eq!(approvals.redeem(&request("90")), None);
        assert_eq!(
            approvals.open(request("90"), "3").before,
            Some(Rejection::Used(id.clone()))
        );
        assert_eq!(approvals.confirm(&id, &request("90")), Err(Rejection::Used(id)));
    }

    #[test]
    fn an_approval_holds_for_its_session_and_for_what_was_shown() {
        let approvals = approvals(Duration::from_secs(60));
        let id = approved(&approvals);
        let other = Request {
            session: "session 2".to_owned(),
            ..request("90")
        };
        assert_eq!(approvals.redeem(&other), None);
        assert_eq!(
            approvals.confirm(&id, &other),
            Err(Rejection::OtherSession(id.clone()))
        );
        let changed = Request {
            shown: "other old bytes".to_owned(),
            ..request("90")
        };
        assert_eq!(approvals.redeem(&changed), None);
        assert_eq!(
            approvals.confirm(&id, &changed),
            Err(Rejection::Changed(id.clone()))
        );
        assert_eq!(approvals.confirm(&id, &request("90")), Ok(()));
    }

    #[test]
    fn what_is_late_declined_or_unknown_does_not_count() {
        let late = approvals(Duration::ZERO);
        let id = late.open(request("90"), "1").id;
        assert_eq!(late.show(&id), Err(Rejection::Expired(id.clone())));
        assert_eq!(
            late.confirm(&id, &request("90")),
            Err(Rejection::Expired(id.clone()))
        );
        assert_eq!(late.open(request("90"), "2").before, Some(Rejection::Expired(id)));
        let approvals = approvals(Duration::from_secs(60));
        let id = approvals.open(request("90"), "1").id;
        assert_eq!(approvals.open(request("90"), "2").id, id, "it waits already");
        approvals.decline(&id);
        assert_eq!(
            approvals.confirm(&id, &request("90")),
            Err(Rejection::Declined(id.clone()))
        );
        assert_eq!(approvals.approve(&id, "x"), Err(Rejection::Declined(id)));
        let nobody = "abcd-9".to_owned();
        assert_eq!(
            approvals.confirm(&nobody, &request("90")),
            Err(Rejection::Unknown(nobody))
        );
    }

    #[test]
    fn the_order_of_arguments_does_not_matter() {
        let parse = |text: &str| {
            let arguments = serde_json::from_str(text).unwrap();
            Request::new("t", &arguments, String::new(), String::new())
        };
        assert_eq!(
            parse(r#"{"a":1,"b":[{"c":2,"d":3}]}"#),
            parse(r#"{"b":[{"d":3,"c":2}],"a":1}"#)
        );
        assert_ne!(parse(r#"{"a":1}"#), parse(r#"{"a":"1"}"#));
    }
}
