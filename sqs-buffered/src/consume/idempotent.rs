//! Idempotent handlers: each message has its effect once, as far as a store of keys remembers.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::consume::extract::MessageContext;
use crate::consume::handler::{Attempt, Handler};
use crate::consume::settle::{HandlerError, Outcome};
use crate::error::BuildError;
use crate::time::after;

/// The lease of a record if the message has no deadline, as in AWS Lambda without `handle_within`. It is renewed.
const WITHOUT_DEADLINE: Duration = Duration::from_secs(30);

/// The shortest pause between two renewals.
const MIN_PAUSE: Duration = Duration::from_millis(100);

/// How long a call of the store may take by default.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// The pauses of a message whose key is in progress: at most 5 s, because the other attempt may end before its time; at least
/// 500 ms, to spare the store.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));

/// The longest pause before the completion of a key is retried.
const MAX_PAUSE: Duration = Duration::from_secs(2);

type KeyOf = Box<dyn Fn(&MessageContext) -> Result<String, HandlerError> + Send + Sync>;

/// A [handler](Handler) that runs once for each key that its [store](IdempotencyStore) remembers. SQS delivers messages at least
/// once, and producers may send a message twice.
///
/// | Delivery | Effect |
/// |---|---|
/// | of a new key | the handler runs; the key is in progress until the lease of the message ends, and is renewed with it |
/// | of a key in progress | [`Outcome::Retry`]: the consumer keeps the message until the other attempt ends, or its time is over |
/// | of a completed key | the message is deleted; the handler does not run |
///
/// [`Outcome::Ack`] completes the key. Any other outcome, an error and a panic remove the record, so the next run starts
/// again. If a handler is stopped or the process dies, the record stays in progress until the lease ends. If the store fails or
/// takes too long, the handler fails: before its run, or after it if the key cannot be completed while the lease lasts.
///
/// If the process dies after the effect of the handler, but before the key is completed, the handler runs again. To rule that
/// out, [complete the attempt in the handler's transaction](IdempotencyStore#an-effect-that-happens-exactly-once).
///
/// The default key is the message id, which is unique over all queues. If producers may send a message twice, set another key
/// with [`key`](Self::key), for example [`MessageContext::deduplication_key`] on FIFO queues. Queues that share a store need
/// different keys.
///
/// ```
/// use std::sync::Arc;
///
/// use sqs_buffered::{Consumer, Idempotent, Json, MemoryStore};
///
/// #[derive(serde::Deserialize)]
/// struct Order {
///     id: u64,
/// }
///
/// async fn charge(Json(order): Json<Order>) -> Result<(), std::io::Error> {
///     println!("order {} is charged", order.id);
///     Ok(())
/// }
///
/// # fn example(client: sqs_client::Client, url: &str) {
/// let store = Arc::new(MemoryStore::default());
/// let consumer = Consumer::builder(client, url).handler(Idempotent::new(charge, store));
/// # }
/// ```
pub struct Idempotent<F, T> {
    handler: F,
    store: T,
    key_of: KeyOf,
    store_timeout: Duration,
}

impl<F, T: IdempotencyStore> Idempotent<F, T> {
    /// Wraps a handler. An `Arc` of a store is a store.
    pub fn new(handler: F, store: T) -> Self {
        Self { handler, store, key_of: Box::new(default_key), store_timeout: STORE_TIMEOUT }
    }

    /// Sets the function that returns the key of a message. An error or an empty key fails the handler.
    pub fn key(
        mut self,
        key_of: impl Fn(&MessageContext) -> Result<String, HandlerError> + Send + Sync + 'static,
    ) -> Self {
        self.key_of = Box::new(key_of);
        self
    }

    /// Sets how long a call of the store may take: 5 seconds by default.
    pub fn store_timeout(mut self, timeout: Duration) -> Self {
        self.store_timeout = timeout;
        self
    }

    async fn bounded<R>(
        &self,
        call: impl Future<Output = Result<R, HandlerError>> + Send,
    ) -> Result<R, HandlerError> {
        let result = timeout(self.store_timeout, call).await;
        let text = || format!("the idempotency store did not answer within {:?}", self.store_timeout);
        result.unwrap_or_else(|_| Err(text().into()))
    }

