//! Delivery like a standard queue of AWS: from several servers, roughly in order, sometimes twice.
//!
//! Each message is stored on one of [`SERVERS`] servers. A short poll samples some of them, so it can return none or
//! only some of the available messages; a long poll queries all. Each receive prefers a random server, so messages are
//! slightly reordered. A server can miss a receive or a delete of a message. All randomness derives from the seed of
//! the queue.
//!
//! Sources: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html>,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/standard-queues-at-least-once-delivery.html>

use fastrand::Rng;

use crate::service::seed::scramble;

/// Servers of a queue, at most 8.
pub(super) const SERVERS: usize = 8;
/// Number of servers that a short poll queries.
const SAMPLED: u32 = 5;
/// In a long poll, at most this many messages overtake one.
pub(super) const REORDERING: u64 = 50;
/// A server misses one in this many receives and deletes.
const MISSES: u32 = 100;

/// The server that stores a message.
pub(super) fn server_of(ticket: u64, servers: usize) -> usize {
    if servers < 2 {
        return 0;
    }
    usize::try_from(scramble(ticket) % servers as u64).unwrap_or(0)
}

/// The servers that a receive queries.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerSample {
    /// One bit for each server.
    servers: u8,
    /// The server whose message comes first, unless another message has waited much longer.
    preferred: usize,
}

impl ServerSample {
    /// All servers. The order is exact if there is only one.
    pub(super) const ALL: Self = Self { servers: u8::MAX, preferred: 0 };

    pub(super) fn has(self, server: usize) -> bool {
        self.servers >> server & 1 == 1
    }

    pub(super) fn is_empty(self) -> bool {
        self.servers == 0
    }

    /// Only the preferred server, if it is one of these.
    pub(super) fn preferred(self) -> Self {
        Self { servers: self.servers & 1 << self.preferred, ..self }
    }
}

/// The random choices of a queue.
#[derive(Debug)]
pub(super) struct AwsLike {
    chance: Rng,
}

impl AwsLike {
    pub(super) fn new(chance: Rng) -> Self {
        Self { chance }
    }

    /// Chooses the servers that a receive queries.
    pub(super) fn sample(&mut self, all: bool) -> ServerSample {
        let mut sample = ServerSample::ALL;
        while !all && sample.servers.count_ones() > SAMPLED {
            sample.servers &= !(1 << self.chance.u32(0..8));
        }
        sample
    }

    /// The same servers, with a random preferred one.
    pub(super) fn prefer(&mut self, sample: ServerSample) -> ServerSample {
        ServerSample { preferred: self.chance.usize(0..SERVERS), ..sample }
    }

    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        self.chance.shuffle(list);
    }

    /// Whether a server misses a receive or a delete.
    pub(super) fn misses(&mut self) -> bool {
        self.chance.u32(0..MISSES) == 0
    }
}
