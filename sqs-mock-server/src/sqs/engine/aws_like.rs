//! Delivery as a standard queue of AWS does it: from several servers, roughly in order, now and then twice.
//!
//! Each message is on one of [`SERVERS`] servers. A short poll asks some of them, so that it can come back empty
//! or with a part although there is more; a long poll asks all. Whom a receive prefers is up to chance, so that
//! the order is a little mixed. And a server can miss that a message was received or deleted. All chance comes from
//! the seed of the queue.
//!
//! Sources: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html>,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/standard-queues-at-least-once-delivery.html>

use fastrand::Rng;

use super::slab::Slot;
use crate::service::seed::scramble;

/// Servers of a queue, at most 8.
pub(super) const SERVERS: usize = 8;
/// How many of them a short poll asks.
const ASKED: u32 = 5;
/// So many messages at most overtake one in a long poll.
const REORDERING: u64 = 50;
/// One in so many receives or deletes of a message is missed by its server.
const MISSES: u32 = 100;

/// The server that a message is on.
pub(super) fn server_of(ticket: u64, servers: usize) -> usize {
    if servers < 2 {
        return 0;
    }
    usize::try_from(scramble(ticket) % servers as u64).unwrap_or(0)
}

/// The servers that a receive asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// One bit for each.
    servers: u8,
    /// Whose message comes first, unless others have waited for much longer.
    favourite: usize,
}

impl Asked {
    /// All of them, in order as far as one server goes.
    pub(super) const ALL: Self = Self { servers: u8::MAX, favourite: 0 };

    /// Server and tenant of the next message, by the first turn and its tenant of each server.
    pub(super) fn choose(self, firsts: impl Iterator<Item = Option<(u64, Slot)>>) -> Option<(usize, Slot)> {
        let (mut least, mut favourite): (Option<(u64, _, _)>, Option<(u64, _, _)>) = (None, None);
        for (server, first) in firsts.enumerate() {
            let Some((turn, tenant)) = first.filter(|_| self.servers >> server & 1 == 1) else {
                continue;
            };
            if least.is_none_or(|(least, ..)| turn < least) {
                least = Some((turn, server, tenant));
            }
            if server == self.favourite {
                favourite = Some((turn, server, tenant));
            }
        }
        let (longest, ..) = least?;
        let near = favourite.filter(|(turn, ..)| turn - longest <= REORDERING);
        near.or(least).map(|(_, server, tenant)| (server, tenant))
    }
}

/// What is up to chance.
#[derive(Debug)]
pub(super) struct AwsLike {
    chance: Rng,
}

impl AwsLike {
    pub(super) fn new(chance: Rng) -> Self {
        Self { chance }
    }

    /// Whom a receive asks.
    pub(super) fn ask(&mut self, all: bool) -> Asked {
        let mut asked = Asked::ALL;
        while !all && asked.servers.count_ones() > ASKED {
            asked.servers &= !(1 << self.chance.u32(0..8));
        }
        asked
    }

    /// The same servers with a preference for one.
    pub(super) fn prefer(&mut self, asked: Asked) -> Asked {
        Asked { favourite: self.chance.usize(0..SERVERS), ..asked }
    }

    /// Puts a list in a random order.
    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        self.chance.shuffle(list);
    }

    /// Whether a server misses that a message was received or deleted.
    pub(super) fn misses(&mut self) -> bool {
        self.chance.u32(0..MISSES) == 0
    }
}