    async fn begin(&self, attempt: &Attempt, lease: Duration) -> Result<Begin, HandlerError> {
        self.bounded(self.store.begin(attempt, lease)).await
    }

    /// Completes the key. A failure is retried while the lease lasts, unless the record belongs to another attempt: the effect
    /// has happened, and should not be repeated.
    async fn complete(&self, context: &MessageContext, attempt: &Attempt) -> Result<(), HandlerError> {
        let until = Instant::now() + time_left(context).unwrap_or_default();
        let mut pause = MIN_PAUSE;
        loop {
            let Err(error) = self.bounded(self.store.complete(attempt)).await else { return Ok(()) };
            let left = until.saturating_duration_since(Instant::now());
            if left <= pause {
                return Err(error);
            }
            sleep(pause).await;
            // The result tells which attempt has the record. If this fails too, that is unknown.
            match self.begin(attempt, left.saturating_sub(pause)).await {
                Ok(Begin::Completed) => return Ok(()),
                Ok(Begin::InProgress { .. }) => return Err(error),
                Ok(Begin::Started) | Err(_) => pause = (pause * 2).min(MAX_PAUSE),
            }
        }
    }

    /// Renews the record while the handler runs, like the lease of the message.
    async fn renew(&self, context: &MessageContext, attempt: &Attempt, mut lease: Duration) {
        loop {
            sleep((lease / 2).max(MIN_PAUSE)).await;
            let Some(left) = time_left(context) else { return };
            match self.begin(attempt, left).await {
                Ok(Begin::Started) => lease = left,
                // Completed by the handler itself, or taken over after a pause that outlasted the lease.
                Ok(_) => return,
                Err(error) => {
                    tracing::debug!(%error, key = attempt.key(), "an idempotency record could not be renewed");
                    lease = left.min(lease / 2);
                }
            }
        }
    }
}

impl<A, S, F, T> Handler<A, S> for Idempotent<F, T>
where
    A: 'static,
    S: Sync,
    F: Handler<A, S>,
    T: IdempotencyStore,
{
    async fn call(&self, context: MessageContext, state: &S) -> Result<Outcome, HandlerError> {
        let key = (self.key_of)(&context)?;
        if key.is_empty() {
            return Err("the idempotency key of the message is empty".into());
        }
        let attempt = Attempt::new(key);
        let lease = time_left(&context).ok_or("the lease of the message is lost")?;
        match self.begin(&attempt, lease).await? {
            Begin::Completed => return Ok(Outcome::Ack),
            Begin::InProgress { remaining } => {
                return Ok(Outcome::Retry(remaining.clamp(PAUSES.0, PAUSES.1)));
            }
            Begin::Started => {}
        }
        let mut handled = pin!(self.handler.call(context.clone().with_attempt(attempt.clone()), state));
        // The record must not outlive a panic.
        let mut handled =
            pin!(poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| handled.as_mut().poll(cx))) {
                Ok(polled) => polled.map(Ok),
                Err(panic) => Poll::Ready(Err(panic)),
            }));
        let ended = tokio::select! {
            biased;
            ended = &mut handled => ended,
            () = self.renew(&context, &attempt, lease) => handled.await,
        };
        if let Ok(Ok(Outcome::Ack)) = ended {
            self.complete(&context, &attempt).await?;
        } else if let Err(error) = self.bounded(self.store.abandon(&attempt)).await {
            tracing::debug!(%error, key = attempt.key(), "an idempotency record could not be removed");
        }
        ended.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn check(&self) -> Result<(), BuildError> {
        self.handler.check()
    }
}

/// `None` when the lease is lost.
fn time_left(context: &MessageContext) -> Option<Duration> {
    let Some(deadline) = context.deadline() else {
        return context.lease().is_none().then_some(WITHOUT_DEADLINE);
    };
    Some(deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)))
}

fn default_key(context: &MessageContext) -> Result<String, HandlerError> {
    context.message().message_id().map(str::to_owned).ok_or_else(|| "the message has no message id".into())
}

