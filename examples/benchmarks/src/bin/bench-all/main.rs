//! `cargo bench-all`: every benchmark of the workspace, one after the other, and one report.
//!
//! ```text
//! options -> catalogue -> for each { build -> idle? -> child (its output passes through) } -> report.md
//! ```
//!
//! | Module | What it is about |
//! |---|---|
//! | `options` | the command line |
//! | `catalogue` | which benchmarks there are |
//! | `benchmark` | one of them, and the words that run it |
//! | `child` | a process whose output passes through and is kept, and which ends with this one |
//! | `machine` | what the figures were measured on, and whether it did something else |
//! | `chapter` | what became of a benchmark |
//! | `temporary` | what benchmarks write and nobody keeps |
//! | `report` | the report, as Markdown |

mod benchmark;
mod catalogue;
mod chapter;
mod child;
mod machine;
mod options;
mod report;
mod temporary;

use std::path::Path;
use std::process::ExitCode;

use benchmark::about;
use chapter::{Chapter, Outcome};
use child::Stop;
use machine::Machine;
use options::{Mode, Options};
use report::Report;
use sqs_benchmarks::arguments::{Arguments, Failed};

/// As shells count a program that ended by Ctrl-c.
const INTERRUPTED: u8 = 130;
const BAD_OPTIONS: u8 = 2;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mode = match options::read(Arguments::of_process()) {
        Ok(mode) => mode,
        Err(error) => {
            eprintln!("error: {error}\n\n`cargo bench-all --help` says more.");
            return ExitCode::from(BAD_OPTIONS);
        }
    };
    let ran = match mode {
        Mode::Help => {
            println!("{}", options::HELP);
            Ok(ExitCode::SUCCESS)
        }
        Mode::List => {
            print!("{}", catalogue::list());
            Ok(ExitCode::SUCCESS)
        }
        Mode::Run(options) => all(&options).await,
    };
    ran.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

/// Runs them all. The report is written after each, so that nothing is lost whatever comes.
async fn all(options: &Options) -> Result<ExitCode, Failed> {
    std::fs::create_dir_all(&options.out)
        .map_err(|error| format!("cannot make {}: {error}", options.out.display()))?;
    let out = std::path::absolute(&options.out)?;
    let mut stop = Stop::new()?;
    let mut report = Report { machine: Machine::now(), quick: options.quick, chapters: Vec::new() };
    eprintln!("{}", announcement(options, &out, &report.machine));
    let count = options.benchmarks.len();
    for (number, benchmark) in options.benchmarks.iter().enumerate() {
        let minutes = about(benchmark.seconds(options.quick));
        eprintln!(
            "\n=== {} of {count}: {}, {minutes} once it is built\n    {}\n",
            number + 1,
            benchmark.name,
            benchmark.measures
        );
        let chapter = Chapter::of(benchmark, options.quick, &out, &mut stop).await;
        eprintln!("\n=== {} {}", benchmark.name, chapter.outcome);
        let interrupted = matches!(chapter.outcome, Outcome::Interrupted);
        report.chapters.push(chapter);
        report.write(&out)?;
        if interrupted {
            break;
        }
    }
    eprintln!("\nThe report is {}", out.join(report::FILE).display());
    Ok(exit_code(&report.chapters))
}

fn announcement(options: &Options, out: &Path, machine: &Machine) -> String {
    let seconds = options.benchmarks.iter().map(|benchmark| benchmark.seconds(options.quick)).sum();
    let quiet =
        if machine.was_idle() { "" } else { ", which is not idle: figures will be worse than they are" };
    format!(
        "{}: {} without what is built first; load average {}{quiet}\nreport and plots go to {}",
        counted(options.benchmarks.len()),
        about(seconds),
        machine.load(),
        out.display()
    )
}

fn counted(benchmarks: usize) -> String {
    if benchmarks == 1 { "1 benchmark".to_owned() } else { format!("{benchmarks} benchmarks") }
}

fn exit_code(chapters: &[Chapter]) -> ExitCode {
    if chapters.iter().any(|chapter| matches!(chapter.outcome, Outcome::Interrupted)) {
        ExitCode::from(INTERRUPTED)
    } else if chapters.iter().any(|chapter| matches!(chapter.outcome, Outcome::Failed(_))) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
