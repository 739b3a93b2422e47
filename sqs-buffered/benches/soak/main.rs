//! Run with: `cargo bench -p sqs-buffered --bench soak -- --seconds 600`
//!
//! Producers and consumers on two standard queues and a FIFO queue, over sockets. One request in twenty fails in each
//! of ten ways, and one standard queue hangs in the middle. At the end, reports whether messages were lost, duplicated
//! on the FIFO queue or reordered, whether the hanging queue delayed the others, and the memory of clients and server.
//! The server runs in a separate process.

mod ledger;
mod report;
mod server;
mod traffic;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqs_benchmarks::arguments::{Arguments, Failed, ended};
use sqs_benchmarks::process::{now, resident};
use sqs_buffered::{BufferedClient, BuildError, Consumer, Outcome};
use sqs_client::Client;
use sqs_client::types::QueueAttributeName;

use ledger::Run;
use report::Memory;
use server::Server;

const HELP: &str = "\
Sends and receives while requests go wrong, and counts what is lost.

  --seconds COUNT   how long producers send, 60 by default; fractions of one are allowed
  --rate COUNT      messages a second for each of the three queues, 1000 by default
  --hang COUNT      how many seconds one of the queues hangs in the middle, 60 by default but not more than a third of the time
  --faults SHARE    share of requests that each fault strikes, 0.05 by default
  --seed NUMBER     of the server's chance; a random one by default
  --svg FILE        also draws memory over time;
                    cargo runs benches in the folder of their package: that is where a relative FILE begins
  --help            this text

There are ten kinds of faults, most of which strike most requests: with the default, about a third of all requests fail. The
tables go to standard output as Markdown, what is going on to standard error.

Exits with 1 when a message was lost, stored twice on the FIFO queue, or out of order, when more than one send in a
hundred failed for good, or when a queue reached less than 0.8 of its rate while another one hung.";

const PRODUCERS: usize = 8;
const GROUPS: usize = 64;
/// The queue that hangs.
const HANGS: &str = "soak-hangs";

struct Options {
    time: Duration,
    rate: u32,
    faults: f64,
    hang: Duration,
    seed: Option<u64>,
    svg: Option<PathBuf>,
    /// Internal: this program starts itself with this option.
    serves: bool,
}

fn main() -> ExitCode {
    ended(run(Arguments::of_process()))
}

fn run(mut arguments: Arguments) -> Result<(), Failed> {
    let mut options = Options {
        time: Duration::from_secs(60),
        rate: 1000,
        faults: 0.05,
        hang: Duration::from_secs(60),
        seed: None,
        svg: None,
        serves: false,
    };
    while let Some(option) = arguments.option() {
        match option.as_str() {
            "--seconds" => options.time = arguments.seconds()?,
            "--rate" => options.rate = arguments.number(1..=1_000_000)?,
            "--faults" => options.faults = arguments.number(0.0..=0.2)?,
            "--hang" => options.hang = arguments.seconds()?,
            "--seed" => options.seed = Some(arguments.number(0..=u64::MAX)?),
            "--svg" => options.svg = Some(arguments.output()?),
            "--serve" => options.serves = true,
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            _ => return Err(arguments.unknown(HELP)),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if options.serves {
        return runtime.block_on(server::serve(options.faults, options.seed));
    }
    runtime.block_on(soak(options))
}

async fn soak(options: Options) -> Result<(), Failed> {
    let mut server = Server::start(options.faults, options.seed)?;
    println!("Seed {}; each kind of fault strikes {} of the requests.\n", server.seed, options.faults);
    let client = server.client();
    let runs = queues(&client).await?;
    let buffered = BufferedClient::new(client.clone());
    let (start, stop) = (now(), Arc::new(AtomicBool::new(false)));
    let mut tasks = Vec::new();
    let mut consumers = Vec::new();
    for run in &runs {
        for producer in 0..PRODUCERS {
            let (buffered, run, stop) = (buffered.clone(), Arc::clone(run), Arc::clone(&stop));
            tasks.push(tokio::spawn(traffic::produce(buffered, run, producer, options.rate, stop)));
        }
        let consumer = consumer(client.clone(), run)?;
        consumers.push(consumer.clone());
        tokio::spawn(async move { consumer.run().await });
    }
    let mut memory = Vec::new();
    let hang = options.hang.min(options.time / 3);
    let hangs = Hang { from: options.time.saturating_sub(hang) / 2, time: hang };
    let mut has_hung = false;
    while start.elapsed() < options.time {
        if !has_hung && start.elapsed() >= hangs.from {
            has_hung = true;
            server.hang(HANGS, hang)?;
        }
        tokio::time::sleep(Duration::from_secs(1).min(options.time.saturating_sub(start.elapsed()))).await;
        let (clients, server) = (resident(std::process::id())?, resident(server.id())?);
        let now = Memory { at: start.elapsed(), clients, server };
        for run in &runs {
            run.note_progress(now.at);
        }
        report::show(&runs, now);
        memory.push(now);
    }
    eprintln!();
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await?;
    }
    buffered.close().await;
    let faults = server.calm()?;
    traffic::drain(&client, &runs).await?;
    for consumer in consumers {
        let report = consumer.shutdown(Duration::from_secs(30)).await?;
        println!("Consumer: `{:?}`\n", report.stats);
    }
    report::print(&runs, &buffered, &memory, &faults, start.elapsed());
    if let Some(path) = &options.svg {
        report::plot(&memory).save(path)?;
    }
    report::print_hang(&runs, &hangs);
    let held_up = runs.iter().filter(|run| hangs.rate(run).is_some_and(|share| share < 0.8)).count();
    let wrong = runs.iter().map(|run| run.wrong()).sum::<usize>() + held_up;
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} things went wrong").into()) }
}

/// The period in which a queue hangs.
pub(crate) struct Hang {
    from: Duration,
    time: Duration,
}

impl Hang {
    /// The rate of another queue meanwhile, relative to the rate before; `None` for the queue that hangs.
    pub(crate) fn rate(&self, run: &Run) -> Option<f64> {
        let second = Duration::from_secs(1);
        let before = run.rate(second, self.from)?;
        let meanwhile = run.rate(self.from + second, self.from + self.time)?;
        (!run.url.ends_with(HANGS)).then_some(meanwhile / before)
    }
}

/// Two standard queues and a FIFO queue.
async fn queues(client: &Client) -> Result<Vec<Arc<Run>>, Failed> {
    let mut runs = Vec::new();
    for name in ["soak", "soak.fifo", HANGS] {
        let fifo = name.ends_with(".fifo").then(|| (QueueAttributeName::FifoQueue, "true".to_owned()));
        let create = client.create_queue().queue_name(name).set_attributes(Some(fifo.into_iter().collect()));
        runs.push(Run::new(create.send().await?.queue_url.unwrap_or_default()));
    }
    Ok(runs)
}

/// Receives messages, records them and deletes them.
fn consumer(client: Client, run: &Arc<Run>) -> Result<Consumer, BuildError> {
    let ledger = Arc::clone(run);
    Consumer::builder(client, &run.url)
        .concurrency(256)
        .prefetch(256)
        .message_handler(move |message, _lease| {
            ledger.received(&message);
            async { Ok(Outcome::Ack) }
        })
        .build()
}