impl<F, T> fmt::Debug for Idempotent<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotent").field("store_timeout", &self.store_timeout).finish_non_exhaustive()
    }
}

/// The store of [`Idempotent`](Idempotent): it remembers which keys are in progress and which are completed.
/// [`MemoryStore`](MemoryStore) is for a single process. For several processes, implement it over a database that they share.
///
/// A record belongs to one key. It is in progress for one [`Attempt`] until its lease ends, or it is completed. Each method
/// is atomic: of two attempts that begin at the same time, one starts. In SQL (`PostgreSQL`):
///
/// ```sql
/// CREATE TABLE handled (key text PRIMARY KEY, attempt text NOT NULL, leased_until timestamptz, completed_at timestamptz);
///
/// -- begin(attempt, lease): a returned row means Started. Without one, the record says InProgress or Completed; if it is
/// -- gone by then, begin again.
/// INSERT INTO handled (key, attempt, leased_until) VALUES ($key, $attempt, now() + $lease)
/// ON CONFLICT (key) DO UPDATE SET attempt = $attempt, leased_until = now() + $lease
/// WHERE handled.completed_at IS NULL AND (handled.attempt = $attempt OR handled.leased_until <= now())
/// RETURNING key;
/// SELECT completed_at, leased_until - now() FROM handled WHERE key = $key;
///
/// -- complete(attempt): no updated row is an error.
/// UPDATE handled SET completed_at = now() WHERE key = $key AND attempt = $attempt;
///
/// -- abandon(attempt)
/// DELETE FROM handled WHERE key = $key AND attempt = $attempt AND completed_at IS NULL;
///
/// -- From time to time: forget keys that no delivery can repeat. SQS keeps messages for up to 14 days.
/// DELETE FROM handled WHERE completed_at < now() - interval '15 days' OR leased_until < now() - interval '15 days';
/// ```
///
/// # An effect that happens exactly once
/// `Idempotent` completes the attempt after the handler has returned. If the process dies in between, the handler runs again. To
/// rule that out, the handler completes the attempt itself, in the transaction of its effect: it takes the [`Attempt`] as a
/// parameter, runs the `UPDATE` above, and commits only if one row was updated.
///
/// # Cancel safety
/// The future of each method can be dropped: after the [timeout](Idempotent::store_timeout), or when the handler is
/// stopped. The record may be written or not.
pub trait IdempotencyStore: Send + Sync + 'static {
    /// Begins an attempt, or renews the lease of an attempt that has begun and is not completed. The lease is at least a
    /// millisecond, and counts from now; use the clock of the store.
    ///
    /// # Errors
    /// The store failed. The message is delivered again after the back-off.
    fn begin(
        &self,
        attempt: &Attempt,
        lease: Duration,
    ) -> impl Future<Output = Result<Begin, HandlerError>> + Send;

    /// Marks the key as completed. Succeeds if this attempt has completed it before.
    ///
    /// # Errors
    /// The record belongs to another attempt, or the store failed. The message is delivered again after the back-off.
    fn complete(&self, attempt: &Attempt) -> impl Future<Output = Result<(), HandlerError>> + Send;

    /// Removes the record if this attempt holds it and has not completed it.
    ///
    /// # Errors
    /// The store failed. The record remains until its lease ends.
    fn abandon(&self, attempt: &Attempt) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

/// The result of [`IdempotencyStore::begin`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Begin {
    /// The record belongs to this attempt until its lease ends.
    Started,
    /// Another attempt is in progress.
    InProgress {
        /// The rest of its lease.
        remaining: Duration,
    },
    /// The key was completed, by this attempt or another.
    Completed,
}

impl<T: IdempotencyStore> IdempotencyStore for Arc<T> {
    async fn begin(&self, attempt: &Attempt, lease: Duration) -> Result<Begin, HandlerError> {
        T::begin(self, attempt, lease).await
    }

    async fn complete(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        T::complete(self, attempt).await
    }

    async fn abandon(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        T::abandon(self, attempt).await
    }
}

