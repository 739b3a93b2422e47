//! Section 5.3: message attributes.

use serde_json::{Value, json};

use super::code::PARAMETER;
use super::messages::{message, start, text_attribute};
use crate::session::BOTH;

fn many(count: u32) -> Value {
    let attributes =
        (0..count).map(|n| (format!("a{n}"), json!({ "DataType": "String", "StringValue": "x" })));
    attributes.collect::<serde_json::Map<_, _>>().into()
}

/// 5.3: "Attributes: <= 10".
/// Not recorded: the text.
#[tokio::test]
async fn message_has_at_most_ten_attributes() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        s.done("SendMessage", &message(&many(10))).await;
        let text = "Number of message attributes [11] exceeds the allowed maximum [10].";
        s.refused("SendMessage", &message(&many(11))).await.says("11", PARAMETER, text);
    }
}

/// 5.3: names of attributes; umlauts and two periods pass (9.6).
/// Not recorded: the texts.
#[tokio::test]
async fn attribute_names_have_letters_digits_hyphens_underscores_and_periods() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        for good in ["a", "A-z_0.9", "Größe", "a..b", "awsome", "AWSx", "Amazon", &"n".repeat(256)] {
            s.done("SendMessage", &message(&text_attribute(good, "x"))).await;
        }
        let two = json!({
            "a": { "DataType": "String", "StringValue": "x" }, "A": { "DataType": "String", "StringValue": "y" },
        });
        s.done("SendMessage", &message(&two)).await;
        for bad in ["AWS.x", "aws.x", "Amazon.x", "aMAZON.x", ".a", "a.", "a b", "a/b", "", &"n".repeat(257)]
        {
            s.refused("SendMessage", &message(&text_attribute(bad, "x"))).await.is(bad, PARAMETER);
        }
    }
}

/// 5.3: `DataType` and the matching value; the text about an empty value.
#[tokio::test]
async fn types_are_string_number_and_binary_with_an_optional_label() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        let longest = format!("String.{}", "l".repeat(249));
        for (data_type, member, value) in [
            ("String", "StringValue", "x"),
            ("String.json", "StringValue", "{}"),
            ("Number.float", "StringValue", "1.5"),
            ("Binary.png", "BinaryValue", "AA=="),
            (&*longest, "StringValue", "x"),
        ] {
            s.done("SendMessage", &message(&json!({ "X": { "DataType": data_type, member: value } }))).await;
        }
        let empty = message(&text_attribute("X", ""));
        let text = "Message (user) attribute 'X' must contain a non-empty value of type 'String'.";
        s.refused("SendMessage", &empty).await.says("empty value", PARAMETER, text);
        let too_long = message(&json!({ "X": { "DataType": longest + "l", "StringValue": "x" } }));
        s.refused("SendMessage", &too_long).await.is("type of 257", PARAMETER);
    }
}

/// 5.3: other errors of values.
/// Not recorded: the texts.
#[tokio::test]
async fn values_that_do_not_match_their_type_are_rejected() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        let prefixes = "The type of message (user) attribute 'X' is invalid. You must use only the following supported \
                        type prefixes: Binary, Number, String.";
        let no_type = "The message (user) attribute 'X' must contain a non-empty attribute type.";
        let binary = "The message (user) attribute 'X' with type 'Binary' must use field 'Binary'.";
        for (value, text) in [
            (json!({ "DataType": "string", "StringValue": "x" }), prefixes),
            (json!({ "DataType": "Text", "StringValue": "x" }), prefixes),
            (json!({ "DataType": "Stringx", "StringValue": "x" }), prefixes),
            (json!({ "DataType": "", "StringValue": "x" }), no_type),
            (json!({ "StringValue": "x" }), no_type),
            (json!({ "DataType": "Binary", "StringValue": "x" }), binary),
            (json!({ "DataType": "Binary" }), binary),
        ] {
            let input = message(&json!({ "X": value }));
            s.refused("SendMessage", &input).await.says(&value.to_string(), PARAMETER, text);
        }
        for value in [
            json!({ "DataType": "String", "BinaryValue": "AA==" }),
            json!({ "DataType": "String" }),
            json!({ "DataType": "Binary", "BinaryValue": "" }),
        ] {
            let input = message(&json!({ "X": value }));
            s.refused("SendMessage", &input).await.is(&value.to_string(), PARAMETER);
        }
    }
}

/// 5.3: numbers, which are returned unchanged.
/// Not recorded: the text.
#[tokio::test]
async fn numbers_are_decimal_with_up_to_38_digits() {
    for protocol in BOTH {
        let mut s = start(protocol).await;
        let number = |value: &str| message(&json!({ "X": { "DataType": "Number", "StringValue": value } }));
        let digits = "1".repeat(38);
        for good in ["0", "-1.50", "+007", "1e126", "1E-128", ".5", &digits] {
            s.done("SendMessage", &number(good)).await;
            let received = s.take("/000000000000/q", json!({ "MessageAttributeNames": ["X"] })).await;
            assert_eq!(received[0]["MessageAttributes"]["X"]["StringValue"], good);
        }
        let text = "Can't cast the value of message (user) attribute 'X' to a number.";
        for bad in ["x", "1,5", "0x10", "NaN", "1e127", "1e-129", " 1", &format!("{digits}1")] {
            s.refused("SendMessage", &number(bad)).await.says(bad, PARAMETER, text);
        }
    }
}
