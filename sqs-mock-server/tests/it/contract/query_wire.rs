//! Section 4.1: raw requests of the Query protocol.

use serde_json::json;
use sqs_client::wire::protocol::Protocol;

use super::answers::{output_of_xml, text};
use super::code::{MALFORMED, NO_QUEUE};
use super::form::escaped;
use crate::session::Session;

async fn start() -> (Session, String) {
    let mut s = Session::start(Protocol::Query).await;
    let url = s.queue("q", json!({ "VisibilityTimeout": "0" })).await;
    (s, url)
}

const PATH: &str = "/000000000000/q";

/// 4.1: the form in the body of `/`, in the body of the queue's path, in its URL, and in both; `Version` is optional.
#[tokio::test]
async fn form_is_accepted_in_body_and_url() {
    let (mut s, url) = start().await;
    let url = escaped(&url);
    let version = "Version=2012-11-05";
    s.wire.form("/", format!("Action=SendMessage&{version}&QueueUrl={url}&MessageBody=one")).await;
    s.wire.form(PATH, format!("Action=SendMessage&{version}&MessageBody=two")).await;
    s.wire.get(&format!("{PATH}?Action=SendMessage&MessageBody=three+and%20more")).await;
    s.wire.form(&format!("{PATH}?Action=SendMessage&{version}"), "MessageBody=four").await;
    assert_eq!(s.bodies(PATH).await, ["one", "two", "three and more", "four"]);
}

/// 4.1: "Where both are present the `QueueUrl` parameter wins".
#[tokio::test]
async fn queue_url_parameter_overrides_the_path() {
    let (mut s, url) = start().await;
    let url = escaped(&url);
    let good = s.wire.form("/000000000000/none", format!("Action=PurgeQueue&QueueUrl={url}")).await;
    output_of_xml("PurgeQueue", &good).expect("the parameter applies");
    let bad = s.wire.form(PATH, format!("Action=PurgeQueue&QueueUrl={url}x")).await;
    output_of_xml("PurgeQueue", &bad).unwrap_err().is("unknown", NO_QUEUE);
}

/// 4.1: the whole table of form names, each with its effect.
#[tokio::test]
async fn every_form_name_has_its_effect() {
    let (mut s, url) = start().await;
    let call = |action: &str, rest: &str| format!("Action={action}&QueueUrl={}&{rest}", escaped(&url));
    let entry = "SendMessageBatchRequestEntry.1";
    for (action, rest) in [
        ("SetQueueAttributes", "Attribute.1.Name=DelaySeconds&Attribute.1.Value=0".to_owned()),
        ("TagQueue", "Tag.1.Key=a&Tag.1.Value=b&Tag.2.Key=c&Tag.2.Value=d".to_owned()),
        ("UntagQueue", "TagKey.1=c".to_owned()),
        ("AddPermission", "Label=l&AWSAccountId.1=123456789012&ActionName.1=SendMessage".to_owned()),
        (
            "SendMessageBatch",
            format!(
                "{entry}.Id=i&{entry}.MessageBody=x&{entry}.DelaySeconds=0&{entry}.MessageGroupId=g\
                 &{entry}.MessageAttribute.1.Name=s&{entry}.MessageAttribute.1.Value.DataType=String\
                 &{entry}.MessageAttribute.1.Value.StringValue=t\
                 &{entry}.MessageAttribute.2.Name=b&{entry}.MessageAttribute.2.Value.DataType=Binary\
                 &{entry}.MessageAttribute.2.Value.BinaryValue=AQI%3D\
                 &{entry}.MessageSystemAttribute.1.Name=AWSTraceHeader\
                 &{entry}.MessageSystemAttribute.1.Value.DataType=String\
                 &{entry}.MessageSystemAttribute.1.Value.StringValue=Root"
            ),
        ),
    ] {
        let answer = s.wire.form("/", call(action, &rest)).await;
        let output = output_of_xml(action, &answer).unwrap_or_else(|refusal| panic!("{action}: {refusal:?}"));
        assert_eq!(output.get("Failed"), None, "{output}");
    }
    let attributes = s.attributes(&url).await;
    assert!(text(&attributes["Policy"]).contains("SQS:SendMessage"));
    assert_eq!(s.done("ListQueueTags", &json!({ "QueueUrl": url })).await, json!({ "Tags": { "a": "b" } }));
    let names = "AttributeName.1=MessageGroupId&AttributeName.2=AWSTraceHeader&MessageAttributeName.1=All";
    let received = s.wire.form("/", call("ReceiveMessage", names)).await;
    let message = output_of_xml("ReceiveMessage", &received).unwrap()["Messages"][0].take();
    assert_eq!(message["Attributes"], json!({ "MessageGroupId": "g", "AWSTraceHeader": "Root" }));
    let expected = json!({
        "s": { "StringValue": "t", "DataType": "String" }, "b": { "BinaryValue": "AQI=", "DataType": "Binary" },
    });
    assert_eq!(message["MessageAttributes"], expected);
    let handle = escaped(&text(&message["ReceiptHandle"]));
    for (action, rest) in
        [("ChangeMessageVisibilityBatch", "VisibilityTimeout=9"), ("DeleteMessageBatch", "x=y")]
    {
        let entry = format!("{action}RequestEntry.1");
        let form = call(action, &format!("{entry}.Id=i&{entry}.ReceiptHandle={handle}&{entry}.{rest}"));
        let output = output_of_xml(action, &s.wire.form("/", form).await).unwrap();
        assert_eq!(output, json!({ "Successful": [{ "Id": "i" }] }), "{action}");
    }
}

