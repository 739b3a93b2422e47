//! Consumers: build one, run it, control it, stop it.

use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};

use sqs_client::client::Execute;
use sqs_client::types::MessageSystemAttributeName as Name;
use tokio::runtime::Handle;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::client::BufferedClient;
use crate::consume::builder::{ConsumerBuilder, Handlers, Options};
use crate::consume::lines::{Item, Key};
use crate::consume::pool::{Concurrency, HandlerPool, PoolMember};
use crate::consume::run::Run;
use crate::consume::work::Handling;
use crate::error::{BuildError, ReceiveError, ReceiveErrorKind};
use crate::observe::receives::{Observer, ReceiveStats};
use crate::receive::credits::SharedCredits;
use crate::receive::dead_letter::DeadLetters;
use crate::receive::delivery::{Delivery, Grace};
use crate::receive::opening::Opener;
use crate::receive::pump::{Intake, Source, Stop};
use crate::receive::settings::Settings;
use crate::time::whole_seconds;

/// Receives messages and runs a handler for each one, many at a time.
///
/// It renews leases while messages wait and while their handlers run. Deletes and visibility changes go in batches. On FIFO
/// queues, the messages of a group are handled one by one, in order. Consumers and receivers that share a [`BufferedClient`]
/// ([`builder_with`](Self::builder_with)) never handle two deliveries of one message at the same time. Clones are handles of the
/// same consumer.
///
/// A service:
///
/// ```no_run
/// use sqs_buffered::{Consumer, Json, State};
/// # #[derive(serde::Deserialize)] struct Order { id: u64 }
/// # #[derive(Clone)] struct Db;
/// # impl Db { async fn insert(&self, _: Order) -> Result<(), std::io::Error> { Ok(()) } }
///
/// async fn store(Json(order): Json<Order>, State(db): State<Db>) -> Result<(), std::io::Error> {
///     db.insert(order).await
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let (client, url) = (sqs_client::Client::load().await?, std::env::var("QUEUE_URL")?);
///     Consumer::builder(client, url).state(Db).handler(store).build()?.run_until_signal().await?;
///     Ok(())
/// }
/// ```
pub struct Consumer<H: Execute = sqs_client::Client> {
    shared: Arc<Shared<H>>,
}

impl<H: Execute> Clone for Consumer<H> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<H: Execute> Consumer<H> {
    /// Returns a builder for a consumer of the queue with this URL.
    pub fn builder(client: H, queue_url: impl AsRef<str>) -> ConsumerBuilder<H> {
        Self::builder_with(&BufferedClient::new(client), queue_url)
    }

    /// Like [`builder`](Self::builder), with a client that other consumers, receivers and producers share.
    pub fn builder_with(client: &BufferedClient<H>, queue_url: impl AsRef<str>) -> ConsumerBuilder<H> {
        ConsumerBuilder::new(Source::new(client, queue_url.as_ref()))
    }

    pub(crate) fn assemble(
        source: Source<H>,
        settings: Settings,
        options: Options,
        handler: Handling,
    ) -> Self {
        Self { shared: Arc::new(Shared::new(source, settings, options, handler)) }
    }

    /// Handles messages until [`shutdown`](Self::shutdown) is called.
    ///
    /// # Errors
    /// The same as [`run_until`](Self::run_until).
    ///
    /// # Cancel safety
    /// The same as [`run_until`](Self::run_until).
    pub async fn run(&self) -> Result<Report, ReceiveError> {
        self.run_until(pending::<()>()).await
    }

    /// Handles messages until `end` is ready, and then shuts down within the [grace](ConsumerBuilder::grace):
    ///
    /// - It starts no more receives and handlers.
    /// - Running receives finish, and their messages become visible again; so do messages that have not started.
    /// - Running handlers finish, and their outcomes take effect. Handlers that take too long are stopped, and their messages
    ///   become visible again.
    ///
    /// After that, no message of this consumer is hidden, except by an outcome, or if SQS could not be reached. Messages that
    /// are still [held](ReceiveStats::held), [unsettled](ReceiveStats::unsettled), or were in an
    /// [abandoned receive](ReceiveStats::receives_abandoned) become visible when their visibility timeout is over. A consumer
    /// runs once.
    ///
    /// # Errors
    /// The first receive failed permanently; later failures are retried forever. Or the client was closed, a task
    /// panicked, or the consumer has been run before.
    ///
    /// # Cancel safety
    /// If the future is dropped, handlers are stopped, and their messages become visible again in the background.
    pub async fn run_until<T>(&self, end: impl Future<Output = T>) -> Result<Report, ReceiveError> {
        self.serve_until(end, &self.shared.settings).await
    }

