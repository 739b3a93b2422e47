//! Fault injection: which requests fail, how, and how often.
//!
//! ```text
//! request -> rules, in the order of injection: filter, skip, rate, chance -> plan -> the service applies it:
//!            latency -> rejection | operation (some entries fail) -> response: whole, corrupted, truncated or lost
//! ```
//! Rules apply in the order of their injection. Latencies add up. Of all rules that reject a request or damage its
//! response, the first one applies; the later ones do not count it. Entries of a batch fail one by one.
//!
//! This module does not know how a service encodes requests and responses: each service describes its requests as a
//! [`Request`] and carries out the plan.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use sqs_client::operation::Action;
//! use sqs_mock_server::MockSqs;
//! use sqs_mock_server::faults::Fault;
//!
//! let server = MockSqs::in_process();
//! let client = server.client();
//! let url = client.create_queue().queue_name("orders").send().await?.queue_url.unwrap();
//!
//! // The first response is lost: the message is stored, and the client retries.
//! let lost = server.faults().inject(Fault::reset_after().on(Action::SendMessage).times(1));
//! client.send_message().queue_url(&url).message_body("tea").send().await?;
//! assert_eq!(lost.hits(), 1);
//! assert_eq!(server.queue("orders").bodies(), ["tea", "tea"]);
//! # Ok(())
//! # }
//! ```

pub(crate) mod fault;
pub(crate) mod json;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fastrand::Rng;
use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Deserializer, Serialize};
use sqs_client::operation::Action;
use tokio::sync::Notify;

pub use crate::control::arn::Resource;
use crate::control::clock::Timestamp;
use crate::control::faults::fault::Effect;
pub use crate::control::faults::fault::Fault;
pub use crate::control::faults::json::InvalidFault;
use crate::control::operation::Operation;
pub use crate::control::operation::{ServiceName, SnsAction, StsAction};
use crate::control::schedule::{CallNumber, Schedule};
use crate::control::seed::Seed;

/// The faults of a server, returned by [`MockSqs::faults`](crate::mock::MockSqs::faults). Clones share them.
#[derive(Clone, Debug)]
pub struct Faults {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    seed: Seed,
    /// Whether there are faults. Requests read nothing else while it is false.
    any: AtomicBool,
    injected: AtomicU64,
    /// Not held while a rule is locked or while user conditions run.
    rules: RwLock<Vec<Arc<Rule>>>,
    /// The schedule, if there is one.
    schedule: RwLock<Option<Arc<Schedule>>>,
    delays: Delays,
}

