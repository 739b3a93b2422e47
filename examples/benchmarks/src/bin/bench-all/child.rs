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

/// Runs a command, program first, and waits until it has ended.
pub(crate) async fn run(words: &[String], directory: &Path, stop: &mut Stop) -> Result<Ended, Failed> {
    let (program, arguments) = words.split_first().ok_or("no program")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| format!("cannot run {program}: {error}"))?;
    let (stdout, stderr) = child.stdout.take().zip(child.stderr.take()).ok_or("no pipes")?;
    let (mut kept_out, mut kept_err) = (Vec::new(), Vec::new());
    let outputs = async {
        tokio::join!(
            pass(stdout, std::io::stdout(), &mut kept_out),
            pass(stderr, std::io::stderr(), &mut kept_err)
        );
    };
    let status = tokio::select! {
        () = outputs => Some(child.wait().await?),
        () = stop.told() => {
            end(&mut child).await?;
            None
        }
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
async fn end(child: &mut Child) -> Result<(), Failed> {
    let group = child.id();
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
mod tests {
    use super::*;

    async fn shell(script: &str) -> Ended {
        let words = ["sh", "-c", script].map(str::to_owned);
        run(&words, Path::new("/"), &mut Stop::new().unwrap()).await.unwrap()
    }

    #[tokio::test]
    async fn output_is_kept_apart_by_stream() {
        let ended = shell("echo table; echo progress >&2; exit 3").await;
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("table\n", "progress\n"));
        assert_eq!(ended.status.and_then(|status| status.code()), Some(3));
    }

    #[tokio::test]
    async fn output_is_kept_up_to_its_bound() {
        let mut kept = Vec::new();
        pass(vec![7; MOST + 1000].as_slice(), std::io::sink(), &mut kept).await;
        assert_eq!(kept.len(), MOST);
    }

    #[tokio::test]
    async fn programs_that_there_are_not_are_named() {
        let words = ["no-such-program".to_owned()];
        let error = run(&words, Path::new("/"), &mut Stop::new().unwrap()).await.unwrap_err();
        assert!(error.to_string().starts_with("cannot run no-such-program: "), "{error}");
    }

    #[tokio::test]
    async fn a_group_that_is_told_to_end_does_so_with_what_it_has_started() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & echo $!; wait"]).process_group(0).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut line = [0; 32];
        assert_ne!(stdout.read(&mut line).await.unwrap(), 0);
        end(&mut child).await.unwrap();
        // The grandchild held the other end of the pipe: it is gone when that is closed.
        let closed = tokio::time::timeout(GRACE, stdout.read(&mut line)).await;
        assert_eq!(closed.expect("what it has started still runs").unwrap(), 0);
    }
}