    async fn serve_until<T>(
        &self,
        end: impl Future<Output = T>,
        settings: &Settings,
    ) -> Result<Report, ReceiveError> {
        if self.shared.has_run.swap(true, Relaxed) {
            return Err(already_run());
        }
        let _ = self.shared.started.set(Instant::now());
        let _ending = RunGuard(&self.shared);
        let mut driven = pin!(self.drive(settings));
        let result = tokio::select! {
            biased;
            result = &mut driven => result,
            _ = end => {
                self.shared.end(None);
                driven.await
            }
        };
        self.shared.result.send_replace(Some(result.clone()));
        result
    }

    async fn drive(&self, settings: &Settings) -> Result<Report, ReceiveError> {
        let shared = &self.shared;
        let started = Instant::now();
        let (credits, observer) = (Arc::clone(&shared.credits), Arc::clone(&shared.observer));
        let intake = Intake::start(shared.source.clone(), settings, credits, observer, shared.stop.clone());
        let Some(intake) = intake.await? else { return Ok(Report { is_clean: true, ..Report::default() }) };
        let mut run = Run::new(shared, intake);
        run.serve().await;
        shared.end(None);
        run.wind_up(started).await
    }

    /// Shuts down like [`run_until`](Self::run_until), within this [grace](ConsumerBuilder::grace), and waits for the end of the
    /// run. The latest grace wins: `shutdown(Duration::ZERO)` stops handlers that an earlier call waits for, and returns
    /// within a second. If it is called before the run, the run returns at once.
    ///
    /// # Errors
    /// The run ended with this error.
    ///
    /// # Cancel safety
    /// If the future is dropped, the shutdown continues.
    pub async fn shutdown(&self, grace: Duration) -> Result<Report, ReceiveError> {
        self.shared.end(Some(grace));
        if !self.shared.has_run.load(Relaxed) {
            return Ok(Report { is_clean: true, ..Report::default() });
        }
        let mut result = self.shared.result.subscribe();
        let ended = result.wait_for(Option::is_some).await.ok().and_then(|result| result.clone());
        ended.unwrap_or_else(|| Err(ReceiveError::new(ReceiveErrorKind::Aborted, "the consumer was dropped")))
    }

    /// Begins a shutdown, without waiting for it. After a [`shutdown`](Self::shutdown), it changes nothing.
    pub fn stop(&self) {
        self.shared.end(None);
    }

    /// Handles messages until the queue has stayed empty for this long, and then shuts down like [`run_until`](Self::run_until): for jobs
    /// that end. The queue counts as empty if a receive has returned nothing, and this consumer holds no message and has given none back
    /// that is still hidden. So it waits until failed messages have succeeded, became dead letters, or were moved by SQS, which depends on
    /// their [back-off](ConsumerBuilder::back_off). Other hidden messages do not count: delayed ones, and those of other consumers.
    ///
    /// Receives wait no longer than `idle`, rounded up to whole seconds, so it returns between one and two times `idle` after the last
    /// message. While SQS cannot be reached, it goes on; bound it by a `timeout` around [`stop`](Self::stop) if it must end.
    ///
    /// ```no_run
    /// # async fn example(consumer: sqs_buffered::Consumer) -> Result<(), sqs_buffered::ReceiveError> {
    /// let report = consumer.drain(std::time::Duration::from_secs(5)).await?;
    /// println!("{} handled, {} dead letters", report.stats.acked, report.stats.dead_lettered);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The same as [`run_until`](Self::run_until).
    ///
    /// # Cancel safety
    /// The same as [`run_until`](Self::run_until).
    pub async fn drain(&self, idle: Duration) -> Result<Report, ReceiveError> {
        let longest = Duration::from_secs(whole_seconds(idle).max(1));
        let settings = self.shared.settings.clone();
        let settings = Settings { wait_time: settings.wait_time.min(longest), ..settings };
        self.serve_until(self.emptied(idle), &settings).await
    }

