//! Who may call: anyone, or whoever signs with a known key.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use http::request::Parts;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::sign::{Claim, KeyLookup, Verifiable, VerifyError, verify};

/// Pairs of access key and secret.
#[derive(Clone, Default, Eq, PartialEq)]
pub(crate) struct Keys(BTreeMap<String, String>);

impl Keys {
    /// The pair that the server's own client signs with.
    pub(crate) fn first(&self) -> Option<(&str, &str)> {
        self.0.first_key_value().map(|(id, secret)| (id.as_str(), secret.as_str()))
    }
}

impl<I: Into<String>, S: Into<String>> FromIterator<(I, S)> for Keys {
    fn from_iter<T: IntoIterator<Item = (I, S)>>(pairs: T) -> Self {
        Self(pairs.into_iter().map(|(id, secret)| (id.into(), secret.into())).collect())
    }
}

/// The secrets do not show.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl KeyLookup for Keys {
    fn secret(&self, access_key_id: &str) -> Option<&str> {
        self.0.get(access_key_id).map(String::as_str)
    }
}

/// Who signed a request. One that is not signed with one of the keys, or for another time, is refused.
pub(super) fn check(
    keys: &Keys,
    head: &Parts,
    body: &[u8],
    now: SystemTime,
    region: &str,
) -> Result<Claim, ServiceError> {
    let request = Verifiable {
        method: head.method.as_str(),
        path: head.uri.path(),
        query: head.uri.query().unwrap_or_default(),
        headers: &head.headers,
        body,
    };
    verify(request, keys, now).map_err(|refusal| answer(&refusal, region))
}

/// As AWS answers.
fn answer(refusal: &VerifyError, region: &str) -> ServiceError {
    let code = match refusal {
        VerifyError::Unsigned => {
            let message = format!("Access to the resource https://sqs.{region}.amazonaws.com/ is denied.");
            return ServiceError::new(ErrorCode::AccessDenied, message);
        }
        VerifyError::UnknownKey => ErrorCode::InvalidClientTokenId,
        VerifyError::Incomplete(_) => ErrorCode::IncompleteSignature,
        _ => ErrorCode::SignatureDoesNotMatch,
    };
    ServiceError::new(code, refusal.to_string())
}
