//! Credentials from a program: the setting `credential_process` of a profile.
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html>

use std::process::Stdio;

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStderr, ChildStdout, Command};

use super::Environment;
use super::answer::{Answer, quoted, usable};
use super::environment::{Provided, named};
use super::exchange::MAX_ANSWER_BYTES;
use super::failure::{invalid, transient};

/// How many bytes of stderr are kept.
const MAX_STDERR_BYTES: u64 = 2_048;
/// The exit codes of a shell that cannot run or cannot find the program.
const NOT_RUN: [Option<i32>; 2] = [Some(126), Some(127)];

/// Runs a program that prints credentials as JSON.
///
/// The shell runs the program (`sh -c`, or `cmd.exe /C`) without input. Errors quote its stderr but never its output.
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

    pub(super) async fn load(&self) -> Provided {
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
