//! The result of a benchmark: one chapter of the report.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use sqs_benchmarks::arguments::BoxError;
use sqs_benchmarks::process::now;

use crate::benchmark::Benchmark;
use crate::child::{self, Directories, Output, StopSignal};
use crate::machine;
use crate::temporary::TemporaryDirectory;

/// Maximum number of lines of standard error in the report of a failure.
const ERROR_LINES: usize = 12;

/// The result of a benchmark.
#[derive(Debug)]
pub(crate) struct Chapter {
    pub(crate) benchmark: &'static Benchmark,
    /// The shell command that repeats the benchmark, for the root of the repository.
    pub(crate) command: String,
    pub(crate) outcome: Outcome,
    pub(crate) elapsed: Duration,
    /// Idle share of the processors before the run, from 0 to 1.
    pub(crate) idle: Option<f64>,
    /// Standard output: tables as Markdown.
    pub(crate) output: String,
    /// File name of the plot.
    pub(crate) plot: Option<String>,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Done,
    /// Exit status and the last lines of standard error.
    Failed(String),
    /// The reason, such as a missing program.
    CannotRun(String),
    Interrupted,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "succeeded",
            Self::Failed(_) => "failed",
            Self::CannotRun(_) => "could not start",
            Self::Interrupted => "was interrupted",
        })
    }
}

impl Chapter {
    /// Builds and runs a benchmark.
    pub(crate) async fn of(
        benchmark: &'static Benchmark,
        quick: bool,
        out: &Path,
        stop: &mut StopSignal,
    ) -> Self {
        let mut chapter = Self {
            benchmark,
            command: command(benchmark, quick),
            outcome: Outcome::Done,
            elapsed: Duration::ZERO,
            idle: None,
            output: String::new(),
            plot: benchmark.plot_file(),
        };
        let plot = chapter.plot.as_ref().map(|file| out.join(file));
        if let Some(plot) = &plot {
            // Removes the plot of an earlier run. An error means that none exists.
            let _ = std::fs::remove_file(plot);
        }
        let result = match TemporaryDirectory::for_report(out) {
            Ok(temporary) => chapter.run(quick, plot.as_deref(), temporary.path(), stop).await,
            Err(error) => Err(error),
        };
        chapter.outcome = result.unwrap_or_else(|error| Outcome::CannotRun(error.to_string()));
        chapter.plot = chapter.plot.filter(|_| plot.is_some_and(|plot| plot.exists()));
        chapter
    }

    async fn run(
        &mut self,
        quick: bool,
        svg: Option<&Path>,
        temporary: &Path,
        stop: &mut StopSignal,
    ) -> Result<Outcome, BoxError> {
        let root = machine::repository();
        let directories = Directories { working: &root, temporary };
        // The cargo that started this program.
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        for build in self.benchmark.builds(&cargo) {
            match outcome(&child::run(&build, directories, stop).await?) {
                Outcome::Done => {}
                other => return Ok(other),
            }
        }
        self.idle = machine::idle_share().await;
        let start = now();
        let output = child::run(&self.benchmark.command(&cargo, quick, svg), directories, stop).await?;
        self.elapsed = start.elapsed();
        let outcome = outcome(&output);
        self.output = output.stdout;
        Ok(outcome)
    }

    /// Number of peers that the benchmark skipped, according to its output.
    pub(crate) fn skipped(&self) -> usize {
        let lines = self.output.lines();
        lines.filter(|line| line.starts_with("skipped: ")).count()
    }
}

fn outcome(output: &Output) -> Outcome {
    match output.status {
        None => Outcome::Interrupted,
        Some(status) if status.success() => Outcome::Done,
        Some(status) => {
            // Progress overwrites its line, so only the text after the last carriage return counts.
            let lines = output.stderr.lines().map(|line| line.rsplit('\r').next().unwrap_or(line));
            let lines: Vec<_> = lines.filter(|line| !line.trim().is_empty()).collect();
            let last = lines.split_at(lines.len().saturating_sub(ERROR_LINES)).1;
            Outcome::Failed(format!("{status}\n{}", last.join("\n")))
        }
    }
}

/// The command for readers. A bench runs in the directory of its package, so the path of the plot needs `$PWD`.
fn command(benchmark: &Benchmark, quick: bool) -> String {
    let temporary = std::env::var("TMPDIR").map_or(String::new(), |path| format!("TMPDIR={path} "));
    let svg = benchmark.plot_file().map_or(String::new(), |file| format!(" --svg \"$PWD/{file}\""));
    let words = benchmark.command("cargo", quick, None).join(" ");
    let separator = if svg.is_empty() || words.contains(" -- ") { "" } else { " --" };
    format!("{temporary}{words}{separator}{svg}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::ALL;

    #[cfg(unix)]
    fn output(code: i32, stderr: &str) -> Output {
        let status = std::process::Command::new("sh").args(["-c", &format!("exit {code}")]).status().unwrap();
        Output { status: Some(status), stdout: String::new(), stderr: stderr.to_owned() }
    }

    #[cfg(unix)]
    #[test]
    fn failure_has_the_last_lines_without_overwritten_progress() {
        let Outcome::Failed(why) = outcome(&output(3, "  1 s\r  2 s\n\nerror: 2 checks failed\n")) else {
            panic!("not a failure");
        };
        assert_eq!(why, "exit status: 3\n  2 s\nerror: 2 checks failed");
        assert!(matches!(outcome(&output(0, "error: ignored")), Outcome::Done));
    }

    #[test]
    fn command_writes_the_plot_to_the_working_directory() {
        let ends = [
            "--bench peers -- --seconds 1 --rounds 5 --svg \"$PWD/client-peers.svg\"",
            "--bench peers -- --seconds 3 --rounds 4 --svg \"$PWD/server-peers.svg\"",
            "--bench scale -- --svg \"$PWD/server-scale.svg\"",
            "--bench load -- --seconds 30",
        ];
        for (benchmark, end) in ALL.iter().zip(ends) {
            assert!(command(benchmark, false).ends_with(end), "{}", command(benchmark, false));
        }
    }
}
