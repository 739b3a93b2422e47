//! Run with: `cargo bench -p sqs-buffered --bench soak -- --seconds 600`
//!
//! Runs producers and consumers on two standard queues and a FIFO queue while requests fail. Each of ten faults affects one
//! request in twenty, and one standard queue does not respond for a while.
//!
//! Reports lost, duplicated and reordered messages, the effect of the hanging queue on the others, and memory. The server is
//! a separate process.

mod ledger;
mod report;
mod server;
mod traffic;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqs_benchmarks::arguments::{Arguments, BoxError, exit_code};
use sqs_benchmarks::process::{now, resident_bytes};
use sqs_buffered::{BackOff, BufferedClient, BuildError, CancellationToken, Consumer, ReceiveCount};
use sqs_client::Client;
use sqs_client::client::Execute;
use sqs_client::types::{Message, QueueAttributeName};

use ledger::Run;
use report::Memory;
use server::Server;

const HELP: &str = "\
Sends and receives while requests fail, and counts lost, duplicated and reordered messages.

  --seconds COUNT   duration of sends, possibly fractional (default: 60)
  --rate COUNT      messages per second for each of the three queues (default: 1000)
  --hang COUNT      seconds during which one queue does not respond (default: 60, at most a third of the duration)
  --faults SHARE    probability of each fault (default: 0.05)
  --aws-sdk         run over `aws_sdk_sqs::Client` without timeouts, instead of `sqs_client::Client`
  --bad-handlers    one first delivery in 1,000 meets a handler that hangs, panics or ignores its cancellation, one in 100,000 one that blocks
  --seed NUMBER     random seed of the server (default: random)
  --svg FILE        plot memory over time; a relative FILE starts at the directory of the package
  --help            print this help

There are ten kinds of faults, and most of them affect most requests. With the default, about a third of all requests
fail. After three quarters of the time, all requests of one second are never answered, as if their connections had died. The tables go to standard output as Markdown, progress to standard error.

The exit status is 1 if a message was lost, stored twice in the FIFO queue or out of order, if more than 1 % of the sends
failed, or if a queue reached less than 0.8 of its rate while another queue did not respond.";

const PRODUCERS: usize = 8;
const GROUPS: usize = 64;
/// The queue that does not respond for a while.
const HANGING_QUEUE: &str = "soak-hangs";

struct Options {
    time: Duration,
    rate: u32,
    faults: f64,
    hang: Duration,
    seed: Option<u64>,
    svg: Option<PathBuf>,
    /// Internal: this program starts itself with this option.
    serves: bool,
    /// Whether some handlers misbehave.
    has_bad_handlers: bool,
    /// Whether the buffered client and the consumers run over `aws_sdk_sqs::Client`.
    over_aws_sdk: bool,
}

fn main() -> ExitCode {
    exit_code(run(Arguments::from_env()))
}

fn run(mut arguments: Arguments) -> Result<(), BoxError> {
    let mut options = Options {
        time: Duration::from_secs(60),
        rate: 1000,
        faults: 0.05,
        hang: Duration::from_secs(60),
        seed: None,
        svg: None,
        serves: false,
        has_bad_handlers: false,
        over_aws_sdk: false,
    };
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--seconds" => options.time = arguments.seconds()?,
            "--rate" => options.rate = arguments.number(1..=1_000_000)?,
            "--faults" => options.faults = arguments.number(0.0..=0.2)?,
            "--hang" => options.hang = arguments.seconds()?,
            "--seed" => options.seed = Some(arguments.number(0..=u64::MAX)?),
            "--svg" => options.svg = Some(arguments.output()?),
            "--aws-sdk" => options.over_aws_sdk = true,
            "--bad-handlers" => options.has_bad_handlers = true,
            "--serve" => options.serves = true,
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            _ => return Err(arguments.unknown_option(HELP)),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if options.serves {
        return runtime.block_on(server::serve(options.faults, options.seed));
    }
    runtime.block_on(async {
        let server = Server::start(options.faults, options.seed)?;
        if options.over_aws_sdk {
            let client = server.aws_client();
            soak(options, server, client).await
        } else {
            let client = server.client();
            soak(options, server, client).await
        }
    })
}

