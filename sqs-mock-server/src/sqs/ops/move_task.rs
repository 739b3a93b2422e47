//! Operations of move tasks: start, list, cancel.
//!
//! AWS grants no permission for these actions across accounts: for a caller, the queues and tasks of other accounts and
//! regions do not exist. So all tasks of a caller are in the account and region of the source in a task handle.
//!
//! The background task that moves the messages of one move task.
//!
//! ```text
//! StartMessageMoveTask --spawns--> Mover: step? --Move(n)--> source -> (a message as a value) -> destination, n times
//!                                           |--WaitUntil--> clock | cancelled | shutdown
//!                                           |--Ended------> return
//! ```
//! It holds at most one lock at a time, and ends with the service.

use sqs_client::wire::validate::Validate as _;
use std::sync::Arc;

use sqs_client::operation::cancel_message_move_task::CancelMessageMoveTask;
use sqs_client::operation::list_message_move_tasks::ListMessageMoveTasks;
use sqs_client::operation::start_message_move_task::StartMessageMoveTask;
use sqs_client::types::ListMessageMoveTasksResultEntry;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::error;

use crate::control::arn::QueueArn;
use crate::control::clock::Timestamp;
use crate::sqs::engine::move_task::{FailureReason, MoveStatus, MoveStep, MoveTask, NewMoveTask, TaskHandle};
use crate::sqs::locked_queue::SharedQueue;
use crate::sqs::ops::{Context, Serve, Served};
use crate::sqs::service::{AccountRegion, Service, Shared};

impl Serve for StartMessageMoveTask {
    async fn serve(service: &Service, context: &Context, input: Self::Input) -> Served<Self> {
        input.validate()?;
        let shared = &service.shared;
        let queue = find(shared, context, "SourceArn", input.source_arn().unwrap_or_default())?;
        let source = queue.arn();
        let account = shared.account_of(source).ok_or_else(|| context.no_such_queue())?;
        if !account.directory.read().is_dead_letter_queue(&source.name) {
            return Err(error::invalid_parameter("Source queue must be configured as a Dead Letter Queue."));
        }
        let destination =
            input.destination_arn().map(|arn| find(shared, context, "DestinationArn", arn)).transpose()?;
        if let Some(destination) = &destination {
            check_destination(source, destination.arn())?;
        }
        let now = shared.clock.now();
        let order = NewMoveTask {
            destination: destination.map(|queue| Arc::clone(queue.arn())),
            rate: input.max_number_of_messages_per_second.and_then(|rate| u32::try_from(rate).ok()),
            to_move: queue.with(context, |queue| queue.counts(now).available)?.try_into().unwrap_or(u64::MAX),
            source: Arc::clone(source),
        };
        let task = account.tasks(|tasks| tasks.start(now, shared.new_id(), order).cloned())?;
        let handle = task.handle();
        Mover { shared: Arc::clone(shared), account, source: queue, task }.spawn();
        Ok(Self::Output::builder().task_handle(handle).build())
    }

    fn queue(input: &Self::Input) -> Option<&str> {
        input.source_arn()
    }
}

/// The texts of AWS are not recorded; these are ours.
fn check_destination(source: &QueueArn, destination: &QueueArn) -> Result<(), ServiceError> {
    if source == destination {
        return Err(error::invalid_parameter("Source queue and destination queue must not be the same."));
    }
    if source.is_fifo() != destination.is_fifo() {
        return Err(error::invalid_parameter("Destination queue must be same type of queue as the source."));
    }
    Ok(())
}

impl Serve for ListMessageMoveTasks {
    async fn serve(service: &Service, context: &Context, input: Self::Input) -> Served<Self> {
        input.validate()?;
        let source = find(&service.shared, context, "SourceArn", input.source_arn().unwrap_or_default())?;
        let most = usize::try_from(input.max_results.unwrap_or(1)).unwrap_or(1);
        let results = Some(service.move_tasks(source.arn(), most)).filter(|results| !results.is_empty());
        Ok(Self::Output::builder().set_results(results).build())
    }

    fn queue(input: &Self::Input) -> Option<&str> {
        input.source_arn()
    }
}

impl Service {
    /// The latest move tasks of a queue, at most so many.
    pub(crate) fn move_tasks(&self, source: &QueueArn, most: usize) -> Vec<ListMessageMoveTasksResultEntry> {
        let account = self.shared.account_of(source);
        let list = |account: Arc<AccountRegion>| {
            account.tasks(|tasks| tasks.list(source).take(most).map(entry).collect())
        };
        account.map(list).unwrap_or_default()
    }
}

impl Serve for CancelMessageMoveTask {
    async fn serve(service: &Service, context: &Context, input: Self::Input) -> Served<Self> {
        input.validate()?;
        let shared = &service.shared;
        let handle = TaskHandle::read(input.task_handle().unwrap_or_default())?;
        let source = find(shared, context, "SourceArn", &handle.source_arn)?;
        let account = shared.account_of(source.arn()).ok_or_else(|| context.no_such_queue())?;
        let moved = account.tasks(|tasks| tasks.cancel(source.arn(), &handle))?;
        account.cancelled.notify_waiters();
        let moved = i64::try_from(moved).unwrap_or(i64::MAX);
        Ok(Self::Output::builder().approximate_number_of_messages_moved(moved).build())
    }
}

