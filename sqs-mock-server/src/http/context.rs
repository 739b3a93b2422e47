//! What operations have to know of a request: who calls, and by which address.

use http::request::Parts;
use sqs_client::protocol::Protocol;

use super::call::Call;
use super::caller::{self, Caller};
use super::endpoint::Endpoint;
use crate::ops::Context;

impl Endpoint {
    /// How the queue URLs of a caller begin.
    pub(super) fn base_url(&self, head: &Parts) -> String {
        match (&self.names().public_url, caller::host(head)) {
            (Some(url), _) => url.clone(),
            (None, Some(host)) => format!("http://{host}"),
            (None, None) => self.names().own_url.clone(),
        }
    }

    /// What the operation of a call has to know.
    pub(super) fn context(&self, head: &Parts, call: &Call<'_>) -> Context {
        let signed_url = call.parameter("X-Amz-Credential").map(Caller::from_credential);
        self.context_of(head, signed_url, call.protocol())
    }

    /// What an operation has to know of a request. Its caller is in the head, unless it is `in_url`.
    pub(super) fn context_of(&self, head: &Parts, in_url: Option<Caller<'_>>, protocol: Protocol) -> Context {
        let caller = in_url.unwrap_or_else(|| Caller::of(head));
        let base_url = self.base_url(head);
        let trace_header = head.headers.get("x-amzn-trace-id").and_then(|value| value.to_str().ok());
        let wsdl = protocol == Protocol::Query;
        Context {
            account: caller.account.unwrap_or(&self.names().account).to_owned(),
            region: caller.region.unwrap_or(&self.names().region).to_owned(),
            base_url,
            wsdl,
            queue_path: Some(head.uri.path()).filter(|path| wsdl && *path != "/").map(str::to_owned),
            trace_header: trace_header.map(str::to_owned),
        }
    }
}
