use super::*;
use crate::types::move_task::StartMessageMoveTaskInputBuilder;
use crate::wire::service_error::ErrorCode;

fn start() -> StartMessageMoveTaskInputBuilder {
    StartMessageMoveTaskInput::builder().source_arn("arn:aws:sqs:eu-west-1:123456789012:dead")
}

fn code(input: StartMessageMoveTaskInputBuilder) -> Option<ErrorCode> {
    input.build().expect("an input").validate().err().map(|error| error.code)
}

#[test]
fn start_move_task_requires_a_queue_arn_as_source() {
    assert_eq!(code(start()), None);
    assert_eq!(code(start().set_source_arn(None)), Some(ErrorCode::MissingParameter));
    for bad in [
        "dead",
        "arn:aws:sns:eu-west-1:1:dead",
        "arn:aws:sqs:eu-west-1:1",
        "arn:aws:sqs:eu-west-1:1:",
        "::::::",
    ] {
        assert_eq!(code(start().source_arn(bad)), Some(ErrorCode::InvalidParameterValue), "{bad}");
        assert_eq!(code(start().destination_arn(bad)), Some(ErrorCode::InvalidParameterValue), "{bad}");
    }
}

#[test]
fn rate_is_1_to_500_messages_per_second() {
    for (rate, good) in [(0, false), (1, true), (500, true), (501, false)] {
        assert_eq!(code(start().max_number_of_messages_per_second(rate)).is_none(), good, "{rate}");
    }
}

#[test]
fn list_allows_1_to_10_results_and_cancel_requires_a_handle() {
    for (count, good) in [(0, false), (1, true), (10, true), (11, false)] {
        let list =
            ListMessageMoveTasksInput::builder().source_arn("arn:aws:sqs:r:1:q").max_results(count).build();
        assert_eq!(list.expect("an input").validate().is_ok(), good, "{count}");
    }
    let cancel = CancelMessageMoveTaskInput::default().validate().expect_err("no handle");
    assert_eq!(cancel.code, ErrorCode::MissingParameter);
}
