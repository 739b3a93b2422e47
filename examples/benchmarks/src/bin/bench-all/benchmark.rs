//! A benchmark, and the words that run it.

use std::path::Path;

/// A benchmark.
#[derive(Debug)]
pub(crate) struct Benchmark {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) measures: &'static str,
    pub(crate) program: Program,
    /// Options when it is to be short.
    pub(crate) quick: Run,
    /// Options for figures that count.
    pub(crate) full: Run,
    /// The package of a program that it starts, and would build itself.
    pub(crate) starts: Option<&'static str>,
    /// Whether it takes `--svg`.
    pub(crate) has_plot: bool,
    pub(crate) only_when_named: bool,
}

/// What it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Program {
    /// Of a package.
    Bench { package: &'static str, bench: &'static str },
    /// By its path from the root of the repository.
    Script(&'static str),
}

/// A run of it.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) options: &'static [&'static str],
    /// How long that takes, without what is built first.
    pub(crate) seconds: u32,
}

impl Benchmark {
    pub(crate) fn options(&self, quick: bool) -> &'static [&'static str] {
        self.of(quick).options
    }

    pub(crate) fn seconds(&self, quick: bool) -> u32 {
        self.of(quick).seconds
    }

    /// The words that run it, program first.
    pub(crate) fn words(&self, cargo: &str, quick: bool, svg: Option<&Path>) -> Vec<String> {
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

    /// The commands that build it, apart from the run: cargo would take a part of the time and of the machine.
    pub(crate) fn builds(&self, cargo: &str) -> Vec<Vec<String>> {
        let bench = match self.program {
            Program::Bench { package, bench } => {
                Some(vec![cargo, "bench", "--no-run", "-p", package, "--bench", bench])
            }
            Program::Script(_) => None,
        };
        let started = self.starts.map(|package| vec![cargo, "build", "--release", "--package", package]);
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        bench.into_iter().chain(started).map(owned).collect()
    }

    pub(crate) fn plot_file(&self) -> Option<String> {
        self.has_plot.then(|| format!("{}.svg", self.name))
    }

    fn of(&self, quick: bool) -> &Run {
        if quick { &self.quick } else { &self.full }
    }
}

/// About how long something takes.
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
    fn commands_separate_the_options_of_cargo_from_those_of_the_bench() {
        let words = ALL[0].words("cargo", true, Some(Path::new("/out/a.svg"))).join(" ");
        let command = "cargo bench -p sqs-client --bench peers -- --seconds 0.3 --rounds 3 --svg /out/a.svg";
        assert_eq!(words, command);
    }

    #[test]
    fn commands_without_options_have_nothing_to_separate() {
        let scale = ALL.iter().find(|benchmark| benchmark.name == "server-scale").unwrap();
        assert_eq!(
            scale.words("cargo", false, None).join(" "),
            "cargo bench -p sqs-mock-server --bench scale"
        );
    }
}
