//! Sends per fsync, counted by strace.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sqs_benchmarks::process::Process as Found;

use crate::BoxError;
use crate::load;
use crate::process::{Process, Start};

/// Ends the server under strace, which would otherwise outlive it.
struct Traced(Process);

impl Drop for Traced {
    fn drop(&mut self) {
        let children =
            Found::all().unwrap_or_default().into_iter().filter(|found| found.parent == self.0.id());
        for child in children {
            // An error means that it has already ended.
            let _ = Command::new("kill").args(["-KILL", &child.id.to_string()]).status();
        }
    }
}

/// `None` without strace, or without any fsync.
pub(crate) fn sends_per_sync(
    start: Start,
    connections: usize,
    time: Duration,
) -> Result<Option<f64>, BoxError> {
    let installed =
        Command::new("strace").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if installed.is_err() {
        return Ok(None);
    }
    let log = tempfile::NamedTempFile::new()?;
    let path = log.path().to_owned();
    let traced = {
        let path = path.clone();
        let under_strace: Start = Box::new(move |address| under_strace(&start(address), &path));
        Traced(Process::start(&under_strace)?)
    };
    load::round(&traced.0, connections, time / 10)?;
    let before = count(&path)?;
    let sends = load::round(&traced.0, connections, time)?;
    let syncs = count(&path)? - before;
    #[expect(clippy::cast_precision_loss, reason = "it is printed with three digits")]
    Ok((syncs > 0).then(|| sends.count() as f64 / syncs as f64))
}

/// The same command under strace, which writes each fsync to a file.
fn under_strace(command: &Command, log: &Path) -> Command {
    let mut strace = Command::new("strace");
    strace.args([
        "-f",
        "-qq",
        "--seccomp-bpf",
        "-e",
        "trace=fsync,fdatasync,msync",
        "-e",
        "signal=none",
        "-o",
    ]);
    strace.arg(log).arg(command.get_program()).args(command.get_args());
    strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    strace
}

/// Finished calls: a call that another thread interrupts has two lines.
fn count(log: &Path) -> Result<usize, BoxError> {
    Ok(std::fs::read_to_string(log)?.lines().filter(|line| line.contains(" = ")).count())
}
