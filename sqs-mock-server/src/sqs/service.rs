//! A service: accounts, clock and shutdown of a server.

use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Mutex, RwLock};
use sqs_client::operation::Operation;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};

use crate::control::arn::QueueArn;
use crate::control::clock::Clock;
use crate::control::clock::Timestamp;
use crate::control::commits::Commits;
use crate::control::faults::Faults;
use crate::control::metrics::Gauge;
use crate::control::seed::{Seed, uuid};
use crate::control::text::typos;
use crate::sqs::engine::directory::QueueDirectory;
use crate::sqs::engine::messages::Counts;
use crate::sqs::engine::move_task::MoveTasks;
use crate::sqs::engine::queue::Queue;
use crate::sqs::engine::throughput::{QuotaTable, ThroughputQuotas};
use crate::sqs::engine::{Room, Settings};
use crate::sqs::findings::{DeniedDeliveries, Findings};
use crate::sqs::locked_queue::{Change, ChangeReader, SharedQueue};
use crate::sqs::ops::Context;
use crate::sqs::queue_url::Address;

/// The queues among which a similar name is looked for. A limit that bounds the time.
const MAX_COMPARED: usize = 1_000;

/// All queues of a server. Dropping it ends its background tasks.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) shared: Arc<Shared>,
    pub(crate) start: Start,
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

    pub(crate) fn findings(&self) -> &Findings {
        &self.shared.findings
    }

    /// Whether the server looks for all mistakes of callers.
    pub(crate) fn is_strict(&self) -> bool {
        self.shared.settings.strict
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
    pub(crate) fn queue<O: Operation>(
        &self,
        context: &Context,
        queue_url: &mut Option<String>,
    ) -> Result<Arc<SharedQueue>, ServiceError> {
        let found = address(context, queue_url)
            .and_then(|Address { account, name }| self.found_or_created(context, account, name));
        let found = found.ok_or_else(|| self.not_found(context, queue_url.as_deref()))?;
        context.trace.note_queue(found.arn());
        self.check_access(context, O::ACTION, &found)?;
        Ok(found)
    }

    /// Like [`queue`](Self::queue), but never creates a queue, and does not check access.
    pub(crate) fn existing_queue(
        &self,
        context: &Context,
        queue_url: &mut Option<String>,
    ) -> Result<Arc<SharedQueue>, ServiceError> {
        let found = address(context, queue_url)
            .and_then(|Address { account, name }| self.shared.find(&context.region, account, name));
        let found = found.ok_or_else(|| self.not_found(context, queue_url.as_deref()))?;
        context.trace.note_queue(found.arn());
        Ok(found)
    }

    /// The error for a queue that does not exist, with a note if there is one of its name elsewhere, or of a similar name.
    pub(crate) fn not_found(&self, context: &Context, queue_url: Option<&str>) -> ServiceError {
        let Some(Address { account, name }) = queue_url.map(|url| Address::parse(url, &context.account))
        else {
            return context.no_such_queue();
        };
        let named = |account: &Arc<AccountRegion>| account.directory.read().get(name).map(Arc::clone);
        let elsewhere = self.shared.accounts.all().iter().find_map(named);
        let similar = || self.shared.similar(&context.region, account, name);
        if let Some(other) = elsewhere.or_else(similar) {
            let region = &context.region;
            context.trace.note(format!(
                "there is no queue {name} in region {region} and account {account}; there is {}",
                other.arn()
            ));
        }
        context.no_such_queue()
    }

    /// Deletes all queues, ends their long polls, move tasks and faults, and sets the clock to its start.
    /// Incarnations continue, so earlier receipt handles are not valid for later queues.
    pub(crate) fn reset(&self) {
        let shared = &self.shared;
        shared.faults.delays().end();
        // Before the queues, so that no queue is created by the earlier clock: receives that wake may create their queue on demand.
        shared.clock.restart(self.start.time, self.start.frozen);
        for account in shared.accounts.take_all() {
            account.clear(shared.clock.now());
        }
        shared.faults.clear();
        *shared.throughput.write() = QuotaTable::default();
        self.forget_findings();
        shared.queues_changed.notify_waiters();
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

/// The state of a server.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) seed: Seed,
    pub(crate) settings: Settings,
    pub(crate) accounts: Accounts,
    pub(crate) quota: QueueQuota,
    pub(crate) memory: Arc<Memory>,
    /// The throughput quotas that are set. While this is locked, nothing else may be locked. Each queue has a copy of its
    /// quotas, so that requests do not lock this.
    pub(crate) throughput: RwLock<QuotaTable>,
    /// What works here but is a mistake on AWS; most kinds are looked for in strict mode only.
    pub(crate) findings: Arc<Findings>,
    pub(crate) denied_deliveries: DeniedDeliveries,
    pub(crate) reader: Option<Arc<dyn ChangeReader>>,
    /// Parked receives.
    pub(crate) parked: Gauge,
    ids: Mutex<fastrand::Rng>,
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) faults: Faults,
    /// Wakes waiters for queues whenever a queue is created or deleted.
    pub(crate) queues_changed: Notify,
}

