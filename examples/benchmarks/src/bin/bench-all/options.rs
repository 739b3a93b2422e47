//! The command line.

use std::path::PathBuf;

use sqs_benchmarks::arguments::{Arguments, Failed};

use crate::benchmark::Benchmark;
use crate::catalogue::ALL;

pub(crate) const HELP: &str = "\
Runs every benchmark of the workspace, one after the other, and writes one report with tables and plots.

cargo bench-all [OPTION..]

  --quick        each as short as it gives a figure at all: about 3 minutes instead of 18, without what is built first.
                 To see that all work; figures are rough, and servers that get faster as they run stay cold
  --only LIST    only these, in this order; --list names them
  --all          also those that run only when they are named: client-adoption, which builds four programs from clean
                 (ten minutes, and downloads of crates)
  --list         names, what they measure, and how long they take
  --out DIR      where report and plots go; bench-all in the target folder by default
  --help         this text

What comes out is DIR/report.md: the machine, whether it was idle, and a chapter for each benchmark with the command that
repeats it alone, its tables and its plots, which are SVGs beside the report. Figures stand beside those of others and of
the floor (the same work without what is measured) in the same run. Tables appear on standard output as they come, what is
going on appears on standard error. The report is written anew after each benchmark, so that Ctrl-c, which ends whatever
runs, loses nothing that was measured. Files that benchmarks write on the way lie in a folder below DIR, or below TMPDIR
where that is set, which is removed after each.

The first run builds each package with optimizations: 20 minutes on two cores. server-peers installs the servers that it
compares below the target folder: rustack with cargo, ElasticMQ with mvn and java, moto with python3. What cannot be had is
left out, and the report says why. Times and memory come from /proc of Linux.

For figures that count: leave the machine alone, and do not use --quick. TMPDIR=/dev/shm keeps the disk out of
extended-stream, which needs 7 GiB there.

Exit status: 0 when all went well, 1 when a benchmark failed (the others run all the same), 2 for options that there are
not, 130 after Ctrl-c.";

/// What the command does.
#[derive(Debug)]
pub(crate) enum Mode {
    Help,
    List,
    Run(Options),
}

/// How it runs benchmarks.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) quick: bool,
    pub(crate) benchmarks: Vec<&'static Benchmark>,
    pub(crate) out: PathBuf,
}

/// The first of the wishes for help or a list wins.
pub(crate) fn read(mut arguments: Arguments) -> Result<Mode, Failed> {
    let (mut quick, mut all, mut only, mut out) = (false, false, None, None);
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--quick" => quick = true,
            "--all" => all = true,
            "--only" => only = Some(arguments.words::<Named>()?),
            "--out" => out = Some(arguments.path()?),
            "--list" => return Ok(Mode::List),
            "--help" | "-h" => return Ok(Mode::Help),
            _ => return Err(arguments.unknown(HELP)),
        }
    }
    if all && only.is_some() {
        return Err("--all and --only contradict each other; give one of them".into());
    }
    let benchmarks = match only {
        Some(only) => once_each(only),
        None => ALL.iter().filter(|benchmark| all || !benchmark.only_when_named).collect(),
    };
    let out = out.map_or_else(default_out, Ok)?;
    Ok(Mode::Run(Options { quick, benchmarks, out }))
}

/// Two runs of the same would write the same plot.
fn once_each(named: Vec<Named>) -> Vec<&'static Benchmark> {
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
        named.ok_or_else(|| format!("{text:?} is no benchmark; there are {}", names.join(", ")))
    }
}

/// In the target folder, of which this program lies in `debug` or `release`.
fn default_out() -> Result<PathBuf, Failed> {
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(2).ok_or("this program lies in no target folder; give --out")?;
    Ok(target.join("bench-all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(line: &'static str) -> Result<Mode, Failed> {
        read(Arguments::new(line.split_whitespace().map(str::to_owned)))
    }

    fn names(line: &'static str) -> Vec<&'static str> {
        let Ok(Mode::Run(options)) = read_line(line) else { panic!("{line} runs nothing") };
        options.benchmarks.iter().map(|benchmark| benchmark.name).collect()
    }

    #[test]
    fn adoption_runs_only_when_it_is_named_or_all_are() {
        assert!(!names("").contains(&"client-adoption"));
        assert!(names("--all").contains(&"client-adoption"));
        assert_eq!(names("--only client-adoption"), ["client-adoption"]);
    }

    #[test]
    fn benchmarks_run_in_the_order_in_which_they_are_named() {
        assert_eq!(names("--quick --only server-load,client-peers"), ["server-load", "client-peers"]);
        assert_eq!(names("--only server-load,client-peers,server-load"), ["server-load", "client-peers"]);
    }

    #[test]
    fn names_that_there_are_not_are_refused_with_those_that_there_are() {
        let error = read_line("--only server-peers,peers").unwrap_err().to_string();
        assert!(error.starts_with("--only: \"peers\" is no benchmark; there are client-peers, "), "{error}");
        assert!(ALL.iter().all(|benchmark| error.contains(benchmark.name)), "{error}");
    }

    #[test]
    fn options_that_there_are_not_are_refused_with_those_that_there_are() {
        let error = read_line("--fast").unwrap_err().to_string();
        let options = "--quick, --only, --all, --list, --out, --help";
        assert_eq!(error, format!("\"--fast\" is no option; there are {options}"));
        assert!(read_line("--all --only server-load").is_err());
        assert!(read_line("--out").is_err());
    }
}
