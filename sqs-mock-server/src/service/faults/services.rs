//! Faults of services other than SQS, and the service that a fault affects.

use super::Fault;
use super::Request;
#[cfg(any(feature = "s3", feature = "sns"))]
use super::effect::Effect;
#[cfg(feature = "sns")]
use super::fault::name_of;
use crate::service::operation::ServiceName;

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
#[cfg(feature = "sns")]
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

impl Fault {
    /// The services that its fields imply, with the name of each field.
    pub(super) fn services(&self) -> impl Iterator<Item = (&'static str, ServiceName)> {
        use ServiceName::{S3, Sns, Sqs};
        let Self { filter, entry_filter: entry, effect, .. } = self;
        let of_sns = filter.service == Some(Sns)
            || filter.topic.is_some()
            || filter.actions.iter().any(|action| action.service == Sns);
        // Both have messages.
        let of_messages = if of_sns { Sns } else { Sqs };
        let fields = [
            ("service", filter.service),
            ("effect", effect.service()),
            ("effect", effect.is_of_entries().then_some(of_messages)),
            ("queue", filter.queue.is_some().then_some(Sqs)),
            ("group", entry.group.is_some().then_some(of_messages)),
            ("body_contains", entry.body_contains.is_some().then_some(of_messages)),
            ("entries", (!entry.entries.is_empty()).then_some(of_messages)),
            ("bucket", filter.bucket.is_some().then_some(S3)),
            ("key_prefix", filter.key_prefix.is_some().then_some(S3)),
            ("topic", filter.topic.is_some().then_some(Sns)),
        ];
        let actions = filter.actions.iter().map(|action| ("actions", Some(action.service)));
        fields.into_iter().chain(actions).filter_map(|(field, service)| Some((field, service?)))
    }

    /// Whether a request can be affected, as a whole or in an entry.
    pub(super) fn accepts(&self, request: &Request<'_>) -> bool {
        let default = ("service", ServiceName::Sqs);
        let first = self.services().next().unwrap_or(default);
        let mut services = self.services().chain([first]);
        services.all(|(_, service)| service == request.service) && self.filter.accepts(request)
    }
}
