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
//! | [`line`] | one queue with those who use it |
//! | [`ledger`], [`record`] | what was promised and what came, and the rules between the two |
//! | [`plan`], [`tally`], [`report`] | what to do, how far it is, the table at the end |

mod consumer;
mod ledger;
mod line;
mod misfortune;
mod plan;
mod producer;
mod record;
mod report;
mod tally;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sqs_client::Client;
use sqs_client::config::retry::RetryConfig;
use sqs_mock_server::MockSqs;
use sqs_mock_server::inspect::Counts;
use tokio::task::JoinSet;
use tokio::time::Instant;

use line::Line;
use misfortune::Misfortune;
pub(crate) use plan::{End, Plan};
pub(crate) use report::Report;
pub(crate) use tally::Tally;

/// How long delayed messages are delayed.
const DELAY: Duration = Duration::from_secs(1);
/// Nothing moves for so long before the clock is turned.
const STILL: Duration = Duration::from_millis(60);
/// A queue gets no shorter for so long before nobody waits any more.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server under load.
#[derive(Debug)]
pub(crate) struct Load {
    plan: Plan,
    server: MockSqs,
    lines: [Arc<Line>; 2],
    misfortune: Misfortune,
}

impl Load {
    pub(crate) async fn start(plan: Plan) -> Self {
        let server = MockSqs::builder().seed(plan.seed).start().await.expect("a free port");
        // Each attempt is in the ledger: the client repeats nothing by itself.
        let mut config = server.client_config().retry_config(RetryConfig::disabled());
        config.set_transport(None);
        let client = Client::from_conf(config.build());
        let lines = [
            Line::open(&server, &client, "load", plan).await,
            Line::open(&server, &client, "load.fifo", plan).await,
        ];
        let misfortune = Misfortune::inject(server.faults(), plan.misfortune);
        Self { plan, server, lines: lines.map(Arc::new), misfortune }
    }

    /// Sends until the plan ends, receives until nothing is left.
    ///
    /// # Errors
    /// All that was lost, doubled or disordered, with the seed.
    pub(crate) async fn run(&self) -> Result<Report, String> {
        let started = Instant::now();
        let (mut consumers, mut wrong) = (JoinSet::new(), Vec::new());
        if self.plan.overlap {
            self.start_consumers(&mut consumers);
        }
        self.produce(started).await;
        let produced = started.elapsed();
        if !self.plan.overlap {
            wrong.extend(self.lines.iter().filter_map(|line| self.take_stock(line).err()));
            self.start_consumers(&mut consumers);
        }
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

    fn start_consumers(&self, consumers: &mut JoinSet<()>) {
        for line in &self.lines {
            for number in 0..self.plan.consumers {
                consumers.spawn(consumer::run(Arc::clone(line), self.plan, number));
            }
        }
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

    /// Compares a queue of which nothing was received yet with what was accepted.
    fn take_stock(&self, line: &Line) -> Result<(), String> {
        let counts = self.server.queue(line.name).counts().ok_or("the queue is gone")?;
        let tally = line.ledger.tally();
        let stored = (counts.available + counts.delayed) as u64;
        let most = if line.fifo { tally.accepted } else { tally.accepted + tally.in_doubt };
        if counts.in_flight > 0 || stored < tally.accepted || stored > most {
            return Err(format!("{}: {counts:?} is stored, but {tally:?}", line.name));
        }
        Ok(())
    }

    /// Waits until a queue is empty. Where only time can bring messages back, it is made to pass.
    async fn drain(&self, line: &Line) -> Result<(), String> {
        let queue = self.server.queue(line.name);
        let (mut seen, mut moved) = (Counts::default(), Instant::now());
        let (mut least, mut shrunk) = (usize::MAX, Instant::now());
        loop {
            let counts = queue.counts().ok_or("the queue is gone")?;
            let left = counts.available + counts.in_flight + counts.delayed;
            if left == 0 {
                return Ok(());
            }
            if left < least {
                (least, shrunk) = (left, Instant::now());
            } else if shrunk.elapsed() > PATIENCE {
                return Err(format!("{}: left at the end: {counts:?}", line.name));
            }
            if counts != seen {
                (seen, moved) = (counts, Instant::now());
            } else if moved.elapsed() >= STILL {
                self.turn_clock(counts);
                moved = Instant::now();
            }
            tokio::time::sleep(STILL / 10).await;
        }
    }

    /// Lets time pass: for delayed messages, or for those that were taken and will not be deleted. Where nothing goes
    /// wrong there are none of the latter, only consumers that take their time.
    fn turn_clock(&self, left: Counts) {
        if left.in_flight == 0 {
            self.server.clock().advance(DELAY);
        } else if self.plan.misfortune > 0.0 {
            self.server.clock().advance(self.plan.visibility);
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
