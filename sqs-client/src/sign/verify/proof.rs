//! Where a request says who signed it: in the `Authorization` header, or in its URL.
//!
//! Source: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-authentication-methods.html>

use std::time::{Duration, SystemTime};

use http::header::AUTHORIZATION;
use percent_encoding::percent_decode_str;

use super::{
    ALGORITHM, Refusal, SERVICE, Verifiable, WINDOW, X_AMZ_DATE, X_AMZ_SECURITY_TOKEN, parse_timestamp, text,
};

/// For how long a signature in a URL holds at most: 7 days.
const LONGEST: u64 = 604_800;
/// For how long it holds when the URL does not say: 15 minutes.
const DEFAULT: u64 = 900;
/// The parameter that the signature of a URL cannot cover.
pub(super) const SIGNATURE: &str = "X-Amz-Signature";

/// What a request says about its signature.
pub(super) struct Proof {
    pub(super) access_key_id: String,
    /// `<day>/<region>/sqs/aws4_request`.
    pub(super) scope: String,
    pub(super) region: String,
    pub(super) signed_headers: String,
    pub(super) signature: String,
    /// When it was signed, as it stands there.
    pub(super) stamp: String,
    /// The same as a time.
    pub(super) signed: SystemTime,
    pub(super) session_token: Option<String>,
    /// For how long a signature in a URL holds; one in a header holds for as long as clocks may differ.
    lifetime: Option<Duration>,
}

impl Proof {
    /// Looks in the header first.
    pub(super) fn of(request: Verifiable<'_>) -> Result<Self, Refusal> {
        if let Some(header) = request.headers.get(AUTHORIZATION) {
            let header = header.to_str().map_err(|_| incomplete("The Authorization header is not text."))?;
            return Self::of_header(header, request);
        }
        let parameters = Parameters(request.query);
        if ["X-Amz-Algorithm", "X-Amz-Credential", SIGNATURE]
            .iter()
            .all(|name| parameters.get(name).is_none())
        {
            return Err(Refusal::Unsigned);
        }
        Self::of_url(parameters)
    }

    /// `AWS4-HMAC-SHA256 Credential=<key>/<scope>, SignedHeaders=.., Signature=..`.
    fn of_header(header: &str, request: Verifiable<'_>) -> Result<Self, Refusal> {
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
        let stamp = header(X_AMZ_DATE.as_str())
            .ok_or_else(|| incomplete("Authorization header requires existence of a 'X-Amz-Date' header."))?;
        Ok(Self {
            session_token: header(X_AMZ_SECURITY_TOKEN.as_str()),
            ..Self::new(credential, stamp, signed_headers.to_owned(), signature.to_owned())?
        })
    }

    /// `X-Amz-Algorithm`, `X-Amz-Credential`, `X-Amz-Date`, `X-Amz-Expires`, `X-Amz-SignedHeaders`, `X-Amz-Signature`.
    fn of_url(parameters: Parameters<'_>) -> Result<Self, Refusal> {
        let required = |name: &str| {
            let missing = || incomplete(format!("AWS query-string parameters must include '{name}'."));
            parameters.get(name).ok_or_else(missing)
        };
        if required("X-Amz-Algorithm")? != ALGORITHM {
            return Err(incomplete("Unsupported signature algorithm."));
        }
        let seconds = parameters.get("X-Amz-Expires").map_or(Some(DEFAULT), |seconds| seconds.parse().ok());
        let seconds = seconds.filter(|seconds| (1..=LONGEST).contains(seconds));
        let out_of_range = || incomplete(format!("X-Amz-Expires must be from 1 to {LONGEST} seconds."));
        let (credential, stamp) = (required("X-Amz-Credential")?, required("X-Amz-Date")?);
        Ok(Self {
            session_token: parameters.get("X-Amz-Security-Token"),
            lifetime: Some(Duration::from_secs(seconds.ok_or_else(out_of_range)?)),
            ..Self::new(&credential, stamp, required("X-Amz-SignedHeaders")?, required(SIGNATURE)?)?
        })
    }

    fn new(
        credential: &str,
        stamp: String,
        signed_headers: String,
        signature: String,
    ) -> Result<Self, Refusal> {
        let bad_credential = || incomplete(format!("Credential must have 5 elements, not {credential:?}."));
        let (access_key_id, scope) = credential.split_once('/').ok_or_else(bad_credential)?;
        let [day, region, service, "aws4_request"] = scope.split('/').collect::<Vec<_>>()[..] else {
            return Err(bad_credential());
        };
        let signed = parse_timestamp(&stamp);
        let signed = signed.ok_or_else(|| incomplete("Date must be in ISO-8601 'basic format'."))?;
        if service != SERVICE {
            let text = format!("Credential should be scoped to correct service: '{SERVICE}'.");
            return Err(Refusal::WrongScope(text));
        }
        if !stamp.starts_with(day) || day.len() != 8 {
            let text =
                format!("Date in Credential scope does not match YYYYMMDD from ISO-8601: {day} and {stamp}.");
            return Err(Refusal::WrongScope(text));
        }
        Ok(Self {
            access_key_id: access_key_id.to_owned(),
            scope: scope.to_owned(),
            region: region.to_owned(),
            signed_headers,
            signature,
            stamp,
            signed,
            session_token: None,
            lifetime: None,
        })
    }

    /// Whether the signature holds at the time `now`.
    pub(super) fn holds(&self, now: SystemTime) -> Result<(), Refusal> {
        let shown = || super::super::timestamp(now).unwrap_or_default();
        let early = self.signed.duration_since(now).unwrap_or_default();
        let late = now.duration_since(self.signed).unwrap_or_default();
        match self.lifetime {
            Some(lifetime) if late > lifetime => {
                let (signed, seconds) = (self.stamp.clone(), lifetime.as_secs());
                Err(Refusal::Expired { signed, seconds, now: shown() })
            }
            None if late > WINDOW => Err(Refusal::Skewed { signed: self.stamp.clone(), now: shown() }),
            _ if early > WINDOW => Err(Refusal::Skewed { signed: self.stamp.clone(), now: shown() }),
            _ => Ok(()),
        }
    }
}

pub(super) fn incomplete(text: impl Into<String>) -> Refusal {
    Refusal::Incomplete(text.into())
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
