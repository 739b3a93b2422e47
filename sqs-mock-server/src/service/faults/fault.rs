//! A fault as its user describes it.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;

use super::effect::{Effect, Millis};
use super::filter::{Condition, EntryFilter, Filter};
use super::{Entry, Request};

/// What goes wrong, for which requests, and how often. By default it affects every request to SQS.
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
/// let denied = client.send_message().queue_url(&url).message_body("tea").send().await.unwrap_err();
/// assert!(denied.is_access_denied());
/// assert_eq!(injected.hits(), 1);
/// # Ok(())
/// # }
/// ```
// serde derives inherent functions because of `remote`; `json` wraps them with checks.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[must_use]
#[serde(remote = "Self")]
pub struct Fault {
    #[serde(flatten)]
    pub(super) filter: Filter,
    #[serde(flatten)]
    pub(super) entry_filter: EntryFilter,
    pub(super) skip: Option<u64>,
    pub(super) times: Option<u64>,
    /// 0 to 1.
    #[serde(default = "always", skip_serializing_if = "is_always")]
    pub(super) probability: f64,
    /// Requests per second that are not affected.
    pub(super) above: Option<u32>,
    /// Must be the last field: it rejects all fields that the others do not accept.
    #[serde(flatten)]
    pub(super) effect: Effect,
}

fn always() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_always(probability: &f64) -> bool {
    *probability >= 1.0
}

/// The name of a queue or a topic, given its name, URL or ARN.
pub(super) fn name_of(text: &str) -> &str {
    text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default()
}

fn name_of_code(code: ErrorCode) -> String {
    match code {
        ErrorCode::Other(name) => name,
        code => code.query_code().to_owned(),
    }
}

/// Effects.
impl Fault {
    /// The service rejects the request and does not apply it.
    pub fn error(code: ErrorCode) -> Self {
        Self::new(Effect::Error { code: name_of_code(code), message: None })
    }

    /// The service rejects the request because there are too many: `RequestThrottled`, `SlowDown` of S3 or `Throttled`
    /// of SNS.
    pub fn throttle() -> Self {
        Self::new(Effect::Throttle { message: None })
    }

    /// The response has this status and text, as from a proxy in front of the service; the request is not applied. A
    /// status that HTTP does not define, or that allows no body, becomes 500.
    pub fn status(status: u16, body: impl Into<String>) -> Self {
        Self::new(Effect::Status { status, body: body.into() })
    }

    /// Entries of batches fail with this code; the others are applied. Requests without a batch are not affected.
    pub fn fail_entries(code: ErrorCode) -> Self {
        Self::new(Effect::FailEntries { code: name_of_code(code), message: None, sender_fault: None })
    }

    /// Entries of batches are applied, but the response lists them neither as successful nor as failed.
    pub fn omit_entries() -> Self {
        Self::new(Effect::OmitEntries {})
    }

    /// The request waits before it is applied, in real time.
    pub fn latency(duration: Duration) -> Self {
        Self::latency_between(duration, duration)
    }

    /// The request waits for a random time before it is applied, in real time. Concurrent requests may overtake each
    /// other.
    pub fn latency_between(least: Duration, most: Duration) -> Self {
        let (least, most) = (least.min(most), most.max(least));
        Self::new(Effect::Latency { least: Millis(least), most: (least < most).then_some(Millis(most)) })
    }

    /// The connection is reset; the request is not applied.
    pub fn reset_before() -> Self {
        Self::new(Effect::ResetBefore {})
    }

    /// The request is applied; then the connection is reset without a response.
    pub fn reset_after() -> Self {
        Self::new(Effect::ResetAfter {})
    }

    /// The request is applied, but its response ends in the middle.
    pub fn truncate() -> Self {
        Self::new(Effect::Truncate {})
    }

    /// The request is applied, but the MD5 checksums in its response are wrong. A response without checksums cannot be
    /// decoded.
    pub fn corrupt() -> Self {
        Self::new(Effect::Corrupt {})
    }

    /// Standard queues deliver messages twice: the next receive returns them again, even if they are deleted meanwhile,
    /// as at-least-once delivery allows. This moves no message to a dead-letter queue. FIFO queues are not affected.
    pub fn redeliver() -> Self {
        Self::new(Effect::Redeliver {}).on(Action::ReceiveMessage)
    }

    pub(super) fn new(effect: Effect) -> Self {
        Self {
            filter: Filter::default(),
            entry_filter: EntryFilter::default(),
            skip: None,
            times: None,
            probability: 1.0,
            above: None,
            effect,
        }
    }
}

/// Which requests are affected, and how often.
impl Fault {
    /// Sets the text of the error. Has no effect on faults that are not errors.
    pub fn message(mut self, text: impl Into<String>) -> Self {
        if let Some(message) = self.effect.message_mut() {
            *message = Some(text.into());
        }
        self
    }

    /// Sets `SenderFault` of failed entries. The default depends on the code.
    pub fn sender_fault(mut self, is_sender_fault: bool) -> Self {
        if let Effect::FailEntries { sender_fault, .. } = &mut self.effect {
            *sender_fault = Some(is_sender_fault);
        }
        self
    }

    /// Affects requests for this action. Several calls accept any of the actions.
    pub fn on(mut self, action: Action) -> Self {
        self.filter.actions.push(action.into());
        self
    }

    /// Affects requests that address the queue with this name, in any account and region. Of a URL or an ARN, only the
    /// name counts.
    pub fn queue(mut self, name: impl AsRef<str>) -> Self {
        self.filter.queue = Some(name_of(name.as_ref()).to_owned());
        self
    }

    /// Affects sends to this message group. A fault of whole requests affects those with at least one such message.
    pub fn group(mut self, id: impl Into<String>) -> Self {
        self.entry_filter.group = Some(id.into());
        self
    }

    /// Affects sends of messages with this text in the body. A fault of whole requests affects those with at least one
    /// such message.
    pub fn body_contains(mut self, text: impl Into<String>) -> Self {
        self.entry_filter.body_contains = Some(text.into());
        self
    }

    /// Affects the entry at this position of a batch, from 0. Several calls accept any of the positions.
    pub fn entry(mut self, index: usize) -> Self {
        self.entry_filter.entries.push(index);
        self
    }

    /// Affects requests for which this returns true.
    pub fn when(mut self, condition: impl Fn(&Request<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.filter.condition = Some(Condition(Arc::new(condition)));
        self
    }

    /// Affects entries for which this returns true. A fault of whole requests affects those with at least one such
    /// entry.
    pub fn when_entry(mut self, condition: impl Fn(&Entry<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.entry_filter.condition = Some(Condition(Arc::new(condition)));
        self
    }

    /// Skips the first `count` requests, or entries, that it would affect.
    pub fn skip(mut self, count: u64) -> Self {
        self.skip = Some(count);
        self
    }

    /// Affects at most `count` requests. A fault of entries counts entries.
    pub fn times(mut self, count: u64) -> Self {
        self.times = Some(count);
        self
    }

    /// Affects only requests, or entries, above this rate per second of the server's clock. Bursts of a tenth of the
    /// rate, at least one, succeed. FIFO queues have [quotas](crate::MockSqsBuilder::throughput_quotas) of their own.
    pub fn above(mut self, per_second: u32) -> Self {
        self.above = Some(per_second);
        self
    }

    /// Sets the probability, from 0 (never) to 1 (always); the server's seed decides. Values outside this range are
    /// clamped.
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = if probability.is_nan() { 0.0 } else { probability.clamp(0.0, 1.0) };
        self
    }
}
