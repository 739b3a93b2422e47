//! The report, as Markdown.

use std::fmt;
use std::path::Path;

use sqs_benchmarks::arguments::BoxError;

use crate::chapter::{Chapter, Outcome};
use crate::machine::Machine;

/// File name of the report. The plots are in the same directory.
pub(crate) const FILE: &str = "report.md";

/// The report of all benchmarks.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) quick: bool,
    pub(crate) chapters: Vec<Chapter>,
}

impl Report {
    pub(crate) fn write(&self, out: &Path) -> Result<(), BoxError> {
        let file = out.join(FILE);
        Ok(std::fs::write(&file, self.to_string())
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# Benchmarks of the SQS toolkit\n")?;
        if self.quick {
            writeln!(
                f,
                "This run used `--quick`, which only checks that all benchmarks work. The figures are rough, in \
                 particular those of servers that need a warm-up (ElasticMQ).\n"
            )?;
        }
        writeln!(f, "{}", self.machine)?;
        writeln!(f, "| Benchmark | Result | Duration | Idle processors before |")?;
        writeln!(f, "|---|---|--:|--:|")?;
        for chapter in &self.chapters {
            let skipped = match chapter.skipped() {
                0 => String::new(),
                count => format!(", {count} skipped"),
            };
            let (title, anchor) = (chapter.benchmark.title, anchor(chapter.benchmark.title));
            let (outcome, seconds) = (&chapter.outcome, chapter.elapsed.as_secs());
            let idle = chapter.idle.map_or("unknown".to_owned(), |share| format!("{:.0} %", share * 100.0));
            writeln!(f, "| [{title}](#{anchor}) | {outcome}{skipped} | {seconds} s | {idle} |")?;
        }
        self.chapters.iter().try_for_each(|chapter| write!(f, "\n{chapter}"))
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let idle = if self.was_idle() {
            "idle"
        } else {
            "not idle, so the figures are worse than on an idle machine"
        };
        let memory = self.memory_gib.map_or("unknown".to_owned(), |gib| format!("{gib} GiB"));
        writeln!(f, "| Machine | |\n|---|---|")?;
        writeln!(f, "| date | {} |", self.date)?;
        writeln!(f, "| processor | {}, {} cores |", self.cpu, self.cores)?;
        writeln!(f, "| memory | {memory} |")?;
        writeln!(f, "| system | {} |", self.kernel)?;
        writeln!(f, "| compiler | {} |", self.rustc)?;
        writeln!(f, "| commit | {} |", self.commit)?;
        writeln!(
            f,
            "| load average at the start, over 1, 5 and 15 minutes | {}: {idle} |",
            self.load_average()
        )
    }
}

impl fmt::Display for Chapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { benchmark, command, outcome, output, plot, .. } = self;
        writeln!(f, "## {}\n", benchmark.title)?;
        writeln!(f, "Measures {}.\n\n```console\n{command}\n```\n", benchmark.measures)?;
        match outcome {
            Outcome::Done => {}
            Outcome::Failed(why) => writeln!(f, "**Failed**: {}\n", quoted(why))?,
            Outcome::CannotRun(why) => writeln!(f, "**Could not start**: {why}\n")?,
            Outcome::Interrupted => writeln!(f, "**Interrupted.** The output until then:\n")?,
        }
        if !output.trim().is_empty() {
            writeln!(f, "{}", output.trim())?;
        }
        match plot {
            Some(plot) => writeln!(f, "\n![{}]({plot})", benchmark.title),
            None => Ok(()),
        }
    }
}

/// The first line, and the other lines as a code block.
fn quoted(text: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if rest.is_empty() { first.to_owned() } else { format!("{first}\n\n```text\n{rest}\n```") }
}

/// The anchor of a heading on GitHub.
fn anchor(heading: &str) -> String {
    let known =
        heading.to_lowercase().chars().filter(|c| c.is_alphanumeric() || *c == ' ').collect::<String>();
    known.replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::catalogue::ALL;

    fn chapter(number: usize, outcome: Outcome, output: &str) -> Chapter {
        Chapter {
            benchmark: &ALL[number],
            command: format!("cargo bench {number}"),
            outcome,
            elapsed: Duration::from_secs(7),
            idle: Some(0.987),
            output: output.to_owned(),
            plot: ALL[number].plot_file(),
        }
    }

    fn report(chapters: Vec<Chapter>) -> String {
        Report { machine: Machine::detect(), quick: true, chapters }.to_string()
    }

    #[test]
    fn chapter_has_command_tables_and_plot() {
        let report = report(vec![chapter(0, Outcome::Done, "| a |\n|---|\n| 1 |\n\n")]);
        let (head, chapter) = report.split_once("\n## ").unwrap();
        assert!(head.contains("succeeded | 7 s | 99 % |") && head.contains("--quick"), "{head}");
        let expected = "Client cost per request\n\nMeasures sqs-client, aws-sdk-sqs, and bare hyper with prepared \
            requests as the floor.\n\n```console\ncargo bench 0\n```\n\n| a |\n|---|\n| 1 |\n\n\
            ![Client cost per request](client-peers.svg)\n";
        assert_eq!(chapter, expected);
    }

    #[test]
    fn failure_is_reported_with_the_output() {
        let failed = Outcome::Failed("exit status: 1\nerror: no route".to_owned());
        let report = report(vec![chapter(3, failed, "| so far |"), chapter(4, Outcome::Interrupted, "")]);
        let expected = "**Failed**: exit status: 1\n\n```text\nerror: no route\n```\n\n| so far |\n";
        assert!(report.contains(expected), "{report}");
        assert!(report.contains("failed | 7 s") && report.contains("was interrupted | 7 s"), "{report}");
    }

    #[test]
    fn skipped_peers_are_counted() {
        let output =
            "skipped: moto, because python3 is not installed\n\nskipped: rustack, because of an error: x\n";
        assert!(report(vec![chapter(1, Outcome::Done, output)]).contains("succeeded, 2 skipped |"));
    }

    #[test]
    fn anchor_is_the_heading_in_lower_case_with_dashes() {
        assert_eq!(anchor("Client cost per request"), "client-cost-per-request");
    }
}