impl Faults {
    pub(crate) fn new(seed: Seed) -> Self {
        let shared = Shared {
            seed,
            any: AtomicBool::new(false),
            injected: AtomicU64::new(0),
            rules: RwLock::default(),
            schedule: RwLock::default(),
            delays: Delays::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Adds a fault. It applies to all later requests.
    pub fn inject(&self, fault: Fault) -> InjectedFault {
        let id = self.shared.injected.fetch_add(1, Ordering::Relaxed) + 1;
        let chance = self.shared.seed.generator(&format!("fault {id}"));
        let rule = Arc::new(Rule::new(id, fault, chance));
        self.shared.rules.write().push(Arc::clone(&rule));
        self.shared.any.store(true, Ordering::Release);
        InjectedFault { rule, faults: self.clone() }
    }

    /// Removes all faults.
    pub fn clear(&self) {
        let mut rules = self.shared.rules.write();
        rules.clear();
        self.shared.any.store(self.schedule().is_some(), Ordering::Release);
    }

    /// Sets the schedule, or ends it. Calls count from 1 again.
    pub(crate) fn set_schedule(&self, schedule: Option<Arc<Schedule>>) {
        let rules = self.shared.rules.write();
        let any = !rules.is_empty() || schedule.is_some();
        *self.shared.schedule.write() = schedule;
        self.shared.any.store(any, Ordering::Release);
    }

    /// The schedule, if there is one.
    pub(crate) fn schedule(&self) -> Option<Arc<Schedule>> {
        self.shared.schedule.read().clone()
    }

    /// Whether the caller of a request matters.
    pub(crate) fn has_schedule(&self) -> bool {
        self.shared.any.load(Ordering::Acquire) && self.shared.schedule.read().is_some()
    }

    /// Removes spent faults if there are at least this many faults.
    pub(crate) fn forget_spent(&self, at_most: usize) {
        let mut rules = self.shared.rules.write();
        if rules.len() >= at_most {
            rules.retain(|rule| !rule.is_spent());
        }
    }

    /// All injected faults that were not removed, spent ones included, in the order of their injection.
    pub fn list(&self) -> Vec<InjectedFault> {
        let injected = |rule: &Arc<Rule>| InjectedFault { rule: Arc::clone(rule), faults: self.clone() };
        self.shared.rules.read().iter().map(injected).collect()
    }

    /// The rules of all faults; `None` without faults.
    pub(crate) fn rules(&self) -> Option<Vec<Arc<Rule>>> {
        self.shared.any.load(Ordering::Acquire).then(|| self.shared.rules.read().clone())
    }

    /// The requests that wait for their latency.
    pub(crate) fn delays(&self) -> &Delays {
        &self.shared.delays
    }

    fn remove(&self, rule: &Arc<Rule>) {
        let mut rules = self.shared.rules.write();
        rules.retain(|other| !Arc::ptr_eq(other, rule));
        self.shared.any.store(!rules.is_empty() || self.schedule().is_some(), Ordering::Release);
    }
}

/// An injected fault. Dropping this handle does not remove the fault.
#[derive(Clone, Debug)]
pub struct InjectedFault {
    rule: Arc<Rule>,
    faults: Faults,
}

impl InjectedFault {
    /// The number of the fault, from 1.
    pub fn id(&self) -> u64 {
        self.rule.id
    }

    /// The number of requests, or entries, it affected.
    pub fn hits(&self) -> u64 {
        self.rule.hits()
    }

    /// Whether it reached its limit of [`times`](Fault::times).
    pub fn is_spent(&self) -> bool {
        self.rule.is_spent()
    }

    /// The fault.
    pub fn fault(&self) -> &Fault {
        &self.rule.fault
    }

    /// Removes the fault.
    pub fn remove(&self) {
        self.faults.remove(&self.rule);
    }
}

/// An injected fault: how often it applied, and whether it applies now.
#[derive(Debug)]
pub(crate) struct Rule {
    id: u64,
    pub(crate) fault: Fault,
    hits: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Matching requests or entries that it still has to skip.
    skip: u64,
    bucket: TokenBucket,
    chance: Rng,
}

/// A token bucket for `above`, in thousandths of a request. Its capacity is a tenth of a second's requests, at least
/// one.
#[derive(Debug, Default)]
struct TokenBucket {
    thousandths: u64,
    filled: Option<Timestamp>,
}

impl TokenBucket {
    /// Takes one request from the bucket, if it has one at time `now`.
    fn take(&mut self, per_second: u32, now: Timestamp) -> bool {
        let most = (u64::from(per_second) * 100).max(1_000);
        let since = self.filled.map(|filled| now.saturating_since(filled));
        let added = since.map_or(u128::MAX, |since| since.as_millis().saturating_mul(u128::from(per_second)));
        self.filled = self.filled.max(Some(now));
        self.thousandths =
            u64::try_from(added).unwrap_or(u64::MAX).saturating_add(self.thousandths).min(most);
        let has_one = per_second > 0 && self.thousandths >= 1_000;
        self.thousandths -= if has_one { 1_000 } else { 0 };
        has_one
    }
}

impl Rule {
    fn new(id: u64, fault: Fault, chance: Rng) -> Self {
        let state = State { skip: fault.filter.skip.unwrap_or(0), bucket: TokenBucket::default(), chance };
        Self { id, fault, hits: AtomicU64::new(0), state: Mutex::new(state) }
    }

    /// Decides whether the fault affects something that its filter accepts; if so, counts a hit.
    pub(crate) fn hit(&self, now: Timestamp) -> bool {
        let mut state = self.state.lock();
        if self.is_spent() || state.chance.f64() >= self.fault.filter.probability.unwrap_or(1.0) {
            return false;
        }
        if state.skip > 0 {
            state.skip -= 1;
            return false;
        }
        if self.fault.filter.above.is_some_and(|per_second| state.bucket.take(per_second, now)) {
            return false;
        }
        self.hits.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Its number and effect, such as `fault 1: throttle`.
    pub(crate) fn name(&self) -> String {
        let fault = serde_json::to_value(&self.fault).unwrap_or_default();
        format!("fault {}: {}", self.id, fault["effect"].as_str().unwrap_or("with conditions in Rust"))
    }

    /// Reverts a hit that had no effect.
    pub(crate) fn take_back(&self) {
        // Does not underflow: each hit is counted before, and is reverted at most once.
        self.hits.fetch_sub(1, Ordering::Relaxed);
    }

    /// A random number from 0 to 1, for the effect.
    pub(crate) fn draw(&self) -> f64 {
        self.state.lock().chance.f64()
    }

    fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    fn is_spent(&self) -> bool {
        self.fault.filter.times.is_some_and(|times| self.hits() >= times)
    }
}

/// A request, for the conditions of a fault.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The service that it is sent to.
    pub service: ServiceName,
    /// The name of its operation, such as `SendMessage`.
    pub operation: &'a str,
    /// The resource that the request addresses, if it names one.
    pub resource: Option<Resource>,
    /// The account of the caller, 12 digits.
    pub account: &'a str,
    /// The region of the caller.
    pub region: &'a str,
    /// The arrival time, by the clock of the server.
    pub time: Timestamp,
    /// The messages or receipt handles: one for each entry of a batch, one for a single send, delete or change of
    /// visibility, none for other requests.
    pub entries: Vec<Entry<'a>>,
    /// Whether the messages in its response can be delivered again.
    pub(crate) can_redeliver: bool,
    /// The access key of the caller, if there is a schedule; empty for deliveries of other services.
    pub(crate) caller: &'a str,
    /// The number of the call, if its transport counts.
    pub(crate) number: Option<CallNumber>,
}

impl Request<'_> {
    /// The action, if the request is for SQS.
    pub fn action(&self) -> Option<Action> {
        Action::from_name(self.operation).filter(|_| self.service == ServiceName::Sqs)
    }

    /// The name of the queue, if the request addresses one.
    pub fn queue(&self) -> Option<&str> {
        match &self.resource {
            Some(Resource::Queue(arn)) => Some(&arn.name),
            _ => None,
        }
    }

    /// The name of the topic, if the request addresses one or a subscription to it.
    pub fn topic(&self) -> Option<&str> {
        self.resource.as_ref().and_then(Resource::topic)
    }
}

/// A message or a receipt handle of a request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// The position in the batch, from 0; 0 without a batch.
    pub index: usize,
    /// The id in the batch; `None` without a batch.
    pub id: Option<&'a str>,
    /// The body of the message.
    pub body: Option<&'a str>,
    /// The message group id.
    pub group: Option<&'a str>,
    /// The message deduplication id.
    pub deduplication_id: Option<&'a str>,
    /// The receipt handle.
    pub receipt_handle: Option<&'a str>,
}

