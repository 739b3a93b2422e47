//! The settings of a consumer, and its limits.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::types::Message;
use sqs_client::wire::limits::MAX_IN_FLIGHT;

use crate::consume::batch::{AnyBatchHandler, BatchHandler};
use crate::consume::consumer::Consumer;
use crate::consume::handler::{AnyHandler, Handler};
use crate::consume::lines::GroupAdvance;
use crate::consume::pool::{Concurrency, HandlerPool, RateLimit};
use crate::consume::settle::{Failure, HandlerError, OnError, Outcome, Poison};
use crate::consume::work::Handling;
use crate::error::BuildError;
use crate::observe::receives::Hook;
use crate::receive::back_off::BackOff;
use crate::receive::delivery::GRACE;
use crate::receive::lease::Lease;
use crate::receive::pump::Source;
use crate::receive::renewal_thread::RenewalThread;
use crate::receive::settings::{Settings, receive_setters};
use crate::settings::AfterFailure;

/// Builds a [`Consumer`]. Set the [state](Self::state) before the [handler](Self::handler); the order of other settings
/// does not matter. [`build`](Self::build) checks them. `S` tells whether a handler is set, which `build` requires.
#[must_use = "a consumer does nothing before it is built and run"]
pub struct ConsumerBuilder<H: Execute = sqs_client::Client, S = NoHandler> {
    source: Source<H>,
    settings: Settings,
    options: Options,
    /// The client of the renewal thread.
    renewals: Option<H>,
    handler: S,
}

/// The settings that receivers do not have.
pub(crate) struct Options {
    pub(crate) limits: Limits,
    pub(crate) advance: GroupAdvance,
    pub(crate) poison: Poison,
    /// How long a shutdown takes at most by default.
    pub(crate) grace: Duration,
    pub(crate) hook: Option<Hook>,
    pub(crate) on_error: Option<OnError>,
    pub(crate) after_failure: AfterFailure,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            advance: GroupAdvance::default(),
            poison: Poison::default(),
            grace: GRACE,
            hook: None,
            on_error: None,
            after_failure: AfterFailure::default(),
        }
    }
}

/// A [`ConsumerBuilder`] with a handler.
pub type ReadyConsumer<H = sqs_client::Client> = ConsumerBuilder<H, WithHandler>;

/// The type state of a [`ConsumerBuilder`] without a handler. It contains the state for the handler.
#[derive(Clone, Copy, Debug)]
pub struct NoHandler<T = ()>(T);

/// The type state of a [`ConsumerBuilder`] with a handler.
pub struct WithHandler(Handling);

impl<H: Execute> ConsumerBuilder<H> {
    pub(crate) fn new(source: Source<H>) -> Self {
        Self {
            source,
            settings: Settings::default(),
            options: Options::default(),
            renewals: None,
            handler: NoHandler(()),
        }
    }

    /// Like [`handler`](Self::handler), for a function of message and lease. The parameters of a closure need no types.
    /// It takes no [state](Self::state); a closure captures what it needs.
    ///
    /// ```no_run
    /// use sqs_buffered::{Consumer, Outcome};
    ///
    /// # fn example(client: sqs_client::Client, url: &str) {
    /// let consumer = Consumer::builder(client, url).message_handler(|message, _lease| async move {
    ///     println!("{}", message.body().unwrap_or_default());
    ///     Ok(Outcome::Ack)
    /// });
    /// # }
    /// ```
    ///
    /// A builder with a state does not have it:
    ///
    /// ```compile_fail,E0599
    /// # use sqs_buffered::{Consumer, Outcome};
    /// # fn example(client: sqs_client::Client, url: &str) {
    /// Consumer::builder(client, url).state(7).message_handler(|_, _| async { Ok(Outcome::Ack) });
    /// # }
    /// ```
    pub fn message_handler<F, R>(self, handler: F) -> ReadyConsumer<H>
    where
        F: Fn(Arc<Message>, Lease) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Outcome, HandlerError>> + Send + 'static,
    {
        self.with(|_| WithHandler(Handling::Each(AnyHandler::of_messages(handler))))
    }
}

