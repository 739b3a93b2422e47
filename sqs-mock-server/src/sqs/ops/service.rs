//! The state of one server: its accounts, its clock, its end.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use sqs_client::wire::service_error::ServiceError;

use super::Context;
use super::address::Address;
use super::changes::ChangeReader;
use super::shared::SharedQueue;
use super::state::Shared;
use crate::service::arn::QueueArn;
use crate::service::clock::{Clock, Timestamp};
use crate::service::faults::Faults;
use crate::service::seed::Seed;
use crate::sqs::engine::{Counts, PeekedMessage, QuotaTable, Settings, ThroughputQuotas};
use crate::sqs::findings::Findings;

/// All queues of a server. Dropping it ends what runs in the background.
#[derive(Debug)]
pub(crate) struct Service {
    pub(super) shared: Arc<Shared>,
    /// Whether an unknown queue comes into being when it is named.
    pub(super) auto_create: bool,
    /// What the clock shows at the start, other than the time of the system, and whether it stands still.
    pub(super) clock_start: (Option<Timestamp>, bool),
    pub(super) initial_state: InitialState,
}

/// How a service starts.
#[derive(Debug)]
pub(crate) struct Start {
    /// The default is a random seed.
    pub(crate) seed: Option<u64>,
    /// The initial time of the clock. The default is the system's time.
    pub(crate) time: Option<SystemTime>,
    /// Whether the clock stands still.
    pub(crate) frozen: bool,
    /// Whether queues are created on first use.
    pub(crate) auto_create: bool,
}

/// Creates the queues and faults that a server has from the start.
pub(super) struct InitialState(pub(super) Box<dyn Fn(&Service) + Send + Sync>);

impl Default for InitialState {
    /// Nothing.
    fn default() -> Self {
        Self(Box::new(|_| {}))
    }
}

impl fmt::Debug for InitialState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl Service {
    /// A service without queues.
    pub(crate) fn new(start: &Start, settings: Settings) -> Self {
        let time = start.time.map(Timestamp::from);
        let clock = time.map_or_else(Clock::real, Clock::starting_at);
        if start.frozen {
            clock.freeze();
        }
        let mut service = Self::assemble(clock, start.seed.map_or_else(Seed::random, Seed), settings);
        service.auto_create = start.auto_create;
        service.clock_start = (time, start.frozen);
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
        let shared = Shared::new(clock, seed, settings, reader);
        Self {
            shared: Arc::new(shared),
            auto_create: false,
            clock_start: (None, false),
            initial_state: InitialState::default(),
        }
    }

    /// Sets what each reset does at its end.
    pub(crate) fn on_reset(&mut self, initial_state: impl Fn(&Self) + Send + Sync + 'static) {
        self.initial_state = InitialState(Box::new(initial_state));
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

    /// The throughput quotas that are set.
    pub(crate) fn quotas(&self) -> QuotaTable {
        self.shared.throughput.table()
    }

    /// The throughput quotas that apply to a queue, whether it exists or not.
    pub(crate) fn quotas_of(&self, arn: &QueueArn) -> Option<ThroughputQuotas> {
        self.shared.throughput.of(arn)
    }

    /// The findings of strict mode; `None` without it.
    pub(crate) fn findings(&self) -> Option<&Findings> {
        self.shared.findings.as_deref()
    }

    /// Changes throughput quotas. They apply to all queues when this returns.
    pub(crate) fn change_quotas<T>(&self, change: impl FnOnce(&mut QuotaTable) -> T) -> T {
        let Shared { throughput, accounts, .. } = &*self.shared;
        let result = throughput.change(change);
        // A queue that this does not find yet is created with the new quotas.
        for account in accounts.all() {
            let queues: Vec<_> = account.directory.read().all().cloned().collect();
            for queue in queues {
                queue.even_deleted(|state| state.set_quotas(throughput.of(queue.arn())));
            }
        }
        result
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
        queue_url.clone_from(&context.request_url);
    }
    queue_url.as_deref().map(|url| Address::parse(url, &context.account))
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shut_down();
    }
}
