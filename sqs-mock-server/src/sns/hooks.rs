//! Messages of topics for web hooks.
//!
//! ```text
//! publish -> deliver -> store -> HookRequests -> a task for each attempt -> Outgoing -> 2xx: delivered
//!                                    ^                                        |
//!                                    +-- later: 5xx, 429, no answer ----------+--> other status, last attempt:
//!                                                                                  dead-letter queue, or dropped
//! ```
//! With a store, a request is stored with its publish, and is sent when both are; those that had no answer when the server
//! ended are sent again.
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/dg/sns-http-https-endpoint-as-subscriber.html>

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, USER_AGENT};
use http::{HeaderMap, HeaderName, StatusCode};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::control::clock::{Clock, Timestamp};
use crate::control::delivery::{Delivery, Queues};
use crate::control::metrics::Stopwatch;
use crate::outgoing::log::{OutgoingKind, OutgoingRequest};
use crate::outgoing::{Failure, Outgoing, Post, Target, without_password};
use crate::sns::deliveries::{Deliveries, empty};
use crate::sns::engine::hooks::{Attempt, HookRequest, HookRequests, Next};
use crate::sns::engine::topic::{TopicReader, WaitingChange};
use crate::sns::retry_task::{Retries, RetryTask};

/// How long SNS waits for an answer.
const TIMEOUT: Duration = Duration::from_secs(15);

/// What is read of an answer, so that the connection can be used again. SNS ignores it.
const MAX_ANSWER: usize = 64 << 10;

const AGENT: HeaderValue = HeaderValue::from_static("Amazon Simple Notification Service Agent");

/// The requests of a server to web hooks.
#[derive(Debug)]
pub(crate) struct Hooks {
    outgoing: Arc<Outgoing>,
    deliveries: Arc<Deliveries>,
    queues: Arc<dyn Queues>,
    clock: Clock,
    /// Records which requests wait.
    reader: Option<Arc<dyn TopicReader>>,
    /// While it is locked, nothing else is.
    state: Mutex<State>,
    /// The attempts under way. Dropping it ends them.
    attempts: Mutex<JoinSet<()>>,
    task: RetryTask,
}

#[derive(Debug, Default)]
struct State {
    requests: HookRequests,
    /// The number of the last request.
    last: u64,
}

/// How an attempt ended.
enum Outcome {
    Delivered,
    /// A later attempt may succeed.
    Failed(String),
    /// No later attempt can succeed.
    Refused(String),
}

impl Outcome {
    /// SNS retries after 429 and 5xx, and when there is no answer.
    fn of_status(status: StatusCode) -> Self {
        let text = || match status.canonical_reason() {
            Some(reason) => format!("status {} {reason}", status.as_u16()),
            None => format!("status {}", status.as_u16()),
        };
        match status.as_u16() {
            200..=299 => Self::Delivered,
            300..=428 | 430..=499 => Self::Refused(text()),
            _ => Self::Failed(text()),
        }
    }
}

