//! How members are called in the Query and XML forms, where that differs from the model's names.
//!
//! Both forms are *flattened*: a list is the repeated (XML) or numbered (form) singular name, and a map is
//! such a list of key and value pairs. The model defines the 36 rows below; every other member has its own name.

/// What a member looks like in the Query and XML forms.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct WireName {
    pub(super) name: &'static str,
    /// Names of key and value, for maps.
    pub(super) pair: (&'static str, &'static str),
}

const NAME_VALUE: (&str, &str) = ("Name", "Value");
const KEY_VALUE: (&str, &str) = ("Key", "Value");

/// The wire form of `member` of `shape`.
pub(super) fn wire_name(shape: &str, member: &'static str) -> WireName {
    let (name, pair) = match (shape, member) {
        (
            "CreateQueueInput" | "SetQueueAttributesInput" | "GetQueueAttributesOutput" | "Message",
            "Attributes",
        ) => ("Attribute", NAME_VALUE),
        ("CreateQueueInput", "tags") | ("TagQueueInput" | "ListQueueTagsOutput", "Tags") => {
            ("Tag", KEY_VALUE)
        }
        ("UntagQueueInput", "TagKeys") => ("TagKey", KEY_VALUE),
        ("GetQueueAttributesInput" | "ReceiveMessageInput", "AttributeNames")
        | ("ReceiveMessageInput", "MessageSystemAttributeNames") => ("AttributeName", NAME_VALUE),
        ("ReceiveMessageInput", "MessageAttributeNames") => ("MessageAttributeName", NAME_VALUE),
        ("SendMessageInput" | "SendMessageBatchRequestEntry" | "Message", "MessageAttributes") => {
            ("MessageAttribute", NAME_VALUE)
        }
        ("SendMessageInput" | "SendMessageBatchRequestEntry", "MessageSystemAttributes") => {
            ("MessageSystemAttribute", NAME_VALUE)
        }
        ("MessageAttributeValue" | "MessageSystemAttributeValue", "StringListValues") => {
            ("StringListValue", NAME_VALUE)
        }
        ("MessageAttributeValue" | "MessageSystemAttributeValue", "BinaryListValues") => {
            ("BinaryListValue", NAME_VALUE)
        }
        ("AddPermissionInput", "AWSAccountIds") => ("AWSAccountId", NAME_VALUE),
        ("AddPermissionInput", "Actions") => ("ActionName", NAME_VALUE),
        ("SendMessageBatchInput", "Entries") => ("SendMessageBatchRequestEntry", NAME_VALUE),
        ("DeleteMessageBatchInput", "Entries") => ("DeleteMessageBatchRequestEntry", NAME_VALUE),
        ("ChangeMessageVisibilityBatchInput", "Entries") => {
            ("ChangeMessageVisibilityBatchRequestEntry", NAME_VALUE)
        }
        ("ListQueuesOutput", "QueueUrls") | ("ListDeadLetterSourceQueuesOutput", "queueUrls") => {
            ("QueueUrl", NAME_VALUE)
        }
        ("ReceiveMessageOutput", "Messages") => ("Message", NAME_VALUE),
        ("SendMessageBatchOutput", "Successful") => ("SendMessageBatchResultEntry", NAME_VALUE),
        ("DeleteMessageBatchOutput", "Successful") => ("DeleteMessageBatchResultEntry", NAME_VALUE),
        ("ChangeMessageVisibilityBatchOutput", "Successful") => {
            ("ChangeMessageVisibilityBatchResultEntry", NAME_VALUE)
        }
        (
            "SendMessageBatchOutput" | "DeleteMessageBatchOutput" | "ChangeMessageVisibilityBatchOutput",
            "Failed",
        ) => ("BatchResultErrorEntry", NAME_VALUE),
        ("ListMessageMoveTasksOutput", "Results") => ("ListMessageMoveTasksResultEntry", NAME_VALUE),
        (_, member) => (member, NAME_VALUE),
    };
    WireName { name, pair }
}
