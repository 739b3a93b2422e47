//! A process whose output passes through and is kept, and which ends with this one.
//!
//! It leads a process group: what it starts is in there too, cargo's benchmark and the servers of that, and all of it gets
//! the signal. Ctrl-c reaches this process alone, which passes it on.

use std::io::Write;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use sqs_benchmarks::arguments::Failed;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

/// The most that is kept of an output; the rest only passes through.
const MOST: usize = 1 << 20;
/// How long a process may take to end when it is told to.
const GRACE: Duration = Duration::from_secs(5);

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// None when it was stopped.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Where a process runs, and where it may write what nobody keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    pub(crate) directory: &'a Path,
    pub(crate) temporary: &'a Path,
}

/// Whether this process was told to stop, by Ctrl-c or by the signal that services get.
#[derive(Debug)]
pub(crate) struct Stop {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Stop {
    pub(crate) fn new() -> Result<Self, Failed> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    pub(crate) async fn told(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl Stop {
    #[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
    pub(crate) fn new() -> Result<Self, Failed> {
        Ok(Self {})
    }

    pub(crate) async fn told(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Runs a command, program first, and waits until it has ended, and what it has started with it.
pub(crate) async fn run(words: &[String], places: Places<'_>, stop: &mut Stop) -> Result<Ended, Failed> {
    let (program, arguments) = words.split_first().ok_or("no program")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(places.directory).env("TMPDIR", places.temporary).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| format!("cannot run {program}: {error}"))?;
    let group = child.id();
    let (stdout, stderr) = child.stdout.take().zip(child.stderr.take()).ok_or("no pipes")?;
    let (mut kept_out, mut kept_err, mut open) = (Vec::new(), Vec::new(), true);
    let status = {
        let outputs = async {
            tokio::join!(
                pass(stdout, std::io::stdout(), &mut kept_out),
                pass(stderr, std::io::stderr(), &mut kept_err)
            );
        };
        let mut outputs = std::pin::pin!(outputs);
        let status = loop {
            tokio::select! {
                status = child.wait() => break Some(status?),
                () = stop.told() => break None,
                () = &mut outputs, if open => open = false,
            }
        };
        // A server that a benchmark left behind holds the pipes.
        end(&mut child, group).await?;
        if open {
            // What left the group holds them too, and is not waited for when it does not end.
            let _ = tokio::time::timeout(GRACE, outputs).await;
        }
        status
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(Ended { status, stdout: text(kept_out), stderr: text(kept_err) })
}

/// Shows what comes as it comes, and keeps it.
async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl Write, kept: &mut Vec<u8>) {
    let mut buffer = vec![0; 8192];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let piece = buffer.get(..length).unwrap_or_default();
        // Who closed it does not want to see it; the report has it all the same.
        let _ = to.write_all(piece).and_then(|()| to.flush());
        let room = MOST.saturating_sub(kept.len());
        kept.extend(piece.iter().take(room));
    }
}

/// Tells the whole group to end, and ends it if it does not.
async fn end(child: &mut Child, group: Option<u32>) -> Result<(), Failed> {
    signal("TERM", group).await;
    if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
        child.start_kill()?;
        child.wait().await?;
    }
    // What has not ended by now has outlived who started it.
    signal("KILL", group).await;
    Ok(())
}

/// Without `unsafe`, only the program of this name can do it.
async fn signal(name: &str, group: Option<u32>) {
    let Some(group) = group.filter(|_| cfg!(unix)) else { return };
    let mut kill = Command::new("kill");
    kill.args(["-s", name, "--", &format!("-{group}")]);
    // An error says that nobody is there any more.
    let _ = kill.stdout(Stdio::null()).stderr(Stdio::null()).status().await;
}

#[cfg(all(test, unix))]
mod tests;
