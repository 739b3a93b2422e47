//! One trigger: its poller, its batches and their invocations.
//!
//! ```text
//! run: wait for the queue -> take a place -> back off? -> collect a batch -> spawn invoke(batch, place) -> again
//! invoke: post the event -> read the answer -> delete what succeeded -> record -> give the place back
//! ```

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::Credentials;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use sqs_client::Client;
use sqs_client::config::timeout::TimeoutConfig;
use sqs_client::config::{Config, Region};
use sqs_client::error::Error;
use sqs_client::types::{DeleteMessageBatchRequestEntry, MessageSystemAttributeName};
use sqs_client::wire::validate::queue::is_account;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::control::arn::QueueArn;
use crate::control::caller::Keys;
use crate::control::clock::Timestamp;
use crate::control::metrics::Stopwatch;
use crate::control::seed::{Uuid, UuidSeries};
use crate::http::guard::Names;
use crate::outgoing::log::{OutgoingKind, OutgoingRequest};
use crate::outgoing::{Answer, Failure, Post, Target};
use crate::router::InProcess;
use crate::services::Services;
use crate::triggers::event::{Batch, Chain, Filters, Function, MAX_PAYLOAD, Record, chains};
use crate::triggers::{Trigger, TriggerDescription};

/// The longest wait of a receive, in seconds.
const LONGEST_POLL: u64 = 20;

/// The maximum number of messages of a receive, and of a batch of deletes.
const MESSAGES: usize = 10;

/// How often a batch of deletes is tried.
const DELETES: u32 = 3;

/// The memory of a batch, in KiB.
const KIB_OF_BATCH: usize = MAX_PAYLOAD >> 10;

/// The pause before the second try. Each further one is twice as long.
const DELETE_PAUSE: Duration = Duration::from_millis(50);

/// The shortest and the longest pause after a failure.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// A trigger with its state.
#[derive(Debug)]
pub(crate) struct Mapping {
    pub(crate) id: Uuid,
    pub(crate) trigger: Trigger,
    pub(crate) arn: QueueArn,
    /// Whether it is one of the start.
    pub(crate) is_configured: bool,
    target: Target,
    function: Function,
    filters: Arc<Filters>,
    ids: UuidSeries,
    /// Whether it receives no more.
    ended: watch::Sender<bool>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_running: bool,
    /// Whether it waits for its queue.
    lacks_queue: bool,
    /// The visibility timeout of the queue, if it is shorter than the time that a message may be held.
    short_visibility: Option<Duration>,
    /// The number of the last invocation.
    last: u64,
    invocations: u64,
    failures: u64,
    deleted: u64,
    kept: u64,
    filtered: u64,
    in_progress: usize,
    /// Why the latest receive failed.
    receive_error: Option<String>,
    /// Why the latest invocation failed.
    error: Option<String>,
    /// After failures of the function.
    backoff: Backoff,
    /// After failures of receives.
    receive_backoff: Backoff,
}

/// A pause before the next receive, in real time, so that a function that is away does not use up the receive counts of all
/// messages.
#[derive(Clone, Copy, Debug, Default)]
struct Backoff {
    pause: Duration,
    until: Option<Instant>,
}

impl Backoff {
    /// Failures during a pause belong to the same outage, and do not make it longer.
    fn fail(&mut self, now: Instant) {
        if self.until.is_none_or(|until| until <= now) {
            self.pause = (self.pause * 2).clamp(PAUSES.0, PAUSES.1);
            self.until = now.checked_add(self.pause);
        }
    }

    fn succeed(&mut self) {
        *self = Self::default();
    }
}

impl Mapping {
    /// # Errors
    /// The URL or a filter is not valid.
    pub(crate) fn new(
        trigger: Trigger,
        arn: QueueArn,
        (id, ids): (Uuid, UuidSeries),
        is_configured: bool,
    ) -> Result<Self, String> {
        let target = Target::parse(&trigger.url)?;
        let filters = Filters::parse(&trigger.filters).map_err(|(_, text)| text)?;
        Ok(Self {
            id,
            function: Function::of(target.uri.path()),
            target,
            filters: Arc::new(filters),
            trigger,
            arn,
            is_configured,
            ids,
            ended: watch::Sender::new(false),
            state: Mutex::default(),
        })
    }

