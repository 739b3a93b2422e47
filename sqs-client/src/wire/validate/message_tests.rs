use super::*;
use crate::types::message::SendMessageInputBuilder;

const STANDARD: QueueRules =
    QueueRules { fifo: false, content_based_deduplication: false, maximum_message_size: 1_024 };
const FIFO: QueueRules = QueueRules { fifo: true, ..STANDARD };

fn send(body: &str) -> SendMessageInputBuilder {
    SendMessageInput::builder().queue_url("q").message_body(body)
}

fn error_of(input: SendMessageInputBuilder) -> (ErrorCode, String) {
    split(input.build().expect("an input").validate())
}

fn error_on(queue: QueueRules, input: SendMessageInputBuilder) -> (ErrorCode, String) {
    split(Draft::from(&input.build().expect("an input")).validate_for(&queue))
}

fn split(result: Result<(), ServiceError>) -> (ErrorCode, String) {
    let error = result.expect_err("an error");
    (error.code, error.message.unwrap_or_default())
}

fn is_good(input: SendMessageInputBuilder) -> bool {
    input.build().is_ok_and(|input| input.validate().is_ok())
}

#[test]
fn empty_and_absent_bodies_are_missing_parameters() {
    let missing =
        (ErrorCode::MissingParameter, "The request must contain the parameter MessageBody.".to_owned());
    assert_eq!(error_of(send("")), missing);
    assert_eq!(error_of(send("x").set_message_body(None)), missing);
    assert!(is_good(send(" ")));
}

#[test]
fn invalid_characters_in_the_body_are_invalid_contents() {
    for bad in ["\0", "a\u{B}", "\u{FFFE}"] {
        assert_eq!(error_of(send(bad)).0, ErrorCode::InvalidMessageContents, "{bad:?}");
    }
}

#[test]
fn message_above_the_maximum_size_is_rejected() {
    assert!(is_good(send(&"x".repeat(MAX_MESSAGE_BYTES))));
    let text = "One or more parameters are invalid. Reason: Message must be shorter than 1048576 bytes.";
    let too_long = (ErrorCode::InvalidParameterValue, text.to_owned());
    assert_eq!(error_of(send(&"x".repeat(MAX_MESSAGE_BYTES + 1))), too_long);
    // The attribute adds name, data type and value: 1 + 6 + 1 bytes.
    let with_attribute =
        |length| send(&"x".repeat(length)).message_attributes("k", MessageAttributeValue::string("v"));
    assert!(is_good(with_attribute(MAX_MESSAGE_BYTES - 8)));
    assert_eq!(error_of(with_attribute(MAX_MESSAGE_BYTES - 7)), too_long);
}

#[test]
fn size_limit_of_the_queue_is_inclusive_and_in_the_message() {
    let input = send(&"x".repeat(1_024)).build().expect("an input");
    assert_eq!(Draft::from(&input).validate_for(&STANDARD), Ok(()));
    let text = "One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.";
    assert_eq!(error_on(STANDARD, send(&"x".repeat(1_025))).1, text);
    let entry = SendMessageBatchRequestEntry::builder().id("a").message_body("x".repeat(1_025)).build();
    let text = "One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes.";
    assert_eq!(split(Draft::from(&entry.expect("an entry")).validate_for(&STANDARD)).1, text);
}

#[test]
fn delay_is_0_to_900_seconds() {
    for (delay, good) in [(-1, false), (0, true), (900, true), (901, false)] {
        assert_eq!(is_good(send("x").delay_seconds(delay)), good, "{delay}");
    }
    let text =
        "Value 901 for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.";
    assert_eq!(error_of(send("x").delay_seconds(901)).1, text);
}

#[test]
fn group_and_deduplication_ids_are_printable_ascii() {
    for bad in ["", "a b", "ü", &"x".repeat(129)] {
        let text = format!(
            "Value {bad} for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include \
             alphanumeric and punctuation characters. 1 to 128 in length."
        );
        assert_eq!(error_of(send("x").message_group_id(bad)), (ErrorCode::InvalidParameterValue, text));
        assert_eq!(error_of(send("x").message_deduplication_id(bad)).0, ErrorCode::InvalidParameterValue);
    }
    assert!(is_good(send("x").message_group_id("~!a").message_deduplication_id("x".repeat(128))));
}

#[test]
fn fifo_queue_requires_group_and_deduplication_id() {
    let missing =
        (ErrorCode::MissingParameter, "The request must contain the parameter MessageGroupId.".to_owned());
    assert_eq!(error_on(FIFO, send("x")), missing);
    let text = "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId \
                provided explicitly";
    let grouped = || send("x").message_group_id("g");
    assert_eq!(error_on(FIFO, grouped()), (ErrorCode::InvalidParameterValue, text.to_owned()));
    let by_content = QueueRules { content_based_deduplication: true, ..FIFO };
    let input = grouped().build().expect("an input");
    assert_eq!(Draft::from(&input).validate_for(&by_content), Ok(()));
}

#[test]
fn parameters_of_the_other_queue_type_are_rejected() {
    let reason = "is invalid. Reason: The request include parameter that is not valid for this queue type.";
    let fifo = || send("x").message_group_id("g").message_deduplication_id("d");
    let error = error_on(FIFO, fifo().delay_seconds(2));
    assert_eq!(
        error,
        (ErrorCode::InvalidParameterValue, format!("Value 2 for parameter DelaySeconds {reason}"))
    );
    let error = error_on(STANDARD, fifo());
    assert_eq!(error.1, format!("Value d for parameter MessageDeduplicationId {reason}"));
    let zero = fifo().delay_seconds(0).build().expect("an input");
    assert_eq!(Draft::from(&zero).validate_for(&FIFO), Ok(()));
    let tenant = send("x").message_group_id("tenant").build().expect("an input");
    assert_eq!(Draft::from(&tenant).validate_for(&STANDARD), Ok(()));
}

/// The text is from a log of AWS.
#[test]
fn batch_entry_for_the_other_queue_type_is_rejected_without_naming_the_parameter() {
    let entry = SendMessageBatchRequestEntry::builder().id("a").message_body("x").delay_seconds(2);
    let entry = entry.message_group_id("g").message_deduplication_id("d").build().expect("an entry");
    let text = "The request include parameter that is not valid for this queue type";
    for queue in [FIFO, STANDARD] {
        let error = split(Draft::from(&entry).parameters_for(&queue));
        assert_eq!(error, (ErrorCode::InvalidParameterValue, text.to_owned()));
    }
}

#[test]
fn delete_and_change_visibility_require_their_parameters() {
    let delete = DeleteMessageInput::builder().queue_url("q").build().expect("an input");
    let text = "The request must contain the parameter ReceiptHandle.";
    assert_eq!(split(delete.validate()), (ErrorCode::MissingParameter, text.to_owned()));
    let change = ChangeMessageVisibilityInput::builder().queue_url("q").receipt_handle("h");
    let text = "The request must contain the parameter VisibilityTimeout.";
    assert_eq!(split(change.clone().build().expect("an input").validate()).1, text);
    let too_long = change.visibility_timeout(43_201).build().expect("an input");
    let text = "Value 43201 for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.";
    assert_eq!(split(too_long.validate()), (ErrorCode::InvalidParameterValue, text.to_owned()));
}
