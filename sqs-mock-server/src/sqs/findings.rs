//! Findings: requests that work here but are mistakes on AWS. Most are looked for in strict mode only.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::control::seed::Uuid;
use crate::control::text::serialize_as_text;
use crate::sqs::engine::handles::OldHandle;
use crate::sqs::engine::queue::Queue;
use crate::sqs::engine::send::Sent;
use crate::sqs::ops::Context;
use crate::sqs::service::Shared;

/// The number of findings of each kind that are kept, so that a frequent mistake hides no rare one. Further ones are only
/// counted.
const MOST: usize = 1000;

/// The number of pairs of source and queue whose denial is reported only once.
const MOST_PAIRS: usize = 10_000;

/// The kind of mistake.
#[derive(Clone, Copy, Debug, strum::Display, Eq, Ord, PartialEq, PartialOrd)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// A queue URL names another region than the request is signed for, or no account. The request is rejected.
    ForeignQueueUrl,
    /// A message of a standard queue was deleted with the receipt handle of an earlier receive. SQS may ignore such a
    /// delete.
    OldReceiptHandle,
    /// A message for a FIFO queue without content-based deduplication has no deduplication id. It is rejected.
    NoDeduplicationId,
    /// A FIFO queue dropped a message with the same body as an earlier one, by content-based deduplication. Retries by
    /// an AWS SDK are not reported.
    DroppedDuplicate,
    /// A message was received, and its visibility timeout ended before it was deleted.
    NotDeleted,
    /// The access policy of a queue denies a request, or deliveries from a topic, which have one finding for each pair of
    /// topic and queue. Both fail if [policies](crate::control::policies::Policies) are enforced.
    AccessDenied,
    /// AWS would have refused the request, since the queue was deleted or purged less than 60 seconds ago. It
    /// succeeded, since the [rules of one minute](crate::mock::builder::MockSqsBuilder::one_minute_rules) are off.
    OneMinuteRule,
}

serialize_as_text!(FindingKind);

/// A request that works here but is a mistake on AWS. Outside of [strict mode](crate::mock::builder::MockSqsBuilder::strict),
/// there are only those of the kinds [`AccessDenied`](FindingKind::AccessDenied) and [`OneMinuteRule`](FindingKind::OneMinuteRule).
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of mistake.
    pub kind: FindingKind,
    /// The queue, which does not exist if its URL is wrong.
    pub queue: QueueArn,
    /// The time of the detection, by the clock of the server.
    pub time: Timestamp,
    /// The details.
    pub text: String,
}

impl Finding {
    /// Writes a warning. What every local server lets pass is not worth one.
    fn log(&self) {
        let Self { kind, queue, text, .. } = self;
        if *kind == FindingKind::OneMinuteRule {
            tracing::debug!(%kind, %queue, "{text}");
        } else {
            tracing::warn!(%kind, %queue, "{text}");
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.text)
    }
}

/// The findings of a server. Holders of its lock take no other lock.
#[derive(Debug, Default)]
pub(crate) struct Findings(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    kept: Vec<Arc<Finding>>,
    /// The number of kept findings.
    counts: BTreeMap<FindingKind, usize>,
    /// The indices of findings about messages that were not deleted, one per message.
    undeleted: HashMap<(Arc<QueueArn>, Uuid), usize>,
    /// The indices of findings about the rules of one minute, one per queue: tests that share a server repeat them.
    too_soon: HashMap<QueueArn, usize>,
    omitted: Omitted,
}

/// The number of findings that were counted but not kept.
pub(crate) type Omitted = BTreeMap<FindingKind, usize>;

impl Table {
    /// Keeps a finding, and returns its index; beyond the limit, counts it.
    fn keep(&mut self, finding: &Arc<Finding>) -> Option<usize> {
        let count = self.counts.entry(finding.kind).or_default();
        if *count >= MOST {
            *self.omitted.entry(finding.kind).or_default() += 1;
            return None;
        }
        *count += 1;
        self.kept.push(Arc::clone(finding));
        Some(self.kept.len() - 1)
    }

    /// Replaces the earlier finding of the rules of one minute about the queue, if there is one.
    fn keep_latest(&mut self, finding: &Arc<Finding>) {
        let place = self.too_soon.get(&finding.queue).copied();
        if let Some(earlier) = place.and_then(|place| self.kept.get_mut(place)) {
            *earlier = Arc::clone(finding);
        } else if let Some(place) = self.keep(finding) {
            self.too_soon.insert(finding.queue.clone(), place);
        }
    }
}

impl Findings {
    /// Keeps and logs a finding. Of the rules of one minute, only the latest finding of each queue is kept.
    pub(crate) fn report(&self, finding: Finding) -> Arc<Finding> {
        let finding = Arc::new(finding);
        {
            let mut table = self.0.lock();
            match finding.kind {
                FindingKind::OneMinuteRule => table.keep_latest(&finding),
                _ => drop(table.keep(&finding)),
            }
        }
        finding.log();
        finding
    }

