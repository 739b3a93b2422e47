//! Which benchmarks there are.

use std::fmt::Write as _;

use crate::benchmark::{Benchmark, Program, Run, about};

/// All of them, in the order in which they run.
pub(crate) const ALL: &[Benchmark] = &[
    Benchmark {
        name: "client-peers",
        title: "What a request costs a client",
        measures: "sqs-client beside aws-sdk-sqs, and beside bare hyper with bytes made beforehand",
        program: bench("sqs-client", "peers"),
        quick: run(&["--seconds", "0.3", "--rounds", "3"], 20),
        full: run(&["--seconds", "1", "--rounds", "5"], 110),
        starts: None,
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "server-peers",
        title: "What a request costs a server",
        measures: "sqs-mock-server beside rustack, ElasticMQ and moto, and beside bare hyper that does nothing",
        program: bench("sqs-mock-server", "peers"),
        quick: run(&["--seconds", "0.5", "--rounds", "2"], 40),
        full: run(&["--seconds", "3", "--rounds", "4"], 240),
        starts: None,
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "server-scale",
        title: "How the server scales",
        measures: "the cost of requests as queues, groups, pollers and messages grow",
        program: bench("sqs-mock-server", "scale"),
        quick: run(&["--quick"], 5),
        full: run(&[], 180),
        starts: None,
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
        starts: None,
        has_plot: false,
        only_when_named: false,
    },
    Benchmark {
        name: "buffered-throughput",
        title: "Messages a second through batches",
        measures: "single sends and sqs-buffered beside batches made by hand, which are the ceiling",
        program: bench("sqs-buffered", "throughput"),
        quick: run(&["--seconds", "0.3", "--producers", "64"], 15),
        full: run(&["--seconds", "3"], 210),
        starts: Some("sqs-mock-server"),
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "buffered-groups",
        title: "Timeouts of many message groups",
        measures: "what an entry and its timeout cost, and how long other calls wait, while a FIFO queue does not answer",
        program: bench("sqs-buffered", "groups"),
        quick: run(&["--groups", "1000,10000"], 15),
        full: run(&[], 20),
        starts: None,
        has_plot: false,
        only_when_named: true,
    },
    Benchmark {
        name: "buffered-in-flight",
        title: "Batches in flight",
        measures: "the adaptive bound beside the best fixed one, also while the service throttles and for two queues",
        program: bench("sqs-buffered", "in_flight"),
        quick: run(&["--seconds", "0.5", "--latency", "5", "--bounds", "10,40,100"], 75),
        full: run(&[], 900),
        starts: Some("sqs-mock-server"),
        has_plot: false,
        only_when_named: true,
    },
    Benchmark {
        name: "buffered-soak",
        title: "Producers and consumers while requests fail",
        measures: "what is lost, stored twice or out of order while a third of all requests fail, and memory",
        program: bench("sqs-buffered", "soak"),
        quick: run(&["--seconds", "10"], 90),
        full: run(&["--seconds", "120"], 200),
        starts: None,
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "extended-small",
        title: "Messages that need no store",
        measures: "calls through sqs-extended beside the same through the plain client",
        program: bench("sqs-extended", "small"),
        quick: run(&["--rounds", "30"], 10),
        full: run(&["--rounds", "100"], 35),
        starts: None,
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
        starts: None,
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
        starts: None,
        has_plot: false,
        only_when_named: true,
    },
];

const fn bench(package: &'static str, bench: &'static str) -> Program {
    Program::Bench { package, bench }
}

const fn run(options: &'static [&'static str], seconds: u32) -> Run {
    Run { options, seconds }
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
}
