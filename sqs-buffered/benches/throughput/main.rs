//! Run with: `cargo bench -p sqs-buffered --bench throughput`
//!
//! Measures messages per second and the duration of a send: single sends, the buffered client, and hand-made batches of
//! ten, which are the ceiling. Uses HTTP on loopback, against a server in a separate process.

mod measured;
mod server;
mod ways;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use measured::{Compared, Measured};
use server::Server;
use sqs_benchmarks::arguments::{Arguments, Failed, ended};
use ways::{Bench, How};

const HELP: &str = "\
Compares single sends, the buffered client and batches made by hand.

  --seconds COUNT     how long each row is measured, 3 by default; fractions of one are allowed
  --latency LIST      milliseconds that the server takes for an answer, 0,5,20 by default
  --producers LIST    how many tasks send, 1,64 by default
  --rows TEXT         only rows with this text in their names, and the ceiling
  --svg FILE          also draws messages a second;
                      cargo runs benches in the folder of their package: that is where a relative FILE begins
  --help              this text

Batches by hand are sent by as many tasks as there are producers: the same concurrency, and ten times the messages on their
way that producers have there who await each send; the second row of batches by hand, from a tenth of the tasks, has as many
as these. The buffered client has its default of batches in flight, and in the two last rows as many as there are producers. Where answers are
awaited later, 1,000 messages are on their way, in the last row more than the client has room for, so that producers wait.

The server is sqs-mock-server, which is built if need be; the environment variable BENCH_SERVER names another program that
takes its options and greets like it. The table goes to standard output. CPU is that of this process, user and system, a
message.";

/// Unanswered messages of all producers together, if results are awaited later.
const UNANSWERED: usize = 1000;

struct Options {
    time: Duration,
    latencies: Vec<u64>,
    producers: Vec<usize>,
    rows: String,
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    ended(run(Arguments::of_process()))
}

fn run(mut arguments: Arguments) -> Result<(), Failed> {
    let mut options = Options {
        time: Duration::from_secs(3),
        latencies: vec![0, 5, 20],
        producers: vec![1, 64],
        rows: String::new(),
        svg: None,
    };
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--seconds" => options.time = arguments.seconds()?,
            "--latency" => options.latencies = arguments.numbers(0..=10_000)?,
            "--producers" => options.producers = arguments.numbers(1..=10_000)?,
            "--rows" => options.rows = arguments.value()?,
            "--svg" => options.svg = Some(arguments.output()?),
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            _ => return Err(arguments.unknown(HELP)),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let compared = runtime.block_on(all(&options))?;
    options.svg.map_or(Ok(()), |path| Ok(measured::plot(compared).save(&path)?))
}

async fn all(options: &Options) -> Result<Vec<Compared>, Failed> {
    println!(
        "| Latency | Producers | How | Messages/s | of the ceiling | p50 | p99 | CPU a message | of the ceiling | Entries a request |"
    );
    println!("|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|");
    let mut compared = Vec::new();
    for &latency in &options.latencies {
        let server = Server::start(latency)?;
        let bench = Bench { client: server.client(), time: options.time, body: "x".repeat(1024) };
        for &producers in &options.producers {
            compared.push(compare(&bench, latency, producers, &options.rows).await?);
        }
    }
    Ok(compared)
}

/// Measures the ceiling and each of the rows.
async fn compare(bench: &Bench, latency: u64, producers: usize, only: &str) -> Result<Compared, Failed> {
    let buffered = |window, in_flight| How::Buffered { window, in_flight };
    let share = (UNANSWERED / producers).max(1);
    let rows = [
        ("single sends", How::Singly),
        ("by hand, from a tenth of the tasks", How::ByHand(producers.div_ceil(10))),
        ("buffered, each send awaited", buffered(1, None)),
        ("buffered, answers awaited later", buffered(share, None)),
        ("the same, in flight as by hand", buffered(share, Some(producers))),
        ("the same, waiting for room", buffered(20_000 / producers, Some(producers))),
    ];
    let mut compared = Compared { latency, producers, rates: Vec::new() };
    let mut show = |colour, name, measured: &Measured, ceiling: &Measured| {
        println!("| {latency} ms | {producers} | {name} | {}", measured.cells(ceiling));
        compared.rates.push((name, colour, measured.rate()));
    };
    let ceiling = bench.run(How::ByHand(producers), producers).await?;
    show(0, "batches of ten by hand", &ceiling, &ceiling);
    for (number, (name, how)) in rows.into_iter().enumerate().filter(|(_, (name, _))| name.contains(only)) {
        show(number + 1, name, &bench.run(how, producers).await?, &ceiling);
    }
    Ok(compared)
}
