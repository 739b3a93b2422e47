//! A fault as its user describes it.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqs_client::operation::Action;
use sqs_client::wire::service_error::ErrorCode;

use crate::control::arn::is_fifo_name;
use crate::control::faults::{Condition, Entry, Faults, Filter, Request, Rule};
use crate::control::operation::{Operation, ServiceName};
use crate::control::schedule::{Call, Disturbance, JUMP, SHORT_LEASE, SLOW, Schedule};

/// The start of notes about decisions of a schedule.
pub(crate) const NOTE: &str = "schedule: ";

/// The code of errors of a service in a schedule.
const SERVER_ERROR: &str = "InternalFailure";

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
    pub(crate) filter: Filter,
    /// Must be the last field: it rejects all fields that the filter does not accept.
    #[serde(flatten)]
    pub(crate) effect: Effect,
}

/// The name of a queue or a topic, given its name, URL or ARN.
pub(crate) fn name_of(text: &str) -> &str {
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

    pub(crate) fn new(effect: Effect) -> Self {
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
    /// rate, at least one, succeed. FIFO queues have [quotas](crate::mock::builder::MockSqsBuilder::throughput_quotas) of their own.
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
    pub fn on_s3(mut self, action: crate::control::operation::S3Action) -> Self {
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
    pub fn on_sns(mut self, action: crate::control::operation::SnsAction) -> Self {
        self.filter.actions.push(action.into());
        self.of_sns()
    }

    /// Affects requests to STS for this action, for example to test what a client does without credentials.
    pub fn on_sts(mut self, action: crate::control::operation::StsAction) -> Self {
        self.filter.actions.push(action.into());
        self.filter.service = Some(ServiceName::Sts);
        self
    }

    /// Affects requests to SNS that address the topic with this name, or a subscription to it, in any account and
    /// region. Of an ARN, only the name counts.
    pub fn topic(mut self, name: impl AsRef<str>) -> Self {
        self.filter.topic = Some(name_of(name.as_ref()).to_owned());
        self.of_sns()
    }
}

/// What a fault does. The fields of a variant are those of its JSON.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Effect {
    /// The service rejects the request.
    Error { code: String, message: Option<String> },
    /// The service rejects the request with its own error code for too many requests.
    Throttle { message: Option<String> },
    /// The response does not come from the service, as if from a proxy.
    Status {
        status: u16,
        #[serde(default)]
        body: String,
    },
    /// Entries of a batch fail.
    FailEntries { code: String, message: Option<String>, sender_fault: Option<bool> },
    /// Entries of a batch are applied, but missing in the response.
    OmitEntries {},
    /// The request is delayed.
    Latency {
        #[serde(rename = "latency_ms")]
        least: Millis,
        #[serde(rename = "max_latency_ms")]
        most: Option<Millis>,
    },
    /// The connection breaks before the request is applied.
    ResetBefore {},
    /// The connection breaks after the request is applied.
    ResetAfter {},
    /// The response ends early.
    Truncate {},
    /// A checksum in the response is wrong.
    Corrupt {},
    /// Received messages are delivered again.
    Redeliver {},
    /// Bodies are slow.
    Pace { bytes_per_second: u64 },
}

/// How a fault damages the response to a request that is applied.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Damage {
    /// One checksum is wrong; without a checksum, the body is.
    Corrupted,
    /// The connection breaks within the response.
    Truncated,
    /// The connection breaks before the response.
    Lost,
}

/// A time, in milliseconds in JSON.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(from = "u64", into = "u64")]
pub(crate) struct Millis(pub(crate) Duration);

impl From<u64> for Millis {
    fn from(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }
}

impl From<Millis> for u64 {
    fn from(Millis(duration): Millis) -> Self {
        Self::try_from(duration.as_millis()).unwrap_or(Self::MAX)
    }
}

impl Effect {
    /// The service of an effect that only one service has.
    pub(crate) fn service(&self) -> Option<ServiceName> {
        match self {
            Self::Redeliver {} => Some(ServiceName::Sqs),
            Self::Pace { .. } => Some(ServiceName::S3),
            _ => None,
        }
    }

    /// Whether it affects entries of batches, which SQS and SNS have.
    pub(crate) fn is_of_entries(&self) -> bool {
        matches!(self, Self::FailEntries { .. } | Self::OmitEntries {})
    }

    /// Whether requests for this operation can have this effect.
    pub(crate) fn applies_to(&self, operation: Operation) -> bool {
        match self {
            _ if self.is_of_entries() => operation.name.ends_with("Batch"),
            Self::Redeliver {} => operation.name == "ReceiveMessage",
            _ => true,
        }
    }

