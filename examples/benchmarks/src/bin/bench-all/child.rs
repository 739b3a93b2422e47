//! A child process. Its output is forwarded and captured, and it ends with this process.
//!
//! The child leads a process group, which includes the benchmark that cargo starts and its servers. Ctrl-c reaches only this
//! process, which signals the whole group.

use std::io::Write;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use sqs_benchmarks::arguments::BoxError;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

/// Maximum number of captured bytes of an output. The rest is only forwarded.
const MAX_CAPTURE: usize = 1 << 20;
/// Time between the signals TERM and KILL.
const GRACE: Duration = Duration::from_secs(5);

/// Exit status and output of a process.
#[derive(Debug)]
pub(crate) struct Output {
    /// `None` if this program stopped it.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The directories of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Directories<'a> {
    pub(crate) working: &'a Path,
    pub(crate) temporary: &'a Path,
}

/// The signals that stop this program: Ctrl-c and TERM.
#[derive(Debug)]
pub(crate) struct StopSignal {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl StopSignal {
    pub(crate) fn new() -> Result<Self, BoxError> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    pub(crate) async fn received(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl StopSignal {
    #[expect(clippy::unnecessary_wraps, reason = "it can fail on Unix")]
    pub(crate) fn new() -> Result<Self, BoxError> {
        Ok(Self {})
    }

    pub(crate) async fn received(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Runs a command line, program first. Returns after the whole process group has ended.
pub(crate) async fn run(
    command_line: &[String],
    directories: Directories<'_>,
    stop: &mut StopSignal,
) -> Result<Output, BoxError> {
    let (program, arguments) = command_line.split_first().ok_or("the command line is empty")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directories.working).env("TMPDIR", directories.temporary);
    command.kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| format!("cannot run {program}: {error}"))?;
    let group = child.id();
    let (stdout, stderr) = child.stdout.take().zip(child.stderr.take()).ok_or("the child has no pipes")?;
    let (mut captured_out, mut captured_err, mut open) = (Vec::new(), Vec::new(), true);
    let status = {
        let outputs = async {
            tokio::join!(
                tee(stdout, std::io::stdout(), &mut captured_out),
                tee(stderr, std::io::stderr(), &mut captured_err)
            );
        };
        let mut outputs = std::pin::pin!(outputs);
        let status = loop {
            tokio::select! {
                status = child.wait() => break Some(status?),
                () = stop.received() => break None,
                () = &mut outputs, if open => open = false,
            }
        };
        // A leftover server of the benchmark would keep the pipes open.
        end(&mut child, group).await?;
        if open {
            // A process outside the group may keep them open too, hence the time limit.
            let _ = tokio::time::timeout(GRACE, outputs).await;
        }
        status
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(Output { status, stdout: text(captured_out), stderr: text(captured_err) })
}

/// Forwards and captures an output.
async fn tee(mut from: impl AsyncRead + Unpin, mut to: impl Write, captured: &mut Vec<u8>) {
    let mut buffer = vec![0; 8192];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let bytes = buffer.get(..length).unwrap_or_default();
        // An error means that our output is closed. The report needs the bytes anyway.
        let _ = to.write_all(bytes).and_then(|()| to.flush());
        let room = MAX_CAPTURE.saturating_sub(captured.len());
        captured.extend(bytes.iter().take(room));
    }
}

/// Stops the whole group with TERM, and after the grace time with KILL.
async fn end(child: &mut Child, group: Option<u32>) -> Result<(), BoxError> {
    signal("TERM", group).await;
    if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
        child.start_kill()?;
        child.wait().await?;
    }
    // Other processes of the group may still run.
    signal("KILL", group).await;
    Ok(())
}

/// Signals a process group. Uses the program `kill`, because the system call requires `unsafe`.
async fn signal(name: &str, group: Option<u32>) {
    let Some(group) = group.filter(|_| cfg!(unix)) else { return };
    let mut kill = Command::new("kill");
    kill.args(["-s", name, "--", &format!("-{group}")]);
    // An error means that the group has ended.
    let _ = kill.stdout(Stdio::null()).stderr(Stdio::null()).status().await;
}

#[cfg(all(test, unix))]
mod tests;
