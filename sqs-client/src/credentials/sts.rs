//! Credentials for a role, from the Security Token Service.
//!
//! Source: <https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html>

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, DATE, HOST, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Environment;
use super::answer::{expiry, quoted};
use super::environment::{EndpointVariant, Provided};
use super::exchange::{Outcome, Request, is_retryable, shown};
use super::failure::{invalid, transient};
use super::sts_xml::texts;
use crate::endpoint::{Endpoint, EndpointParameters};
use crate::settings::Settings;
use crate::wire::sign::{Signable, Signer};

/// Characters that are not percent-encoded in a form.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// Retryable error codes with a status of 4xx.
const RETRYABLE: [&str; 4] =
    ["IDPCommunicationError", "RequestLimitExceeded", "Throttling", "ThrottlingException"];

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
    region: String,
}

impl Sts {
    /// STS in the configured region, else in the default region of the role's partition.
    pub(super) fn new(
        environment: &Environment,
        settings: &Settings,
        role: &Role,
    ) -> Result<Self, CredentialsError> {
        let configured = environment.configured_region().map(str::to_owned);
        let region = configured.or_else(|| settings.region());
        let region = region.unwrap_or_else(|| default_region(&role.arn).to_owned());
        let url = settings.endpoint_url("STS").map_err(invalid)?;
        let variant = match environment.endpoint_variant {
            Some(variant) => variant,
            None => EndpointVariant::of(settings).map_err(invalid)?,
        };
        let endpoint = Endpoint::of_sts(EndpointParameters {
            region: Some(&region),
            endpoint_url: url.as_deref(),
            use_fips: variant.use_fips,
            use_dual_stack: variant.use_dual_stack,
        });
        let endpoint = endpoint.map_err(|error| invalid(format!("STS endpoint: {error}")))?;
        Ok(Self { environment: environment.clone().with_tls_of(settings), endpoint, region })
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
            signer.sign(signable, &mut headers, credentials, &self.region, now).map_err(invalid)?;
        }
        Ok(Request { method: Method::POST, uri, headers, body })
    }

    fn read(&self, role: &Role, response: &http::Response<Bytes>) -> Provided {
        let place = format!("{}: role {}", shown(self.endpoint.uri()), quoted(&role.arn));
        let wrong = |why: String| transient(format!("{place}: {why}"));
        let status = response.status();
        let texts = texts(response.body());
        if !status.is_success() {
            let texts = texts.unwrap_or_default();
            let code = texts.get("Code").map_or("no code", String::as_str);
            let message = texts.get("Message").map_or("no message", String::as_str);
            let text =
                format!("{place}: status {}: {}", status.as_u16(), quoted(&format!("{code}: {message}")));
            return Err(if RETRYABLE.contains(&code) { transient(text) } else { invalid(text) });
        }
        let texts = texts.map_err(wrong)?;
        let text = |name: &str| {
            let text = texts.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
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
            && texts(response.body())
                .is_ok_and(|texts| texts.get("Code").is_some_and(|code| RETRYABLE.contains(&code.as_str())))
    };
    is_retryable(outcome) || outcome.as_ref().is_ok_and(has_transient_code)
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
