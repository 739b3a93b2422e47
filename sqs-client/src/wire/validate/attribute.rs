//! Rules for message attributes and message system attributes: number, names, types and values.
//! [`Draft`](super::Draft) checks them.

use std::collections::HashMap;
use std::hash::BuildHasher;

use super::error::{NOT_TEXT, invalid_parameter, invalid_value, is_number, is_text};
use crate::types::{MessageAttributeValue, MessageSystemAttributeNameForSends, MessageSystemAttributeValue};
use crate::wire::limits::{MAX_ATTRIBUTE_NAME_CHARS, MAX_DATA_TYPE_CHARS, MAX_MESSAGE_ATTRIBUTES};
use crate::wire::service_error::{ErrorCode, ServiceError};

/// Validates message attributes: at most ten, each with a valid name and value.
///
/// # Errors
/// `InvalidParameterValue`.
pub fn message_attributes<S: BuildHasher>(
    attributes: &HashMap<String, MessageAttributeValue, S>,
) -> Result<(), ServiceError> {
    let count = attributes.len();
    if count > MAX_MESSAGE_ATTRIBUTES {
        return Err(invalid_parameter(format!(
            "Number of message attributes [{count}] exceeds the allowed maximum [{MAX_MESSAGE_ATTRIBUTES}]."
        )));
    }
    let errors = attributes.iter().filter_map(|(name, attribute)| {
        let checked = self::name(name).and_then(|()| value(name, attribute));
        checked.err().map(|error| (name, error))
    });
    // A map has no order. Sorting by name makes the reported error deterministic.
    errors.min_by_key(|(name, _)| *name).map_or(Ok(()), |(_, error)| Err(error))
}

/// Validates an attribute name: 1 to 256 letters, digits and `_-.`, no reserved prefix, no period at the start or end.
///
/// AWS documents ASCII letters and no `..`. Recorded responses of SQS accept letters of any script and `..`.
///
/// # Errors
/// `InvalidParameterValue`.
pub(crate) fn name(name: &str) -> Result<(), ServiceError> {
    if name.len() > MAX_ATTRIBUTE_NAME_CHARS && name.chars().count() > MAX_ATTRIBUTE_NAME_CHARS {
        return Err(invalid_parameter(format!(
            "Message (user) attribute name must be shorter than {MAX_ATTRIBUTE_NAME_CHARS} bytes"
        )));
    }
    if has_prefix(name, "AWS.") || has_prefix(name, "Amazon.") {
        return Err(invalid_parameter(
            "You can't use message attribute names beginning with 'AWS.' or 'Amazon.'. \
             These strings are reserved for internal use.",
        ));
    }
    let legal = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || name.starts_with('.') || name.ends_with('.') || !name.chars().all(legal) {
        return Err(invalid_parameter(format!(
            "The message attribute name '{name}' is invalid. Attribute name can contain A-Z, a-z, 0-9, \
             underscore (_), hyphen (-), and period (.) characters."
        )));
    }
    Ok(())
}