/// A condition as a Rust closure.
pub(crate) struct Condition<F: ?Sized>(pub(crate) Arc<F>);

impl<F: ?Sized> Clone for Condition<F> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<F: ?Sized> fmt::Debug for Condition<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

pub(crate) type OnRequest = Condition<dyn Fn(&Request<'_>) -> bool + Send + Sync>;

pub(crate) type OnEntry = Condition<dyn Fn(&Entry<'_>) -> bool + Send + Sync>;

/// Which requests and entries a fault affects, and how often. All conditions must hold; an empty filter accepts
/// everything.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Filter {
    pub(crate) service: Option<ServiceName>,
    /// One of these.
    pub(crate) actions: Vec<Operation>,
    /// The name of the queue.
    pub(crate) queue: Option<String>,
    pub(crate) bucket: Option<String>,
    pub(crate) key_prefix: Option<String>,
    /// The name of the topic.
    pub(crate) topic: Option<String>,
    #[serde(skip)]
    pub(crate) condition: Option<OnRequest>,
    /// One of these positions in the batch.
    pub(crate) entries: Vec<usize>,
    pub(crate) group: Option<String>,
    pub(crate) body_contains: Option<String>,
    #[serde(skip)]
    pub(crate) entry_condition: Option<OnEntry>,
    pub(crate) skip: Option<u64>,
    pub(crate) times: Option<u64>,
    /// 0 to 1.
    #[serde(deserialize_with = "number")]
    pub(crate) probability: Option<f64>,
    /// Requests per second that are not affected.
    pub(crate) above: Option<u32>,
}

/// Rejects `null`, which `nan` of a config file becomes.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    f64::deserialize(deserializer).map(Some)
}

