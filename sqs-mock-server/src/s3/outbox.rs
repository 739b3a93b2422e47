//! Events on their way from buckets to queues and topics.
//!
//! ```text
//! operation -> write, and send under the lock of the bucket -> response
//!                      |                                          |
//!                      +-> Outbox, in the order of the writes <---+ ready -> Targets -> queues, topics
//! ```
//! A write and its event happen without a pause between them, so that a caller that disconnects loses neither. The lock of
//! the bucket keeps the events of a key in the order of its changes. The request that is answered delivers its own events
//! and those behind them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::yield_now;

use crate::control::arn::{QueueArn, TopicArn, partition};
use crate::control::clock::Clock;
use crate::control::delivery::{Announcement, Delivery, Publisher, Queues, Source, Undelivered};
use crate::control::policies::Why;
use crate::query::{Origin, QueryError};
use crate::s3::RequestContext;
use crate::s3::notifications::{Change, Configuration, Event, Target, TargetKind, UnusableTarget};
use crate::sns::Sns;
use crate::sns::engine::message::{Draft, Message};
use crate::sns::publish::publish_message;

/// The number of events that may wait. Beyond it, each request delivers the oldest before its response.
const CAPACITY: usize = 10_000;

/// The bits of a sequence number below the time in milliseconds.
const SEQUENCE_BITS: u32 = 20;

/// The events that are not delivered yet.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// Held to write, add or remove an event, also under the lock of a bucket.
    queue: Mutex<Queue>,
    /// Held for the delivery of one event, and for a reset: no event from before a reset is delivered after it. Its holder
    /// locks `queue`, and then queues and topics.
    delivery: Mutex<()>,
    /// Of the server. Without one, the thread that ends a request delivers its events.
    runtime: Option<Handle>,
    /// The source of all timestamps of S3.
    pub(crate) clock: Clock,
    /// The region of the server, and of buckets without a location constraint.
    pub(crate) region: String,
    pub(crate) targets: Arc<Targets>,
}

/// The events that wait.
#[derive(Debug, Default)]
struct Queue {
    /// In the order of the writes.
    events: VecDeque<Queued>,
    /// The last sequence number.
    sequence: u64,
    resets: u64,
}

/// An event that is not delivered yet.
#[derive(Debug)]
struct Queued {
    bucket: String,
    target: Target,
    message: String,
    request: Arc<RequestContext>,
}

/// A request without a response. Its drop means that the response is ready or the caller gone.
#[derive(Debug)]
pub(crate) struct Unanswered {
    pub(crate) context: Arc<RequestContext>,
    outbox: Arc<Outbox>,
}

impl Unanswered {
    /// Starts to deliver the events of this request, and later events that are due. Delivers those over the capacity itself:
    /// otherwise they could become more for as long as changes are faster than deliveries.
    pub(crate) fn release(&self) {
        self.context.is_answered.store(true, Ordering::Release);
        if self.outbox.queue.lock().events.is_empty() {
            return;
        }
        let outbox = Arc::clone(&self.outbox);
        match &self.outbox.runtime {
            Some(runtime) => {
                while outbox.is_full() && outbox.deliver_next(CAPACITY) {}
                // In a task, so that the connection can write the response first.
                drop(runtime.spawn(async move { outbox.deliver(CAPACITY).await }));
            }
            None => while outbox.deliver_next(CAPACITY) {},
        }
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        self.release();
    }
}

impl Outbox {
    pub(crate) fn new(clock: Clock, region: String, targets: Arc<Targets>) -> Arc<Self> {
        Arc::new(Self {
            queue: Mutex::default(),
            delivery: Mutex::default(),
            runtime: Handle::try_current().ok(),
            clock,
            region,
            targets,
        })
    }

    /// Begins a request with this id.
    pub(crate) fn begin(self: &Arc<Self>, id: String, trace_header: Option<String>) -> Unanswered {
        let resets = self.queue.lock().resets;
        let context = RequestContext { id, trace_header, resets, ..RequestContext::default() };
        Unanswered { context: Arc::new(context), outbox: Arc::clone(self) }
    }

