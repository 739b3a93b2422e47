//! A benchmark and its command lines.

use std::path::Path;

/// A benchmark.
#[derive(Debug)]
pub(crate) struct Benchmark {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) measures: &'static str,
    pub(crate) program: Program,
    /// The run with `--quick`.
    pub(crate) quick: Run,
    /// The run for published figures.
    pub(crate) full: Run,
    /// The package of a program that the benchmark starts. It is built before the measurement.
    pub(crate) starts: Option<&'static str>,
    /// Whether it accepts `--svg`.
    pub(crate) has_plot: bool,
    pub(crate) only_when_named: bool,
}

/// The program of a benchmark.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Program {
    /// A bench target of a package.
    Bench { package: &'static str, bench: &'static str },
    /// A script, by its path from the root of the repository.
    Script(&'static str),
}

/// The options and duration of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) options: &'static [&'static str],
    /// Duration without the build.
    pub(crate) seconds: u32,
}

impl Benchmark {
    pub(crate) fn options(&self, quick: bool) -> &'static [&'static str] {
        self.of(quick).options
    }

    pub(crate) fn seconds(&self, quick: bool) -> u32 {
        self.of(quick).seconds
    }

    /// The command line that runs it, program first.
    pub(crate) fn command(&self, cargo: &str, quick: bool, svg: Option<&Path>) -> Vec<String> {
        let mut words = match self.program {
            Program::Bench { package, bench } => vec![cargo, "bench", "-p", package, "--bench", bench],
            Program::Script(path) => vec![path],
        };
        let options = self.options(quick);
        if matches!(self.program, Program::Bench { .. }) && (!options.is_empty() || svg.is_some()) {
            words.push("--");
        }
        words.extend(options);
        let mut words: Vec<_> = words.into_iter().map(str::to_owned).collect();
        words.extend(svg.iter().flat_map(|path| ["--svg".to_owned(), path.display().to_string()]));
        words
    }

    /// The commands that build it. A build during the run would change the figures.
    pub(crate) fn builds(&self, cargo: &str) -> Vec<Vec<String>> {
        let bench = match self.program {
            Program::Bench { package, bench } => {
                Some(vec![cargo, "bench", "--no-run", "-p", package, "--bench", bench])
            }
            Program::Script(_) => None,
        };
        let program = self.starts.map(|package| vec![cargo, "build", "--release", "--package", package]);
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        bench.into_iter().chain(program).map(owned).collect()
    }

    pub(crate) fn plot_file(&self) -> Option<String> {
        self.has_plot.then(|| format!("{}.svg", self.name))
    }

    fn of(&self, quick: bool) -> &Run {
        if quick { &self.quick } else { &self.full }
    }
}

/// An approximate duration for readers.
pub(crate) fn about(seconds: u32) -> String {
    match seconds {
        0..90 => format!("about {seconds} s"),
        _ => format!("about {} min", (seconds + 30) / 60),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::catalogue::ALL;

    #[test]
    fn command_separates_cargo_options_from_bench_options() {
        let words = ALL[0].command("cargo", true, Some(Path::new("/out/a.svg"))).join(" ");
        let command = "cargo bench -p sqs-client --bench peers -- --seconds 0.3 --rounds 3 --svg /out/a.svg";
        assert_eq!(words, command);
    }

    #[test]
    fn command_without_bench_options_has_no_separator() {
        let scale = ALL.iter().find(|benchmark| benchmark.name == "server-scale").unwrap();
        assert_eq!(
            scale.command("cargo", false, None).join(" "),
            "cargo bench -p sqs-mock-server --bench scale"
        );
    }
}