impl Filter {
    /// The services that the fields of a fault imply, with the name of each field.
    pub(crate) fn services(&self, effect: &Effect) -> impl Iterator<Item = (&'static str, ServiceName)> {
        use ServiceName::{S3, Sns, Sqs};
        let of_sns = self.service == Some(Sns)
            || self.topic.is_some()
            || self.actions.iter().any(|action| action.service == Sns);
        // Both have messages.
        let of_messages = if of_sns { Sns } else { Sqs };
        let fields = [
            ("service", self.service),
            ("effect", effect.service()),
            ("effect", effect.is_of_entries().then_some(of_messages)),
            ("queue", self.queue.is_some().then_some(Sqs)),
            ("group", self.group.is_some().then_some(of_messages)),
            ("body_contains", self.body_contains.is_some().then_some(of_messages)),
            ("entries", (!self.entries.is_empty()).then_some(of_messages)),
            ("bucket", self.bucket.is_some().then_some(S3)),
            ("key_prefix", self.key_prefix.is_some().then_some(S3)),
            ("topic", self.topic.is_some().then_some(Sns)),
        ];
        let actions = self.actions.iter().map(|action| ("actions", Some(action.service)));
        fields.into_iter().chain(actions).filter_map(|(field, service)| Some((field, service?)))
    }

    /// Whether a request can have this effect, apart from its entries.
    pub(crate) fn accepts(&self, effect: &Effect, request: &Request<'_>) -> bool {
        let mut services = self.services(effect).map(|(_, service)| service).peekable();
        let resource = request.resource.as_ref();
        let has_prefix =
            |prefix: &str| resource.and_then(Resource::key).is_some_and(|key| key.starts_with(prefix));
        (services.peek().is_some() || request.service == ServiceName::Sqs)
            && services.all(|service| service == request.service)
            && (self.actions.is_empty() || self.actions.iter().any(|action| action.name == request.operation))
            && self.queue.as_deref().is_none_or(|queue| request.queue() == Some(queue))
            && self.bucket.as_deref().is_none_or(|bucket| resource.and_then(Resource::bucket) == Some(bucket))
            && self.key_prefix.as_deref().is_none_or(has_prefix)
            && self.topic.as_deref().is_none_or(|topic| request.topic() == Some(topic))
            && self.condition.as_ref().is_none_or(|condition| (condition.0)(request))
    }

    /// Whether it accepts one of the entries. Without conditions on entries it also accepts a request without entries.
    pub(crate) fn accepts_any(&self, entries: &[Entry<'_>]) -> bool {
        let is_empty = self.entries.is_empty()
            && self.group.is_none()
            && self.body_contains.is_none()
            && self.entry_condition.is_none();
        is_empty || entries.iter().any(|entry| self.accepts_entry(entry))
    }

    pub(crate) fn accepts_entry(&self, entry: &Entry<'_>) -> bool {
        let has = |part: &str| entry.body.is_some_and(|body| body.contains(part));
        (self.entries.is_empty() || self.entries.contains(&entry.index))
            && self.group.as_deref().is_none_or(|group| entry.group == Some(group))
            && self.body_contains.as_deref().is_none_or(has)
            && self.entry_condition.as_ref().is_none_or(|condition| (condition.0)(entry))
    }
}

/// The delayed requests of a server.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    end: Notify,
}

impl Delays {
    /// Delays a request. Returns `false`, without further delay, if the server is reset meanwhile: the request must not
    /// change what the reset creates.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn delay(&self, latency: Duration) -> bool {
        if latency.is_zero() {
            return true;
        }
        let end = self.end.notified();
        tokio::select! {
            biased;
            () = end => false,
            () = tokio::time::sleep(latency) => true,
        }
    }

    /// Ends all delays, for a reset.
    pub(crate) fn end(&self) {
        self.end.notify_waiters();
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
