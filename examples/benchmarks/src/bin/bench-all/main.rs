//! `cargo bench-all`: runs all benchmarks of the workspace and writes one report.
//!
//! ```text
//! options -> catalogue -> for each { build -> idle check -> child } -> report.md
//! ```
//!
//! | Module | Contents |
//! |---|---|
//! | `options` | the command line |
//! | `catalogue` | the list of benchmarks |
//! | `benchmark` | a benchmark and its command lines |
//! | `child` | a child process and its output |
//! | `machine` | the machine and its load |
//! | `chapter` | the result of a benchmark |
//! | `temporary` | the directory for temporary files |
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
use child::StopSignal;
use machine::Machine;
use options::{Mode, Options};
use report::Report;
use sqs_benchmarks::arguments::{Arguments, BoxError};

/// The exit status of shells for a program that Ctrl-c ended.
const INTERRUPTED: u8 = 130;
const BAD_OPTIONS: u8 = 2;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mode = match options::read(Arguments::from_env()) {
        Ok(mode) => mode,
        Err(error) => {
            eprintln!("error: {error}\n\nSee `cargo bench-all --help`.");
            return ExitCode::from(BAD_OPTIONS);
        }
    };
    let result = match mode {
        Mode::Help => {
            println!("{}", options::HELP);
            Ok(ExitCode::SUCCESS)
        }
        Mode::List => {
            print!("{}", catalogue::list());
            Ok(ExitCode::SUCCESS)
        }
        Mode::Run(options) => run_all(&options).await,
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

/// Runs the benchmarks. Writes the report after each one, so that an interruption loses no results.
async fn run_all(options: &Options) -> Result<ExitCode, BoxError> {
    std::fs::create_dir_all(&options.out)
        .map_err(|error| format!("cannot create {}: {error}", options.out.display()))?;
    let out = std::path::absolute(&options.out)?;
    let mut stop = StopSignal::new()?;
    let mut report = Report { machine: Machine::detect(), quick: options.quick, chapters: Vec::new() };
    eprintln!("{}", announcement(options, &out, &report.machine));
    let count = options.benchmarks.len();
    for (number, benchmark) in options.benchmarks.iter().enumerate() {
        let duration = about(benchmark.seconds(options.quick));
        eprintln!(
            "\n=== {} of {count}: {}, {duration} after the build\n    {}\n",
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
    eprintln!("\nReport: {}", out.join(report::FILE).display());
    Ok(exit_code(&report.chapters))
}

fn announcement(options: &Options, out: &Path, machine: &Machine) -> String {
    let seconds = options.benchmarks.iter().map(|benchmark| benchmark.seconds(options.quick)).sum();
    let warning = if machine.was_idle() { "" } else { " (warning: the machine is not idle)" };
    format!(
        "{}: {} without builds; load average {}{warning}\nreport and plots: {}",
        benchmark_count(options.benchmarks.len()),
        about(seconds),
        machine.load_average(),
        out.display()
    )
}

fn benchmark_count(benchmarks: usize) -> String {
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
