//! Run with: `cargo bench -p sqs-buffered --bench soak -- --seconds 600`
//!
//! Producers and consumers on a standard and a FIFO queue, over sockets, while one request in twenty goes wrong in each of
//! ten ways. Says at the end whether anything was lost, came twice out of a FIFO queue's deduplication, or came out of
//! order, and how much memory the process had on its way.

mod ledger;

use std::collections::VecDeque;
use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sqs_buffered::{BufferedClient, Consumer, Entry, Outcome};
use sqs_client::service_error::ErrorCode;
use sqs_client::types::QueueAttributeName;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;

use ledger::Run;

const HELP: &str = "\
Sends and receives while requests go wrong, and counts what is lost.

  --seconds COUNT   how long producers send, 60 by default
  --rate COUNT      messages a second for each of the two queues, 1000 by default
  --faults SHARE    share of requests that each fault strikes, 0.05 by default
  --seed NUMBER     of the server's chance
  --help            this text

Exits with 1 when a message was lost, stored twice on the FIFO queue, or out of order, or when more than one send in a
hundred failed for good.";

const PRODUCERS: usize = 8;
const GROUPS: usize = 64;

type Failed = Box<dyn Error + Send + Sync>;

struct Options {
    seconds: u64,
    rate: u32,
    faults: f64,
    seed: Option<u64>,
}

fn main() -> Result<(), Failed> {
    let mut options = Options { seconds: 60, rate: 1000, faults: 0.05, seed: None };
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value"));
        match argument.as_str() {
            "--seconds" => options.seconds = value()?.parse()?,
            "--rate" => options.rate = value()?.parse::<u32>()?.max(1),
            "--faults" => options.faults = value()?.parse()?,
            "--seed" => options.seed = Some(value()?.parse()?),
            "--help" => {
                println!("{HELP}");
                return Ok(());
            }
            other => return Err(format!("unknown option {other}; --help says which there are").into()),
        }
    }
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(soak(options))
}

async fn soak(options: Options) -> Result<(), Failed> {
    let mut builder = MockSqs::builder();
    if let Some(seed) = options.seed {
        builder = builder.seed(seed);
    }
    let server = builder.start().await?;
    println!("server {}, seed {}", server.endpoint_url(), server.seed());
    let mut config = server.client_config();
    config.set_transport(None);
    let client = sqs_client::Client::from_conf(config.build());
    let mut runs = Vec::new();
    for name in ["soak", "soak.fifo"] {
        let fifo = name.ends_with(".fifo").then(|| (QueueAttributeName::FifoQueue, "true".to_owned()));
        let create = client.create_queue().queue_name(name).set_attributes(Some(fifo.into_iter().collect()));
        runs.push(Run::new(create.send().await?.queue_url.unwrap_or_default()));
    }
    let faults = misfortune(&server, options.faults);
    let buffered = BufferedClient::new(client.clone());
    let (start, stop) = (now(), Arc::new(AtomicBool::new(false)));
    let mut tasks = Vec::new();
    let mut consumers = Vec::new();
    for run in &runs {
        for producer in 0..PRODUCERS {
            tasks.push(tokio::spawn(produce(
                buffered.clone(),
                Arc::clone(run),
                producer,
                options.rate,
                Arc::clone(&stop),
            )));
        }
        let ledger = Arc::clone(run);
        let consumer = Consumer::builder(client.clone(), &run.url)
            .concurrency(256)
            .prefetch(256)
            .handler(move |message, _lease| {
                ledger.received(&message);
                async { Ok(Outcome::Ack) }
            })
            .build();
        consumers.push(consumer.clone());
        tokio::spawn(async move { consumer.run().await });
    }
    let mut memory = Vec::new();
    for _ in 0..options.seconds {
        tokio::time::sleep(Duration::from_secs(1)).await;
        memory.push(resident()?);
        show(&runs, start, memory.last().copied().unwrap_or_default());
    }
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await?;
    }
    buffered.close().await;
    server.faults().clear();
    drain(&server, &runs).await;
    println!();
    for consumer in consumers {
        let report = consumer.shutdown(Duration::from_secs(30)).await?;
        println!("consumer: {:?}", report.stats);
    }
    report(&runs, &buffered, &memory, start.elapsed());
    for (name, fault) in faults {
        println!("{:>9} times  {name}", fault.hits());
    }
    let wrong = runs.iter().map(|run| run.wrong()).sum::<usize>();
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} things went wrong").into()) }
}