    /// Reports a message that was not deleted in time. If it was reported before, this changes the earlier finding.
    pub(crate) fn report_undeleted(
        &self,
        queue: &Arc<QueueArn>,
        (message, receives): (Uuid, u32),
        time: Timestamp,
    ) -> Option<Arc<Finding>> {
        let times = if receives == 1 { "once".to_owned() } else { format!("{receives} times") };
        let text = format!(
            "message {message} was received {times} and not deleted before its visibility timeout ended"
        );
        let queue_arn = (**queue).clone();
        let finding = Arc::new(Finding { kind: FindingKind::NotDeleted, queue: queue_arn, time, text });
        {
            let mut table = self.0.lock();
            let key = (Arc::clone(queue), message);
            let place = table.undeleted.get(&key).copied();
            if let Some(earlier) = place.and_then(|place| table.kept.get_mut(place)) {
                *earlier = finding;
                return None;
            }
            if let Some(place) = table.keep(&finding) {
                table.undeleted.insert(key, place);
            }
        }
        finding.log();
        Some(finding)
    }

    /// The latest finding of the rules of one minute about a queue.
    pub(crate) fn too_soon(&self, queue: &QueueArn) -> Option<Arc<Finding>> {
        let table = self.0.lock();
        table.too_soon.get(queue).and_then(|place| table.kept.get(*place)).map(Arc::clone)
    }

    /// The kept findings, and the numbers of further ones.
    pub(crate) fn all(&self) -> (Vec<Arc<Finding>>, Omitted) {
        let Table { kept, omitted, .. } = &*self.0.lock();
        (kept.clone(), omitted.clone())
    }

    /// Removes all findings.
    pub(crate) fn clear(&self) {
        *self.0.lock() = Table::default();
    }
}

/// What the policies of queues denied to other services. Holders of its lock take no other lock.
#[derive(Debug, Default)]
pub(crate) struct DeniedDeliveries(Mutex<Denied>);

#[derive(Debug, Default)]
struct Denied {
    /// The reported pairs of source and queue, as hashes: a collision loses one report.
    reported: HashSet<u64>,
    /// The latest delivery that is not in a queue: the ARN of its source, and why.
    lost: HashMap<QueueArn, (Box<str>, Arc<str>)>,
}

impl DeniedDeliveries {
    /// Adds a pair, and returns whether it is new. Beyond the limit, earlier pairs are forgotten.
    pub(crate) fn is_new(&self, source_arn: &str, queue: &QueueArn) -> bool {
        let reported = &mut self.0.lock().reported;
        let pair = reported.hasher().hash_one((source_arn, queue));
        if reported.len() >= MOST_PAIRS && !reported.contains(&pair) {
            reported.clear();
        }
        reported.insert(pair)
    }

    /// Keeps why a delivery is not in a queue.
    pub(crate) fn lost(&self, queue: &QueueArn, source_arn: &str, why: &str) {
        let lost = &mut self.0.lock().lost;
        if lost.len() >= MOST_PAIRS {
            lost.clear();
        }
        lost.insert(queue.clone(), (source_arn.into(), why.into()));
    }

    /// Why the latest denied delivery is not in a queue.
    pub(crate) fn latest(&self, queue: &QueueArn) -> Option<Arc<str>> {
        self.0.lock().lost.get(queue).map(|(_, why)| Arc::clone(why))
    }

    /// Forgets why a delivery is not in a queue, since a later one of the same source is.
    pub(crate) fn arrived(&self, queue: &QueueArn, source_arn: &str) {
        let lost = &mut self.0.lock().lost;
        if lost.get(queue).is_some_and(|(source, _)| **source == *source_arn) {
            lost.remove(queue);
        }
    }

    /// Forgets the deliveries of a deleted queue.
    pub(crate) fn forget(&self, queue: &QueueArn) {
        self.0.lock().lost.remove(queue);
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        *self.0.lock() = Denied::default();
    }
}

const NO_ID: &str = "a message was rejected: it has no MessageDeduplicationId, and the queue has no \
                     ContentBasedDeduplication";

/// Checks one request to one queue.
pub(crate) struct Review<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) context: &'a Context,
    pub(crate) now: Timestamp,
}

