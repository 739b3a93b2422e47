//! Temporary credentials of assumed roles.
//!
//! ```text
//! access key = ASIA + base32(account, number, check)    secret = hash(server, access key)
//! token      = base64(JSON) . hash(server, JSON)        JSON: access key, role, end
//! ```
//! The server keeps no sessions: key and token say what they are good for, and the secret follows from the key. So credentials are valid
//! after a restart with the same keys, and any number of roles takes no memory.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64_simd::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sqs_client::wire::validate::queue::is_account;

const PREFIX: &str = "ASIA";

/// RFC 4648.
const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The digits of an id after its prefix.
const LENGTH: usize = 16;

const CHECK_BITS: u32 = 24;

const NUMBER_BITS: u32 = 16;

/// An account id: 12 digits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct AccountId([u8; 12]);

impl AccountId {
    /// `None` if the text is not an account id.
    pub(crate) fn of(text: &str) -> Option<Self> {
        text.as_bytes().try_into().ok().filter(|_| is_account(text)).map(Self)
    }

    /// The account of an access key of [`Session::new`].
    pub(crate) fn of_session_key(access_key_id: &str) -> Option<Self> {
        let digits = access_key_id.strip_prefix(PREFIX).filter(|digits| digits.len() == LENGTH)?;
        let bits = digits.bytes().try_fold(0_u128, |bits, digit| {
            let value = DIGITS.iter().zip(0_u128..).find(|(known, _)| **known == digit)?.1;
            Some((bits << 5) | value)
        })?;
        let known = bits >> CHECK_BITS;
        let account = known >> NUMBER_BITS;
        (bits == checked(known)).then(|| Self::of(&format!("{account:012}")))?
    }

    pub(crate) fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// The bits of an access key, with a check that keys of AWS do not pass.
fn checked(known: u128) -> u128 {
    let check = Sha256::digest(format!("sqs-mock-server {known}"));
    check.iter().take(3).fold(known, |bits, byte| (bits << 8) | u128::from(*byte))
}

/// An id as AWS makes them: a prefix, and 80 bits in base32.
fn id(prefix: &str, bits: u128) -> String {
    let digit =
        |place: usize| char::from(DIGITS[usize::try_from((bits >> (5 * place)) & 31).unwrap_or_default()]);
    let digits: String = (0..LENGTH).rev().map(digit).collect();
    format!("{prefix}{digits}")
}

/// A role that was assumed, and until when.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Session {
    pub(crate) access_key_id: String,
    /// Such as `arn:aws:sts::123456789012:assumed-role/cook/session`.
    pub(crate) arn: String,
    /// The id of the role, and the name of the session.
    pub(crate) user_id: String,
    /// The end, in seconds since 1970 by the system time, by which callers renew their credentials.
    pub(crate) expires: u64,
}

impl Session {
    /// A session of a role, from its ARN and the parts of it. `number` tells sessions of an account apart.
    pub(crate) fn new(
        (account, role_arn): (AccountId, &str),
        arn: String,
        name: &str,
        end: SystemTime,
        number: u16,
    ) -> Self {
        let account: u128 = account.as_str().parse().unwrap_or_default();
        let known = (account << NUMBER_BITS) | u128::from(number);
        let role =
            Sha256::digest(role_arn).iter().take(10).fold(0, |bits, byte| (bits << 8) | u128::from(*byte));
        Self {
            access_key_id: id(PREFIX, checked(known)),
            arn,
            user_id: format!("{}:{name}", id("AROA", role)),
            expires: end.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        }
    }

    /// The secret of an access key, on a server with this secret.
    pub(crate) fn secret(server: &str, access_key_id: &str) -> String {
        // 30 bytes are 40 characters, as secrets of AWS have.
        base64_simd::STANDARD.encode_to_string(&hash(server, access_key_id)[..30])
    }

    pub(crate) fn token(&self, server: &str) -> String {
        // It has texts and a number, which always have a form in JSON.
        let json = serde_json::to_string(self).unwrap_or_default();
        let seal = URL_SAFE_NO_PAD.encode_to_string(hash(server, &json));
        format!("{}.{seal}", URL_SAFE_NO_PAD.encode_to_string(json))
    }

    /// Reads a token; `None` if another server made it, or nobody.
    pub(crate) fn of_token(server: &str, token: &str) -> Option<Self> {
        let (json, seal) = token.split_once('.')?;
        let json = String::from_utf8(URL_SAFE_NO_PAD.decode_to_vec(json).ok()?).ok()?;
        let seal = URL_SAFE_NO_PAD.decode_to_vec(seal).ok()?;
        (seal == hash(server, &json)).then(|| serde_json::from_str(&json).ok())?
    }

    pub(crate) fn has_ended(&self, now: SystemTime) -> bool {
        now >= UNIX_EPOCH + Duration::from_secs(self.expires)
    }
}

fn hash(server: &str, text: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(format!("sqs-mock-server {}:{server}:", server.len()));
    hash.update(text);
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u16) -> Session {
        let account = AccountId::of("123456789012").unwrap();
        let arn = "arn:aws:sts::123456789012:assumed-role/cook/s".to_owned();
        let end = UNIX_EPOCH + Duration::from_secs(100);
        Session::new((account, "arn:aws:iam::123456789012:role/cook"), arn, "s", end, number)
    }

    #[test]
    fn access_key_names_its_account_and_keys_of_others_do_not() {
        for number in [0, 7, u16::MAX] {
            let key = session(number).access_key_id;
            assert_eq!(key.len(), 20);
            assert_eq!(AccountId::of_session_key(&key).as_ref().map(AccountId::as_str), Some("123456789012"));
            let other = key.replace(&key[8..9], if &key[8..9] == "A" { "B" } else { "A" });
            assert_eq!(AccountId::of_session_key(&other), None);
        }
        for key in ["ASIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE", "ASIA", "", "ASIA0000000000000000"] {
            assert_eq!(AccountId::of_session_key(key), None, "{key}");
        }
    }

    #[test]
    fn token_is_read_by_the_server_that_made_it_until_its_end() {
        let session = session(1);
        let token = session.token("secret");
        assert_eq!(Session::of_token("secret", &token), Some(session.clone()));
        assert_eq!(Session::of_token("other", &token), None);
        for token in ["", ".", "a.b", &token[1..]] {
            assert_eq!(Session::of_token("secret", token), None, "{token}");
        }
        let at = |seconds| session.has_ended(UNIX_EPOCH + Duration::from_secs(seconds));
        assert!(!at(99) && at(100));
    }

    #[test]
    fn secret_depends_on_the_server_and_the_key() {
        let secret = Session::secret("a", "ASIA1");
        assert_eq!((secret.len(), &secret), (40, &Session::secret("a", "ASIA1")));
        assert!(secret != Session::secret("b", "ASIA1") && secret != Session::secret("a", "ASIA2"));
    }
}
