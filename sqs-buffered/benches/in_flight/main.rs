//! Run with: `cargo bench -p sqs-buffered --bench in_flight`
//!
//! Compares the adaptive bound on batches in flight with the best fixed one, over HTTP against a server in a separate
//! process. Also while the service throttles, after it has recovered, and for two queues at a time.

mod load;
#[path = "../throughput/server.rs"]
mod server;

use std::process::ExitCode;
use std::time::Duration;

use load::Load;
use server::Server;
use sqs_benchmarks::arguments::{Arguments, Failed, ended};
use sqs_benchmarks::figures::{cell, median, ratio};
use sqs_buffered::InFlight;

const HELP: &str = "\
Compares the adaptive bound of batches in flight with the best fixed one.

  --seconds COUNT     how long each measurement takes, 2 by default; fractions of one are allowed
  --latency LIST      milliseconds that the server takes for an answer, 0,5,20,100 by default
  --bounds LIST       fixed bounds that are tried, 1,2,4,7,10,15,25,40,60,100 by default
  --rounds COUNT      how often the best bound and the adaptive one are measured in turns, 3 by default; medians are shown,
                      of the ratios with their range
  --allowed PERCENT   what the server allows while it throttles, of the requests a second that it answered before; 30 by default
  --help              this text

64 producers keep 6,400 messages of 1 KiB unanswered. Each measurement begins 2 s after the load (6 s after a change of
the throttling, 4 s after a second queue), so that the adaptive bound has been found. The table goes to standard output.";

struct Options {
    time: Duration,
    latencies: Vec<u64>,
    bounds: Vec<usize>,
    percent: f64,
    rounds: u64,
}

fn main() -> ExitCode {
    ended(run(Arguments::of_process()))
}

fn run(mut arguments: Arguments) -> Result<(), Failed> {
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
            _ => return Err(arguments.unknown(HELP)),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(all(&options))
}

async fn all(options: &Options) -> Result<(), Failed> {
    println!(
        "| Latency | Phase | Best fixed bound | Messages/s | Adaptive | of the best | Half of two queues |"
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
    quiet: f64,
    throttled: f64,
    recovered: f64,
}

/// Finds the best fixed bound first, and then measures it again, alternating with the adaptive one: the best of several
/// noisy measurements is too high.
async fn compare(server: &Server, latency: u64, options: &Options) -> Result<(), Failed> {
    let (mut best, mut bounds) = (Phases::default(), [1; 2]);
    for &bound in &options.bounds {
        let rate = quiet(server, InFlight::Fixed(bound), options).await?;
        if rate > best.quiet {
            (best.quiet, bounds[0]) = (rate, bound);
        }
    }
    let again = quiet(server, InFlight::Fixed(bounds[0]), options).await?;
    let allowed = again / 10.0 * options.percent / 100.0;
    for &bound in &options.bounds {
        let phases = phases(server, InFlight::Fixed(bound), allowed, options).await?;
        if phases.throttled > best.throttled {
            (best.throttled, bounds[1]) = (phases.throttled, bound);
        }
    }
    let (mut fixed, mut throttled, mut adaptive, mut shares) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        fixed.push(phases(server, InFlight::Fixed(bounds[0]), allowed, options).await?);
        adaptive.push(phases(server, InFlight::default(), allowed, options).await?);
        throttled.push(phases(server, InFlight::Fixed(bounds[1]), allowed, options).await?);
        shares.push(share(server, options).await?);
    }
    let row = |phase: &str, bound: usize, best: &[Phases], rate: fn(&Phases) -> f64, share: &[f64]| {
        let rates = |phases: &[Phases]| phases.iter().map(rate).collect::<Vec<_>>();
        let (best, own) = (rates(best), rates(&adaptive));
        let ratios: Vec<_> = own.iter().zip(&best).filter_map(|(own, best)| ratio(*own, *best)).collect();
        let (best, own) = (cell(middle(&best), 0), cell(middle(&own), 0));
        let (of_best, share) = (with_range(&ratios), with_range(share));
        println!("| {latency} ms | {phase} | {bound} | {best} | {own} | {of_best} | {share} |");
    };
    row("quiet", bounds[0], &fixed, |phases| phases.quiet, &shares);
    let phase = format!("throttled to {allowed:.0} requests/s");
    row(&phase, bounds[1], &throttled, |phases| phases.throttled, &[]);
    // Both are measured in the same phase, because the server becomes slower as its queue fills.
    row("recovered", bounds[0], &fixed, |phases| phases.recovered, &[]);
    Ok(())
}

fn middle(figures: &[f64]) -> Option<f64> {
    median(figures.iter().copied(), f64::total_cmp)
}

fn with_range(figures: &[f64]) -> String {
    let least = figures.iter().copied().reduce(f64::min);
    let most = figures.iter().copied().reduce(f64::max);
    if least.is_none() {
        return String::new();
    }
    format!("{} ({} to {})", cell(middle(figures), 2), cell(least, 2), cell(most, 2))
}

async fn quiet(server: &Server, bound: InFlight, options: &Options) -> Result<f64, Failed> {
    let load = Load::start(server.client(), bound, 64).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let rate = load.rate(options.time).await;
    load.stop().await?;
    Ok(rate[0])
}

async fn phases(server: &Server, bound: InFlight, allowed: f64, options: &Options) -> Result<Phases, Failed> {
    let settle = || tokio::time::sleep(Duration::from_secs(6));
    let load = Load::start(server.client(), bound, 64).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let quiet = load.rate(options.time).await[0];
    server.throttle_above(Some(allowed))?;
    settle().await;
    let throttled = load.rate(options.time * 2).await[0];
    server.throttle_above(None)?;
    settle().await;
    let recovered = load.rate(options.time).await[0];
    load.stop().await?;
    Ok(Phases { quiet, throttled, recovered })
}

/// The fraction of messages of the second of two queues. The first one was busy before.
async fn share(server: &Server, options: &Options) -> Result<f64, Failed> {
    let mut load = Load::start(server.client(), InFlight::default(), 32).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    load.add_queue().await?;
    tokio::time::sleep(Duration::from_secs(4)).await;
    let rates = load.rate(options.time).await;
    load.stop().await?;
    Ok(2.0 * rates[1] / (rates[0] + rates[1]))
}