impl<H: Execute, S> ConsumerBuilder<H, S> {
    /// Sets how many handlers run at a time: a number from 1 to 120,000, or [`Concurrency::Adaptive`]; 10 by default.
    pub fn concurrency(mut self, handlers: impl Into<Concurrency>) -> Self {
        self.options.limits.handlers = Handlers::Own(handlers.into());
        self
    }

    /// Takes handlers from a pool that other consumers share, instead of its own [`concurrency`](Self::concurrency).
    /// While all consumers of the pool are busy, this one gets `weight` (1 to 1,000) divided by the sum of all weights.
    pub fn pool(mut self, pool: &HandlerPool, weight: u32) -> Self {
        self.options.limits.handlers = Handlers::Shared(pool.clone(), weight);
        self
    }

    /// Sets the priority within its [pool](Self::pool): 0 by default. While a consumer of a higher priority has messages that wait, those of
    /// lower priorities start no handlers; weights count among consumers of the same priority.
    pub fn priority(mut self, priority: u8) -> Self {
        self.options.limits.priority = priority;
        self
    }

    /// Limits how many messages start per second: 0.001 to 1,000,000; unlimited by default. Starts are evenly spaced,
    /// with bursts of at most 50 ms worth of messages. At most one second's worth of messages waits to start.
    pub fn rate_limit(mut self, messages_per_second: f64) -> Self {
        self.options.limits.per_second = Some(messages_per_second);
        self
    }

    /// Sets how many messages wait in addition to those that run, so that the next one is ready when a handler ends; 0 by
    /// default. Their leases are renewed while they wait. Concurrency and prefetch together are the places of a consumer,
    /// at most 120,000. A [batch handler](ConsumerBuilder::batch_handler) takes a place for each message of its batch.
    /// Messages that are being deleted take no place, up to as many again.
    ///
    /// On FIFO queues, up to ten messages of a group share a place, because one of them runs at a time. A receive can return
    /// ten messages of one group, and SQS returns no more of that group until they are deleted or visible again. So one
    /// busy group takes one place, and leaves the others to other groups.
    pub fn prefetch(mut self, messages: usize) -> Self {
        self.options.limits.prefetch = messages;
        self
    }

    /// Sets the maximum number of messages for a [batch handler](ConsumerBuilder::batch_handler): 1 to 10,000; 10 by default.
    /// Multiplied by the [concurrency](Self::concurrency), at most 120,000. Without a batch handler it has no effect.
    pub fn batch_size(mut self, messages: usize) -> Self {
        self.options.limits.batch_size = messages;
        self
    }

    /// Sets how long the first message of a batch waits for others: at most 5 minutes, 100 ms by default. With zero, a
    /// batch starts with the available messages. Without a [batch handler](ConsumerBuilder::batch_handler) it has no
    /// effect.
    pub fn batch_window(mut self, window: Duration) -> Self {
        self.options.limits.batch_window = window;
        self
    }

    receive_setters!(options.hook);

    /// Sets how long a message stays hidden after its handler failed or panicked: random, at most 2 seconds at first, doubled
    /// up to 15 minutes, by default.
    pub fn back_off(mut self, policy: BackOff) -> Self {
        self.settings.back_off = policy;
        self
    }

    /// Sets how long a handler may run: 1 ms to 12 hours, unlimited by default, while its lease is renewed. Then it is stopped at its next
    /// `.await`, and has failed. One that blocks its thread keeps its message and its place until it returns. A tenth of the time before,
    /// its [cancellation token](crate::consume::extract::MessageContext::cancellation) is cancelled, so that it can end by itself. The
    /// timeout of a batch handler is that of the whole batch.
    ///
    /// A shutdown stops handlers when its [grace](Self::grace) is over, if that is earlier. So choose a grace longer than the timeout if
    /// each running handler should finish.
    pub fn handler_timeout(mut self, timeout: Duration) -> Self {
        self.options.limits.handler_timeout = Some(timeout);
        self
    }

