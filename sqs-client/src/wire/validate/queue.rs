//! Rules for queues, their permissions, tags and move tasks, and for receives.

use std::collections::HashMap;
use std::hash::BuildHasher;

use super::error::{
    NOT_TEXT, invalid_parameter, invalid_value, is_name, is_text, missing_parameter, require_queue_url,
    required, unknown_attribute, within,
};
use super::{Validate, message};
use crate::types::QueueAttributeName;
use crate::types::message::ReceiveMessageInput;
use crate::types::queue::{
    AddPermissionInput, CancelMessageMoveTaskInput, CreateQueueInput, DeleteQueueInput,
    GetQueueAttributesInput, GetQueueUrlInput, ListDeadLetterSourceQueuesInput, ListMessageMoveTasksInput,
    ListQueueTagsInput, ListQueuesInput, PurgeQueueInput, RemovePermissionInput, SetQueueAttributesInput,
    StartMessageMoveTaskInput, TagQueueInput, UntagQueueInput,
};
use crate::wire::limits::{
    LIST_MOVE_TASKS_RESULTS, LIST_RESULTS, MAX_LABEL_CHARS, MAX_POLICY_ACTIONS, MAX_QUEUE_NAME_CHARS,
    MAX_TAG_KEY_CHARS, MAX_TAG_VALUE_CHARS, MOVE_TASK_RATE, RECEIVE_MESSAGES, VISIBILITY_TIMEOUT_SECONDS,
    WAIT_TIME_SECONDS,
};
use crate::wire::service_error::{ErrorCode, ServiceError};

/// Suffix of the names of FIFO queues.
pub(crate) const FIFO_SUFFIX: &str = ".fifo";

/// Validates a queue name: 1 to 80 characters of `A-Za-z0-9_-`, including the suffix of a FIFO queue.
///
/// # Errors
/// `InvalidParameterValue`.
pub fn name(name: &str) -> Result<(), ServiceError> {
    let suffix = if name.ends_with(FIFO_SUFFIX) { FIFO_SUFFIX.len() } else { 0 };
    let stem = name.get(..name.len() - suffix).unwrap_or_default();
    if is_name(stem, MAX_QUEUE_NAME_CHARS - suffix) {
        return Ok(());
    }
    Err(invalid_parameter(format!(
        "Can only include alphanumeric characters, hyphens, or underscores. 1 to {MAX_QUEUE_NAME_CHARS} in length"
    )))
}

/// Validates the names of queue attributes.
///
/// # Errors
/// `InvalidAttributeName` for an unknown name.
pub(crate) fn attribute_names<'a>(
    names: impl IntoIterator<Item = &'a QueueAttributeName>,
) -> Result<(), ServiceError> {
    match names.into_iter().find(|name| matches!(name, QueueAttributeName::Unknown(_))) {
        Some(unknown) => Err(unknown_attribute(unknown.as_str())),
        None => Ok(()),
    }
}

fn page_size(max_results: Option<i32>) -> Result<(), ServiceError> {
    let reason = |low, high| format!("MaxResults must be an integer between {low} and {high}.");
    within("MaxResults", max_results, &LIST_RESULTS, reason)
}

fn require_name(queue_name: Option<&str>) -> Result<&str, ServiceError> {
    let missing_name =
        || invalid_parameter("Value for parameter QueueName is invalid. Reason: Must specify a queue name.");
    queue_name.filter(|name| !name.is_empty()).ok_or_else(missing_name)
}

impl Validate for CreateQueueInput {
    fn validate(&self) -> Result<(), ServiceError> {
        name(require_name(self.queue_name())?)?;
        attribute_names(self.attributes.iter().flat_map(|attributes| attributes.keys()))?;
        self.tags.as_ref().map_or(Ok(()), tags)
    }
}

impl Validate for GetQueueUrlInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_name(self.queue_name()).map(drop)
    }
}

impl Validate for DeleteQueueInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())
    }
}

impl Validate for PurgeQueueInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())
    }
}

impl Validate for GetQueueAttributesInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        attribute_names(self.attribute_names())
    }
}

impl Validate for SetQueueAttributesInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        match &self.attributes {
            Some(attributes) if !attributes.is_empty() => attribute_names(attributes.keys()),
            _ => Err(missing_parameter("Attributes")),
        }
    }
}

