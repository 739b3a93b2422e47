//! The caller of a request: account and region from the credential scope, the base of queue URLs from the host.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use http::header::{AUTHORIZATION, HOST, HeaderValue};
use http::request::Parts;
use serde::Deserialize;
use sqs_client::wire::sign::{Claim, KeyLookup, Verifiable, VerifyError};

use crate::control::clock::system_time;
use crate::control::schedule::is_name_byte;
use crate::control::session::{AccountId, Session};

/// The maximum length of a region name in a request; those of AWS have at most 15 characters.
const MAX_REGION: usize = 32;

/// The characters of an access key that name a caller in a schedule; those of AWS have at most 128.
const MAX_NAME: usize = 128;

/// The account and region of a caller, claimed by the request or proven by its signature.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Caller<'a> {
    /// The access key if it has 12 digits, so that callers can choose their account; else the account of the role that was assumed.
    pub(crate) account: Option<AccountId>,
    /// The region of the credential scope.
    pub(crate) region: Option<&'a str>,
}

impl<'a> Caller<'a> {
    /// Reads the `Authorization` header.
    pub(crate) fn of(head: &'a Parts) -> Self {
        credential_of(head).map(Self::from_scope).unwrap_or_default()
    }

    /// Reads a verified claim.
    pub(crate) fn of_claim(claim: &'a Claim) -> Self {
        let region = Some(claim.region.as_str()).filter(|region| is_region(region));
        Self { account: account_of(&claim.access_key_id), region }
    }

    /// Parses `<key>/<date>/<region>/<service>/aws4_request`, up to a comma.
    pub(crate) fn from_credential(text: &'a str) -> Self {
        parts_of(text.as_bytes()).next().map(Self::from_scope).unwrap_or_default()
    }

    /// Takes bytes, since every request comes here, and a search in text is slower.
    fn from_scope(credential: &'a [u8]) -> Self {
        let mut parts =
            credential.split(|byte| *byte == b'/').map(|part| str::from_utf8(part).unwrap_or_default());
        let account = parts.next().and_then(account_of);
        let region = parts.nth(1).filter(|region| is_region(region));
        Self { account, region }
    }
}

/// The credential in the `Authorization` header.
fn credential_of(head: &Parts) -> Option<&[u8]> {
    let header = head.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    parts_of(header).find_map(|part| part.strip_prefix(b"Credential="))
}

/// The caller in a [schedule](crate::control::schedule): the access key, without what a plan cannot have in a name.
pub(crate) fn name_of_caller(head: &Parts) -> Box<str> {
    let key = credential_of(head).and_then(|credential| credential.split(|byte| *byte == b'/').next());
    let legal = |byte: &u8| if is_name_byte(*byte) { char::from(*byte) } else { '_' };
    let name: String = key.unwrap_or_default().iter().take(MAX_NAME).map(legal).collect();
    if name.is_empty() { "anonymous".into() } else { name.into() }
}

/// The account that an access key names.
fn account_of(access_key_id: &str) -> Option<AccountId> {
    AccountId::of(access_key_id).or_else(|| AccountId::of_session_key(access_key_id))
}

/// The parts between the commas, spaces and tabs of a header.
fn parts_of(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    header.split(|byte| matches!(byte, b',' | b' ' | b'\t'))
}

/// Marks a request that came through the admin API, which requires no signature.
#[derive(Clone, Copy, Debug)]
struct Trusted;

/// Makes a request of the admin API one to the root, without a signature.
pub(crate) fn trust(head: &mut Parts) {
    head.uri = http::Uri::from_static("/");
    head.extensions.insert(Trusted);
}

/// Whether the signature of a request does not matter.
pub(crate) fn is_trusted(head: &Parts) -> bool {
    head.extensions.get::<Trusted>().is_some()
}

/// Marks a request that came encrypted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encrypted;

/// The scheme that the caller used. Queue URLs and links have it.
pub(crate) fn scheme(head: &Parts) -> &'static str {
    if head.extensions.get::<Encrypted>().is_some() { "https" } else { "http" }
}

/// Whether a text can be the name of a region.
pub(crate) fn is_region(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_REGION).contains(&text.len()) && text.bytes().all(legal)
}

/// The host that the caller used, with its port. Queue URLs contain it, so that they work for callers on this machine,
/// in containers and behind forwarded ports.
pub(crate) fn host(head: &Parts) -> Option<&str> {
    if let Some(authority) = head.uri.authority() {
        return Some(authority.as_str());
    }
    let host = head.headers.get(HOST)?.to_str().ok()?;
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    (!host.is_empty() && host.bytes().all(legal)).then_some(host)
}

/// Pairs of access key and secret.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(pub(crate) BTreeMap<String, Secret>);

/// A secret, such as that of an access key. `Debug` does not show it.
#[derive(Clone, Deserialize, Eq, PartialEq)]
pub struct Secret(String);

impl Keys {
    /// The key that the server's own client uses.
    pub(crate) fn first(&self) -> Option<(&str, &str)> {
        self.0.first_key_value().map(|(id, secret)| (id.as_str(), secret.as_str()))
    }