/// Checks that a store keeps its contract, for the tests of a store of your own. It takes about two seconds, and leaves a completed key
/// with a random name behind.
///
/// ```
/// use sqs_buffered::{MemoryStore, check_store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// check_store(&MemoryStore::default()).await;
/// # }
/// ```
///
/// # Panics
/// The store breaks a rule. The message names it.
pub async fn check_store<T: IdempotencyStore>(store: &T) {
    const LEASE: Duration = Duration::from_secs(1);
    let key = sqs_client::random::uuid();
    let [first, second, third] = [(); 3].map(|()| Attempt::new(&*key));
    let began = async |attempt: &Attempt| store.begin(attempt, LEASE).await.expect("begin must not fail");
    assert_eq!(began(&first).await, Begin::Started, "a new key must start");
    assert_eq!(
        began(&first).await,
        Begin::Started,
        "begin must renew the lease of the attempt that holds it"
    );
    let Begin::InProgress { remaining } = began(&second).await else {
        panic!("a second attempt must not start while the first is in progress");
    };
    assert!(remaining <= LEASE, "the rest of a lease of {LEASE:?} must not be {remaining:?}");
    assert!(store.complete(&second).await.is_err(), "only the attempt that holds the key may complete it");
    store.abandon(&second).await.expect("abandon must not fail");
    let is_held = matches!(began(&second).await, Begin::InProgress { .. });
    assert!(is_held, "abandon must not remove the record of another attempt");
    sleep(LEASE + MIN_PAUSE).await;
    assert_eq!(
        began(&second).await,
        Begin::Started,
        "an attempt must start when the lease before it has ended"
    );
    assert!(store.complete(&first).await.is_err(), "an attempt must not complete the key that another holds");
    store.abandon(&second).await.expect("abandon must not fail");
    assert_eq!(began(&third).await, Begin::Started, "an abandoned key must start again");
    store.complete(&third).await.expect("the attempt that holds the key must complete it");
    store.complete(&third).await.expect("completing a key twice must succeed");
    store.abandon(&third).await.expect("abandon must not fail");
    sleep(LEASE + MIN_PAUSE).await;
    for attempt in [&first, &second, &third] {
        assert_eq!(began(attempt).await, Begin::Completed, "a completed key must stay completed");
    }
    let key = sqs_client::random::uuid();
    let (one, other) = (Attempt::new(&*key), Attempt::new(&*key));
    let both = tokio::join!(store.begin(&one, LEASE), store.begin(&other, LEASE));
    let started = [both.0, both.1].into_iter().filter(|began| matches!(began, Ok(Begin::Started))).count();
    assert_eq!(started, 1, "of two attempts that begin at the same time, one must start");
    for attempt in [&one, &other] {
        store.abandon(attempt).await.expect("abandon must not fail");
    }
}

/// An [`IdempotencyStore`] in memory: for tests, and for duplicates within one process. Other processes do not see it, and it
/// is lost when the process ends.
///
/// It keeps completed keys for the time to live. When it is full, it forgets the oldest completed key early. If all keys
/// are in progress, an attempt fails; so the capacity must exceed the concurrency.
#[derive(Debug)]
pub struct MemoryStore(Mutex<Records>);

impl MemoryStore {
    /// Creates a store of at most `capacity` keys, at least 1, that keeps completed keys for `time_to_live`.
    pub fn new(capacity: usize, time_to_live: Duration) -> Self {
        Self(Mutex::new(Records::new(capacity, time_to_live)))
    }

    /// The number of keys. Expired ones count until the next attempt begins.
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for MemoryStore {
    /// 100,000 keys for a day.
    fn default() -> Self {
        Self::new(100_000, Duration::from_hours(24))
    }
}

impl IdempotencyStore for MemoryStore {
    async fn begin(&self, attempt: &Attempt, lease: Duration) -> Result<Begin, HandlerError> {
        let begun = self.0.lock().begin(Instant::now(), attempt, lease);
        begun.map_err(|Full| "the memory store is full: all of its keys are in progress; its capacity must exceed the concurrency".into())
    }

    async fn complete(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        let is_completed = self.0.lock().complete(Instant::now(), attempt);
        if is_completed {
            Ok(())
        } else {
            Err("the record belongs to another attempt, or the memory store is full".into())
        }
    }

