//! Converts AWS JSON inputs to Query forms with the table of section 4.1.

use serde_json::Value;

/// The form of an action with a JSON input.
pub(super) fn form(action: &str, input: &Value) -> String {
    let mut form = format!("Action={action}&Version=2012-11-05");
    members(&mut form, action, "", input);
    form
}

/// The form name of a member and, for maps, the names of key and value.
fn wire_name<'a>(action: &'a str, member: &'a str) -> (&'a str, [&'a str; 2]) {
    let name = match member {
        "Attributes" => "Attribute",
        "tags" | "Tags" => return ("Tag", ["Key", "Value"]),
        "TagKeys" => "TagKey",
        "AttributeNames" | "MessageSystemAttributeNames" => "AttributeName",
        "MessageAttributeNames" => "MessageAttributeName",
        "MessageAttributes" => "MessageAttribute",
        "MessageSystemAttributes" => "MessageSystemAttribute",
        "StringListValues" => "StringListValue",
        "BinaryListValues" => "BinaryListValue",
        "AWSAccountIds" => "AWSAccountId",
        "Actions" => "ActionName",
        "Entries" => match action {
            "SendMessageBatch" => "SendMessageBatchRequestEntry",
            "DeleteMessageBatch" => "DeleteMessageBatchRequestEntry",
            _ => "ChangeMessageVisibilityBatchRequestEntry",
        },
        other => other,
    };
    (name, ["Name", "Value"])
}

fn members(form: &mut String, action: &str, prefix: &str, shape: &Value) {
    for (member, value) in shape.as_object().expect("an object") {
        let (name, [key_name, value_name]) = wire_name(action, member);
        let name = format!("{prefix}{name}");
        match value {
            Value::Array(elements) => {
                for (number, element) in (1..).zip(elements) {
                    scalar_or_shape(form, action, &format!("{name}.{number}"), element);
                }
            }
            Value::Object(entries) => {
                for (number, (key, value)) in (1..).zip(entries) {
                    parameter(form, &format!("{name}.{number}.{key_name}"), key);
                    scalar_or_shape(form, action, &format!("{name}.{number}.{value_name}"), value);
                }
            }
            scalar => scalar_or_shape(form, action, &name, scalar),
        }
    }
}

fn scalar_or_shape(form: &mut String, action: &str, name: &str, value: &Value) {
    match value {
        Value::Object(_) => members(form, action, &format!("{name}."), value),
        Value::String(text) => parameter(form, name, text),
        other => parameter(form, name, &other.to_string()),
    }
}

fn parameter(form: &mut String, name: &str, value: &str) {
    form.push('&');
    form.push_str(name);
    form.push('=');
    form.push_str(&escaped(value));
}

/// Percent-encodes a text for a form or a URL query.
pub(super) fn escaped(text: &str) -> String {
    let escaped = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escaped).collect()
}
