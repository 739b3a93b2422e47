//! Operations of move tasks: start, list, cancel.
//!
//! AWS grants no permission for these actions across accounts: for a caller, the queues and tasks of other accounts and
//! regions do not exist. So all tasks of a caller are in the account and region of the source in a task handle.

use std::sync::Arc;

use sqs_client::operation::cancel_message_move_task::CancelMessageMoveTask;
use sqs_client::operation::list_message_move_tasks::ListMessageMoveTasks;
use sqs_client::operation::start_message_move_task::StartMessageMoveTask;
use sqs_client::types::ListMessageMoveTasksResultEntry;
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::validate::{Validate, error};

use super::accounts::AccountRegion;
use super::mover::Mover;
use super::shared::SharedQueue;
use super::state::Shared;
use super::{Context, Serve, Served, Service};
use crate::service::arn::QueueArn;
use crate::sqs::engine::move_task::TaskHandle;
use crate::sqs::engine::{MoveStatus, MoveTask, NewMoveTask};

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
        MoveStatus::Failed(reason) => Some(reason.as_str().to_owned()),
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
