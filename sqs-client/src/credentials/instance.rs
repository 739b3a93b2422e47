//! Credentials and region of an EC2 instance, from version 2 of its metadata service (IMDS). Version 1 is never used, because
//! it does not protect against server-side request forgery.
//!
//! Source: <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html>

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use bytes::Bytes;
use http::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode, Uri};
use tokio::time::Instant;

use super::Environment;
use super::cache::LastKnown;
use super::environment::{Provided, named};
use super::exchange::{
    Answer, Exchange, Request, invalid, is_retryable, is_retryable_if_present, not_configured, quoted,
    reason, shared, transient, usable,
};
use crate::endpoint::redacted;
use crate::settings::Settings;

const TOKEN_TTL: HeaderName = HeaderName::from_static("x-aws-ec2-metadata-token-ttl-seconds");
const TOKEN: HeaderName = HeaderName::from_static("x-aws-ec2-metadata-token");
const ROLES: &str = "/latest/meta-data/iam/security-credentials/";

/// Loads the credentials of the instance role from the EC2 metadata service.
///
/// Outside EC2, the query takes seconds to fail, and calls in the next 10 seconds fail without another query.
/// If the service fails later, the last keys stay in use, also after their expiry, since AWS may accept them longer; a client asks
/// the service again after 10 seconds.
/// `AWS_EC2_METADATA_DISABLED=true` disables it. The endpoint is
/// `AWS_EC2_METADATA_SERVICE_ENDPOINT`, else the default for `AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE` (`IPv4` by default,
/// or `IPv6`).
#[derive(Clone, Debug, Default)]
pub struct InstanceCredentials {
    environment: Environment,
    /// The keys of the latest response. Clones share them. Locked for a copy only.
    last: Arc<Mutex<Option<Credentials>>>,
}

/// The service and a session token for it.
struct Session {
    exchange: Exchange,
    endpoint: String,
    token: HeaderValue,
}

/// The endpoint of the service.
struct Place {
    endpoint: String,
    is_configured: bool,
}

impl InstanceCredentials {
    /// A provider that reads the variables of `environment`.
    pub fn new(environment: Environment) -> Self {
        Self { environment, last: Arc::default() }
    }

    async fn load(&self) -> Provided {
        let credentials = match self.fetch().await {
            Ok(credentials) => {
                *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(credentials.clone());
                credentials
            }
            // The role was taken away, or the service is disabled.
            Err(
                error @ (CredentialsError::CredentialsNotLoaded(_)
                | CredentialsError::InvalidConfiguration(_)),
            ) => {
                return Err(error);
            }
            Err(error) => {
                let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let Some(mut last) = last else { return Err(error) };
                last.set_property(LastKnown);
                tracing::warn!(error = %reason(&error), "the EC2 metadata service failed: its last credentials stay in use");
                last
            }
        };
        Ok(usable(credentials, self.environment.now(), "instance"))
    }

    async fn fetch(&self) -> Provided {
        let session = self.session().await?;
        let roles = session.get(ROLES).await?;
        if roles.status() == StatusCode::NOT_FOUND {
            return Err(not_configured(format!("{}: the instance has no IAM role", session.endpoint)));
        }
        let text = session.text(ROLES, &roles)?;
        let role = text.lines().next().unwrap_or_default().trim();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"+=,.@_-".contains(&byte);
        if role.is_empty() || !role.bytes().all(is_name) {
            let role = quoted(role);
            return Err(transient(format!("{}{ROLES}: {role:?} is not a valid role name", session.endpoint)));
        }
        let path = format!("{ROLES}{role}");
        let response = session.get(&path).await?;
        let body = session.text(&path, &response)?;
        let wrong = |why: String| transient(format!("{}{path}: {why}", session.endpoint));
        let answer = Answer::parse(body.as_bytes()).map_err(wrong)?;
        if let Some(error) = answer.service_error() {
            return Err(wrong(error));
        }
        answer.temporary("instance").map_err(wrong)
    }

    /// The region of the instance. `None` if the service returns an empty one.
    pub(crate) async fn region(&self) -> Result<Option<String>, CredentialsError> {
        let path = "/latest/meta-data/placement/region";
        let session = self.session().await?;
        let response = session.get(path).await?;
        let region = session.text(path, &response)?.trim().to_owned();
        Ok(Some(region).filter(|region| !region.is_empty()))
    }