impl Shared {
    pub(crate) fn new(
        clock: Clock,
        seed: Seed,
        settings: Settings,
        reader: Option<Arc<dyn ChangeReader>>,
    ) -> Self {
        Self {
            clock,
            seed,
            settings,
            accounts: Accounts::new(settings, reader.clone()),
            quota: QueueQuota::new(settings.max_queues),
            memory: Arc::new(Memory::new(settings.max_memory)),
            throughput: RwLock::default(),
            findings: Arc::default(),
            denied_deliveries: DeniedDeliveries::default(),
            reader,
            parked: Gauge::default(),
            ids: Mutex::new(seed.generator("request ids")),
            stop: watch::Sender::new(false),
            faults: Faults::new(seed),
            queues_changed: Notify::new(),
        }
    }

    pub(crate) fn account(&self, region: &str, account: &str) -> Option<Arc<AccountRegion>> {
        self.accounts.get(region, account)
    }

    pub(crate) fn account_of(&self, queue: &QueueArn) -> Option<Arc<AccountRegion>> {
        self.account(&queue.region, &queue.account)
    }

    pub(crate) fn find(&self, region: &str, account: &str, name: &str) -> Option<Arc<SharedQueue>> {
        self.account(region, account)?.directory.read().get(name).map(Arc::clone)
    }

    /// The queue in an account and region whose name is a mistyped one, with or without the suffix of FIFO queues.
    pub(crate) fn similar(&self, region: &str, account: &str, name: &str) -> Option<Arc<SharedQueue>> {
        fn bare(name: &str) -> &str {
            name.strip_suffix(".fifo").unwrap_or(name)
        }
        let account = self.account(region, account)?;
        let directory = account.directory.read();
        let compared = directory.all().take(MAX_COMPARED);
        let similar = compared.filter_map(|queue| {
            let known = &*queue.arn().name;
            Some((typos(bare(name), bare(known))?, known, queue))
        });
        similar.min_by_key(|(typos, known, _)| (*typos, *known)).map(|(.., queue)| Arc::clone(queue))
    }

    pub(crate) fn find_arn(&self, arn: &QueueArn) -> Option<Arc<SharedQueue>> {
        self.find(&arn.region, &arn.account, &arn.name)
    }

    /// All queues of all accounts and regions, in no particular order.
    pub(crate) fn all_queues(&self) -> Vec<Arc<SharedQueue>> {
        let mut queues = Vec::new();
        for account in self.accounts.all() {
            queues.extend(account.directory.read().all().map(Arc::clone));
        }
        queues
    }

    /// Shares a queue of this server.
    pub(crate) fn share(&self, mut queue: Queue, quota_share: OwnedSemaphorePermit) -> SharedQueue {
        queue.set_quotas(self.throughput.read().of(queue.arn()));
        let (reader, findings) = (self.reader.clone(), Arc::clone(&self.findings));
        SharedQueue::new(queue, Arc::clone(&self.memory), reader, findings, quota_share)
    }