    /// The error text, if the effect has one.
    pub(crate) fn message_mut(&mut self) -> Option<&mut Option<String>> {
        match self {
            Self::Error { message, .. } | Self::Throttle { message } | Self::FailEntries { message, .. } => {
                Some(message)
            }
            _ => None,
        }
    }
}

/// The effects of all faults on a request, in the order in which they apply.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The delay.
    pub(crate) latency: Duration,
    /// The response, if the request is not applied.
    pub(crate) rejection: Option<Rejection>,
    /// The throughput limit of the bodies, in bytes per second.
    pub(crate) pace: Option<u64>,
    /// Entries that fail.
    pub(crate) failing: Vec<FailingEntry>,
    /// Ids of entries that the response leaves out.
    pub(crate) omitted: Vec<String>,
    /// Rules that have the received messages delivered again; their hits are reverted if there are no messages.
    pub(crate) redeliver: Vec<Arc<Rule>>,
    /// Changes of a receive, by a schedule.
    pub(crate) receive: ReceiveChange,
    /// How long the response to a request that was applied takes, by a schedule.
    pub(crate) pause: Duration,
    /// How much time passes for the service when the request is applied, by a schedule.
    pub(crate) jump: Duration,
    /// The damage to the response.
    pub(crate) damage: Option<Damage>,
    /// The names of the faults that apply, except those that deliver again: they may find no message.
    pub(crate) applied: Vec<String>,
}

/// What a schedule changes of a receive.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent change")]
pub(crate) struct ReceiveChange {
    /// It finds nothing.
    pub(crate) misses: bool,
    /// It returns one message only.
    pub(crate) is_single: bool,
    /// It returns messages in another order.
    pub(crate) is_reordered: bool,
    /// Its messages are delivered once more.
    pub(crate) repeats: bool,
    /// The visibility timeout of its messages.
    pub(crate) lease: Option<Duration>,
}

/// The response, or the reset, to a request that is not applied.
#[derive(Clone, Debug)]
pub(crate) enum Rejection {
    Error(Failure),
    Status(u16, String),
    Reset,
}

/// An error of the service.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// `None` for the service's own error code for too many requests.
    pub(crate) code: Option<String>,
    /// `None` for the service's own text.
    pub(crate) message: Option<String>,
}

/// An entry of a batch that fails.
#[derive(Clone, Debug)]
pub(crate) struct FailingEntry {
    /// The position in the batch.
    pub(crate) index: usize,
    pub(crate) failure: Failure,
    /// `None` if the code determines it.
    pub(crate) sender_fault: Option<bool>,
}

impl Faults {
    /// The effects of all faults on a request. Builds the request only if there are faults.
    pub(crate) fn plan<'a>(&self, request: impl FnOnce() -> Request<'a>) -> Plan {
        let Some(rules) = self.rules() else { return Plan::default() };
        let request = request();
        let mut plan = Plan::of(&rules, &request);
        if let Some(schedule) = self.schedule() {
            plan.disturb(&schedule, &request);
        }
        plan
    }
}

impl Plan {
    /// Adds what a schedule decides about a request, unless a fault has decided about its response.
    fn disturb(&mut self, schedule: &Schedule, request: &Request<'_>) {
        if self.rejection.is_some() || self.damage.is_some() || request.service != ServiceName::Sqs {
            return;
        }
        let queue = request.queue().unwrap_or_default();
        let entries = request.entries.len();
        let decision = schedule.decide(Call {
            caller: request.caller,
            action: request.operation,
            queue,
            is_fifo: is_fifo_name(queue),
            entries,
            is_process: false,
            is_of_sqs: true,
            number: request.number,
        });
        let Some(decision) = decision else { return };
        let failure = |code: Option<&str>| Failure { code: code.map(str::to_owned), message: None };
        match decision.disturbance {
            Disturbance::LoseRequest | Disturbance::KillBefore => self.rejection = Some(Rejection::Reset),
            Disturbance::LoseResponse | Disturbance::KillAfter => self.damage = Some(Damage::Lost),
            Disturbance::Throttle => self.rejection = Some(Rejection::Error(failure(None))),
            Disturbance::ServerError => {
                self.rejection = Some(Rejection::Error(failure(Some(SERVER_ERROR))));
            }
            Disturbance::Slow => self.pause = SLOW,
            Disturbance::FailEntry => {
                let index = decision.call.number as usize % entries.max(1);
                let failure = failure(Some(SERVER_ERROR));
                self.failing.push(FailingEntry { index, failure, sender_fault: Some(false) });
            }
            Disturbance::Miss => self.receive.misses = true,
            Disturbance::Fewer => self.receive.is_single = true,
            Disturbance::Reorder => self.receive.is_reordered = true,
            Disturbance::Repeat => self.receive.repeats = true,
            Disturbance::EndLease => self.receive.lease = Some(SHORT_LEASE),
            Disturbance::Jump => self.jump = JUMP,
        }
        self.applied.push(format!("{NOTE}{decision}"));
    }

