//! Requests the attributes of pointers. Pure.

use sqs_client::operation::receive_message::ReceiveMessageInput;

use super::compat::RESERVED_ATTRIBUTES;

/// Adds both names, unless they are requested.
pub(crate) fn ask(input: &mut ReceiveMessageInput) {
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

    fn asked(names: &[&str]) -> Vec<String> {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let input = ReceiveMessageInput::builder().set_message_attribute_names(Some(names));
        let mut input = input.build().expect("complete");
        ask(&mut input);
        input.message_attribute_names.unwrap_or_default()
    }

    #[test]
    fn both_names_are_requested_once() {
        let both = ["ExtendedPayloadSize", "SQSLargePayloadSize"];
        assert_eq!(asked(&[]), both);
        assert_eq!(asked(&["color"]), ["color", both[0], both[1]]);
        assert_eq!(asked(&["SQSLargePayloadSize"]), [both[1], both[0]]);
        assert_eq!(asked(&["All"]), ["All"]);
        assert_eq!(asked(&[".*"]), [".*"]);
        assert_eq!(asked(&["Extended.*"]), ["Extended.*", both[1]]);
        assert_eq!(asked(&["color.*"]), ["color.*", both[0], both[1]]);
    }
}
