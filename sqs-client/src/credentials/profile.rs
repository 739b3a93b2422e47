//! Credentials of a profile in the shared config and credentials files.
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html>

use std::process::Stdio;

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStderr, ChildStdout, Command};

use super::environment::{Provided, named};
use super::exchange::{Answer, MAX_ANSWER_BYTES, invalid, not_configured, quoted, reason, transient, usable};
use super::sts::{Proof, Role, Sts, WebIdentity};
use super::{ContainerCredentials, Environment, EnvironmentCredentials, InstanceCredentials};
use crate::settings::{ConfigError, Profile, Profiles, Setting, Settings};

/// Loads credentials from a profile in `~/.aws/config` and `~/.aws/credentials`, which are read at each call.
///
/// The profile is the one that [`Environment::profile`] selects, else `AWS_PROFILE`, else `default`. It may have keys,
/// `credential_process`, `web_identity_token_file`, or `role_arn` with `source_profile` or `credential_source`.
#[derive(Clone, Debug, Default)]
pub struct ProfileCredentials {
    environment: Environment,
    instance: InstanceCredentials,
}

impl ProfileCredentials {
    /// A provider that reads the variables and files of `environment`.
    pub fn new(environment: Environment) -> Self {
        Self { instance: InstanceCredentials::new(environment.clone()), environment }
    }

    async fn load(&self) -> Provided {
        let settings = self.environment.read_settings().await?;
        let (name, profiles) = (settings.selected(), settings.profiles());
        if profiles.get(name).is_none() {
            return Err(not_configured(format!("profile {name:?} is not in {}", profiles.files())));
        }
        let chain = RoleChain::resolve(profiles, name).map_err(invalid)?;
        let none = || not_configured(format!("profile {name:?} has no credentials"));
        let chain = chain.ok_or_else(none)?;
        let mut credentials = self.base(chain.base, &settings).await.map_err(configured)?;
        for role in &chain.roles {
            let sts = Sts::new(&self.environment, &settings, role)?;
            credentials = sts.assume(role, Proof::Credentials(&credentials)).await?;
        }
        Ok(credentials)
    }

    async fn base(&self, base: Base, settings: &Settings) -> Provided {
        let environment = self.environment.clone();
        match base {
            Base::Keys(keys) => Ok(keys),
            Base::Process(Setting { value: command, place }) => {
                named(&place, ProcessCredentials::new(environment, command).load().await)
            }
            Base::WebIdentity(identity) => identity.exchange(&environment, settings).await,
            Base::Environment => EnvironmentCredentials::new(environment).provide_credentials().await,
            Base::Container => ContainerCredentials::new(environment).provide_credentials().await,
            Base::Instance => self.instance.provide_credentials().await,
        }
    }
}

/// The profile refers to this source, so missing credentials are an error.
fn configured(error: CredentialsError) -> CredentialsError {
    match &error {
        CredentialsError::CredentialsNotLoaded(_) => invalid(reason(&error)),
        _ => error,
    }
}

impl ProvideCredentials for ProfileCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async move { named("profile", self.load().await) })
    }
}

const SSO: [&str; 5] = ["sso_session", "sso_account_id", "sso_role_name", "sso_start_url", "login_session"];
/// The session durations that STS allows, in seconds.
const DURATIONS: std::ops::RangeInclusive<u32> = 900..=43_200;

/// The base credentials, before any role is assumed.
#[derive(Debug)]
enum Base {
    Keys(Credentials),
    Process(Setting),
    WebIdentity(WebIdentity),
    Environment,
    Container,
    Instance,
}

/// A profile, resolved to its base credentials and the roles to assume with them.
///
/// ```text
/// [profile c]          [profile b]          [profile a]
/// role_arn = C   ->    role_arn = B   ->    aws_access_key_id = ..      base: keys of a; roles: B, C
/// source_profile = b   source_profile = a
/// ```
#[derive(Debug)]
struct RoleChain {
    base: Base,
    /// In the order of assumption.
    roles: Vec<Role>,
}

