//! The parts of a message that make a pointer.

use sqs_client::types::Message;

use super::compat::RESERVED_ATTRIBUTES;

/// A pointer in a message, not parsed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried<'m> {
    pub(super) body: &'m str,
    /// The name of the attribute.
    pub(super) name: &'m str,
    /// The value of the attribute.
    pub(super) size: &'m str,
    pub(super) data_type: &'m str,
}

/// The message, if it has the attribute of a pointer.
pub(super) fn carried(message: &Message) -> Option<Carried<'_>> {
    let attributes = message.message_attributes()?;
    let (name, attribute) =
        RESERVED_ATTRIBUTES.iter().find_map(|name| Some((*name, attributes.get(*name)?)))?;
    let (body, size) = (message.body().unwrap_or_default(), attribute.string_value().unwrap_or_default());
    Some(Carried { body, name, size, data_type: &attribute.data_type })
}