    /// Makes the ids of this process differ from those of earlier ones with the same seed.
    #[cfg(feature = "durable")]
    pub(crate) fn continue_ids(&self, starts: u64) {
        if starts > 0 {
            *self.ids.lock() = self.seed.generator(&format!("request ids after {starts}"));
        }
    }

    pub(crate) fn new_id(&self) -> crate::control::seed::Uuid {
        uuid(&mut self.ids.lock())
    }

    /// Waits until a time; without one, forever.
    pub(crate) async fn moment(&self, moment: Option<Timestamp>) {
        match moment {
            Some(moment) => self.clock.sleep_until(moment).await,
            None => pending().await,
        }
    }

    /// Waits until the service is shut down.
    pub(crate) async fn stopped(&self) {
        let mut stop = self.stop.subscribe();
        // There is no error: the sender is in `self` and outlives the wait.
        let _ = stop.wait_for(|stop| *stop).await;
    }
}

/// Accounts without queues are swept when there are this many accounts.
const MANY: usize = 1024;

/// More deletions of queues than can happen between two resets.
const RESET: u64 = 1 << 32;

/// One account in one region.
#[derive(Debug)]
pub(crate) struct AccountRegion {
    /// Locked while the redrive policy of a queue and the dead-letter relation of the directory change together, and
    /// while a queue is deleted, so that both always agree. Locked before all other locks.
    pub(crate) redrive: Mutex<()>,
    /// While it is locked, no queue may be locked.
    pub(crate) directory: RwLock<QueueDirectory<SharedQueue>>,
    /// Set with the directory locked, before its queues are deleted for good.
    closed: AtomicBool,
    tasks: Mutex<MoveTasks>,
    reader: Option<Arc<dyn ChangeReader>>,
    /// Wakes movers that wait for their next message when a task is cancelled.
    pub(crate) cancelled: Notify,
}

/// All accounts by region. Locked for lookups only; while it is locked, no queue may be locked.
#[derive(Debug)]
pub(crate) struct Accounts {
    settings: Settings,
    reader: Option<Arc<dyn ChangeReader>>,
    table: RwLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    by_region: HashMap<Box<str>, HashMap<Box<str>, Arc<AccountRegion>>>,
    count: usize,
    sweep_at: usize,
    /// Maximum number of queue deletions among the removed accounts.
    deletions: u64,
}

impl AccountRegion {
    /// Runs `act` on the move tasks, and passes their changes to the reader.
    pub(crate) fn tasks<T>(&self, act: impl FnOnce(&mut MoveTasks) -> T) -> T {
        let mut tasks = self.tasks.lock();
        let result = act(&mut tasks);
        if let Some(reader) = &self.reader {
            tasks.take_changes().into_iter().for_each(|change| reader.read(Change::MoveTask(change)));
        }
        result
    }

    /// Whether the account was cleared: a queue that is created in it is lost. Stable while the directory is locked.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Deletes all queues and move tasks for good. Callers that still hold this account find it empty.
    pub(crate) fn clear(&self, now: Timestamp) {
        self.tasks(MoveTasks::forget_all);
        self.cancelled.notify_waiters();
        let names = {
            let directory = self.directory.write();
            self.closed.store(true, Ordering::Release);
            directory.list("", None, usize::MAX).names
        };
        for name in names {
            let deleted = self.directory.write().delete(now, &name);
            if let Some(queue) = deleted {
                queue.close(now);
            }
        }
    }
}

impl Accounts {
    pub(crate) fn new(settings: Settings, reader: Option<Arc<dyn ChangeReader>>) -> Self {
        let table = Table { sweep_at: MANY, ..Table::default() };
        Self { settings, reader, table: RwLock::new(table) }
    }

    pub(crate) fn get(&self, region: &str, account: &str) -> Option<Arc<AccountRegion>> {
        self.table.read().by_region.get(region)?.get(account).map(Arc::clone)
    }