    /// Sets a policy for failures: it says what happens to a message after an error, a panic or a timeout of its handler. With `None`, the
    /// message is retried after the [back-off](Self::back_off). [`dead_letter_after`](crate::consume::settle::dead_letter_after) is one. A
    /// policy that panics counts as `None`.
    ///
    /// ```no_run
    /// # async fn handle(_: String) {}
    /// # fn example(client: sqs_client::Client, url: &str) {
    /// use sqs_buffered::{Consumer, Outcome};
    ///
    /// let consumer = Consumer::builder(client, url)
    ///     .on_error(|failure| match failure.error() {
    ///         // Retries cannot help.
    ///         Some(error) if error.is::<std::num::ParseIntError>() => Some(Outcome::DeadLetter(failure.to_string())),
    ///         _ if failure.receive_count() > 10 => Some(Outcome::Ack),
    ///         _ => None,
    ///     })
    ///     .handler(handle);
    /// # }
    /// ```
    pub fn on_error(
        mut self,
        policy: impl Fn(&Failure<'_>) -> Option<Outcome> + Send + Sync + 'static,
    ) -> Self {
        self.options.on_error = Some(Arc::new(policy));
        self
    }

    /// Sets what happens on FIFO queues to the messages of a group after one of them has failed or was
    /// [nacked](crate::consume::settle::Outcome::Nack). By default ([`AfterFailure::FailGroup`]), they wait for it, in order. With
    /// [`AfterFailure::Continue`], those that were received are handled without it; it comes back after its back-off. SQS returns no other
    /// message of the group until then.
    pub fn after_failure(mut self, behavior: AfterFailure) -> Self {
        self.options.after_failure = behavior;
        self
    }

    /// Sets when the next message of a group may start on FIFO queues: [`GroupAdvance::AfterDelete`] by default.
    pub fn group_advance(mut self, advance: GroupAdvance) -> Self {
        self.options.advance = advance;
        self
    }

    /// Sets what happens on FIFO queues when the handler of a message fails again and again: [`Poison::InPlace`] by default, if the
    /// queue has a redrive policy.
    pub fn poison(mut self, policy: Poison) -> Self {
        self.options.poison = policy;
        self
    }

    /// Sets whether a shutdown cancels running receives at once, instead of waiting for up to their
    /// [wait time](Self::wait_time); false by default. So an idle consumer stops at once. The risk: messages that a cancelled
    /// receive would have returned stay hidden until their visibility timeout is over, and on FIFO queues their groups
    /// wait. The report counts cancelled receives as [abandoned](crate::observe::receives::ReceiveStats::receives_abandoned).
    pub fn cancel_receives(mut self, cancels: bool) -> Self {
        self.settings.cancels_receives = cancels;
        self
    }

    /// Sets how long a shutdown takes at most: 25 seconds by default, because Kubernetes and ECS kill a process 30 seconds after
    /// they ask it to stop. An eighth of it, 1 to 3 seconds, is reserved for making messages visible again; handlers and
    /// receives have the rest to finish. A grace of less than a second counts as a second. If the rest is less than the
    /// [wait time](Self::wait_time), a receive may be cancelled; messages that it would have returned stay hidden until their
    /// visibility timeout is over.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.options.grace = grace;
        self
    }

    fn with<N>(self, change: impl FnOnce(S) -> N) -> ConsumerBuilder<H, N> {
        let Self { source, settings, options, renewals, handler } = self;
        ConsumerBuilder { source, settings, options, renewals, handler: change(handler) }
    }
}