fn find(
    shared: &Shared,
    context: &Context,
    parameter: &str,
    arn: &str,
) -> Result<Arc<SharedQueue>, ServiceError> {
    let arn = arn.parse().ok();
    let own = arn.filter(|arn: &QueueArn| *arn.region == *context.region && *arn.account == *context.account);
    let found = own.and_then(|arn| shared.find_arn(&arn)).ok_or_else(|| {
        let message = format!("The resource that you specified for the {parameter} parameter doesn't exist.");
        ServiceError::new(ErrorCode::ResourceNotFoundException, message)
    })?;
    context.trace.note_queue(found.arn());
    Ok(found)
}

fn entry(task: &MoveTask) -> ListMessageMoveTasksResultEntry {
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let failure = match &task.status {
        MoveStatus::Failed(reason) => Some(reason.into_str().to_owned()),
        _ => None,
    };
    ListMessageMoveTasksResultEntry::builder()
        .set_task_handle((task.status == MoveStatus::Running).then(|| task.handle()))
        .status(task.status.as_str())
        .source_arn(task.order.source.to_string())
        .set_destination_arn(task.order.destination.as_ref().map(ToString::to_string))
        .set_max_number_of_messages_per_second(task.order.rate.and_then(|rate| i32::try_from(rate).ok()))
        .approximate_number_of_messages_moved(number(task.moved))
        .approximate_number_of_messages_to_move(number(task.order.to_move))
        .set_failure_reason(failure)
        .started_timestamp(number(task.started.as_millis()))
        .build()
}

/// A mover in a task of tokio.
struct UnderWay {
    mover: Mover,
    is_over: bool,
}

impl UnderWay {
    fn finish(&mut self) {
        self.is_over = true;
    }
}

impl Drop for UnderWay {
    /// If an embedded server outlives the runtime of the caller that started the move, nothing would move on.
    fn drop(&mut self) {
        if !self.is_over {
            self.mover.end(MoveStatus::Failed(FailureReason::Aborted));
        }
    }
}

pub(crate) struct Mover {
    pub(crate) shared: Arc<Shared>,
    pub(crate) account: Arc<AccountRegion>,
    pub(crate) source: Arc<SharedQueue>,
    pub(crate) task: MoveTask,
}

impl Mover {
    pub(crate) fn spawn(self) {
        let mut under_way = UnderWay { mover: self, is_over: false };
        tokio::spawn(async move {
            let mover = &under_way.mover;
            tokio::select! {
                biased;
                () = mover.shared.stopped() => {}
                () = mover.run() => {}
            }
            under_way.finish();
        });
    }

    async fn run(&self) {
        loop {
            // Enabled before the step, so that a concurrent cancel is not missed.
            let mut cancelled = std::pin::pin!(self.account.cancelled.notified());
            cancelled.as_mut().enable();
            let now = self.shared.clock.now();
            let step = self.account.tasks(|tasks| tasks.step(now, &self.task.order.source, self.task.id));
            match step {
                MoveStep::Move(messages) => {
                    self.move_messages(now, messages);
                    tokio::task::yield_now().await;
                }
                MoveStep::WaitUntil(moment) => tokio::select! {
                    biased;
                    () = self.shared.clock.sleep_until(moment) => {}
                    () = cancelled => {}
                },
                MoveStep::Ended => return,
            }
        }
    }

    fn end(&self, status: MoveStatus) {
        self.account.tasks(|tasks| tasks.end(&self.task.order.source, self.task.id, status));
    }

    fn move_messages(&self, now: Timestamp, at_most: u64) {
        let (mut moved, mut end) = (0, None);
        while moved < at_most && end.is_none() {
            match self.move_one(now) {
                Ok(()) => moved += 1,
                Err(status) => end = Some(status),
            }
        }
        let (source, id) = (&self.task.order.source, self.task.id);
        self.account.tasks(|tasks| tasks.moved(source, id, moved));
        if let Some(status) = end {
            self.end(status);
        }
    }

    /// Moves a message, or returns the final status of the task.
    fn move_one(&self, now: Timestamp) -> Result<(), MoveStatus> {
        let gone = || MoveStatus::Failed(FailureReason::NonExistentQueue);
        let destination = self.task.order.destination.as_ref();
        let taken = self.source.unless_deleted(|queue| queue.take_for_move(now, destination));
        let moving = taken.ok_or_else(gone)??;
        let refused = match self.shared.find_arn(moving.destination()) {
            Some(destination) => {
                destination.even_deleted(|queue| queue.accept_moving(now, moving, self.task.id)).err()
            }
            None => Some(moving),
        };
        let Some(moving) = refused else { return Ok(()) };
        self.source.even_deleted(|queue| queue.take_back(now, moving));
        Err(gone())
    }
}
