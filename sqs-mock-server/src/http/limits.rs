//! Limits on the resources of one server.

use std::time::Duration;

use serde::Deserialize;

use crate::units::{bytes, duration};

/// Limits on connections, sizes and times.
///
/// ```
/// use sqs_mock_server::{Limits, MockSqs};
///
/// let mut limits = Limits::default();
/// limits.max_memory = 64 << 20; // further messages are rejected with `OverLimit`
/// let server = MockSqs::builder().limits(limits).in_process()?;
/// # drop(server);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// Memory of all messages, in bytes. A message counts with its body and about 300 bytes, or 600 in a message group.
    /// The deduplication ids of FIFO queues count too. Expired messages count until the next use of their queue. Sends
    /// over the limit fail with `OverLimit`, which SDKs do not retry. Default: 2 GiB.
    #[serde(deserialize_with = "bytes")]
    pub max_memory: usize,
    /// Queues in all accounts and regions. Creating more fails with `OverLimit`. Default: 100,000.
    pub max_queues: usize,
    /// Concurrent connections; further ones wait in the backlog of the socket. Default: 4,096.
    pub max_connections: usize,
    /// Maximum request body, in bytes; longer ones fail with status 413. Default: 8 MiB, since JSON escapes can take
    /// six bytes per character of a 1 MiB message.
    #[serde(deserialize_with = "bytes")]
    pub max_body: usize,
    /// Memory of all request bodies in progress, in bytes, without the first 64 KiB of each body that is still
    /// arriving. A quarter is reserved for bodies up to 64 KiB. A request waits until its body fits, and fails with
    /// status 503 after
    /// [`body_timeout`](Self::body_timeout). Default: 256 MiB.
    #[serde(deserialize_with = "bytes")]
    pub max_bodies: usize,
    /// Maximum request head, in bytes; longer ones fail with status 431. Default: 32 KiB.
    #[serde(deserialize_with = "bytes")]
    pub max_head: usize,
    /// Time until a connection has sent the head of its next request, including idle time. Default: 60 s.
    #[serde(deserialize_with = "duration")]
    pub head_timeout: Duration,
    /// Time until a request body has arrived. Default: 60 s.
    #[serde(deserialize_with = "duration")]
    pub body_timeout: Duration,
    /// Maximum pause in a request body over 64 KiB, which holds memory while it arrives. After it, the request fails with
    /// status 408. Does not apply to S3. Default: 5 s.
    #[serde(deserialize_with = "duration")]
    pub body_idle_timeout: Duration,
    /// Time for which a caller may read nothing of a response before the connection is closed. Waiting for messages
    /// does not count. Default: 60 s.
    #[serde(deserialize_with = "duration")]
    pub write_timeout: Duration,
    /// Time that a graceful shutdown waits for requests in progress. Default: 5 s.
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
            body_idle_timeout: Duration::from_secs(5),
            write_timeout: Duration::from_mins(1),
            grace: Duration::from_secs(5),
        }
    }
}
