//! Section 4.2: raw responses of the Query protocol. `ask.rs` checks all other responses with the same rules.

use serde_json::json;
use sqs_client::wire::protocol::Protocol;

use super::answers::{output_of_xml, text};
use super::form::escaped;
use super::xml::Element;
use crate::session::Session;

async fn start() -> (Session, String) {
    let mut s = Session::start(Protocol::Query).await;
    let url = s.queue("q", json!({ "VisibilityTimeout": "0" })).await;
    (s, url)
}

const PATH: &str = "/000000000000/q";

/// 4.2: "200 text/xml", the envelope, no result of void actions, an empty element for an empty receive.
#[tokio::test]
async fn envelope_matches_aws() {
    let (mut s, url) = start().await;
    for (form, action, result) in [
        ("Action=ReceiveMessage", "ReceiveMessage", "<ReceiveMessageResult/>".to_owned()),
        ("Action=TagQueue&Tag.1.Key=a&Tag.1.Value=b", "TagQueue", String::new()),
        (
            "Action=GetQueueUrl&QueueName=q",
            "GetQueueUrl",
            format!("<GetQueueUrlResult><QueueUrl>{url}</QueueUrl></GetQueueUrlResult>"),
        ),
        (
            "Action=ListQueueTags",
            "ListQueueTags",
            "<ListQueueTagsResult><Tag><Key>a</Key><Value>b</Value></Tag></ListQueueTagsResult>".to_owned(),
        ),
    ] {
        let answer = s.wire.form(PATH, form).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "text/xml"), "{form}");
        let expected = format!(
            "<?xml version=\"1.0\"?><{action}Response xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\">{result}\
             <ResponseMetadata><RequestId>{}</RequestId></ResponseMetadata></{action}Response>",
            answer.header("x-amzn-requestid")
        );
        assert_eq!(answer.text(), expected, "{form}");
    }
}

/// The distinct names of the child elements.
fn names(element: &Element) -> Vec<&str> {
    let mut names: Vec<_> = element.children.iter().map(|child| child.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// 4.2: the table of elements.
#[tokio::test]
async fn results_have_the_elements_of_the_table() {
    let (mut s, _) = start().await;
    let value = "MessageAttribute.1.Name=n&MessageAttribute.1.Value.DataType=Binary\
                 &MessageAttribute.1.Value.BinaryValue=AA%3D%3D";
    let entry = "SendMessageBatchRequestEntry";
    let batch = format!("{entry}.1.Id=a&{entry}.1.MessageBody=x&{entry}.2.Id=b&{entry}.2.MessageBody=%01");
    for (action, rest, elements) in [
        ("ListQueues", "", &["QueueUrl"][..]),
        ("ListQueues", "MaxResults=1", &["QueueUrl"]),
        ("GetQueueAttributes", "AttributeName.1=All", &["Attribute"]),
        ("SendMessage", "MessageBody=x", &["MD5OfMessageBody", "MessageId"]),
        (
            "SendMessage",
            &format!("MessageBody=x&{value}"),
            &["MD5OfMessageAttributes", "MD5OfMessageBody", "MessageId"],
        ),
        ("ReceiveMessage", "MaxNumberOfMessages=10", &["Message"]),
        ("SendMessageBatch", &batch, &["BatchResultErrorEntry", "SendMessageBatchResultEntry"]),
    ] {
        let path = if action == "ListQueues" { "/" } else { PATH };
        let answer = s.wire.form(path, format!("Action={action}&{rest}")).await;
        let root = Element::parse(answer.text());
        let result = root.child(&format!("{action}Result")).unwrap_or_else(|| panic!("{action}: {root:?}"));
        assert_eq!(names(result), elements, "{action}&{rest}");
    }
    let names_of = "MessageAttributeName.1=All&AttributeName.1=All&MaxNumberOfMessages=10";
    let answer = s.wire.form(PATH, format!("Action=ReceiveMessage&{names_of}")).await;
    let root = Element::parse(answer.text());
    let messages = &root.child("ReceiveMessageResult").unwrap().children;
    let full = messages
        .iter()
        .find(|message| message.child("MessageAttribute").is_some())
        .expect("a message with an attribute");
    let expected = [
        "Attribute",
        "Body",
        "MD5OfBody",
        "MD5OfMessageAttributes",
        "MessageAttribute",
        "MessageId",
        "ReceiptHandle",
    ];
    assert_eq!(names(full), expected);
    let attribute = full.child("MessageAttribute").unwrap();
    assert_eq!(names(attribute), ["Name", "Value"]);
    assert_eq!(names(attribute.child("Value").unwrap()), ["BinaryValue", "DataType"]);
}

/// 4.2: `&quot;`, `&#xD;`, and significant white space.
#[tokio::test]
async fn every_body_round_trips() {
    let (mut s, _) = start().await;
    for body in ["\"", "\r", "\r\n", "\n", " ", "\t \n", "<a b=\"c\">&amp;</a>", "]]>", "'", "é€🦀\u{FFFD}"]
    {
        let form = format!("Action=SendMessage&MessageBody={}", escaped(body));
        output_of_xml("SendMessage", &s.wire.form(PATH, form).await).unwrap();
        let answer = s.wire.form(PATH, "Action=ReceiveMessage").await;
        let message = output_of_xml("ReceiveMessage", &answer).unwrap()["Messages"][0].take();
        assert_eq!(message["Body"], body, "{body:?}");
        assert!(!answer.text().contains('\r'), "a parser would convert it to LF");
        assert!(!body.contains('"') || answer.text().contains("&quot;"), "{}", answer.text());
        s.delete(PATH, &text(&message["ReceiptHandle"])).await;
    }
}

/// 4.2: the error response.
#[tokio::test]
async fn error_has_type_code_message_and_detail() {
    let (mut s, _) = start().await;
    let answer = s.wire.form("/000000000000/none", "Action=PurgeQueue").await;
    let expected = format!(
        "<?xml version=\"1.0\"?><ErrorResponse xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\"><Error>\
         <Type>Sender</Type><Code>AWS.SimpleQueueService.NonExistentQueue</Code><Message>The specified queue does \
         not exist for this wsdl version.</Message><Detail/></Error><RequestId>{}</RequestId></ErrorResponse>",
        answer.header("x-amzn-requestid")
    );
    assert_eq!((answer.status, answer.text()), (400, expected.as_str()));
}
