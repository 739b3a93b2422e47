//! A fault as its user describes it.

use std::sync::Arc;
use std::time::Duration;

use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;

use super::effect::{Effect, End, Ending, Failure};
use super::filter::{Condition, Filter};
use super::{Entry, Request};

/// What goes wrong, for which requests, and how often. Without further words it strikes every request, for ever.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use sqs_mock_server::MockSqs;
/// # let server = MockSqs::in_process();
/// # let client = server.client();
/// # let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
/// use sqs_client::operation::Action;
/// use sqs_client::wire::service_error::ErrorCode;
/// use sqs_mock_server::faults::Fault;
///
/// let fault = Fault::error(ErrorCode::AccessDenied)
///     .on(Action::SendMessage)
///     .queue("orders")
///     .body_contains("tea")
///     .times(1);
/// let injected = server.faults().inject(fault);
///
/// client.send_message().queue_url(&url).message_body("coffee").send().await?;
/// let refused = client.send_message().queue_url(&url).message_body("tea").send().await.unwrap_err();
/// assert!(refused.is_access_denied());
/// assert_eq!(injected.hits(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Fault {
    pub(super) effect: Effect,
    pub(super) filter: Filter,
    pub(super) skip: u64,
    pub(super) times: Option<u64>,
    /// 0 to 1.
    pub(super) probability: f64,
    pub(super) spared_per_second: Option<u32>,
}

/// The name of a queue within its name, its URL or its ARN.
pub(crate) fn name_of(queue: &str) -> &str {
    queue.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default()
}

/// What goes wrong.
impl Fault {
    /// The service refuses and does nothing.
    pub fn error(code: ErrorCode) -> Self {
        Self::new(Effect::End(End::Error(Failure::new(code))))
    }

    /// The service refuses because there are too many requests: `RequestThrottled`.
    pub fn throttle() -> Self {
        Self::error(ErrorCode::RequestThrottled)
    }

    /// The answer is this status with this text, as of a proxy before the service; nothing is done. Statuses that
    /// HTTP does not have, or that have no body, become 500.
    pub fn status(status: u16, body: impl Into<String>) -> Self {
        Self::new(Effect::End(End::Status(status, body.into())))
    }

    /// Entries of batches fail with this code, each for itself; the others are done. Single sends, deletes and
    /// changes of visibility are not struck.
    pub fn fail_entries(code: ErrorCode) -> Self {
        Self::new(Effect::FailEntries(Failure::new(code)))
    }

    /// Entries of batches are done, but the answer does not mention them, neither as successful nor as failed.
    pub fn omit_entries() -> Self {
        Self::new(Effect::OmitEntries)
    }

    /// The request waits before anything is done, in real time.
    pub fn latency(duration: Duration) -> Self {
        Self::latency_between(duration, duration)
    }

    /// The request waits for a random time before anything is done, in real time. Requests that are made one after
    /// the other without waiting for answers are thereby done in another order.
    pub fn latency_between(least: Duration, most: Duration) -> Self {
        Self::new(Effect::Latency(least.min(most), most.max(least)))
    }

    /// The connection is reset and nothing is done.
    pub fn reset_before() -> Self {
        Self::new(Effect::End(End::ResetBefore))
    }

    /// The request is done, but the connection is reset instead of an answer.
    pub fn reset_after() -> Self {
        Self::spoilt(Ending::Lost)
    }

    /// The request is done, but its answer breaks off in the middle.
    pub fn truncate() -> Self {
        Self::spoilt(Ending::Truncated)
    }

    /// The request is done, but the MD5 sums in its answer are wrong; an answer without any is garbled.
    pub fn corrupt() -> Self {
        Self::spoilt(Ending::Corrupt)
    }

    /// Standard queues deliver messages twice: the next receive gets them again, even if they are deleted meanwhile, as
    /// "at least once" allows. It does not make dead letters of them. FIFO queues are not struck.
    pub fn redeliver() -> Self {
        Self::new(Effect::Redeliver).on(Action::ReceiveMessage)
    }

    fn spoilt(ending: Ending) -> Self {
        Self::new(Effect::End(End::Spoilt(ending)))
    }

    pub(super) fn new(effect: Effect) -> Self {
        Self {
            effect,
            filter: Filter::default(),
            skip: 0,
            times: None,
            probability: 1.0,
            spared_per_second: None,
        }
    }
}

/// For which requests, and how often.
impl Fault {
    /// The text of the refusal. Faults that refuse nothing have none.
    pub fn message(mut self, text: impl Into<String>) -> Self {
        if let Some(failure) = self.effect.failure_mut() {
            failure.message = Some(text.into());
        }
        self
    }

    /// Whether failed entries are told that it is the fault of their sender. By default as the code has it.
    pub fn sender_fault(mut self, sender_fault: bool) -> Self {
        if let Some(failure) = self.effect.failure_mut() {
            failure.sender_fault = Some(sender_fault);
        }
        self
    }

    /// Strikes requests for this action. Said more than once, any of the actions.
    pub fn on(mut self, action: Action) -> Self {
        self.filter.actions.push(action);
        self
    }

    /// Strikes requests for the queue of this name, in any account and region. Of a URL or an ARN, the name counts.
    pub fn queue(mut self, name: impl AsRef<str>) -> Self {
        self.filter.queue = Some(name_of(name.as_ref()).to_owned());
        self
    }

    /// Strikes messages of this group as they are sent. What strikes whole requests strikes those with at least one.
    pub fn group(mut self, id: impl Into<String>) -> Self {
        self.filter.entry.group = Some(id.into());
        self
    }

    /// Strikes messages with this text in their body as they are sent. What strikes whole requests strikes those
    /// with at least one.
    pub fn body_contains(mut self, text: impl Into<String>) -> Self {
        self.filter.entry.body = Some(text.into());
        self
    }

    /// Strikes the entry at this place of a batch, from 0. Said more than once, any of the places.
    pub fn entry(mut self, index: usize) -> Self {
        self.filter.entry.indices.push(index);
        self
    }

    /// Strikes requests of which this is true.
    pub fn when(mut self, condition: impl Fn(&Request<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.filter.request = Some(Condition(Arc::new(condition)));
        self
    }

    /// Strikes entries of which this is true. What strikes whole requests strikes those with at least one.
    pub fn when_entry(mut self, condition: impl Fn(&Entry<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.filter.entry.condition = Some(Condition(Arc::new(condition)));
        self
    }

    /// Spares the first `count` requests, or entries, that it would strike.
    pub fn skip(mut self, count: u64) -> Self {
        self.skip = count;
        self
    }

    /// Strikes at most that often. A fault of entries counts entries, all others count requests.
    pub fn times(mut self, count: u64) -> Self {
        self.times = Some(count);
        self
    }

    /// Limits the fault to requests, or entries, above this rate per second of the server's clock. Bursts of a tenth of the rate, at
    /// least one, succeed. `Fault::throttle().above(300)` is the quota of a FIFO queue. Faults of S3 have no rate.
    pub fn above(mut self, per_second: u32) -> Self {
        self.spared_per_second = Some(per_second);
        self
    }

    /// Strikes with a probability of 0 (never) to 1 (always), drawn from the seed of the server. What is beyond
    /// counts as the nearer of the two.
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = if probability.is_nan() { 0.0 } else { probability.clamp(0.0, 1.0) };
        self
    }
}