    /// The same trigger without its past.
    pub(crate) fn restarted(&self) -> Self {
        Self {
            id: self.id,
            trigger: self.trigger.clone(),
            arn: self.arn.clone(),
            is_configured: self.is_configured,
            target: self.target.clone(),
            function: self.function,
            filters: Arc::clone(&self.filters),
            ids: self.ids,
            ended: watch::Sender::new(false),
            // Ids do not repeat.
            state: Mutex::new(State { last: self.state.lock().last, ..State::default() }),
        }
    }

    /// The URL without a password.
    pub(crate) fn url(&self) -> &str {
        &self.target.shown
    }

    /// Receives no more messages.
    pub(crate) fn end(&self) {
        self.ended.send_replace(true);
    }

    pub(crate) fn note_running(&self) {
        self.state.lock().is_running = true;
    }

    pub(crate) fn describe(&self) -> TriggerDescription {
        let (trigger, state) = (&self.trigger, self.state.lock());
        TriggerDescription {
            id: self.id,
            queue: self.arn.clone(),
            url: self.url().to_owned(),
            batch_size: trigger.batch_size,
            batch_window: trigger.batch_window,
            concurrency: trigger.concurrency,
            timeout: trigger.timeout,
            report_batch_item_failures: trigger.report_batch_item_failures,
            filters: trigger.filters.clone(),
            configured: self.is_configured,
            invocations: state.invocations,
            failures: state.failures,
            deleted: state.deleted,
            kept: state.kept,
            filtered: state.filtered,
            in_progress: state.in_progress,
            last_error: state.receive_error.as_ref().or(state.error.as_ref()).cloned(),
            warning: self.warning(&state),
        }
    }

    fn warning(&self, state: &State) -> Option<String> {
        if !state.is_running {
            return Some("it does not run: the server was created outside of a tokio runtime".to_owned());
        }
        if state.lacks_queue {
            return Some("it waits: the queue does not exist".to_owned());
        }
        state.short_visibility.map(|visibility| {
            format!(
                "the visibility timeout of the queue, {}, is shorter than the batch window and the timeout of the function, \
                 {}: messages can be delivered again while their function runs, and AWS refuses a visibility timeout below \
                 that of the function",
                humantime::format_duration(visibility),
                humantime::format_duration(self.trigger.longest_hold())
            )
        })
    }
}

/// How an invocation ended.
#[derive(Debug)]
struct Verdict<'b> {
    status: Option<u16>,
    /// The messages that failed, or why all did.
    failed: Result<BTreeSet<&'b str>, String>,
    /// Whether the function is away, so that further invocations would fail as well.
    is_away: bool,
}

/// The task of a trigger.
#[derive(Debug)]
pub(crate) struct Poller {
    work: Arc<Work>,
}

/// What the task shares with its invocations.
#[derive(Debug)]
struct Work {
    mapping: Arc<Mapping>,
    services: Arc<Services>,
    client: Client,
    queue_url: String,
    arn: String,
}

impl Poller {
    pub(crate) fn new(mapping: Arc<Mapping>, services: &Arc<Services>) -> Self {
        let (names, arn) = (services.sqs.names(), &mapping.arn);
        let base = services.sqs.base_url("http", &names.own_host, &arn.region);
        let config = Config::builder()
            .region(Region::new(arn.region.to_string()))
            .credentials_provider(credentials(names, &arn.account))
            .endpoint_url(format!("http://{}", names.own_host))
            // A long poll waits by the clock of the server, which may stand still.
            .timeout_config(TimeoutConfig::disabled())
            .transport(InProcess::of_server(Arc::clone(services)));
        let work = Work {
            client: Client::from_conf(config.build()),
            queue_url: format!("{base}/{}/{}", arn.account, arn.name),
            arn: arn.to_string(),
            services: Arc::clone(services),
            mapping,
        };
        Self { work: Arc::new(work) }
    }

    /// Receives messages and invokes the function, until the trigger is ended. Then it waits for the invocations under way.
    pub(crate) async fn run(self) {
        let mut ended = self.work.mapping.ended.subscribe();
        let mut invocations = JoinSet::new();
        tokio::select! {
            () = self.poll(&mut invocations) => {}
            _ = ended.wait_for(|ended| *ended) => {}
        }
        while invocations.join_next().await.is_some() {}
    }

