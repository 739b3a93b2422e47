//! Rules for sending, deleting and changing messages. [`Draft`] is a message to send, alone or in a batch.

use std::collections::HashMap;

use super::error::{
    NOT_TEXT, invalid_parameter, invalid_value, is_text, is_token, missing_parameter, require_queue_url,
    required, within,
};
use super::{QueueRules, Validate, attribute};
use crate::types::message::{ChangeMessageVisibilityInput, DeleteMessageInput, SendMessageInput};
use crate::types::{
    MessageAttributeValue, MessageSystemAttributeNameForSends, MessageSystemAttributeValue,
    SendMessageBatchRequestEntry,
};
use crate::wire::checksum::message_size;
use crate::wire::limits::{DELAY_SECONDS, MAX_FIFO_ID_CHARS, MAX_MESSAGE_BYTES, VISIBILITY_TIMEOUT_SECONDS};
use crate::wire::model::Action;
use crate::wire::service_error::{ErrorCode, ServiceError};

/// The type of the queue, standard or FIFO, does not support a parameter.
const WRONG_QUEUE_TYPE: &str = "The request include parameter that is not valid for this queue type";

/// A message to send, alone or in a batch.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Draft<'a> {
    /// The body. An absent body is empty, and both are invalid.
    pub body: &'a str,
    /// The delay, in seconds.
    pub delay_seconds: Option<i32>,
    /// The message attributes.
    pub attributes: Option<&'a HashMap<String, MessageAttributeValue>>,
    /// The system attributes.
    pub system_attributes:
        Option<&'a HashMap<MessageSystemAttributeNameForSends, MessageSystemAttributeValue>>,
    /// The message group id.
    pub group_id: Option<&'a str>,
    /// The deduplication id.
    pub deduplication_id: Option<&'a str>,
    /// The operation that sends the message.
    operation: Action,
    /// Start of the message for a body that is too long. It differs between single sends and batches.
    too_long: &'static str,
}

macro_rules! draft_of {
    ($type:ty, $operation:ident, $body:expr, $too_long:literal) => {
        impl<'a> From<&'a $type> for Draft<'a> {
            fn from(input: &'a $type) -> Self {
                let body: fn(&'a $type) -> &'a str = $body;
                Self {
                    body: body(input),
                    delay_seconds: input.delay_seconds,
                    attributes: input.message_attributes.as_ref(),
                    system_attributes: input.message_system_attributes.as_ref(),
                    group_id: input.message_group_id.as_deref(),
                    deduplication_id: input.message_deduplication_id.as_deref(),
                    operation: Action::$operation,
                    too_long: $too_long,
                }
            }
        }
    };
}
draft_of!(
    SendMessageInput,
    SendMessage,
    |input| input.message_body().unwrap_or_default(),
    "One or more parameters are invalid."
);
draft_of!(
    SendMessageBatchRequestEntry,
    SendMessageBatch,
    |entry| entry.message_body(),
    "One or more parameters cannot be validated."
);

impl Draft<'_> {
    /// Size in bytes, as SQS counts it.
    pub fn size(&self) -> usize {
        message_size(self.body, self.attributes)
    }

    /// Checks the rules of the queue: its size limit, and the parameters that its type requires or does not support.
    ///
    /// # Errors
    /// `MissingParameter` for a message without a group id on a FIFO queue, else `InvalidParameterValue`.
    pub fn validate_for(&self, queue: &QueueRules) -> Result<(), ServiceError> {
        if queue.fifo {
            self.check_fifo_ids(queue)?;
        }
        if let Some((parameter, value)) = self.parameter_of_other_type(queue) {
            return Err(invalid_value(parameter, value, format_args!("{WRONG_QUEUE_TYPE}.")));
        }
        self.shorter_than(queue.maximum_message_size)
    }

    /// Like [`validate_for`](Self::validate_for), but for batch entries, with the messages that SQS has for them. The ids that
    /// a FIFO queue requires are checked by [`whole_request`](super::batch::whole_request).
    ///
    /// # Errors
    /// `InvalidParameterValue`.
    pub fn parameters_for(&self, queue: &QueueRules) -> Result<(), ServiceError> {
        if self.parameter_of_other_type(queue).is_some() {
            return Err(invalid_parameter(WRONG_QUEUE_TYPE));
        }
        self.shorter_than(queue.maximum_message_size)
    }

    /// Name and value of a parameter that the type of the queue does not support.
    fn parameter_of_other_type(&self, queue: &QueueRules) -> Option<(&'static str, String)> {
        match (queue.fifo, self.delay_seconds, self.deduplication_id) {
            (true, Some(delay), _) if delay != 0 => Some(("DelaySeconds", delay.to_string())),
            (false, _, Some(id)) => Some(("MessageDeduplicationId", id.to_owned())),
            _ => None,
        }
    }

    /// Requires a group id, and a deduplication id unless content-based deduplication is enabled.
    pub(super) fn check_fifo_ids(&self, queue: &QueueRules) -> Result<(), ServiceError> {
        if self.group_id.is_none() {
            return Err(missing_parameter("MessageGroupId"));
        }
        if self.deduplication_id.is_none() && !queue.content_based_deduplication {
            return Err(invalid_parameter(
                "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId \
                 provided explicitly",
            ));
        }
        Ok(())
    }

    /// List values of an attribute reject the whole request, also that of a batch.
    pub(super) fn check_lists(&self) -> Result<(), ServiceError> {
        let check = |attributes| attribute::without_lists(self.operation.as_str(), attributes);
        self.attributes.map_or(Ok(()), check)
    }

    /// The limit is inclusive, although the message of SQS says "shorter".
    fn shorter_than(&self, limit: usize) -> Result<(), ServiceError> {
        if self.size() <= limit {
            return Ok(());
        }
        let too_long = self.too_long;
        Err(invalid_parameter(format!("{too_long} Reason: Message must be shorter than {limit} bytes.")))
    }
}