    async fn emptied(&self, idle: Duration) {
        let step = (idle / 10).clamp(Duration::from_millis(10), Duration::from_secs(1));
        let (mut since, mut before) = (Instant::now(), self.stats());
        loop {
            sleep(step).await;
            let now = self.stats();
            if now.held > 0 || now.received != before.received || self.shared.observer.hides() {
                (since, before) = (Instant::now(), now);
            } else if now.empty_receives > before.empty_receives && since.elapsed() >= idle {
                return;
            }
        }
    }

    /// How the consumer is doing, for the health check of a platform.
    pub fn health(&self) -> Health {
        let (shared, stats) = (&self.shared, self.stats());
        Health {
            is_running: shared.has_run.load(Relaxed) && shared.result.borrow().is_none(),
            is_stopping: shared.stop.is_finishing(),
            is_paused: self.is_paused(),
            since_start: shared.started.get().map(Instant::elapsed),
            last_receive: shared.observer.since_last_receive(),
            last_asked: shared.observer.since_last_asked(),
            is_full: shared.credits.is_full(),
            running_handlers: shared.running_handlers.load(Relaxed),
            held: stats.held,
            leases_lost: stats.leases_lost,
        }
    }

    /// The totals so far.
    pub fn stats(&self) -> ReceiveStats {
        self.shared.observer.tally.snapshot(self.shared.credits.levels())
    }

    /// Runs the consumer in its own task, until the handle or a clone of this consumer [shuts it down](Self::shutdown).
    ///
    /// # Errors
    /// There is no tokio runtime, or the consumer has been run before. The handle resolves with later errors.
    pub fn spawn(&self) -> Result<ConsumerHandle<H>, ReceiveError> {
        let runtime = Handle::try_current().map_err(|_| ReceiveError::no_runtime())?;
        if self.shared.has_run.load(Relaxed) {
            return Err(already_run());
        }
        let consumer = self.clone();
        Ok(ConsumerHandle::new(self.clone(), runtime.spawn(async move { consumer.run().await })))
    }

    /// Handles messages until SIGTERM, which Kubernetes, ECS and systemd send, or Ctrl-C. Then it shuts down like
    /// [`run_until`](Self::run_until). A second signal stops the handlers and returns within a second. On Windows, the signal
    /// is Ctrl-C.
    ///
    /// An idle consumer waits for its long poll, up to 20 s, unless
    /// [`cancel_receives`](crate::consume::builder::ConsumerBuilder::cancel_receives) is set.
    ///
    /// After the first call, these signals no longer end the process by themselves.
    ///
    /// # Errors
    /// The same as [`run_until`](Self::run_until); or the operating system refuses to report signals
    /// ([`ReceiveErrorKind::Signals`]).
    ///
    /// # Cancel safety
    /// The same as [`run_until`](Self::run_until).
    pub async fn run_until_signal(&self) -> Result<Report, ReceiveError> {
        tokio::runtime::Handle::try_current().map_err(|_| ReceiveError::no_runtime())?;
        let mut signals = Signals::listen().map_err(|error| {
            let text = format!("the operating system does not report signals: {error}");
            ReceiveError::new(ReceiveErrorKind::Signals, text)
        })?;
        let mut run = std::pin::pin!(self.run());
        for grace in [None, Some(Duration::ZERO)] {
            tokio::select! {
                biased;
                result = &mut run => return result,
                () = signals.next() => self.shared.end(grace),
            }
        }
        run.await
    }

    /// Starts no more receives and handlers until [`resume`](Self::resume). Running handlers finish, and their outcomes take
    /// effect. Waiting messages, and messages of running receives, are kept and their leases renewed, for at most
    /// [`max_lease`](crate::consume::builder::ConsumerBuilder::max_lease).
    ///
    /// You can call it before the run. A paused consumer can be shut down.
    pub fn pause(&self) {
        self.set_paused(true);
    }

