//! Sends one request to a credentials service: a few attempts, each with a timeout, and a response of bounded size.

use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::provider::error::CredentialsError;
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Uri};

use super::failure::{invalid, transient};
use crate::transport::{Transport, TransportErrorKind};

/// Responses with credentials have about 2 KiB.
pub(super) const MAX_ANSWER_BYTES: usize = 65_536;
/// The maximum number of attempts.
const ATTEMPTS: u32 = 3;

/// Sends requests to one service.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) timeout: Duration,
    /// The pause before the second attempt. It doubles before the third.
    pub(super) pause: Duration,
}

/// A request that can be retried.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// The service failed or cannot be reached.
#[derive(Debug)]
pub(super) struct Unanswered {
    text: String,
    /// Whether no connection was made. On most machines, that means that there is no such service.
    pub(super) is_absent: bool,
    /// Whether a later attempt may succeed.
    pub(super) is_retryable: bool,
}

/// A response or a failure.
pub(super) type Outcome = Result<http::Response<Bytes>, Unanswered>;

/// The future of an [`Outcome`].
pub(super) type Sent<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// Whether the service failed and a later attempt may succeed.
pub(super) fn is_retryable(outcome: &Outcome) -> bool {
    outcome.as_ref().is_err_and(|failure| failure.is_retryable)
}

/// Like [`is_retryable`], but false if no connection was made.
pub(super) fn is_retryable_if_present(outcome: &Outcome) -> bool {
    outcome.as_ref().is_err_and(|failure| failure.is_retryable && !failure.is_absent)
}

impl Request {
    pub(super) fn get(uri: Uri) -> Self {
        Self { method: Method::GET, uri, headers: HeaderMap::new(), body: Bytes::new() }
    }

    fn to_http(&self) -> http::Request<Bytes> {
        let mut request = http::Request::new(self.body.clone());
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

impl Exchange {
    /// Returns the response, unless the service failed. Retries retryable failures.
    pub(super) fn send<'a>(&'a self, request: &'a Request) -> Sent<'a> {
        self.send_while(request, is_retryable)
    }

    /// Sends the request, and again while the outcome is transient, up to three times. Returns the last outcome.
    ///
    /// The future is boxed, so that it is compiled once and not into each of its callers.
    pub(super) fn send_while<'a>(
        &'a self,
        request: &'a Request,
        is_transient: fn(&Outcome) -> bool,
    ) -> Sent<'a> {
        Box::pin(async move {
            let mut pause = self.pause;
            let mut attempts = 1;
            loop {
                let outcome = self.once(request).await;
                if attempts == ATTEMPTS || !is_transient(&outcome) {
                    return outcome;
                }
                match outcome {
                    Ok(response) => tracing::debug!(status = response.status().as_u16(), "retrying"),
                    Err(error) => tracing::debug!(%error, "retrying"),
                }
                let jittered = Duration::try_from_secs_f64(pause.as_secs_f64() * crate::random::unit());
                tokio::time::sleep(jittered.unwrap_or(pause)).await;
                pause = pause.saturating_mul(2);
                attempts += 1;
            }
        })
    }

    async fn once(&self, request: &Request) -> Outcome {
        let failed = |text: String, is_absent, is_retryable| Unanswered {
            text: format!("{}: {text}", shown(&request.uri)),
            is_absent,
            is_retryable,
        };
        let sent = tokio::time::timeout(self.timeout, self.transport.send(request.to_http())).await;
        let response = match sent {
            Err(_) => return Err(failed(format!("no response within {:?}", self.timeout), false, true)),
            Ok(Err(error)) => {
                let (absent, is_retryable) = match error.kind() {
                    TransportErrorKind::Connect => (true, true),
                    TransportErrorKind::Broken | TransportErrorKind::Timeout => (false, true),
                    _ => (false, false),
                };
                return Err(failed(text_of(&error), absent, is_retryable));
            }
            Ok(Ok(response)) => response,
        };
        let status = response.status();
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(failed(format!("status {}", status.as_u16()), false, true));
        }
        if response.body().len() > MAX_ANSWER_BYTES {
            return Err(failed(
                format!("the response is longer than {MAX_ANSWER_BYTES} bytes"),
                false,
                false,
            ));
        }
        Ok(response)
    }
}

/// The URL without its potentially secret parts: password and query.
pub(super) fn shown(uri: &Uri) -> String {
    let text = crate::endpoint::redacted(&uri.to_string());
    text.split('?').next().unwrap_or_default().to_owned()
}

/// The error and its sources in one line.
pub(super) fn text_of(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Unanswered> for CredentialsError {
    fn from(error: Unanswered) -> Self {
        if error.is_retryable { transient(error.text) } else { invalid(error.text) }
    }
}
