//! What the sources over HTTP share: a request with a few attempts, each with a timeout, and a response of bounded size; credentials in
//! JSON; and the three kinds of failure.

use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use bytes::Bytes;
use http::{HeaderMap, Method, Uri};
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::endpoint::redacted;
use crate::retry::Failure;
use crate::transport::{Transport, TransportErrorKind};
use crate::wire::service_error::without_session_tokens;

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
            text: format!("{}: {text}", redacted(&request.uri.to_string())),
            is_absent,
            is_retryable,
        };
        let sent = tokio::time::timeout(self.timeout, self.transport.send(request.to_http())).await;
        let response = match sent {
            Err(_) => return Err(failed(format!("no response within {:?}", self.timeout), false, true)),
            Ok(Err(error)) => {
                let is_absent = error.kind() == TransportErrorKind::Connect;
                let is_retryable = Failure::of_transport(error.kind()).is_retryable();
                return Err(failed(text_of(&error), is_absent, is_retryable));
            }
            Ok(Ok(response)) => response,
        };
        let status = response.status().as_u16();
        if Failure::of_status(status).is_some_and(Failure::is_retryable) {
            return Err(failed(format!("status {status}"), false, true));
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

/// The maximum length of a foreign text that an error quotes, in characters.
const MAX_QUOTE: usize = 300;
/// How long expired credentials stay in use if the source has no newer ones. The local clock may be wrong, or AWS may
/// accept them longer.
const EXTENSION: Duration = Duration::from_secs(600);

/// Credentials in JSON, as containers, EC2 instances and processes return them. Errors never quote it: it may contain a secret.
pub(super) struct Answer(Map<String, Value>);

impl Answer {
    pub(super) fn parse(body: &[u8]) -> Result<Self, String> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err("expected a JSON object".to_owned()),
            Err(error) => {
                let (line, column) = (error.line(), error.column());
                Err(format!("expected a JSON object, but line {line}, column {column} is not JSON"))
            }
        }
    }

    pub(super) fn field(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str().filter(|text| !text.trim().is_empty())
    }

    fn required(&self, name: &str) -> Result<&str, String> {
        self.optional(name)?.ok_or_else(|| format!("the JSON object has no string {name:?}"))
    }

    /// A member that may be missing but must be a string. An expiry of another type must not count as "never".
    fn optional(&self, name: &str) -> Result<Option<&str>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(_)) => Ok(self.text(name)),
            Some(_) => Err(format!("{name:?} in the JSON object is not a string")),
        }
    }

    /// `Code` and `Message` of an error response.
    pub(super) fn service_error(&self) -> Option<String> {
        let code = self.text("Code").or_else(|| self.text("code")).filter(|code| *code != "Success")?;
        let message = self.text("Message").or_else(|| self.text("message")).unwrap_or("no message");
        Some(quoted(&format!("{code}: {message}")))
    }

    /// Credentials of a metadata service, which always expire.
    pub(super) fn temporary(&self, source: &'static str) -> Result<Credentials, String> {
        let expiry =
            self.expiry()?.ok_or_else(|| "the JSON object has no string \"Expiration\"".to_owned())?;
        self.credentials("Token", Some(expiry), source)
    }

    pub(super) fn credentials(
        &self,
        token: &str,
        expiry: Option<SystemTime>,
        source: &'static str,
    ) -> Result<Credentials, String> {
        let mut builder = Credentials::builder()
            .access_key_id(self.required("AccessKeyId")?)
            .secret_access_key(self.required("SecretAccessKey")?)
            .provider_name(source);
        builder.set_session_token(self.optional(token)?.map(str::to_owned));
        builder.set_expiry(expiry);
        Ok(builder.build())
    }

    pub(super) fn expiry(&self) -> Result<Option<SystemTime>, String> {
        self.optional("Expiration")?.map(expiry).transpose()
    }
}

/// Credentials that can be used for some time, even if they have expired by the local clock.
pub(super) fn usable(mut credentials: Credentials, now: SystemTime, source: &'static str) -> Credentials {
    if credentials.expiry().is_some_and(|expiry| expiry <= now) {
        tracing::warn!(
            source,
            "the source returned credentials that are expired by the local clock; using them anyway"
        );
        *credentials.expiry_mut() = now.checked_add(EXTENSION);
    }
    credentials
}

