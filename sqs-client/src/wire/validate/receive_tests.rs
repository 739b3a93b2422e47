use super::*;
use crate::types::message::ReceiveMessageInputBuilder;
use crate::wire::service_error::ErrorCode;

fn receive() -> ReceiveMessageInputBuilder {
    ReceiveMessageInput::builder().queue_url("q")
}

fn error_of(input: ReceiveMessageInputBuilder) -> String {
    let error = input.build().expect("an input").validate().expect_err("an error");
    assert_eq!(error.code, ErrorCode::InvalidParameterValue);
    error.message.unwrap_or_default()
}

#[test]
fn parameters_out_of_range_are_rejected_with_the_messages_of_sqs() {
    let table = [
        (
            receive().max_number_of_messages(11),
            "Value 11 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.",
        ),
        (
            receive().max_number_of_messages(0),
            "Value 0 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.",
        ),
        (
            receive().wait_time_seconds(21),
            "Value 21 for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.",
        ),
        (
            receive().visibility_timeout(-1),
            "Value -1 for parameter VisibilityTimeout is invalid. Reason: Must be >= 0 and <= 43200, if provided.",
        ),
    ];
    for (input, text) in table {
        assert_eq!(error_of(input), text);
    }
}

#[test]
fn limits_are_inclusive() {
    for input in [
        receive(),
        receive().max_number_of_messages(1).wait_time_seconds(0).visibility_timeout(0),
        receive().max_number_of_messages(10).wait_time_seconds(20).visibility_timeout(43_200),
        receive().message_attribute_names("*").message_attribute_names("not a legal name!"),
    ] {
        assert!(input.build().is_ok_and(|input| input.validate().is_ok()));
    }
}

#[test]
fn attempt_id_is_a_token() {
    assert!(
        error_of(receive().receive_request_attempt_id("a b"))
            .contains("ReceiveRequestAttemptId can only include")
    );
    let input = receive().receive_request_attempt_id("attempt-1").build().expect("an input");
    assert_eq!(input.validate(), Ok(()));
}
