//! The signature parameters of a request: from the `Authorization` header or from a presigned URL.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-authentication-methods.html>

use std::time::{Duration, SystemTime};

use http::header::AUTHORIZATION;
use percent_encoding::percent_decode_str;

use super::{
    ALGORITHM, MAX_CLOCK_SKEW, Verifiable, VerifyError, X_AMZ_DATE, X_AMZ_SECURITY_TOKEN, parse_timestamp,
    text,
};

/// Maximum of `X-Amz-Expires`: 7 days.
const MAX_EXPIRES_SECONDS: u64 = 604_800;
/// Default of `X-Amz-Expires`: 15 minutes.
const DEFAULT_EXPIRES_SECONDS: u64 = 900;
/// The only parameter of a presigned URL that is not signed.
pub(super) const SIGNATURE: &str = "X-Amz-Signature";

/// The parameters of a signature.
pub(super) struct SignatureParameters {
    pub(super) access_key_id: String,
    /// `<day>/<region>/<service>/aws4_request`.
    pub(super) scope: String,
    pub(super) region: String,
    pub(super) service: String,
    pub(super) signed_headers: String,
    pub(super) signature: String,
    /// The signing time as text.
    pub(super) timestamp: String,
    /// The signing time.
    pub(super) signed_at: SystemTime,
    pub(super) session_token: Option<String>,
    /// How long a presigned URL is valid. `None` for a signature in a header, which only [`MAX_CLOCK_SKEW`] limits.
    lifetime: Option<Duration>,
}

impl SignatureParameters {
    /// Reads the parameters. The header takes precedence.
    pub(super) fn of(request: Verifiable<'_>) -> Result<Self, VerifyError> {
        if let Some(header) = request.headers.get(AUTHORIZATION) {
            let header = header.to_str().map_err(|_| incomplete("The Authorization header is not text."))?;
            return Self::of_header(header, request);
        }
        let parameters = Parameters(request.query);
        if ["X-Amz-Algorithm", "X-Amz-Credential", SIGNATURE]
            .iter()
            .all(|name| parameters.get(name).is_none())
        {
            return Err(VerifyError::Unsigned);
        }
        Self::of_url(parameters)
    }

    /// `AWS4-HMAC-SHA256 Credential=<key>/<scope>, SignedHeaders=.., Signature=..`.
    fn of_header(header: &str, request: Verifiable<'_>) -> Result<Self, VerifyError> {
        let fields =
            header.strip_prefix(ALGORITHM).ok_or_else(|| incomplete("Unsupported signature algorithm."))?;
        let field = |name: &str| {
            let found =
                fields.split(',').find_map(|field| field.trim().strip_prefix(name)?.strip_prefix('='));
            found.ok_or_else(|| incomplete(format!("Authorization header requires '{name}' parameter.")))
        };
        let (credential, signed_headers, signature) =
            (field("Credential")?, field("SignedHeaders")?, field("Signature")?);
        let header = |name: &str| text(request.headers, name).map(str::to_owned);
        let timestamp = header(X_AMZ_DATE.as_str())
            .ok_or_else(|| incomplete("Authorization header requires existence of a 'X-Amz-Date' header."))?;
        Ok(Self {
            session_token: header(X_AMZ_SECURITY_TOKEN.as_str()),
            ..Self::new(credential, timestamp, signed_headers.to_owned(), signature.to_owned())?
        })
    }