/// 4.1: "Some clones also take `X.member.N` or un-indexed singles".
/// Not recorded: AWS itself answers some of these with `MalformedInput`.
#[tokio::test]
async fn names_of_other_dialects_are_accepted() {
    let (mut s, url) = start().await;
    let call = |rest: &str| format!("Action=GetQueueAttributes&QueueUrl={}&{rest}", escaped(&url));
    for rest in [
        "AttributeName=DelaySeconds",
        "AttributeName.7=DelaySeconds",
        "AttributeNames.1=DelaySeconds",
        "AttributeNames.member.1=DelaySeconds",
    ] {
        let output = output_of_xml("GetQueueAttributes", &s.wire.form("/", call(rest)).await).unwrap();
        assert_eq!(output, json!({ "Attributes": { "DelaySeconds": "0" } }), "{rest}");
    }
    let set = "Action=SetQueueAttributes&Attributes.entry.1.key=DelaySeconds&Attributes.entry.1.value=7";
    output_of_xml("SetQueueAttributes", &s.wire.form(PATH, set).await).unwrap();
    assert_eq!(s.attributes(&url).await["DelaySeconds"], "7");
}

/// 4.1: "Wrongly encoded list on AWS -> `MalformedInput`".
#[tokio::test]
async fn invalid_form_is_malformed_input() {
    let (mut s, _) = start().await;
    for rest in [
        "Action=SendMessage&MessageBody=x&DelaySeconds=soon",
        "Action=SendMessage&MessageBody.1=x",
        "Action=SendMessage&MessageBody=x&MessageAttribute.1=a",
        "Action=SendMessage&MessageBody=x&MessageAttribute.1.Value.DataType=String",
        "Action=SendMessage&MessageBody=%ff",
        "Action=SendMessageBatch&SendMessageBatchRequestEntry.1=x",
        "Action=SetQueueAttributes&Attribute.1=DelaySeconds",
        "Action=TagQueue&Tag.1=a",
    ] {
        let refusal = output_of_xml("x", &s.wire.form(PATH, rest).await).expect_err(rest);
        refusal.is(rest, MALFORMED);
    }
}

/// Not recorded: a percent sign without two hexadecimal digits is kept, as in the URL standard.
#[tokio::test]
async fn invalid_percent_escape_is_kept() {
    let (mut s, _) = start().await;
    for (form, body) in [
        ("100%", "100%"),
        ("100%2", "100%2"),
        ("%zz", "%zz"),
        ("%%41", "%A"),
        ("50%25", "50%"),
        ("a%+b", "a% b"),
    ] {
        output_of_xml(
            "SendMessage",
            &s.wire.form(PATH, format!("Action=SendMessage&MessageBody={form}")).await,
        )
        .unwrap_or_else(|refusal| panic!("{form}: {refusal:?}"));
        let handles = s.take(PATH, json!({})).await;
        assert_eq!(handles[0]["Body"], body, "{form}");
        s.delete(PATH, &text(&handles[0]["ReceiptHandle"])).await;
    }
}
