//! Load over sockets while everything goes wrong: producers and consumers on a standard and on a FIFO queue, faults at
//! every turn, and a ledger of what may not be lost, doubled or disordered.
//!
//! ```text
//! producer --batch--> faults --> queue --> faults --> consumer --delete--> faults --> queue
//!    |  until accepted                                   |  until confirmed or expired
//!    +---------------------> Ledger <-------------------+       drain: turns the clock until nothing is left
//! ```
//! | Module | What it holds |
//! |---|---|
//! | [`misfortune`] | the faults, and how often each struck |
//! | [`producer`], [`consumer`] | those who send, and those who receive and delete |
//! | [`ledger`] | what was promised and what came, and the rules between the two |
//! | [`report`] | the table at the end |

mod consumer;
mod ledger;
mod misfortune;
mod producer;
mod report;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use sqs_client::Client;
use sqs_client::config::retry::RetryConfig;
use sqs_client::types::QueueAttributeName;
use sqs_mock_server::MockSqs;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub(crate) use ledger::Tally;
use ledger::Ledger;
use misfortune::Misfortune;
pub(crate) use report::Report;

/// How long received messages stay hidden. What a lost receive took with it comes back after that.
const VISIBILITY: Duration = Duration::from_secs(2);
/// Nothing moves for so long before the clock is turned.
const STILL: Duration = Duration::from_millis(60);
/// Nobody waits longer for the last messages.
const PATIENCE: Duration = Duration::from_secs(60);

/// What to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// Of each queue.
    pub(crate) producers: usize,
    /// Of each queue.
    pub(crate) consumers: usize,
    /// Lanes of each producer, within which messages are numbered: on the FIFO queue, each is a message group.
    pub(crate) lanes: usize,
    /// When producers stop.
    pub(crate) end: End,
    /// Probability of each fault, 0 to 1.
    pub(crate) misfortune: f64,
}

/// When producers stop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// After this many messages of each lane.
    Messages(u64),
    After(Duration),
}

impl End {
    fn allows(self, started: Instant, number: u64) -> bool {
        match self {
            Self::Messages(most) => number < most,
            Self::After(duration) => started.elapsed() < duration,
        }
    }
}

/// A server under load.
#[derive(Debug)]
pub(crate) struct Load {
    plan: Plan,
    server: MockSqs,
    lines: [Arc<Line>; 2],
    misfortune: Misfortune,
}

/// One queue, and what its producers and consumers share.
#[derive(Debug)]
struct Line {
    client: Client,
    clock: sqs_mock_server::clock::Clock,
    name: &'static str,
    url: String,
    fifo: bool,
    ledger: Ledger,
    over: AtomicBool,
    requests: AtomicU64,
}

impl Load {
    pub(crate) async fn start(plan: Plan) -> Self {
        let server = MockSqs::builder().seed(plan.seed).start().await.expect("a free port");
        // Each attempt is in the ledger: the client repeats nothing by itself.
        let mut config = server.client_config().retry_config(RetryConfig::disabled());
        config.set_transport(None);
        let client = Client::from_conf(config.build());
        let lines =
            [Line::open(&server, &client, "load", plan).await, Line::open(&server, &client, "load.fifo", plan).await];
        let misfortune = Misfortune::inject(server.faults(), plan.misfortune);
        Self { plan, server, lines: lines.map(Arc::new), misfortune }
    }

    /// Sends until the plan ends, receives until nothing is left.
    ///
    /// # Errors
    /// All that was lost, doubled or disordered, with the seed.
    pub(crate) async fn run(&self) -> Result<Report, String> {
        let started = Instant::now();
        let mut consumers = self.consumers();
        self.produce(started).await;
        let produced = started.elapsed();
        let mut wrong = Vec::new();
        for line in &self.lines {
            wrong.extend(self.drain(line).await.err());
        }
        let drained = started.elapsed();
        self.finish(&mut consumers).await;
        wrong.extend(self.lines.iter().flat_map(|line| line.ledger.verdict()));
        if wrong.is_empty() {
            let tallies = self.lines.each_ref().map(|line| (line.name, line.ledger.tally()));
            let requests = self.lines.iter().map(|line| line.requests.load(Ordering::Relaxed)).sum();
            return Ok(Report { produced, drained, tallies, requests, struck: self.misfortune.struck() });
        }
        let count = wrong.len();
        wrong.truncate(20);
        Err(format!("seed {}: {count} violations, such as\n{}", self.plan.seed, wrong.join("\n")))
    }

    /// How far both queues are.
    pub(crate) fn progress(&self) -> Tally {
        self.lines.iter().map(|line| line.ledger.tally()).fold(Tally::default(), Tally::plus)
    }

    fn consumers(&self) -> JoinSet<()> {
        let mut consumers = JoinSet::new();
        for line in &self.lines {
            for number in 0..self.plan.consumers {
                consumers.spawn(consumer::run(Arc::clone(line), number));
            }
        }
        consumers
    }

    async fn produce(&self, started: Instant) {
        let mut producers = JoinSet::new();
        for line in &self.lines {
            for number in 0..self.plan.producers {
                producers.spawn(producer::run(Arc::clone(line), self.plan, number, started));
            }
        }
        while let Some(ended) = producers.join_next().await {
            ended.expect("a producer does not panic");
        }
    }

    /// Waits until a queue is empty. Where only time can bring messages back, it is made to pass.
    async fn drain(&self, line: &Line) -> Result<(), String> {
        let queue = self.server.queue(line.name);
        let start = Instant::now();
        let (mut seen, mut since) = (None, Instant::now());
        loop {
            let counts = queue.counts().ok_or("the queue is gone")?;
            if counts.available + counts.in_flight + counts.delayed == 0 {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                return Err(format!("{}: left at the end: {counts:?}", line.name));
            }
            if seen.replace(counts) != Some(counts) {
                since = Instant::now();
            } else if since.elapsed() >= STILL {
                self.server.clock().advance(VISIBILITY);
                since = Instant::now();
            }
            tokio::time::sleep(STILL / 10).await;
        }
    }

    async fn finish(&self, consumers: &mut JoinSet<()>) {
        for line in &self.lines {
            line.over.store(true, Ordering::Relaxed);
        }
        while !consumers.is_empty() {
            // Polls that wait end by this.
            self.server.clock().advance(consumer::WAIT);
            let ended = tokio::time::timeout(STILL, consumers.join_next()).await;
            if let Ok(Some(ended)) = ended {
                ended.expect("a consumer does not panic");
            }
        }
    }
}

impl Line {
    async fn open(server: &MockSqs, client: &Client, name: &'static str, plan: Plan) -> Self {
        let fifo = name.ends_with(".fifo");
        let visibility = VISIBILITY.as_secs().to_string();
        let mut create =
            client.create_queue().queue_name(name).attributes(QueueAttributeName::VisibilityTimeout, visibility);
        if fifo {
            create = create.attributes(QueueAttributeName::FifoQueue, "true");
        }
        let url = create.send().await.expect("nothing fails yet").queue_url.expect("it has a URL");
        Self {
            client: client.clone(),
            clock: server.clock().clone(),
            name,
            url,
            fifo,
            ledger: Ledger::new(name, fifo.then_some(VISIBILITY), plan.producers * plan.lanes),
            over: AtomicBool::new(false),
            requests: AtomicU64::new(0),
        }
    }

    fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}
