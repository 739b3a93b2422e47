use aws_smithy_types::Blob;

use super::*;
use crate::types::builders::MessageAttributeValueBuilder;

fn typed(data_type: &str) -> MessageAttributeValueBuilder {
    MessageAttributeValue::builder().data_type(data_type)
}

fn check(attribute: MessageAttributeValueBuilder) -> Result<(), ServiceError> {
    value("X", &attribute.build().expect("a value"))
}

#[test]
fn attribute_names_follow_recorded_responses() {
    for good in ["a", "A-z_0.9", "Zürich", "a..b", "awsome", "AWS", &"x".repeat(256), &"ü".repeat(256)] {
        assert_eq!(name(good), Ok(()), "{good}");
    }
    let bad = ["", ".a", "a.", "a b", "a/b", "AWS.x", "aws.x", "Amazon.x", "aMaZoN.x", &"x".repeat(257)];
    for bad in bad {
        assert_eq!(name(bad).expect_err(bad).code, ErrorCode::InvalidParameterValue);
    }
}

#[test]
fn values_of_all_types_pass_with_and_without_label() {
    for good in [
        typed("String").string_value("x"),
        typed("String.note").string_value("Zürich €"),
        typed("Number").string_value("42"),
        typed("Number.int").string_value("-4.2e10"),
        typed("Binary").binary_value(Blob::new([0])),
        typed("Binary.png").binary_value(Blob::new([0xFF; 10])),
        typed(&format!("String.{}", "x".repeat(249))).string_value("x"),
    ] {
        assert_eq!(check(good.clone()), Ok(()), "{good:?}");
    }
}

#[test]
fn invalid_values_are_rejected_with_the_messages_of_sqs() {
    let type_text = "The type of message (user) attribute 'X' is invalid. You must use only the following \
                     supported type prefixes: Binary, Number, String.";
    let table = [
        (
            typed("").string_value("x"),
            "The message (user) attribute 'X' must contain a non-empty attribute type.",
        ),
        (typed("string").string_value("x"), type_text),
        (typed("Strings").string_value("x"), type_text),
        (typed("Float").string_value("x"), type_text),
        (typed("String"), "Message (user) attribute 'X' must contain a non-empty value of type 'String'."),
        (
            typed("Number").string_value(""),
            "Message (user) attribute 'X' must contain a non-empty value of type 'Number'.",
        ),
        (
            typed("Number").string_value("x"),
            "Can't cast the value of message (user) attribute 'X' to a number.",
        ),
        (
            typed("Binary").string_value("x"),
            "The message (user) attribute 'X' with type 'Binary' must use field 'Binary'.",
        ),
        (
            typed("Binary").binary_value(Blob::new([])),
            "Message (user) attribute 'X' must contain a non-empty value of type 'Binary'.",
        ),
        (
            typed("String").binary_value(Blob::new([1])),
            "The message (user) attribute 'X' with type 'String' must use field 'String'.",
        ),
        (typed("String").string_value("\u{1}"), NOT_TEXT),
        (
            typed(&format!("String.{}", "x".repeat(250))).string_value("x"),
            "Message (user) attribute type must be shorter than 256 bytes",
        ),
    ];
    for (attribute, text) in table {
        let error = check(attribute.clone()).expect_err(text);
        assert_eq!(error, ServiceError::new(ErrorCode::InvalidParameterValue, text), "{attribute:?}");
    }
}

#[test]
fn list_values_are_rejected_also_if_empty() {
    let string = || typed("String").string_value("x");
    let binary = || typed("Binary").binary_value(Blob::new([1]));
    let lists = [
        string().string_list_values("y"),
        string().set_string_list_values(Some(Vec::new())),
        binary().binary_list_values(Blob::new([1])),
        binary().set_binary_list_values(Some(Vec::new())),
    ];
    for list in lists {
        let attributes = HashMap::from([("X".to_owned(), list.build().expect("a value"))]);
        let error = without_lists("SendMessage", &attributes).expect_err("a list");
        let text = "Message attribute list values in SendMessage operation are not supported.";
        assert_eq!((error.code, error.message.as_deref()), (ErrorCode::UnsupportedOperation, Some(text)));
    }
    let attributes = HashMap::from([("X".to_owned(), string().build().expect("a value"))]);
    assert_eq!(without_lists("SendMessage", &attributes), Ok(()));
}

#[test]
fn more_than_ten_attributes_are_rejected() {
    let many = |count: i32| -> HashMap<_, _> {
        (0..count).map(|n| (format!("a{n}"), MessageAttributeValue::number(n))).collect()
    };
    assert_eq!(message_attributes(&many(10)), Ok(()));
    let error = message_attributes(&many(11)).expect_err("eleven");
    let text = "Number of message attributes [11] exceeds the allowed maximum [10].";
    assert_eq!(error.message.as_deref(), Some(text));
}

#[test]
fn only_a_string_trace_header_is_a_valid_system_attribute() {
    let check = |name: &str, data_type: &str, text: &str| {
        let value = MessageSystemAttributeValue::builder().data_type(data_type).string_value(text).build();
        let value = value.expect("a value");
        system_attributes(&HashMap::from([(MessageSystemAttributeNameForSends::from(name), value)]))
    };
    assert_eq!(check("AWSTraceHeader", "String", "Root=1-5759e988"), Ok(()));
    for (name, data_type, text) in
        [("SenderId", "String", "me"), ("AWSTraceHeader", "Number", "1"), ("AWSTraceHeader", "String", "")]
    {
        let error = check(name, data_type, text).expect_err(name);
        assert_eq!(error.code, ErrorCode::InvalidParameterValue);
    }
}
