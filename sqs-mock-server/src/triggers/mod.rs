//! Triggers: queues that invoke a function, as the event source mappings of AWS Lambda do.
//!
//! ```text
//! Trigger (settings) --checked--> Mapping: receive -> filter -> batch --event--> function
//!    ^                              |  ^                                            |
//!    | config, builder, flags,      |  +--- in-process client of this server        v
//!    | POST /_mock/triggers         +--------- delete what succeeded <---------- answer
//! ```
//! A mapping is an ordinary consumer of its queue: its requests are in the journal, and faults, policies, quotas and the
//! clock apply to them.

pub(crate) mod event;
pub(crate) mod mapping;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sqs_client::wire::validate;
use sqs_client::wire::validate::queue::is_account;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::config::file::Problem;
use crate::config::units;
use crate::control::arn::QueueArn;
use crate::control::caller::is_region;
use crate::control::metrics::{Counters, Exposition, Kind};
use crate::control::seed::{Seed, Uuid, UuidSeries};
use crate::outgoing::{Target, without_password};
use crate::services::Services;
use crate::triggers::event::Filters;
use crate::triggers::mapping::{Mapping, Poller};

/// The maximum number of triggers of a server.
pub(crate) const MAX_TRIGGERS: usize = 1_000;

/// The maximum size of a batch of a standard queue.
const MAX_BATCH: usize = 10_000;

/// The maximum size of a batch of a FIFO queue, and of one without a batch window.
const MAX_UNTIMED_BATCH: usize = 10;

const MAX_WINDOW: Duration = Duration::from_secs(300);

/// AWS allows 2 to 1,000. One invocation at a time makes tests simpler.
const MAX_CONCURRENCY: usize = 1_000;

const MAX_TIMEOUT: Duration = Duration::from_secs(900);

const MAX_FILTERS: usize = 10;

const MAX_FILTER: usize = 4_096;

/// The memory of the events of all triggers, in KiB.
const ROOM: usize = 256 << 10;

/// A queue that invokes a function over HTTP, as an event source mapping of AWS Lambda does.
///
/// The server receives messages of the queue and posts them as the SQS event of Lambda. It deletes them when the function
/// succeeded; otherwise, they return to the queue after its visibility timeout. The page
/// [triggers](crate::guide::triggers) tells more.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqs_mock_server::{MockSqs, Trigger};
///
/// let function = "http://localhost:9000/2015-03-31/functions/orders/invocations"; // cargo lambda watch
/// let trigger = Trigger::new("orders", function).batch_size(5).report_batch_item_failures(true);
/// let server = MockSqs::builder().trigger(trigger).start().await?;
/// assert_eq!(server.triggers()[0].url, function);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
#[must_use]
pub struct Trigger {
    /// A name or an ARN.
    queue: String,
    url: String,
    #[serde(default = "default_batch_size")]
    batch_size: usize,
    #[serde(default, deserialize_with = "units::duration")]
    batch_window: Duration,
    #[serde(default = "default_concurrency")]
    concurrency: usize,
    #[serde(default = "default_timeout", deserialize_with = "units::duration")]
    timeout: Duration,
    #[serde(default)]
    report_batch_item_failures: bool,
    #[serde(default, deserialize_with = "json_texts")]
    filters: Vec<String>,
}

fn default_batch_size() -> usize {
    10
}

fn default_concurrency() -> usize {
    5
}

fn default_timeout() -> Duration {
    Duration::from_secs(30)
}

/// A list of JSON, each given as a text or as a table.
fn json_texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let texts = Vec::<Value>::deserialize(deserializer)?.into_iter().map(|value| match value {
        Value::String(text) => Ok(text),
        table @ Value::Object(_) => Ok(table.to_string()),
        _ => Err(D::Error::invalid_type(
            Unexpected::Other("another type"),
            &"a list of tables or of texts with JSON",
        )),
    });
    texts.collect()
}

