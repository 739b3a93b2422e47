use super::*;
use crate::types::queue::CreateQueueInputBuilder;
use crate::wire::service_error::ErrorCode;

fn code(result: Result<(), ServiceError>) -> ErrorCode {
    result.expect_err("an error").code
}

fn create(name: &str) -> CreateQueueInputBuilder {
    CreateQueueInput::builder().queue_name(name)
}

#[test]
fn queue_name_has_up_to_80_characters_including_the_suffix() {
    for good in ["a", "A-b_9", &"x".repeat(80), "orders.fifo", &format!("{}.fifo", "x".repeat(75))] {
        assert_eq!(name(good), Ok(()), "{good}");
    }
    let bad =
        ["", ".fifo", "a.b", "a b", "ü", "a.fifo.fifo", &"x".repeat(81), &format!("{}.fifo", "x".repeat(76))];
    for bad in bad {
        let error = name(bad).expect_err(bad);
        assert_eq!(error.code, ErrorCode::InvalidParameterValue, "{bad}");
        let text = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length";
        assert_eq!(error.message.as_deref(), Some(text));
    }
}

#[test]
fn missing_queue_url_means_that_the_queue_does_not_exist() {
    let inputs: [&dyn Validate; 5] = [
        &DeleteQueueInput::default(),
        &PurgeQueueInput::default(),
        &GetQueueAttributesInput::default(),
        &SetQueueAttributesInput::default(),
        &ListDeadLetterSourceQueuesInput::default(),
    ];
    for input in inputs {
        let error = input.validate().expect_err("an error");
        assert_eq!(error.code, ErrorCode::QueueDoesNotExist);
        assert_eq!(error.message.as_deref(), Some("The specified queue does not exist."));
    }
}

#[test]
fn create_queue_and_get_queue_url_require_a_name() {
    assert_eq!(code(CreateQueueInput::default().validate()), ErrorCode::InvalidParameterValue);
    assert_eq!(code(GetQueueUrlInput::default().validate()), ErrorCode::InvalidParameterValue);
    assert!(create("orders").build().is_ok_and(|input| input.validate().is_ok()));
}

#[test]
fn error_names_the_unknown_attribute() {
    let input = create("orders").attributes("Colour".into(), "red").build().expect("an input");
    let error = input.validate().expect_err("an error");
    assert_eq!(error.code, ErrorCode::InvalidAttributeName);
    assert_eq!(error.message.as_deref(), Some("Unknown Attribute Colour."));
}

#[test]
fn create_queue_validates_tags() {
    let input = create("orders").tags("aws:team", "x").build().expect("an input");
    assert_eq!(code(input.validate()), ErrorCode::InvalidParameterValue);
}

#[test]
fn set_queue_attributes_without_attributes_is_a_missing_parameter() {
    let input = SetQueueAttributesInput::builder().queue_url("q").build().expect("an input");
    assert_eq!(code(input.validate()), ErrorCode::MissingParameter);
}

#[test]
fn page_size_is_1_to_1000() {
    for (size, good) in [(0, false), (1, true), (1_000, true), (1_001, false), (-1, false)] {
        let list = ListQueuesInput::builder().max_results(size).build().expect("an input");
        assert_eq!(list.validate().is_ok(), good, "{size}");
    }
}