    async fn poll(&self, invocations: &mut JoinSet<()>) {
        let Work { mapping, services, .. } = &*self.work;
        let places = Arc::new(Semaphore::new(mapping.trigger.concurrency));
        loop {
            self.until_queue_exists().await;
            self.compare_timeouts();
            let mut place = Some(permits(&places, 1).await);
            // After the wait for a place, since an invocation may have failed meanwhile.
            let pauses = {
                let state = mapping.state.lock();
                [state.backoff.until, state.receive_backoff.until]
            };
            if let Some(until) = pauses.into_iter().flatten().max() {
                sleep_until(until).await;
            }
            while invocations.try_join_next().is_some() {}
            // Before messages are received, since their visibility timeouts run then. One batch at a time always goes on.
            if !invocations.is_empty() {
                drop(permits(&services.triggers.room, KIB_OF_BATCH).await);
            }
            let records = match self.collect().await {
                Ok(records) => records,
                Err(error) => {
                    self.receive_failed(&error);
                    continue;
                }
            };
            let received = services.sqs.service().clock().now();
            for chain in chains(records) {
                let place = match place.take() {
                    Some(place) => place,
                    None => permits(&places, 1).await,
                };
                if self.is_stale(received) {
                    let kept = chain.iter().map(|batch| batch.records.len()).sum();
                    self.work.count(0, kept);
                    continue;
                }
                let bytes: usize = chain.iter().map(Batch::bytes).sum();
                let room = left(&services.triggers.room, bytes.div_ceil(1 << 10));
                let work = Arc::clone(&self.work);
                invocations.spawn(async move {
                    work.invoke_all(chain).await;
                    drop((place, room));
                });
            }
        }
    }

    /// Whether the messages of a FIFO queue that were received then are visible again, since there was no place for their
    /// group. Standard queues have one batch, whose place is there first.
    fn is_stale(&self, received: Timestamp) -> bool {
        let Work { mapping, services, .. } = &*self.work;
        let service = services.sqs.service();
        let Some(queue) = service.shared.find_arn(&mapping.arn).filter(|_| mapping.arn.is_fifo()) else {
            return false;
        };
        let visibility = queue.attribute(|attributes| attributes.visibility_timeout);
        received + visibility <= service.clock().now()
    }

    async fn until_queue_exists(&self) {
        let Work { mapping, services, arn, .. } = &*self.work;
        let service = services.sqs.service();
        let exists = || service.counts(&mapping.arn).map(drop);
        if exists().is_none() {
            mapping.state.lock().lacks_queue = true;
            tracing::warn!(queue = %arn, url = mapping.url(), "a trigger waits, since its queue does not exist");
            service.until(&mapping.arn, exists).await;
            mapping.state.lock().lacks_queue = false;
        }
    }

    /// Warns once when the visibility timeout becomes shorter than the time that a message may be held.
    fn compare_timeouts(&self) {
        let Work { mapping, services, arn, .. } = &*self.work;
        let Some(queue) = services.sqs.service().shared.find_arn(&mapping.arn) else { return };
        let visibility = queue.attribute(|attributes| attributes.visibility_timeout);
        let short = (visibility < mapping.trigger.longest_hold()).then_some(visibility);
        let state = &mut *mapping.state.lock();
        if state.short_visibility != short {
            state.short_visibility = short;
            if let Some(warning) = mapping.warning(state).filter(|_| short.is_some()) {
                tracing::warn!(queue = %arn, url = mapping.url(), "a trigger: {warning}");
            }
        }
    }

    /// Messages for one batch, or for one of each group of a FIFO queue. None, if a poll found none that the filters let pass.
    async fn collect(&self) -> Result<Vec<Record>, Error> {
        let Work { mapping, services, .. } = &*self.work;
        let (size, window) = (mapping.trigger.batch_size, mapping.trigger.batch_window);
        let mut records = self.receive(LONGEST_POLL, size).await?;
        if records.is_empty() || window.is_zero() {
            return Ok(records);
        }
        let clock = services.sqs.service().clock();
        let end = clock.now() + window;
        let mut bytes: usize = records.iter().map(Record::bytes).sum();
        while records.len() < size && bytes < MAX_PAYLOAD {
            let left = end.saturating_since(clock.now());
            let wait = left.as_secs().min(LONGEST_POLL);
            let more = match self.receive(wait, size - records.len()).await {
                Ok(more) => more,
                Err(error) => {
                    self.receive_failed(&error);
                    break;
                }
            };
            if left.is_zero() {
                records.extend(more);
                break;
            }
            // Polls wait for whole seconds.
            if more.is_empty() && wait == 0 {
                clock.sleep_until(end).await;
            }
            bytes += more.iter().map(Record::bytes).sum::<usize>();
            records.extend(more);
        }
        Ok(records)
    }

