//! The ways to send.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqs_benchmarks::process::{Cpu, now};
use sqs_buffered::{BufferedClient, Builder, Entry, InFlight};
use sqs_client::Client;
use sqs_client::types::SendMessageBatchRequestEntry;

use crate::Failed;
use crate::measured::Measured;

/// A way to send.
#[derive(Clone, Copy, Debug)]
pub(crate) enum How {
    /// Batches of ten by hand, from this many tasks.
    ByHand(usize),
    Singly,
    /// How many sends of a producer may be unanswered (1: each send is awaited before the next one), and how many
    /// batches may be in flight, if not the default.
    Buffered {
        window: usize,
        in_flight: Option<usize>,
    },
}

/// The settings of a run.
pub(crate) struct Bench {
    pub(crate) client: Client,
    pub(crate) time: Duration,
    pub(crate) body: String,
}

impl Bench {
    pub(crate) async fn run(&self, how: How, producers: usize) -> Result<Measured, Failed> {
        match how {
            How::ByHand(tasks) => self.by_hand(tasks).await,
            How::Singly => self.singly(producers).await,
            How::Buffered { window, in_flight } => self.buffered(producers, window, in_flight).await,
        }
    }

    /// Runs `tasks` tasks of `work` until the time is over. `work` returns how many messages it has sent.
    async fn measure<F, R>(&self, tasks: usize, per_request: f64, work: F) -> Result<Measured, Failed>
    where
        F: Fn(Client, String) -> R,
        R: Future<Output = Result<Vec<Duration>, Failed>> + Send + 'static,
    {
        let url = self.queue().await?;
        let (start, cpu) = (now(), Cpu::of_this_process()?);
        let tasks: Vec<_> =
            (0..tasks).map(|_| tokio::spawn(work(self.client.clone(), url.clone()))).collect();
        let mut times = Vec::new();
        for task in tasks {
            times.extend(task.await??);
        }
        let (took, cpu) = (start.elapsed(), Cpu::of_this_process()?.since(cpu).total());
        times.sort_unstable();
        self.client.delete_queue().queue_url(url).send().await?;
        let messages = times.len();
        Ok(Measured { messages, took, cpu, times, fill: per_request })
    }

    async fn queue(&self) -> Result<String, Failed> {
        static QUEUES: AtomicUsize = AtomicUsize::new(0);
        let name = format!("bench-{}", QUEUES.fetch_add(1, Ordering::Relaxed));
        let created = self.client.create_queue().queue_name(name).send().await?;
        Ok(created.queue_url.unwrap_or_default())
    }

    async fn singly(&self, producers: usize) -> Result<Measured, Failed> {
        let (time, body) = (self.time, self.body.clone());
        let work = move |client: Client, url: String| {
            let body = body.clone();
            async move {
                let (end, mut times) = (now() + time, Vec::new());
                while now() < end {
                    let start = now();
                    client.send_message().queue_url(&url).message_body(&body).send().await?;
                    times.push(start.elapsed());
                }
                Ok(times)
            }
        };
        self.measure(producers, 1.0, work).await
    }

    async fn by_hand(&self, tasks: usize) -> Result<Measured, Failed> {
        let (time, body) = (self.time, self.body.clone());
        let work = move |client: Client, url: String| {
            let body = body.clone();
            async move {
                let (end, mut times) = (now() + time, Vec::new());
                while now() < end {
                    let start = now();
                    let mut batch = client.send_message_batch().queue_url(&url);
                    for id in 0..10 {
                        let entry =
                            SendMessageBatchRequestEntry::builder().id(id.to_string()).message_body(&body);
                        batch = batch.entries(entry.build()?);
                    }
                    let sent = batch.send().await?.successful.len();
                    times.extend(std::iter::repeat_n(start.elapsed(), sent));
                }
                Ok(times)
            }
        };
        self.measure(tasks, 10.0, work).await
    }

    async fn buffered(
        &self,
        producers: usize,
        window: usize,
        in_flight: Option<usize>,
    ) -> Result<Measured, Failed> {
        let (time, body) = (self.time, self.body.clone());
        let builder = BufferedClient::builder(self.client.clone());
        let builder = in_flight.map(InFlight::Fixed).into_iter().fold(builder, Builder::in_flight);
        let buffered = Arc::new(builder.build()?);
        let sender = Arc::clone(&buffered);
        let work = move |_: Client, url: String| {
            let (body, buffered) = (body.clone(), Arc::clone(&sender));
            async move {
                let mut clock = now();
                let (end, mut times) = (clock + time, Vec::new());
                let mut unanswered = VecDeque::with_capacity(window);
                while clock < end {
                    unanswered.push_back((clock, buffered.enqueue(Entry::new(&url, &body)).await?));
                    if unanswered.len() >= window
                        && let Some((start, ticket)) = unanswered.pop_front()
                    {
                        ticket.await?;
                        clock = now();
                        times.push(clock.duration_since(start));
                    }
                }
                for (start, ticket) in unanswered {
                    ticket.await?;
                    times.push(start.elapsed());
                }
                Ok(times)
            }
        };
        let mut measured = self.measure(producers, 0.0, work).await?;
        measured.fill = buffered.stats().mean_fill();
        Ok(measured)
    }
}