impl<H: Execute, T> ConsumerBuilder<H, NoHandler<T>> {
    /// Sets the value that handlers take as [`State`](crate::consume::extract::State). Call it before [`handler`](Self::handler), which needs
    /// its type. A later call replaces it.
    pub fn state<N: Clone + Send + Sync + 'static>(self, state: N) -> ConsumerBuilder<H, NoHandler<N>> {
        self.with(|_| NoHandler(state))
    }

    /// Sets the [handler](Handler) of messages: an async function or closure whose parameters are
    /// [extractors](crate::consume::extract::FromMessage). Each call runs in a task of its own; a panic counts as an error. A handler whose
    /// lease is [lost](crate::receive::lease::Lease::lost) continues, but its outcome does not count. If it succeeds and this consumer has
    /// received the message again, the message is deleted and does not run again.
    ///
    /// ```no_run
    /// use sqs_buffered::{Consumer, Json};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Order {
    ///     id: u64,
    /// }
    ///
    /// async fn cook(Json(order): Json<Order>) -> Result<(), std::io::Error> {
    ///     println!("order {}", order.id);
    ///     Ok(())
    /// }
    ///
    /// # fn example(client: sqs_client::Client, url: &str) {
    /// let consumer = Consumer::builder(client, url).handler(cook).build();
    /// # }
    /// ```
    pub fn handler<A, F>(self, handler: F) -> ReadyConsumer<H>
    where
        F: Handler<A, T>,
        T: Send + Sync + 'static,
    {
        self.with(|NoHandler(state)| WithHandler(Handling::Each(AnyHandler::new(handler, state))))
    }

    /// Sets a [handler of several messages at a time](BatchHandler): an async function or closure of a `Vec` of
    /// [extractors](crate::consume::extract::FromMessage) and, optionally, the [state](Self::state). A batch starts when
    /// [`batch_size`](Self::batch_size) messages have arrived, or when its first message has waited for the
    /// [`batch_window`](Self::batch_window). [`concurrency`](Self::concurrency) counts batches. Leases are renewed
    /// until the batch has ended.
    ///
    /// On a FIFO queue, a batch may hold several messages of a group, in order. No later message of the group starts
    /// before they are settled. They are deleted one after the other, or together with [`GroupAdvance::AfterHandler`].
    /// After a failure, the messages behind it in the group run again, whatever their outcomes.
    ///
    /// ```no_run
    /// use sqs_buffered::{Consumer, HandlerError, Outcome};
    ///
    /// # fn example(client: sqs_client::Client, url: &str) -> Result<(), Box<dyn std::error::Error>> {
    /// // One outcome for each message, by position.
    /// async fn check(bodies: Vec<String>) -> Vec<Result<(), String>> {
    ///     bodies.into_iter().map(|body| if body.is_empty() { Err("empty".to_owned()) } else { Ok(()) }).collect()
    /// }
    ///
    /// let consumer = Consumer::builder(client, url).batch_size(25).batch_handler(check).build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn batch_handler<A, F>(self, handler: F) -> ReadyConsumer<H>
    where
        F: BatchHandler<A, T>,
        T: Send + Sync + 'static,
    {
        self.with(|NoHandler(state)| WithHandler(Handling::Batches(AnyBatchHandler::new(handler, state))))
    }
}

impl<H: Execute> ReadyConsumer<H> {
    /// Creates the consumer. It does nothing before it is [run](Consumer::run).
    ///
    /// # Errors
    /// A setting is out of range. The error names it, with its value and what is allowed.
    pub fn build(self) -> Result<Consumer<H>, BuildError> {
        let Self { mut source, settings, mut options, renewals, handler: WithHandler(handler) } = self;
        let limits = &mut options.limits;
        if let Handling::Each(_) = handler {
            limits.batch_size = 1;
        }
        settings.check(&source.url)?;
        limits.check()?;
        if limits.priority > 0 && matches!(limits.handlers, Handlers::Own(_)) {
            return Err(BuildError::new("priority", limits.priority, "0 without a pool"));
        }
        if let Handling::Each(handler) = &handler {
            handler.check()?;
        }
        let settings_of_client = source.client.settings();
        source.renewals =
            renewals.map(|client| RenewalThread::new(client, settings_of_client)).transpose()?;
        Ok(Consumer::assemble(source, settings, options, handler))
    }
}

impl<H: Execute, S> fmt::Debug for ConsumerBuilder<H, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsumerBuilder")
            .field("limits", &self.options.limits)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for WithHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithHandler")
    }
}

/// AWS Lambda has the same limits.
const MAX_BATCH_SIZE: usize = 10_000;

const MAX_BATCH_WINDOW: Duration = Duration::from_secs(300);

const MAX_WEIGHT: u32 = 1_000;

const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_hours(12);

/// Limits of running handlers, messages per handler, messages in addition to those, and starts per second.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) handlers: Handlers,
    pub(crate) prefetch: usize,
    /// 1 without a batch handler.
    pub(crate) batch_size: usize,
    /// How long the first message of a batch waits for others.
    pub(crate) batch_window: Duration,
    pub(crate) per_second: Option<f64>,
    pub(crate) handler_timeout: Option<Duration>,
    /// Within its pool.
    pub(crate) priority: u8,
}