    /// Receives at most this many messages, and deletes those that match no filter.
    async fn receive(&self, seconds: u64, at_most: usize) -> Result<Vec<Record>, Error> {
        let Work { mapping, services, client, queue_url, arn } = &*self.work;
        let receive = client
            .receive_message()
            .queue_url(queue_url)
            .max_number_of_messages(i32::try_from(at_most.min(MESSAGES)).unwrap_or(1))
            .wait_time_seconds(i32::try_from(seconds).unwrap_or(0))
            .message_system_attribute_names(MessageSystemAttributeName::All)
            .message_attribute_names("All");
        let messages = receive.send().await?.messages.unwrap_or_default();
        {
            let state = &mut *mapping.state.lock();
            state.receive_error = None;
            state.receive_backoff.succeed();
        }
        let records = messages.into_iter().map(|message| Record::of(message, &mapping.arn, arn));
        let (passing, filtered): (Vec<_>, Vec<_>) = records.partition(|record| mapping.filters.pass(record));
        if !filtered.is_empty() {
            let filtered: Vec<_> = filtered.iter().collect();
            let deleted = self.work.delete(&filtered).await;
            mapping.state.lock().filtered += number(deleted);
            services.triggers.outcomes.add(["filtered".into(), arn.clone().into()], number(deleted));
        }
        Ok(passing)
    }

    fn receive_failed(&self, error: &Error) {
        let Work { mapping, arn, .. } = &*self.work;
        let text = format!("ReceiveMessage failed: {error}");
        let is_first = {
            let state = &mut *mapping.state.lock();
            state.receive_backoff.fail(Instant::now());
            if error.is_queue_does_not_exist() {
                // It was deleted, which the next round finds; or a fault says so.
                return;
            }
            state.receive_error.replace(text.clone()).is_none()
        };
        if is_first {
            tracing::warn!(queue = %arn, url = mapping.url(), "a trigger: {text}");
        } else {
            tracing::debug!(queue = %arn, url = mapping.url(), "a trigger: {text}");
        }
    }
}

/// The credentials for an account. If signatures are verified, one of the known keys must sign: that of the account, else one
/// without an account of its own, which is that of the server, else any.
fn credentials(names: &Names, account: &str) -> Credentials {
    let known = |Keys(keys): &Keys| {
        let has_none = |(id, _): &(&String, _)| !is_account(id);
        let of_account = keys.get_key_value(account).or_else(|| keys.iter().find(has_none));
        let (id, secret) = of_account.or_else(|| keys.first_key_value())?;
        Some((id.clone(), secret.as_str().to_owned()))
    };
    let key = names.keys.as_ref().and_then(known);
    // Without verified signatures, the key names the account.
    let (id, secret) = key.unwrap_or_else(|| (account.to_owned(), "test".to_owned()));
    Credentials::new(id, secret, None, None, "trigger")
}

/// Waits for permits of a semaphore that is never closed.
async fn permits(semaphore: &Arc<Semaphore>, permits: usize) -> OwnedSemaphorePermit {
    let permits = u32::try_from(permits).unwrap_or(u32::MAX);
    match Arc::clone(semaphore).acquire_many_owned(permits).await {
        Ok(permit) => permit,
        Err(_) => pending().await,
    }
}

