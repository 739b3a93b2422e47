//! Test vectors recorded from AWS (V1 to V3) or computed by an independent implementation (V4).

use super::*;
use crate::types::MessageSystemAttributeNameForSends;

fn attributes<const N: usize>(
    pairs: [(&str, MessageAttributeValue); N],
) -> HashMap<String, MessageAttributeValue> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn labelled(mut value: MessageAttributeValue, data_type: &str) -> MessageAttributeValue {
    data_type.clone_into(&mut value.data_type);
    value
}

fn md5(attributes: &HashMap<String, MessageAttributeValue>) -> String {
    md5_of_attributes(attributes).expect("has attributes").into()
}

#[test]
fn v1_string_number_and_binary() {
    let all = attributes([
        ("color", MessageAttributeValue::string("blue")),
        ("count", MessageAttributeValue::number(3)),
        ("blob", MessageAttributeValue::binary([1, 2, 3])),
    ]);
    assert_eq!(md5(&all), "d838729972a4b70e2d2acd9d59ac847c");
    let subset = attributes([("color", MessageAttributeValue::string("blue"))]);
    assert_eq!(md5(&subset), "da1b33cc3cbfe8b1630921e78e6b9880");
    assert_eq!(md5_of_body("hello").as_str(), "5d41402abc4b2a76b9719d911017c592");
}

#[test]
fn v2_single_character_name_and_value() {
    let one = attributes([("k", MessageAttributeValue::string("x"))]);
    assert_eq!(md5(&one), "a45daa70926828a2f0a1db3418e6feb4");
}

#[test]
fn v3_system_attributes() {
    let value = MessageSystemAttributeValue::builder()
        .data_type("String")
        .string_value("Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1")
        .build()
        .expect("has a data type");
    let system = HashMap::from([(MessageSystemAttributeNameForSends::AwsTraceHeader, value)]);
    let md5: String = md5_of_attributes(&system).expect("has attributes").into();
    assert_eq!(md5, "5ae4d5d7636402d80f4eb6d213245a88");
}

#[test]
fn v4_labels_byte_order_and_non_ascii_text() {
    let all = attributes([
        ("Zeta", labelled(MessageAttributeValue::number(42), "Number.int")),
        ("alpha", labelled(MessageAttributeValue::binary([0, 1, 2, 255]), "Binary.png")),
        ("City", MessageAttributeValue::string("Zürich €")),
    ]);
    assert_eq!(md5(&all), "295ef2840065c084ed61b3ffef1ef9fd");
    let body = r#"{"order":"№ 42 – žluťoučký","n":1}"#;
    assert_eq!(md5_of_body(body).as_str(), "867cba32b4c0bedcd58fba5fd5af65fa");
    assert_eq!(
        content_deduplication_id(body),
        "5167ce20420eca6e8f96c8e61ddc938fed9e4ee2a215f03691518eb7a28d5071"
    );
}

#[test]
fn further_recorded_vectors() {
    let timestamp = attributes([("timestamp", MessageAttributeValue::number("1493147359900"))]);
    assert_eq!(md5(&timestamp), "235c5c510d26fb653d073faed50ae77c");
    let foo = attributes([("Foo", MessageAttributeValue::string("Bar"))]);
    assert_eq!(md5(&foo), "ae7155c6026991b6d54b11589678bf9c");
    let mut hello = attributes([
        ("General", MessageAttributeValue::string("Kenobi")),
        ("Hello", MessageAttributeValue::string("There")),
        ("Help.Me", MessageAttributeValue::string("Me")),
    ]);
    assert_eq!(md5(&hello), "4c360f3fdafd970e05fae2f149d997f5");
    hello.remove("Help.Me");
    assert_eq!(md5(&hello), "fca026605781cb4126a1e9044df24232");
    assert_eq!(
        content_deduplication_id("same"),
        "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5"
    );
    assert_eq!(
        content_deduplication_id(r#"{"foo": "bar"}"#),
        "426fc04f04bf8fdb5831dc37bbb6dcf70f63a37e05a68c6ea5f63e85ae579376"
    );
}

#[test]
fn md5_of_many_bodies_equals_md5_of_each() {
    let bodies = |lengths: &[usize]| -> Vec<String> {
        lengths.iter().enumerate().map(|(at, length)| at.to_string().repeat(*length)).collect()
    };
    for lengths in [&[][..], &[5], &[40, 9, 70, 0], &[100_000, 1, 2, 3, 4], &[900; 10], &[60; 37]] {
        let bodies = bodies(lengths);
        let bodies: Vec<_> = bodies.iter().map(String::as_str).collect();
        let alone: Vec<_> = bodies.iter().copied().map(md5_of_body).collect();
        assert_eq!(md5_of_bodies(&bodies), alone, "{lengths:?}");
    }
}

#[test]
fn md5_of_no_attributes_is_none() {
    assert_eq!(md5_of_attributes(&attributes([])), None);
}

#[test]
fn message_size_counts_body_names_types_and_decoded_values() {
    let all = attributes([("blob", MessageAttributeValue::binary([1, 2, 3]))]);
    assert_eq!(message_size("Zürich", Some(&all)), 7 + 4 + 6 + 3);
    assert_eq!(message_size("", None), 0);
}

#[test]
fn hash_and_digits_convert_into_each_other() {
    let hex = md5_of_body("hello");
    assert_eq!(Md5Hex::from_hash(hex.hash()), hex);
    assert_eq!(hex.hash()[..3], [0x5d, 0x41, 0x40]);
}