/// Hides the password of the URL.
impl fmt::Debug for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            queue,
            url,
            batch_size,
            batch_window,
            concurrency,
            timeout,
            report_batch_item_failures,
            filters,
        } = self;
        f.debug_struct("Trigger")
            .field("queue", queue)
            .field("url", &without_password(url))
            .field("batch_size", batch_size)
            .field("batch_window", batch_window)
            .field("concurrency", concurrency)
            .field("timeout", timeout)
            .field("report_batch_item_failures", report_batch_item_failures)
            .field("filters", filters)
            .finish()
    }
}

impl Trigger {
    /// Messages of this queue go to this URL. The queue is a name in the region and account of the server, or an ARN. It may
    /// be created later.
    ///
    /// A path `/<date>/functions/<name>/invocations` is the invoke API of Lambda, which `cargo lambda watch`, the Runtime
    /// Interface Emulator and SAM have. Any other URL is a plain hook: it gets the same event, and a status of 200 to 299 is a
    /// success. Only loopback addresses are allowed, and those of
    /// [`deliver_to`](crate::mock::builder::MockSqsBuilder::deliver_to).
    pub fn new(queue: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            queue: queue.into(),
            url: url.into(),
            batch_size: default_batch_size(),
            batch_window: Duration::ZERO,
            concurrency: default_concurrency(),
            timeout: default_timeout(),
            report_batch_item_failures: false,
            filters: Vec::new(),
        }
    }

    /// The maximum number of messages of an invocation: 1 to 10, or up to 10,000 with a
    /// [batch window](Self::batch_window) of a second or more. The default is 10.
    pub fn batch_size(self, messages: usize) -> Self {
        Self { batch_size: messages, ..self }
    }

    /// How long to wait for more messages of a batch, by the clock of the server: up to 300 seconds. The default is 0. FIFO
    /// queues have none.
    pub fn batch_window(self, window: Duration) -> Self {
        Self { batch_window: window, ..self }
    }

    /// The maximum number of invocations at a time: 1 to 1,000. The default is 5. AWS allows 2 to 1,000.
    pub fn concurrency(self, invocations: usize) -> Self {
        Self { concurrency: invocations, ..self }
    }

    /// How long the function may take, in real time: 1 to 900 seconds. The default is 30 seconds.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Whether the function names the messages that failed, in `batchItemFailures` of its answer. The others are deleted. By
    /// default, the answer does not count.
    pub fn report_batch_item_failures(self, reports: bool) -> Self {
        Self { report_batch_item_failures: reports, ..self }
    }

    /// Adds a filter: a JSON pattern over a record of the event, such as `{"body": {"kind": ["hot"]}}`. At most 10, of at most
    /// 4,096 characters each. A message that matches none of the filters is deleted. Without filters, all messages match.
    ///
    /// The grammar and its limits are those of filter policies of SNS.
    pub fn filter(mut self, pattern: impl Into<String>) -> Self {
        self.filters.push(pattern.into());
        self
    }

    /// The queue; of a name, in this region and account.
    pub(crate) fn arn(&self, region: &str, account: &str) -> QueueArn {
        self.queue.parse().unwrap_or_else(|_| QueueArn::new(region, account, &self.queue))
    }

    /// How long a message may be held, if its function has a place.
    pub(crate) fn longest_hold(&self) -> Duration {
        self.batch_window.saturating_add(self.timeout)
    }

    /// The problems of this trigger, whose path in the file is `at`; of a request, it is empty.
    pub(crate) fn problems(&self, at: &str) -> Vec<Problem> {
        let path = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
        let mut found = Vec::new();
        let mut problem = |key: &str, text: String| found.push(Problem::new(path(key), text));
        if !is_queue(&self.queue) {
            problem("queue", format!("{:?} is neither the name nor the ARN of a queue", self.queue));
        }
        if let Err(text) = Target::parse(&self.url) {
            problem("url", text);
        }
        let is_fifo = self.arn("", "").is_fifo();
        let (size, most) = (self.batch_size, if is_fifo { MAX_UNTIMED_BATCH } else { MAX_BATCH });
        if !(1..=most).contains(&size) {
            let of = if is_fifo { " for a FIFO queue" } else { "" };
            problem("batch_size", format!("{size} is out of range{of}; allowed are 1 to {most}"));
        } else if size > MAX_UNTIMED_BATCH && self.batch_window < Duration::from_secs(1) {
            let text = format!(
                "{size} requires a batch_window of 1s or more; without one, allowed are 1 to {MAX_UNTIMED_BATCH}"
            );
            problem("batch_size", text);
        }
        let shown = humantime::format_duration;
        if is_fifo && !self.batch_window.is_zero() {
            problem("batch_window", "FIFO queues have no batch window".to_owned());
        } else if self.batch_window > MAX_WINDOW {
            let given = shown(self.batch_window);
            problem(
                "batch_window",
                format!("{given} is out of range; allowed are 0s to {}", shown(MAX_WINDOW)),
            );
        }
        if !(1..=MAX_CONCURRENCY).contains(&self.concurrency) {
            let text = format!("{} is out of range; allowed are 1 to {MAX_CONCURRENCY}", self.concurrency);
            problem("concurrency", text);
        }
        if !(Duration::from_secs(1)..=MAX_TIMEOUT).contains(&self.timeout) {
            let given = shown(self.timeout);
            problem("timeout", format!("{given} is out of range; allowed are 1s to {}", shown(MAX_TIMEOUT)));
        }
        if self.filters.len() > MAX_FILTERS {
            problem(
                "filters",
                format!("{} are too many; allowed are at most {MAX_FILTERS}", self.filters.len()),
            );
        }
        for (at, filter) in self.filters.iter().enumerate() {
            let length = filter.chars().count();
            if length > MAX_FILTER {
                let text = format!("it has {length} characters; allowed are at most {MAX_FILTER}");
                problem(&format!("filters[{at}]"), text);
            } else if let Err((_, text)) = Filters::parse(std::slice::from_ref(filter)) {
                problem(&format!("filters[{at}]"), text);
            }
        }
        found
    }
}

