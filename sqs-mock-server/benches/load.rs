//! Load with faults over sockets, for as long as you like: what was lost, doubled or disordered ends it with an error.
//!
//! Run with: `cargo bench -p sqs-mock-server --bench load -- --seconds 60`

#[path = "../tests/it/load/mod.rs"]
mod load;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use load::{End, Load, Plan, Tally};
use tokio::time::{Instant, MissedTickBehavior};

/// Cells of the progress bar.
const WIDTH: usize = 30;

/// Producers and consumers on a standard and on a FIFO queue, with faults at every turn. Prints a table, or what was
/// lost, doubled or disordered; then the exit status is 1.
#[derive(Debug, Parser)]
struct Arguments {
    /// How long producers send; what is on its way then is received all the same.
    #[arg(long, default_value_t = 10, value_name = "COUNT")]
    seconds: u64,
    /// Messages of each group, whatever time that takes.
    #[arg(long, conflicts_with = "seconds", value_name = "COUNT")]
    messages: Option<u64>,
    /// Producers of each queue.
    #[arg(long, default_value_t = 4, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    producers: u16,
    /// Consumers of each queue.
    #[arg(long, default_value_t = 8, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    consumers: u16,
    /// Message groups of each producer.
    #[arg(long, default_value_t = 100, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    groups: u16,
    /// Visibility timeout of both queues: what a lost receive took with it comes back after that.
    #[arg(long, default_value_t = 2, value_name = "SECONDS", value_parser = clap::value_parser!(u16).range(1..=43200))]
    visibility: u16,
    /// Probability of each of the eleven faults, 0 to 0.2.
    #[arg(long, default_value_t = 0.05, value_name = "PROBABILITY", value_parser = probability)]
    faults: f64,
    /// Repeats the faults, bodies and ids of another run; a random one by default.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Given by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

fn probability(text: &str) -> Result<f64, String> {
    let probability = text.parse().ok().filter(|probability| (0.0..=0.2).contains(probability));
    probability.ok_or_else(|| "it must be a number from 0 to 0.2: more, and no request succeeds".to_owned())
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let plan = Plan {
        seed: arguments.seed.unwrap_or_else(|| u64::from(std::process::id())),
        producers: arguments.producers.into(),
        consumers: arguments.consumers.into(),
        lanes: arguments.groups.into(),
        end: arguments.messages.map_or(End::After(Duration::from_secs(arguments.seconds)), End::Messages),
        visibility: Duration::from_secs(arguments.visibility.into()),
        overlap: true,
        misfortune: arguments.faults,
    };
    let runtime = tokio::runtime::Runtime::new();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(run(plan)),
        Err(error) => Err(format!("no runtime: {error}")),
    };
    match outcome {
        Ok(table) => {
            println!("seed {}, {table}", plan.seed);
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::FAILURE
        }
    }
}

async fn run(plan: Plan) -> Result<load::Report, String> {
    let load = Load::start(plan).await;
    let started = Instant::now();
    let mut tick = tokio::time::interval(Duration::from_millis(250));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut running = std::pin::pin!(load.run());
    loop {
        tokio::select! {
            outcome = running.as_mut() => {
                clear_line();
                return outcome;
            }
            _ = tick.tick() => show(started.elapsed(), plan, load.progress()),
        }
    }
}

/// Draws the bar over itself; a log file gets none.
fn show(elapsed: Duration, plan: Plan, tally: Tally) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    let full = cells(elapsed, plan, tally.accepted);
    let bar = format!("{}{}", "#".repeat(full), ".".repeat(WIDTH - full));
    let (seconds, Tally { accepted, arrived, .. }) = (elapsed.as_secs(), tally);
    // Nobody reads it when standard error is closed.
    let _ = write!(std::io::stderr(), "\r[{bar}] {seconds} s  {accepted} sent  {arrived} received ");
}

/// How many cells of the bar are full.
fn cells(elapsed: Duration, plan: Plan, accepted: u64) -> usize {
    let lanes = 2 * plan.producers * plan.lanes;
    let (done, all) = match plan.end {
        End::After(duration) => (elapsed.as_millis(), duration.as_millis()),
        End::Messages(each) => (accepted.into(), u128::from(each) * lanes as u128),
    };
    usize::try_from(done * WIDTH as u128 / all.max(1)).map_or(WIDTH, |cells| cells.min(WIDTH))
}

fn clear_line() {
    if std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
}
