//! What became of a benchmark.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use sqs_benchmarks::arguments::Failed;
use sqs_benchmarks::process::now;

use crate::benchmark::Benchmark;
use crate::child::{self, Ended, Places, Stop};
use crate::machine;
use crate::temporary::Temporary;

/// Lines of standard error that say what went wrong.
const LAST_WORDS: usize = 12;

/// A benchmark that has run, or should have.
#[derive(Debug)]
pub(crate) struct Chapter {
    pub(crate) benchmark: &'static Benchmark,
    /// What repeats it alone, for a shell in the root of the repository.
    pub(crate) command: String,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
    /// How much of the machine's time was free just before.
    pub(crate) idle: Option<f64>,
    /// What it printed: tables as Markdown.
    pub(crate) output: String,
    /// The name of its file.
    pub(crate) plot: Option<String>,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Done,
    /// Why, in the words of what failed.
    Failed(String),
    /// What is missing here.
    CannotRun(String),
    Interrupted,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "is done",
            Self::Failed(_) => "failed",
            Self::CannotRun(_) => "cannot run here",
            Self::Interrupted => "was interrupted",
        })
    }
}

impl Chapter {
    /// Builds and runs a benchmark.
    pub(crate) async fn of(benchmark: &'static Benchmark, quick: bool, out: &Path, stop: &mut Stop) -> Self {
        let mut chapter = Self {
            benchmark,
            command: command(benchmark, quick),
            outcome: Outcome::Done,
            took: Duration::ZERO,
            idle: None,
            output: String::new(),
            plot: benchmark.plot_file(),
        };
        let plot = chapter.plot.as_ref().map(|file| out.join(file));
        if let Some(plot) = &plot {
            // That of another run is none of this; an error says that there is none.
            let _ = std::fs::remove_file(plot);
        }
        let ran = match Temporary::beside(out) {
            Ok(temporary) => chapter.run(quick, plot.as_deref(), temporary.path(), stop).await,
            Err(error) => Err(error),
        };
        chapter.outcome = ran.unwrap_or_else(|error| Outcome::CannotRun(error.to_string()));
        chapter.plot = chapter.plot.filter(|_| plot.is_some_and(|plot| plot.exists()));
        chapter
    }

    async fn run(
        &mut self,
        quick: bool,
        svg: Option<&Path>,
        temporary: &Path,
        stop: &mut Stop,
    ) -> Result<Outcome, Failed> {
        let root = machine::repository();
        let places = Places { directory: &root, temporary };
        // The cargo that has started this one.
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        for build in self.benchmark.builds(&cargo) {
            match outcome(&child::run(&build, places, stop).await?) {
                Outcome::Done => {}
                other => return Ok(other),
            }
        }
        self.idle = machine::idle_share().await;
        let start = now();
        let ended = child::run(&self.benchmark.words(&cargo, quick, svg), places, stop).await?;
        self.took = start.elapsed();
        let outcome = outcome(&ended);
        self.output = ended.stdout;
        Ok(outcome)
    }

    /// Peers that it left out, in the words of its output.
    pub(crate) fn left_out(&self) -> usize {
        let lines = self.output.lines();
        lines.filter(|line| line.starts_with("skipped: ") || line.starts_with("left out: ")).count()
    }
}

fn outcome(ended: &Ended) -> Outcome {
    match ended.status {
        None => Outcome::Interrupted,
        Some(status) if status.success() => Outcome::Done,
        Some(status) => {
            // Progress is drawn over itself, and counts as what is there in the end.
            let lines = ended.stderr.lines().map(|line| line.rsplit('\r').next().unwrap_or(line));
            let lines: Vec<_> = lines.filter(|line| !line.trim().is_empty()).collect();
            let last = lines.split_at(lines.len().saturating_sub(LAST_WORDS)).1;
            Outcome::Failed(format!("{status}\n{}", last.join("\n")))
        }
    }
}

/// As people type it. A bench runs in the directory of its package, hence `$PWD`.
fn command(benchmark: &Benchmark, quick: bool) -> String {
    let temporary = std::env::var("TMPDIR").map_or(String::new(), |place| format!("TMPDIR={place} "));
    let svg = benchmark.plot_file().map_or(String::new(), |file| format!(" --svg \"$PWD/{file}\""));
    let words = benchmark.words("cargo", quick, None).join(" ");
    let separator = if svg.is_empty() || words.contains(" -- ") { "" } else { " --" };
    format!("{temporary}{words}{separator}{svg}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::ALL;

    #[cfg(unix)]
    fn ended(code: i32, stderr: &str) -> Ended {
        let status = std::process::Command::new("sh").args(["-c", &format!("exit {code}")]).status().unwrap();
        Ended { status: Some(status), stdout: String::new(), stderr: stderr.to_owned() }
    }

    #[cfg(unix)]
    #[test]
    fn failures_have_their_last_words_without_progress() {
        let Outcome::Failed(why) = outcome(&ended(3, "  1 s\r  2 s\n\nerror: 2 things went wrong\n")) else {
            panic!("it failed");
        };
        assert_eq!(why, "exit status: 3\n  2 s\nerror: 2 things went wrong");
        assert!(matches!(outcome(&ended(0, "error: not really")), Outcome::Done));
    }

    #[test]
    fn commands_write_their_plot_to_where_they_are_typed() {
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