    /// `X-Amz-Algorithm`, `X-Amz-Credential`, `X-Amz-Date`, `X-Amz-Expires`, `X-Amz-SignedHeaders`, `X-Amz-Signature`.
    fn of_url(parameters: Parameters<'_>) -> Result<Self, VerifyError> {
        let required = |name: &str| {
            let missing = || incomplete(format!("AWS query-string parameters must include '{name}'."));
            parameters.get(name).ok_or_else(missing)
        };
        if required("X-Amz-Algorithm")? != ALGORITHM {
            return Err(incomplete("Unsupported signature algorithm."));
        }
        let seconds = parameters
            .get("X-Amz-Expires")
            .map_or(Some(DEFAULT_EXPIRES_SECONDS), |seconds| seconds.parse().ok());
        let seconds = seconds.filter(|seconds| (1..=MAX_EXPIRES_SECONDS).contains(seconds));
        let out_of_range =
            || incomplete(format!("X-Amz-Expires must be from 1 to {MAX_EXPIRES_SECONDS} seconds."));
        let (credential, timestamp) = (required("X-Amz-Credential")?, required("X-Amz-Date")?);
        Ok(Self {
            session_token: parameters.get("X-Amz-Security-Token"),
            lifetime: Some(Duration::from_secs(seconds.ok_or_else(out_of_range)?)),
            ..Self::new(&credential, timestamp, required("X-Amz-SignedHeaders")?, required(SIGNATURE)?)?
        })
    }

    fn new(
        credential: &str,
        timestamp: String,
        signed_headers: String,
        signature: String,
    ) -> Result<Self, VerifyError> {
        let bad_credential = || incomplete(format!("Credential must have 5 elements, not {credential:?}."));
        let (access_key_id, scope) = credential.split_once('/').ok_or_else(bad_credential)?;
        let [day, region, service, "aws4_request"] = scope.split('/').collect::<Vec<_>>()[..] else {
            return Err(bad_credential());
        };
        let signed_at = parse_timestamp(&timestamp);
        let signed_at = signed_at.ok_or_else(|| incomplete("Date must be in ISO-8601 'basic format'."))?;
        if !timestamp.starts_with(day) || day.len() != 8 {
            let text = format!(
                "Date in Credential scope does not match YYYYMMDD from ISO-8601: {day} and {timestamp}."
            );
            return Err(VerifyError::WrongScope(text));
        }
        Ok(Self {
            access_key_id: access_key_id.to_owned(),
            scope: scope.to_owned(),
            region: region.to_owned(),
            service: service.to_owned(),
            signed_headers,
            signature,
            timestamp,
            signed_at,
            session_token: None,
            lifetime: None,
        })
    }

    /// Checks that the signature is for this service.
    pub(super) fn check_service(&self, service: &str) -> Result<(), VerifyError> {
        let text = || format!("Credential should be scoped to correct service: '{service}'.");
        if self.service == service { Ok(()) } else { Err(VerifyError::WrongScope(text())) }
    }

    /// Checks that the signature is valid at the time `now`.
    pub(super) fn check_time(&self, now: SystemTime) -> Result<(), VerifyError> {
        let now_text = || super::super::timestamp(now).unwrap_or_default();
        let early = self.signed_at.duration_since(now).unwrap_or_default();
        let late = now.duration_since(self.signed_at).unwrap_or_default();
        match self.lifetime {
            Some(lifetime) if late > lifetime => {
                let (signed, seconds) = (self.timestamp.clone(), lifetime.as_secs());
                Err(VerifyError::Expired { signed, seconds, now: now_text() })
            }
            None if late > MAX_CLOCK_SKEW => {
                Err(VerifyError::Skewed { signed: self.timestamp.clone(), now: now_text() })
            }
            _ if early > MAX_CLOCK_SKEW => {
                Err(VerifyError::Skewed { signed: self.timestamp.clone(), now: now_text() })
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn incomplete(text: impl Into<String>) -> VerifyError {
    VerifyError::Incomplete(text.into())
}

/// The query of a URL.
#[derive(Clone, Copy)]
struct Parameters<'a>(&'a str);

impl Parameters<'_> {
    fn get(self, name: &str) -> Option<String> {
        let mut pairs = self.0.split('&').filter_map(|pair| pair.split_once('='));
        let (_, value) = pairs.find(|(other, _)| *other == name)?;
        Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
    }
}