    /// Continues after [`pause`](Self::pause).
    pub fn resume(&self) {
        self.set_paused(false);
    }

    /// Whether the consumer is paused.
    pub fn is_paused(&self) -> bool {
        self.shared.is_paused.load(Relaxed)
    }

    /// Changes how many handlers run at a time: a number, or [`Concurrency::Adaptive`]. An increase takes effect at
    /// once. After a decrease, running handlers finish, and fewer start. For a consumer with a
    /// [pool](crate::consume::builder::ConsumerBuilder::pool), this changes the pool.
    ///
    /// # Errors
    /// The number is not 1 to 120,000, or exceeds 120,000 together with the prefetch.
    pub fn set_concurrency(&self, concurrency: impl Into<Concurrency>) -> Result<(), BuildError> {
        let concurrency = concurrency.into();
        self.shared.options.limits.check_concurrency(concurrency)?;
        self.shared.pool.set_concurrency(concurrency)
    }

    /// How many handlers may run at a time now.
    pub fn concurrency(&self) -> usize {
        self.shared.pool.concurrency()
    }

    fn set_paused(&self, is_paused: bool) {
        self.shared.is_paused.store(is_paused, Relaxed);
        self.shared.woken.notify_one();
    }
}

/// How a consumer is doing: see [`Consumer::health`]. `Display` shows all of it on one line.
///
/// ```
/// use std::time::Duration;
///
/// use sqs_buffered::Consumer;
///
/// /// The status of `GET /health`. A receive ends after its wait time, 20 s by default.
/// fn status(consumer: &Consumer) -> u16 {
///     if consumer.health().is_live(Duration::from_secs(60)) { 200 } else { 503 }
/// }
/// # let _ = status;
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts")]
#[non_exhaustive]
pub struct Health {
    /// Whether it has been started and has not ended.
    pub is_running: bool,
    /// Whether a shutdown has begun.
    pub is_stopping: bool,
    /// Whether it is [paused](Consumer::pause).
    pub is_paused: bool,
    /// The time since the consumer was started; `None` before.
    pub since_start: Option<Duration>,
    /// The time since SQS has answered a receive; `None` before the first answer. It grows while all places are taken.
    pub last_receive: Option<Duration>,
    /// The time since a receive began while no other was running, for example after all places were taken; `None` before the first.
    pub last_asked: Option<Duration>,
    /// Whether messages are in all places, so that nothing is received.
    pub is_full: bool,
    /// Running handlers, or batches.
    pub running_handlers: usize,
    /// Messages that are held and not settled.
    pub held: usize,
    /// Lost leases so far.
    pub leases_lost: u64,
}

impl Health {
    /// Whether the consumer runs, and SQS has answered a receive within this time, or there is a reason why it was not asked: a pause, a
    /// shutdown, or messages in all places. In the beginning, and after such a reason, it has this time for the next receive. So the time
    /// must exceed that of a receive: its [wait time](ConsumerBuilder::wait_time), 20 s by default, and its
    /// [attempt timeout](ConsumerBuilder::attempt_timeout), 10 s.
    pub fn is_live(&self, within: Duration) -> bool {
        let has_reason = self.is_paused || self.is_stopping || self.is_full;
        let last = self.last_receive.into_iter().chain(self.last_asked).min().or(self.since_start);
        self.is_running && (has_reason || last.is_some_and(|last| last <= within))
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self {
            Self { is_running: false, .. } => "not running",
            Self { is_stopping: true, .. } => "stopping",
            Self { is_paused: true, .. } => "paused",
            _ => "running",
        };
        write!(f, "{state}, ")?;
        match self.last_receive {
            Some(last) => write!(f, "last receive {:.1} s ago", last.as_secs_f64())?,
            None => f.write_str("no receive yet")?,
        }
        let Self { running_handlers, held, leases_lost, .. } = self;
        write!(f, ", {running_handlers} handlers, {held} messages held, {leases_lost} leases lost")
    }
}

