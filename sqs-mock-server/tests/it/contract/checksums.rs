//! Section 6: MD5 checksums, with the vectors of the contract.

use serde_json::{Value, json};

use super::answers::text;
use crate::session::{BOTH, Session};

const BODY: &str = "{\"order\":\"№ 42 – žluťoučký\",\"n\":1}";

fn string(value: &str) -> Value {
    json!({ "DataType": "String", "StringValue": value })
}

fn number(value: &str) -> Value {
    json!({ "DataType": "Number", "StringValue": value })
}

/// 6: MD5 of bodies.
#[tokio::test]
async fn md5_of_body_covers_its_bytes() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        for (body, md5) in
            [("hello", "5d41402abc4b2a76b9719d911017c592"), (BODY, "867cba32b4c0bedcd58fba5fd5af65fa")]
        {
            assert_eq!(s.put(&url, body).await["MD5OfMessageBody"], md5);
            assert_eq!(s.take(&url, json!({})).await[0]["MD5OfBody"], md5);
        }
    }
}

/// 6: V1, V2, V4 and "More"; on single sends, in batches, and on receive.
#[tokio::test]
async fn md5_of_attributes_matches_the_vectors() {
    let v1 = json!({
        "color": string("blue"), "count": number("3"), "blob": { "DataType": "Binary", "BinaryValue": "AQID" },
    });
    let v4 = json!({
        "Zeta": { "DataType": "Number.int", "StringValue": "42" },
        "alpha": { "DataType": "Binary.png", "BinaryValue": "AAEC/w==" },
        "City": string("Zürich €"),
    });
    let kenobi = json!({ "General": string("Kenobi"), "Hello": string("There"), "Help.Me": string("Me") });
    let vectors = [
        (v1, "d838729972a4b70e2d2acd9d59ac847c"),
        (json!({ "k": string("x") }), "a45daa70926828a2f0a1db3418e6feb4"),
        (v4, "295ef2840065c084ed61b3ffef1ef9fd"),
        (json!({ "timestamp": number("1493147359900") }), "235c5c510d26fb653d073faed50ae77c"),
        (json!({ "Foo": string("Bar") }), "ae7155c6026991b6d54b11589678bf9c"),
        (kenobi, "4c360f3fdafd970e05fae2f149d997f5"),
    ];
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        for (attributes, md5) in &vectors {
            let input = json!({ "QueueUrl": url, "MessageBody": "x", "MessageAttributes": attributes });
            assert_eq!(s.done("SendMessage", &input).await["MD5OfMessageAttributes"], *md5);
            let entry = json!({ "Id": "a", "MessageBody": "x", "MessageAttributes": attributes });
            let batch = s.done("SendMessageBatch", &json!({ "QueueUrl": url, "Entries": [entry] })).await;
            assert_eq!(batch["Successful"][0]["MD5OfMessageAttributes"], *md5);
            let received =
                s.take(&url, json!({ "MessageAttributeNames": ["All"], "MaxNumberOfMessages": 10 })).await;
            assert_eq!(received.len(), 2);
            for message in received {
                assert_eq!(
                    (&message["MD5OfMessageAttributes"], &message["MessageAttributes"]),
                    (&json!(md5), attributes)
                );
            }
        }
    }
}

/// 2.1 and 6: "computed over the RETURNED subset".
#[tokio::test]
async fn receive_returns_the_md5_of_the_returned_attributes() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({ "VisibilityTimeout": "0" })).await;
        let attributes = json!({
            "color": string("blue"), "General": string("Kenobi"), "Hello": string("There"), "Help.Me": string("Me"),
        });
        let input = json!({ "QueueUrl": url, "MessageBody": "x", "MessageAttributes": attributes });
        s.done("SendMessage", &input).await;
        for (names, md5) in [
            (json!(["color"]), "da1b33cc3cbfe8b1630921e78e6b9880"),
            (json!(["General", "Hello"]), "fca026605781cb4126a1e9044df24232"),
            (json!(["General", "Hel.*"]), "4c360f3fdafd970e05fae2f149d997f5"),
        ] {
            let message = s.take(&url, json!({ "MessageAttributeNames": names })).await.remove(0);
            assert_eq!(message["MD5OfMessageAttributes"], md5, "{names}");
        }
    }
}

/// 6: V3; "hashed apart, and never part of the user hash".
#[tokio::test]
async fn system_attributes_have_a_separate_md5() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.queue("q", json!({})).await;
        let trace = string("Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1");
        let mut input = json!({
            "QueueUrl": url, "MessageBody": "x", "MessageSystemAttributes": { "AWSTraceHeader": trace },
        });
        let sent = s.done("SendMessage", &input).await;
        assert_eq!(sent["MD5OfMessageSystemAttributes"], "5ae4d5d7636402d80f4eb6d213245a88");
        assert_eq!(sent.get("MD5OfMessageAttributes"), None);
        input["MessageAttributes"] = json!({ "k": string("x") });
        let sent = s.done("SendMessage", &input).await;
        assert_eq!(sent["MD5OfMessageSystemAttributes"], "5ae4d5d7636402d80f4eb6d213245a88");
        assert_eq!(sent["MD5OfMessageAttributes"], "a45daa70926828a2f0a1db3418e6feb4");
    }
}

/// 6: "Content dedup id: lower-case hex sha256 of the body bytes only, no attributes".
#[tokio::test]
async fn deduplication_id_is_the_hash_of_the_content() {
    for protocol in BOTH {
        let mut s = Session::start(protocol).await;
        let url = s.fifo("q.fifo", json!({ "ContentBasedDeduplication": "true" })).await;
        for (body, id) in [
            ("same", "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5"),
            ("{\"foo\": \"bar\"}", "426fc04f04bf8fdb5831dc37bbb6dcf70f63a37e05a68c6ea5f63e85ae579376"),
            (BODY, "5167ce20420eca6e8f96c8e61ddc938fed9e4ee2a215f03691518eb7a28d5071"),
        ] {
            let mut input = json!({ "QueueUrl": url, "MessageBody": body, "MessageGroupId": "g" });
            let first = s.done("SendMessage", &input).await;
            input["MessageAttributes"] = json!({ "k": string("x") });
            assert_eq!(s.done("SendMessage", &input).await["MessageId"], first["MessageId"], "{body}");
            let message = s.with_attributes(&url).await;
            assert_eq!(message["Attributes"]["MessageDeduplicationId"], id, "{body}");
            s.delete(&url, &text(&message["ReceiptHandle"])).await;
        }
    }
}
