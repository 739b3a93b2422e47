//! A pool of handlers that several consumers share.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::adaptive::{AdaptiveLimit, HandlerEnd};
use super::concurrency::Concurrency;
use super::shares::{Id, Shares};
use crate::produce::BuildError;

/// A common limit of running handlers for several consumers, usually one per queue.
///
/// While all queues are busy, each consumer gets handlers in proportion to its weight. Handlers that a queue does not need for a
/// second go to the others. So a busy queue does not starve the others. Each consumer has its own handler function; queues can
/// be FIFO and standard queues.
///
/// Clones share the pool.
///
/// ```no_run
/// # async fn example(client: sqs_client::Client, urgent: &str, other: &str) -> Result<(), Box<dyn std::error::Error>> {
/// use sqs_buffered::{BufferedClient, Consumer, HandlerPool, Outcome};
///
/// let client = BufferedClient::new(client);
/// let pool = HandlerPool::new(32)?;
/// let consumer = |queue_url, weight| {
///     let builder = Consumer::builder_with(&client, queue_url).pool(&pool, weight);
///     builder.message_handler(|_message, _lease| async { Ok(Outcome::Ack) }).build()
/// };
/// let (urgent, other) = (consumer(urgent, 3)?, consumer(other, 1)?);
/// let (urgent, other) = tokio::join!(urgent.run_until_signal(), other.run_until_signal());
/// println!("{:?} {:?}", urgent?, other?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HandlerPool(Arc<Mutex<Pool>>);

/// The lock is held for a few instructions.
struct Pool {
    shares: Shares,
    adaptive: Option<AdaptiveLimit>,
    /// Wakes each consumer.
    wakers: BTreeMap<Id, Arc<Notify>>,
}

/// A consumer of a pool. Dropping it leaves the pool.
pub(crate) struct PoolMember {
    pool: HandlerPool,
    id: Id,
}

impl HandlerPool {
    /// Creates a pool with this [`Concurrency`]: a number, or adaptive bounds.
    ///
    /// # Errors
    /// The number is not 1 to 120,000.
    pub fn new(concurrency: impl Into<Concurrency>) -> Result<Self, BuildError> {
        let concurrency = concurrency.into();
        concurrency.check()?;
        Ok(Self::unchecked(concurrency))
    }

    /// The caller has checked the bounds.
    pub(crate) fn unchecked(concurrency: Concurrency) -> Self {
        let pool = Pool { shares: Shares::new(0), adaptive: None, wakers: BTreeMap::new() };
        let pool = Self(Arc::new(Mutex::new(pool)));
        pool.set(concurrency);
        pool
    }

    /// Changes the number of handlers that run at a time. An increase takes effect at once. After a decrease, running
    /// handlers finish, and fewer start.
    ///
    /// # Errors
    /// The same as [`new`](Self::new).
    pub fn set_concurrency(&self, concurrency: impl Into<Concurrency>) -> Result<(), BuildError> {
        let concurrency = concurrency.into();
        concurrency.check()?;
        self.set(concurrency);
        Ok(())
    }

    /// How many handlers may run at a time now.
    pub fn concurrency(&self) -> usize {
        self.0.lock().shares.limit()
    }

    fn set(&self, concurrency: Concurrency) {
        let mut pool = self.0.lock();
        pool.adaptive = match concurrency {
            Concurrency::Fixed(_) => None,
            Concurrency::Adaptive { min, max } => Some(AdaptiveLimit::new(min, max)),
        };
        let limit = pool.adaptive.as_ref().map_or(concurrency.max(), AdaptiveLimit::limit);
        pool.shares.set_limit(limit);
        pool.wake_others(None);
    }

    /// Joins with this weight. `waker` is notified when it may be this consumer's turn, or its places have changed.
    pub(crate) fn join(&self, weight: u32, waker: &Arc<Notify>) -> PoolMember {
        let mut pool = self.0.lock();
        let id = pool.shares.join(weight);
        pool.wakers.insert(id, Arc::clone(waker));
        pool.wake_others(Some(id));
        PoolMember { pool: self.clone(), id }
    }
}

impl Pool {
    /// Wakes the other consumers. Each checks whether it may start, and how many places it has.
    fn wake_others(&self, but: Option<Id>) {
        for (_, waker) in self.wakers.iter().filter(|(id, _)| Some(**id) != but) {
            waker.notify_one();
        }
    }
}

impl PoolMember {
    /// Starts a handler, if it is this consumer's turn. If not, the waker is notified when it is.
    pub(crate) fn start(&self, now: Instant) -> bool {
        let mut guard = self.pool.0.lock();
        let pool = &mut *guard;
        let may = pool.shares.start(self.id, now);
        if may {
            pool.wake_others(Some(self.id));
        } else if let Some(id) = pool.shares.turn(now) {
            if let Some(waker) = pool.wakers.get(&id) {
                waker.notify_one();
            }
        } else if let Some(adaptive) = &mut pool.adaptive {
            adaptive.refused();
        }
        may
    }

    /// This consumer has nothing to start, so others may.
    pub(crate) fn idle(&self) {
        let mut pool = self.pool.0.lock();
        if pool.shares.idle(self.id) {
            pool.wake_others(Some(self.id));
        }
    }

    /// A handler has ended.
    pub(crate) fn ended(&self, how: HandlerEnd, elapsed: Duration, now: Instant) {
        let mut guard = self.pool.0.lock();
        let pool = &mut *guard;
        if let Some(adaptive) = &mut pool.adaptive {
            adaptive.ended(how, elapsed, pool.shares.running(), now);
            pool.shares.set_limit(adaptive.limit());
        }
        pool.shares.ended(self.id, now);
        pool.wake_others(Some(self.id));
    }

    /// How many handlers this consumer may have at a time, and when that may change without a notice.
    pub(crate) fn places(&self, now: Instant) -> (usize, Option<Instant>) {
        let pool = self.pool.0.lock();
        (pool.shares.places(self.id, now), pool.shares.next_change(self.id, now))
    }
}

impl Drop for PoolMember {
    fn drop(&mut self) {
        let mut pool = self.pool.0.lock();
        pool.shares.leave(self.id);
        pool.wakers.remove(&self.id);
        pool.wake_others(None);
    }
}

impl fmt::Debug for HandlerPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pool = self.0.lock();
        let (running, consumers) = (pool.shares.running(), pool.wakers.len());
        f.debug_struct("HandlerPool")
            .field("concurrency", &pool.shares.limit())
            .field("running", &running)
            .field("consumers", &consumers)
            .finish()
    }
}