/// The bound on running handlers.
#[derive(Clone, Debug)]
pub(crate) enum Handlers {
    Own(Concurrency),
    /// A pool, in which the consumer has this weight.
    Shared(HandlerPool, u32),
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handlers: Handlers::Own(Concurrency::default()),
            prefetch: 0,
            batch_size: 10,
            batch_window: Duration::from_millis(100),
            per_second: None,
            handler_timeout: None,
            priority: 0,
        }
    }
}

impl Limits {
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        if !(1..=MAX_BATCH_SIZE).contains(&self.batch_size) {
            return Err(BuildError::new("batch_size", self.batch_size, format!("1 to {MAX_BATCH_SIZE}")));
        }
        if self.batch_window > MAX_BATCH_WINDOW {
            let window = format!("{:?}", self.batch_window);
            return Err(BuildError::new("batch_window", window, format!("at most {MAX_BATCH_WINDOW:?}")));
        }
        if let Some(timeout) = self.handler_timeout.filter(|timeout| !TIMEOUTS.contains(timeout)) {
            return Err(BuildError::new("handler_timeout", format!("{timeout:?}"), "1 ms to 12 hours"));
        }
        match self.handlers {
            Handlers::Own(concurrency) => self.check_concurrency(concurrency)?,
            Handlers::Shared(_, weight) if !(1..=MAX_WEIGHT).contains(&weight) => {
                return Err(BuildError::new("pool (weight)", weight, format!("1 to {MAX_WEIGHT}")));
            }
            Handlers::Shared(..) => self.check_together(1)?,
        }
        self.per_second.map(RateLimit::new).transpose().map(drop)
    }

    /// Checks whether this many handlers may run.
    pub(crate) fn check_concurrency(&self, concurrency: Concurrency) -> Result<(), BuildError> {
        concurrency.check()?;
        self.check_together(concurrency.max())
    }

    fn check_together(&self, handlers: usize) -> Result<(), BuildError> {
        let running = handlers.saturating_mul(self.batch_size);
        if running > MAX_IN_FLIGHT {
            let allowed = format!("at most {MAX_IN_FLIGHT} divided by concurrency");
            return Err(BuildError::new("batch_size", self.batch_size, allowed));
        }
        if self.prefetch > MAX_IN_FLIGHT - running {
            let allowed = format!("at most {MAX_IN_FLIGHT} together with concurrency");
            return Err(BuildError::new("prefetch", self.prefetch, allowed));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_limits_are_named_with_what_is_allowed() {
        let own = |handlers: usize| Handlers::Own(handlers.into());
        let pool = |weight| Handlers::Shared(HandlerPool::unchecked(5.into()), weight);
        let limits = || Limits { batch_size: 1, ..Limits::default() };
        let adaptive = Handlers::Own(Concurrency::Adaptive { min: 0, max: 10 });
        let table = [
            (Limits { handlers: own(0), ..limits() }, "concurrency is 0, allowed is 1 to 120000"),
            (Limits { handlers: own(120_001), ..limits() }, "concurrency is 120001, allowed is 1 to 120000"),
            (Limits { handlers: adaptive, ..limits() }, "concurrency (min) is 0, allowed is 1 to 120000"),
            (Limits { handlers: pool(0), ..limits() }, "pool (weight) is 0, allowed is 1 to 1000"),
            (Limits { handlers: pool(1_001), ..limits() }, "pool (weight) is 1001, allowed is 1 to 1000"),
            (
                Limits { prefetch: 119_991, ..limits() },
                "prefetch is 119991, allowed is at most 120000 together with concurrency",
            ),
            (
                Limits { handlers: pool(1), prefetch: usize::MAX, ..limits() },
                "prefetch is 18446744073709551615, allowed is at most 120000 together with concurrency",
            ),
            (Limits { batch_size: 10_001, ..limits() }, "batch_size is 10001, allowed is 1 to 10000"),
            (
                Limits { handlers: own(13), batch_size: 10_000, ..limits() },
                "batch_size is 10000, allowed is at most 120000 divided by concurrency",
            ),
            (
                Limits { per_second: Some(0.0), ..limits() },
                "rate_limit is 0, allowed is 0.001 to 1000000 messages per second",
            ),
        ];
        for (limits, text) in table {
            assert_eq!(limits.check().expect_err(text).to_string(), text);
        }
        assert!(Limits::default().check().is_ok());
    }
}
