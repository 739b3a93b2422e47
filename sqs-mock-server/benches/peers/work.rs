//! Operations, their rounds, and the counts of responses.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::BoxError;
use crate::requests::{BATCH, HANDLE, Requests};
use crate::wire::Connection;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Operation {
    Send,
    SendBatch,
    /// Two requests.
    ReceiveAndDelete,
}

/// The amount of work of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bench {
    pub(crate) requests: usize,
    /// The maximum duration of a round.
    pub(crate) max_time: Duration,
    pub(crate) connections: usize,
}

/// The result of a round.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) operations: usize,
    pub(crate) elapsed: Duration,
    pub(crate) cpu: Duration,
    /// The growth of the queue in messages, including the first round; receives make it smaller.
    pub(crate) left: isize,
}

impl Operation {
    pub(crate) const ALL: [Self; 3] = [Self::Send, Self::SendBatch, Self::ReceiveAndDelete];

    /// The growth of the queue in messages.
    const fn growth(self) -> isize {
        match self {
            Self::Send => 1,
            Self::SendBatch => BATCH.cast_signed(),
            Self::ReceiveAndDelete => -BATCH.cast_signed(),
        }
    }

    /// Runs the operation once.
    fn run(self, connection: &mut Connection, requests: &Requests) -> Result<(), BoxError> {
        match self {
            Self::Send => entries(connection.exchange(&requests.send)?, MESSAGE, 1),
            Self::SendBatch => entries(connection.exchange(&requests.send_batch)?, MESSAGE, BATCH),
            Self::ReceiveAndDelete => {
                let received = connection.exchange(&requests.receive)?;
                entries(received, HANDLE, BATCH)?;
                let delete = requests.delete(received)?;
                entries(connection.exchange(&delete)?, "\"Id\"", BATCH)
            }
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Send => "send 1 KB",
            Self::SendBatch => "send batch of 10",
            Self::ReceiveAndDelete => "receive 10, delete batch",
        })
    }
}

impl Tally {
    pub(crate) fn add(self, other: Self) -> Self {
        Self {
            operations: self.operations + other.operations,
            elapsed: self.elapsed + other.elapsed,
            cpu: self.cpu + other.cpu,
            left: self.left + other.left,
        }
    }
}

impl Bench {
    /// Repeats an operation on all connections until their common count or the time is reached.
    pub(crate) fn round(
        self,
        operation: Operation,
        address: SocketAddr,
        queue: &str,
        stock: isize,
    ) -> Result<Tally, BoxError> {
        let count = match operation {
            Operation::Send => self.requests,
            Operation::SendBatch => self.requests.div_ceil(4),
            Operation::ReceiveAndDelete => usize::try_from(stock)? / BATCH,
        };
        let (requests, started, start) = (Requests::new(address, queue), AtomicUsize::new(0), Instant::now());
        let run_connection = || {
            let mut connection = Connection::new(address);
            let mut done = 0;
            while start.elapsed() < self.max_time && started.fetch_add(1, Ordering::Relaxed) < count {
                operation.run(&mut connection, &requests).map_err(|error| format!("{operation}: {error}"))?;
                done += 1;
            }
            Ok::<usize, String>(done)
        };
        let operations = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.connections).map(|_| scope.spawn(run_connection)).collect();
            let done = threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| "a connection panicked")?.map_err(BoxError::from));
            done.sum::<Result<usize, BoxError>>()
        })?;
        let left = operation.growth() * isize::try_from(operations)?;
        Ok(Tally { operations, elapsed: start.elapsed(), cpu: Duration::ZERO, left })
    }
}

const MESSAGE: &str = "\"MessageId\"";

/// Checks that a response has the expected number of entries and no failed ones.
fn entries(response: &[u8], each: &str, expected: usize) -> Result<(), BoxError> {
    let text = std::str::from_utf8(response)?;
    let found = text.matches(each).count();
    if found == expected && !text.contains("\"Code\"") {
        return Ok(());
    }
    Err(format!("{found} entries instead of {expected}: {text}").into())
}
