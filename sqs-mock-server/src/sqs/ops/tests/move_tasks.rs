//! Move tasks with a virtual clock.

use sqs_client::operation::cancel_message_move_task::CancelMessageMoveTaskInput;
use sqs_client::operation::delete_queue::DeleteQueueInput;
use sqs_client::operation::get_queue_url::GetQueueUrlInput;
use sqs_client::operation::list_message_move_tasks::ListMessageMoveTasksInput;
use sqs_client::operation::start_message_move_task::StartMessageMoveTaskInput;
use sqs_client::operation::start_message_move_task::builders::StartMessageMoveTaskInputBuilder;
use sqs_client::types::ListMessageMoveTasksResultEntry;

use super::*;
use crate::sqs::ops::Trace;

/// A dead-letter queue with `count` letters. Returns the URLs of source and dead-letter queue.
async fn dead_letters(rig: &Rig, count: usize) -> (String, String) {
    let dead = rig.queue("dead", &[]).await;
    let source = rig.queue("source", &[("RedrivePolicy", &redrive_to("dead", 1))]).await;
    for n in 0..count {
        rig.send(&source, &n.to_string()).await;
        rig.call(receive(&source).visibility_timeout(0)).await.unwrap();
        rig.call(receive(&source).visibility_timeout(0)).await.unwrap();
    }
    assert_eq!(available(rig, "dead"), count);
    (source, dead)
}

fn available(rig: &Rig, name: &str) -> usize {
    rig.service.counts(&arn(name).parse().unwrap()).unwrap().available
}

fn start() -> StartMessageMoveTaskInputBuilder {
    StartMessageMoveTaskInput::builder().source_arn(arn("dead"))
}

async fn tasks(rig: &Rig, max_results: Option<i32>) -> Vec<ListMessageMoveTasksResultEntry> {
    let input = ListMessageMoveTasksInput::builder().source_arn(arn("dead")).set_max_results(max_results);
    rig.call(input).await.unwrap().results.unwrap_or_default()
}

async fn status(rig: &Rig) -> (String, i64) {
    let task = tasks(rig, None).await.remove(0);
    (task.status.unwrap(), task.approximate_number_of_messages_moved)
}

#[test]
fn task_whose_runtime_has_ended_has_failed() {
    let runtime =
        || tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let rig = rig();
    let first = runtime();
    first.block_on(async {
        dead_letters(&rig, 2).await;
        rig.call(start().max_number_of_messages_per_second(1)).await.unwrap();
        let_others_run().await;
    });
    drop(first);
    runtime().block_on(async {
        assert_eq!(status(&rig).await, ("FAILED".to_owned(), 1));
        let task = tasks(&rig, None).await.remove(0);
        assert_eq!(task.failure_reason(), Some("TaskAborted"));
        rig.call(start()).await.unwrap();
        let_others_run().await;
        assert_eq!(status(&rig).await, ("COMPLETED".to_owned(), 1));
    });
}

#[tokio::test(start_paused = true)]
async fn dead_letters_move_back_to_their_source() {
    let rig = rig();
    let (source, _) = dead_letters(&rig, 3).await;
    let parked = rig.park(long_poll(&source, 20)).await;
    rig.call(start()).await.unwrap();
    assert_eq!(parked.bodies().await, ["0"]);
    let_others_run().await;
    assert_eq!((available(&rig, "dead"), available(&rig, "source")), (0, 2));
    let task = tasks(&rig, None).await.remove(0);
    assert_eq!((task.status(), task.task_handle(), task.destination_arn()), (Some("COMPLETED"), None, None));
    assert_eq!(
        (task.approximate_number_of_messages_moved, task.approximate_number_of_messages_to_move),
        (3, Some(3))
    );
    assert_eq!(task.started_timestamp, i64::try_from(START.as_millis()).unwrap());
}

#[tokio::test]
async fn messages_without_source_queue_move_only_to_an_explicit_destination() {
    let rig = rig();
    let (_, dead) = dead_letters(&rig, 1).await;
    rig.send(&dead, "sent here").await;
    let other = rig.queue("other", &[]).await;
    rig.call(start().destination_arn(arn("other"))).await.unwrap();
    let_others_run().await;
    assert_eq!(rig.bodies(&other).await, ["0", "sent here"]);
    // Without a destination, the task fails: the message has no source queue.
    rig.send(&dead, "sent here").await;
    rig.call(start()).await.unwrap();
    let_others_run().await;
    assert_eq!(status(&rig).await, ("FAILED".to_owned(), 0));
    assert_eq!(available(&rig, "dead"), 1);
}

#[tokio::test]
async fn rate_limit_follows_the_clock_until_the_task_is_cancelled() {
    let rig = rig();
    rig.service.clock().freeze();
    dead_letters(&rig, 6).await;
    let handle = rig.call(start().max_number_of_messages_per_second(1)).await.unwrap().task_handle.unwrap();
    let_others_run().await;
    assert_eq!(status(&rig).await, ("RUNNING".to_owned(), 1));
    assert_eq!(tasks(&rig, None).await[0].task_handle(), Some(&*handle));
    rig.pass(2).await;
    assert_eq!(status(&rig).await, ("RUNNING".to_owned(), 3));
    let second = rig.refusal(start()).await;
    assert_eq!(second.0, ErrorCode::InvalidParameterValue);
    assert!(second.1.starts_with("There is already a task running."), "{}", second.1);
    let cancel = CancelMessageMoveTaskInput::builder().task_handle(&handle);
    assert_eq!(rig.call(cancel.clone()).await.unwrap().approximate_number_of_messages_moved, 3);
    let_others_run().await;
    assert_eq!(status(&rig).await, ("CANCELLED".to_owned(), 3));
    rig.pass(60).await;
    assert_eq!(available(&rig, "dead"), 3);
    assert_eq!(rig.refusal(cancel).await.1, "Only active tasks can be cancelled.");
}