async fn soak<H: Execute>(options: Options, mut server: Server, below: H) -> Result<(), BoxError> {
    println!("Seed {}; the probability of each fault is {}.\n", server.seed, options.faults);
    let client = server.client();
    let runs = create_queues(&client).await?;
    let buffered = BufferedClient::new(below.clone());
    let (start, stop) = (now(), Arc::new(AtomicBool::new(false)));
    let mut tasks = Vec::new();
    let mut consumers = Vec::new();
    for run in &runs {
        for producer in 0..PRODUCERS {
            let (buffered, run, stop) = (buffered.clone(), Arc::clone(run), Arc::clone(&stop));
            tasks.push(tokio::spawn(traffic::produce(buffered, run, producer, options.rate, stop)));
        }
        let consumer = consumer(below.clone(), run, options.has_bad_handlers)?;
        consumers.push(consumer.clone());
        tokio::spawn(async move { consumer.run().await });
    }
    let mut memory = Vec::new();
    let hang = options.hang.min(options.time / 3);
    let hang_period = Hang { from: options.time.saturating_sub(hang) / 2, time: hang };
    let (mut has_hung, mut has_died) = (false, false);
    while start.elapsed() < options.time {
        if !has_hung && start.elapsed() >= hang_period.from {
            has_hung = true;
            server.hang(HANGING_QUEUE, hang)?;
        }
        if !has_died && start.elapsed() >= options.time * 3 / 4 {
            has_died = true;
            server.hang("*", Duration::from_secs(1))?;
        }
        tokio::time::sleep(Duration::from_secs(1).min(options.time.saturating_sub(start.elapsed()))).await;
        let (clients, server) = (resident_bytes(std::process::id())?, resident_bytes(server.id())?);
        let now = Memory { at: start.elapsed(), clients, server };
        for run in &runs {
            run.note_progress(now.at);
        }
        report::print_progress(&runs, now);
        memory.push(now);
    }
    eprintln!();
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await?;
    }
    buffered.close().await;
    let faults = server.stop_faults()?;
    traffic::drain(&client, &runs).await?;
    for consumer in consumers {
        let report = consumer.shutdown(Duration::from_secs(30)).await?;
        println!("Consumer: `{:?}`\n", report.stats);
    }
    report::print(&runs, &buffered, &memory, &faults, start.elapsed());
    if let Some(path) = &options.svg {
        report::plot(&memory).save(path)?;
    }
    report::print_hang(&runs, &hang_period);
    let slowed = runs.iter().filter(|run| hang_period.rate(run).is_some_and(|share| share < 0.8)).count();
    let violations = runs.iter().map(|run| run.violations()).sum::<usize>() + slowed;
    if violations == 0 { Ok(()) } else { Err(format!("{violations} violations; see the tables").into()) }
}

/// The period without responses of one queue.
pub(crate) struct Hang {
    from: Duration,
    time: Duration,
}

impl Hang {
    /// The rate of another queue during the period, relative to before. `None` for the hanging queue itself.
    pub(crate) fn rate(&self, run: &Run) -> Option<f64> {
        let second = Duration::from_secs(1);
        let before = run.rate(second, self.from)?;
        let during = run.rate(self.from + second, self.from + self.time)?;
        (!run.url.ends_with(HANGING_QUEUE)).then_some(during / before)
    }
}

/// Creates two standard queues and a FIFO queue.
async fn create_queues(client: &Client) -> Result<Vec<Arc<Run>>, BoxError> {
    let mut runs = Vec::new();
    for name in ["soak", "soak.fifo", HANGING_QUEUE] {
        let fifo = name.ends_with(".fifo").then(|| (QueueAttributeName::FifoQueue, "true".to_owned()));
        let create = client.create_queue().queue_name(name).set_attributes(Some(fifo.into_iter().collect()));
        runs.push(Run::new(create.send().await?.queue_url.unwrap_or_default()));
    }
    Ok(runs)
}

/// A consumer that records each message in the ledger and deletes it.
fn consumer<H: Execute>(client: H, run: &Arc<Run>, is_bad: bool) -> Result<Consumer<H>, BuildError> {
    let ledger = Arc::clone(run);
    let builder = Consumer::builder(client, &run.url).concurrency(256).prefetch(256);
    // Backed off so that messages behind them in their groups do not wait for long.
    let builder =
        builder.handler_timeout(Duration::from_secs(2)).back_off(BackOff::Fixed(Duration::from_secs(1)));
    builder
        .handler(move |message: Arc<Message>, count: ReceiveCount, cancelled: CancellationToken| {
            let ledger = Arc::clone(&ledger);
            async move {
                if is_bad && count.0 == 1 {
                    misbehave(fastrand::u32(..100_000), cancelled).await;
                }
                ledger.received(&message);
            }
        })
        .build()
}

/// A bad number is one in a thousand. A blocked thread holds up all that runs on it, so there are few.
async fn misbehave(number: u32, cancelled: CancellationToken) {
    match number {
        0..25 => std::future::pending().await,
        // Longer than the timeout of a handler.
        25 => std::thread::sleep(Duration::from_millis(2_500)),
        26..75 => panic!("one of the bad handlers"),
        75..100 => {
            cancelled.cancelled().await;
            tokio::time::sleep(Duration::from_secs(3_600)).await;
        }
        _ => {}
    }
}
