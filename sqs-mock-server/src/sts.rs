//! AWS STS: the identity of the caller, which SDKs and provisioning tools ask for when they start, and temporary credentials of roles.
//!
//! The server knows accounts, but no users and no roles: a caller without temporary credentials is the root user of its account, and
//! everybody may assume every role.
//!
//! Sources: <https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html>,
//! <https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html>

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use base64_simd::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use serde_json::Value;

use crate::control::arn::{partition, root};
use crate::control::caller::Keys;
use crate::control::clock::{Timestamp, system_time};
use crate::control::operation::{ServiceName, StsAction};
use crate::control::seed::Seed;
use crate::control::session::{AccountId, Session};
use crate::front::Access;
use crate::http::guard::Names;
use crate::query::form::Form;
use crate::query::{Action, Actions, Call, Output, QueryError};

/// The seconds for which temporary credentials are valid.
const SECONDS: RangeInclusive<u64> = 900..=43_200;

const DEFAULT_SECONDS: u64 = 3_600;

/// The characters of the ARN of a role.
const ARN: RangeInclusive<usize> = 20..=2_048;

/// The characters of the name of a session.
const NAME: RangeInclusive<usize> = 2..=64;

/// STS.
#[derive(Debug)]
pub(crate) struct Sts {
    names: Arc<Names>,
    /// Held only to draw a number.
    numbers: Mutex<fastrand::Rng>,
}

impl Sts {
    pub(crate) fn new(names: Arc<Names>, seed: Seed) -> Self {
        Self { names, numbers: Mutex::new(seed.generator("sessions")) }
    }

    /// The secret that those of sessions follow from.
    fn secret(&self) -> &str {
        self.names.keys.as_ref().map_or("", Keys::of_sessions)
    }

    fn caller(&self, call: &Call<'_>) -> Output {
        let session = call.session_token.and_then(|token| Session::of_token(self.secret(), token));
        let (arn, user_id) = match session {
            Some(session) => (session.arn, session.user_id),
            None => (root(call.region, call.account), call.account.to_owned()),
        };
        Output::of(|xml| {
            xml.leaf("Arn", &arn);
            xml.leaf("UserId", &user_id);
            xml.leaf("Account", call.account);
        })
    }

    fn assume(&self, call: &Call<'_>, identity: Option<&WebIdentity>) -> Result<Output, QueryError> {
        let Assumed { account, role, role_arn, name, seconds } = Assumed::of(call.form)?;
        let now = system_time();
        let end = now + Duration::from_secs(seconds);
        let arn =
            format!("arn:{}:sts::{}:assumed-role/{role}/{name}", partition(call.region), account.as_str());
        let number = self.numbers.lock().u16(..);
        let session = Session::new((account, role_arn), arn, name, end, number);
        Ok(Output::of(|xml| {
            if let Some(WebIdentity { subject, audience, provider }) = identity {
                xml.leaf("SubjectFromWebIdentityToken", subject);
                xml.leaf("Audience", audience);
                xml.leaf("Provider", provider);
            }
            xml.element("AssumedRoleUser", |xml| {
                xml.leaf("Arn", &session.arn);
                xml.leaf("AssumedRoleId", &session.user_id);
            });
            xml.element("Credentials", |xml| {
                xml.leaf("AccessKeyId", &session.access_key_id);
                xml.leaf("SecretAccessKey", &Session::secret(self.secret(), &session.access_key_id));
                xml.leaf("SessionToken", &session.token(self.secret()));
                xml.leaf("Expiration", &Timestamp::from(end).to_string());
            });
            xml.optional("SourceIdentity", call.form.get("SourceIdentity"));
        }))
    }
}

impl Actions for Sts {
    const SERVICE: ServiceName = ServiceName::Sts;
    const NAMESPACE: &'static str = "https://sts.amazonaws.com/doc/2011-06-15/";
    type Kind = StsAction;

    fn action(name: &str) -> Option<Action<StsAction>> {
        let kind = StsAction::ALL.iter().copied().find(|action| action.name() == name)?;
        let access = match kind {
            StsAction::AssumeRole => Access::Change,
            // The token is the proof.
            StsAction::AssumeRoleWithWebIdentity => Access::Link,
            StsAction::GetCallerIdentity => Access::Read,
        };
        Some(Action { kind, name: kind.name(), access })
    }

