//! Sends on a number of connections, with the latency of each.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::BoxError;
use crate::process::Process;
use crate::requests::{BATCH, Requests};
use crate::wire::{Connection, request};

/// Queues so far, so that each has a name of its own.
static QUEUES: AtomicUsize = AtomicUsize::new(0);

/// The sends of a round.
#[derive(Debug)]
pub(crate) struct Sends {
    pub(crate) elapsed: Duration,
    /// CPU time of the server.
    pub(crate) cpu: Duration,
    /// Ascending.
    pub(crate) latencies: Vec<Duration>,
}

impl Sends {
    pub(crate) fn count(&self) -> usize {
        self.latencies.len()
    }

    /// The latency that a share of the sends does not exceed.
    pub(crate) fn quantile(&self, percent: usize) -> Duration {
        let at = (self.count() * percent / 100).min(self.count().saturating_sub(1));
        self.latencies.get(at).copied().unwrap_or_default()
    }
}

/// Sends to a new queue, and deletes it afterwards.
pub(crate) fn round(process: &Process, connections: usize, time: Duration) -> Result<Sends, BoxError> {
    let address = process.address;
    let queue = create_queue(address)?;
    let before = process.usage()?.cpu;
    let start = Instant::now();
    let mut latencies = on_connections(connections, || {
        let (mut connection, requests) = (Connection::new(address), Requests::new(address, &queue));
        let mut latencies = Vec::new();
        while start.elapsed() < time {
            let sent = Instant::now();
            connection.exchange(&requests.send)?;
            latencies.push(sent.elapsed());
        }
        Ok(latencies)
    })?;
    let elapsed = start.elapsed();
    let cpu = process.usage()?.cpu.saturating_sub(before);
    call(address, "DeleteQueue", &format!(r#"{{"QueueUrl":"{queue}"}}"#))?;
    latencies.sort_unstable();
    Ok(Sends { elapsed, cpu, latencies })
}

/// Sends batches to a queue until it has this many messages, or the time is over. Returns how many it has.
pub(crate) fn fill(
    address: SocketAddr,
    queue: &str,
    messages: usize,
    time: Duration,
) -> Result<usize, BoxError> {
    let (start, sent) = (Instant::now(), AtomicUsize::new(0));
    let batches = on_connections(8, || {
        let (mut connection, requests) = (Connection::new(address), Requests::new(address, queue));
        let mut batches = Vec::new();
        while start.elapsed() < time && sent.fetch_add(BATCH, Ordering::Relaxed) < messages {
            let response = std::str::from_utf8(connection.exchange(&requests.send_batch)?)?;
            let accepted = response.matches("\"MessageId\"").count();
            if accepted != BATCH {
                return Err(format!("{accepted} messages of a batch were accepted").into());
            }
            batches.push(BATCH);
        }
        Ok(batches)
    })?;
    Ok(batches.into_iter().sum())
}

/// Runs the same work on each connection, and collects its results.
fn on_connections<T: Send>(
    connections: usize,
    work: impl Fn() -> Result<Vec<T>, BoxError> + Sync,
) -> Result<Vec<T>, BoxError> {
    std::thread::scope(|scope| {
        let work = || work().map_err(|error| error.to_string());
        let threads: Vec<_> = (0..connections).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| "a connection panicked")??);
        }
        Ok(all)
    })
}

/// Creates a queue and returns its URL.
pub(crate) fn create_queue(address: SocketAddr) -> Result<String, BoxError> {
    let number = QUEUES.fetch_add(1, Ordering::Relaxed);
    let response = call(address, "CreateQueue", &format!(r#"{{"QueueName":"durable-{number}"}}"#))?;
    Ok(response["QueueUrl"].as_str().ok_or("CreateQueue returned no queue URL")?.to_owned())
}

/// The number of available messages.
pub(crate) fn available(address: SocketAddr, queue: &str) -> Result<usize, BoxError> {
    let name = "ApproximateNumberOfMessages";
    let input = format!(r#"{{"QueueUrl":"{queue}","AttributeNames":["{name}"]}}"#);
    let attributes = call(address, "GetQueueAttributes", &input)?;
    Ok(attributes["Attributes"][name].as_str().ok_or("GetQueueAttributes returned no count")?.parse()?)
}

fn call(address: SocketAddr, action: &str, input: &str) -> Result<Value, BoxError> {
    let mut connection = Connection::new(address);
    let response = connection.exchange(&request(address, action, input));
    let response = response.map_err(|error| format!("{action}: {error}"))?;
    Ok(if response.is_empty() { Value::Null } else { serde_json::from_slice(response)? })
}
