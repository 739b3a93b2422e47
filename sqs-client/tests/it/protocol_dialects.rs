//! Forms and JSON of other clients and SQS-compatible services that differ from the AWS documentation.

use serde_json::json;
use sqs_client::operation::list_queues::{ListQueues, ListQueuesOutput};
use sqs_client::operation::receive_message::ReceiveMessageInput;
use sqs_client::operation::send_message::SendMessageInput;
use sqs_client::operation::send_message_batch::{SendMessageBatch, SendMessageBatchInput};
use sqs_client::operation::set_queue_attributes::SetQueueAttributesInput;
use sqs_client::operation::{Input, tag_queue::TagQueueInput};
use sqs_client::wire::protocol::{Form, Protocol};

use crate::protocol_damage::response;

fn form<I: Input>(form: &str) -> Option<I> {
    Form::parse(form.as_bytes()).unwrap().read().ok()
}

/// An input from its AWS JSON.
fn input<I: Input>(value: serde_json::Value) -> I {
    serde_json::from_value(value).unwrap()
}

#[test]
fn unflattened_lists_and_single_values_are_accepted() {
    let expected = Some(input(json!({"AttributeNames": ["All"]})));
    for text in [
        "AttributeName.1=All",
        "AttributeName=All",
        "AttributeName.member.1=All",
        "AttributeNames.1=All",
        "AttributeNames.member.1=All",
        "AttributeNames=All",
    ] {
        assert_eq!(form::<ReceiveMessageInput>(text), expected, "{text}");
    }
}

#[test]
fn unflattened_maps_lower_case_names_and_single_entries_are_accepted() {
    let expected = Some(input(json!({"Attributes": {"DelaySeconds": "5"}})));
    for text in [
        "Attribute.1.Name=DelaySeconds&Attribute.1.Value=5",
        "Attribute.1.name=DelaySeconds&Attribute.1.value=5",
        "Attribute.Name=DelaySeconds&Attribute.Value=5",
        "Attribute.1.Key=DelaySeconds&Attribute.1.Value=5",
        "Attributes.entry.1.key=DelaySeconds&Attributes.entry.1.value=5",
    ] {
        assert_eq!(form::<SetQueueAttributesInput>(text), expected, "{text}");
    }
    let tags = "Tags.entry.1.key=a&Tags.entry.1.value=1&Tags.entry.2.key=b&Tags.entry.2.value=";
    assert_eq!(form::<TagQueueInput>(tags), Some(input(json!({"Tags": {"a": "1", "b": ""}}))));
}

#[test]
fn map_entry_without_key_is_rejected_and_without_value_is_empty() {
    assert_eq!(form::<TagQueueInput>("Tag.1.Value=a"), None);
    assert_eq!(form::<TagQueueInput>("Tag.1=a"), None);
    assert_eq!(form::<TagQueueInput>("Tag.1.Key=a"), Some(input(json!({"Tags": {"a": ""}}))));
}

#[test]
fn empty_list_of_botocore_is_absent() {
    assert_eq!(form::<SendMessageBatchInput>("QueueUrl=u&Entries="), Some(input(json!({"QueueUrl": "u"}))));
    assert_eq!(
        form::<ReceiveMessageInput>("AttributeNames=&MaxNumberOfMessages=2"),
        Some(input(json!({"MaxNumberOfMessages": 2})))
    );
}

#[test]
fn plus_signs_and_escapes_in_names_and_values_are_decoded() {
    let expected = Some(input(json!({"MessageBody": "a b+c=d&e%é"})));
    assert_eq!(form::<SendMessageInput>("%4DessageBody=a+b%2Bc=d%26e%25%C3%A9"), expected);
    assert_eq!(
        form::<ReceiveMessageInput>("AttributeName%2E1=All"),
        Some(input(json!({"AttributeNames": ["All"]})))
    );
}

#[test]
fn invalid_percent_escape_is_kept_and_invalid_utf8_is_rejected() {
    for text in ["%", "%2", "%zz", "100%", "%%20"] {
        let expected = Some(input(json!({"MessageBody": text.replace("%20", " ")})));
        assert_eq!(form::<SendMessageInput>(&format!("MessageBody={text}")), expected);
    }
    for text in [&b"MessageBody=%ff"[..], b"MessageBody=%C3", b"MessageBody=\xc3\x28", b"%ff=1", b"a+%ff=1"] {
        assert!(Form::parse(text).is_err());
    }
}

#[test]
fn form_action_is_unknown_or_missing() {
    assert_eq!(Form::parse(b"Action=Fly&Version=1").unwrap().action(), Some(Err("Fly")));
    assert_eq!(Form::parse(b"").unwrap().action(), None);
}

#[test]
fn wrong_types_are_rejected_in_both_protocols() {
    for text in [
        "DelaySeconds=x",
        "DelaySeconds=",
        "DelaySeconds=1.5",
        "DelaySeconds=2147483648",
        "DelaySeconds.1=1",
        "MessageBody.1=x",
        "MessageAttribute=x",
        "MessageAttribute.1.Name=a&MessageAttribute.1.Value=x",
    ] {
        assert_eq!(form::<SendMessageInput>(text), None, "{text}");
    }
    for text in [
        r#"{"DelaySeconds":"1"}"#,
        r#"{"DelaySeconds":1.5}"#,
        r#"{"DelaySeconds":2147483648}"#,
        r#"{"DelaySeconds":[]}"#,
        r#"{"DelaySeconds":true}"#,
        r#"{"MessageBody":1}"#,
        r#"{"MessageBody":{}}"#,
        r#"{"MessageAttributes":[]}"#,
        r#"{"MessageAttributes":{"a":"text"}}"#,
        r#"{"MessageAttributes":{"a":{"BinaryValue":"no base64"}}}"#,
        r#"{"MessageBody":"a","MessageBody":"b"}"#,
    ] {
        assert!(Protocol::AwsJson.decode_request::<SendMessageInput>(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn null_is_absent_even_for_required_members() {
    let text = r#"{"Successful":[{"Id":"a","MessageId":"m","MD5OfMessageBody":"x","SequenceNumber":null}],"Failed":null}"#;
    let output = response::<SendMessageBatch>(Protocol::AwsJson, text.as_bytes()).unwrap();
    assert_eq!((output.successful.len(), output.failed.len()), (1, 0));
    let text = r#"{"QueueUrl":null,"MessageBody":"a","MessageAttributes":{"n":{"DataType":null,"StringValue":"v"}}}"#;
    let sent: SendMessageInput = Protocol::AwsJson.decode_request(text.as_bytes()).unwrap();
    assert_eq!(
        Some(sent),
        Some(input(json!({"MessageBody": "a", "MessageAttributes": {"n": {"StringValue": "v"}}})))
    );
}

#[test]
fn unknown_members_are_ignored_in_both_protocols() {
    let expected = Some(input(json!({"MessageBody": "a"})));
    let text = r#"{"Later":{"x":[1,null,{}]},"MessageBody":"a","messagebody":"b"}"#;
    assert_eq!(Protocol::AwsJson.decode_request::<SendMessageInput>(text.as_bytes()).ok(), expected);
    assert_eq!(form::<SendMessageInput>("Later.1.x=1&MessageBody=a&messagebody=b&Signature=x"), expected);
}

#[test]
fn empty_json_object_is_an_empty_output() {
    for text in ["{}", " {} "] {
        let output = response::<ListQueues>(Protocol::AwsJson, text.as_bytes()).unwrap();
        assert_eq!(output, ListQueuesOutput::default());
    }
}