/// At most this many permits, without a wait.
fn left(semaphore: &Arc<Semaphore>, permits: usize) -> Option<OwnedSemaphorePermit> {
    let permits = u32::try_from(permits.min(semaphore.available_permits())).ok()?;
    Arc::clone(semaphore).try_acquire_many_owned(permits).ok()
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl Work {
    /// Invokes batches one after the other, until one fails: the later ones of a group must not overtake it.
    async fn invoke_all(&self, chain: Chain) {
        let mut batches = chain.into_iter();
        for batch in batches.by_ref() {
            if !self.invoke(batch).await {
                break;
            }
        }
        self.count(0, batches.map(|batch| batch.records.len()).sum());
    }

    /// Counts messages after their invocation.
    fn count(&self, deleted: usize, kept: usize) {
        for (outcome, count) in [("deleted", deleted), ("kept", kept)] {
            let labels = [outcome.into(), self.arn.clone().into()];
            self.services.triggers.outcomes.add(labels, number(count));
        }
        let state = &mut *self.mapping.state.lock();
        state.deleted += number(deleted);
        state.kept += number(kept);
    }

    /// Invokes the function with a batch. Returns whether all messages succeeded.
    async fn invoke(&self, mut batch: Batch) -> bool {
        let Self { mapping, services, arn, .. } = self;
        let (_under_way, id) = UnderWay::begin(mapping);
        let (time, stopwatch) = (services.sqs.service().clock().now(), Stopwatch::start());
        let event = batch.take_event();
        let ids: BTreeSet<_> = batch.records.iter().map(|record| record.message_id.as_str()).collect();
        let Verdict { status, failed, is_away } = self.post(event, &ids).await;
        let seconds = stopwatch.elapsed().as_secs_f64();
        let has_succeeded = |record: &&Record| match &failed {
            Ok(failed) => !failed.contains(&*record.message_id),
            Err(_) => false,
        };
        let succeeded: Vec<_> = batch.records.iter().filter(has_succeeded).collect();
        let all = batch.records.len();
        let error = failed.as_ref().err().cloned();
        // Before the deletes, so that tests which wait for an empty queue find it.
        services.outgoing.log.record(OutgoingRequest {
            number: 0,
            kind: OutgoingKind::Invocation,
            source: arn.clone(),
            url: mapping.url().to_owned(),
            id: id.to_string(),
            messages: all,
            attempt: 1,
            time,
            seconds,
            status,
            error: error.clone(),
            follows: follows(all, all - succeeded.len()),
        });
        self.note(error.as_deref(), is_away, (id, all));
        let deleted = self.delete(&succeeded).await;
        if deleted < succeeded.len() {
            let left = succeeded.len() - deleted;
            tracing::warn!(queue = %arn, %id, "a trigger cannot delete {left} of {all} messages, which will return");
        }
        self.count(deleted, all - deleted);
        deleted == all
    }

    /// Counts and logs the end of an invocation.
    fn note(&self, error: Option<&str>, is_away: bool, (id, messages): (Uuid, usize)) {
        let (queue, url) = (&self.arn, self.mapping.url());
        let is_change = {
            let state = &mut *self.mapping.state.lock();
            state.invocations += 1;
            state.failures += u64::from(error.is_some());
            match error {
                Some(_) if is_away => state.backoff.fail(Instant::now()),
                Some(_) => {}
                None => state.backoff.succeed(),
            }
            let earlier = std::mem::replace(&mut state.error, error.map(str::to_owned));
            earlier.is_some() != error.is_some()
        };
        // A function that is away for a while must not fill the log.
        match error {
            Some(error) if is_change => {
                tracing::warn!(queue, url, %id, messages, "an invocation failed: {error}");
            }
            Some(error) => tracing::debug!(queue, url, %id, messages, "an invocation failed: {error}"),
            None if is_change => tracing::info!(queue, url, %id, messages, "an invocation succeeded again"),
            None => tracing::debug!(queue, url, %id, messages, "invoked a function"),
        }
    }

    async fn post<'b>(&self, event: Vec<u8>, ids: &BTreeSet<&'b str>) -> Verdict<'b> {
        let Mapping { trigger, target, function, .. } = &*self.mapping;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if *function == Function::Lambda {
            let name = HeaderName::from_static("x-amz-invocation-type");
            headers.insert(name, HeaderValue::from_static("RequestResponse"));
        }
        let body = Bytes::from(event);
        let post = Post {
            kind: OutgoingKind::Invocation,
            target,
            headers,
            body,
            within: trigger.timeout,
            at_most: MAX_PAYLOAD,
        };
        let Answer { head, body } = match self.services.outgoing.post(post).await {
            Ok(answer) => answer,
            Err(failure) => return Verdict::without_answer(None, &failure),
        };
        let status = Some(head.status.as_u16());
        let body = match body {
            Ok(body) => body,
            Err(failure) => return Verdict::without_answer(status, &failure),
        };
        let function_error = head.headers.get("x-amz-function-error");
        let function_error = function_error.map(|error| error.to_str().unwrap_or("unreadable"));
        let reports = trigger.report_batch_item_failures;
        let failed = function.read(ids, reports, (head.status, function_error), &body);
        let is_away = head.status.as_u16() == 429 || head.status.is_server_error();
        Verdict { status, failed, is_away }
    }

    /// Deletes messages, and tries those again that failed because of the service. Returns the number of deleted ones.
    async fn delete(&self, records: &[&Record]) -> usize {
        let mut deleted = 0;
        for chunk in records.chunks(MESSAGES) {
            deleted += self.delete_chunk(chunk).await;
        }
        deleted
    }

    async fn delete_chunk(&self, records: &[&Record]) -> usize {
        let mut left: Vec<_> = (0..records.len()).collect();
        let mut refused = 0;
        for attempt in 0..DELETES {
            if attempt > 0 {
                sleep(DELETE_PAUSE * 2_u32.pow(attempt - 1)).await;
            }
            let entries = left.iter().filter_map(|at| Some((at, records.get(*at)?))).map(|(at, record)| {
                let entry = DeleteMessageBatchRequestEntry::builder().id(at.to_string());
                entry.receipt_handle(&record.receipt_handle).build()
            });
            let Ok(entries) = entries.collect::<Result<Vec<_>, _>>() else { break };
            let delete = self.client.delete_message_batch().queue_url(&self.queue_url);
            match delete.set_entries(Some(entries)).send().await {
                Ok(output) => {
                    let failed = output.failed.iter().map(|entry| (entry.sender_fault, entry.id.parse()));
                    let failed: Vec<_> = failed.collect();
                    for entry in &output.failed {
                        tracing::debug!(queue = %self.arn, ?entry, "a trigger cannot delete a message");
                    }
                    refused += failed.iter().filter(|(is_final, _)| *is_final).count();
                    let again = failed.into_iter().filter(|(is_final, _)| !is_final);
                    left = again.filter_map(|(_, at)| at.ok()).collect();
                }
                Err(error) => {
                    tracing::debug!(queue = %self.arn, %error, "a trigger cannot delete messages");
                    if !error.is_retryable() {
                        break;
                    }
                }
            }
            if left.is_empty() {
                break;
            }
        }
        records.len().saturating_sub(left.len() + refused)
    }
}