impl Validate for Draft<'_> {
    fn validate(&self) -> Result<(), ServiceError> {
        body(self.body)?;
        self.check_lists()?;
        self.attributes.map_or(Ok(()), attribute::message_attributes)?;
        self.system_attributes.map_or(Ok(()), attribute::system_attributes)?;
        delay(self.delay_seconds)?;
        token("MessageDeduplicationId", self.deduplication_id)?;
        token("MessageGroupId", self.group_id)?;
        self.shorter_than(MAX_MESSAGE_BYTES)
    }
}

/// Validates a body: at least one character, and only characters that XML 1.0 allows.
///
/// # Errors
/// `MissingParameter` for an empty body, `InvalidMessageContents` for invalid characters.
pub fn body(body: &str) -> Result<(), ServiceError> {
    if body.is_empty() {
        return Err(missing_parameter("MessageBody"));
    }
    if is_text(body) {
        return Ok(());
    }
    Err(ServiceError::new(ErrorCode::InvalidMessageContents, NOT_TEXT))
}

/// Validates a delay: 0 to 900 seconds.
///
/// # Errors
/// `InvalidParameterValue`.
pub(crate) fn delay(seconds: Option<i32>) -> Result<(), ServiceError> {
    let reason = |low, high| format!("DelaySeconds must be >= {low} and <= {high}.");
    within("DelaySeconds", seconds, &DELAY_SECONDS, reason)
}

/// Validates a group id, deduplication id or receive request attempt id. The message names `parameter`.
///
/// # Errors
/// `InvalidParameterValue`.
pub fn token(parameter: &str, id: Option<&str>) -> Result<(), ServiceError> {
    match id {
        Some(id) if !is_token(id, MAX_FIFO_ID_CHARS) => Err(invalid_value(
            parameter,
            id,
            format_args!(
                "{parameter} can only include alphanumeric and punctuation characters. \
                 1 to {MAX_FIFO_ID_CHARS} in length."
            ),
        )),
        _ => Ok(()),
    }
}

/// Validates a new visibility timeout: 0 to 43,200 seconds. Only the queue can check the limit of the total time.
///
/// # Errors
/// `MissingParameter` or `InvalidParameterValue`.
pub fn new_visibility(seconds: Option<i32>) -> Result<(), ServiceError> {
    let seconds = Some(seconds.ok_or_else(|| missing_parameter("VisibilityTimeout"))?);
    let reason = |low, high| format!("Must be between {low} and {high}.");
    within("VisibilityTimeout", seconds, &VISIBILITY_TIMEOUT_SECONDS, reason)
}

impl Validate for SendMessageInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        Draft::from(self).validate()
    }
}

impl Validate for DeleteMessageInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        required("ReceiptHandle", self.receipt_handle()).map(drop)
    }
}

impl Validate for ChangeMessageVisibilityInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        required("ReceiptHandle", self.receipt_handle())?;
        new_visibility(self.visibility_timeout)
    }
}

#[cfg(test)]
mod tests {
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
        let text =
            "One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes.";
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
        let missing = (
            ErrorCode::MissingParameter,
            "The request must contain the parameter MessageGroupId.".to_owned(),
        );
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
        let reason =
            "is invalid. Reason: The request include parameter that is not valid for this queue type.";
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
        let text =
            "Value 43201 for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.";
        assert_eq!(split(too_long.validate()), (ErrorCode::InvalidParameterValue, text.to_owned()));
    }
}
