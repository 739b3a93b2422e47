//! A service: accounts, clock and shutdown of a server.

use std::sync::Arc;

use sqs_client::operation::Operation;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};

use super::Context;
use super::address::Address;
use super::changes::ChangeReader;
use super::shared::SharedQueue;
use super::state::Shared;
use crate::service::arn::QueueArn;
use crate::service::clock::{Clock, Timestamp};
use crate::service::commits::Commits;
use crate::service::faults::Faults;
use crate::service::seed::Seed;
use crate::sqs::engine::{Counts, QuotaTable, Settings, ThroughputQuotas};
use crate::sqs::findings::Findings;

/// All queues of a server. Dropping it ends its background tasks.
#[derive(Debug)]
pub(crate) struct Service {
    pub(super) shared: Arc<Shared>,
    pub(super) start: Start,
}

/// How a service starts.
#[derive(Debug)]
pub(crate) struct Start {
    /// The default is a random seed.
    pub(crate) seed: Option<u64>,
    /// The initial time of the clock. The default is the system's time.
    pub(crate) time: Option<Timestamp>,
    /// Whether the clock is frozen.
    pub(crate) frozen: bool,
    /// Whether queues are created on first use.
    pub(crate) auto_create: bool,
}

impl Service {
    /// A service without queues. Its changes go to `reader`.
    pub(crate) fn new(start: Start, settings: Settings, reader: Option<Arc<dyn ChangeReader>>) -> Self {
        let clock = start.time.map_or_else(Clock::real, Clock::starting_at);
        if start.frozen {
            clock.freeze();
        }
        let seed = start.seed.map_or_else(Seed::random, Seed);
        let shared = Arc::new(Shared::new(clock, seed, settings, reader));
        Self { shared, start }
    }

    /// The clock of all queues.
    pub(crate) fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// The injected faults.
    pub(crate) fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// The seed of all randomness.
    pub(crate) fn seed(&self) -> Seed {
        self.shared.seed
    }

    /// Checks that changes can be stored at present.
    ///
    /// # Errors
    /// `ServiceUnavailable`, which SDKs retry.
    pub(crate) fn check_store(&self) -> Result<(), ServiceError> {
        let failure = self.commits().and_then(Commits::failure);
        failure.map_or(Ok(()), |reason| Err(not_stored(&reason)))
    }

    /// The progress of the store, if there is one.
    pub(crate) fn commits(&self) -> Option<&Commits> {
        self.reader().and_then(ChangeReader::commits)
    }

    /// Waits until all changes so far are stored. Returns at once without a store.
    ///
    /// # Errors
    /// `ServiceUnavailable`: they could not be stored yet.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn settled(&self) -> Result<(), ServiceError> {
        let Some(reader) = self.reader() else { return Ok(()) };
        reader.note_clock();
        let Some(commits) = reader.commits() else { return Ok(()) };
        commits.settled().await.map_err(|reason| not_stored(&reason))
    }

    fn reader(&self) -> Option<&dyn ChangeReader> {
        self.shared.reader.as_deref()
    }

    /// A new id for a request.
    pub(crate) fn request_id(&self) -> String {
        self.shared.new_id().to_string()
    }

    /// Ends all long polls with an empty result, and all move tasks. Later long polls do not wait.
    pub(crate) fn shut_down(&self) {
        self.shared.stop.send_replace(true);
    }

    /// Whether [`shut_down`](Self::shut_down) was called.
    pub(crate) fn is_shut_down(&self) -> bool {
        *self.shared.stop.borrow()
    }

    /// Message counts of a queue; `None` if it does not exist.
    pub(crate) fn counts(&self, queue: &QueueArn) -> Option<Counts> {
        let now = self.clock().now();
        self.shared.find_arn(queue)?.look(|queue| queue.counts(now))
    }

    /// The redrive policy of a queue, as `GetQueueAttributes` returns it.
    pub(crate) fn redrive_policy(&self, queue: &QueueArn) -> Option<String> {
        let queue = self.shared.find_arn(queue)?;
        queue.attribute(|attributes| attributes.redrive.as_ref().map(ToString::to_string))
    }

    /// The throughput quotas that are set.
    pub(crate) fn quotas(&self) -> QuotaTable {
        self.shared.throughput.read().clone()
    }

    /// The throughput quotas that apply to a queue, whether it exists or not.
    pub(crate) fn quotas_of(&self, arn: &QueueArn) -> Option<ThroughputQuotas> {
        self.shared.throughput.read().of(arn)
    }

    /// The findings of strict mode; `None` without it.
    pub(crate) fn findings(&self) -> Option<&Findings> {
        self.shared.findings.as_deref()
    }

    /// Changes throughput quotas. When this returns, they apply to all queues.
    pub(crate) fn change_quotas<T>(&self, change: impl FnOnce(&mut QuotaTable) -> T) -> T {
        let result = change(&mut self.shared.throughput.write());
        // Queues that are created meanwhile have the new quotas.
        for queue in self.shared.all_queues() {
            // Read while the queue is locked, so that the latest change is the last one to arrive.
            queue.even_deleted(|state| state.set_quotas(self.quotas_of(queue.arn())));
        }
        result
    }

    /// The queue that a request names by URL or, in the Query protocol, by its path, if the caller has access to it. With
    /// creation on first use, a missing queue is created.
    ///
    /// # Errors
    /// `QueueDoesNotExist`, or as [`check_access`](Self::check_access).
    pub(super) fn queue<O: Operation>(
        &self,
        context: &Context,
        queue_url: &mut Option<String>,
    ) -> Result<Arc<SharedQueue>, ServiceError> {
        let found = address(context, queue_url)
            .and_then(|Address { account, name }| self.found_or_created(context, account, name));
        let found = found.ok_or_else(|| context.no_such_queue())?;
        context.trace.note_queue(found.arn());
        self.check_access(context, O::ACTION, &found)?;
        Ok(found)
    }

    /// Like [`queue`](Self::queue), but never creates a queue, and does not check access.
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

fn not_stored(reason: &str) -> ServiceError {
    let text = format!("The request may not be stored: {reason}");
    ServiceError::new(ErrorCode::ServiceUnavailable, text)
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
