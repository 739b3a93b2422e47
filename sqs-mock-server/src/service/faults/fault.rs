//! A fault as its user describes it.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;

use super::effect::{Effect, Millis};
use super::request::{Condition, Entry, Filter, Request};
use crate::service::operation::ServiceName;

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
    /// Must be the last field: it rejects all fields that the filter does not accept.
    #[serde(flatten)]
    pub(super) effect: Effect,
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
        Self { filter: Filter::default(), effect }
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
        self.filter.group = Some(id.into());
        self
    }

    /// Affects sends of messages with this text in the body. A fault of whole requests affects those with at least one
    /// such message.
    pub fn body_contains(mut self, text: impl Into<String>) -> Self {
        self.filter.body_contains = Some(text.into());
        self
    }

    /// Affects the entry at this position of a batch, from 0. Several calls accept any of the positions.
    pub fn entry(mut self, index: usize) -> Self {
        self.filter.entries.push(index);
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
        self.filter.entry_condition = Some(Condition(Arc::new(condition)));
        self
    }

    /// Skips the first `count` requests, or entries, that it would affect.
    pub fn skip(mut self, count: u64) -> Self {
        self.filter.skip = Some(count);
        self
    }

    /// Affects at most `count` requests. A fault of entries counts entries.
    pub fn times(mut self, count: u64) -> Self {
        self.filter.times = Some(count);
        self
    }

    /// Affects only requests, or entries, above this rate per second of the server's clock. Bursts of a tenth of the
    /// rate, at least one, succeed. FIFO queues have [quotas](crate::MockSqsBuilder::throughput_quotas) of their own.
    pub fn above(mut self, per_second: u32) -> Self {
        self.filter.above = Some(per_second);
        self
    }

    /// Sets the probability, from 0 (never) to 1 (always); the server's seed decides. Values outside this range are
    /// clamped.
    pub fn probability(mut self, probability: f64) -> Self {
        self.filter.probability = Some(if probability.is_nan() { 0.0 } else { probability.clamp(0.0, 1.0) });
        self
    }
}

/// For S3. A fault affects SQS unless it names S3 or an S3 property. One that names properties of both affects nothing.
#[cfg(feature = "s3")]
impl Fault {
    /// S3 rejects the request and does not apply it. The code is an S3 error code, such as `NoSuchKey`, `AccessDenied`
    /// or `SlowDown`, and determines the status; unknown codes have status 500.
    pub fn s3_error(code: impl Into<String>) -> Self {
        Self::new(Effect::Error { code: code.into(), message: None }).of_s3()
    }

    /// Limits the throughput of bodies to and from S3, in bytes per second of real time. The slowest of several faults
    /// applies.
    pub fn s3_pace(bytes_per_second: u64) -> Self {
        Self::new(Effect::Pace { bytes_per_second: bytes_per_second.max(1) }).of_s3()
    }

    /// Affects requests to S3.
    pub fn of_s3(mut self) -> Self {
        self.filter.service = Some(ServiceName::S3);
        self
    }

    /// Affects requests to S3 for this operation. Several calls accept any of the operations.
    pub fn on_s3(mut self, action: crate::service::operation::S3Action) -> Self {
        self.filter.actions.push(action.into());
        self.of_s3()
    }

    /// Affects requests to S3 that address this bucket, or an object in it.
    pub fn bucket(mut self, name: impl Into<String>) -> Self {
        self.filter.bucket = Some(name.into());
        self.of_s3()
    }

    /// Affects requests to S3 for objects whose keys have this prefix.
    pub fn key_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.filter.key_prefix = Some(prefix.into());
        self.of_s3()
    }
}

/// For SNS. A fault affects SQS unless it names SNS or a topic. Faults of entries, and conditions on messages, work as
/// for SQS. Deliveries to queues have the faults of `SendMessage`.
impl Fault {
    /// SNS rejects the request and does not apply it. The code is an SNS error code, such as `NotFound`,
    /// `AuthorizationError` or `Throttled`, and determines the status; unknown codes have status 400.
    pub fn sns_error(code: impl Into<String>) -> Self {
        Self::new(Effect::Error { code: code.into(), message: None }).of_sns()
    }

    /// Affects requests to SNS.
    pub fn of_sns(mut self) -> Self {
        self.filter.service = Some(ServiceName::Sns);
        self
    }

    /// Affects requests to SNS for this action. Several calls accept any of the actions.
    pub fn on_sns(mut self, action: crate::service::operation::SnsAction) -> Self {
        self.filter.actions.push(action.into());
        self.of_sns()
    }

    /// Affects requests to SNS that address the topic with this name, or a subscription to it, in any account and
    /// region. Of an ARN, only the name counts.
    pub fn topic(mut self, name: impl AsRef<str>) -> Self {
        self.filter.topic = Some(name_of(name.as_ref()).to_owned());
        self.of_sns()
    }
}
