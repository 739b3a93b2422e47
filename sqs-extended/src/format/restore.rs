//! Restores messages as they were sent.

use sqs_client::types::Message;
use sqs_client::wire::checksum::{Md5Hex, md5_of_attributes};

use super::compat::RESERVED_ATTRIBUTES;

/// Sets the body and checksums of the message as it was sent, and removes the attribute of the pointer.
pub(crate) fn restore(message: &mut Message, body: String, md5_of_body: Md5Hex) {
    message.body = Some(body);
    message.md5_of_body = Some(md5_of_body.into());
    if let Some(attributes) = &mut message.message_attributes {
        attributes.retain(|name, _| !RESERVED_ATTRIBUTES.contains(&name.as_str()));
    }
    message.message_attributes.take_if(|attributes| attributes.is_empty());
    let sum = md5_of_attributes(message.message_attributes.iter().flatten());
    message.md5_of_message_attributes = sum.map(Into::into);
}
