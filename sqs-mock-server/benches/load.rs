//! Run with: `cargo bench -p sqs-mock-server --bench load -- --seconds 60`
//!
//! Load with faults over sockets, for any duration. Fails if messages are lost, duplicated or reordered.

#[path = "../tests/it/load/mod.rs"]
mod load;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use load::{End, Load, Plan, Tally};
use sqs_benchmarks::arguments::{Arguments, BoxError, exit_code};
use tokio::time::{Instant, MissedTickBehavior};

/// Width of the progress bar in cells.
const WIDTH: usize = 30;

const HELP: &str = "\
Runs producers and consumers on a standard and a FIFO queue of sqs-mock-server, with faults in every operation.

cargo bench -p sqs-mock-server --bench load -- [OPTION..]

  --seconds COUNT       duration of sends, possibly fractional (default: 10); receives continue until the queues are empty
  --messages COUNT      messages per group, instead of --seconds
  --producers COUNT     producers of each queue (default: 4)
  --consumers COUNT     consumers of each queue (default: 8)
  --groups COUNT        message groups of each producer (default: 100)
  --visibility SECONDS  visibility timeout of both queues (default: 2); messages of a lost receive return after it
  --faults SHARE        probability of each of the eleven faults (default: 0.05, maximum: 0.2)
  --seed NUMBER         seed of faults, bodies and ids, to repeat another run (default: random)
  --help                print this help

The table goes to standard output. If messages were lost, duplicated or reordered, the exit status is 1 and the output
lists them.";

fn main() -> ExitCode {
    exit_code(start(Arguments::from_env()))
}

fn start(arguments: Arguments) -> Result<(), BoxError> {
    let Some(plan) = parse(arguments)? else {
        println!("{HELP}");
        return Ok(());
    };
    let table = tokio::runtime::Runtime::new()?.block_on(run(plan))?;
    println!("seed {}, {table}", plan.seed);
    Ok(())
}

/// `None` if help is requested.
fn parse(mut arguments: Arguments) -> Result<Option<Plan>, BoxError> {
    let mut plan = Plan {
        seed: u64::from(std::process::id()),
        producers: 4,
        consumers: 8,
        lanes: 100,
        end: End::After(Duration::from_secs(10)),
        visibility: Duration::from_secs(2),
        overlap: true,
        fault_rate: 0.05,
    };
    let (mut time, mut messages) = (None, None);
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--seconds" => time = Some(arguments.seconds()?),
            "--messages" => messages = Some(arguments.number(1..=1_000_000_000)?),
            "--producers" => plan.producers = arguments.number(1..=1000)?,
            "--consumers" => plan.consumers = arguments.number(1..=1000)?,
            "--groups" => plan.lanes = arguments.number(1..=65_535)?,
            "--visibility" => plan.visibility = Duration::from_secs(arguments.number(1..=43_200)?),
            "--faults" => plan.fault_rate = arguments.number(0.0..=0.2)?,
            "--seed" => plan.seed = arguments.number(0..=u64::MAX)?,
            "--help" | "-h" => return Ok(None),
            _ => return Err(arguments.unknown_option(HELP)),
        }
    }
    plan.end = match (time, messages) {
        (Some(_), Some(_)) => {
            return Err("--seconds and --messages cannot be combined".into());
        }
        (time, None) => time.map_or(plan.end, End::After),
        (None, Some(each)) => End::Messages(each),
    };
    Ok(Some(plan))
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

/// Redraws the progress bar, only on a terminal.
fn show(elapsed: Duration, plan: Plan, tally: Tally) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    let full = cells(elapsed, plan, tally.accepted);
    let bar = format!("{}{}", "#".repeat(full), ".".repeat(WIDTH - full));
    let (seconds, Tally { accepted, arrived, .. }) = (elapsed.as_secs(), tally);
    // Standard error may be closed.
    let _ = write!(std::io::stderr(), "\r[{bar}] {seconds} s  {accepted} sent  {arrived} received ");
}

/// The number of full cells of the bar.
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