fn is_queue(text: &str) -> bool {
    if text.contains([':', '/']) {
        let arn = text.parse::<QueueArn>();
        return arn.is_ok_and(|arn| {
            let is_home = is_region(&arn.region) && is_account(&arn.account);
            is_home && validate::queue::name(&arn.name).is_ok()
        });
    }
    validate::queue::name(text).is_ok()
}

/// The problems of triggers together: their number, and pairs of queue and URL that occur twice.
pub(crate) fn problems(triggers: &[Trigger], region: &str, account: &str) -> Vec<Problem> {
    let mut found = Vec::new();
    if triggers.len() > MAX_TRIGGERS {
        let text = format!("{} are too many; allowed are at most {MAX_TRIGGERS}", triggers.len());
        found.push(Problem::new("triggers", text));
    }
    let mut pairs = BTreeSet::new();
    for (at, trigger) in triggers.iter().enumerate() {
        let queue = trigger.arn(region, account);
        if !pairs.insert((queue.clone(), &trigger.url)) {
            found.push(Problem::new(format!("triggers[{at}].url"), duplicate(&queue, &trigger.url)));
        }
    }
    found
}

fn duplicate(queue: &QueueArn, url: &str) -> String {
    format!("there is already a trigger of {queue} with the URL {}", without_password(url))
}

