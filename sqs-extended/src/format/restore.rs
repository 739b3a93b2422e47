//! Restores messages as they were sent.

use sqs_client::types::Message;
use sqs_client::wire::checksum::{Md5Hex, md5_of_attributes, md5_of_body};

use super::carried::carried;
use super::compat::RESERVED_ATTRIBUTES;
use super::sns::Notification;

/// Restores body, attributes and their checksums as they were sent. A notification gets the payload as its message.
pub(crate) fn restore(message: &mut Message, payload: String, md5_of_payload: Md5Hex) {
    let notification = match carried(message) {
        Some(_) => None,
        None => message.body().and_then(Notification::parse),
    };
    let (body, md5) = match notification {
        None => (payload, md5_of_payload),
        Some(notification) => {
            let body = notification.with_message(payload);
            let md5 = md5_of_body(&body);
            (body, md5)
        }
    };
    message.body = Some(body);
    message.md5_of_body = Some(md5.into());
    if let Some(attributes) = &mut message.message_attributes {
        attributes.retain(|name, _| !RESERVED_ATTRIBUTES.contains(&name.as_str()));
    }
    message.message_attributes.take_if(|attributes| attributes.is_empty());
    let sum = md5_of_attributes(message.message_attributes.iter().flatten());
    message.md5_of_message_attributes = sum.map(Into::into);
}