impl Validate for ListQueuesInput {
    fn validate(&self) -> Result<(), ServiceError> {
        page_size(self.max_results)
    }
}

impl Validate for ListDeadLetterSourceQueuesInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        page_size(self.max_results)
    }
}

/// Prefix that AWS reserves, in upper and lower case.
const RESERVED_PREFIX: &str = "aws:";

/// Validates tags: keys of 1 to 128 characters without the prefix `aws:`, values of 0 to 256 characters, and only characters that XML
/// 1.0 allows.
///
/// AWS recommends at most 50 tags per queue, but accepts more.
///
/// # Errors
/// `InvalidParameterValue`.
pub fn tags<S: BuildHasher>(tags: &HashMap<String, String, S>) -> Result<(), ServiceError> {
    tags.iter().try_for_each(|(key, value)| {
        let length = key.chars().count();
        if !(1..=MAX_TAG_KEY_CHARS).contains(&length) {
            let reason = format!("Tag keys must be between 1 and {MAX_TAG_KEY_CHARS} characters in length.");
            return Err(invalid_value("Tags", key, reason));
        }
        if key.get(..RESERVED_PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(RESERVED_PREFIX)) {
            return Err(invalid_value("Tags", key, "Tag keys must not start with aws:."));
        }
        if value.chars().count() > MAX_TAG_VALUE_CHARS {
            let reason =
                format!("Tag values must be between 0 and {MAX_TAG_VALUE_CHARS} characters in length.");
            return Err(invalid_value("Tags", value, reason));
        }
        if !is_text(key) || !is_text(value) {
            return Err(invalid_parameter(NOT_TEXT));
        }
        Ok(())
    })
}

impl Validate for TagQueueInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        match &self.tags {
            Some(given) if !given.is_empty() => tags(given),
            _ => Err(missing_parameter("Tags")),
        }
    }
}

impl Validate for UntagQueueInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        if self.tag_keys().is_empty() { Err(missing_parameter("TagKeys")) } else { Ok(()) }
    }
}

impl Validate for ListQueueTagsInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())
    }
}

/// Validates a label: 1 to 80 characters of `A-Za-z0-9_-`.
///
/// # Errors
/// `MissingParameter` or `InvalidParameterValue`.
pub(crate) fn label(label: Option<&str>) -> Result<(), ServiceError> {
    let label = required("Label", label)?;
    if is_name(label, MAX_LABEL_CHARS) {
        return Ok(());
    }
    let reason = format!(
        "Can only include alphanumeric characters, hyphens, or underscores. 1 to {MAX_LABEL_CHARS} in length"
    );
    Err(invalid_value("Label", label, reason))
}

/// Validates actions: 1 to 7, each `*` or an action that can be shared with other accounts.
///
/// # Errors
/// `MissingParameter`, `OverLimit` or `InvalidParameterValue`.
pub(crate) fn actions(actions: &[String]) -> Result<(), ServiceError> {
    let count = actions.len();
    if count == 0 {
        return Err(missing_parameter("Actions"));
    }
    if count > MAX_POLICY_ACTIONS {
        let message = format!("{count} Actions were found, maximum allowed is {MAX_POLICY_ACTIONS}.");
        return Err(ServiceError::new(ErrorCode::OverLimit, message));
    }
    match actions.iter().find(|action| *action != "*" && !is_shareable(action)) {
        Some(action) => {
            let reason = "Only the queue owner is allowed to invoke this action.";
            Err(invalid_value("ActionName", format_args!("SQS:{action}"), reason))
        }
        None => Ok(()),
    }
}

/// Whether an action can be shared with other accounts.
///
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-customer-managed-policy-examples.html>
pub fn is_shareable(action: &str) -> bool {
    matches!(
        action,
        "ChangeMessageVisibility"
            | "ChangeMessageVisibilityBatch"
            | "DeleteMessage"
            | "DeleteMessageBatch"
            | "GetQueueAttributes"
            | "GetQueueUrl"
            | "ListDeadLetterSourceQueues"
            | "PurgeQueue"
            | "ReceiveMessage"
            | "SendMessage"
            | "SendMessageBatch"
    )
}

