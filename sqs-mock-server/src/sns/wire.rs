//! Messages in forms: `Message`, `MessageAttributes.entry.1.Name`, and the same below
//! `PublishBatchRequestEntries.member.1`. Lists in pages.

use std::collections::HashMap;

use sqs_client::primitives::Blob;
use sqs_client::types::MessageAttributeValue;

use super::engine::message::Draft;
use super::engine::refusal::{invalid, invalid_value};
use crate::query::{Form, missing};
use crate::service::faults::Entry;
use crate::service::query_error::QueryError;

/// The number of items of a page.
const PAGE: usize = 100;

/// Where a form has a message. The default is the place of the only message.
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

    /// The message, for faults.
    pub(super) fn entry<'f>(&self, index: usize, form: &'f Form) -> Entry<'f> {
        let get = |name| self.get(form, name);
        Entry {
            index,
            id: get("Id"),
            body: get("Message"),
            group: get("MessageGroupId"),
            deduplication_id: get("MessageDeduplicationId"),
            ..Entry::default()
        }
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
        self.get(form, name).ok_or_else(|| missing(&self.path, name))
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
            let path = format!("{}messageAttributes.{name}.member.", self.path);
            let builder = MessageAttributeValue::builder()
                .data_type(get("Value.DataType").ok_or_else(|| missing(&path, "DataType"))?)
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

/// One page of a list.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    /// For the next page; `None` on the last.
    pub(super) token: Option<String>,
}

/// The page that begins after a token. `items` are sorted by their keys; a token contains the last key of a page, so
/// that items which are added or removed meanwhile move no others.
///
/// # Errors
/// `InvalidParameter` for a token that no page has.
pub(super) fn page<T>(
    items: impl Iterator<Item = T>,
    key_of: impl Fn(&T) -> String,
    token: Option<&str>,
) -> Result<Page<T>, QueryError> {
    let after = token.filter(|token| !token.is_empty()).map(decoded).transpose()?;
    let is_due = |item: &T| after.as_ref().is_none_or(|after| key_of(item) > *after);
    let mut due = items.filter(is_due);
    let items: Vec<_> = due.by_ref().take(PAGE).collect();
    let has_more = due.next().is_some();
    drop(due);
    let last = items.last().filter(|_| has_more);
    let token = last.map(|item| base64_simd::URL_SAFE_NO_PAD.encode_to_string(key_of(item)));
    Ok(Page { items, token })
}

fn decoded(token: &str) -> Result<String, QueryError> {
    let bytes = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(token).ok();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| invalid("NextToken"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_100_items_and_the_last_has_no_token() {
        let names: Vec<_> = (0..250).map(|number| format!("{number:03}")).collect();
        let (mut found, mut sizes, mut token) = (Vec::new(), Vec::new(), None);
        loop {
            let page = page(names.iter(), |name| (*name).clone(), token.as_deref()).unwrap();
            sizes.push(page.items.len());
            found.extend(page.items.into_iter().cloned());
            token = page.token;
            if token.is_none() {
                break;
            }
        }
        assert_eq!((found, sizes), (names.clone(), vec![100, 100, 50]));
        assert!(page(names.iter(), |name| (*name).clone(), Some("!")).is_err());
    }
}