    /// Finds or adds an account. Callers add one with its first queue.
    pub(crate) fn get_or_new(&self, region: &str, account: &str) -> Arc<AccountRegion> {
        if let Some(account) = self.get(region, account) {
            return account;
        }
        let mut table = self.table.write();
        if table.count >= table.sweep_at {
            table.sweep();
        }
        let Table { by_region, count, deletions, .. } = &mut *table;
        let accounts = by_region.entry(region.into()).or_default();
        let new = || {
            *count += 1;
            Arc::new(AccountRegion {
                redrive: Mutex::default(),
                directory: RwLock::new(QueueDirectory::after(*deletions, self.settings)),
                closed: AtomicBool::new(false),
                tasks: Mutex::new(MoveTasks::new(self.reader.is_some())),
                reader: self.reader.clone(),
                cancelled: Notify::new(),
            })
        };
        Arc::clone(accounts.entry(account.into()).or_insert_with(new))
    }

    /// Removes all accounts. Later queues have other incarnations.
    pub(crate) fn take_all(&self) -> Vec<Arc<AccountRegion>> {
        let mut table = self.table.write();
        table.count = 0;
        table.deletions += RESET;
        // Under the lock: later queues are in new accounts, so their changes follow.
        self.reader.iter().for_each(|reader| reader.read(Change::Reset));
        let by_region = std::mem::take(&mut table.by_region);
        by_region.into_values().flat_map(HashMap::into_values).collect()
    }

    /// Continues after the queues of an earlier process: later queues have other incarnations.
    #[cfg(feature = "durable")]
    pub(crate) fn continue_after(&self, deletions: u64) {
        self.table.write().deletions = deletions;
    }

    /// All accounts, in no particular order.
    pub(crate) fn all(&self) -> Vec<Arc<AccountRegion>> {
        self.table.read().by_region.values().flat_map(HashMap::values).map(Arc::clone).collect()
    }
}

impl Table {
    /// Removes accounts without queues, and their names that are blocked for 60 seconds. Callers choose the account,
    /// and there are 10^12: creating and deleting a queue in each must not exhaust the memory.
    fn sweep(&mut self) {
        let Self { by_region, count, deletions, .. } = self;
        by_region.retain(|_, accounts| {
            accounts.retain(|_, account| {
                // Other holders, such as a request that creates a queue, got the account before the table was locked.
                let directory = account.directory.read();
                let empty = Arc::strong_count(account) == 1 && directory.is_empty();
                if empty {
                    *deletions = directory.deletions().max(*deletions);
                    *count -= 1;
                }
                !empty
            });
            !accounts.is_empty()
        });
        self.sweep_at = MANY.max(2 * self.count);
    }
}

/// The number of queues in all accounts and regions, and its limit.
#[derive(Debug)]
pub(crate) struct QueueQuota {
    limit: usize,
    free: Arc<Semaphore>,
}

impl QueueQuota {
    pub(crate) fn new(limit: usize) -> Self {
        let limit = limit.min(Semaphore::MAX_PERMITS);
        Self { limit, free: Arc::new(Semaphore::new(limit)) }
    }

    /// Number of queues.
    pub(crate) fn used(&self) -> usize {
        self.limit - self.free.available_permits()
    }

    /// Counts one more queue, until the permit is dropped.
    ///
    /// # Errors
    /// `OverLimit`, which SDKs do not retry.
    pub(crate) fn take(&self) -> Result<OwnedSemaphorePermit, ServiceError> {
        Arc::clone(&self.free).try_acquire_owned().map_err(|_| refusal(self.limit))
    }
}

fn refusal(limit: usize) -> ServiceError {
    let text = format!(
        "This server has {limit} queues, its limit. Delete queues, or raise the limit with --max-queues, \
         SQS_MOCK_MAX_QUEUES, limits.max_queues in the config file, or Limits::max_queues."
    );
    ServiceError::new(ErrorCode::OverLimit, text)
}