impl Verdict<'_> {
    fn without_answer(status: Option<u16>, failure: &Failure) -> Self {
        let is_away = matches!(failure, Failure::Refused(_) | Failure::Broken(_));
        Self { status, failed: Err(failure.to_string()), is_away }
    }
}

/// Counts an invocation as under way, also if it is cancelled.
struct UnderWay<'m>(&'m Mapping);

impl<'m> UnderWay<'m> {
    /// Returns the id of the invocation, too.
    fn begin(mapping: &'m Mapping) -> (Self, Uuid) {
        let mut state = mapping.state.lock();
        state.in_progress += 1;
        state.last += 1;
        (Self(mapping), mapping.ids.of(state.last))
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.state.lock().in_progress -= 1;
    }
}

/// What follows for a batch of which some messages are not deleted.
fn follows(all: usize, kept: usize) -> Option<String> {
    (kept > 0).then(|| {
        let messages = if all == 1 { "message" } else { "messages" };
        let (stay, their) = if kept == 1 { ("stays", "its") } else { ("stay", "their") };
        format!("{kept} of {all} {messages} {stay} in the queue until {their} visibility timeout ends")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_five_seconds_and_failures_during_a_pause_do_not_count() {
        let (start, mut backoff) = (Instant::now(), Backoff::default());
        let mut now = start;
        let mut pauses = Vec::new();
        for _ in 0..8 {
            backoff.fail(now);
            backoff.fail(now);
            pauses.push(backoff.pause.as_millis());
            now = backoff.until.unwrap();
        }
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        backoff.succeed();
        backoff.fail(now);
        assert_eq!(backoff.pause.as_millis(), 100);
    }

    #[test]
    fn kept_messages_are_counted_in_words() {
        assert_eq!(follows(3, 0), None);
        let text = "2 of 3 messages stay in the queue until their visibility timeout ends";
        assert_eq!(follows(3, 2).unwrap(), text);
        assert_eq!(
            follows(1, 1).unwrap(),
            "1 of 1 message stays in the queue until its visibility timeout ends"
        );
    }
}