    /// Boxed, so that it is compiled once for its two callers.
    fn session(&self) -> Pin<Box<dyn Future<Output = Result<Session, CredentialsError>> + Send + '_>> {
        Box::pin(async move {
            let Place { endpoint, is_configured } = place(&self.environment.read_settings().await?)?;
            let exchange = self.environment.metadata_exchange()?;
            let mut request = request(&endpoint, "/latest/api/token")?;
            request.method = Method::PUT;
            request.headers.insert(TOKEN_TTL, HeaderValue::from_static("21600"));
            request.body = Bytes::new();
            let presence = &self.environment.instance;
            let is_known = is_configured || presence.has_responded();
            if let (false, Some(error)) = (is_configured, presence.recent_failure()) {
                return Err(shared(&error));
            }
            let is_transient = if is_known { is_retryable } else { is_retryable_if_present };
            let answered = exchange.send_while(&request, is_transient).await;
            let response = match answered {
                Ok(response) => response,
                Err(error) if is_known => return Err(error.into()),
                Err(error) => {
                    let is_absent = error.is_absent;
                    let absent = || not_configured(format!("no EC2 metadata service: {error}"));
                    let error = Arc::new(if is_absent { absent() } else { error.into() });
                    presence.failed(&error);
                    return Err(shared(&error));
                }
            };
            let status = response.status().as_u16();
            let url = redacted(&request.uri.to_string());
            if !response.status().is_success() {
                let why = if status == 403 { "the service is disabled" } else { "not an EC2 instance" };
                let text = format!("{url}: status {status}: {why}");
                // Other clouds run a different service at this address.
                return Err(if is_known { invalid(text) } else { not_configured(text) });
            }
            presence.responded();
            let token = HeaderValue::from_bytes(response.body()).ok().filter(|token| !token.is_empty());
            let mut token = token.ok_or_else(|| transient(format!("{url}: the response is not a token")))?;
            token.set_sensitive(true);
            Ok(Session { exchange, endpoint, token })
        })
    }
}

fn place(settings: &Settings) -> Result<Place, CredentialsError> {
    let is_disabled = settings.flag("AWS_EC2_METADATA_DISABLED", "ec2_metadata_disabled").map_err(invalid)?;
    if is_disabled == Some(true) {
        return Err(not_configured("AWS_EC2_METADATA_DISABLED is true"));
    }
    let endpoint = settings.get("AWS_EC2_METADATA_SERVICE_ENDPOINT", "ec2_metadata_service_endpoint");
    if let Some(setting) = endpoint {
        let endpoint = setting.value.trim_end_matches('/').to_owned();
        let uri: Option<Uri> = endpoint.parse().ok();
        let is_good = |uri: &Uri| {
            let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
            is_http
                && uri.query().is_none()
                && uri.authority().is_some_and(|host| !host.as_str().contains('@'))
        };
        if !uri.is_some_and(|uri| is_good(&uri)) {
            return Err(invalid(setting.invalid("an http URL such as http://169.254.169.254")));
        }
        return Ok(Place { endpoint, is_configured: true });
    }
    let mode = settings.get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "ec2_metadata_service_endpoint_mode");
    let endpoint = match &mode {
        Some(mode) if mode.value.eq_ignore_ascii_case("IPv6") => "http://[fd00:ec2::254]",
        Some(mode) if !mode.value.eq_ignore_ascii_case("IPv4") => {
            return Err(invalid(mode.invalid("IPv4 or IPv6")));
        }
        _ => "http://169.254.169.254",
    };
    Ok(Place { endpoint: endpoint.to_owned(), is_configured: false })
}

fn request(endpoint: &str, path: &str) -> Result<Request, CredentialsError> {
    let uri: Uri =
        format!("{endpoint}{path}").parse().map_err(|_| invalid(format!("{endpoint} is not a URL")))?;
    let mut headers = HeaderMap::new();
    if let Some(host) = uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok()) {
        headers.insert(HOST, host);
    }
    Ok(Request { headers, ..Request::get(uri) })
}

impl Session {
    async fn get(&self, path: &str) -> Result<http::Response<Bytes>, CredentialsError> {
        let mut request = request(&self.endpoint, path)?;
        request.headers.insert(TOKEN, self.token.clone());
        Ok(self.exchange.send(&request).await?)
    }

    fn text<'a>(&self, path: &str, response: &'a http::Response<Bytes>) -> Result<&'a str, CredentialsError> {
        let status = response.status();
        if !status.is_success() {
            return Err(invalid(format!("{}{path}: status {}", self.endpoint, status.as_u16())));
        }
        let text = std::str::from_utf8(response.body());
        text.map_err(|_| transient(format!("{}{path}: the response is not UTF-8 text", self.endpoint)))
    }
}

impl ProvideCredentials for InstanceCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async move { named("instance metadata", self.load().await) })
    }
}

/// How long a service that did not respond is not queried: a query takes seconds.
const SILENT_FOR: Duration = Duration::from_secs(10);

/// What the latest query of the default endpoint has found, so that calls outside EC2 do not wait for it each time. Clones
/// share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
enum Seen {
    #[default]
    Unknown,
    Responded,
    Silent(Instant, Arc<CredentialsError>),
}

impl Presence {
    /// Whether the latest query got a response. If a later one gets none, that is a retryable failure.
    fn has_responded(&self) -> bool {
        matches!(*self.lock(), Seen::Responded)
    }

    fn responded(&self) {
        *self.lock() = Seen::Responded;
    }

    /// The failure of a query in the last 10 seconds.
    fn recent_failure(&self) -> Option<Arc<CredentialsError>> {
        match &*self.lock() {
            Seen::Silent(since, error) if since.elapsed() < SILENT_FOR => Some(Arc::clone(error)),
            _ => None,
        }
    }

    pub(super) fn failed(&self, error: &Arc<CredentialsError>) {
        *self.lock() = Seen::Silent(Instant::now(), Arc::clone(error));
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
