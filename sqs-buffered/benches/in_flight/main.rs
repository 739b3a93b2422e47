//! Run with: `cargo bench -p sqs-buffered --bench in_flight`
//!
//! Compares the adaptive limit of batches in flight with the best fixed limit: without throttling, while the service
//! throttles, after it has recovered, and for two queues. The server is a separate process.

mod load;
#[path = "../throughput/server.rs"]
mod server;

use std::process::ExitCode;
use std::time::Duration;

use load::Load;
use server::Server;
use sqs_benchmarks::arguments::{Arguments, BoxError, exit_code};
use sqs_benchmarks::figures::{cell, median, ratio};
use sqs_buffered::InFlight;

const HELP: &str = "\
Compares the adaptive limit of batches in flight with the best fixed limit.

  --seconds COUNT     duration of each measurement, possibly fractional (default: 2)
  --latency LIST      response times of the server in milliseconds (default: 0,5,20,100)
  --bounds LIST       fixed limits to try (default: 1,2,4,7,10,15,25,40,60,100)
  --rounds COUNT      rounds that alternate between the best limit and the adaptive one (default: 3); the table has medians,
                      and the range of ratios
  --allowed PERCENT   requests per second that the server allows while it throttles, relative to before (default: 30)
  --help              print this help

64 producers keep 6,400 messages of 1 KiB pending. Each measurement starts 2 s after the load, so that the adaptive limit has
settled: 6 s after a change of the throttling, 4 s after a second queue. The table goes to standard output.";

struct Options {
    time: Duration,
    latencies: Vec<u64>,
    bounds: Vec<usize>,
    percent: f64,
    rounds: u64,
}

fn main() -> ExitCode {
    exit_code(run(Arguments::from_env()))
}

fn run(mut arguments: Arguments) -> Result<(), BoxError> {
    let mut options = Options {
        time: Duration::from_secs(2),
        latencies: vec![0, 5, 20, 100],
        bounds: vec![1, 2, 4, 7, 10, 15, 25, 40, 60, 100],
        percent: 30.0,
        rounds: 3,
    };
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--seconds" => options.time = arguments.seconds()?,
            "--latency" => options.latencies = arguments.numbers(0..=10_000)?,
            "--bounds" => options.bounds = arguments.numbers(1..=10_000)?,
            "--rounds" => options.rounds = arguments.number(1..=100)?,
            "--allowed" => options.percent = arguments.number(1.0..=100.0)?,
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            _ => return Err(arguments.unknown_option(HELP)),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(compare_all(&options))
}

async fn compare_all(options: &Options) -> Result<(), BoxError> {
    println!(
        "| Latency | Phase | Best fixed limit | Messages/s | Adaptive | of the best | Share of second queue |"
    );
    println!("|--:|---|--:|--:|--:|--:|--:|");
    for &latency in &options.latencies {
        let server = Server::start(latency)?;
        compare(&server, latency, options).await?;
    }
    Ok(())
}

/// Messages per second in each phase.
#[derive(Clone, Copy, Default)]
struct Phases {
    unthrottled: f64,
    throttled: f64,
    recovered: f64,
}

/// Finds the best fixed limit, then measures it again in alternation with the adaptive one, because the best of several noisy
/// measurements is too good.
async fn compare(server: &Server, latency: u64, options: &Options) -> Result<(), BoxError> {
    let (mut best, mut best_limits) = (Phases::default(), [1; 2]);
    for &bound in &options.bounds {
        let rate = unthrottled_rate(server, InFlight::Fixed(bound), options).await?;
        if rate > best.unthrottled {
            (best.unthrottled, best_limits[0]) = (rate, bound);
        }
    }
    let rate = unthrottled_rate(server, InFlight::Fixed(best_limits[0]), options).await?;
    let allowed = rate / 10.0 * options.percent / 100.0;
    for &bound in &options.bounds {
        let phases = phases(server, InFlight::Fixed(bound), allowed, options).await?;
        if phases.throttled > best.throttled {
            (best.throttled, best_limits[1]) = (phases.throttled, bound);
        }
    }
    let (mut fixed, mut throttled, mut adaptive, mut shares) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        fixed.push(phases(server, InFlight::Fixed(best_limits[0]), allowed, options).await?);
        adaptive.push(phases(server, InFlight::default(), allowed, options).await?);
        throttled.push(phases(server, InFlight::Fixed(best_limits[1]), allowed, options).await?);
        shares.push(share_of_second_queue(server, options).await?);
    }
    let row = |phase: &str, limit: usize, best: &[Phases], rate: fn(&Phases) -> f64, shares: &[f64]| {
        let rates = |phases: &[Phases]| phases.iter().map(rate).collect::<Vec<_>>();
        let (best, adaptive) = (rates(best), rates(&adaptive));
        let ratios: Vec<_> =
            adaptive.iter().zip(&best).filter_map(|(adaptive, best)| ratio(*adaptive, *best)).collect();
        let (best, adaptive) = (cell(median_of(&best), 0), cell(median_of(&adaptive), 0));
        let (of_best, share) = (with_range(&ratios), with_range(shares));
        println!("| {latency} ms | {phase} | {limit} | {best} | {adaptive} | {of_best} | {share} |");
    };
    row("unthrottled", best_limits[0], &fixed, |phases| phases.unthrottled, &shares);
    let phase = format!("throttled to {allowed:.0} requests/s");
    row(&phase, best_limits[1], &throttled, |phases| phases.throttled, &[]);
    // Compares within the phase, because the server becomes slower as its queue grows.
    row("recovered", best_limits[0], &fixed, |phases| phases.recovered, &[]);
    Ok(())
}

fn median_of(figures: &[f64]) -> Option<f64> {
    median(figures.iter().copied(), f64::total_cmp)
}

fn with_range(figures: &[f64]) -> String {
    let min = figures.iter().copied().reduce(f64::min);
    let max = figures.iter().copied().reduce(f64::max);
    if min.is_none() {
        return String::new();
    }
    format!("{} ({} to {})", cell(median_of(figures), 2), cell(min, 2), cell(max, 2))
}

async fn unthrottled_rate(server: &Server, bound: InFlight, options: &Options) -> Result<f64, BoxError> {
    let load = Load::start(server.client(), bound, 64).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let rate = load.rate(options.time).await;
    load.stop().await?;
    Ok(rate[0])
}

async fn phases(
    server: &Server,
    bound: InFlight,
    allowed: f64,
    options: &Options,
) -> Result<Phases, BoxError> {
    let settle = || tokio::time::sleep(Duration::from_secs(6));
    let load = Load::start(server.client(), bound, 64).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let unthrottled = load.rate(options.time).await[0];
    server.throttle_above(Some(allowed))?;
    settle().await;
    let throttled = load.rate(options.time * 2).await[0];
    server.throttle_above(None)?;
    settle().await;
    let recovered = load.rate(options.time).await[0];
    load.stop().await?;
    Ok(Phases { unthrottled, throttled, recovered })
}

/// Twice the share of the second queue in the messages of both, so 1 is fair. The first queue starts earlier.
async fn share_of_second_queue(server: &Server, options: &Options) -> Result<f64, BoxError> {
    let mut load = Load::start(server.client(), InFlight::default(), 32).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    load.add_queue().await?;
    tokio::time::sleep(Duration::from_secs(4)).await;
    let rates = load.rate(options.time).await;
    load.stop().await?;
    Ok(2.0 * rates[1] / (rates[0] + rates[1]))
}
