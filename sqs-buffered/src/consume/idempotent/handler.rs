//! The wrapper that makes a handler idempotent.

use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::store::{Begin, IdempotencyStore};
use crate::consume::{Attempt, Handler, HandlerError, MessageContext, Outcome};

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