impl<H: Execute> fmt::Debug for Consumer<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer")
            .field("queue_url", &self.shared.source.url)
            .field("settings", &self.shared.settings)
            .finish_non_exhaustive()
    }
}

/// The data that clones of a consumer and its run share.
pub(crate) struct Shared<H: Execute> {
    pub(crate) source: Source<H>,
    pub(crate) settings: Settings,
    pub(crate) options: Options,
    pub(crate) handler: Handling,
    pub(crate) credits: Arc<SharedCredits>,
    pool: HandlerPool,
    pub(crate) is_paused: Arc<AtomicBool>,
    /// Wakes the run after a change of its pause, its turn in the pool, its running handlers, or its places.
    pub(crate) woken: Arc<Notify>,
    pub(crate) observer: Arc<Observer>,
    pub(crate) dead_letters: DeadLetters,
    pub(crate) opener: Opener,
    has_run: AtomicBool,
    /// When the run has started.
    started: OnceLock<Instant>,
    /// Whether it has logged that FIFO messages have no group.
    has_warned_of_no_group: AtomicBool,
    /// How many handlers run.
    pub(crate) running_handlers: Arc<AtomicUsize>,
    pub(crate) stop: Stop,
    /// Is cancelled when a shutdown begins.
    cancellation: CancellationToken,
    /// The shutdown, once it has begun.
    pub(crate) ending: watch::Sender<Option<Grace>>,
    /// The result of the run, once it has ended.
    pub(crate) result: watch::Sender<Option<Result<Report, ReceiveError>>>,
}

/// Drop guard: if the run is dropped, callers that wait for its end get an error.
struct RunGuard<'c, H: Execute>(&'c Shared<H>);

impl<H: Execute> Drop for RunGuard<'_, H> {
    fn drop(&mut self) {
        self.0.result.send_if_modified(|result| {
            let was_dropped = result.is_none();
            result.get_or_insert_with(|| {
                Err(ReceiveError::new(ReceiveErrorKind::Aborted, "the run of the consumer was dropped"))
            });
            was_dropped
        });
    }
}

impl<H: Execute> Shared<H> {
    fn new(source: Source<H>, settings: Settings, options: Options, handler: Handling) -> Self {
        // Groups exist on standard queues too (fair queues). Their messages run concurrently.
        let credits_of = if source.is_fifo() { SharedCredits::of_groups } else { SharedCredits::of_messages };
        let observer = Arc::new(Observer::new(&source.url, options.hook.clone()));
        let pool = match &options.limits.handlers {
            Handlers::Own(concurrency) => HandlerPool::unchecked(*concurrency),
            Handlers::Shared(pool, _) => pool.clone(),
        };
        Self {
            // The run sets the number of places.
            credits: Arc::new(credits_of(0, settings.max_poll_delay, observer.metrics.held())),
            pool,
            is_paused: Arc::default(),
            woken: Arc::default(),
            source,
            settings,
            options,
            handler,
            observer,
            dead_letters: DeadLetters::default(),
            opener: Opener::default(),
            has_run: AtomicBool::new(false),
            started: OnceLock::new(),
            has_warned_of_no_group: AtomicBool::new(false),
            running_handlers: Arc::default(),
            stop: Stop::new(),
            cancellation: CancellationToken::new(),
            ending: watch::channel(None).0,
            result: watch::channel(None).0,
        }
    }

    /// Joins the pool.
    pub(crate) fn join_pool(&self) -> PoolMember {
        let weight = if let Handlers::Shared(_, weight) = self.options.limits.handlers { weight } else { 1 };
        self.pool.join((self.options.limits.priority, weight), &self.woken)
    }

    /// Begins the shutdown. The latest grace wins; without one, the first.
    pub(crate) fn end(&self, grace: Option<Duration>) {
        let now = Instant::now();
        self.ending.send_if_modified(|ending| {
            let is_new = grace.is_some() || ending.is_none();
            if is_new {
                *ending = Some(Grace::new(now, grace.unwrap_or(self.options.grace)));
            }
            is_new
        });
        self.stop.finish();
        self.cancellation.cancel();
    }