    /// Sends the event of a change, if a rule of the bucket selects it; `bucket` is its name and its region. Callers hold the lock of the bucket.
    pub(crate) fn send(
        &self,
        request: &Arc<RequestContext>,
        bucket: (&str, &str),
        configuration: &Configuration,
        key: &str,
        change: Change<'_>,
    ) {
        let (bucket, region) = bucket;
        let Some(rule) = configuration.rule_for(change.name, key) else { return };
        let mut queue = self.queue.lock();
        if request.resets != queue.resets {
            tracing::debug!(bucket, key, "no event, since the server was reset during the request");
            return;
        }
        let time = self.clock.now();
        // Higher than all before, also than those of an earlier server.
        queue.sequence = queue.sequence.saturating_add(1).max(time.as_millis() << SEQUENCE_BITS);
        let event = Event {
            change,
            time,
            region,
            request_id: &request.id,
            host_id: &request.host_id(),
            configuration_id: &rule.id,
            bucket,
            key,
            sequence: queue.sequence,
        };
        let message = event.json();
        let (bucket, target) = (bucket.to_owned(), rule.target.clone());
        queue.events.push_back(Queued { bucket, target, message, request: Arc::clone(request) });
    }

    /// Delivers all events. No request may be in progress.
    ///
    /// # Cancel safety
    /// If the future is dropped, the other events are not delivered.
    pub(crate) async fn drain(&self) {
        self.deliver(0).await;
    }

    /// Delivers events in their order: those of answered requests, and others while more than `most` wait. Other tasks run
    /// between two events, since a signed notification takes a millisecond.
    async fn deliver(&self, most: usize) {
        while self.deliver_next(most) {
            yield_now().await;
        }
    }

    fn is_full(&self) -> bool {
        self.queue.lock().events.len() > CAPACITY
    }

    /// Delivers an event; `false` if none is due.
    fn deliver_next(&self, most: usize) -> bool {
        let _one_after_the_other = self.delivery.lock();
        let next = {
            let events = &mut self.queue.lock().events;
            let is_full = events.len() > most;
            events.pop_front_if(|next| is_full || next.request.is_answered.load(Ordering::Acquire))
        };
        let Some(Queued { bucket, target, message, request }) = next else { return false };
        self.targets.deliver(&bucket, &target, &message, request.trace_header.as_deref());
        true
    }

    /// Drops all undelivered events, also those of requests in progress.
    pub(crate) fn discard(&self) {
        let _no_delivery = self.delivery.lock();
        let mut queue = self.queue.lock();
        queue.events.clear();
        queue.resets += 1;
    }
}

/// The subject of events that are published to topics.
const SUBJECT: &str = "Amazon S3 Notification";

/// The sender that queues show for messages of S3.
const SENDER: &str = "AROAJFWZWTE5KRAMGW5A2:S3-PROD-END";

/// The number of retries of a delivery while SQS is unavailable. They are immediate: later events wait for them.
const RETRIES: usize = 3;

/// The queues and topics of the server.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) queues: Arc<dyn Queues>,
    pub(crate) topics: Arc<dyn Publisher>,
    /// The account that owns all buckets.
    pub(crate) account: String,
}

impl Targets {
    /// Checks that events of a bucket can be delivered to a target. Returns a note if they would not be on AWS, or are
    /// not here.
    ///
    /// # Errors
    /// The target does not exist, or its policy does not allow it.
    pub(crate) fn check(&self, bucket: &str, target: &Target) -> Result<Option<String>, UnusableTarget> {
        let arn = &target.arn;
        match target.kind {
            TargetKind::Queue => {
                let queue: QueueArn = arn.parse().map_err(|_| UnusableTarget::Missing)?;
                match self.queues.check(&queue, self.source(&bucket_arn(&queue.region, bucket))) {
                    Ok(None) => Ok(None),
                    Ok(Some(why)) => {
                        Ok(Some(format!("events are delivered to {arn}, but AWS denies it: {why}")))
                    }
                    Err(Undelivered::Denied(_)) => Err(UnusableTarget::Denied),
                    Err(_) => Err(UnusableTarget::Missing),
                }
            }
            TargetKind::Topic if self.topics.has_topic(arn) => Ok(None),
            TargetKind::Topic => Err(UnusableTarget::Missing),
            TargetKind::Function => {
                Ok(Some(format!("events for {arn} are not sent: there are no functions here")))
            }
        }
    }