    async fn abandon(&self, attempt: &Attempt) -> Result<(), HandlerError> {
        self.0.lock().abandon(attempt);
        Ok(())
    }
}

/// The records of a store in memory: at most `capacity`. `by_end` has them in the order of their ends.
#[derive(Debug)]
struct Records {
    capacity: usize,
    time_to_live: Duration,
    by_key: HashMap<String, Record>,
    by_end: BTreeMap<End, String>,
    /// Distinguishes records that end at the same time.
    next: u64,
}

type End = (Instant, u64);

#[derive(Debug)]
struct Record {
    attempt: String,
    is_completed: bool,
    end: End,
}

/// All records are in progress, and there is no room for another.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Full;

impl Records {
    pub(crate) fn new(capacity: usize, time_to_live: Duration) -> Self {
        let capacity = capacity.max(1);
        Self { capacity, time_to_live, by_key: HashMap::new(), by_end: BTreeMap::new(), next: 0 }
    }

    fn len(&self) -> usize {
        self.by_key.len()
    }

    fn begin(&mut self, now: Instant, attempt: &Attempt, lease: Duration) -> Result<Begin, Full> {
        self.forget_ended(now);
        match self.by_key.get(attempt.key()) {
            Some(record) if record.is_completed => return Ok(Begin::Completed),
            Some(record) if record.attempt != attempt.id() => {
                return Ok(Begin::InProgress { remaining: record.end.0.saturating_duration_since(now) });
            }
            Some(_) => {}
            None => self.make_room()?,
        }
        self.put(attempt, false, after(now, lease));
        Ok(Begin::Started)
    }

    /// Says whether the record is completed by this attempt. If its time is over and no other attempt has begun, the record is
    /// written again: the effect has happened.
    pub(crate) fn complete(&mut self, now: Instant, attempt: &Attempt) -> bool {
        self.forget_ended(now);
        match self.by_key.get(attempt.key()) {
            Some(record) if record.attempt != attempt.id() => return false,
            Some(record) if record.is_completed => return true,
            Some(_) => {}
            None => {
                if self.make_room().is_err() {
                    return false;
                }
            }
        }
        self.put(attempt, true, after(now, self.time_to_live));
        true
    }

    pub(crate) fn abandon(&mut self, attempt: &Attempt) {
        let holds = |record: &Record| record.attempt == attempt.id() && !record.is_completed;
        if self.by_key.get(attempt.key()).is_some_and(holds) {
            self.remove(attempt.key());
        }
    }

    fn put(&mut self, attempt: &Attempt, is_completed: bool, end: Instant) {
        self.remove(attempt.key());
        let end = (end, self.next);
        self.next += 1;
        self.by_end.insert(end, attempt.key().to_owned());
        let record = Record { attempt: attempt.id().to_owned(), is_completed, end };
        self.by_key.insert(attempt.key().to_owned(), record);
    }

    fn remove(&mut self, key: &str) {
        if let Some(record) = self.by_key.remove(key) {
            self.by_end.remove(&record.end);
        }
    }

    fn forget_ended(&mut self, now: Instant) {
        while let Some(first) = self.by_end.first_entry().filter(|first| first.key().0 <= now) {
            self.by_key.remove(&first.remove());
        }
    }