/// A trigger and what it has done since the start or the last reset.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TriggerDescription {
    /// For `DELETE /_mock/triggers/<id>`.
    pub id: Uuid,
    /// The queue, whether it exists or not.
    pub queue: QueueArn,
    /// Without a password.
    pub url: String,
    /// [`Trigger::batch_size`].
    pub batch_size: usize,
    /// [`Trigger::batch_window`]. In JSON in seconds.
    #[serde(serialize_with = "seconds")]
    pub batch_window: Duration,
    /// [`Trigger::concurrency`].
    pub concurrency: usize,
    /// [`Trigger::timeout`]. In JSON in seconds.
    #[serde(serialize_with = "seconds")]
    pub timeout: Duration,
    /// [`Trigger::report_batch_item_failures`].
    pub report_batch_item_failures: bool,
    /// [`Trigger::filter`].
    pub filters: Vec<String>,
    /// Whether it is one of the start, which a reset keeps.
    pub configured: bool,
    /// Invocations that ended, successful or not.
    pub invocations: u64,
    /// Invocations that failed as a whole.
    pub failures: u64,
    /// Messages that were deleted after an invocation.
    pub deleted: u64,
    /// Messages that stayed in the queue after an invocation.
    pub kept: u64,
    /// Messages that were deleted since they match no filter.
    pub filtered: u64,
    /// Invocations under way.
    pub in_progress: usize,
    /// Why the latest invocation or receive failed; `None` if it succeeded.
    pub last_error: Option<String>,
    /// What keeps the trigger from working, or would do so on AWS.
    pub warning: Option<String>,
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

/// Why a trigger cannot be added. The text says what is allowed.
#[derive(Debug)]
pub(crate) struct NotAdded(pub(crate) String);

/// The triggers of a server. Their tasks use the server; [`stop`](Self::stop) must end them before it is dropped.
#[derive(Debug)]
pub(crate) struct Triggers {
    ids: UuidSeries,
    seed: Seed,
    /// How long invocations may take when the server stops.
    grace: Duration,
    /// The memory of all events, in KiB.
    pub(crate) room: Arc<Semaphore>,
    /// Messages by outcome and queue. The queue is the last label, since the number of its values must be bounded.
    pub(crate) outcomes: Counters<2>,
    registry: Mutex<Registry>,
}

#[derive(Debug, Default)]
struct Registry {
    mappings: Vec<Arc<Mapping>>,
    tasks: JoinSet<()>,
    /// That of the start, for a reset outside of a runtime.
    runtime: Option<Handle>,
    /// The number of the last mapping.
    last: u64,
    /// Whether the server stops.
    has_ended: bool,
}

impl Triggers {
    /// Triggers that were checked, and do not run yet.
    pub(crate) fn new(
        configured: &[Trigger],
        (region, account): (&str, &str),
        seed: Seed,
        grace: Duration,
    ) -> Self {
        let triggers = Self {
            ids: UuidSeries::new(seed.generator("triggers")),
            seed,
            grace,
            room: Arc::new(Semaphore::new(ROOM)),
            outcomes: Counters::new(["outcome", "queue"]),
            registry: Mutex::default(),
        };
        let mut registry = triggers.registry.lock();
        for trigger in configured {
            let arn = trigger.arn(region, account);
            let made = triggers.mapping(&mut registry.last, trigger.clone(), arn, true);
            registry.mappings.extend(made.ok());
        }
        drop(registry);
        triggers
    }

    fn mapping(
        &self,
        last: &mut u64,
        trigger: Trigger,
        arn: QueueArn,
        is_configured: bool,
    ) -> Result<Arc<Mapping>, String> {
        *last += 1;
        let (id, purpose) = (self.ids.of(*last), format!("trigger {last}"));
        let invocations = UuidSeries::new(self.seed.generator(&purpose));
        Mapping::new(trigger, arn, (id, invocations), is_configured).map(Arc::new)
    }

    /// Starts all triggers. Without a runtime, they do not run, and their descriptions say so.
    pub(crate) fn start(&self, services: &Arc<Services>) {
        let mut registry = self.registry.lock();
        for mapping in registry.mappings.clone() {
            registry.start(services, mapping);
        }
    }

