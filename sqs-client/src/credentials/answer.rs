//! Credentials in JSON, as containers, EC2 instances and processes return them.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::wire::service_error::without_session_tokens;

/// The maximum length of a foreign text that an error quotes, in characters.
const MAX_QUOTE: usize = 300;
/// How long expired credentials stay in use if the source has no newer ones. The local clock may be wrong, or AWS may
/// accept them longer.
const EXTENSION: Duration = Duration::from_secs(600);

/// A JSON object. Errors never quote it: it may contain a secret.
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
