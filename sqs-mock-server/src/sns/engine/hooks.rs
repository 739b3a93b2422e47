//! Requests to web hooks that wait for their turn, for an answer or for a retry.
//!
//! ```text
//! add --> due --(a free place of the subscription, its rate)--> under way --> settled
//!          ^                                                       |
//!          +---------------- schedule of the policy --- failed ----+--> the last attempt: given up
//! ```
//! A web hook that hangs uses up the places of its subscription, and its requests that wait may take no more memory than is
//! left for all others.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum::message_size;

use crate::control::arn::{QueueArn, TopicArn};
use crate::control::clock::Timestamp;
use crate::outgoing::log::OutgoingKind;
use crate::sns::engine::delivery_policy::DeliveryPolicy;

/// A limit of this server that bounds memory.
const MAX_BYTES: usize = 64 << 20;

/// What a request takes in addition to its texts, approximately.
const OVERHEAD: usize = 1_024;

/// The requests of one subscription at one time.
const PLACES: usize = 8;

/// A request to a web hook.
#[derive(Debug)]
pub(crate) struct HookRequest {
    /// Increases with each request of a server.
    pub(crate) number: u64,
    pub(crate) kind: OutgoingKind,
    pub(crate) topic: TopicArn,
    /// The id of the subscription.
    pub(crate) subscription: Box<str>,
    pub(crate) url: Box<str>,
    /// The id of the message, the same in all attempts.
    pub(crate) message_id: Box<str>,
    pub(crate) is_raw: bool,
    pub(crate) policy: DeliveryPolicy,
    pub(crate) body: Box<str>,
    /// These are for the dead-letter queue only.
    pub(crate) dead_letter_queue: Option<QueueArn>,
    pub(crate) attributes: Option<HashMap<String, MessageAttributeValue>>,
    pub(crate) group: Option<Box<str>>,
    pub(crate) trace_header: Option<Box<str>>,
}

impl HookRequest {
    fn bytes(&self) -> usize {
        message_size(&self.body, self.attributes.as_ref()) + self.url.len() + OVERHEAD
    }
}

/// All requests that are not settled.
#[derive(Debug, Default)]
pub(crate) struct HookRequests {
    waiting: BTreeMap<u64, Waiting>,
    /// The next attempt of each request that is neither under way nor ready.
    due: BTreeSet<(Timestamp, u64)>,
    /// By id.
    subscriptions: HashMap<Box<str>, Subscription>,
    bytes: usize,
}

#[derive(Debug)]
struct Waiting {
    request: Arc<HookRequest>,
    retries: u32,
    /// Whether its next attempt has a time by the rate of the subscription.
    is_paced: bool,
}

/// The requests of one subscription.
#[derive(Debug, Default)]
struct Subscription {
    count: usize,
    bytes: usize,
    under_way: usize,
    /// Those that are due, and wait for a place.
    ready: VecDeque<u64>,
    /// Before this time, no request may start.
    next: Timestamp,
}

/// An attempt to start.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) request: Arc<HookRequest>,
    /// From 1.
    pub(crate) number: u32,
}

/// What follows a failed attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Next {
    Retry(Timestamp),
    /// It was the last attempt.
    GiveUp,
    /// Nobody waits for it any more.
    Forgotten,
}

impl HookRequests {
    /// Adds a request that is due; `false` if there is no room for it.
    pub(crate) fn add(&mut self, now: Timestamp, request: Arc<HookRequest>) -> bool {
        let bytes = request.bytes();
        let own = self.subscriptions.get(&request.subscription).map_or(0, |own| own.bytes);
        let left = MAX_BYTES.saturating_sub(self.bytes);
        if own + bytes > left {
            return false;
        }
        self.bytes += bytes;
        let own = self.subscriptions.entry(request.subscription.clone()).or_default();
        (own.count, own.bytes) = (own.count + 1, own.bytes + bytes);
        self.due.insert((now, request.number));
        self.waiting.insert(request.number, Waiting { request, retries: 0, is_paced: false });
        true
    }