#[tokio::test]
async fn deleted_destination_fails_the_task_without_losing_messages() {
    let rig = rig();
    rig.service.clock().freeze();
    dead_letters(&rig, 3).await;
    let other = rig.queue("other", &[]).await;
    rig.call(start().destination_arn(arn("other")).max_number_of_messages_per_second(1)).await.unwrap();
    let_others_run().await;
    rig.call(DeleteQueueInput::builder().queue_url(&other)).await.unwrap();
    rig.pass(1).await;
    let task = tasks(&rig, None).await.remove(0);
    assert_eq!(task.status(), Some("FAILED"));
    assert_eq!(task.failure_reason(), Some("AWS.SimpleQueueService.NonExistentQueue"));
    assert_eq!(available(&rig, "dead"), 2);
}

#[tokio::test]
async fn list_returns_the_newest_task_or_up_to_max_results() {
    let rig = rig();
    dead_letters(&rig, 0).await;
    assert!(tasks(&rig, None).await.is_empty());
    for _ in 0..3 {
        rig.call(start()).await.unwrap();
        rig.pass(1).await;
    }
    assert_eq!(tasks(&rig, None).await.len(), 1);
    let started: Vec<_> = tasks(&rig, Some(10)).await.iter().map(|task| task.started_timestamp).collect();
    assert!(started.len() == 3 && started.is_sorted_by(|a, b| a > b), "{started:?}");
}

#[tokio::test]
async fn invalid_source_destination_or_handle_is_rejected() {
    let rig = rig();
    dead_letters(&rig, 0).await;
    let not_dead = rig.refusal(start().source_arn(arn("source"))).await;
    assert_eq!(not_dead.1, "Source queue must be configured as a Dead Letter Queue.");
    let missing = rig.refusal(start().source_arn(arn("missing"))).await;
    let text = "The resource that you specified for the SourceArn parameter doesn't exist.";
    assert_eq!(missing, (ErrorCode::ResourceNotFoundException, text.to_owned()));
    let nowhere = rig.refusal(start().destination_arn(arn("missing"))).await;
    assert_eq!(nowhere.0, ErrorCode::ResourceNotFoundException);
    let cancel = |handle: &str| CancelMessageMoveTaskInput::builder().task_handle(handle);
    let garbage = rig.refusal(cancel("garbage")).await;
    assert_eq!(garbage.1, "Value for parameter TaskHandle is invalid.");
    let handle = format!(r#"{{"taskId":"0","sourceArn":"{}"}}"#, arn("dead"));
    let unknown = rig.refusal(cancel(&base64_simd::STANDARD.encode_to_string(handle))).await;
    assert_eq!(unknown, (ErrorCode::ResourceNotFoundException, "Task does not exist.".to_owned()));
}

#[tokio::test]
async fn shutdown_ends_move_tasks() {
    let rig = rig();
    rig.service.clock().freeze();
    dead_letters(&rig, 2).await;
    rig.call(start().max_number_of_messages_per_second(1)).await.unwrap();
    let_others_run().await;
    rig.service.shut_down();
    let_others_run().await;
    rig.pass(60).await;
    assert_eq!(available(&rig, "dead"), 1);
    // Only the service itself still holds its state.
    assert_eq!(Arc::strong_count(&rig.service.shared), 1);
}

#[tokio::test]
async fn destination_of_other_type_or_same_as_source_is_rejected() {
    let rig = rig();
    dead_letters(&rig, 1).await;
    rig.fifo_queue("other.fifo").await;
    // AWS rejects these too; its texts are not recorded.
    for destination in ["other.fifo", "dead"] {
        let refused = rig.refusal(start().destination_arn(arn(destination))).await;
        assert_eq!(refused.0, ErrorCode::InvalidParameterValue, "{destination}");
    }
    let_others_run().await;
    assert_eq!((available(&rig, "dead"), available(&rig, "other.fifo")), (1, 0));
    assert!(tasks(&rig, None).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn request_that_names_its_queue_without_a_url_notes_it_for_the_log() {
    /// A call of the same service whose context has noted nothing yet.
    async fn noted<B>(rig: &Rig, input: B) -> Option<String>
    where
        B: InputBuilder,
        <B::Input as Input>::Operation: Serve,
    {
        let context = Context { trace: Trace::default(), ..rig.context.clone() };
        let rig = Rig { context, ..rig.clone() };
        rig.call(input).await.unwrap();
        rig.context.trace.queue().map(|queue| queue.name.to_string())
    }
    let rig = rig();
    dead_letters(&rig, 3).await;
    assert_eq!(noted(&rig, GetQueueUrlInput::builder().queue_name("dead")).await.as_deref(), Some("dead"));
    let slow = start().max_number_of_messages_per_second(1);
    assert_eq!(noted(&rig, slow).await.as_deref(), Some("dead"));
    let list = ListMessageMoveTasksInput::builder().source_arn(arn("dead"));
    assert_eq!(noted(&rig, list).await.as_deref(), Some("dead"));
    let handle = tasks(&rig, None).await.remove(0).task_handle.unwrap();
    let cancel = CancelMessageMoveTaskInput::builder().task_handle(handle);
    assert_eq!(noted(&rig, cancel).await.as_deref(), Some("dead"));
}