impl Hooks {
    pub(crate) fn new(
        outgoing: Arc<Outgoing>,
        deliveries: Arc<Deliveries>,
        (queues, clock): (Arc<dyn Queues>, Clock),
        reader: Option<Arc<dyn TopicReader>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            outgoing,
            deliveries,
            queues,
            clock,
            reader,
            state: Mutex::default(),
            attempts: Mutex::default(),
            task: RetryTask::new(),
        })
    }

    /// Adds the requests of an earlier process, whose attempts start anew.
    pub(crate) fn restore(self: &Arc<Self>, all: Vec<HookRequest>) {
        if all.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        for request in all {
            state.last = request.number.max(state.last);
            // There is room: the earlier process had it.
            let _ = state.requests.add(self.clock.now(), Arc::new(request));
        }
        drop(state);
        self.proceed();
    }

    /// Takes a request, and starts it. Its number is set here. Returns a note if there is no room for it.
    pub(crate) fn deliver(self: &Arc<Self>, mut request: HookRequest) -> Option<String> {
        let added = {
            let mut state = self.state.lock();
            state.last += 1;
            request.number = state.last;
            let request = Arc::new(request);
            // Before it can end: changes arrive in this order.
            self.tell(WaitingChange::RequestAdded(Arc::clone(&request)));
            if state.requests.add(self.clock.now(), Arc::clone(&request)) { Ok(()) } else { Err(request) }
        };
        if let Err(request) = added {
            // The record of the publish has the note.
            let note = self.give_up(&request, "the server has no room to keep it");
            self.tell(WaitingChange::RequestEnded(request.number));
            return Some(note);
        }
        self.proceed();
        None
    }

    /// Ends the requests of subscriptions that were removed.
    pub(crate) fn forget(&self, is_removed: impl Fn(&str) -> bool) {
        let is_forgotten = |request: &HookRequest| {
            request.kind != OutgoingKind::UnsubscribeConfirmation && is_removed(&request.subscription)
        };
        let forgotten = self.state.lock().requests.forget(self.clock.now(), is_forgotten);
        for request in forgotten {
            if request.kind == OutgoingKind::Notification {
                self.deliveries.count("dropped");
            }
            self.tell(WaitingChange::RequestEnded(request.number));
        }
    }

    /// Ends all requests.
    pub(crate) fn clear(&self) {
        self.attempts.lock().abort_all();
        let mut state = self.state.lock();
        state.requests = HookRequests::default();
        self.task.wake();
    }

    /// The number of requests of a subscription that have no answer yet.
    pub(crate) fn waiting(&self, subscription: &str) -> usize {
        self.state.lock().requests.count(subscription)
    }

    /// Waits until the attempts under way have ended.
    ///
    /// # Cancel safety
    /// If the future is dropped, so are the attempts.
    pub(crate) async fn finish(&self) {
        loop {
            let mut attempts = std::mem::take(&mut *self.attempts.lock());
            if attempts.is_empty() {
                return;
            }
            while attempts.join_next().await.is_some() {}
        }
    }

    fn tell(&self, change: WaitingChange) {
        if let Some(reader) = &self.reader {
            reader.read_waiting(change);
        }
    }

    /// Starts what may start. Without a runtime, the next call with one does.
    fn proceed(self: &Arc<Self>) {
        if Handle::try_current().is_err() {
            return;
        }
        self.task.start(self);
        let started = {
            let mut state = self.state.lock();
            let started = state.requests.start(self.clock.now());
            self.wake(&state);
            started
        };
        self.spawn(started);
    }

    /// Wakes the task that waits for retries, if there are any.
    fn wake(&self, state: &State) {
        if state.requests.next_due().is_some() {
            self.task.wake();
        }
    }

    fn spawn(self: &Arc<Self>, started: impl IntoIterator<Item = Attempt>) {
        let mut attempts = self.attempts.lock();
        for attempt in started {
            while attempts.try_join_next().is_some() {}
            attempts.spawn(run(Arc::downgrade(self), Arc::clone(&self.outgoing), attempt));
        }
    }

    /// Ends an attempt that nobody waits for any more, before it is made.
    fn skip(self: &Arc<Self>, attempt: &Attempt) {
        let (_, next) = self.state.lock().requests.settled(self.clock.now(), attempt);
        self.spawn(next);
    }

    /// Settles an attempt, and starts another that waited for its place.
    fn ended(self: &Arc<Self>, attempt: &Attempt, outcome: Outcome, mut record: OutgoingRequest) {
        let (now, request) = (self.clock.now(), &attempt.request);
        let next = match outcome {
            Outcome::Delivered => {
                let (was_awaited, next) = self.state.lock().requests.settled(now, attempt);
                if was_awaited {
                    if request.kind == OutgoingKind::Notification {
                        self.deliveries.count("delivered");
                    }
                    self.tell(WaitingChange::RequestEnded(request.number));
                }
                next
            }
            Outcome::Failed(why) => {
                let (follows, next) = self.state.lock().requests.failed(now, attempt);
                record.follows = match follows {
                    Next::Retry(at) => Some(format!("tried again at {at}")),
                    Next::GiveUp => {
                        Some(self.end(request, &format!("{why}, in the last of {} attempts", attempt.number)))
                    }
                    Next::Forgotten => None,
                };
                if attempt.number == 1 {
                    tracing::warn!(url = record.url, topic = record.source, "a web hook failed: {why}");
                }
                record.error = Some(why);
                next
            }
            Outcome::Refused(why) => {
                let (was_awaited, next) = self.state.lock().requests.settled(now, attempt);
                record.follows = was_awaited.then(|| self.end(request, &why));
                record.error = Some(why);
                next
            }
        };
        self.outgoing.log.record(record);
        self.spawn(next);
        self.wake(&self.state.lock());
    }

    /// After the last attempt. Returns what happened to the message.
    fn end(&self, request: &HookRequest, why: &str) -> String {
        // The store has a message in a queue or here.
        let _whole = self.queues.whole();
        let note = self.give_up(request, why);
        self.deliveries.report(&request.topic, &request.message_id, note.clone());
        self.tell(WaitingChange::RequestEnded(request.number));
        note
    }

    fn give_up(&self, request: &HookRequest, why: &str) -> String {
        let url = without_password(&request.url);
        if request.kind == OutgoingKind::Notification {
            let topic_arn = request.topic.to_string();
            let dead_letter = request.dead_letter_queue.as_ref().map(|queue| Delivery {
                body: &request.body,
                attributes: request.attributes.as_ref(),
                group: request.group.as_deref(),
                trace_header: request.trace_header.as_deref(),
                ..empty(queue, &request.topic, &topic_arn)
            });
            self.deliveries.finish(&url, dead_letter, why)
        } else {
            format!("{} to {url} failed: {why}", request.kind.as_str())
        }
    }
}

