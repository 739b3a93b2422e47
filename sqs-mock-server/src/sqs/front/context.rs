//! The context of an operation: its caller, and the address that the caller used.

use http::request::Parts;
use sqs_client::wire::protocol::Protocol;

use super::endpoint::Endpoint;
use super::queue_url::Styled;
use crate::service::caller::Caller;
use crate::sqs::ops::{Context, Trace};

impl Endpoint {
    /// The base of queue URLs in a region, for callers that use this host.
    pub(crate) fn base_url(&self, host: &str, region: &str) -> String {
        match &self.names().public_url {
            Some(url) => url.clone(),
            None => self.queue_url_style.base(host, region),
        }
    }

    /// The context of an operation. If the caller does not name a region, the host may.
    pub(crate) fn context(&self, head: &Parts, caller: Caller<'_>, protocol: Protocol) -> Context {
        let host = self.names().host(head);
        let of_host = || Some(Styled::of(host)?.region);
        let region = caller.region.or_else(of_host).unwrap_or(&self.names().region);
        let trace_header = head.headers.get("x-amzn-trace-id").and_then(|value| value.to_str().ok());
        let is_query = protocol == Protocol::Query;
        let path = Some(head.uri.path()).filter(|path| is_query && *path != "/");
        Context {
            account: caller.account.unwrap_or(&self.names().account).to_owned(),
            region: region.to_owned(),
            base_url: self.base_url(host, region),
            public_url: self.names().public_url.clone(),
            is_query,
            request_url: path.map(|path| format!("http://{host}{path}")),
            trace_header: trace_header.map(str::to_owned),
            failing: Vec::new(),
            is_retry: self.service().findings().is_some() && is_retry(head),
            redeliver: false,
            trace: Trace::default(),
        }
    }
}

/// Whether the request is a retry of an AWS SDK, as in `amz-sdk-request: attempt=2; max=3`.
fn is_retry(head: &Parts) -> bool {
    let request = head.headers.get("amz-sdk-request").and_then(|value| value.to_str().ok());
    let attempt = request.and_then(|text| {
        text.split(';').find_map(|part| part.trim().strip_prefix("attempt=")?.parse::<u32>().ok())
    });
    attempt.is_some_and(|attempt| attempt > 1)
}
