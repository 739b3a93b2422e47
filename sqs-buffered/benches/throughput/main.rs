//! Run with: `cargo bench -p sqs-buffered --bench throughput`
//!
//! Measures the throughput and latency of single sends and of the buffered client. The ceiling is manual batches of ten. The
//! server is a separate process.

mod measured;
mod methods;
mod server;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use measured::{Compared, Measured};
use methods::{Bench, Method};
use server::Server;
use sqs_benchmarks::arguments::{Arguments, BoxError, exit_code};

const HELP: &str = "\
Compares single sends, the buffered client and manual batches.

  --seconds COUNT     duration of each row, possibly fractional (default: 3)
  --latency LIST      response times of the server in milliseconds (default: 0,5,20)
  --producers LIST    numbers of producer tasks (default: 1,64)
  --rows TEXT         only rows with this text in their names, and the ceiling
  --svg FILE          plot messages per second; a relative FILE starts at the directory of the package
  --help              print this help

The ceiling is manual batches of ten with as many tasks as producers. That is ten times as many pending messages as
producers that await each send. The second row of manual batches has a tenth of the tasks, and so as many pending messages
as those producers. The buffered client uses its default limit of batches in flight, and in the last two rows a limit
equal to the number of producers. Rows with receipts awaited later keep 1,000 messages pending. The last row keeps more
than the capacity of the client, so that producers wait.

The server is sqs-mock-server, which is built if necessary. The environment variable BENCH_SERVER selects another program
with the same options and the same first line of output. The table goes to standard output. CPU is the user and system
time of this process per message.";

/// Pending messages of all producers, for rows with receipts awaited later.
const PENDING: usize = 1000;

struct Options {
    time: Duration,
    latencies: Vec<u64>,
    producers: Vec<usize>,
    rows: String,
    svg: Option<PathBuf>,
}

fn main() -> ExitCode {
    exit_code(run(Arguments::from_env()))
}

fn run(mut arguments: Arguments) -> Result<(), BoxError> {
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
            _ => return Err(arguments.unknown_option(HELP)),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let compared = runtime.block_on(compare_all(&options))?;
    options.svg.map_or(Ok(()), |path| Ok(measured::plot(compared).save(&path)?))
}

async fn compare_all(options: &Options) -> Result<Vec<Compared>, BoxError> {
    println!(
        "| Latency | Producers | Method | Messages/s | of the ceiling | p50 | p99 | CPU per message | of the ceiling | Entries per request |"
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

/// Measures the ceiling and the other rows.
async fn compare(bench: &Bench, latency: u64, producers: usize, only: &str) -> Result<Compared, BoxError> {
    let buffered = |window, in_flight| Method::Buffered { window, in_flight };
    let share = (PENDING / producers).max(1);
    let rows = [
        ("single sends", Method::SingleSends),
        ("manual batches, a tenth of the tasks", Method::ManualBatches(producers.div_ceil(10))),
        ("buffered, each send awaited", buffered(1, None)),
        ("buffered, receipts awaited later", buffered(share, None)),
        ("the same, batches in flight as manual", buffered(share, Some(producers))),
        ("the same, producers wait for capacity", buffered(20_000 / producers, Some(producers))),
    ];
    let mut compared = Compared { latency, producers, rates: Vec::new() };
    let mut show = |colour, name, measured: &Measured, ceiling: &Measured| {
        println!("| {latency} ms | {producers} | {name} | {}", measured.cells(ceiling));
        compared.rates.push((name, colour, measured.rate()));
    };
    let ceiling = bench.run(Method::ManualBatches(producers), producers).await?;
    show(0, "manual batches of ten", &ceiling, &ceiling);
    for (number, (name, method)) in rows.into_iter().enumerate().filter(|(_, (name, _))| name.contains(only))
    {
        show(number + 1, name, &bench.run(method, producers).await?, &ceiling);
    }
    Ok(compared)
}
