//! Run with: `cargo bench -p sqs-buffered --bench soak -- --seconds 600`
//!
//! Producers and consumers on a standard and a FIFO queue, over sockets, while one request in twenty goes wrong in each of
//! ten ways. Says at the end whether anything was lost, came twice out of a FIFO queue's deduplication, or came out of
//! order, and how much memory clients and server had on their way. The server is a process of its own.

mod ledger;
mod server;

use std::collections::VecDeque;
use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sqs_buffered::{BufferedClient, Consumer, Entry, Outcome};
use sqs_client::Client;
use sqs_client::types::QueueAttributeName;

use ledger::Run;
use server::Server;

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
    /// Only this program asks itself for it.
    serves: bool,
}

fn main() -> Result<(), Failed> {
    let mut options = Options { seconds: 60, rate: 1000, faults: 0.05, seed: None, serves: false };
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value"));
        match argument.as_str() {
            "--seconds" => options.seconds = value()?.parse()?,
            "--rate" => options.rate = value()?.parse::<u32>()?.max(1),
            "--faults" => options.faults = value()?.parse()?,
            "--seed" => options.seed = Some(value()?.parse()?),
            "--serve" => options.serves = true,
            "--help" => {
                println!("{HELP}");
                return Ok(());
            }
            other => return Err(format!("unknown option {other}; --help says which there are").into()),
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
    println!("server {}, seed {}", server.url, server.seed);
    let client = server.client();
    let mut runs = Vec::new();
    for name in ["soak", "soak.fifo"] {
        let fifo = name.ends_with(".fifo").then(|| (QueueAttributeName::FifoQueue, "true".to_owned()));
        let create = client.create_queue().queue_name(name).set_attributes(Some(fifo.into_iter().collect()));
        runs.push(Run::new(create.send().await?.queue_url.unwrap_or_default()));
    }
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
        let now = [resident(std::process::id())?, resident(server.id())?];
        show(&runs, start, now);
        memory.push(now);
    }
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await?;
    }
    buffered.close().await;
    let faults = server.calm()?;
    drain(&client, &runs).await?;
    println!();
    for consumer in consumers {
        let report = consumer.shutdown(Duration::from_secs(30)).await?;
        println!("consumer: {:?}", report.stats);
    }
    report(&runs, &buffered, &memory, start.elapsed());
    println!("{}", faults.join("\n"));
    let wrong = runs.iter().map(|run| run.wrong()).sum::<usize>();
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} things went wrong").into()) }
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
async fn drain(client: &Client, runs: &[Arc<Run>]) -> Result<(), Failed> {
    let (mut least, mut patience) = (usize::MAX, 0);
    while patience < 600 {
        let mut left = 0;
        for run in runs {
            left += messages(client, &run.url).await?;
        }
        if left == 0 {
            return Ok(());
        }
        patience = if left < least { 0 } else { patience + 1 };
        least = least.min(left);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// How many messages a queue has, whatever their state.
async fn messages(client: &Client, url: &str) -> Result<usize, Failed> {
    use QueueAttributeName as Name;
    let names = [
        Name::ApproximateNumberOfMessages,
        Name::ApproximateNumberOfMessagesNotVisible,
        Name::ApproximateNumberOfMessagesDelayed,
    ];
    let asked = client.get_queue_attributes().queue_url(url).set_attribute_names(Some(names.into()));
    let attributes = asked.send().await?.attributes.unwrap_or_default();
    Ok(attributes.values().filter_map(|count| count.parse::<usize>().ok()).sum())
}

fn show(runs: &[Arc<Run>], start: Instant, [clients, server]: [u64; 2]) {
    print!("\r{:>5} s", start.elapsed().as_secs());
    for run in runs {
        let (accepted, open) = (run.accepted.load(Ordering::Relaxed), run.lost());
        print!(
            "   {}: {accepted} accepted, {open} not received yet",
            if run.fifo { "FIFO" } else { "standard" }
        );
    }
    print!("   clients {} MiB, server {} MiB ", clients >> 20, server >> 20);
    // Whoever closed standard output does not want to see it.
    let _ = std::io::stdout().flush();
}

fn report(runs: &[Arc<Run>], buffered: &BufferedClient, memory: &[[u64; 2]], took: Duration) {
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
    println!("\n{:?}, in {} s", buffered.stats(), took.as_secs());
    let shares = memory.len().saturating_sub(1);
    let quarters = (1..=4).filter_map(|quarter| memory.get(shares * quarter / 4));
    println!("\n| Resident memory, MiB | Clients | Server |\n|---|--:|--:|");
    for (name, [clients, server]) in ["a quarter", "a half", "three quarters", "the end"].iter().zip(quarters)
    {
        println!("| at {name} | {} | {} |", clients >> 20, server >> 20);
    }
}

#[expect(clippy::disallowed_methods, reason = "this measures real time")]
fn now() -> Instant {
    Instant::now()
}

/// Resident memory of a process, where `/proc` tells it.
fn resident(process: u32) -> Result<u64, Failed> {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm"))?;
    let pages: u64 = text.split_whitespace().nth(1).ok_or("no resident pages")?.parse()?;
    Ok(pages * 4096)
}
