//! Credentials from a program: `credential_process` of a profile.
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html>

use std::process::Stdio;

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStderr, ChildStdout, Command};

use super::Environment;
use super::answer::{Answer, quoted};
use super::environment::{Provided, named};
use super::exchange::MAX_ANSWER_BYTES;
use super::failure::{invalid, passing};

/// Bytes of the program's complaints that are kept.
const MAX_COMPLAINT_BYTES: u64 = 2_048;
/// What a shell exits with when it cannot run, or cannot find, a program.
const NOT_RUN: [Option<i32>; 2] = [Some(126), Some(127)];

/// Runs a program that prints credentials as JSON. The shell runs it (`sh -c`, or `cmd.exe /C`), without input. Its output
/// is never shown; what it writes to stderr is quoted in the error.
///
/// # Panics
/// Asking for credentials panics outside of a tokio runtime with IO and timers.
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
            run.unwrap_or_else(|_| Err(passing(format!("the program did not end within {limit:?}"))))?;
        let wrong = |why: String| invalid(format!("the output of the program is not valid: {why}"));
        let answer = Answer::parse(&output).map_err(wrong)?;
        if answer.field("Version").and_then(serde_json::Value::as_u64) != Some(1) {
            return Err(wrong("\"Version\" must be 1".to_owned()));
        }
        let expiry = answer.expiry().map_err(wrong)?;
        if expiry.is_some_and(|expiry| expiry <= self.environment.now()) {
            return Err(passing("the credentials that the program printed have expired already"));
        }
        answer.credentials("SessionToken", expiry, "process").map_err(wrong)
    }

    async fn run(&self) -> Result<Vec<u8>, CredentialsError> {
        let (shell, flag) = if cfg!(windows) { ("cmd.exe", "/C") } else { ("sh", "-c") };
        let mut command = Command::new(shell);
        command.arg(flag).arg(&self.command).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed =
            |error: std::io::Error| passing(format!("the program cannot be run by {shell}: {error}"));
        let mut child = command.spawn().map_err(failed)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (output, complaint, status) = tokio::try_join!(
            async { output_of(stdout).await },
            async { Ok(complaint_of(stderr).await) },
            async { child.wait().await.map_err(failed) },
        )?;
        if status.success() {
            return Ok(output);
        }
        let complaint = if complaint.is_empty() { "it wrote nothing to stderr" } else { &complaint };
        let text = format!("the program failed ({status}): {complaint}");
        Err(if NOT_RUN.contains(&status.code()) { invalid(text) } else { passing(text) })
    }
}

/// All that the program prints. One that prints too much is killed, since its future is dropped.
async fn output_of(stdout: Option<ChildStdout>) -> Result<Vec<u8>, CredentialsError> {
    let mut output = Vec::new();
    if let Some(stdout) = stdout {
        let read = stdout.take(MAX_ANSWER_BYTES as u64 + 1).read_to_end(&mut output).await;
        read.map_err(|error| passing(format!("the output of the program cannot be read: {error}")))?;
    }
    if output.len() > MAX_ANSWER_BYTES {
        return Err(invalid(format!("the program printed more than {MAX_ANSWER_BYTES} bytes")));
    }
    Ok(output)
}

/// The beginning of what the program writes to stderr. The rest is read too, or the program would wait for it.
async fn complaint_of(stderr: Option<ChildStderr>) -> String {
    let mut complaint = Vec::new();
    if let Some(mut stderr) = stderr {
        let _ = (&mut stderr).take(MAX_COMPLAINT_BYTES).read_to_end(&mut complaint).await;
        let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
    }
    quoted(&String::from_utf8_lossy(&complaint))
}

impl ProvideCredentials for ProcessCredentials {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async move { named("credential_process", self.load().await) })
    }
}

/// A command may hold a secret.
impl std::fmt::Debug for ProcessCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProcessCredentials").finish_non_exhaustive()
    }
}
