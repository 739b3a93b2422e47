//! The report, as Markdown.

use std::fmt;
use std::path::Path;

use sqs_benchmarks::arguments::Failed;

use crate::chapter::{Chapter, Outcome};
use crate::machine::Machine;

/// Its name, beside the plots.
pub(crate) const FILE: &str = "report.md";

/// All of it.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) quick: bool,
    pub(crate) chapters: Vec<Chapter>,
}

impl Report {
    pub(crate) fn write(&self, out: &Path) -> Result<(), Failed> {
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
                "A run with `--quick`, which shows that everything works: figures are rough, and those of servers that get \
                 faster as they run (ElasticMQ) are far from what they reach.\n"
            )?;
        }
        writeln!(f, "{}", self.machine)?;
        writeln!(f, "| Benchmark | What became of it | Took | Machine free just before |")?;
        writeln!(f, "|---|---|--:|--:|")?;
        for chapter in &self.chapters {
            let left_out = match chapter.left_out() {
                0 => String::new(),
                count => format!(", {count} left out"),
            };
            let (title, anchor) = (chapter.benchmark.title, anchor(chapter.benchmark.title));
            let (outcome, seconds) = (&chapter.outcome, chapter.took.as_secs());
            let idle = chapter.idle.map_or("unknown".to_owned(), |share| format!("{:.0} %", share * 100.0));
            writeln!(f, "| [{title}](#{anchor}) | {outcome}{left_out} | {seconds} s | {idle} |")?;
        }
        self.chapters.iter().try_for_each(|chapter| write!(f, "\n{chapter}"))
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let idle = if self.was_idle() { "idle" } else { "not idle: figures are worse than they would be" };
        let memory = self.memory_gib.map_or("unknown".to_owned(), |gib| format!("{gib} GiB"));
        writeln!(f, "| Machine | |\n|---|---|")?;
        writeln!(f, "| date | {} |", self.date)?;
        writeln!(f, "| processor | {}, {} cores |", self.cpu, self.cores)?;
        writeln!(f, "| memory | {memory} |")?;
        writeln!(f, "| system | {} |", self.kernel)?;
        writeln!(f, "| compiler | {} |", self.rustc)?;
        writeln!(f, "| commit | {} |", self.commit)?;
        writeln!(f, "| load average at the start, over 1, 5 and 15 minutes | {}: {idle} |", self.load())
    }
}

impl fmt::Display for Chapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { benchmark, command, outcome, output, plot, .. } = self;
        writeln!(f, "## {}\n", benchmark.title)?;
        writeln!(f, "What is measured: {}.\n\n```console\n{command}\n```\n", benchmark.measures)?;
        match outcome {
            Outcome::Done => {}
            Outcome::Failed(why) => writeln!(f, "**It failed**: {}\n", quoted(why))?,
            Outcome::CannotRun(why) => writeln!(f, "**It cannot run here**: {why}\n")?,
            Outcome::Interrupted => writeln!(f, "**It was interrupted**; what it printed before is this.\n")?,
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

/// Lines as they came.
fn quoted(text: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if rest.is_empty() { first.to_owned() } else { format!("{first}\n\n```text\n{rest}\n```") }
}

/// Where a heading is, as GitHub has it.
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
            took: Duration::from_secs(7),
            idle: Some(0.987),
            output: output.to_owned(),
            plot: ALL[number].plot_file(),
        }
    }

    fn report(chapters: Vec<Chapter>) -> String {
        Report { machine: Machine::now(), quick: true, chapters }.to_string()
    }

    #[test]
    fn chapters_have_command_tables_and_plot() {
        let report = report(vec![chapter(0, Outcome::Done, "| a |\n|---|\n| 1 |\n\n")]);
        let (head, chapter) = report.split_once("\n## ").unwrap();
        assert!(head.contains("is done | 7 s | 99 % |") && head.contains("--quick"), "{head}");
        let expected = "What a request costs a client\n\nWhat is measured: sqs-client beside aws-sdk-sqs, and beside bare hyper with bytes \
            made beforehand.\n\n```console\ncargo bench 0\n```\n\n| a |\n|---|\n| 1 |\n\n\
            ![What a request costs a client](client-peers.svg)\n";
        assert_eq!(chapter, expected);
    }

    #[test]
    fn failures_are_told_with_what_was_printed_before() {
        let failed = Outcome::Failed("exit status: 1\nerror: it is broken".to_owned());
        let report = report(vec![chapter(3, failed, "| so far |"), chapter(4, Outcome::Interrupted, "")]);
        let expected = "**It failed**: exit status: 1\n\n```text\nerror: it is broken\n```\n\n| so far |\n";
        assert!(report.contains(expected), "{report}");
        assert!(report.contains("failed | 7 s") && report.contains("was interrupted | 7 s"), "{report}");
    }

    #[test]
    fn peers_that_were_left_out_are_counted() {
        let output =
            "skipped: moto, because python3 is not installed\n\nleft out: rustack, because of an error: x\n";
        assert!(report(vec![chapter(1, Outcome::Done, output)]).contains("is done, 2 left out |"));
    }

    #[test]
    fn headings_are_found_from_the_first_table() {
        assert_eq!(anchor("What a request costs a client"), "what-a-request-costs-a-client");
    }
}
