//! Answers requests: finds the action and the caller, checks the signature, and applies faults.

use std::sync::Arc;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{Method, Response};
use parking_lot::Mutex;
use sqs_client::wire::protocol::Protocol;
use sqs_client::wire::service_error::ErrorCode;
use sqs_client::wire::sign::{Claim, VerifyError};

use super::api::{Access, Action, Api, Call, Origin};
use super::form::Form;
use super::xml::Document;
use crate::http::{Denied, Names, Reply, form_text};
use crate::service::caller::{Caller, is_region};
use crate::service::clock::Clock;
use crate::service::faults::{Damage, Faults, Plan, Rejection, Request};
use crate::service::journal::{self, Input, Journal, PendingRecord};
use crate::service::metrics::{Counters, Exposition, INJECTED_STATUS, Kind, UNKNOWN};
use crate::service::operation::ServiceName;
use crate::service::query_error::QueryError;
use crate::service::seed::{Seed, uuid};

/// The HTTP layer of the services with the Query protocol.
#[derive(Debug)]
pub(crate) struct Front {
    names: Arc<Names>,
    journal: Arc<Journal>,
    /// Requests by action and code.
    sns: Counters<2>,
    sts: Counters<2>,
    clock: Clock,
    faults: Faults,
    /// Held only to draw an id.
    ids: Mutex<fastrand::Rng>,
}

/// Why a request has no output.
enum Failed {
    Error(QueryError),
    /// A fault replaces the response, as if by a proxy.
    Status(u16, String),
    /// A fault breaks the connection.
    Reset,
}

impl From<QueryError> for Failed {
    fn from(error: QueryError) -> Self {
        Self::Error(error)
    }
}

/// A request in progress. Its drop reports it, so that aborted requests are reported too.
#[derive(Debug)]
struct Observer<'a> {
    requests: &'a Counters<2>,
    pending: PendingRecord<'a>,
}

impl Drop for Observer<'_> {
    fn drop(&mut self) {
        let action = self.pending.operation.clone().unwrap_or(UNKNOWN.into());
        self.requests.count([action, self.pending.ending().code().to_owned().into()]);
    }
}

impl Front {
    /// Creates the HTTP layer.
    pub(crate) fn new(
        names: Arc<Names>,
        journal: Arc<Journal>,
        clock: Clock,
        faults: Faults,
        seed: Seed,
    ) -> Self {
        let ids = Mutex::new(seed.generator("request ids of the Query protocol"));
        let requests = || Counters::new(["action", "code"]);
        Self { names, journal, sns: requests(), sts: requests(), clock, faults, ids }
    }

    /// Writes the metrics of requests.
    pub(crate) fn write_metrics(&self, text: &mut Exposition) {
        for (service, requests) in [(ServiceName::Sns, &self.sns), (ServiceName::Sts, &self.sts)] {
            let name = format!("sqs_mock_{}_requests_total", service.as_str());
            let help = format!(
                "Requests to {service} by action and error code; the code of successful requests is OK."
            );
            text.family(&name, Kind::Counter, &help);
            requests.write(text, &name);
        }
    }

    /// Answers a request.
    ///
    /// # Cancel safety
    /// If the future is dropped, the request is either not applied, or applied as if its response was lost.
    pub(crate) async fn answer<A: Api>(&self, api: &A, head: &Parts, body: &[u8]) -> Reply {
        let request_id = uuid(&mut self.ids.lock()).to_string();
        let form = form_text(head, body);
        let input = Input { protocol: Protocol::Query, path: head.uri.path(), content: &form };
        let pending = PendingRecord::open(&self.journal, &self.clock, A::SERVICE, &request_id, Some(input));
        let requests = if A::SERVICE == ServiceName::Sts { &self.sts } else { &self.sns };
        let mut observer = Observer { requests, pending };
        let document = Document { namespace: A::NAMESPACE, request_id: &request_id };
        let pending = &mut observer.pending;
        let reply = match self.respond(api, head, (body, &form), document, pending).await {
            Ok((response, damage)) => Reply::damaged(response, damage),
            Err(Failed::Error(error)) => {
                // Not one of SQS, which has other names for some of these codes.
                pending.refused(&ErrorCode::Other(error.code.to_string()));
                document.error(&error).into()
            }
            Err(Failed::Status(status, body)) => {
                pending.refused(&ErrorCode::from_name(INJECTED_STATUS));
                Reply::foreign(status, body)
            }
            Err(Failed::Reset) => Reply::Lost,
        };
        pending.answered(reply.status());
        pending.note(|record| record.answer = reply.body());
        reply
    }