    fn of(rules: &[Arc<Rule>], request: &Request<'_>) -> Self {
        let rules: Vec<_> =
            rules.iter().filter(|rule| rule.fault.filter.accepts(&rule.fault.effect, request)).collect();
        let mut plan = Self::default();
        for rule in &rules {
            plan.add_to_request(rule, request);
        }
        // All other effects need a request that is applied.
        if plan.rejection.is_none() {
            for rule in rules {
                plan.add_to_entries(rule, request);
            }
        }
        plan
    }

    /// Effects on the request as a whole. It is rejected or damaged at most once; latencies and paces apply anyway.
    fn add_to_request(&mut self, rule: &Rule, request: &Request<'_>) {
        let Fault { filter, effect } = &rule.fault;
        let is_decided = self.rejection.is_some() || self.damage.is_some();
        let is_possible = match effect {
            Effect::FailEntries { .. } | Effect::OmitEntries {} | Effect::Redeliver {} => false,
            Effect::Latency { .. } | Effect::Pace { .. } => true,
            _ => !is_decided,
        };
        if !(is_possible && filter.accepts_any(&request.entries) && rule.hit(request.time)) {
            return;
        }
        self.applied.push(rule.name());
        let error = |code: Option<&String>, message: &Option<String>| {
            Some(Rejection::Error(Failure { code: code.cloned(), message: message.clone() }))
        };
        match effect {
            Effect::Latency { least, most } => {
                let (least, most) = (least.0, most.unwrap_or(*least).0);
                let latency = least + most.saturating_sub(least).mul_f64(rule.draw());
                self.latency = self.latency.saturating_add(latency);
            }
            Effect::Pace { bytes_per_second: pace } => {
                self.pace = Some(self.pace.map_or(*pace, |slower| slower.min(*pace)));
            }
            Effect::Error { code, message } => self.rejection = error(Some(code), message),
            Effect::Throttle { message } => self.rejection = error(None, message),
            Effect::Status { status, body } => {
                self.rejection = Some(Rejection::Status(*status, body.clone()));
            }
            Effect::ResetBefore {} => self.rejection = Some(Rejection::Reset),
            Effect::ResetAfter {} => self.damage = Some(Damage::Lost),
            Effect::Truncate {} => self.damage = Some(Damage::Truncated),
            Effect::Corrupt {} => self.damage = Some(Damage::Corrupted),
            Effect::FailEntries { .. } | Effect::OmitEntries {} | Effect::Redeliver {} => {}
        }
    }

    /// Effects on entries and messages.
    fn add_to_entries(&mut self, rule: &Arc<Rule>, request: &Request<'_>) {
        let filter = &rule.fault.filter;
        if matches!(rule.fault.effect, Effect::Redeliver {}) {
            if request.can_redeliver && filter.accepts_any(&request.entries) && rule.hit(request.time) {
                self.redeliver.push(Arc::clone(rule));
            }
            return;
        }
        for (entry, id) in request.entries.iter().filter_map(|entry| Some((entry, entry.id?))) {
            let is_affected = self.failing.iter().any(|failing| failing.index == entry.index)
                || self.omitted.iter().any(|omitted| omitted == id);
            let hits = || !is_affected && filter.accepts_entry(entry) && rule.hit(request.time);
            let affected = self.failing.len() + self.omitted.len();
            match &rule.fault.effect {
                Effect::OmitEntries {} if hits() => self.omitted.push(id.to_owned()),
                Effect::FailEntries { code, message, sender_fault } if hits() => {
                    let failure = Failure { code: Some(code.clone()), message: message.clone() };
                    self.failing.push(FailingEntry {
                        index: entry.index,
                        failure,
                        sender_fault: *sender_fault,
                    });
                }
                _ => {}
            }
            let name = rule.name();
            if self.failing.len() + self.omitted.len() > affected && self.applied.last() != Some(&name) {
                self.applied.push(name);
            }
        }
    }
}
