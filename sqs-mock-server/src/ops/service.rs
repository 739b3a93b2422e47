//! The state of one server: its worlds, its clock, its end.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use sqs_client::service_error::ServiceError;
use tokio::sync::{Notify, watch};

use super::Context;
use super::address::Address;
use super::shared::SharedQueue;
use crate::clock::Clock;
use crate::config::Config;
use crate::engine::{Counts, MoveTasks, PeekedMessage, QueueArn, Settings, World};
use crate::faults::Faults;
use crate::seed::{Seed, uuid};

/// All queues of a server. Dropping it ends what runs in the background.
#[derive(Debug)]
pub(crate) struct Service {
    pub(super) shared: Arc<Shared>,
    /// Whether an unknown queue comes into being when it is named.
    pub(super) auto_create: bool,
}

/// What operations and background tasks share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) seed: Seed,
    pub(super) settings: Settings,
    /// By region and account. Locked for lookups only; worlds come into being with their first queue.
    worlds: RwLock<HashMap<Box<str>, ByAccount>>,
    ids: Mutex<fastrand::Rng>,
    pub(super) stop: watch::Sender<bool>,
    pub(super) faults: Faults,
}

type ByAccount = HashMap<Box<str>, Arc<Realm>>;

/// One account in one region.
#[derive(Debug)]
pub(super) struct Realm {
    /// Never locked by a holder of a queue's lock.
    pub(super) world: RwLock<World<SharedQueue>>,
    pub(super) tasks: Mutex<MoveTasks>,
    /// Movers that wait for their next message wait here too, for being cancelled.
    pub(super) cancelled: Notify,
}

impl Service {
    /// A service without queues.
    pub(crate) fn new(config: &Config) -> Self {
        let clock = config.clock_start.map_or_else(Clock::real, |start| Clock::starting_at(start.into()));
        if config.clock_frozen {
            clock.freeze();
        }
        let settings = Settings { relaxed_timing: config.relaxed_timing, ..Settings::default() };
        let mut service = Self::assemble(clock, config.seed.map_or_else(Seed::random, Seed), settings);
        service.auto_create = config.auto_create_queues;
        service
    }

    /// A service of these parts.
    pub(crate) fn assemble(clock: Clock, seed: Seed, settings: Settings) -> Self {
        let shared = Shared {
            clock,
            seed,
            settings,
            worlds: RwLock::default(),
            ids: Mutex::new(seed.generator("request ids")),
            stop: watch::Sender::new(false),
            faults: Faults::new(seed),
        };
        Self { shared: Arc::new(shared), auto_create: false }
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

    /// Whether [`shut_down`](Self::shut_down) was called.
    pub(crate) fn is_shut_down(&self) -> bool {
        *self.shared.stop.borrow()
    }

    /// The messages of a queue from the oldest on, `at_most` after the first `skip`, without receiving
    /// them; `None` when there is no such queue.
    pub(crate) fn peek(&self, queue: &QueueArn, skip: usize, at_most: usize) -> Option<Vec<PeekedMessage>> {
        let now = self.clock().now();
        self.shared.find_arn(queue)?.unless_deleted(|queue| queue.peek(now, skip, at_most))
    }

    /// How many messages a queue has; `None` when there is no such queue.
    pub(crate) fn counts(&self, queue: &QueueArn) -> Option<Counts> {
        let now = self.clock().now();
        self.shared.find_arn(queue)?.unless_deleted(|queue| queue.counts(now))
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
        found.ok_or_else(|| context.no_such_queue())
    }

    /// As [`queue`](Self::queue), for who wants no new one.
    pub(super) fn existing_queue(
        &self,
        context: &Context,
        queue_url: &mut Option<String>,
    ) -> Result<Arc<SharedQueue>, ServiceError> {
        let found = address(context, queue_url)
            .and_then(|Address { account, name }| self.shared.find(&context.region, account, name));
        found.ok_or_else(|| context.no_such_queue())
    }
}

fn address<'a>(context: &'a Context, queue_url: &'a mut Option<String>) -> Option<Address<'a>> {
    if queue_url.as_deref().is_none_or(str::is_empty) {
        queue_url.clone_from(&context.queue_path);
    }
    queue_url.as_deref().map(|url| Address::parse(url, context))
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl Shared {
    pub(super) fn realm(&self, region: &str, account: &str) -> Option<Arc<Realm>> {
        self.worlds.read().get(region)?.get(account).map(Arc::clone)
    }

    pub(super) fn realm_or_new(&self, region: &str, account: &str) -> Arc<Realm> {
        if let Some(realm) = self.realm(region, account) {
            return realm;
        }
        let mut worlds = self.worlds.write();
        let accounts = worlds.entry(region.into()).or_default();
        let new = || {
            Arc::new(Realm {
                world: RwLock::new(World::new(self.settings)),
                tasks: Mutex::default(),
                cancelled: Notify::new(),
            })
        };
        Arc::clone(accounts.entry(account.into()).or_insert_with(new))
    }

    pub(super) fn find(&self, region: &str, account: &str, name: &str) -> Option<Arc<SharedQueue>> {
        self.realm(region, account)?.world.read().get(name).map(Arc::clone)
    }

    pub(super) fn find_arn(&self, arn: &QueueArn) -> Option<Arc<SharedQueue>> {
        self.find(&arn.region, &arn.account, &arn.name)
    }

    pub(super) fn new_id(&self) -> crate::seed::Uuid {
        uuid(&mut self.ids.lock())
    }

    /// Waits until the service is shut down.
    pub(super) async fn stopped(&self) {
        let mut stop = self.stop.subscribe();
        // The sender is in `self`: it outlives the wait, so that there is no error.
        let _ = stop.wait_for(|stop| *stop).await;
    }
}