    /// If there is no room, forgets the oldest completed record. There are at most as many records in progress as
    /// running handlers.
    fn make_room(&mut self) -> Result<(), Full> {
        if self.len() < self.capacity {
            return Ok(());
        }
        let is_completed = |key: &&String| self.by_key.get(*key).is_some_and(|record| record.is_completed);
        let oldest = self.by_end.values().find(is_completed).cloned().ok_or(Full)?;
        self.remove(&oldest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LEASE: Duration = Duration::from_secs(30);

    fn in_progress(seconds: u64) -> Begin {
        Begin::InProgress { remaining: Duration::from_secs(seconds) }
    }

    #[test]
    fn second_attempt_waits_for_the_lease_of_the_first_and_then_takes_over() {
        let (mut records, now) = (Records::new(10, LEASE), Instant::now());
        let (first, second) = (Attempt::new("a"), Attempt::new("a"));
        let at = |seconds| now + Duration::from_secs(seconds);
        assert_eq!(records.begin(now, &first, LEASE), Ok(Begin::Started));
        assert_eq!(records.begin(at(10), &second, LEASE), Ok(in_progress(20)));
        assert_eq!(records.begin(at(20), &first, LEASE), Ok(Begin::Started), "renewed");
        assert_eq!(records.begin(at(30), &second, LEASE), Ok(in_progress(20)));
        assert_eq!(records.begin(at(50), &second, LEASE), Ok(Begin::Started));
        assert_eq!(records.begin(at(51), &first, LEASE), Ok(in_progress(29)));
        assert!(!records.complete(at(51), &first), "it belongs to the second");
        records.abandon(&first);
        assert!(records.complete(at(52), &second));
        assert!(records.complete(at(53), &second), "once more");
        records.abandon(&second);
        assert_eq!(records.begin(at(54), &first, LEASE), Ok(Begin::Completed));
    }

    #[test]
    fn abandoned_and_forgotten_keys_start_again() {
        let (mut records, now) = (Records::new(10, LEASE), Instant::now());
        let attempt = Attempt::new("a");
        assert_eq!(records.begin(now, &attempt, LEASE), Ok(Begin::Started));
        records.abandon(&attempt);
        assert_eq!(records.len(), 0);
        let attempt = Attempt::new("a");
        assert_eq!(records.begin(now, &attempt, LEASE), Ok(Begin::Started));
        assert!(records.complete(now, &attempt));
        let late = now + LEASE;
        assert_eq!(records.begin(late, &Attempt::new("a"), LEASE), Ok(Begin::Started));
    }

    #[test]
    fn attempt_whose_time_is_over_is_completed_unless_another_has_begun() {
        let (mut records, now) = (Records::new(10, LEASE), Instant::now());
        let attempt = Attempt::new("a");
        assert_eq!(records.begin(now, &attempt, LEASE), Ok(Begin::Started));
        let late = now + 2 * LEASE;
        assert!(records.complete(late, &attempt));
        assert_eq!(records.begin(late, &Attempt::new("a"), LEASE), Ok(Begin::Completed));
    }

    #[test]
    fn full_store_forgets_the_oldest_completed_key_and_none_in_progress() {
        let (mut records, now) = (Records::new(3, 10 * LEASE), Instant::now());
        let attempts: Vec<_> = ["a", "b", "c", "d", "e"].map(Attempt::new).into();
        for attempt in &attempts[..3] {
            assert_eq!(records.begin(now, attempt, LEASE), Ok(Begin::Started));
        }
        assert_eq!(records.begin(now, &attempts[3], LEASE), Err(Full));
        assert!(records.complete(now, &attempts[1]) && records.complete(now, &attempts[0]));
        assert_eq!(records.begin(now, &attempts[3], LEASE), Ok(Begin::Started));
        assert_eq!(records.begin(now, &Attempt::new("a"), LEASE), Ok(Begin::Completed));
        assert_eq!(records.begin(now, &attempts[4], LEASE), Ok(Begin::Started), "`b` was forgotten");
        assert_eq!(records.begin(now, &Attempt::new("b"), LEASE), Err(Full));
    }

    proptest! {
        #[test]
        fn indexes_agree_and_stay_within_the_capacity(
            steps in prop::collection::vec((0_usize..4, 0_usize..6, 0_u64..40), 1..200),
        ) {
            let (mut records, mut now) = (Records::new(4, LEASE), Instant::now());
            let attempts: Vec<_> = (0..6).map(|number| Attempt::new((number / 2).to_string())).collect();
            for (what, who, seconds) in steps {
                let attempt = &attempts[who];
                match what {
                    0 => drop(records.complete(now, attempt)),
                    1 => records.abandon(attempt),
                    2 => now += Duration::from_secs(seconds),
                    _ => drop(records.begin(now, attempt, LEASE)),
                }
                prop_assert!(records.len() <= 4);
                prop_assert_eq!(records.by_end.len(), records.len());
                for (end, key) in &records.by_end {
                    prop_assert_eq!(records.by_key[key].end, *end);
                }
            }
        }
    }
}
