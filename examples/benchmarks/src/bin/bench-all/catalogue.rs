//! The list of benchmarks.

use std::fmt::Write as _;

use crate::benchmark::{Benchmark, Program, Run, about};

/// All benchmarks, in the order of their runs.
pub(crate) const ALL: &[Benchmark] = &[
    Benchmark {
        name: "client-peers",
        title: "Client cost per request",
        measures: "sqs-client, aws-sdk-sqs, and bare hyper with prepared requests as the floor",
        program: bench("sqs-client", "peers"),
        quick: run(&["--seconds", "0.3", "--rounds", "3"], 20),
        full: run(&["--seconds", "1", "--rounds", "5"], 110),
        starts: None,
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "server-peers",
        title: "Server cost per request",
        measures: "sqs-mock-server, rustack, ElasticMQ, moto, and bare hyper with constant responses as the floor",
        program: bench("sqs-mock-server", "peers"),
        quick: run(&["--seconds", "0.5", "--rounds", "2"], 40),
        full: run(&["--seconds", "3", "--rounds", "4"], 240),
        starts: None,
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "server-scale",
        title: "Server scalability",
        measures: "cost of a request by number of queues, message groups, pollers, subscriptions of a topic and messages",
        program: bench("sqs-mock-server", "scale"),
        quick: run(&["--quick"], 5),
        full: run(&[], 180),
        starts: None,
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "server-load",
        title: "Server under load with faults",
        measures: "messages per second while requests fail; lost, duplicated and reordered messages",
        program: bench("sqs-mock-server", "load"),
        quick: run(&["--seconds", "3"], 10),
        full: run(&["--seconds", "30"], 40),
        starts: None,
        has_plot: false,
        only_when_named: false,
    },
    Benchmark {
        name: "server-durable",
        title: "Server with a data directory",
        measures: "sends in memory and with both durabilities, ElasticMQ and fauxqs with theirs, and restarts after SIGKILL",
        program: bench("sqs-mock-server", "durable"),
        quick: run(&["--seconds", "0.3", "--rounds", "3", "--messages", "20000"], 60),
        full: run(&[], 300),
        starts: None,
        has_plot: false,
        only_when_named: false,
    },
    Benchmark {
        name: "buffered-throughput",
        title: "Throughput of buffered sends",
        measures: "single sends, sqs-buffered, and manual batches as the ceiling",
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
        measures: "cost of an entry and its timeout, and latency of other calls, while a FIFO queue does not respond",
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
        measures: "adaptive limit and best fixed limit, with and without throttling, and fairness of two queues",
        program: bench("sqs-buffered", "in_flight"),
        quick: run(&["--seconds", "0.5", "--latency", "5", "--bounds", "10,40,100"], 75),
        full: run(&[], 900),
        starts: Some("sqs-mock-server"),
        has_plot: false,
        only_when_named: true,
    },
    Benchmark {
        name: "buffered-soak",
        title: "Buffered client under faults",
        measures: "lost, duplicated and reordered messages while a third of all requests fail, and memory",
        program: bench("sqs-buffered", "soak"),
        quick: run(&["--seconds", "10"], 90),
        full: run(&["--seconds", "120"], 200),
        starts: None,
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "extended-small",
        title: "Overhead for small messages",
        measures: "calls through sqs-extended and through the plain client, without payloads in a store",
        program: bench("sqs-extended", "small"),
        quick: run(&["--rounds", "30"], 10),
        full: run(&["--rounds", "100"], 35),
        starts: None,
        has_plot: false,
        only_when_named: false,
    },
    Benchmark {
        name: "extended-stream",
        title: "Streaming to and from S3",
        measures: "sqs-extended and hand-written aws-sdk-s3 code, against a sink without storage and against s3s",
        program: bench("sqs-extended", "stream"),
        quick: run(&["--mib", "64", "--rounds", "3"], 15),
        full: run(&["--mib", "256", "--rounds", "5"], 60),
        starts: None,
        has_plot: true,
        only_when_named: false,
    },
    Benchmark {
        name: "client-adoption",
        title: "Build cost of a client",
        measures: "crates, clean release build and binary size of a minimal program, with sqs-client and aws-sdk-sqs",
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
        let note = if benchmark.only_when_named { "; runs only with --only or --all" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}\n    {}\n    {full}, with --quick {quick}{note}",
            benchmark.name, benchmark.measures
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalogue_contains_every_bench_target() {
        for package in ["sqs-client", "sqs-mock-server", "sqs-buffered", "sqs-extended"] {
            let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
            let manifest = std::fs::read_to_string(format!("{manifest}/{package}/Cargo.toml")).unwrap();
            let benches = manifest.split("[[bench]]").skip(1);
            let names: Vec<_> = benches.filter_map(|bench| bench.split('"').nth(1)).collect();
            assert!(!names.is_empty());
            for name in names {
                let matches = |program| matches!(program, Program::Bench { package: of, bench } if of == package && bench == name);
                assert!(
                    ALL.iter().any(|benchmark| matches(benchmark.program)),
                    "{package} {name} is missing"
                );
            }
        }
    }
}
