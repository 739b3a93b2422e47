//! A queue of a config file.

use std::collections::HashMap;
use std::time::Duration;

use serde::Deserialize;
use sqs_client::types::QueueAttributeName as Name;
use sqs_client::wire::service_error::ServiceError;
use sqs_client::wire::{limits, validate};

use crate::config::file::Problem;
use crate::config::problems_of_home;
use crate::config::units::{ByteSize, whole_seconds};
use crate::control::arn::is_fifo_name;
use crate::sqs::engine::attributes::{Attributes, DeduplicationScope, Tags, ThroughputLimit, range};
use crate::sqs::engine::throughput::QuotaSetting;

/// An initial queue. Durations and sizes have units; all other values are as in `CreateQueue`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueueDefinition {
    pub(crate) name: String,
    /// The default is the server's.
    pub(crate) region: Option<String>,
    /// The default is the server's.
    pub(crate) account: Option<String>,
    visibility_timeout: Option<Period>,
    delay: Option<Period>,
    message_retention_period: Option<Period>,
    receive_message_wait_time: Option<Period>,
    maximum_message_size: Option<ByteSize>,
    policy: Option<String>,
    redrive_allow_policy: Option<String>,
    sqs_managed_sse_enabled: Option<bool>,
    kms_master_key_id: Option<String>,
    kms_data_key_reuse_period: Option<Period>,
    content_based_deduplication: Option<bool>,
    deduplication_scope: Option<DeduplicationScope>,
    fifo_throughput_limit: Option<ThroughputLimit>,
    /// The default is that of the server.
    pub(crate) throughput_quotas: Option<QuotaSetting>,
    #[serde(default)]
    pub(crate) tags: HashMap<String, String>,
    dead_letter_queue: Option<String>,
    max_receive_count: Option<i64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Period(#[serde(deserialize_with = "whole_seconds")] Duration);

const ONLY_FIFO: &str = "only FIFO queues have this attribute; their names end in .fifo";

/// An attribute: its name in the file, its name in requests, and its value there.
type Attribute = (&'static str, Name, Option<String>);

impl QueueDefinition {
    /// The attributes for `CreateQueue`, without the redrive policy.
    pub(crate) fn attributes(&self) -> HashMap<Name, String> {
        let kind = is_fifo_name(&self.name).then(|| (Name::FifoQueue, "true".to_owned()));
        self.table().into_iter().filter_map(|(_, name, value)| Some((name, value?))).chain(kind).collect()
    }

    /// The name of the dead-letter queue, in the same account and region, and the maximum receive count.
    pub(crate) fn dead_letters(&self) -> Option<(&str, i64)> {
        Some((self.dead_letter_queue.as_deref()?, self.max_receive_count?))
    }

    /// All attributes. An attribute that requires another one follows it.
    fn table(&self) -> [Attribute; 13] {
        let seconds = |period: Option<Period>| period.map(|Period(period)| period.as_secs_f64().to_string());
        let flag = |flag: Option<bool>| flag.map(|flag| flag.to_string());
        let size = self.maximum_message_size.map(|ByteSize(size)| size.to_string());
        let scope = self.deduplication_scope.map(|scope| scope.into_str().to_owned());
        let throughput = self.fifo_throughput_limit.map(|limit| limit.into_str().to_owned());
        let (policy, redrive_allow) = (self.policy.clone(), self.redrive_allow_policy.clone());
        let (retention, wait) = (self.message_retention_period, self.receive_message_wait_time);
        let deduplication = flag(self.content_based_deduplication);
        [
            ("visibility_timeout", Name::VisibilityTimeout, seconds(self.visibility_timeout)),
            ("delay", Name::DelaySeconds, seconds(self.delay)),
            ("message_retention_period", Name::MessageRetentionPeriod, seconds(retention)),
            ("receive_message_wait_time", Name::ReceiveMessageWaitTimeSeconds, seconds(wait)),
            ("maximum_message_size", Name::MaximumMessageSize, size),
            ("policy", Name::Policy, policy),
            ("redrive_allow_policy", Name::RedriveAllowPolicy, redrive_allow),
            ("sqs_managed_sse_enabled", Name::SqsManagedSseEnabled, flag(self.sqs_managed_sse_enabled)),
            ("kms_master_key_id", Name::KmsMasterKeyId, self.kms_master_key_id.clone()),
            (
                "kms_data_key_reuse_period",
                Name::KmsDataKeyReusePeriodSeconds,
                seconds(self.kms_data_key_reuse_period),
            ),
            ("content_based_deduplication", Name::ContentBasedDeduplication, deduplication),
            ("deduplication_scope", Name::DeduplicationScope, scope),
            ("fifo_throughput_limit", Name::FifoThroughputLimit, throughput),
        ]
    }

    /// The problems of this queue, whose path in the file is `at`.
    pub(crate) fn problems(&self, at: &str) -> Vec<Problem> {
        let problem = |key: &str, text: String| Problem::new(format!("{at}.{key}"), text);
        let mut found = problems_of_home(at, self.region.as_deref(), self.account.as_deref());
        if let Err(refusal) = validate::queue::name(&self.name) {
            found.push(problem("name", format!("{:?} is not a queue name: {}", self.name, text(refusal))));
        }
        if self.throughput_quotas.is_some() && !is_fifo_name(&self.name) {
            found.push(problem("throughput_quotas", ONLY_FIFO.to_owned()));
        }
        found.extend(self.problems_of_attributes().into_iter().map(|(key, text)| problem(key, text)));
        let tags = validate::queue::tags(&self.tags).and_then(|()| Tags::new(self.tags.clone()).map(drop));
        found.extend(tags.err().map(|refusal| problem("tags", text(refusal))));
        let redrive = ["dead_letter_queue", "max_receive_count"];
        if let ([given, missing], true, false) | ([missing, given], false, true) =
            (redrive, self.dead_letter_queue.is_some(), self.max_receive_count.is_some())
        {
            found.push(problem(given, format!("requires {missing}")));
        }
        let counts = limits::MAX_RECEIVE_COUNT;
        if let Some(count) = self.max_receive_count.filter(|count| !counts.contains(count)) {
            let text = format!("{count} is out of range; allowed are {} to {}", counts.start(), counts.end());
            found.push(problem("max_receive_count", text));
        }
        found
    }

    /// Validates one attribute at a time, together with the valid ones before it.
    fn problems_of_attributes(&self) -> Vec<(&'static str, String)> {
        let fifo = is_fifo_name(&self.name);
        let start = if fifo { Attributes::fifo() } else { Attributes::standard() };
        let (mut legal, mut found) = (HashMap::new(), Vec::new());
        for (key, name, value) in self.table() {
            let Some(value) = value else { continue };
            legal.insert(name.clone(), value.clone());
            if let Err(refusal) = start.changed(&legal) {
                legal.remove(&name);
                found.push((key, explain(&name, &value, fifo).unwrap_or_else(|| text(refusal))));
            }
        }
        found
    }
}

/// The allowed range, which the messages of SQS omit.
fn explain(name: &Name, value: &str, fifo: bool) -> Option<String> {
    if let Name::ContentBasedDeduplication | Name::DeduplicationScope | Name::FifoThroughputLimit = name
        && !fifo
    {
        return Some(ONLY_FIFO.to_owned());
    }
    let (range, unit) = range(name)?;
    let (least, most) = (range.start(), range.end());
    Some(format!("{value} {unit} is out of range; allowed are {least} to {most} whole {unit}"))
}

fn text(refusal: ServiceError) -> String {
    refusal.message.unwrap_or_else(|| refusal.code.to_string())
}
