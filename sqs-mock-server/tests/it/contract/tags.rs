//! Section 5.1: tags.

use serde_json::{Value, json};

use super::code::PARAMETER;
use crate::session::{BOTH, Session};

/// 5.1: "key 1..128, value 0..256 (empty value allowed), `aws:` prefix reserved".
/// Not recorded: code and text of the refusals.
#[tokio::test]
async fn tags_have_length_limits_and_a_reserved_prefix() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let (key, value) = ("k".repeat(128), "v".repeat(256));
        let good = json!({ key.clone(): value, "empty": "", "Zürich": "€" });
        s.done("TagQueue", &json!({ "QueueUrl": url, "Tags": good })).await;
        assert_eq!(s.done("ListQueueTags", &json!({ "QueueUrl": url })).await["Tags"], good);
        for (bad, value) in [
            ("", "v".to_owned()),
            (&*format!("{key}k"), "v".to_owned()),
            ("k", format!("{value}v")),
            ("aws:k", "v".to_owned()),
        ] {
            let tags = json!({ bad: value });
            let input = json!({ "QueueUrl": url, "Tags": tags });
            s.refused("TagQueue", &input).await.is(&format!("{bad}={value}"), PARAMETER);
            s.refused("CreateQueue", &json!({ "QueueName": "n", "tags": tags })).await.is(bad, PARAMETER);
        }
    }
}

/// 5.1: "50 recommended max": more are accepted.
/// Not recorded: the limit. This server accepts 1,000 tags, to bound its memory.
#[tokio::test]
async fn more_than_fifty_tags_are_accepted() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let tags = |from: u32, to: u32| -> Value {
            (from..to)
                .map(|number| (number.to_string(), json!("v")))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        for (from, to) in [(0, 50), (50, 51), (51, 1_000), (999, 1_000)] {
            s.done("TagQueue", &json!({ "QueueUrl": url, "Tags": tags(from, to) })).await;
        }
        let input = json!({ "QueueUrl": url, "Tags": tags(1_000, 1_001) });
        s.refused("TagQueue", &input).await.is("1,001", PARAMETER);
        let all = s.done("ListQueueTags", &json!({ "QueueUrl": url })).await;
        assert_eq!(all["Tags"].as_object().unwrap().len(), 1_000);
    }
}

/// Not recorded: the order. This server sorts by key.
#[tokio::test]
async fn tags_are_listed_by_key() {
    let mut s = Session::start(sqs_client::wire::protocol::Protocol::AwsJson).await;
    let url = s.queue("q", json!({})).await;
    let keys = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let tags: Value = keys
        .iter()
        .rev()
        .map(|key| ((*key).to_owned(), json!("v")))
        .collect::<serde_json::Map<_, _>>()
        .into();
    s.done("TagQueue", &json!({ "QueueUrl": url, "Tags": tags })).await;
    let answer = s.wire.json("ListQueueTags", json!({ "QueueUrl": url }).to_string()).await;
    let places = keys.map(|key| answer.text().find(&format!("\"{key}\":")).expect("the key"));
    assert!(places.is_sorted(), "{}", answer.text());
}
