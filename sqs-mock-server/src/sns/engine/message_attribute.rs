//! Rules for message attributes.
//!
//! Source: <https://docs.aws.amazon.com/sns/latest/dg/sns-message-attributes.html>

use std::collections::HashMap;

use serde_json::Value;
use sqs_client::types::MessageAttributeValue;

use super::refusal::invalid_value;
use crate::service::query_error::QueryError;

const MAX_NAME: usize = 256;

/// Validates all attributes of a message. Of several faults, that of the first name in byte order is reported.
///
/// # Errors
/// `ParameterValueInvalid`.
pub(super) fn validate(attributes: &HashMap<String, MessageAttributeValue>) -> Result<(), QueryError> {
    let faults = attributes.iter().filter_map(|(name, attribute)| {
        let checked = check_name(name).and_then(|()| check_value(name, attribute));
        checked.err().map(|fault| (name, fault))
    });
    let first = faults.min_by_key(|(name, _)| *name);
    first.map_or(Ok(()), |(_, fault)| Err(invalid_value(fault)))
}

fn check_name(name: &str) -> Result<(), String> {
    let is_legal = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let text = if name.len() > MAX_NAME {
        "Length of message attribute name must be less than 256 bytes."
    } else if let Some(illegal) = name.chars().find(|letter| !is_legal(*letter)) {
        return Err(format!(
            "Invalid non-alphanumeric character '#x{:X}' was found in the message attribute name. Can only include \
             alphanumeric characters, hyphens, underscores, or dots.",
            u32::from(illegal)
        ));
    } else if name.starts_with('.') {
        "Invalid message attribute name starting with character '.' was found."
    } else if name.ends_with('.') {
        "Invalid message attribute name ending with character '.' was found."
    } else if name.contains("..") {
        "Message attribute name can not have successive '.' character."
    } else {
        return Ok(());
    };
    Err(text.to_owned())
}

fn check_value(name: &str, attribute: &MessageAttributeValue) -> Result<(), String> {
    let data_type = attribute.data_type();
    let text = attribute.string_value().unwrap_or_default();
    let has_bytes = attribute.binary_value().is_some_and(|bytes| !bytes.as_ref().is_empty());
    let wrong_field = |field: &str| {
        format!("The message attribute '{name}' with type '{data_type}' must use field '{field}'.")
    };
    Err(match family(data_type) {
        None => format!(
            "The message attribute '{name}' has an invalid message attribute type, the set of supported type prefixes \
             is Binary, Number, and String."
        ),
        Some("Binary") if !text.is_empty() => wrong_field("Binary"),
        Some("String" | "Number") if has_bytes => wrong_field("String"),
        Some(_) if text.is_empty() && !has_bytes => format!(
            "The message attribute '{name}' must contain non-empty message attribute value for message attribute \
             type '{data_type}'."
        ),
        Some("Number") if !is_number(text) => {
            format!("Could not cast message attribute '{name}' value to number.")
        }
        Some(_) if data_type == "String.Array" && !is_array(text) => {
            format!("The message attribute '{name}' with type 'String.Array' must be a JSON array.")
        }
        Some(_) => return Ok(()),
    })
}

/// The data type without its label. A label has at least one character.
fn family(data_type: &str) -> Option<&str> {
    let (family, label) =
        data_type.split_once('.').map_or((data_type, None), |(family, label)| (family, Some(label)));
    (matches!(family, "String" | "Number" | "Binary") && label != Some("")).then_some(family)
}

fn is_number(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    text.bytes().all(legal) && text.parse::<f64>().is_ok()
}

/// A JSON array of strings, numbers, booleans and null.
fn is_array(text: &str) -> bool {
    let is_scalar = |value: &Value| !value.is_array() && !value.is_object();
    serde_json::from_str::<Vec<Value>>(text).is_ok_and(|array| array.iter().all(is_scalar))
}

#[cfg(test)]
#[path = "message_attribute_tests.rs"]
mod tests;
