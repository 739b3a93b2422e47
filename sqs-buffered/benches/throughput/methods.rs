//! The methods of sending.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqs_benchmarks::process::{Cpu, now};
use sqs_buffered::{BufferedClient, BufferedClientBuilder, Entry, InFlight};
use sqs_client::Client;
use sqs_client::types::SendMessageBatchRequestEntry;

use crate::BoxError;
use crate::measured::Measured;

/// A method of sending.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Method {
    /// Batches of ten without the buffered client, from this number of tasks.
    ManualBatches(usize),
    SingleSends,
    Buffered {
        /// Pending sends per producer. With 1, a producer awaits each send.
        window: usize,
        /// Limit of batches in flight, if not the default.
        in_flight: Option<usize>,
    },
}

/// The parameters of all methods.
pub(crate) struct Bench {
    pub(crate) client: Client,
    pub(crate) time: Duration,
    pub(crate) body: String,
}

impl Bench {
    pub(crate) async fn run(&self, method: Method, producers: usize) -> Result<Measured, BoxError> {
        match method {
            Method::ManualBatches(tasks) => self.manual_batches(tasks).await,
            Method::SingleSends => self.single_sends(producers).await,
            Method::Buffered { window, in_flight } => self.buffered(producers, window, in_flight).await,
        }
    }

    /// Runs `work` in `tasks` tasks. `work` returns the duration of each send.
    async fn measure<F, R>(&self, tasks: usize, per_request: f64, work: F) -> Result<Measured, BoxError>
    where
        F: Fn(Client, String) -> R,
        R: Future<Output = Result<Vec<Duration>, BoxError>> + Send + 'static,
    {
        let url = self.create_queue().await?;
        let (start, cpu) = (now(), Cpu::of_this_process()?);
        let tasks: Vec<_> =
            (0..tasks).map(|_| tokio::spawn(work(self.client.clone(), url.clone()))).collect();
        let mut times = Vec::new();
        for task in tasks {
            times.extend(task.await??);
        }
        let (elapsed, cpu) = (start.elapsed(), Cpu::of_this_process()?.since(cpu).total());
        times.sort_unstable();
        self.client.delete_queue().queue_url(url).send().await?;
        let messages = times.len();
        Ok(Measured { messages, elapsed, cpu, times, fill: per_request })
    }

    async fn create_queue(&self) -> Result<String, BoxError> {
        static QUEUES: AtomicUsize = AtomicUsize::new(0);
        let name = format!("bench-{}", QUEUES.fetch_add(1, Ordering::Relaxed));
        let created = self.client.create_queue().queue_name(name).send().await?;
        Ok(created.queue_url.unwrap_or_default())
    }

    async fn single_sends(&self, producers: usize) -> Result<Measured, BoxError> {
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

    async fn manual_batches(&self, tasks: usize) -> Result<Measured, BoxError> {
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
    ) -> Result<Measured, BoxError> {
        let (time, body) = (self.time, self.body.clone());
        let builder = BufferedClient::builder(self.client.clone());
        let builder =
            in_flight.map(InFlight::Fixed).into_iter().fold(builder, BufferedClientBuilder::in_flight);
        let buffered = Arc::new(builder.build()?);
        let sender = Arc::clone(&buffered);
        let work = move |_: Client, url: String| {
            let (body, buffered) = (body.clone(), Arc::clone(&sender));
            async move {
                let mut current = now();
                let (end, mut times) = (current + time, Vec::new());
                let mut pending = VecDeque::with_capacity(window);
                while current < end {
                    pending.push_back((current, buffered.enqueue(Entry::new(&url, &body)).await?));
                    if pending.len() >= window
                        && let Some((start, ticket)) = pending.pop_front()
                    {
                        ticket.await?;
                        current = now();
                        times.push(current.duration_since(start));
                    }
                }
                for (start, ticket) in pending {
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