fn misfortune(server: &MockSqs, share: f64) -> Vec<(&'static str, sqs_mock_server::faults::InjectedFault)> {
    let kinds = [
        ("latency up to 20 ms", Fault::latency_between(Duration::ZERO, Duration::from_millis(20))),
        ("throttled", Fault::throttle()),
        ("error 500", Fault::error(ErrorCode::InternalFailure)),
        ("status 503 of a proxy", Fault::status(503, "busy")),
        ("reset before", Fault::reset_before()),
        ("reset after", Fault::reset_after()),
        ("answer truncated", Fault::truncate()),
        ("entry failed", Fault::fail_entries(ErrorCode::InternalFailure)),
        ("entry not mentioned", Fault::omit_entries()),
        ("delivered again", Fault::redeliver()),
    ];
    let inject = |(name, fault): (_, Fault)| (name, server.faults().inject(fault.probability(share)));
    kinds.into_iter().map(inject).collect()
}

/// Sends numbered messages at its share of the rate, those of its own groups in order.
async fn produce(buffered: BufferedClient, run: Arc<Run>, producer: usize, rate: u32, stop: Arc<AtomicBool>) {
    let mut number = 0;
    let mut tickets = VecDeque::new();
    let share = u32::try_from(PRODUCERS).unwrap_or(1);
    let mut pace = tokio::time::interval(Duration::from_secs(1) * share / rate);
    while !stop.load(Ordering::Relaxed) {
        pace.tick().await;
        number += 1;
        let group = producer + PRODUCERS * (number % (GROUPS / PRODUCERS));
        let entry = Entry::new(&run.url, format!("{group}:{number}"));
        let entry = if run.fifo { entry.message_group_id(group.to_string()) } else { entry };
        match buffered.enqueue(entry).await {
            Ok(ticket) => tickets.push_back((number, ticket)),
            Err(_) => run.failed(producer, number),
        }
        while tickets.len() > 200 {
            settle(&run, producer, tickets.pop_front()).await;
        }
    }
    while !tickets.is_empty() {
        settle(&run, producer, tickets.pop_front()).await;
    }
}

async fn settle(
    run: &Run,
    producer: usize,
    sent: Option<(usize, sqs_buffered::Ticket<sqs_buffered::SendReceipt>)>,
) {
    let Some((number, ticket)) = sent else { return };
    match ticket.await {
        Ok(_) => run.accepted(producer, number),
        Err(_) => run.failed(producer, number),
    }
}

/// Waits until the queues are empty, or until a minute has passed without one message less.
async fn drain(server: &MockSqs, runs: &[Arc<Run>]) {
    let (mut least, mut patience) = (usize::MAX, 0);
    while patience < 600 {
        let counts = runs.iter().filter_map(|run| {
            let name = run.url.rsplit('/').next().unwrap_or_default();
            server.queue(name).counts()
        });
        let left: usize = counts.map(|counts| counts.available + counts.in_flight + counts.delayed).sum();
        if left == 0 {
            return;
        }
        patience = if left < least { 0 } else { patience + 1 };
        least = least.min(left);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn show(runs: &[Arc<Run>], start: Instant, resident: u64) {
    print!("\r{:>5} s", start.elapsed().as_secs());
    for run in runs {
        let (accepted, open) = (run.accepted.load(Ordering::Relaxed), run.lost());
        print!(
            "   {}: {accepted} accepted, {open} not received yet",
            if run.fifo { "FIFO" } else { "standard" }
        );
    }
    print!("   {} MiB ", resident >> 20);
    // Whoever closed standard output does not want to see it.
    let _ = std::io::stdout().flush();
}

fn report(runs: &[Arc<Run>], buffered: &BufferedClient, memory: &[u64], took: Duration) {
    println!("\n| Queue | Accepted | Failed | Deliveries | Lost | Stored twice | Out of order |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for run in runs {
        let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let name = if run.fifo { "FIFO" } else { "standard" };
        let twice = if run.fifo { read(&run.stored_twice).to_string() } else { "-".to_owned() };
        let order = if run.fifo { read(&run.out_of_order).to_string() } else { "-".to_owned() };
        let (accepted, failed, deliveries) = (read(&run.accepted), read(&run.failed), read(&run.deliveries));
        println!("| {name} | {accepted} | {failed} | {deliveries} | {} | {twice} | {order} |", run.lost());
    }
    let at =
        |share: usize| memory.get(memory.len().saturating_sub(1) * share / 4).map_or(0, |bytes| bytes >> 20);
    println!("\n{:?}, in {} s", buffered.stats(), took.as_secs());
    println!(
        "memory after a quarter, a half, three quarters, at the end: {} {} {} {} MiB",
        at(1),
        at(2),
        at(3),
        at(4)
    );
}

#[expect(clippy::disallowed_methods, reason = "this measures real time")]
fn now() -> Instant {
    Instant::now()
}

/// Resident memory of this process, where `/proc` tells it.
fn resident() -> Result<u64, Failed> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = text.split_whitespace().nth(1).ok_or("no resident pages")?.parse()?;
    Ok(pages * 4096)
}