impl Review<'_> {
    /// Reports a send without a deduplication id that is rejected or dropped.
    pub(crate) fn send(&self, queue: &Queue, has_deduplication_id: bool, sent: Result<Sent, &ServiceError>) {
        let rules = queue.rules();
        if self.is_off() || has_deduplication_id || !rules.fifo {
            return;
        }
        let needs_id = !rules.content_based_deduplication;
        match sent {
            Err(error) if needs_id && error.code == ErrorCode::InvalidParameterValue => {
                self.report(queue.arn(), FindingKind::NoDeduplicationId, NO_ID.to_owned());
            }
            Ok(Sent { original: Some(original), id, .. }) if !self.context.is_retry => {
                let age = self.now.saturating_since(original).as_secs();
                let text = format!(
                    "the message was not stored: message {id} with this deduplication id, the hash of the body, was sent \
                     {age} s ago"
                );
                self.report(queue.arn(), FindingKind::DroppedDuplicate, text);
            }
            _ => {}
        }
    }

    /// Reports a delete with the handle of an earlier receive.
    pub(crate) fn delete(&self, queue: &Queue, handle: Option<OldHandle>) {
        let Some(OldHandle { id, receive, receives }) = handle.filter(|_| !self.is_off()) else { return };
        let text = format!(
            "message {id} was deleted with the receipt handle of receive {receive} of {receives}; SQS may ignore such a \
             delete"
        );
        self.report(queue.arn(), FindingKind::OldReceiptHandle, text);
    }

    /// Reports a request that succeeded, although AWS would have refused it with `error`.
    pub(crate) fn too_soon(&self, queue: &QueueArn, error: &ServiceError) {
        let (code, text) = (&error.code, error.message.as_deref().unwrap_or_default());
        let text = format!("the request succeeded, but AWS would refuse it with {code}: {text}");
        self.report(queue, FindingKind::OneMinuteRule, text);
    }

    fn is_off(&self) -> bool {
        !self.shared.settings.strict
    }

    fn report(&self, queue: &QueueArn, kind: FindingKind, text: String) {
        let finding = Finding { kind, queue: queue.clone(), time: self.now, text };
        self.context.trace.note_finding(self.shared.findings.report(finding));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::seed::{Seed, UuidSeries};

    fn finding(number: usize) -> Finding {
        let queue = QueueArn::new("eu-west-1", "000000000000", "orders");
        let text = number.to_string();
        Finding { kind: FindingKind::OldReceiptHandle, queue, time: Timestamp::default(), text }
    }

    #[test]
    fn first_thousand_findings_of_each_kind_are_kept_and_the_others_counted() {
        let findings = Findings::default();
        for number in 0..MOST + 5 {
            findings.report(finding(number));
        }
        findings.report(Finding { kind: FindingKind::AccessDenied, ..finding(0) });
        let (kept, omitted) = findings.all();
        assert_eq!((kept.len(), kept[MOST - 1].text.as_str()), (MOST + 1, "999"));
        assert_eq!(omitted, Omitted::from([(FindingKind::OldReceiptHandle, 5)]));
    }

    #[test]
    fn latest_finding_of_the_one_minute_rules_replaces_the_earlier_one_of_its_queue() {
        let findings = Findings::default();
        let too_soon = |number| Finding { kind: FindingKind::OneMinuteRule, ..finding(number) };
        for number in 0..2 * MOST {
            findings.report(too_soon(number));
        }
        let other = finding(0).queue.neighbour("other");
        findings.report(Finding { queue: other.clone(), ..too_soon(7) });
        let (kept, omitted) = findings.all();
        let texts: Vec<_> = kept.iter().map(|finding| &*finding.text).collect();
        assert_eq!((texts, omitted.len()), (vec!["1999", "7"], 0));
        assert_eq!(findings.too_soon(&other).unwrap().text, "7");
    }

    #[test]
    fn message_that_is_not_deleted_has_one_finding_with_the_latest_count() {
        let findings = Findings::default();
        let queue = Arc::new(finding(0).queue);
        let series = UuidSeries::new(Seed(1).generator("messages"));
        let [one, other] = [1, 2].map(|number| series.of(number));
        let report =
            |id, receives| findings.report_undeleted(&queue, (id, receives), Timestamp::default()).is_some();
        assert_eq!([report(one, 1), report(other, 1), report(one, 2)], [true, true, false]);
        let texts: Vec<_> = findings.all().0.iter().map(|finding| finding.text.clone()).collect();
        let text = |id, times| {
            format!("message {id} was received {times} and not deleted before its visibility timeout ended")
        };
        assert_eq!(texts, [text(one, "2 times"), text(other, "once")]);
    }

    #[test]
    fn pair_of_topic_and_queue_is_new_once_until_it_is_forgotten() {
        let denied = DeniedDeliveries::default();
        let queue = finding(0).queue;
        let is_new = |topic: usize| denied.is_new(&format!("topic-{topic}"), &queue);
        assert_eq!([is_new(0), is_new(0), is_new(1)], [true, false, true]);
        assert!(denied.is_new("topic-0", &queue.neighbour("other")));
        assert!((3..MOST_PAIRS).all(is_new) && !is_new(0), "as many pairs as the limit are known");
        assert!(is_new(MOST_PAIRS) && !is_new(MOST_PAIRS) && is_new(0), "one more forgets the others");
        denied.clear();
        assert!(is_new(0));
    }
}
