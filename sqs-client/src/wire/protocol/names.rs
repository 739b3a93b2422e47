//! Member names of the Query protocol that differ from those of AWS JSON.
//!
//! Lists and maps are *flattened*: XML repeats the singular name of a list, a form numbers it. A map is a list of key and
//! value pairs. The service model defines the names below; all other members keep their JSON names.

/// The names of a member in forms and XML.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct WireName {
    pub(super) name: &'static str,
    /// Names of key and value in a map entry.
    pub(super) key_value: (&'static str, &'static str),
}

const NAME_VALUE: (&str, &str) = ("Name", "Value");
const KEY_VALUE: (&str, &str) = ("Key", "Value");

/// The names of `member` of `shape`.
pub(super) fn wire_name(shape: &str, member: &'static str) -> WireName {
    let (name, key_value) = match (shape, member) {
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
    WireName { name, key_value }
}
