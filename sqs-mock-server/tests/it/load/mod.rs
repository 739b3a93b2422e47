//! Load over sockets with faults: producers and consumers on a standard and a FIFO queue, faults in every
//! operation, and a ledger that detects loss, duplicates and reordering.
//!
//! ```text
//! producer --batch--> faults --> queue --> faults --> consumer --delete--> faults --> queue
//!    |  until accepted                                   |  until confirmed or expired
//!    +---------------------> Ledger <-------------------+       drain: advances the clock until the queue is empty
//! ```
//! | Module | Contents |
//! |---|---|
//! | [`injected`] | the faults and their hits |
//! | [`producer`], [`consumer`] | tasks that send, and tasks that receive and delete |
//! | [`line`] | one queue with its producers and consumers |
//! | [`ledger`], [`record`] | accepted and received messages, and the rules for them |
//! | [`plan`], [`tally`], [`report`] | settings, progress, the table at the end |

mod consumer;
mod injected;
mod ledger;
mod line;
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

use injected::InjectedFaults;
use line::Line;
pub(crate) use plan::{End, Plan};
pub(crate) use report::Report;
pub(crate) use tally::Tally;

/// The delay of delayed messages.
const DELAY: Duration = Duration::from_secs(1);
/// The time without progress after which the clock is advanced.
const STILL: Duration = Duration::from_millis(60);
/// The time after which a queue that does not shrink fails the run.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server under load.
#[derive(Debug)]
pub(crate) struct Load {
    plan: Plan,
    server: MockSqs,
    lines: [Arc<Line>; 2],
    faults: InjectedFaults,
}

impl Load {
    pub(crate) async fn start(plan: Plan) -> Self {
        let server = MockSqs::builder().seed(plan.seed).start().await.expect("a free port");
        // The ledger records each attempt, so the client must not retry.
        let mut config = server.client_config().retry_config(RetryConfig::disabled());
        config.set_transport(None);
        let client = Client::from_conf(config.build());
        let lines = [
            Line::open(&server, &client, "load", plan).await,
            Line::open(&server, &client, "load.fifo", plan).await,
        ];
        let faults = InjectedFaults::inject(server.faults(), plan.fault_rate);
        Self { plan, server, lines: lines.map(Arc::new), faults }
    }

    /// Sends until the plan ends, then receives until the queues are empty.
    ///
    /// # Errors
    /// Messages were lost, duplicated or reordered. The text lists them, with the seed.
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
            return Ok(Report { produced, drained, tallies, requests, hits: self.faults.hits() });
        }
        let count = wrong.len();
        wrong.truncate(20);
        Err(format!("seed {}: {count} violations, such as\n{}", self.plan.seed, wrong.join("\n")))
    }

    /// The progress of both queues.
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

    /// Compares the accepted messages with a queue before its first receive.
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

    /// Waits until a queue is empty. Advances the clock if messages become visible only with time.
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
            } else if shrunk.elapsed() > TIMEOUT {
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

    /// Advances the clock: for delayed messages, or for received messages that will not be deleted. Without faults
    /// there are none of the latter, only slow consumers.
    fn turn_clock(&self, left: Counts) {
        if left.in_flight == 0 {
            self.server.clock().advance(DELAY);
        } else if self.plan.fault_rate > 0.0 {
            self.server.clock().advance(self.plan.visibility);
        }
    }

    async fn finish(&self, consumers: &mut JoinSet<()>) {
        for line in &self.lines {
            line.over.store(true, Ordering::Relaxed);
        }
        while !consumers.is_empty() {
            // Ends waiting polls.
            self.server.clock().advance(consumer::WAIT);
            let ended = tokio::time::timeout(STILL, consumers.join_next()).await;
            if let Ok(Some(ended)) = ended {
                ended.expect("a consumer does not panic");
            }
        }
    }
}
