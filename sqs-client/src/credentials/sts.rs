//! Credentials for a role, from the Security Token Service: for credentials, or for a token of an identity provider.
//!
//! Source: <https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html>

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, DATE, HOST, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Environment;
use super::environment::{Provided, blocking, named};
use super::exchange::{Outcome, Request, expiry, invalid, is_retryable, not_configured, quoted, transient};
use crate::config::Region;
use crate::endpoint::{Endpoint, redacted};
use crate::retry::Failure;
use crate::settings::{Setting, Settings, read_file};
use crate::wire::protocol::Document;
use crate::wire::service_error::ErrorCode;
use crate::wire::sign::{Signable, Signer};

/// Characters that are not percent-encoded in a form.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A role and the parameters to assume it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Role {
    pub(super) arn: String,
    pub(super) session_name: Option<String>,
    pub(super) external_id: Option<String>,
    pub(super) duration_seconds: Option<u32>,
}

/// The proof of identity for assuming a role.
pub(super) enum Proof<'a> {
    /// Credentials that sign the request.
    Credentials(&'a Credentials),
    /// A token of an identity provider, sent in the request.
    Token(&'a str),
}

pub(super) struct Sts {
    environment: Environment,
    endpoint: Endpoint,
    region: Region,
}

impl Sts {
    /// STS in the configured region, else in the default region of the role's partition.
    pub(super) fn new(
        environment: &Environment,
        settings: &Settings,
        role: &Role,
    ) -> Result<Self, CredentialsError> {
        let mut environment = environment.clone().completed(settings).map_err(invalid)?;
        let region =
            environment.common.region.get_or_insert_with(|| Region::from_static(default_region(&role.arn)));
        let region = region.clone();
        let url = settings.endpoint_url("STS").map_err(invalid)?;
        let endpoint = Endpoint::resolve("sts", environment.common.endpoint_parameters(url.as_deref()));
        let endpoint = endpoint.map_err(|error| invalid(format!("STS endpoint: {error}")))?;
        Ok(Self { environment, endpoint, region })
    }

    pub(super) async fn assume(&self, role: &Role, proof: Proof<'_>) -> Provided {
        let now = self.environment.now();
        let request = self.request(role, &proof, now)?;
        let exchange = self.environment.service_exchange(self.endpoint.uri())?;
        let mut response = exchange.send_while(&request, is_transient).await?;
        // A wrong local clock invalidates every signature. The `Date` of the rejection is the correct time.
        if response.status() == StatusCode::FORBIDDEN && matches!(proof, Proof::Credentials(_)) {
            let date = response.headers().get(DATE).and_then(|date| date.to_str().ok());
            if let Some(date) = date.and_then(|date| httpdate::parse_http_date(date).ok())
                && crate::time::skew(date, now).is_some_and(|skew| skew.unsigned_abs() > 60)
            {
                response = exchange.send_while(&self.request(role, &proof, date)?, is_transient).await?;
            }
        }
        self.read(role, &response)
    }

    fn request(&self, role: &Role, proof: &Proof<'_>, now: SystemTime) -> Result<Request, CredentialsError> {
        let body = Bytes::from(form(role, proof, now));
        let uri = self.endpoint.uri().clone();
        let mut headers = HeaderMap::new();
        let content_type = HeaderValue::from_static("application/x-www-form-urlencoded; charset=utf-8");
        headers.insert(CONTENT_TYPE, content_type);
        let host = HeaderValue::from_str(self.endpoint.host()).map_err(invalid)?;
        headers.insert(HOST, host);
        if let Proof::Credentials(credentials) = proof {
            let signable = Signable { host: self.endpoint.host(), path: uri.path(), body: &body };
            let signer = Signer::for_service("sts");
            signer.sign(signable, &mut headers, credentials, self.region.as_ref(), now).map_err(invalid)?;
        }
        Ok(Request { method: Method::POST, uri, headers, body })
    }

    fn read(&self, role: &Role, response: &http::Response<Bytes>) -> Provided {
        let place = format!("{}: role {}", redacted(&self.endpoint.uri().to_string()), quoted(&role.arn));
        let wrong = |why: String| transient(format!("{place}: {why}"));
        let status = response.status();
        let document = document(response.body());
        if !status.is_success() {
            let text = |name| document.as_ref().ok().and_then(|document| document.text(name));
            let code = text("Code").unwrap_or("no code");
            let message = text("Message").unwrap_or("no message");
            let text =
                format!("{place}: status {}: {}", status.as_u16(), quoted(&format!("{code}: {message}")));
            return Err(if is_retryable_code(code) { transient(text) } else { invalid(text) });
        }
        let document = document.map_err(wrong)?;
        let text = |name: &str| {
            let text = document.text(name).filter(|text| !text.is_empty());
            text.ok_or_else(|| wrong(format!("the response has no element {name}")))
        };
        let expiry = expiry(text("Expiration")?).map_err(wrong)?;
        let token = Some(text("SessionToken")?.to_owned());
        Ok(Credentials::new(text("AccessKeyId")?, text("SecretAccessKey")?, token, Some(expiry), "sts"))
    }
}

/// Whether an error of STS is transient.
fn is_transient(outcome: &Outcome) -> bool {
    let has_transient_code = |response: &http::Response<Bytes>| {
        response.status().is_client_error()
            && document(response.body())
                .is_ok_and(|document| document.text("Code").is_some_and(is_retryable_code))
    };
    is_retryable(outcome) || outcome.as_ref().is_ok_and(has_transient_code)
}

/// Also with a status of 4xx.
fn is_retryable_code(code: &str) -> bool {
    let of_sqs = || Failure::of_code(&ErrorCode::from_name(code)).is_some_and(Failure::is_retryable);
    code == "IDPCommunicationError" || of_sqs()
}

/// The default region for the partition of an ARN such as `arn:aws-cn:iam::123456789012:role/x`.
fn default_region(arn: &str) -> &'static str {
    match arn.split(':').nth(1) {
        Some("aws-cn") => "cn-north-1",
        Some("aws-us-gov") => "us-gov-west-1",
        Some("aws-eusc") => "eusc-de-east-1",
        _ => "us-east-1",
    }
}

