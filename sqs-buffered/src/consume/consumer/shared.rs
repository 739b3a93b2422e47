//! The data that clones of a consumer and its run share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use sqs_client::client::Execute;
use sqs_client::types::MessageSystemAttributeName as Name;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::dead_letter::DeadLetters;
use super::groups::GroupAdvance;
use super::groups::{Item, Key};
use super::handling::Handling;
use super::limits::{Handlers, Limits};
use super::report::Report;
use crate::consume::credit::SharedCredits;
use crate::consume::observe::{Hook, Observer};
use crate::consume::pool::{HandlerPool, PoolMember};
use crate::consume::receive::{Delivery, Grace, ReceiveError, ReceiveErrorKind, Settings};
use crate::consume::source::Source;
use crate::consume::stop::Stop;

/// The data that clones of a consumer and its run share.
pub(crate) struct Shared<H: Execute> {
    pub(super) source: Source<H>,
    pub(super) limits: Limits,
    pub(super) settings: Settings,
    pub(super) advance: GroupAdvance,
    pub(super) handler: Handling,
    pub(super) credits: Arc<SharedCredits>,
    pub(super) pool: HandlerPool,
    pub(super) is_paused: AtomicBool,
    /// Wakes the run after a change of its pause, its turn in the pool, or its places.
    pub(super) woken: Arc<Notify>,
    pub(super) observer: Arc<Observer>,
    pub(super) dead_letters: DeadLetters,
    pub(super) has_run: AtomicBool,
    /// Whether it has logged that FIFO messages have no group.
    has_warned_of_no_group: AtomicBool,
    pub(super) stop: Stop,
    /// How long a shutdown takes at most by default.
    pub(super) grace: Duration,
    /// The shutdown, once it has begun.
    pub(super) ending: watch::Sender<Option<Grace>>,
    /// The result of the run, once it has ended.
    pub(super) result: watch::Sender<Option<Result<Report, ReceiveError>>>,
}

/// The settings of a consumer.
pub(crate) struct Parts<H: Execute> {
    pub(super) source: Source<H>,
    pub(super) limits: Limits,
    pub(super) settings: Settings,
    pub(super) advance: GroupAdvance,
    pub(super) grace: Duration,
    pub(super) hook: Option<Hook>,
    pub(super) handler: Handling,
}

/// Drop guard: if the run is dropped, callers that wait for its end get an error.
pub(crate) struct RunGuard<'c, H: Execute>(pub(super) &'c Shared<H>);

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
    pub(super) fn new(parts: Parts<H>) -> Self {
        let Parts { source, limits, settings, advance, grace, hook, handler } = parts;
        // Groups exist on standard queues too (fair queues). Their messages run concurrently.
        let credits_of = if source.is_fifo() { SharedCredits::of_groups } else { SharedCredits::of_messages };
        let observer = Arc::new(Observer::new(&source.url, hook));
        let pool = match &limits.handlers {
            Handlers::Own(concurrency) => HandlerPool::unchecked(*concurrency),
            Handlers::Shared(pool, _) => pool.clone(),
        };
        Self {
            // The run sets the number of places.
            credits: Arc::new(credits_of(0, settings.max_poll_delay, observer.metrics.held())),
            pool,
            is_paused: AtomicBool::new(false),
            woken: Arc::default(),
            source,
            limits,
            settings,
            advance,
            handler,
            observer,
            dead_letters: DeadLetters::default(),
            has_run: AtomicBool::new(false),
            has_warned_of_no_group: AtomicBool::new(false),
            stop: Stop::new(),
            grace,
            ending: watch::channel(None).0,
            result: watch::channel(None).0,
        }
    }

    /// Joins the pool.
    pub(super) fn join_pool(&self) -> PoolMember {
        let weight = if let Handlers::Shared(_, weight) = self.limits.handlers { weight } else { 1 };
        self.pool.join(weight, &self.woken)
    }

    /// Begins the shutdown. The latest grace wins; without one, the first.
    pub(super) fn end(&self, grace: Option<Duration>) {
        let now = Instant::now();
        self.ending.send_if_modified(|ending| {
            let is_new = grace.is_some() || ending.is_none();
            if is_new {
                *ending = Some(Grace::new(now, grace.unwrap_or(self.grace)));
            }
            is_new
        });
        self.stop.finish();
    }

    /// The line of a message: its group on FIFO queues, else itself. FIFO messages without a group, from services that do not
    /// return it, form one line, so that their order is kept.
    pub(super) fn line_of(&self, delivery: &Delivery) -> Key {
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
}
