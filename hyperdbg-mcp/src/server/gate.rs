//! What decides about calls and keeps the requests that wait for a person.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};
use serde::{Deserialize, Serialize};

use super::operator;
use crate::policy::approval::{Approvals, Rejection, Request, Ticket};
use crate::policy::decision::Rules;

/// The client of a connection on standard input and output: there is one.
const PRINCIPAL: &[u8] = b"stdio";
/// Characters of ids: none that reads as another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// What the operator has laid down about calls.
#[derive(Debug, Clone)]
pub struct Policy {
    /// What runs and what is asked for.
    pub rules: Rules,
    /// How long the client's person is waited for.
    pub patience: Duration,
    /// How long a request can be confirmed and used.
    pub life: Duration,
    /// Whether `hyperdbg-mcp approve` can reach this server.
    pub operator: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            patience: Duration::from_secs(30),
            life: Duration::from_secs(300),
            operator: false,
        }
    }
}

/// The state that travels with a client's confirmation.
#[derive(Serialize, Deserialize)]
struct Sealed {
    id: String,
}

/// Decides about calls.
pub struct Gate {
    pub(super) policy: Policy,
    pub(super) approvals: Arc<Approvals>,
    codec: RequestStateCodec,
    /// Ends the operator's door with the server.
    door: Option<operator::Door>,
}

impl Gate {
    /// A gate with `policy`. An operator's door that cannot be opened is told of and left out.
    pub fn new(policy: Policy) -> Result<Self, String> {
        let mut key = [0; RequestStateCodec::MIN_KEY_LENGTH];
        getrandom::fill(&mut key).map_err(|error| format!("the system gives no random numbers: {error}"))?;
        let codec = RequestStateCodec::try_new(key).map_err(|error| error.to_string())?;
        let approvals = Arc::new(Approvals::new(random::<4>()?, policy.life));
        let mut door = None;
        if policy.operator {
            match operator::open(Arc::clone(&approvals)) {
                Ok(opened) => door = Some(opened),
                Err(error) => {
                    tracing::warn!("`hyperdbg-mcp approve` will not reach this server: {error}");
                }
            }
        }
        Ok(Self {
            policy,
            approvals,
            codec,
            door,
        })
    }

    /// Whether an operator can approve.
    pub(super) fn has_operator(&self) -> bool {
        self.door.is_some()
    }

    /// The request as one that waits.
    pub(super) fn wait(&self, request: Request) -> Result<Ticket, String> {
        Ok(self.approvals.open(request, &random::<6>()?))
    }

    /// The sealed state for the request `id`.
    pub(super) fn seal(&self, id: &str) -> Result<String, String> {
        let options = SealOptions::new()
            .associated_data(PRINCIPAL)
            .ttl(self.policy.life);
        let sealed = Sealed { id: id.to_owned() };
        self.codec
            .seal_json_with(&sealed, &options)
            .map_err(|error| error.to_string())
    }

    /// The id in a sealed state that came back.
    pub(super) fn unseal(&self, state: &str) -> Result<String, Rejection> {
        match self.codec.open_json_with::<Sealed>(state, PRINCIPAL) {
            Ok(sealed) => Ok(sealed.id),
            Err(RequestStateError::Expired) => Err(Rejection::Expired("of this call".to_owned())),
            Err(error) => {
                tracing::warn!(%error, "a confirmation does not open");
                Err(Rejection::Forged)
            }
        }
    }
}

fn random<const N: usize>() -> Result<String, String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system gives no random numbers: {error}"))?;
    Ok(bytes
        .iter()
        .map(|byte| char::from(ALPHABET[usize::from(byte % 32)]))
        .collect())
}
