//! The command line.

use std::path::PathBuf;

use sqs_benchmarks::arguments::{Arguments, BoxError};

use crate::benchmark::Benchmark;
use crate::catalogue::ALL;

pub(crate) const HELP: &str = "\
Runs all benchmarks of the workspace, one after the other, and writes one report with tables and plots.

cargo bench-all [OPTION..]

  --quick        check only that all benchmarks work: about 3 minutes instead of 18, without builds; the figures are
                 rough, and servers that need a warm-up stay slow
  --only LIST    run only these benchmarks, in this order; --list prints the names
  --all          also run the benchmarks that need --only by default, such as client-adoption, which builds four
                 programs from clean (ten minutes, and downloads of crates)
  --list         print the names of the benchmarks, what they measure and their durations
  --out DIR      directory of the report and the plots (default: bench-all in the target directory)
  --help         print this help

The report, DIR/report.md, describes the machine and whether it was idle. It has a chapter for each benchmark with the
command that repeats it, its tables and its plots (SVG files). Figures are compared with those of other programs, and with
a floor, in the same run. The report is written after each benchmark, so Ctrl-c loses no finished results. Tables go to
standard output, progress to standard error. Temporary files are in DIR, or in TMPDIR if that is set, and are removed
after each benchmark.

The first run builds each package with optimizations: 20 minutes on two cores. server-peers installs other servers into the
target directory: rustack (with cargo), ElasticMQ (with mvn and java) and moto (with python3). It skips a server that
cannot be installed, and the report states the reason. CPU times and memory require Linux.

For figures to publish, use an idle machine and do not set --quick. TMPDIR=/dev/shm excludes the disk from
extended-stream, which needs 7 GiB there.

Exit status: 0 if all benchmarks succeed, 1 if a benchmark fails (the others still run), 2 for invalid options, 130 after
Ctrl-c.";

/// The mode of the program.
#[derive(Debug)]
pub(crate) enum Mode {
    Help,
    List,
    Run(Options),
}

/// The options of a run.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) quick: bool,
    pub(crate) benchmarks: Vec<&'static Benchmark>,
    pub(crate) out: PathBuf,
}

/// Parses the command line. The first of `--help` and `--list` wins.
pub(crate) fn read(mut arguments: Arguments) -> Result<Mode, BoxError> {
    let (mut quick, mut all, mut only, mut out) = (false, false, None, None);
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--quick" => quick = true,
            "--all" => all = true,
            "--only" => only = Some(arguments.parse_list::<Named>()?),
            "--out" => out = Some(arguments.path()?),
            "--list" => return Ok(Mode::List),
            "--help" | "-h" => return Ok(Mode::Help),
            _ => return Err(arguments.unknown_option(HELP)),
        }
    }
    if all && only.is_some() {
        return Err("--all and --only cannot be combined".into());
    }
    let benchmarks = match only {
        Some(only) => deduplicated(only),
        None => ALL.iter().filter(|benchmark| all || !benchmark.only_when_named).collect(),
    };
    let out = out.map_or_else(default_out, Ok)?;
    Ok(Mode::Run(Options { quick, benchmarks, out }))
}

/// Removes duplicates, because two runs of one benchmark would write the same plot.
fn deduplicated(named: Vec<Named>) -> Vec<&'static Benchmark> {
    let mut benchmarks: Vec<&Benchmark> = Vec::new();
    for Named(benchmark) in named {
        if benchmarks.iter().all(|other| other.name != benchmark.name) {
            benchmarks.push(benchmark);
        }
    }
    benchmarks
}

/// A benchmark by its name.
struct Named(&'static Benchmark);

impl std::str::FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = ALL.iter().find(|benchmark| benchmark.name == text).map(Self);
        let names: Vec<_> = ALL.iter().map(|benchmark| benchmark.name).collect();
        named.ok_or_else(|| format!("unknown benchmark {text:?}; allowed are {}", names.join(", ")))
    }
}

/// The target directory. This program is in its `debug` or `release` directory.
fn default_out() -> Result<PathBuf, BoxError> {
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(2).ok_or("the program is not in a target directory; set --out")?;
    Ok(target.join("bench-all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(line: &'static str) -> Result<Mode, BoxError> {
        read(Arguments::new(line.split_whitespace().map(str::to_owned)))
    }

    fn names(line: &'static str) -> Vec<&'static str> {
        let Ok(Mode::Run(options)) = read_line(line) else { panic!("{line} runs nothing") };
        options.benchmarks.iter().map(|benchmark| benchmark.name).collect()
    }

    #[test]
    fn adoption_runs_only_with_only_or_all() {
        assert!(!names("").contains(&"client-adoption"));
        assert!(names("--all").contains(&"client-adoption"));
        assert_eq!(names("--only client-adoption"), ["client-adoption"]);
    }

    #[test]
    fn benchmarks_run_in_the_order_of_the_option() {
        assert_eq!(names("--quick --only server-load,client-peers"), ["server-load", "client-peers"]);
        assert_eq!(names("--only server-load,client-peers,server-load"), ["server-load", "client-peers"]);
    }

    #[test]
    fn unknown_benchmark_is_rejected_with_the_allowed_names() {
        let error = read_line("--only server-peers,peers").unwrap_err().to_string();
        assert!(
            error.starts_with("--only: unknown benchmark \"peers\"; allowed are client-peers, "),
            "{error}"
        );
        assert!(ALL.iter().all(|benchmark| error.contains(benchmark.name)), "{error}");
    }

    #[test]
    fn unknown_option_is_rejected_with_the_allowed_options() {
        let error = read_line("--fast").unwrap_err().to_string();
        let options = "--quick, --only, --all, --list, --out, --help";
        assert_eq!(error, format!("unknown option \"--fast\"; allowed are {options}"));
        assert!(read_line("--all --only server-load").is_err());
        assert!(read_line("--out").is_err());
    }
}