    /// Delivers a message to a target. What is lost is logged: the request that caused it has its response already.
    pub(crate) fn deliver(&self, bucket: &str, target: &Target, message: &str, trace_header: Option<&str>) {
        let destination = target.arn.as_str();
        let delivered = match target.kind {
            TargetKind::Queue => {
                // The queue reports a delivery that AWS would deny.
                let delivered = self.to_queue(bucket, destination, message, trace_header);
                delivered.map(|_| Vec::new()).map_err(|undelivered| undelivered.to_string())
            }
            TargetKind::Topic => {
                let (topic, subject, text) = (destination, SUBJECT, message);
                self.topics.publish(Announcement { topic, subject, text, trace_header })
            }
            TargetKind::Function => {
                tracing::debug!(bucket, destination, "an event of S3 is not sent to a function");
                return;
            }
        };
        match delivered {
            Ok(notes) if notes.is_empty() => {
                tracing::debug!(bucket, destination, "an event of S3 is delivered");
            }
            Ok(notes) => {
                tracing::warn!(bucket, destination, ?notes, "SNS has notes about an event of S3");
            }
            Err(reason) => tracing::warn!(bucket, destination, reason, "an event of S3 is lost"),
        }
    }

    fn to_queue(
        &self,
        bucket: &str,
        arn: &str,
        body: &str,
        trace_header: Option<&str>,
    ) -> Result<Option<Why>, Undelivered> {
        let queue: QueueArn = arn.parse().map_err(|_| Undelivered::NoQueue)?;
        let bucket_arn = bucket_arn(&queue.region, bucket);
        let delivery = Delivery {
            queue: &queue,
            source: self.source(&bucket_arn),
            body,
            attributes: None,
            group: None,
            deduplication_id: None,
            trace_header,
            sender: SENDER,
            keeps_size_limit: true,
        };
        let mut delivered = self.queues.deliver(delivery);
        for _ in 0..RETRIES {
            if !matches!(delivered, Err(Undelivered::Unavailable(_))) {
                break;
            }
            delivered = self.queues.deliver(delivery);
        }
        delivered
    }

    /// The source that policies see.
    fn source<'a>(&'a self, bucket_arn: &'a str) -> Source<'a> {
        Source { service: "s3.amazonaws.com", arn: bucket_arn, account: &self.account }
    }
}

/// The ARN of a bucket in a region.
pub(crate) fn bucket_arn(region: &str, bucket: &str) -> String {
    format!("arn:{}:s3:::{bucket}", partition(region))
}

/// Publishes for other services. The policies of topics are not evaluated.
#[derive(Debug)]
pub(crate) struct TopicPublisher {
    sns: Arc<Sns>,
    /// The URL of this server in messages, without a slash at the end.
    base_url: String,
}

impl TopicPublisher {
    pub(crate) fn new(sns: Arc<Sns>, base_url: String) -> Self {
        Self { sns, base_url }
    }
}

impl Publisher for TopicPublisher {
    fn has_topic(&self, arn: &str) -> bool {
        topic(arn).is_some_and(|arn| self.sns.topics.get(&arn).is_ok())
    }

    fn publish(&self, announcement: Announcement<'_>) -> Result<Vec<String>, String> {
        let Announcement { topic: arn, subject, text, trace_header } = announcement;
        let arn = topic(arn).ok_or("the topic does not exist")?;
        let publish = || {
            let message = Message::new(Draft { text, subject: Some(subject), ..Draft::default() })?;
            let origin = Origin { base_url: &self.base_url, trace_header };
            publish_message(&self.sns, origin, self.sns.topics.get(&arn)?, message)
        };
        publish().map_err(|error: QueryError| error.to_string())
    }
}

/// The topic of an ARN, but not of the ARN of a subscription.
fn topic(text: &str) -> Option<TopicArn> {
    TopicArn::of(text).filter(|arn| arn.to_string() == text)
}

#[cfg(test)]
#[path = "outbox_tests.rs"]
pub(super) mod tests;
