//! Remote debugging over TCP, in small: one address answers, with a machine of its own.

use super::{Link, Session};
use crate::fault::Faults;
use crate::say;
use std::sync::{Arc, PoisonError};

/// The only address at which somebody listens.
pub const PEER_ADDRESS: &str = "192.0.2.1";

/// The port when none is given.
pub const DEFAULT_PORT: &str = "50000";

/// True for four numbers up to 255 with dots between.
#[must_use]
pub fn is_ip(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    parts.len() == 4
        && parts
            .iter()
            .all(|part| is_number(part) && part.parse::<u32>().is_ok_and(|part| part <= 255))
}

/// True for decimal digits.
#[must_use]
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Session {
    /// Connects to a remote HyperDbg. True when the address was well formed, even if nobody answered.
    pub fn connect_tcp(&self, ip: &str, port: Option<&str>) -> bool {
        if !is_ip(ip) {
            return false;
        }
        let port = port.unwrap_or(DEFAULT_PORT);
        if !is_number(port) || port.parse::<u32>().map_or(true, |port| port > 65535) {
            return false;
        }
        if self.lock().link != Link::None {
            return true;
        }
        if ip != PEER_ADDRESS {
            say!(self.console, "unable to connect to the server\n");
            return true;
        }
        let console = self.console.sink();
        let peer = Session::new(console, Faults::default());
        peer.start_listener();
        {
            let mut state = peer.lock();
            state.link = Link::Local;
            state.loaded = super::Loaded {
                service: true,
                kd: true,
                vmm: true,
                trace: false,
            };
            state.symbols = true;
        }
        *self.peer.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(peer));
        self.lock().link = Link::Tcp {
            ip: ip.to_owned(),
            port: port.to_owned(),
        };
        say!(self.console, "connected to {ip}:{port}\n");
        true
    }

    /// The remote session, with this one's text.
    pub(crate) fn peer(&self) -> Option<Arc<Session>> {
        let peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        peer.console.redirect(self.console.sink());
        Some(peer)
    }

    /// Leaves the remote session.
    pub(crate) fn drop_peer(&self) {
        *self.peer.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.lock().link = Link::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_four_numbers() {
        assert!(is_ip("192.0.2.1"));
        for wrong in ["192.0.2", "192.0.2.256", "a.b.c.d", "", "1.2.3.4.5"] {
            assert!(!is_ip(wrong), "{wrong}");
        }
    }
}