    /// Adds a trigger, and starts it.
    ///
    /// # Errors
    /// It is not valid, or there are as many as allowed, or one with the same queue and URL.
    pub(crate) fn add(
        &self,
        services: &Arc<Services>,
        trigger: Trigger,
    ) -> Result<TriggerDescription, NotAdded> {
        let problems = trigger.problems("");
        if !problems.is_empty() {
            let lines = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.text));
            return Err(NotAdded(lines.collect::<Vec<_>>().join("; ")));
        }
        let names = services.sqs.names();
        let arn = trigger.arn(&names.region, &names.account);
        let mut registry = self.registry.lock();
        if registry.has_ended {
            return Err(NotAdded("the server is shutting down".to_owned()));
        }
        if registry.mappings.len() >= MAX_TRIGGERS {
            return Err(NotAdded(format!("there are already {MAX_TRIGGERS} triggers; DELETE some first")));
        }
        if registry.mappings.iter().any(|other| other.arn == arn && other.trigger.url == trigger.url) {
            return Err(NotAdded(duplicate(&arn, &trigger.url)));
        }
        let mapping = self.mapping(&mut registry.last, trigger, arn, false).map_err(NotAdded)?;
        registry.mappings.push(Arc::clone(&mapping));
        registry.start(services, Arc::clone(&mapping));
        Ok(mapping.describe())
    }

    /// Removes a trigger: it receives no more, and its invocations under way end. Returns whether there was one.
    pub(crate) fn remove(&self, id: &str) -> bool {
        let mappings = &mut self.registry.lock().mappings;
        let Some(at) = mappings.iter().position(|mapping| mapping.id.to_string() == id) else { return false };
        mappings.remove(at).end();
        true
    }

    /// Stops all triggers with their invocations, removes those that were added, and starts the others anew.
    pub(crate) fn reset(&self, services: &Arc<Services>) {
        self.stop();
        let mut registry = self.registry.lock();
        let earlier = std::mem::take(&mut registry.mappings);
        for mapping in earlier.iter().filter(|mapping| mapping.is_configured) {
            let fresh = Arc::new(mapping.restarted());
            registry.mappings.push(Arc::clone(&fresh));
            registry.start(services, fresh);
        }
    }

    /// Stops all triggers at once. Messages of their invocations stay in the queues.
    pub(crate) fn stop(&self) {
        // Dropping the tasks ends them.
        let tasks = std::mem::take(&mut self.registry.lock().tasks);
        drop(tasks);
    }

    /// Receives no more messages, and starts nothing any more.
    pub(crate) fn end(&self) {
        let mut registry = self.registry.lock();
        registry.has_ended = true;
        registry.mappings.iter().for_each(|mapping| mapping.end());
    }

    /// Waits for the invocations under way after the [end](Self::end), at most for the time of grace.
    ///
    /// # Cancel safety
    /// If the future is dropped, invocations end at once.
    pub(crate) async fn all_ended(&self) {
        let mut tasks = std::mem::take(&mut self.registry.lock().tasks);
        let all_ended = async { while tasks.join_next().await.is_some() {} };
        if timeout(self.grace, all_ended).await.is_err() {
            tracing::warn!("the grace period is over: ending invocations of triggers");
        }
    }

    /// All triggers: those of the start, and then those that were added.
    pub(crate) fn describe(&self) -> Vec<TriggerDescription> {
        self.registry.lock().mappings.iter().map(|mapping| mapping.describe()).collect()
    }

    /// The URLs of the triggers that take messages of a queue.
    pub(crate) fn of_queue(&self, queue: &QueueArn) -> Vec<String> {
        let registry = self.registry.lock();
        let found = registry.mappings.iter().filter(|mapping| mapping.arn == *queue);
        found.map(|mapping| mapping.url().to_owned()).collect()
    }

    /// Writes the metrics.
    pub(crate) fn write_metrics(&self, text: &mut Exposition) {
        let name = "sqs_mock_trigger_messages_total";
        text.family(name, Kind::Counter, "Messages that triggers took, by outcome and queue.");
        self.outcomes.write(text, name);
    }
}

impl Registry {
    fn start(&mut self, services: &Arc<Services>, mapping: Arc<Mapping>) {
        while self.tasks.try_join_next().is_some() {}
        if self.has_ended {
            return;
        }
        self.runtime = Handle::try_current().ok().or_else(|| self.runtime.take());
        let Some(runtime) = &self.runtime else { return };
        mapping.note_running();
        self.tasks.spawn_on(Poller::new(mapping, services).run(), runtime);
    }
}