    /// When the next attempt is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(due, _)| *due)
    }

    /// The attempts that may start.
    pub(crate) fn start(&mut self, now: Timestamp) -> Vec<Attempt> {
        let mut started = Vec::new();
        while let Some(&(due, number)) = self.due.first()
            && due <= now
        {
            self.due.pop_first();
            started.extend(self.start_one(now, number));
        }
        started
    }

    fn start_one(&mut self, now: Timestamp, number: u64) -> Option<Attempt> {
        let waiting = self.waiting.get_mut(&number)?;
        let subscription = self.subscriptions.entry(waiting.request.subscription.clone()).or_default();
        if let Some(interval) = waiting.request.policy.interval
            && !waiting.is_paced
        {
            waiting.is_paced = true;
            let slot = subscription.next.max(now);
            subscription.next = slot + interval;
            if slot > now {
                self.due.insert((slot, number));
                return None;
            }
        }
        if subscription.under_way >= PLACES {
            subscription.ready.push_back(number);
            return None;
        }
        subscription.under_way += 1;
        waiting.is_paced = false;
        Some(Attempt { request: Arc::clone(&waiting.request), number: waiting.retries + 1 })
    }

    /// Whether somebody still waits for a request.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.waiting.contains_key(&number)
    }

    /// The receiver has accepted a request, or never will: it is settled. Returns whether somebody still waited for it, and
    /// another attempt that may start.
    pub(crate) fn settled(&mut self, now: Timestamp, attempt: &Attempt) -> (bool, Option<Attempt>) {
        let was_awaited = self.remove(attempt.request.number);
        (was_awaited, self.leave(now, &attempt.request.subscription))
    }

    /// An attempt failed. Returns what follows, and another attempt that may start.
    pub(crate) fn failed(&mut self, now: Timestamp, attempt: &Attempt) -> (Next, Option<Attempt>) {
        let number = attempt.request.number;
        let next = match self.waiting.get_mut(&number) {
            None => Next::Forgotten,
            Some(waiting) => match waiting.request.policy.schedule.pause(waiting.retries) {
                Some(pause) => {
                    waiting.retries += 1;
                    self.due.insert((now + pause, number));
                    Next::Retry(now + pause)
                }
                None => Next::GiveUp,
            },
        };
        if next == Next::GiveUp {
            self.remove(number);
        }
        (next, self.leave(now, &attempt.request.subscription))
    }

    /// A place of a subscription is free.
    fn leave(&mut self, now: Timestamp, id: &str) -> Option<Attempt> {
        let subscription = self.subscriptions.get_mut(id)?;
        subscription.under_way = subscription.under_way.saturating_sub(1);
        while let Some(number) = self.subscriptions.get_mut(id)?.ready.pop_front() {
            if let Some(attempt) = self.start_one(now, number) {
                return Some(attempt);
            }
        }
        // A rate outlives the requests until its time.
        let is_idle = |one: &Subscription| one.count == 0 && one.under_way == 0 && one.next <= now;
        if self.subscriptions.get(id).is_some_and(is_idle) {
            self.subscriptions.remove(id);
        }
        None
    }

    /// Returns whether there was such a request.
    fn remove(&mut self, number: u64) -> bool {
        let Some(Waiting { request, .. }) = self.waiting.remove(&number) else { return false };
        self.bytes -= request.bytes();
        if let Some(subscription) = self.subscriptions.get_mut(&request.subscription) {
            subscription.count -= 1;
            subscription.bytes -= request.bytes();
        }
        true
    }

    /// Removes and returns requests that nobody waits for any more. Those under way end, and are not tried again.
    pub(crate) fn forget(
        &mut self,
        now: Timestamp,
        is_forgotten: impl Fn(&HookRequest) -> bool,
    ) -> Vec<Arc<HookRequest>> {
        let all = self.waiting.values().map(|waiting| &waiting.request);
        let forgotten: Vec<_> = all.filter(|request| is_forgotten(request)).cloned().collect();
        for request in &forgotten {
            self.remove(request.number);
        }
        if !forgotten.is_empty() {
            let waiting = &self.waiting;
            self.due.retain(|(_, number)| waiting.contains_key(number));
        }
        let waiting = &self.waiting;
        self.subscriptions.retain(|_, one| {
            one.ready.retain(|number| waiting.contains_key(number));
            one.count > 0 || one.under_way > 0 || one.next > now
        });
        forgotten
    }

    /// The number of requests of a subscription that are not settled.
    pub(crate) fn count(&self, subscription: &str) -> usize {
        self.subscriptions.get(subscription).map_or(0, |own| own.count)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::sns::engine::delivery_policy::PolicyOf;

    const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    const SECOND: Duration = Duration::from_secs(1);

    fn request(number: u64, subscription: &str, policy: &str, bytes: usize) -> Arc<HookRequest> {
        Arc::new(HookRequest {
            number,
            kind: OutgoingKind::Notification,
            subscription: subscription.into(),
            url: "http://localhost".into(),
            message_id: "m".into(),
            is_raw: false,
            policy: DeliveryPolicy::parse(policy, PolicyOf::Subscription, &DeliveryPolicy::default())
                .unwrap(),
            body: "x".repeat(bytes).into(),
            topic: TopicArn::new("us-east-1", "000000000000", "news"),
            dead_letter_queue: None,
            attributes: None,
            group: None,
            trace_header: None,
        })
    }

    fn numbers(attempts: impl IntoIterator<Item = Attempt>) -> Vec<u64> {
        attempts.into_iter().map(|attempt| attempt.request.number).collect()
    }

    #[test]
    fn failed_request_is_tried_again_by_its_schedule_and_then_given_up() {
        let mut all = HookRequests::default();
        let policy = r#"{"healthyRetryPolicy":{"minDelayTarget":5,"maxDelayTarget":5,"numRetries":2}}"#;
        assert!(all.add(START, request(1, "s", policy, 1)));
        let mut now = START;
        for attempt in 1..=2 {
            let started = all.start(now);
            assert_eq!((numbers(started.clone()), started[0].number), (vec![1], attempt));
            assert!(all.start(now).is_empty(), "it is under way");
            let (next, _) = all.failed(now, &started[0]);
            assert_eq!(next, Next::Retry(now + 5 * SECOND));
            now = now + 4 * SECOND;
            assert!(all.start(now).is_empty());
            now = now + SECOND;
        }
        let last = all.start(now);
        assert_eq!(all.failed(now, &last[0]).0, Next::GiveUp);
        assert!(
            all.waiting.is_empty() && all.bytes == 0 && all.subscriptions.is_empty() && all.due.is_empty()
        );
    }

    #[test]
    fn subscription_that_hangs_uses_up_its_own_places_only() {
        let mut all = HookRequests::default();
        for number in 0..20 {
            assert!(all.add(START, request(number, "hangs", "{}", 1)));
        }
        assert!(all.add(START, request(20, "other", "{}", 1)));
        let started = all.start(START);
        assert_eq!(numbers(started.clone()), [(0..8).collect::<Vec<_>>(), vec![20]].concat());
        assert_eq!(numbers(all.settled(START, &started[0]).1), [8], "the next one in line");
        assert_eq!(numbers(all.failed(START, &started[1]).1), [9]);
    }

    #[test]
    fn rate_of_a_subscription_spreads_its_requests() {
        let mut all = HookRequests::default();
        let policy = r#"{"throttlePolicy":{"maxReceivesPerSecond":2}}"#;
        for number in 0..3 {
            assert!(all.add(START, request(number, "s", policy, 1)));
        }
        let first = all.start(START);
        assert_eq!(numbers(first.clone()), [0]);
        assert_eq!(all.next_due(), Some(START + SECOND / 2));
        assert!(all.settled(START, &first[0]).1.is_none());
        assert_eq!(numbers(all.start(START + SECOND / 2)), [1]);
        assert_eq!(numbers(all.start(START + SECOND)), [2]);
    }

    #[test]
    fn one_subscription_takes_at_most_half_of_the_memory() {
        let mut all = HookRequests::default();
        let quarter = MAX_BYTES / 4;
        assert!(all.add(START, request(0, "greedy", "{}", quarter)));
        assert!(!all.add(START, request(1, "greedy", "{}", 2 * quarter)));
        assert!(all.add(START, request(2, "other", "{}", quarter)));
        assert!(!all.add(START, request(3, "greedy", "{}", quarter)));
        assert!(all.add(START, request(4, "third", "{}", quarter)));
    }

    #[test]
    fn forgotten_request_is_not_tried_again() {
        let mut all = HookRequests::default();
        for (number, subscription) in ["ends", "ends", "stays"].into_iter().enumerate() {
            assert!(all.add(START, request(number as u64, subscription, "{}", 1)));
        }
        let started = all.start(START);
        let forgotten = all.forget(START, |request| &*request.subscription == "ends");
        assert_eq!(forgotten.iter().map(|request| request.number).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(all.failed(START, &started[0]).0, Next::Forgotten);
        assert_eq!((all.count("ends"), all.count("stays")), (0, 1));
        assert!(matches!(all.settled(START, &started[1]), (false, None)), "an answer that nobody waits for");
        assert!(matches!(all.settled(START, &started[2]), (true, None)));
        assert!(all.waiting.is_empty() && all.bytes == 0 && all.subscriptions.is_empty());
    }
}
