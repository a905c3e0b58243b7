//! Asks a person: in the way that the client of this request can, and by an operator's approval where it cannot.

use std::time::Duration;

use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequests, InputRequiredResult, ServerRequest,
};
use rmcp::service::PeerRequestOptions;
use serde_json::Value;

use super::admission::Call;
use super::handler::is_modern;
use crate::policy::approval::{Rejection, Request, Ticket};
use crate::policy::decision::Ruling;
use crate::policy::sentence;
use crate::tool::{Category, ToolError};

/// Names the question in a result that asks for input.
const KEY: &str = "confirm";

/// How the asking ended, where it did not end in a refusal.
pub(super) enum Answer {
    /// The client asks its person and calls again.
    Ask(Box<InputRequiredResult>),
    /// Someone confirmed it.
    Confirmed {
        /// Who, for the result.
        by: String,
        /// The session it was confirmed for.
        session: String,
    },
}

/// Has `call` confirmed.
pub(super) async fn ask(call: &Call<'_>, ruling: &Ruling) -> Result<Answer, ToolError> {
    let request = call.describe(ruling).await?;
    let modern = is_modern(call.context);
    if modern && let Some(state) = &call.request.request_state {
        return answered(call, &request, state);
    }
    if let Some(id) = call.gate.approvals.redeem(&request) {
        return Ok(Answer::Confirmed {
            by: format!("approved by an operator ({id})"),
            session: request.session,
        });
    }
    let ticket = call.gate.wait(request.clone()).map_err(ToolError::internal)?;
    if !can_elicit(call) {
        return Err(refusal(call, ruling, &ticket, "This client cannot ask a person."));
    }
    if modern {
        let state = call.gate.seal(&ticket.id).map_err(ToolError::internal)?;
        let question = InputRequest::Elicitation(ElicitRequest::new(question(call, &request, &ticket)));
        let requests = InputRequests::from([(KEY.to_owned(), question)]);
        let ask = InputRequiredResult::new(Some(requests), Some(state));
        return Ok(Answer::Ask(Box::new(ask)));
    }
    let why = match elicit(call, question(call, &request, &ticket)).await {
        Ok(ElicitationAction::Accept) => {
            // What was shown must still be what is done.
            let now = call.describe(ruling).await?;
            call.gate
                .approvals
                .confirm(&ticket.id, &now)
                .map_err(|rejection| rejected(&rejection))?;
            return Ok(Answer::Confirmed {
                by: "confirmed by the person at the client".to_owned(),
                session: now.session,
            });
        }
        Ok(ElicitationAction::Decline) => {
            call.gate.approvals.decline(&ticket.id);
            return Err(rejected(&Rejection::Declined(ticket.id)));
        }
        Ok(_) => "The client closed the question without an answer.".to_owned(),
        Err(why) => why,
    };
    Err(refusal(call, ruling, &ticket, &why))
}

/// A call that carries the state of an earlier one, and the person's answer.
fn answered(call: &Call<'_>, request: &Request, state: &str) -> Result<Answer, ToolError> {
    let approvals = &call.gate.approvals;
    let id = call
        .gate
        .unseal(state)
        .map_err(|rejection| rejected(&rejection))?;
    let action = call
        .request
        .input_responses
        .as_ref()
        .and_then(|responses| responses.get(KEY))
        .and_then(|response| response.get("action"))
        .and_then(Value::as_str);
    match action {
        Some("accept") => {
            approvals
                .confirm(&id, request)
                .map_err(|rejection| rejected(&rejection))?;
            Ok(Answer::Confirmed {
                by: "confirmed by the person at the client".to_owned(),
                session: request.session.clone(),
            })
        }
        Some("decline") => {
            approvals.decline(&id);
            Err(rejected(&Rejection::Declined(id)))
        }
        _ => Err(ToolError::new(
            Category::NotConfirmed,
            format!("The request {id} came back without a person's answer under `{KEY}`."),
        )
        .next_step("Ask the person, and repeat the call with the answer.")),
    }
}

fn can_elicit(call: &Call<'_>) -> bool {
    call.context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation)
        // An empty capability means forms.
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// The question, rendered by us. Accepting is the confirmation: there is no field to fill in.
fn question(call: &Call<'_>, request: &Request, ticket: &Ticket) -> ElicitRequestParams {
    let mut message = format!(
        "May the agent do this, once?\n\n{}\n\nLines that begin with | are values, not words of hyperdbg-mcp.",
        request.shown
    );
    if call.gate.has_operator() {
        message.push_str(&format!(
            " The same can be approved with: hyperdbg-mcp approve {}",
            ticket.id
        ));
    }
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::new(Default::default()),
    }
}

/// Asks an older client in its own request; says why there is no answer.
async fn elicit(call: &Call<'_>, params: ElicitRequestParams) -> Result<ElicitationAction, String> {
    let patience = call.gate.policy.patience;
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    let asking = async {
        let options = PeerRequestOptions::with_timeout(patience);
        let handle = call
            .context
            .peer
            .send_cancellable_request(request, options)
            .await?;
        handle.await_response().await
    };
    // Sending can hang too, where the client does not read.
    let answer = match tokio::time::timeout(patience + Duration::from_secs(1), asking).await {
        Ok(Ok(ClientResult::ElicitResult(answer))) => return Ok(answer.action),
        Ok(Ok(_)) => "The client answered with something else.".to_owned(),
        Ok(Err(rmcp::ServiceError::Timeout { .. })) | Err(_) => {
            format!("Nobody answered within {} s.", patience.as_secs_f32())
        }
        Ok(Err(error)) => {
            tracing::info!(%error, "the client could not ask its person");
            "The client failed to ask its person.".to_owned()
        }
    };
    Err(answer)
}

/// The refusal that names the other ways to a confirmation.
fn refusal(call: &Call<'_>, ruling: &Ruling, ticket: &Ticket, why: &str) -> ToolError {
    let tool = call.served.tool.spec.name;
    let mut message = sentence(&format!(
        "a call of {tool} needs a person's confirmation: {}",
        ruling.reason
    ));
    if let Some(before) = &ticket.before {
        message.push_str(&format!(" {before}"));
    }
    message.push_str(&format!(" {why}"));
    let otherwise = format!("start hyperdbg-mcp with --allow {tool}");
    let step = if call.gate.has_operator() {
        format!(
            "Approval id: {id}. Ask the person to run `hyperdbg-mcp approve {id}` on this machine, then make the same call \
             again, within {} s; or to {otherwise}.",
            call.gate.policy.life.as_secs(),
            id = ticket.id
        )
    } else {
        format!("Only a person can allow it: {otherwise}.")
    };
    ToolError::new(Category::NotConfirmed, message).next_step(step)
}

fn rejected(rejection: &Rejection) -> ToolError {
    let step = match rejection {
        Rejection::Declined(_) => {
            "Do not repeat it unless the person asks for it. Where the client declined without asking anyone, only a person \
             can allow it: by starting hyperdbg-mcp with --allow and the tool's name."
        }
        _ => "Make the call again, without the old confirmation, to have it confirmed anew.",
    };
    ToolError::new(Category::NotConfirmed, rejection.to_string()).next_step(step)
}