    async fn serve(&self, action: Action<StsAction>, call: &Call<'_>) -> Result<Output, QueryError> {
        match action.kind {
            StsAction::AssumeRole => self.assume(call, None),
            StsAction::AssumeRoleWithWebIdentity => {
                let (identity, note) = WebIdentity::of(call.form.required("WebIdentityToken")?);
                Ok(Output { notes: note.into_iter().collect(), ..self.assume(call, Some(&identity))? })
            }
            StsAction::GetCallerIdentity => Ok(self.caller(call)),
        }
    }
}

/// What a request to assume a role says.
struct Assumed<'f> {
    account: AccountId,
    /// Without its path.
    role: &'f str,
    role_arn: &'f str,
    name: &'f str,
    seconds: u64,
}

impl<'f> Assumed<'f> {
    /// # Errors
    /// `ValidationError`.
    fn of(form: &'f Form) -> Result<Self, QueryError> {
        let role_arn = form.required("RoleArn")?;
        check_length("roleArn", role_arn, &ARN)?;
        let name = form.required("RoleSessionName")?;
        check_length("roleSessionName", name, &NAME)?;
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+=,.@-".contains(&byte)) {
            return Err(constraint(
                name,
                "roleSessionName",
                "satisfy regular expression pattern: [\\w+=,.@-]*",
            ));
        }
        let seconds = match form.get("DurationSeconds") {
            None => DEFAULT_SECONDS,
            Some(text) => {
                let seconds = text.parse().map_err(|_| {
                    QueryError::new(400, "MalformedInput", format!("{text:?} is not a number of seconds"))
                })?;
                if seconds < *SECONDS.start() {
                    let most = format!("have value greater than or equal to {}", SECONDS.start());
                    return Err(constraint(text, "durationSeconds", most));
                }
                if seconds > *SECONDS.end() {
                    let least = format!("have value less than or equal to {}", SECONDS.end());
                    return Err(constraint(text, "durationSeconds", least));
                }
                seconds
            }
        };
        let invalid = || QueryError::new(400, "ValidationError", format!("{role_arn} is invalid"));
        let parts: Vec<_> = role_arn.splitn(6, ':').collect();
        let ["arn", _, "iam", "", account, resource] = *parts else { return Err(invalid()) };
        let role = resource.strip_prefix("role/").and_then(|path| path.rsplit('/').next());
        let role = role.filter(|role| !role.is_empty()).ok_or_else(invalid)?;
        Ok(Self { account: AccountId::of(account).ok_or_else(invalid)?, role, role_arn, name, seconds })
    }
}

fn check_length(member: &str, value: &str, allowed: &RangeInclusive<usize>) -> Result<(), QueryError> {
    let length = value.chars().count();
    let bound = if length < *allowed.start() {
        format!("greater than or equal to {}", allowed.start())
    } else if length > *allowed.end() {
        format!("less than or equal to {}", allowed.end())
    } else {
        return Ok(());
    };
    Err(constraint(value, member, format_args!("have length {bound}")))
}

fn constraint(value: &str, member: &str, rule: impl Display) -> QueryError {
    QueryError::new(
        400,
        "ValidationError",
        format!(
            "1 validation error detected: Value '{value}' at '{member}' failed to satisfy constraint: Member must {rule}"
        ),
    )
}

/// The claims of a token that the response repeats.
#[derive(Default)]
struct WebIdentity {
    subject: String,
    audience: String,
    provider: String,
}

impl WebIdentity {
    /// Reads a JSON Web Token, without a look at its signature. Any other text is accepted with a note, since local tests have no identity
    /// provider.
    fn of(token: &str) -> (Self, Option<String>) {
        let payload = token.split('.').nth(1).and_then(|part| URL_SAFE_NO_PAD.decode_to_vec(part).ok());
        let Some(claims) = payload.and_then(|json| serde_json::from_slice::<Value>(&json).ok()) else {
            let note = "AWS would reject the WebIdentityToken: it is not a JSON Web Token";
            return (Self::default(), Some(note.to_owned()));
        };
        let claim = |name: &str| match &claims[name] {
            Value::Array(all) => all.first().and_then(Value::as_str).unwrap_or_default().to_owned(),
            one => one.as_str().unwrap_or_default().to_owned(),
        };
        (Self { subject: claim("sub"), audience: claim("aud"), provider: claim("iss") }, None)
    }
}