fn form(role: &Role, proof: &Proof<'_>, now: SystemTime) -> String {
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let session_name = role.session_name.clone().unwrap_or_else(|| format!("sqs-client-{seconds}"));
    let duration = role.duration_seconds.map(|seconds| seconds.to_string());
    let (action, token) = match proof {
        Proof::Credentials(_) => ("AssumeRole", None),
        Proof::Token(token) => ("AssumeRoleWithWebIdentity", Some(*token)),
    };
    let members = [
        ("Action", Some(action)),
        ("Version", Some("2011-06-15")),
        ("RoleArn", Some(role.arn.as_str())),
        ("RoleSessionName", Some(session_name.as_str())),
        ("DurationSeconds", duration.as_deref()),
        ("ExternalId", role.external_id.as_deref()),
        ("WebIdentityToken", token),
    ];
    let pairs = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let encoded = pairs.map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, FORM)));
    encoded.collect::<Vec<_>>().join("&")
}

/// The response of STS. Errors never quote it: it contains a secret.
fn document(body: &[u8]) -> Result<Document<'_>, String> {
    Document::parse(body).map_err(|_| "the response is not XML from STS".to_owned())
}

const TOKEN_FILE: &str = "AWS_WEB_IDENTITY_TOKEN_FILE";
const ROLE: &str = "AWS_ROLE_ARN";

/// Exchanges the token in the file `AWS_WEB_IDENTITY_TOKEN_FILE` for credentials of the role `AWS_ROLE_ARN`.
///
/// `AWS_ROLE_SESSION_NAME` sets the session name. The file is read at each call, because the platform replaces the token.
/// IAM roles for service accounts on EKS set these variables.
///
/// Source: <https://docs.aws.amazon.com/sdkref/latest/guide/feature-assume-role-credentials.html>
#[derive(Clone, Debug, Default)]
pub struct WebIdentityCredentials(Environment);

/// A role and the file with its token.
#[derive(Clone, Debug)]
pub(super) struct WebIdentity {
    pub(super) role: Role,
    pub(super) token_file: Setting,
}

impl WebIdentityCredentials {
    /// A provider that reads the variables of `environment`.
    pub fn new(environment: Environment) -> Self {
        Self(environment)
    }

    async fn load(&self) -> Provided {
        let read = |name: &str| self.0.variables.text(name);
        let (token_file, arn) = match (read(TOKEN_FILE), read(ROLE)) {
            (Some(file), Some(arn)) => (file, arn),
            (None, _) => return Err(not_configured(format!("{TOKEN_FILE} is not set"))),
            (Some(_), None) => {
                return Err(invalid(format!("{TOKEN_FILE} is set but {ROLE} is not: set both or neither")));
            }
        };
        let role = Role { arn, session_name: read("AWS_ROLE_SESSION_NAME"), ..Role::default() };
        let token_file = Setting { value: token_file, place: TOKEN_FILE.to_owned() };
        let settings = self.0.read_settings().await?;
        let identity = WebIdentity { role, token_file };
        identity.exchange(&self.0, &settings).await
    }
}

impl WebIdentity {
    pub(super) async fn exchange(self, environment: &Environment, settings: &Settings) -> Provided {
        let Self { role, token_file } = self;
        let (token_file, place) = (settings.path(&token_file), token_file.place);
        let sts = Sts::new(environment, settings, &role)?;
        let token = blocking(move || match read_file(&token_file) {
            Ok(Some(token)) if !token.trim().is_empty() => Ok(token),
            Ok(Some(_)) => Err(invalid(format!("{place}: {} is empty", token_file.display()))),
            Ok(None) => Err(invalid(format!("{place}: {} does not exist", token_file.display()))),
            Err(error) => Err(invalid(format!("{place}: {error}"))),
        });
        sts.assume(&role, Proof::Token(token.await?.trim())).await
    }
}

impl ProvideCredentials for WebIdentityCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async move { named("web identity", self.load().await) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_errors_are_parsed() {
        let answer = "<AssumeRoleResponse xmlns=\"x\"><AssumeRoleResult><Credentials><AccessKeyId>AK</AccessKeyId>\
                      <SessionToken>a&amp;b</SessionToken></Credentials></AssumeRoleResult></AssumeRoleResponse>";
        assert_eq!(document(answer.as_bytes()).expect("XML").text("SessionToken"), Some("a&b"));
        let error =
            "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>";
        assert_eq!(document(error.as_bytes()).expect("XML").text("Code"), Some("AccessDenied"));
    }

    #[test]
    fn error_for_invalid_xml_quotes_nothing() {
        for garbage in ["", "hunter2", "{\"hunter2\":1}", "<a><b>hunter2", "<a>hunter2</b>"] {
            let error = document(garbage.as_bytes()).err().expect(garbage);
            assert!(!error.contains("hunter2"), "{error}");
        }
        assert!(document(&[0xff, 0xfe]).is_err());
    }
}