/// Parses a time such as `2026-11-22T10:00:00Z`.
pub(super) fn expiry(text: &str) -> Result<SystemTime, String> {
    let wrong = || {
        format!("Expiration {:?} is invalid; allowed is a time such as 2026-11-22T10:00:00Z", quoted(text))
    };
    let time = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| wrong())?;
    let since_1970 = Duration::try_from(time - OffsetDateTime::UNIX_EPOCH).map_err(|_| wrong())?;
    SystemTime::UNIX_EPOCH.checked_add(since_1970).ok_or_else(wrong)
}

/// A foreign text for display: one line of bounded length.
pub(super) fn quoted(text: &str) -> String {
    let text = without_session_tokens(text);
    let plain = text.trim().chars().map(|character| if character.is_control() { ' ' } else { character });
    let mut quoted: String = plain.clone().take(MAX_QUOTE).collect();
    if plain.count() > MAX_QUOTE {
        quoted.push_str("..");
    }
    quoted
}

/// The source is not configured: the chain continues with the next one.
pub(super) fn not_configured(why: impl Into<String>) -> CredentialsError {
    CredentialsError::not_loaded(why.into())
}

/// The source is configured incorrectly: retries fail until the configuration is fixed.
pub(super) fn invalid(why: impl Into<Box<dyn StdError + Send + Sync>>) -> CredentialsError {
    CredentialsError::invalid_configuration(why)
}

/// The source failed, but a later attempt may succeed.
pub(super) fn transient(why: impl Into<String>) -> CredentialsError {
    CredentialsError::provider_error(why.into())
}

/// The reason of the failure. The text of `CredentialsError` itself only names its kind.
pub(super) fn reason(error: &CredentialsError) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// The same error with the name of the source as prefix.
pub(super) fn prefixed(name: &str, error: &CredentialsError) -> CredentialsError {
    same_kind(error, format!("{name}: {}", reason(error)))
}

/// The same error with `more` appended to its text.
pub(super) fn extended(error: &CredentialsError, more: &str) -> CredentialsError {
    same_kind(error, reason(error) + more)
}

fn same_kind(error: &CredentialsError, text: String) -> CredentialsError {
    match error {
        CredentialsError::CredentialsNotLoaded(_) => not_configured(text),
        CredentialsError::InvalidConfiguration(_) => invalid(text),
        _ => transient(text),
    }
}

/// A copy of the error for another caller. `CredentialsError` does not implement `Clone`.
pub(super) fn shared(error: &Arc<CredentialsError>) -> CredentialsError {
    let source = Shared(Arc::clone(error));
    match &**error {
        CredentialsError::CredentialsNotLoaded(_) => CredentialsError::not_loaded(source),
        CredentialsError::InvalidConfiguration(_) => CredentialsError::invalid_configuration(source),
        CredentialsError::ProviderTimedOut(details) => {
            CredentialsError::provider_timed_out(details.timeout_duration())
        }
        CredentialsError::Unhandled(_) => CredentialsError::unhandled(source),
        _ => CredentialsError::provider_error(source),
    }
}

/// The source of a shared error.
#[derive(Debug)]
struct Shared(Arc<CredentialsError>);

impl std::fmt::Display for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&reason(&self.0))
    }
}

impl StdError for Shared {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()?.source()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_the_missing_member_and_quotes_no_secret() {
        for (body, expected) in [
            ("hunter2", "line 1, column 1 is not JSON"),
            ("[\"hunter2\"]", "expected a JSON object"),
            (r#"{"SecretAccessKey":"hunter2","Expiration":"2026-11-22T10:00:00Z"}"#, "AccessKeyId"),
            (
                r#"{"AccessKeyId":"AK","SecretAccessKey":["hunter2"],"Expiration":"2026-11-22T10:00:00Z"}"#,
                "SecretAccessKey",
            ),
            (r#"{"AccessKeyId":"AK","SecretAccessKey":"hunter2"}"#, "Expiration"),
            (r#"{"AccessKeyId":"AK","SecretAccessKey":"hunter2","Expiration":"soon"}"#, "soon"),
            (r#"{"AccessKeyId":"AK","SecretAccessKey":"hunter2","Expiration":1}"#, "Expiration"),
        ] {
            let error = Answer::parse(body.as_bytes()).and_then(|answer| answer.temporary("test"));
            let error = error.expect_err("not credentials");
            assert!(error.contains(expected) && !error.contains("hunter2"), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_input_never_panics(body: Vec<u8>, text: String) {
            let _ = Answer::parse(&body).and_then(|answer| answer.temporary("test"));
            let _ = expiry(&text);
        }
    }

    #[test]
    fn expiry_may_have_a_time_zone_offset() {
        assert_eq!(expiry("2026-11-22T11:00:00+01:00"), expiry("2026-11-22T10:00:00Z"));
    }
}