fn has_prefix(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Rejects list values, also empty ones, which a received attribute does not have. They reject the whole request.
///
/// # Errors
/// `UnsupportedOperation`.
pub(super) fn without_lists<S: BuildHasher>(
    operation: &str,
    attributes: &HashMap<String, MessageAttributeValue, S>,
) -> Result<(), ServiceError> {
    let has_list = |value: &MessageAttributeValue| {
        value.string_list_values.is_some() || value.binary_list_values.is_some()
    };
    if !attributes.values().any(has_list) {
        return Ok(());
    }
    let message = format!("Message attribute list values in {operation} operation are not supported.");
    Err(ServiceError::new(ErrorCode::UnsupportedOperation, message))
}

/// Validates an attribute value: a supported data type and a value of that type.
///
/// # Errors
/// `InvalidParameterValue`.
pub(crate) fn value(name: &str, attribute: &MessageAttributeValue) -> Result<(), ServiceError> {
    let text = attribute.string_value().unwrap_or_default();
    match family(name, attribute.data_type())? {
        "Binary" => return binary(name, attribute),
        other if attribute.binary_value.is_some() => return Err(wrong_field(name, other, "String")),
        other if text.is_empty() => return Err(empty(name, other)),
        "String" if !is_text(text) => return Err(invalid_parameter(NOT_TEXT)),
        "Number" if !is_number(text) => {}
        _ => return Ok(()),
    }
    Err(invalid_parameter(format!("Can't cast the value of message (user) attribute '{name}' to a number.")))
}

/// The data type without the label.
fn family<'a>(name: &str, data_type: &'a str) -> Result<&'a str, ServiceError> {
    if data_type.is_empty() {
        return Err(invalid_parameter(format!(
            "The message (user) attribute '{name}' must contain a non-empty attribute type."
        )));
    }
    if data_type.len() > MAX_DATA_TYPE_CHARS && data_type.chars().count() > MAX_DATA_TYPE_CHARS {
        return Err(invalid_parameter(format!(
            "Message (user) attribute type must be shorter than {MAX_DATA_TYPE_CHARS} bytes"
        )));
    }
    let family = data_type.split('.').next().unwrap_or_default();
    if matches!(family, "String" | "Number" | "Binary") {
        return Ok(family);
    }
    Err(invalid_parameter(format!(
        "The type of message (user) attribute '{name}' is invalid. You must use only the following supported \
         type prefixes: Binary, Number, String."
    )))
}

fn binary(name: &str, attribute: &MessageAttributeValue) -> Result<(), ServiceError> {
    match &attribute.binary_value {
        None => Err(wrong_field(name, "Binary", "Binary")),
        Some(_) if attribute.string_value.is_some() => Err(wrong_field(name, "Binary", "Binary")),
        Some(blob) if blob.as_ref().is_empty() => Err(empty(name, "Binary")),
        Some(_) => Ok(()),
    }
}

fn empty(name: &str, family: &str) -> ServiceError {
    invalid_parameter(format!(
        "Message (user) attribute '{name}' must contain a non-empty value of type '{family}'."
    ))
}

fn wrong_field(name: &str, family: &str, field: &str) -> ServiceError {
    invalid_parameter(format!(
        "The message (user) attribute '{name}' with type '{family}' must use field '{field}'."
    ))
}

/// Validates message system attributes. The only one is the X-Ray trace header, a `String`.
///
/// # Errors
/// `InvalidParameterValue`.
pub(crate) fn system_attributes<S: BuildHasher>(
    attributes: &HashMap<MessageSystemAttributeNameForSends, MessageSystemAttributeValue, S>,
) -> Result<(), ServiceError> {
    attributes.iter().try_for_each(|(name, value)| {
        let text = value.string_value().unwrap_or_default();
        if matches!(name, MessageSystemAttributeNameForSends::Unknown(_)) {
            return Err(invalid_value(
                "MessageSystemAttributes",
                name,
                "The only system attribute is AWSTraceHeader.",
            ));
        }
        if value.data_type() != "String" || value.binary_value.is_some() || text.is_empty() {
            let message = format!(
                "The message system attribute '{name}' must contain a non-empty value of type 'String'."
            );
            return Err(invalid_parameter(message));
        }
        if is_text(text) { Ok(()) } else { Err(invalid_parameter(NOT_TEXT)) }
    })
}

#[cfg(test)]
mod tests {
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
        for good in ["a", "A-z_0.9", "Zürich", "a..b", "awsome", "AWS", &"x".repeat(256), &"ü".repeat(256)]
        {
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
            (
                typed("String"),
                "Message (user) attribute 'X' must contain a non-empty value of type 'String'.",
            ),
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
            let value =
                MessageSystemAttributeValue::builder().data_type(data_type).string_value(text).build();
            let value = value.expect("a value");
            system_attributes(&HashMap::from([(MessageSystemAttributeNameForSends::from(name), value)]))
        };
        assert_eq!(check("AWSTraceHeader", "String", "Root=1-5759e988"), Ok(()));
        for (name, data_type, text) in [
            ("SenderId", "String", "me"),
            ("AWSTraceHeader", "Number", "1"),
            ("AWSTraceHeader", "String", ""),
        ] {
            let error = check(name, data_type, text).expect_err(name);
            assert_eq!(error.code, ErrorCode::InvalidParameterValue);
        }
    }
}
