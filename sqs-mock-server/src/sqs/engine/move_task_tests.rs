use std::time::Duration;

use super::*;
use crate::control::seed::{Seed, uuid};

const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn after(millis: u64) -> Timestamp {
    START + Duration::from_millis(millis)
}

fn source(name: &str) -> Arc<QueueArn> {
    Arc::new(QueueArn::new("us-east-1", "000000000000", name))
}

fn order(name: &str, rate: Option<u32>, to_move: u64) -> NewMoveTask {
    NewMoveTask { source: source(name), destination: None, rate, to_move }
}

fn id(number: u64) -> Uuid {
    uuid(&mut Seed(number).generator("tasks"))
}

fn started(rate: Option<u32>, to_move: u64) -> (MoveTasks, Arc<QueueArn>, Uuid) {
    let mut tasks = MoveTasks::default();
    tasks.start(START, id(0), order("dead", rate, to_move)).unwrap();
    (tasks, source("dead"), id(0))
}

fn status(tasks: &MoveTasks) -> MoveStatus {
    tasks.list(&source("dead")).next().unwrap().status.clone()
}

#[test]
fn task_without_rate_moves_up_to_100_messages_a_step() {
    let (mut tasks, dead, id) = started(None, 150);
    assert_eq!(tasks.step(START, &dead, id), MoveStep::Move(100));
    tasks.moved(&dead, id, 100);
    assert_eq!(tasks.step(START, &dead, id), MoveStep::Move(50));
    tasks.moved(&dead, id, 50);
    assert_eq!(tasks.step(START, &dead, id), MoveStep::Ended);
    assert_eq!(status(&tasks), MoveStatus::Completed);
}

#[test]
fn rate_is_messages_a_second() {
    let (mut tasks, dead, id) = started(Some(4), 100);
    assert_eq!(tasks.step(START, &dead, id), MoveStep::Move(1));
    tasks.moved(&dead, id, 1);
    assert_eq!(tasks.step(START, &dead, id), MoveStep::WaitUntil(after(250)));
    assert_eq!(tasks.step(after(249), &dead, id), MoveStep::WaitUntil(after(250)));
    assert_eq!(tasks.step(after(250), &dead, id), MoveStep::Move(1));
    tasks.moved(&dead, id, 1);
    assert_eq!(tasks.step(after(2000), &dead, id), MoveStep::Move(7));
}

#[test]
fn second_task_of_a_source_is_rejected_while_the_first_is_active() {
    let (mut tasks, dead, first) = started(None, 1);
    let error = tasks.start(START, id(1), order("dead", None, 1)).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidParameterValue);
    tasks.start(START, id(2), order("other", None, 1)).unwrap();
    tasks.end(&dead, first, MoveStatus::Completed);
    tasks.start(START, id(1), order("dead", None, 1)).unwrap();
    let listed: Vec<_> = tasks.list(&dead).map(|task| task.id).collect();
    assert_eq!(listed, [id(1), first], "newest first");
}

#[test]
fn cancelled_task_stops_at_its_next_step() {
    let (mut tasks, dead, task) = started(None, 500);
    tasks.moved(&dead, task, 2);
    let handle = TaskHandle::read(&tasks.list(&dead).next().unwrap().handle()).unwrap();
    assert_eq!(handle.source_arn, dead.to_string());
    assert_eq!(tasks.cancel(&dead, &handle).unwrap(), 2);
    assert_eq!(status(&tasks), MoveStatus::Cancelling);
    tasks.moved(&dead, task, 1);
    assert_eq!(tasks.step(START, &dead, task), MoveStep::Ended);
    assert_eq!(status(&tasks), MoveStatus::Cancelled);
    let error = tasks.cancel(&dead, &handle).unwrap_err();
    assert_eq!(error.message.as_deref(), Some("Only active tasks can be cancelled."));
    assert!(tasks.start(START, id(9), order("dead", None, 1)).is_ok());
}

#[test]
fn handle_is_base64_of_json() {
    let (tasks, dead, id) = started(None, 1);
    let handle = tasks.list(&dead).next().unwrap().handle();
    let json = base64_simd::STANDARD.decode_to_vec(handle).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json, serde_json::json!({ "taskId": id.to_string(), "sourceArn": dead.to_string() }));
}

#[test]
fn invalid_handle_and_handle_of_unknown_task_fail_differently() {
    let (mut tasks, dead, _) = started(None, 1);
    let error = TaskHandle::read("garbage").unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidParameterValue);
    assert_eq!(error.message.as_deref(), Some("Value for parameter TaskHandle is invalid."));
    let error = tasks
        .cancel(&dead, &TaskHandle { task_id: id(5).to_string(), source_arn: dead.to_string() })
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceNotFoundException);
    assert_eq!(error.message.as_deref(), Some("Task does not exist."));
}

#[test]
fn failed_task_has_status_and_reason() {
    let (mut tasks, dead, id) = started(None, 1);
    tasks.end(&dead, id, MoveStatus::Failed(FailureReason::NonExistentQueue));
    assert_eq!(tasks.step(START, &dead, id), MoveStep::Ended);
    assert_eq!(status(&tasks).as_str(), "FAILED");
    assert_eq!(FailureReason::NonExistentQueue.into_str(), "AWS.SimpleQueueService.NonExistentQueue");
}

#[test]
fn task_fails_after_thirty_six_hours() {
    let (mut tasks, dead, id) = started(Some(1), 1_000_000);
    assert_eq!(tasks.step(START + Duration::from_hours(36), &dead, id), MoveStep::Ended);
    assert_eq!(status(&tasks), MoveStatus::Failed(FailureReason::TooLong));
}

#[test]
fn at_most_hundred_tasks_are_active() {
    let mut tasks = MoveTasks::default();
    for number in 0..100 {
        tasks.start(START, id(number), order(&number.to_string(), None, 1)).unwrap();
    }
    let error = tasks.start(START, id(100), order("100", None, 1)).unwrap_err();
    assert_eq!(error.code, ErrorCode::OverLimit);
    assert!(!tasks.by_source.contains_key(&source("100")), "a refused task leaves nothing");
    tasks.end(&source("7"), id(7), MoveStatus::Completed);
    assert!(tasks.start(START, id(100), order("100", None, 1)).is_ok());
}

#[test]
fn ten_ended_tasks_of_a_source_are_remembered() {
    let mut tasks = MoveTasks::default();
    for number in 0..15 {
        tasks.start(START, id(number), order("dead", None, 0)).unwrap();
        assert_eq!(tasks.step(START, &source("dead"), id(number)), MoveStep::Ended);
    }
    assert_eq!(tasks.list(&source("dead")).count(), 10);
    assert_eq!(tasks.list(&source("dead")).next().unwrap().id, id(14));
}
