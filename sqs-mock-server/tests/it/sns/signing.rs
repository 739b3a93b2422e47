//! Section 3.1: "RSA PKCS#1 v1.5 over `name\nvalue\n`", verified like a consumer does: with the certificate at
//! `SigningCertURL`.

use rsa::sha2::{Digest as _, Sha256};
use rsa::{BoxedUint, PublicKey};
use serde_json::Value;
use sha1::Sha1;

use super::*;

pub(super) const OF_NOTIFICATION: &[&str] =
    &["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"];
pub(super) const OF_CONFIRMATION: &[&str] =
    &["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];

impl Sns {
    /// The path in a URL of this server.
    fn path<'u>(&self, url: &'u Value) -> &'u str {
        let url = url.as_str().expect("a URL");
        url.strip_prefix(self.server.endpoint_url()).expect("a URL of this server")
    }

    /// The certificate of a message, as DER.
    async fn certificate(&mut self, message: &Value) -> Vec<u8> {
        let path = self.path(&message["SigningCertURL"]).to_owned();
        let answer = self.wire.get(&path).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "application/x-pem-file"));
        let lines = answer.text().lines().filter(|line| !line.starts_with("-----"));
        let der = base64_simd::STANDARD.decode_to_vec(lines.collect::<String>()).expect("base64");
        let fingerprint = Sha256::digest(&der);
        let name: Vec<_> = fingerprint.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(path, format!("/SimpleNotificationService-{}.pem", name.concat()));
        der
    }

    /// Whether the signature of a message covers the values of these fields.
    pub(super) async fn is_verified(&mut self, message: &Value, fields: &[&str]) -> bool {
        let der = self.certificate(message).await;
        let key = public_key(&der);
        let signed = fields.iter().filter_map(|name| Some([*name, "\n", message[*name].as_str()?, "\n"]));
        let signed: String = signed.flatten().collect();
        let signature = message["Signature"].as_str().expect("a signature");
        let signature = base64_simd::STANDARD.decode_to_vec(signature).expect("base64");
        let verified = match message["SignatureVersion"].as_str() {
            Some("1") => key.pkcs1v15_verify::<Sha1>(signed.as_bytes(), &signature),
            Some("2") => key.pkcs1v15_verify::<Sha256>(signed.as_bytes(), &signature),
            other => panic!("signature version {other:?}"),
        };
        verified.is_ok()
    }
}

/// The key of a certificate: a sequence of a modulus with 2048 bits and the exponent 65537.
fn public_key(certificate: &[u8]) -> PublicKey {
    const START: [u8; 9] = [0x30, 0x82, 0x01, 0x0a, 0x02, 0x82, 0x01, 0x01, 0x00];
    let start = certificate.windows(START.len()).position(|window| window == START).expect("an RSA key");
    let (modulus, rest) = certificate[start + START.len()..].split_at(256);
    assert!(rest.starts_with(&[0x02, 0x03, 0x01, 0x00, 0x01]));
    let modulus = BoxedUint::from_be_slice(modulus, 2048).unwrap();
    PublicKey::new(modulus, BoxedUint::from(65_537_u64)).unwrap()
}

fn parse(body: &str) -> Value {
    serde_json::from_str(body).expect("JSON")
}

#[tokio::test]
async fn signatures_of_both_versions_are_verified_by_the_certificate() {
    let mut sns = Sns::start().await;
    for version in ["1", "2"] {
        let topic = sns.topic(&format!("v{version}"), &[("SignatureVersion", version)]).await;
        let queue = format!("q{version}");
        sns.subscribe_queue(&topic, &queue, &[]).await;
        sns.publish(&topic, "tea").await;
        let with_subject = [("TopicArn", &*topic), ("Message", "{\"k\":\n\"ä\"}"), ("Subject", "news")];
        sns.ask("Publish", &with_subject).await;
        let bodies = sns.bodies(&queue).await;
        assert_eq!(bodies.len(), 2);
        for mut message in bodies.iter().map(|body| parse(body)) {
            assert_eq!(message["SignatureVersion"], version);
            assert!(sns.is_verified(&message, OF_NOTIFICATION).await, "{message}");
            message["Message"] = "coffee".into();
            assert!(!sns.is_verified(&message, OF_NOTIFICATION).await, "{message}");
        }
    }
}

#[tokio::test]
async fn subscribers_share_a_signature_but_not_the_link_to_unsubscribe() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let first = sns.subscribe_queue(&topic, "first", &[]).await;
    let second = sns.subscribe_queue(&topic, "second", &[]).await;
    sns.publish(&topic, "tea").await;
    let messages =
        [parse(&sns.bodies("first").await.remove(0)), parse(&sns.bodies("second").await.remove(0))];
    assert_eq!(messages[0]["Signature"], messages[1]["Signature"]);
    for (message, subscription) in messages.iter().zip([first, second]) {
        assert!(sns.is_verified(message, OF_NOTIFICATION).await, "{message}");
        assert!(message["UnsubscribeURL"].as_str().unwrap().ends_with(&subscription), "{message}");
    }
}

#[tokio::test]
async fn request_for_confirmation_is_signed() {
    let mut sns = Sns::start().await;
    let topic = sns.topic("a", &[]).await;
    let headers = format!("{FORM}{}", scope("sqs", "us-east-1").replace("test/", "111122223333/"));
    sns.wire.exchange("POST /", &headers, b"Action=CreateQueue&QueueName=q").await;
    sns.subscribe(&topic, ("sqs", "arn:aws:sqs:us-east-1:111122223333:q"), &[]).await;
    let receive = "Action=ReceiveMessage&QueueUrl=http://x/111122223333/q";
    let message = parse(&sns.wire.exchange("POST /", &headers, receive.as_bytes()).await.value("Body"));
    assert_eq!(message["Type"], "SubscriptionConfirmation");
    assert!(sns.is_verified(&message, OF_CONFIRMATION).await, "{message}");
}

#[tokio::test]
async fn certificate_needs_no_credentials() {
    let mut sns = Sns::with(MockSqs::builder().require_signatures([("AKID", "secret")])).await;
    let url = "/SimpleNotificationService-8552410081d1755dbb44968db8e7037f.pem";
    assert_eq!(sns.wire.get(url).await.status, 200);
    for other in [url.replace("85", "00"), url.replace(".pem", "")] {
        assert_ne!(sns.wire.get(&other).await.status, 200, "{other}");
    }
}