    /// What tells a handler to end.
    pub(crate) fn cancellation(&self) -> CancellationToken {
        // A handler may cancel its own.
        self.cancellation.child_token()
    }

    /// The line of a message: its group on FIFO queues, else itself. FIFO messages without a group, from services that do not
    /// return it, form one line, so that their order is kept.
    pub(crate) fn line_of(&self, delivery: &Delivery) -> Key {
        if !self.source.is_fifo() {
            return Arc::clone(delivery.id());
        }
        let group = delivery.attribute(&Name::MessageGroupId);
        if group.is_none() && !self.has_warned_of_no_group.swap(true, Relaxed) {
            tracing::warn!(
                queue_url = &*self.source.url,
                "the service returns FIFO messages without MessageGroupId, so all of them are handled one by one"
            );
        }
        group.unwrap_or_default().into()
    }
}

impl Item for Delivery {
    fn id(&self) -> &Arc<str> {
        Delivery::id(self)
    }

    fn sequence(&self) -> u128 {
        self.number(&Name::SequenceNumber).unwrap_or_default()
    }

    fn follow(&mut self, earlier: &Self) {
        Delivery::follow(self, earlier);
    }
}

fn already_run() -> ReceiveError {
    ReceiveError::new(ReceiveErrorKind::Running, "the consumer has been run before; build another one")
}

/// A [`Consumer`] that runs in its own task: see [`Consumer::spawn`].
///
/// It is a future that resolves with the result of [`Consumer::run`]. If it is dropped, the consumer continues; a clone of the
/// consumer can shut it down.
///
/// ```no_run
/// # async fn example(consumer: sqs_buffered::Consumer) -> Result<(), Box<dyn std::error::Error>> {
/// let handle = consumer.spawn()?;
/// // ... the rest of the service ...
/// let report = handle.shutdown(std::time::Duration::from_secs(20)).await?;
/// println!("{} done", report.stats.acked);
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping the handle leaves the consumer running"]
pub struct ConsumerHandle<H: Execute = sqs_client::Client> {
    consumer: Consumer<H>,
    task: JoinHandle<Result<Report, ReceiveError>>,
}

impl<H: Execute> ConsumerHandle<H> {
    pub(crate) fn new(consumer: Consumer<H>, task: JoinHandle<Result<Report, ReceiveError>>) -> Self {
        Self { consumer, task }
    }

    /// The consumer, to pause it, resume it, change its concurrency, or read its totals.
    pub fn consumer(&self) -> &Consumer<H> {
        &self.consumer
    }

    /// Shuts the consumer down within this grace, and waits for the end of the run: see [`Consumer::shutdown`].
    ///
    /// # Errors
    /// The same as [`Consumer::run`].
    ///
    /// # Cancel safety
    /// If the future is dropped, the shutdown continues.
    pub async fn shutdown(self, grace: Duration) -> Result<Report, ReceiveError> {
        self.consumer.shared.end(Some(grace));
        self.await
    }
}

impl<H: Execute> Future for ConsumerHandle<H> {
    type Output = Result<Report, ReceiveError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = std::task::ready!(Pin::new(&mut self.task).poll(cx));
        Poll::Ready(ended.unwrap_or_else(|error| Err(ReceiveError::broken("the consumer", &error))))
    }
}

impl<H: Execute> fmt::Debug for ConsumerHandle<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConsumerHandle").field(&self.consumer).finish()
    }
}

/// The result of a run.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The totals.
    pub stats: ReceiveStats,
    /// The texts of the first ten panics of handlers.
    pub panics: Vec<String>,
    /// Whether all handlers and receives ended by themselves during the shutdown: none was stopped or abandoned.
    pub is_clean: bool,
    /// The duration of the run.
    pub elapsed: Duration,
}

/// SIGTERM and Ctrl-C.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

#[cfg(unix)]
impl Signals {
    /// Listens from now on.
    fn listen() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            biased;
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Ctrl-C.
#[cfg(windows)]
#[derive(Debug)]
pub(crate) struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    /// Listens from now on.
    fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        let _ = self.0.recv().await;
    }
}
