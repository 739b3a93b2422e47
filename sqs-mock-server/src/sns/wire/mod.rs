//! Messages in forms: `Message`, `MessageAttributes.entry.1.Name`, and the same below
//! `PublishBatchRequestEntries.member.1`.

use std::collections::HashMap;

use sqs_client::primitives::Blob;
use sqs_client::types::MessageAttributeValue;

use super::engine::message::Draft;
use super::engine::refusal::invalid_value;
use crate::query::{Form, missing};
use crate::service::faults::Entry;
use crate::service::query_error::QueryError;

/// The message of a single publish, for faults.
pub(super) fn entry(form: &Form) -> Entry<'_> {
    entry_at(form, &Place::default())
}

/// The entries of a batch, for faults.
pub(super) fn entries(form: &Form) -> Vec<Entry<'_>> {
    let places = Place::entries(form).into_iter().enumerate();
    let entry =
        |(index, place): (usize, Place)| Entry { index, id: place.get(form, "Id"), ..entry_at(form, &place) };
    places.map(entry).collect()
}

fn entry_at<'f>(form: &'f Form, place: &Place) -> Entry<'f> {
    let get = |name| place.get(form, name);
    Entry {
        body: get("Message"),
        group: get("MessageGroupId"),
        deduplication_id: get("MessageDeduplicationId"),
        ..Entry::default()
    }
}

/// Where a form has a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// The prefix of its parameters.
    prefix: String,
    /// The same in error texts.
    path: String,
}

impl Place {
    /// The places of the entries of a batch.
    pub(super) fn entries(form: &Form) -> Vec<Self> {
        let elements = form.elements("PublishBatchRequestEntries.member");
        let place = |element: String| {
            let number = element.rsplit('.').next().unwrap_or_default();
            Self {
                path: format!("publishBatchRequestEntries.{number}.member."),
                prefix: format!("{element}."),
            }
        };
        elements.into_iter().map(place).collect()
    }

    fn get<'f>(&self, form: &'f Form, name: &str) -> Option<&'f str> {
        // A single message has no prefix.
        if self.prefix.is_empty() { form.get(name) } else { form.get(&format!("{}{name}", self.prefix)) }
    }

    /// A member that must be present.
    ///
    /// # Errors
    /// `ValidationError`.
    pub(super) fn required<'f>(&self, form: &'f Form, name: &str) -> Result<&'f str, QueryError> {
        let lower = || {
            let (first, rest) = name.split_at_checked(1).unwrap_or_default();
            missing(&format!("{}{}{rest}", self.path, first.to_lowercase()))
        };
        self.get(form, name).ok_or_else(lower)
    }

    /// The message.
    ///
    /// # Errors
    /// `ValidationError` for an absent member, `ParameterValueInvalid` for binary data that is not base64.
    pub(super) fn draft<'f>(&self, form: &'f Form) -> Result<Draft<'f>, QueryError> {
        let get = |name| self.get(form, name);
        Ok(Draft {
            text: self.required(form, "Message")?,
            subject: get("Subject"),
            structure: get("MessageStructure"),
            attributes: self.attributes(form)?,
            group: get("MessageGroupId"),
            deduplication_id: get("MessageDeduplicationId"),
        })
    }

    fn attributes(&self, form: &Form) -> Result<HashMap<String, MessageAttributeValue>, QueryError> {
        let elements = form.elements(&format!("{}MessageAttributes.entry", self.prefix));
        let attribute = |element: &String| {
            let get = |name: &str| form.get(&format!("{element}.{name}"));
            let name = get("Name").unwrap_or_default();
            let path = format!("{}messageAttributes.{name}.member.dataType", self.path);
            let builder = MessageAttributeValue::builder()
                .data_type(get("Value.DataType").ok_or_else(|| missing(&path))?)
                .set_string_value(get("Value.StringValue").map(str::to_owned))
                .set_binary_value(get("Value.BinaryValue").map(|text| binary(name, text)).transpose()?);
            let value = builder.build().map_err(|error| invalid_value(error.to_string()))?;
            Ok((name.to_owned(), value))
        };
        elements.iter().map(attribute).collect()
    }
}

fn binary(name: &str, text: &str) -> Result<Blob, QueryError> {
    let decoded = base64_simd::STANDARD.decode_to_vec(text);
    decoded.map(Blob::new).map_err(|_| {
        invalid_value(format!("The binary value of the message attribute '{name}' is not valid base64."))
    })
}