impl RoleChain {
    /// Resolves the profile `name`. Returns `None` if it has no credentials settings.
    fn resolve(profiles: &Profiles, name: &str) -> Result<Option<Self>, ConfigError> {
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
        return Ok(Some(Base::WebIdentity(WebIdentity { role, token_file: file })));
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

/// How many bytes of stderr are kept.
const MAX_STDERR_BYTES: u64 = 2_048;
/// The exit codes of a shell that cannot run or cannot find the program.
const NOT_RUN: [Option<i32>; 2] = [Some(126), Some(127)];

/// Runs a program that prints credentials as JSON: the setting `credential_process` of a profile.
///
/// The shell runs the program (`sh -c`, or `cmd.exe /C`) without input. Errors quote its stderr but never its output.
///
/// Source: <https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html>
///
/// # Panics
/// `provide_credentials` panics outside of a tokio runtime with IO and timers.
#[derive(Clone)]
pub struct ProcessCredentials {
    environment: Environment,
    command: String,
}

impl ProcessCredentials {
    /// A provider that runs `command` at each call.
    pub fn new(environment: Environment, command: impl Into<String>) -> Self {
        Self { environment, command: command.into() }
    }

    async fn load(&self) -> Provided {
        let limit = self.environment.process_limit();
        let run = tokio::time::timeout(limit, self.run()).await;
        let output =
            run.unwrap_or_else(|_| Err(transient(format!("the program did not exit within {limit:?}"))))?;
        let wrong = |why: String| invalid(format!("the output of the program is invalid: {why}"));
        let answer = Answer::parse(&output).map_err(wrong)?;
        if answer.field("Version").and_then(serde_json::Value::as_u64) != Some(1) {
            return Err(wrong("\"Version\" must be 1".to_owned()));
        }
        let expiry = answer.expiry().map_err(wrong)?;
        let credentials = answer.credentials("SessionToken", expiry, "process").map_err(wrong)?;
        Ok(usable(credentials, self.environment.now(), "process"))
    }

    async fn run(&self) -> Result<Vec<u8>, CredentialsError> {
        let shell = if cfg!(windows) { "cmd.exe" } else { "sh" };
        let mut command = Command::new(shell);
        #[cfg(not(windows))]
        command.arg("-c").arg(&self.command);
        // `arg` would escape quotes in a way that cmd.exe does not understand.
        #[cfg(windows)]
        command.raw_arg(cmd_line(&self.command));
        command.kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed =
            |error: std::io::Error| transient(format!("cannot run the program with {shell}: {error}"));
        let mut child = command.spawn().map_err(failed)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (output, stderr_text, status) = tokio::try_join!(
            async { read_stdout(stdout).await },
            async { Ok(read_stderr(stderr).await) },
            async { child.wait().await.map_err(failed) },
        )?;
        if status.success() {
            return Ok(output);
        }
        let stderr_text = if stderr_text.is_empty() { "no output on stderr" } else { &stderr_text };
        let text = format!("the program failed ({status}): {stderr_text}");
        Err(if NOT_RUN.contains(&status.code()) { invalid(text) } else { transient(text) })
    }
}

/// The arguments of `cmd.exe`. With `/S`, it removes the outer quotes and runs the rest as it is, also if a path in it is quoted.
///
/// Source: <https://learn.microsoft.com/en-us/windows-server/administration/windows-commands/cmd>
#[cfg(any(windows, test))]
fn cmd_line(command: &str) -> String {
    format!(r#"/S /C "{command}""#)
}

/// The output of the program. If it is too long, the error drops the child, which kills the shell.
async fn read_stdout(stdout: Option<ChildStdout>) -> Result<Vec<u8>, CredentialsError> {
    let mut output = Vec::new();
    if let Some(stdout) = stdout {
        let read = stdout.take(MAX_ANSWER_BYTES as u64 + 1).read_to_end(&mut output).await;
        read.map_err(|error| transient(format!("cannot read the output of the program: {error}")))?;
    }
    if output.len() > MAX_ANSWER_BYTES {
        return Err(invalid(format!("the program printed more than {MAX_ANSWER_BYTES} bytes")));
    }
    Ok(output)
}

/// The beginning of stderr. The rest is read and dropped, because a full pipe would block the program.
async fn read_stderr(stderr: Option<ChildStderr>) -> String {
    let mut stderr_text = Vec::new();
    if let Some(mut stderr) = stderr {
        let _ = (&mut stderr).take(MAX_STDERR_BYTES).read_to_end(&mut stderr_text).await;
        let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
    }
    quoted(&String::from_utf8_lossy(&stderr_text))
}

impl ProvideCredentials for ProcessCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async move { named("credential_process", self.load().await) })
    }
}

/// Omits the command: it may contain a secret.
impl std::fmt::Debug for ProcessCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProcessCredentials").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_path_with_spaces_reaches_the_windows_shell_unchanged() {
        let command = r#""C:\Program Files\keys\keys.exe" --profile "my orders""#;
        assert_eq!(cmd_line(command), r#"/S /C ""C:\Program Files\keys\keys.exe" --profile "my orders"""#);
    }
}
