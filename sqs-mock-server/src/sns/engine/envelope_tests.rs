//! Contract 3.1: the text of notifications.

use std::collections::HashMap;

use sqs_client::types::MessageAttributeValue;

use super::*;
use crate::service::seed::{Seed, uuid};
use crate::sns::engine::message::Draft;

struct Unsigned;

impl Signer for Unsigned {
    fn sign(&self, _text: &str, _version: &str, base_url: &str) -> Signed {
        Signed { signature: "EXAMPLE".to_owned(), certificate_url: format!("{base_url}/example.pem") }
    }
}

fn envelope(topic: &TopicArn) -> Envelope<'_, Unsigned> {
    Envelope {
        topic,
        time: Timestamp::from_millis(1_613_511_679_978),
        base_url: "http://localhost:9324",
        signature_version: "1",
        signer: &Unsigned,
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
  "SigningCertURL" : "http://localhost:9324/example.pem",
  "UnsubscribeURL" : "http://localhost:9324/?Action=Unsubscribe&SubscriptionArn=arn:aws:sns:us-east-1:000000000000:orders:s",
  "MessageAttributes" : {
    "a" : {"Type":"String","Value":"x"},
    "b" : {"Type":"Number","Value":"99.12"},
    "c" : {"Type":"Binary","Value":"AP8="}
  }
}"#;
    assert_eq!(text, expected.replace("ID", &id));
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

/// Records what is signed.
struct Recorder(std::cell::RefCell<String>);

impl Signer for Recorder {
    fn sign(&self, text: &str, version: &str, base_url: &str) -> Signed {
        *self.0.borrow_mut() = format!("{version}\n{text}");
        Unsigned.sign(text, version, base_url)
    }
}

#[test]
fn signature_covers_the_fields_in_the_order_of_aws() {
    let recorder = Recorder(std::cell::RefCell::default());
    let topic = TopicArn::new("us-east-1", "000000000000", "orders");
    let Envelope { time, base_url, .. } = envelope(&topic);
    let envelope = Envelope { topic: &topic, time, base_url, signature_version: "2", signer: &recorder };
    let id = uuid(&mut Seed(1).generator("ids"));
    let message = Message::new(Draft { text: "tea", subject: Some("news"), ..Draft::default() }).unwrap();
    envelope.notification(Protocol::Sqs, Receipt { id, sequence_number: None }, &message);
    let expected = format!(
        "2\nMessage\ntea\nMessageId\n{id}\nSubject\nnews\nTimestamp\n2021-02-16T21:41:19.978Z\nTopicArn\n{topic}\n\
         Type\nNotification\n"
    );
    assert_eq!(*recorder.0.borrow(), expected);
    let text = envelope.confirmation(id, "t");
    let signed = recorder.0.borrow().clone();
    let names: Vec<_> =
        signed.lines().filter(|line| ["Token", "SubscribeURL", "Message"].contains(line)).collect();
    assert_eq!(names, ["Message", "SubscribeURL", "Token"]);
    let parsed: Value = serde_json::from_str(&text).unwrap();
    let url = format!("http://localhost:9324/?Action=ConfirmSubscription&TopicArn={topic}&Token=t");
    assert_eq!(parsed["SubscribeURL"], url);
}
