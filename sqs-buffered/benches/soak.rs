//! Run with: `cargo bench -p sqs-buffered --bench soak -- --seconds 600`
//!
//! Producers and consumers on a standard and a FIFO queue, over sockets, while one request in twenty goes wrong in each of
//! ten ways. Says at the end whether anything was lost, came twice out of a FIFO queue's deduplication, or came out of
//! order, and how much memory the process had on its way.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sqs_buffered::{BufferedClient, Consumer, Entry, Outcome};
use sqs_client::service_error::ErrorCode;
use sqs_client::types::QueueAttributeName;
use sqs_mock_server::MockSqs;
use sqs_mock_server::faults::Fault;

const HELP: &str = "\
Sends and receives while requests go wrong, and counts what is lost.

  --seconds COUNT   how long producers send, 60 by default
  --faults SHARE    share of requests that each fault strikes, 0.05 by default
  --seed NUMBER     of the server's chance
  --help            this text

Exits with 1 when a message was lost, stored twice on the FIFO queue, or out of order.";

const PRODUCERS: usize = 8;
const GROUPS: usize = 64;

type Failed = Box<dyn Error + Send + Sync>;

struct Options {
    seconds: u64,
    faults: f64,
    seed: Option<u64>,
}

fn main() -> Result<(), Failed> {
    let mut options = Options { seconds: 60, faults: 0.05, seed: None };
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value"));
        match argument.as_str() {
            "--seconds" => options.seconds = value()?.parse()?,
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
            tasks.push(tokio::spawn(produce(buffered.clone(), Arc::clone(run), producer, Arc::clone(&stop))));
        }
        let ledger = Arc::clone(run);
        let consumer = Consumer::builder(client.clone(), &run.url)
            .concurrency(256)
            .prefetch(256)
            .handler(move |message, _lease| {
                ledger.received(message.body().unwrap_or_default(), message.message_id().unwrap_or_default());
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

/// One queue, and what is known of its messages.
struct Run {
    url: String,
    fifo: bool,
    accepted: AtomicUsize,
    failed: AtomicUsize,
    deliveries: AtomicUsize,
    /// Accepted, or received before that was known, but not both yet.
    open: Mutex<(HashSet<String>, HashSet<String>)>,
    /// Of each group, the number and the id of the message that came last.
    last: Mutex<HashMap<usize, (usize, String)>>,
    out_of_order: AtomicUsize,
    stored_twice: AtomicUsize,
}

impl Run {
    fn new(url: String) -> Arc<Self> {
        let fifo = url.ends_with(".fifo");
        Arc::new(Self {
            url,
            fifo,
            accepted: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
            deliveries: AtomicUsize::new(0),
            open: Mutex::default(),
            last: Mutex::default(),
            out_of_order: AtomicUsize::new(0),
            stored_twice: AtomicUsize::new(0),
        })
    }

    fn accepted(&self, body: String) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        let (unreceived, early) = &mut *self.open.lock();
        if !early.remove(&body) {
            unreceived.insert(body);
        }
    }

    fn received(&self, body: &str, id: &str) {
        self.deliveries.fetch_add(1, Ordering::Relaxed);
        let (unreceived, early) = &mut *self.open.lock();
        if !unreceived.remove(body) && early.len() < 100_000 {
            early.insert(body.to_owned());
        }
        let parts = body
            .split_once(':')
            .and_then(|(group, number)| Some((group.parse().ok()?, number.parse().ok()?)));
        let Some((group, number)) = parts.filter(|_| self.fifo) else { return };
        let mut all = self.last.lock();
        let (last, last_id) = all.entry(group).or_default();
        if number == *last && last_id != id {
            self.stored_twice.fetch_add(1, Ordering::Relaxed);
        } else if number < *last {
            self.out_of_order.fetch_add(1, Ordering::Relaxed);
        } else {
            (*last, *last_id) = (number, id.to_owned());
        }
    }

    fn lost(&self) -> usize {
        self.open.lock().0.len()
    }

    fn wrong(&self) -> usize {
        self.lost() + self.out_of_order.load(Ordering::Relaxed) + self.stored_twice.load(Ordering::Relaxed)
    }
}

/// Sends numbered messages, those of its own groups in order.
async fn produce(buffered: BufferedClient, run: Arc<Run>, producer: usize, stop: Arc<AtomicBool>) {
    let mut number = 0;
    let mut tickets = std::collections::VecDeque::new();
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let group = producer + PRODUCERS * (number % (GROUPS / PRODUCERS));
        let body = format!("{group}:{number}");
        let entry = Entry::new(&run.url, &body);
        let entry = if run.fifo { entry.message_group_id(group.to_string()) } else { entry };
        match buffered.enqueue(entry).await {
            Ok(ticket) => tickets.push_back((body, ticket)),
            Err(_) => return,
        }
        while tickets.len() > 200 {
            settle(&run, tickets.pop_front()).await;
        }
    }
    while !tickets.is_empty() {
        settle(&run, tickets.pop_front()).await;
    }
}

async fn settle(run: &Run, sent: Option<(String, sqs_buffered::Ticket<sqs_buffered::SendReceipt>)>) {
    let Some((body, ticket)) = sent else { return };
    match ticket.await {
        Ok(_) => run.accepted(body),
        Err(_) => _ = run.failed.fetch_add(1, Ordering::Relaxed),
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