impl Retries for Hooks {
    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.state.lock().requests.next_due()
    }

    fn run_due(self: Arc<Self>, now: Timestamp) {
        let started = self.state.lock().requests.start(now);
        self.spawn(started);
    }
}

/// Makes an attempt. `hooks` is gone when the server is.
async fn run(hooks: Weak<Hooks>, outgoing: Arc<Outgoing>, attempt: Attempt) {
    let Some((queues, time)) = hooks.upgrade().map(|hooks| (Arc::clone(&hooks.queues), hooks.clock.now()))
    else {
        return;
    };
    // A subscriber sees nothing that a crash could take back.
    let stored = queues.settled().await;
    drop(queues);
    match hooks.upgrade() {
        None => return,
        // Its subscription was removed meanwhile.
        Some(hooks) if !hooks.state.lock().requests.has(attempt.request.number) => {
            return hooks.skip(&attempt);
        }
        Some(_) => {}
    }
    let watch = Stopwatch::start();
    let (outcome, status) = match stored {
        Ok(()) => post(&outgoing, &attempt.request).await,
        Err(error) => (Outcome::Failed(error.to_string()), None),
    };
    let Some(hooks) = hooks.upgrade() else { return };
    let request = &attempt.request;
    let record = OutgoingRequest {
        // The log sets it.
        number: 0,
        kind: request.kind,
        source: request.topic.to_string(),
        url: without_password(&request.url),
        id: request.message_id.to_string(),
        messages: 1,
        attempt: attempt.number,
        time,
        seconds: watch.elapsed().as_secs_f64(),
        status: status.map(|status| status.as_u16()),
        error: None,
        follows: None,
    };
    hooks.ended(&attempt, outcome, record);
}

async fn post(outgoing: &Outgoing, request: &HookRequest) -> (Outcome, Option<StatusCode>) {
    let target = match Target::parse(&request.url) {
        Ok(target) => target,
        Err(why) => return (Outcome::Refused(why), None),
    };
    let body = Bytes::copy_from_slice(request.body.as_bytes());
    let post = Post {
        kind: request.kind,
        target: &target,
        headers: headers(request),
        body,
        within: TIMEOUT,
        at_most: MAX_ANSWER,
    };
    match outgoing.post(post).await {
        // What follows the head does not matter.
        Ok(answer) => (Outcome::of_status(answer.head.status), Some(answer.head.status)),
        Err(Failure::Refused(why)) => (Outcome::Refused(why), None),
        Err(failure) => (Outcome::Failed(failure.to_string()), None),
    }
}

/// Source: <https://docs.aws.amazon.com/sns/latest/dg/http-header.html>
fn headers(request: &HookRequest) -> HeaderMap {
    let text = |text: &str| HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""));
    let name = HeaderName::from_static;
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(name("x-amz-sns-message-type"), HeaderValue::from_static(request.kind.as_str()));
    headers.insert(name("x-amz-sns-message-id"), text(&request.message_id));
    let topic = request.topic.to_string();
    headers.insert(name("x-amz-sns-topic-arn"), text(&topic));
    if request.kind != OutgoingKind::SubscriptionConfirmation {
        let arn = format!("{topic}:{}", request.subscription);
        headers.insert(name("x-amz-sns-subscription-arn"), text(&arn));
    }
    if request.is_raw {
        headers.insert(name("x-amz-sns-rawdelivery"), HeaderValue::from_static("true"));
    }
    headers.insert(CONTENT_TYPE, text(request.policy.content_type(request.is_raw)));
    headers.insert(USER_AGENT, AGENT);
    headers
}
