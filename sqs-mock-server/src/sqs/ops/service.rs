//! The state of one server: its worlds, its clock, its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use sqs_client::wire::service_error::ServiceError;
use tokio::sync::{Notify, watch};

use super::Context;
use super::address::Address;
use super::changes::ChangeReader;
use super::memory::Memory;
use super::reset::Furnish;
use super::seats::Seats;
use super::shared::SharedQueue;
use super::worlds::{Realm, Worlds};
use crate::config::Config;
use crate::service::arn::QueueArn;
use crate::service::clock::{Clock, Timestamp};
use crate::service::faults::Faults;
use crate::service::seed::{Seed, uuid};
use crate::sqs::engine::{Counts, PeekedMessage, Settings};

/// All queues of a server. Dropping it ends what runs in the background.
#[derive(Debug)]
pub(crate) struct Service {
    pub(super) shared: Arc<Shared>,
    /// Whether an unknown queue comes into being when it is named.
    pub(super) auto_create: bool,
    /// What the clock shows at the start, other than the time of the system, and whether it stands still.
    pub(super) clock_start: (Option<Timestamp>, bool),
    pub(super) furnish: Furnish,
}

/// What operations and background tasks share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) seed: Seed,
    pub(super) settings: Settings,
    pub(super) worlds: Worlds,
    pub(super) seats: Seats,
    pub(super) memory: Memory,
    pub(super) reader: Option<Arc<dyn ChangeReader>>,
    /// Receives that wait for messages.
    pub(super) parked: AtomicUsize,
    ids: Mutex<fastrand::Rng>,
    pub(super) stop: watch::Sender<bool>,
    pub(super) faults: Faults,
    /// Those who wait for what is not there yet wait here; creating and deleting a queue wakes them all.
    pub(super) queues_changed: Notify,
    /// How often all was made to start anew.
    pub(super) resets: AtomicU64,
}

impl Service {
    /// A service without queues.
    pub(crate) fn new(config: &Config) -> Self {
        let start = config.clock_start.map(Timestamp::from);
        let clock = start.map_or_else(Clock::real, Clock::starting_at);
        if config.clock_frozen {
            clock.freeze();
        }
        let settings = Settings {
            relaxed_timing: config.relaxed_timing,
            delivery: config.delivery,
            max_memory: config.limits.max_memory,
            max_queues: config.limits.max_queues,
            ..Settings::default()
        };
        let mut service = Self::assemble(clock, config.seed.map_or_else(Seed::random, Seed), settings);
        service.auto_create = config.auto_create_queues;
        service.clock_start = (start, config.clock_frozen);
        service
    }

    /// A service of these parts.
    pub(crate) fn assemble(clock: Clock, seed: Seed, settings: Settings) -> Self {
        Self::with_reader(clock, seed, settings, None)
    }

    /// A service whose changes somebody reads.
    pub(super) fn with_reader(
        clock: Clock,
        seed: Seed,
        settings: Settings,
        reader: Option<Arc<dyn ChangeReader>>,
    ) -> Self {
        let shared = Shared {
            clock,
            seed,
            settings,
            worlds: Worlds::new(settings, reader.clone()),
            seats: Seats::new(settings.max_queues),
            memory: Memory::new(settings.max_memory),
            reader,
            parked: AtomicUsize::new(0),
            ids: Mutex::new(seed.generator("request ids")),
            stop: watch::Sender::new(false),
            faults: Faults::new(seed),
            queues_changed: Notify::new(),
            resets: AtomicU64::new(0),
        };
        Self {
            shared: Arc::new(shared),
            auto_create: false,
            clock_start: (None, false),
            furnish: Furnish::default(),
        }
    }

    /// The clock that all queues live by.
    pub(crate) fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// What goes wrong on demand.
    pub(crate) fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// The number that everything random comes from.
    pub(crate) fn seed(&self) -> Seed {
        self.shared.seed
    }

    /// A new id for a request.
    pub(crate) fn request_id(&self) -> String {
        self.shared.new_id().to_string()
    }

    /// Ends all long polls with an empty answer, and all move tasks. Later long polls do not wait.
    pub(crate) fn shut_down(&self) {
        self.shared.stop.send_replace(true);
    }

    /// Changes with every reset, and with the end.
    pub(crate) fn generation(&self) -> u64 {
        self.shared.resets.load(Ordering::Acquire) + u64::from(self.is_shut_down())
    }

    /// Whether [`shut_down`](Self::shut_down) was called.
    pub(crate) fn is_shut_down(&self) -> bool {
        *self.shared.stop.borrow()
    }

    /// The messages of a queue from the oldest on, `at_most` after the first `skip`, without receiving
    /// them; `None` when there is no such queue.
    pub(crate) fn peek(&self, queue: &QueueArn, skip: usize, at_most: usize) -> Option<Vec<PeekedMessage>> {
        let now = self.clock().now();
        self.shared.find_arn(queue)?.look(|queue| queue.peek(now, skip, at_most))
    }

    /// How many messages a queue has; `None` when there is no such queue.
    pub(crate) fn counts(&self, queue: &QueueArn) -> Option<Counts> {
        let now = self.clock().now();
        self.shared.find_arn(queue)?.look(|queue| queue.counts(now))
    }

    /// The queue that a request names by URL or, in the Query protocol, by its path. One that does not exist is made
    /// when queues are to be.
    pub(super) fn queue(
        &self,
        context: &Context,
        queue_url: &mut Option<String>,
    ) -> Result<Arc<SharedQueue>, ServiceError> {
        let found = address(context, queue_url)
            .and_then(|Address { account, name }| self.found_or_created(context, account, name));
        let found = found.ok_or_else(|| context.no_such_queue())?;
        context.trace.note_queue(found.arn());
        Ok(found)
    }

    /// As [`queue`](Self::queue), for who wants no new one.
    pub(super) fn existing_queue(
        &self,
        context: &Context,
        queue_url: &mut Option<String>,
    ) -> Result<Arc<SharedQueue>, ServiceError> {
        let found = address(context, queue_url)
            .and_then(|Address { account, name }| self.shared.find(&context.region, account, name));
        let found = found.ok_or_else(|| context.no_such_queue())?;
        context.trace.note_queue(found.arn());
        Ok(found)
    }
}

fn address<'a>(context: &'a Context, queue_url: &'a mut Option<String>) -> Option<Address<'a>> {
    if queue_url.as_deref().is_none_or(str::is_empty) {
        queue_url.clone_from(&context.queue_path);
    }
    queue_url.as_deref().map(|url| Address::parse(url, &context.account))
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl Shared {
    pub(super) fn realm(&self, region: &str, account: &str) -> Option<Arc<Realm>> {
        self.worlds.get(region, account)
    }

    pub(super) fn find(&self, region: &str, account: &str, name: &str) -> Option<Arc<SharedQueue>> {
        self.realm(region, account)?.world.read().get(name).map(Arc::clone)
    }

    pub(super) fn find_arn(&self, arn: &QueueArn) -> Option<Arc<SharedQueue>> {
        self.find(&arn.region, &arn.account, &arn.name)
    }

    pub(super) fn new_id(&self) -> crate::service::seed::Uuid {
        uuid(&mut self.ids.lock())
    }

    /// Waits until the service is shut down.
    pub(super) async fn stopped(&self) {
        let mut stop = self.stop.subscribe();
        // The sender is in `self`: it outlives the wait, so that there is no error.
        let _ = stop.wait_for(|stop| *stop).await;
    }
}
