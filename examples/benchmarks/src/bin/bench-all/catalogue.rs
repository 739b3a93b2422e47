//! Which benchmarks there are, and how each is run.

use std::fmt::Write as _;
use std::path::Path;

/// A benchmark.
#[derive(Debug)]
pub(crate) struct Benchmark {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) measures: &'static str,
    pub(crate) program: Program,
    /// Options when it is to be short.
    quick: Run,
    /// Options for figures that count.
    full: Run,
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

#[derive(Debug)]
struct Run {
    options: &'static [&'static str],
    /// How long that takes, without what is built first.
    seconds: u32,
}

const fn bench(package: &'static str, bench: &'static str) -> Program {
    Program::Bench { package, bench }
}

const fn run(options: &'static [&'static str], seconds: u32) -> Run {
    Run { options, seconds }
}

/// All of them, in the order in which they run.
pub(crate) const ALL: &[Benchmark] = &[
    Benchmark {
        name: "client-peers",
        title: "What a request costs a client",
        measures: "sqs-client beside aws-sdk-sqs, and beside bare hyper with bytes made beforehand",
        program: bench("sqs-client", "peers"),
        quick: run(&["--seconds", "0.3", "--rounds", "3"], 20),
        full: run(&["--seconds", "1", "--rounds", "5"], 110),
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "server-peers",
        title: "What a request costs a server",
        measures: "sqs-mock-server beside rustack, ElasticMQ and moto, and beside bare hyper that does nothing",
        program: bench("sqs-mock-server", "peers"),
        quick: run(&["--seconds", "0.5", "--rounds", "2"], 60),
        full: run(&["--seconds", "3", "--rounds", "4"], 240),
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "server-scale",
        title: "How the server scales",
        measures: "the cost of requests as queues, groups, pollers and messages grow",
        program: bench("sqs-mock-server", "scale"),
        quick: run(&["--quick"], 15),
        full: run(&[], 180),
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "server-load",
        title: "The server under load with faults",
        measures: "messages a second while requests fail, and that none is lost, doubled or out of order",
        program: bench("sqs-mock-server", "load"),
        quick: run(&["--seconds", "3"], 10),
        full: run(&["--seconds", "30"], 40),
        has_plot: false,
        only_when_named: false,
    },
    Benchmark {
        name: "buffered-throughput",
        title: "Messages a second through batches",
        measures: "single sends and sqs-buffered beside batches made by hand, which are the ceiling",
        program: bench("sqs-buffered", "throughput"),
        quick: run(&["--seconds", "0.3"], 20),
        full: run(&["--seconds", "3"], 135),
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "buffered-soak",
        title: "Producers and consumers while requests fail",
        measures: "what is lost, stored twice or out of order while a third of all requests fail, and memory",
        program: bench("sqs-buffered", "soak"),
        quick: run(&["--seconds", "10"], 25),
        full: run(&["--seconds", "120"], 135),
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "extended-small",
        title: "Messages that need no store",
        measures: "calls through sqs-extended beside the same through the plain client",
        program: bench("sqs-extended", "small"),
        quick: run(&["--rounds", "10"], 2),
        full: run(&["--rounds", "60"], 10),
        has_plot: false,
        only_when_named: false,
    },
    Benchmark {
        name: "extended-stream",
        title: "Streaming into S3 and out of it",
        measures: "sqs-extended beside aws-sdk-s3 by hand, against a sink that keeps nothing and against s3s",
        program: bench("sqs-extended", "stream"),
        quick: run(&["--mib", "64", "--rounds", "3"], 15),
        full: run(&["--mib", "256", "--rounds", "5"], 60),
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "client-adoption",
        title: "What a program pays for its client",
        measures: "crates, clean release builds and binaries of a minimal program, with sqs-client and aws-sdk-sqs",
        program: Program::Script("sqs-client/benches/adoption/run"),
        quick: run(&[], 600),
        full: run(&[], 600),
        has_plot: false,
        only_when_named: true,
    },
];

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

    pub(crate) fn plot_file(&self) -> Option<String> {
        self.has_plot.then(|| format!("{}.svg", self.name))
    }

    fn of(&self, quick: bool) -> &Run {
        if quick { &self.quick } else { &self.full }
    }
}

/// For `--list`.
pub(crate) fn list() -> String {
    let mut text = String::new();
    for benchmark in ALL {
        let [full, quick] = [false, true].map(|quick| about(benchmark.seconds(quick)));
        let named = if benchmark.only_when_named { "; only when named, or with --all" } else { "" };
        // A string takes everything.
        let _ = writeln!(
            text,
            "{}\n    {}\n    {full}, with --quick {quick}{named}",
            benchmark.name, benchmark.measures
        );
    }
    text
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
    use super::*;

    #[test]
    fn every_bench_of_the_workspace_is_in_the_catalogue() {
        for package in ["sqs-client", "sqs-mock-server", "sqs-buffered", "sqs-extended"] {
            let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
            let manifest = std::fs::read_to_string(format!("{manifest}/{package}/Cargo.toml")).unwrap();
            let benches = manifest.split("[[bench]]").skip(1);
            let names: Vec<_> = benches.filter_map(|bench| bench.split('"').nth(1)).collect();
            assert!(!names.is_empty());
            for name in names {
                let is_it = |program| matches!(program, Program::Bench { package: of, bench } if of == package && bench == name);
                assert!(ALL.iter().any(|benchmark| is_it(benchmark.program)), "{package} {name} is missing");
            }
        }
    }

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
