//! Producers that keep a buffered client busy.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use sqs_benchmarks::arguments::BoxError;
use sqs_benchmarks::process::now;
use sqs_buffered::{BufferedClient, Entry, InFlight};
use sqs_client::Client;
use tokio::task::JoinHandle;

/// Pending messages of one producer.
const PENDING: usize = 100;

/// Running producers of one or more queues.
pub(crate) struct Load {
    client: Client,
    buffered: BufferedClient,
    producers_per_queue: usize,
    queues: Vec<Queue>,
    stopped: Arc<AtomicBool>,
    producers: Vec<JoinHandle<Result<(), sqs_buffered::SendError>>>,
}

struct Queue {
    url: String,
    accepted: Arc<AtomicU64>,
}

impl Load {
    pub(crate) async fn start(client: Client, bound: InFlight, producers: usize) -> Result<Self, BoxError> {
        // A message must not time out while the server throttles.
        let builder = BufferedClient::builder(client.clone()).in_flight(bound);
        let buffered = builder.delivery_timeout(Duration::from_mins(10)).build()?;
        let mut load = Self {
            client,
            buffered,
            producers_per_queue: producers,
            queues: Vec::new(),
            stopped: Arc::default(),
            producers: Vec::new(),
        };
        load.add_queue().await?;
        Ok(load)
    }

    /// Adds a queue with the same number of producers.
    pub(crate) async fn add_queue(&mut self) -> Result<(), BoxError> {
        let name = format!("bench-{}", sqs_client::random::uuid());
        let url = self.client.create_queue().queue_name(name).send().await?.queue_url.unwrap_or_default();
        let accepted = Arc::<AtomicU64>::default();
        for _ in 0..self.producers_per_queue {
            let (buffered, url, body) = (self.buffered.clone(), url.clone(), "x".repeat(1024));
            let (accepted, stopped) = (Arc::clone(&accepted), Arc::clone(&self.stopped));
            self.producers.push(tokio::spawn(async move {
                let mut pending = VecDeque::with_capacity(PENDING);
                while !stopped.load(Ordering::Relaxed) {
                    pending.push_back(buffered.enqueue(Entry::new(&url, &body)).await?);
                    if pending.len() >= PENDING
                        && let Some(ticket) = pending.pop_front()
                    {
                        ticket.await?;
                        accepted.fetch_add(1, Ordering::Relaxed);
                    }
                }
                Ok(())
            }));
        }
        self.queues.push(Queue { url, accepted });
        Ok(())
    }

    /// Messages per second of each queue.
    pub(crate) async fn rate(&self, time: Duration) -> Vec<f64> {
        let counts = || self.queues.iter().map(|queue| queue.accepted.load(Ordering::Relaxed));
        let (start, before) = (now(), counts().collect::<Vec<_>>());
        tokio::time::sleep(time).await;
        let seconds = start.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits")]
        counts().zip(before).map(|(after, before)| (after - before) as f64 / seconds).collect()
    }

    pub(crate) async fn stop(self) -> Result<(), BoxError> {
        self.stopped.store(true, Ordering::Relaxed);
        self.buffered.close_within(Duration::from_secs(1)).await;
        for producer in self.producers {
            producer.abort();
            match producer.await {
                Ok(Err(error)) if error.kind() == sqs_buffered::SendErrorKind::Rejected => {
                    return Err(error.into());
                }
                _ => {}
            }
        }
        for queue in self.queues {
            self.client.delete_queue().queue_url(queue.url).send().await?;
        }
        Ok(())
    }
}
