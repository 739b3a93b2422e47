//! Contract 3.1: the text of notifications.

use std::collections::HashMap;

use sqs_client::types::MessageAttributeValue;

use super::*;
use crate::service::seed::{Seed, uuid};
use crate::sns::engine::message::Draft;

fn envelope(topic: &TopicArn) -> Envelope<'_> {
    Envelope {
        topic,
        time: Timestamp::from_millis(1_613_511_679_978),
        base_url: "http://localhost:9324",
        signature_version: "1",
    }
}

fn notification(name: &str, sequence_number: Option<u64>, draft: Draft<'_>) -> (String, String) {
    let topic = TopicArn::new("us-east-1", "000000000000", name);
    let subscription = SubscriptionArn { topic: topic.clone(), id: "s".into() };
    let receipt = Receipt { id: uuid(&mut Seed(1).generator("ids")), sequence_number };
    let message = Message::new(draft).unwrap();
    let text = envelope(&topic).notification(Protocol::Sqs, receipt, &message).text(&subscription);
    (text, receipt.id.to_string())
}

#[test]
fn notification_has_the_fields_and_the_layout_of_aws() {
    let attributes = HashMap::from([
        ("b".to_owned(), MessageAttributeValue::number("99.12")),
        ("a".to_owned(), MessageAttributeValue::string("x")),
        ("c".to_owned(), MessageAttributeValue::binary(*b"\x00\xff")),
    ]);
    let draft = Draft { text: "{\"k\":\n1}", subject: Some("news"), attributes, ..Draft::default() };
    let (text, id) = notification("orders", None, draft);
    let expected = r#"{
  "Type" : "Notification",
  "MessageId" : "ID",
  "TopicArn" : "arn:aws:sns:us-east-1:000000000000:orders",
  "Subject" : "news",
  "Message" : "{\"k\":\n1}",
  "Timestamp" : "2021-02-16T21:41:19.978Z",
  "SignatureVersion" : "1",
  "Signature" : "EXAMPLE",
  "SigningCertURL" : "URL",
  "UnsubscribeURL" : "http://localhost:9324/?Action=Unsubscribe&SubscriptionArn=arn:aws:sns:us-east-1:000000000000:orders:s",
  "MessageAttributes" : {
    "a" : {"Type":"String","Value":"x"},
    "b" : {"Type":"Number","Value":"99.12"},
    "c" : {"Type":"Binary","Value":"AP8="}
  }
}"#;
    let parsed: Value = serde_json::from_str(&text).unwrap();
    let signature = parsed["Signature"].as_str().unwrap();
    let expected = expected.replace("ID", &id).replace("EXAMPLE", signature);
    assert_eq!(text, expected.replace("\"URL\"", &quoted(&certificate_url("http://localhost:9324"))));
}

#[test]
fn notification_of_a_fifo_topic_has_a_sequence_number_and_no_signature() {
    let draft = Draft { text: "tea", ..Draft::default() };
    let (text, _) = notification("orders.fifo", Some(10_000_000_000_000_000_001), draft);
    let parsed: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(parsed["SequenceNumber"], "10000000000000000001");
    for absent in ["SignatureVersion", "Signature", "SigningCertURL", "Subject", "MessageAttributes"] {
        assert_eq!(parsed.get(absent), None, "{absent}");
    }
}

#[test]
fn signature_covers_the_fields_in_the_order_of_aws() {
    let topic = TopicArn::new("us-east-1", "000000000000", "orders");
    let envelope = Envelope { signature_version: "2", ..envelope(&topic) };
    let id = uuid(&mut Seed(1).generator("ids"));
    let message = Message::new(Draft { text: "tea", subject: Some("news"), ..Draft::default() }).unwrap();
    let notification = envelope.notification(Protocol::Sqs, Receipt { id, sequence_number: None }, &message);
    let subscription = SubscriptionArn { topic: topic.clone(), id: "s".into() };
    let parsed: Value = serde_json::from_str(&notification.text(&subscription)).unwrap();
    let signed = format!(
        "Message\ntea\nMessageId\n{id}\nSubject\nnews\nTimestamp\n2021-02-16T21:41:19.978Z\nTopicArn\n{topic}\nType\n\
         Notification\n"
    );
    assert_eq!(parsed["Signature"], sign(&signed, "2"));
    let parsed: Value = serde_json::from_str(&envelope.confirmation(id, "t")).unwrap();
    let url = format!("http://localhost:9324/?Action=ConfirmSubscription&TopicArn={topic}&Token=t");
    assert_eq!(parsed["SubscribeURL"], url);
    let signed = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
        .map(|name| format!("{name}\n{}\n", parsed[name].as_str().unwrap()));
    assert_eq!(parsed["Signature"], sign(&signed.concat(), "2"));
}