    /// The secret that those of sessions follow from.
    pub(crate) fn of_sessions(&self) -> &str {
        self.first().map_or("", |(_, secret)| secret)
    }

    /// The secret of a key, whatever its token.
    pub(crate) fn secret_of(&self, access_key_id: &str) -> Option<Cow<'_, str>> {
        if AccountId::of_session_key(access_key_id).is_some() {
            return Some(Session::secret(self.of_sessions(), access_key_id).into());
        }
        self.0.get(access_key_id).map(|secret| secret.as_str().into())
    }

    /// Checks that the token of temporary credentials belongs to their key and has not expired.
    ///
    /// # Errors
    /// [`VerifyError::UnknownKey`] and [`VerifyError::ExpiredToken`].
    pub(crate) fn check_token(&self, access_key_id: &str, token: Option<&str>) -> Result<(), VerifyError> {
        if AccountId::of_session_key(access_key_id).is_none() {
            return Ok(());
        }
        let session = token.and_then(|token| Session::of_token(self.of_sessions(), token));
        match session.filter(|session| session.access_key_id == access_key_id) {
            None => Err(VerifyError::UnknownKey),
            Some(session) if session.has_ended(system_time()) => Err(VerifyError::ExpiredToken),
            Some(_) => Ok(()),
        }
    }
}

/// The parts of a request that a signature covers.
pub(crate) fn verifiable<'a>(head: &'a Parts, body: &'a [u8]) -> Verifiable<'a> {
    Verifiable {
        method: head.method.as_str(),
        path: head.uri.path(),
        query: head.uri.query().unwrap_or_default(),
        headers: &head.headers,
        body,
    }
}

impl KeyLookup for Keys {
    fn secret(&self, access_key_id: &str, token: Option<&str>) -> Result<Cow<'_, str>, VerifyError> {
        self.check_token(access_key_id, token)?;
        self.secret_of(access_key_id).ok_or(VerifyError::UnknownKey)
    }
}

impl Secret {
    /// The secret itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for Secret {
    fn from(secret: T) -> Self {
        Self(secret.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(headers: &[(&str, &str)]) -> Parts {
        let mut request = http::Request::builder().uri("/");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn access_key_of_twelve_digits_selects_the_account() {
        let value = "AWS4-HMAC-SHA256 Credential=123456789012/20260102/eu-west-1/sqs/aws4_request, SignedHeaders=host";
        let expected = Caller { account: AccountId::of("123456789012"), region: Some("eu-west-1") };
        for value in [value.to_owned(), value.replace("256 ", "256\t"), value.replace(", ", ",")] {
            assert_eq!(Caller::of(&head(&[("authorization", &value)])), expected, "{value}");
        }
    }

    #[test]
    fn other_access_keys_select_only_the_region() {
        let caller = Caller::from_credential("AKIDEXAMPLE/20260102/us-west-2/sqs/aws4_request");
        assert_eq!(caller, Caller { account: None, region: Some("us-west-2") });
    }

    #[test]
    fn invalid_scope_is_ignored() {
        for text in ["", "/", "//", "x", "1/2/ÜBER/sqs", "1/2/../3", &format!("1/2/{}/sqs", "a".repeat(33))]
        {
            assert_eq!(Caller::from_credential(text), Caller::default(), "{text}");
        }
        assert_eq!(Caller::of(&head(&[("authorization", "Basic dGVzdDp0ZXN0")])), Caller::default());
    }

    #[test]
    fn temporary_credentials_need_their_token_until_they_expire() {
        let keys = Keys([("AKID".to_owned(), "secret".into())].into());
        let session = |seconds: u64, number| {
            let account = AccountId::of("123456789012").unwrap();
            let end = system_time() + std::time::Duration::from_secs(1_000)
                - std::time::Duration::from_secs(seconds);
            Session::new((account, "role"), "arn".to_owned(), "name", end, number)
        };
        let check = |session: &Session, token: &str| keys.check_token(&session.access_key_id, Some(token));
        let (valid, expired) = (session(0, 1), session(1_000, 2));
        assert_eq!(check(&valid, &valid.token("secret")), Ok(()));
        assert_eq!(check(&valid, &valid.token("other")), Err(VerifyError::UnknownKey));
        assert_eq!(check(&valid, &expired.token("secret")), Err(VerifyError::UnknownKey));
        assert_eq!(check(&expired, &expired.token("secret")), Err(VerifyError::ExpiredToken));
        assert_eq!(keys.check_token("AKID", None), Ok(()));
        assert!(keys.secret(&valid.access_key_id, None).is_err());
    }

    #[test]
    fn host_with_markup_is_not_used() {
        assert_eq!(host(&head(&[("host", "sqs:9324")])), Some("sqs:9324"));
        assert_eq!(host(&head(&[("host", "[::1]:9324")])), Some("[::1]:9324"));
        assert_eq!(host(&head(&[("host", "a<b>/c")])), None);
        assert_eq!(host(&head(&[])), None);
    }
}
