//! What one server spends on its callers.

use std::time::Duration;

use serde::Deserialize;

use crate::units::{bytes, duration};

/// Bounds on connections, sizes and patience. The defaults suit tests and shared machines alike.
///
/// ```
/// use sqs_mock_server::{Limits, MockSqs};
///
/// let mut limits = Limits::default();
/// limits.max_memory = 64 << 20; // a message above that is refused with `OverLimit`
/// let server = MockSqs::builder().limits(limits).in_process()?;
/// # drop(server);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes that messages may take together, each counted with about 300 bytes beside its body, with 600 in a message
    /// group, and with the ids that FIFO queues remember. What is past its time counts until somebody uses or looks at
    /// its queue. A message beyond that is refused with `OverLimit`, which no SDK retries. 2 GiB by default.
    #[serde(deserialize_with = "bytes")]
    pub max_memory: usize,
    /// Queues in all accounts and regions together; one more is refused with `OverLimit`. 100,000 by default.
    pub max_queues: usize,
    /// Connections served at a time; more wait in the backlog of the socket. 4,096 by default.
    pub max_connections: usize,
    /// Largest request body, in bytes; a longer one is answered with status 413. 8 MiB by default: a message
    /// of 1 MiB takes up to six bytes a character where JSON escapes it.
    #[serde(deserialize_with = "bytes")]
    pub max_body: usize,
    /// Bytes of request bodies in memory at a time, over all connections, not counting the first 64 KiB of a body that
    /// is still arriving. A quarter is for bodies of up to 64 KiB. A request whose body does not fit waits for others to
    /// be answered, and is refused with status 503 after the time that a body may take. 256 MiB by default.
    #[serde(deserialize_with = "bytes")]
    pub max_bodies: usize,
    /// Largest request head, in bytes; a longer one is answered with status 431. 32 KiB by default.
    #[serde(deserialize_with = "bytes")]
    pub max_head: usize,
    /// How long a connection may take to send the head of its next request, idle time included. 60 s by
    /// default.
    #[serde(deserialize_with = "duration")]
    pub head_timeout: Duration,
    /// How long a request body may take to arrive. 60 s by default.
    #[serde(deserialize_with = "duration")]
    pub body_timeout: Duration,
    /// How long the caller may take none of an answer before the connection is cut. Waiting for messages does not
    /// count. 60 s by default.
    #[serde(deserialize_with = "duration")]
    pub write_timeout: Duration,
    /// How long a graceful stop waits for requests under way. 5 s by default.
    #[serde(deserialize_with = "duration")]
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_memory: 2 << 30,
            max_queues: 100_000,
            max_connections: 4096,
            max_body: 8 << 20,
            max_bodies: 256 << 20,
            max_head: 32 << 10,
            head_timeout: Duration::from_mins(1),
            body_timeout: Duration::from_mins(1),
            write_timeout: Duration::from_mins(1),
            grace: Duration::from_secs(5),
        }
    }
}
