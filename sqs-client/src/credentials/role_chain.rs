//! Resolves a profile to its base credentials and the roles to assume with them. Pure.
//!
//! ```text
//! [profile c]          [profile b]          [profile a]
//! role_arn = C   ->    role_arn = B   ->    aws_access_key_id = ..      base: keys of a; roles: B, C
//! source_profile = b   source_profile = a
//! ```

use aws_credential_types::Credentials;

use super::sts::Role;
use super::web_identity::WebIdentity;
use crate::settings::{ConfigError, Profile, Profiles, Setting};

const SSO: [&str; 5] = ["sso_session", "sso_account_id", "sso_role_name", "sso_start_url", "login_session"];
/// The session durations that STS allows, in seconds.
const DURATIONS: std::ops::RangeInclusive<u32> = 900..=43_200;

/// The base credentials, before any role is assumed.
#[derive(Debug)]
pub(super) enum Base {
    Keys(Credentials),
    Process(Setting),
    WebIdentity(WebIdentity),
    Environment,
    Container,
    Instance,
}

#[derive(Debug)]
pub(super) struct RoleChain {
    pub(super) base: Base,
    /// In the order of assumption.
    pub(super) roles: Vec<Role>,
}

impl RoleChain {
    /// Resolves the profile `name`. Returns `None` if it has no credentials settings.
    pub(super) fn resolve(profiles: &Profiles, name: &str) -> Result<Option<Self>, ConfigError> {
        let mut roles = Vec::new();
        let mut visited = vec![name.to_owned()];
        let base = loop {
            let current = visited.last().map_or(name, String::as_str);
            let profile = profiles.require(current)?;
            // A source profile with keys provides them, even if it also has a role.
            if visited.len() > 1
                && let Some(keys) = keys(profile, current)?
            {
                break Some(keys);
            }
            let Some((role, arn)) = role(profile, current)? else { break base(profile, current)? };
            roles.push(role);
            let next = match (profile.get("source_profile"), profile.get("credential_source")) {
                (Some(source), None) => source,
                (None, Some(source)) => break Some(named_source(&source)?),
                (Some(source), Some(other)) => {
                    let text = format!(
                        "{} and {} cannot be combined: set only one of them",
                        source.place, other.place
                    );
                    return Err(ConfigError::new(text));
                }
                (None, None) => {
                    let text = format!(
                        "{} requires source_profile, credential_source or web_identity_token_file",
                        arn.place
                    );
                    return Err(ConfigError::new(text));
                }
            };
            if next.value == current {
                break base(profile, current)?;
            }
            if visited.contains(&next.value) {
                let path = visited.join(" -> ");
                let text = format!("{}: the profiles form a loop: {path} -> {}", next.place, next.value);
                return Err(ConfigError::new(text));
            }
            if profiles.get(&next.value).is_none() {
                let missing = profiles.require(&next.value).err().map(|error| error.to_string());
                return Err(ConfigError::new(format!("{}: {}", next.place, missing.unwrap_or_default())));
            }
            visited.push(next.value);
        };
        roles.reverse();
        match (base, roles.is_empty()) {
            (Some(base), _) => Ok(Some(Self { base, roles })),
            (None, true) => Ok(None),
            (None, false) => {
                let last = visited.last().map_or(name, String::as_str);
                Err(ConfigError::new(format!(
                    "profile {last:?} is the source profile of a role but has no credentials"
                )))
            }
        }
    }
}

/// The role that the profile assumes with other credentials. A role for a web identity token is part of the base instead.
fn role(profile: &Profile, name: &str) -> Result<Option<(Role, Setting)>, ConfigError> {
    let Some(arn) = profile.get("role_arn").filter(|_| profile.get("web_identity_token_file").is_none())
    else {
        return Ok(None);
    };
    if let Some(mfa) = profile.get("mfa_serial") {
        return Err(ConfigError::new(format!(
            "{}: roles that require MFA are not supported: use credential_process in profile {name:?}, or variables with \
             temporary credentials",
            mfa.place
        )));
    }
    Ok(Some((settings_of_role(profile, &arn)?, arn)))
}

fn settings_of_role(profile: &Profile, arn: &Setting) -> Result<Role, ConfigError> {
    let text = |key: &str| profile.get(key).map(|setting| setting.value);
    let duration = profile.get("duration_seconds").map(|setting| {
        let allowed = "a whole number of seconds from 900 to 43200";
        let seconds = setting.parse::<u32>(allowed)?;
        if DURATIONS.contains(&seconds) { Ok(seconds) } else { Err(setting.invalid(allowed)) }
    });
    Ok(Role {
        arn: arn.value.clone(),
        session_name: text("role_session_name"),
        external_id: text("external_id"),
        duration_seconds: duration.transpose()?,
    })
}

fn base(profile: &Profile, name: &str) -> Result<Option<Base>, ConfigError> {
    if let Some(source) = profile.get("credential_source") {
        return named_source(&source).map(Some);
    }
    if let Some(file) = profile.get("web_identity_token_file") {
        let Some(arn) = profile.get("role_arn") else {
            return Err(ConfigError::new(format!("{} requires role_arn", file.place)));
        };
        let role = settings_of_role(profile, &arn)?;
        let (token_file, place) = (file.value.into(), file.place);
        return Ok(Some(Base::WebIdentity(WebIdentity { role, token_file, place })));
    }
    if let Some(sso) = SSO.iter().find_map(|key| profile.get(key)) {
        return Err(ConfigError::new(format!(
            "{}: profile {name:?} uses IAM Identity Center (SSO): enable the feature `aws-config` of sqs-client and use \
             Client::new(&aws_config::load_from_env().await)",
            sso.place
        )));
    }
    if let Some(process) = profile.get("credential_process") {
        return Ok(Some(Base::Process(process)));
    }
    keys(profile, name)
}

fn keys(profile: &Profile, name: &str) -> Result<Option<Base>, ConfigError> {
    let (key, secret) = (profile.get("aws_access_key_id"), profile.get("aws_secret_access_key"));
    match (key, secret) {
        (Some(key), Some(secret)) => {
            let token = profile.get("aws_session_token").map(|token| token.value);
            Ok(Some(Base::Keys(Credentials::new(key.value, secret.value, token, None, "profile"))))
        }
        (None, None) => Ok(None),
        (Some(lone), None) | (None, Some(lone)) => Err(ConfigError::new(format!(
            "{}: profile {name:?} requires both aws_access_key_id and aws_secret_access_key",
            lone.place
        ))),
    }
}

fn named_source(source: &Setting) -> Result<Base, ConfigError> {
    match source.value.as_str() {
        "Environment" => Ok(Base::Environment),
        "EcsContainer" => Ok(Base::Container),
        "Ec2InstanceMetadata" => Ok(Base::Instance),
        _ => Err(source.invalid("Environment, EcsContainer or Ec2InstanceMetadata")),
    }
}
