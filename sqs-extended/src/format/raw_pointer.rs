//! The parts of a message that form a pointer.

use sqs_client::types::Message;

use super::compat::RESERVED_ATTRIBUTES;

/// An unparsed pointer in a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawPointer<'m> {
    pub(super) body: &'m str,
    /// The name of the attribute.
    pub(super) name: &'m str,
    /// The value of the attribute.
    pub(super) size: &'m str,
    pub(super) data_type: &'m str,
}

impl<'m> RawPointer<'m> {
    /// The unparsed pointer; `None` if the message lacks the attribute of a pointer.
    pub(super) fn of(message: &'m Message) -> Option<Self> {
        let attributes = message.message_attributes()?;
        let found = RESERVED_ATTRIBUTES.iter().find_map(|name| Some((*name, attributes.get(*name)?)));
        let (name, attribute) = found?;
        let (body, size) = (message.body().unwrap_or_default(), attribute.string_value().unwrap_or_default());
        Some(Self { body, name, size, data_type: &attribute.data_type })
    }
}