/// The memory of one server.
#[derive(Debug)]
pub(crate) struct Memory {
    /// The limit in bytes.
    pub(crate) ceiling: usize,
    used: AtomicUsize,
}

impl Memory {
    pub(crate) fn new(ceiling: usize) -> Self {
        Self { ceiling, used: AtomicUsize::new(0) }
    }

    /// Bytes used by all queues.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// The memory of one queue or topic, returned on drop.
#[derive(Debug)]
pub(crate) struct Share {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Share {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self { memory, bytes: 0 }
    }

    /// The bytes that it has.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The room of this queue.
    pub(crate) fn room(&self) -> Room {
        let elsewhere = self.memory.used().saturating_sub(self.bytes);
        Room { ceiling: self.memory.ceiling, elsewhere }
    }

    /// Sets the bytes used by this queue.
    pub(crate) fn set(&mut self, bytes: usize) {
        let used = &self.memory.used;
        match bytes.checked_sub(self.bytes) {
            Some(0) => {}
            Some(more) => drop(used.fetch_add(more, Ordering::Relaxed)),
            None => drop(used.fetch_sub(self.bytes - bytes, Ordering::Relaxed)),
        }
        self.bytes = bytes;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod accounts_tests {
    use super::*;

    fn accounts() -> Accounts {
        Accounts::new(Settings::default(), None)
    }

    #[test]
    fn number_of_accounts_without_queues_is_bounded() {
        let accounts = accounts();
        for account in 0..10 * MANY {
            accounts.get_or_new("us-east-1", &account.to_string());
        }
        assert!(accounts.all().len() <= MANY, "{}", accounts.all().len());
    }

    #[test]
    fn account_in_use_is_not_removed() {
        let accounts = accounts();
        let held = accounts.get_or_new("us-east-1", "held");
        for account in 0..2 * MANY {
            accounts.get_or_new("us-east-1", &account.to_string());
        }
        assert!(accounts.get("us-east-1", "held").is_some_and(|account| Arc::ptr_eq(&account, &held)));
        assert!(accounts.get("us-east-1", "0").is_none());
    }

    #[test]
    fn number_of_accounts_is_exact_after_sweeps() {
        let accounts = accounts();
        for account in 0..3 * MANY {
            accounts.get_or_new(&format!("region-{}", account % 7), &account.to_string());
        }
        assert_eq!(accounts.table.read().count, accounts.all().len());
    }
}

#[cfg(test)]
mod limits_tests {
    use super::*;
    use crate::control::delivery::MemoryShare;

    #[test]
    fn queue_over_the_limit_is_rejected_until_another_is_deleted() {
        let quota = QueueQuota::new(2);
        let (first, _second) = (quota.take().unwrap(), quota.take().unwrap());
        assert_eq!(quota.take().unwrap_err().code, ErrorCode::OverLimit);
        assert_eq!(quota.used(), 2, "a rejected queue is not counted");
        drop(first);
        assert!(quota.take().is_ok());
    }

    #[test]
    fn room_of_a_queue_counts_other_queues_only() {
        let memory = Arc::new(Memory::new(100));
        let (mut one, mut other) = (Share::new(memory.clone()), Share::new(memory.clone()));
        one.set(30);
        other.set(50);
        one.set(20);
        assert_eq!((one.room().elsewhere, other.room().elsewhere, memory.used()), (50, 20, 70));
        drop(other);
        assert_eq!((one.room().elsewhere, memory.used()), (0, 20));
    }

    #[test]
    fn share_over_the_limit_may_stay_as_it_is() {
        let memory = Arc::new(Memory::new(100));
        let (mut one, mut other) = (Share::new(memory.clone()), Share::new(memory));
        one.set(20);
        other.set(50);
        let fits = |bytes| MemoryShare::fits(&one, bytes);
        assert_eq!([20, 50, 51].map(fits), [true, true, false]);
        other.set(90);
        assert_eq!([19, 20, 21].map(fits), [true, true, false]);
    }
}