/// Validates account ids: at least one, each of 12 digits.
///
/// # Errors
/// `MissingParameter` or `InvalidParameterValue`.
pub(crate) fn accounts(accounts: &[String]) -> Result<(), ServiceError> {
    if accounts.is_empty() {
        return Err(missing_parameter("AWSAccountIds"));
    }
    match accounts.iter().find(|id| !is_account(id)) {
        Some(id) => Err(invalid_value("PrincipalId", format_args!("[{id}]"), "Unable to verify.")),
        None => Ok(()),
    }
}

/// Whether a text is an account id: 12 digits.
pub fn is_account(id: &str) -> bool {
    id.len() == 12 && id.bytes().all(|digit| digit.is_ascii_digit())
}

impl Validate for AddPermissionInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        label(self.label())?;
        accounts(self.aws_account_ids())?;
        actions(self.actions())
    }
}

impl Validate for RemovePermissionInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        label(self.label())
    }
}

/// Validates a queue ARN: `arn:<partition>:sqs:<region>:<account>:<name>`. The message names `parameter`.
///
/// # Errors
/// `InvalidParameterValue`.
pub(crate) fn arn(parameter: &str, arn: &str) -> Result<(), ServiceError> {
    let mut parts = arn.splitn(6, ':');
    let is_arn = parts.next() == Some("arn") && parts.nth(1) == Some("sqs");
    if is_arn && parts.nth(2).is_some_and(|name| !name.is_empty()) {
        return Ok(());
    }
    Err(invalid_parameter(format!(
        "You must use this format to specify the {parameter}: \
         arn:<partition>:<service>:<region>:<account-id>:<resource-id>"
    )))
}

fn source(source_arn: Option<&str>) -> Result<(), ServiceError> {
    arn("SourceArn", required("SourceArn", source_arn)?)
}

impl Validate for StartMessageMoveTaskInput {
    fn validate(&self) -> Result<(), ServiceError> {
        source(self.source_arn())?;
        self.destination_arn().map_or(Ok(()), |destination| arn("DestinationArn", destination))?;
        let reason = |low, high| format!("Must be between {low} and {high}, if provided.");
        let rate = self.max_number_of_messages_per_second;
        within("MaxNumberOfMessagesPerSecond", rate, &MOVE_TASK_RATE, reason)
    }
}

impl Validate for CancelMessageMoveTaskInput {
    fn validate(&self) -> Result<(), ServiceError> {
        required("TaskHandle", self.task_handle()).map(drop)
    }
}

impl Validate for ListMessageMoveTasksInput {
    fn validate(&self) -> Result<(), ServiceError> {
        source(self.source_arn())?;
        let reason = |low, high| format!("Must be between {low} and {high}, if provided.");
        within("MaxResults", self.max_results, &LIST_MOVE_TASKS_RESULTS, reason)
    }
}

impl Validate for ReceiveMessageInput {
    fn validate(&self) -> Result<(), ServiceError> {
        require_queue_url(self.queue_url())?;
        within("MaxNumberOfMessages", self.max_number_of_messages, &RECEIVE_MESSAGES, |low, high| {
            format!("Must be between {low} and {high}, if provided.")
        })?;
        let reason = |low, high| format!("Must be >= {low} and <= {high}, if provided.");
        within("WaitTimeSeconds", self.wait_time_seconds, &WAIT_TIME_SECONDS, reason)?;
        within("VisibilityTimeout", self.visibility_timeout, &VISIBILITY_TIMEOUT_SECONDS, reason)?;
        // Attribute names are not checked: recorded responses of SQS accept invalid names, which match nothing.
        // SQS accepts the id on standard queues too, and ignores it there.
        message::token("ReceiveRequestAttemptId", self.receive_request_attempt_id())
    }
}

#[cfg(test)]
mod tests {
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
        let bad = [
            "",
            ".fifo",
            "a.b",
            "a b",
            "ü",
            "a.fifo.fifo",
            &"x".repeat(81),
            &format!("{}.fifo", "x".repeat(76)),
        ];
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
}

#[cfg(test)]
mod tags_tests {
    use super::*;
    use crate::wire::service_error::ErrorCode;

    fn tag(key: &str, value: &str) -> Result<(), ServiceError> {
        tags(&HashMap::from([(key.to_owned(), value.to_owned())]))
    }