    async fn respond<A: Api>(
        &self,
        api: &A,
        head: &Parts,
        (body, form): (&[u8], &[u8]),
        document: Document<'_>,
        pending: &mut PendingRecord<'_>,
    ) -> Result<(Response<Bytes>, Option<Damage>), Failed> {
        let form = Form::parse(form)?;
        let action = action::<A>(head, &form)?;
        pending.asked(action.name);
        let claim = self.admit::<A>(head, body, action.access)?;
        let claimed =
            || form.get("X-Amz-Credential").map_or_else(|| Caller::of(head), Caller::from_credential);
        let caller = claim.as_ref().map_or_else(claimed, Caller::of_claim);
        let host = self.names.host(head);
        let region = caller.region.or_else(|| region_of(host)).unwrap_or(&self.names.region);
        let base_url = self.names.base_url(host);
        let trace_header = head.headers.get("x-amzn-trace-id").and_then(|header| header.to_str().ok());
        let call = Call {
            form: &form,
            account: caller.account.unwrap_or(&self.names.account),
            region,
            origin: Origin { base_url: &base_url, trace_header },
            is_signed: head.headers.contains_key(AUTHORIZATION) || form.get("X-Amz-Signature").is_some(),
            failing: &[],
            omitted: &[],
        };
        pending.note(|record| {
            record.caller =
                Some(journal::Caller { region: call.region.into(), account: call.account.into() });
            record.resource = A::resource(&call);
        });
        let plan = self.apply_faults::<A>(action, &call).await?;
        let call = Call { failing: &plan.failing, omitted: &plan.omitted, ..call };
        let output = api.serve(action, &call).await?;
        tracing::debug!(action = action.name, request_id = document.request_id, notes = ?output.notes, "{}", A::SERVICE);
        pending.note(|record| record.warnings = output.notes.into());
        Ok((document.answer(action.name, output.result.as_ref()), plan.damage))
    }

    /// Rejects pages of other sites, and wrong signatures if signatures are required.
    fn admit<A: Api>(&self, head: &Parts, body: &[u8], access: Access) -> Result<Option<Claim>, QueryError> {
        match self.names.admit(A::SERVICE, head, body, access == Access::Change) {
            Ok(claim) => Ok(claim),
            Err(Denied::Guard(text)) => Err(QueryError::new(403, "AccessDenied", text)),
            Err(Denied::Signature(VerifyError::Unsigned)) if access == Access::Link => Ok(None),
            Err(Denied::Signature(error)) => Err(not_verified(&error)),
        }
    }

    /// Applies the faults of a request as a whole, and returns the others.
    async fn apply_faults<A: Api>(&self, action: Action<A::Kind>, call: &Call<'_>) -> Result<Plan, Failed> {
        let mut plan = self.faults.plan(|| Request {
            service: A::SERVICE,
            operation: action.name,
            resource: A::resource(call),
            account: call.account,
            region: call.region,
            time: self.clock.now(),
            entries: A::entries(action.kind, call.form),
            can_redeliver: false,
        });
        if !self.faults.delays().delay(plan.latency).await {
            // The client does not retry this error.
            return Err(QueryError::new(404, "NotFound", "The server was reset.").into());
        }
        match plan.rejection.take() {
            None => Ok(plan),
            Some(Rejection::Error(failure)) => Err(QueryError::injected(failure).into()),
            Some(Rejection::Status(status, body)) => Err(Failed::Status(status, body)),
            Some(Rejection::Reset) => Err(Failed::Reset),
        }
    }
}

fn action<A: Api>(head: &Parts, form: &Form) -> Result<Action<A::Kind>, QueryError> {
    if head.method != Method::POST && head.method != Method::GET {
        return Err(QueryError::new(405, "MethodNotAllowed", "Only GET and POST are supported."));
    }
    let name = form.get("Action");
    let name =
        name.ok_or_else(|| QueryError::new(400, "MissingAction", "The parameter Action is missing."))?;
    A::action(name).ok_or_else(|| {
        let service = A::SERVICE;
        QueryError::new(400, "InvalidAction", format!("This server has no action {name:?} of {service}."))
    })
}

/// The region of a host such as `sns.eu-west-1.amazonaws.com`.
fn region_of(host: &str) -> Option<&str> {
    let mut labels = host.split('.');
    let service = labels.next()?.trim_end_matches("-fips");
    let region = labels.next()?;
    (matches!(service, "sns" | "sts") && region.contains('-') && is_region(region)).then_some(region)
}

/// Maps an error to that of AWS.
fn not_verified(error: &VerifyError) -> QueryError {
    let (status, code) = match error {
        VerifyError::Unsigned => (403, "MissingAuthenticationToken"),
        VerifyError::UnknownKey => (403, "InvalidClientTokenId"),
        VerifyError::Incomplete(_) => (400, "IncompleteSignature"),
        _ => (403, "SignatureDoesNotMatch"),
    };
    QueryError::new(status, code, error.to_string())
}
