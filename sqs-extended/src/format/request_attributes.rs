//! Adds the attributes of pointers to receive requests. Pure.

use sqs_client::operation::receive_message::ReceiveMessageInput;

use super::compat::RESERVED_ATTRIBUTES;

/// Adds both names, unless they are already requested.
pub(crate) fn request_attributes(input: &mut ReceiveMessageInput) {
    let missing = |names: &[String], reserved: &str| !names.iter().any(|name| covers(name, reserved));
    for reserved in RESERVED_ATTRIBUTES {
        if missing(input.message_attribute_names(), reserved) {
            input.message_attribute_names.get_or_insert_default().push(reserved.to_owned());
        }
    }
}

/// Whether a requested name covers an attribute: `All`, `.*`, `prefix.*`, or the attribute.
fn covers(name: &str, attribute: &str) -> bool {
    let by_prefix = || name.strip_suffix(".*").is_some_and(|prefix| attribute.starts_with(prefix));
    name == "All" || name == attribute || by_prefix()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(names: &[&str]) -> Vec<String> {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let input = ReceiveMessageInput::builder().set_message_attribute_names(Some(names));
        let mut input = input.build().expect("complete");
        request_attributes(&mut input);
        input.message_attribute_names.unwrap_or_default()
    }

    #[test]
    fn both_names_are_requested_once() {
        let both = ["ExtendedPayloadSize", "SQSLargePayloadSize"];
        assert_eq!(requested(&[]), both);
        assert_eq!(requested(&["color"]), ["color", both[0], both[1]]);
        assert_eq!(requested(&["SQSLargePayloadSize"]), [both[1], both[0]]);
        assert_eq!(requested(&["All"]), ["All"]);
        assert_eq!(requested(&[".*"]), [".*"]);
        assert_eq!(requested(&["Extended.*"]), ["Extended.*", both[1]]);
        assert_eq!(requested(&["color.*"]), ["color.*", both[0], both[1]]);
    }
}