    #[test]
    fn keys_and_values_of_invalid_length_are_rejected() {
        for (key, value) in [("k", ""), (&*"ü".repeat(128), &*"ü".repeat(256)), ("awsome", "x")] {
            assert_eq!(tag(key, value), Ok(()), "{key}");
        }
        for (key, value) in
            [("", "x"), (&*"k".repeat(129), "x"), ("k", &*"v".repeat(257)), ("aws:k", "x"), ("AWS:k", "x")]
        {
            assert_eq!(tag(key, value).expect_err(key).code, ErrorCode::InvalidParameterValue, "{key}");
        }
    }

    #[test]
    fn characters_that_xml_cannot_write_are_rejected() {
        for (key, value) in [("k\u{1}", "v"), ("k", "v\u{B}"), ("k", "\u{FFFE}")] {
            assert_eq!(tag(key, value), Err(invalid_parameter(NOT_TEXT)), "{key:?}");
        }
    }

    #[test]
    fn tag_and_untag_without_tags_are_missing_parameters() {
        let input = TagQueueInput::builder().queue_url("q").build().expect("an input");
        assert_eq!(input.validate().expect_err("nothing").code, ErrorCode::MissingParameter);
        let input = UntagQueueInput::builder().queue_url("q").build().expect("an input");
        assert_eq!(input.validate().expect_err("nothing").code, ErrorCode::MissingParameter);
    }
}

#[cfg(test)]
mod permission_tests {
    use super::*;
    use crate::types::queue::AddPermissionInputBuilder;

    fn add() -> AddPermissionInputBuilder {
        let input = AddPermissionInput::builder().queue_url("q").label("partner");
        input.aws_account_ids("123456789012").actions("SendMessage")
    }

    fn error_of(input: AddPermissionInputBuilder) -> (ErrorCode, String) {
        let error = input.build().expect("an input").validate().expect_err("an error");
        (error.code, error.message.unwrap_or_default())
    }

    #[test]
    fn complete_permission_is_valid() {
        assert!(add().build().is_ok_and(|input| input.validate().is_ok()));
        assert!(add().actions("*").build().is_ok_and(|input| input.validate().is_ok()));
    }

    #[test]
    fn more_than_seven_actions_are_over_the_limit() {
        let eight = add().set_actions(Some(vec!["SendMessage".to_owned(); 8]));
        let text = "8 Actions were found, maximum allowed is 7.";
        assert_eq!(error_of(eight), (ErrorCode::OverLimit, text.to_owned()));
    }

    #[test]
    fn actions_reserved_for_the_owner_cannot_be_shared() {
        for action in ["DeleteQueue", "ListQueues", "sendMessage", "Dance", "SQS:SendMessage"] {
            let text = format!(
                "Value SQS:{action} for parameter ActionName is invalid. Reason: Only the queue owner is allowed to \
                 invoke this action."
            );
            assert_eq!(error_of(add().actions(action)), (ErrorCode::InvalidParameterValue, text));
        }
    }

    #[test]
    fn error_names_the_missing_parameter() {
        let table = [
            (add().set_label(None), "The request must contain the parameter Label."),
            (add().set_actions(None), "The request must contain the parameter Actions."),
            (add().set_aws_account_ids(None), "The request must contain the parameter AWSAccountIds."),
        ];
        for (input, text) in table {
            assert_eq!(error_of(input), (ErrorCode::MissingParameter, text.to_owned()));
        }
    }

    #[test]
    fn malformed_labels_and_account_ids_are_rejected() {
        for label in ["a b", "ü", &"x".repeat(81)] {
            assert_eq!(error_of(add().label(label)).0, ErrorCode::InvalidParameterValue, "{label}");
        }
        for account in ["", "12345678901", "1234567890123", "12345678901x"] {
            assert_eq!(
                error_of(add().aws_account_ids(account)).0,
                ErrorCode::InvalidParameterValue,
                "{account}"
            );
        }
    }
}

#[cfg(test)]
mod move_task_tests {
    use super::*;
    use crate::types::queue::StartMessageMoveTaskInputBuilder;
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
            let list = ListMessageMoveTasksInput::builder()
                .source_arn("arn:aws:sqs:r:1:q")
                .max_results(count)
                .build();
            assert_eq!(list.expect("an input").validate().is_ok(), good, "{count}");
        }
        let cancel = CancelMessageMoveTaskInput::default().validate().expect_err("no handle");
        assert_eq!(cancel.code, ErrorCode::MissingParameter);
    }
}

#[cfg(test)]
mod receive_tests {
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
}
