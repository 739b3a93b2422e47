//! Messages of publishers, and batches of them.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;
use sqs_client::types::MessageAttributeValue;
use sqs_client::wire::checksum::message_size;
use sqs_client::wire::validate::message::token;

use super::message_attribute;
use super::protocol::Protocol;
use super::refusal::invalid;
use crate::service::query_error::QueryError;

const MAX_SUBJECT: usize = 100;
const MAX_ENTRIES: usize = 10;
const MAX_ENTRY_ID: usize = 80;

/// A message of a request, before it is validated.
#[derive(Debug, Default)]
pub(crate) struct Draft<'a> {
    pub(crate) text: &'a str,
    pub(crate) subject: Option<&'a str>,
    /// `MessageStructure`.
    pub(crate) structure: Option<&'a str>,
    pub(crate) attributes: HashMap<String, MessageAttributeValue>,
    pub(crate) group: Option<&'a str>,
    pub(crate) deduplication_id: Option<&'a str>,
}

/// A valid message.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// For protocols without their own.
    pub(crate) text: String,
    /// The texts of protocols that have their own.
    by_protocol: BTreeMap<String, String>,
    pub(crate) subject: Option<String>,
    pub(crate) attributes: HashMap<String, MessageAttributeValue>,
    pub(crate) group: Option<String>,
    pub(crate) deduplication_id: Option<String>,
    /// In bytes, as SNS counts it.
    pub(super) size: usize,
}

impl Message {
    /// Validates a message by the rules that do not depend on the topic.
    ///
    /// # Errors
    /// `InvalidParameter`, and `ParameterValueInvalid` for an attribute.
    pub(crate) fn new(draft: Draft<'_>) -> Result<Self, QueryError> {
        let Draft { text, subject, structure, attributes, group, deduplication_id } = draft;
        if text.is_empty() {
            return Err(invalid("Empty message"));
        }
        if subject.is_some_and(|subject| !is_subject(subject)) {
            return Err(invalid("Subject"));
        }
        message_attribute::validate(&attributes)?;
        for (parameter, id) in [("MessageGroupId", group), ("MessageDeduplicationId", deduplication_id)] {
            let checked = token(parameter, id);
            checked.map_err(|error| {
                invalid(format_args!("{parameter} Reason: {}", error.message.unwrap_or_default()))
            })?;
        }
        let size = message_size(text, Some(&attributes));
        let (text, by_protocol) = texts(text, structure)?;
        Ok(Self {
            text,
            by_protocol,
            subject: subject.map(str::to_owned),
            attributes,
            group: group.map(str::to_owned),
            deduplication_id: deduplication_id.map(str::to_owned),
            size,
        })
    }

    /// The text for subscribers with this protocol.
    pub(crate) fn text(&self, protocol: Protocol) -> &str {
        self.by_protocol.get(protocol.as_str()).unwrap_or(&self.text)
    }
}

/// ASCII without control characters, less than 100 characters.
fn is_subject(subject: &str) -> bool {
    (1..MAX_SUBJECT).contains(&subject.len())
        && subject.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

/// The default text, and those of protocols that have their own.
fn texts(text: &str, structure: Option<&str>) -> Result<(String, BTreeMap<String, String>), QueryError> {
    match structure {
        None => return Ok((text.to_owned(), BTreeMap::new())),
        Some("json") => {}
        Some(_) => return Err(invalid("MessageStructure")),
    }
    let parsed = serde_json::from_str(text);
    let Ok(Value::Object(members)) = parsed else {
        return Err(invalid("Message Structure - JSON message body failed to parse"));
    };
    let strings = members.into_iter().filter_map(|(key, value)| match value {
        Value::String(text) => Some((key, text)),
        _ => None,
    });
    let mut strings: BTreeMap<_, _> = strings.collect();
    let default = strings.remove("default");
    let default =
        default.ok_or_else(|| invalid("Message Structure - No default entry in JSON message body"))?;
    Ok((default, strings))
}

/// Validates the ids of a batch. A fault of one entry fails the whole request.
///
/// # Errors
/// `EmptyBatchRequest`, `TooManyEntriesInBatchRequest`, `BatchEntryIdsNotDistinct` or `InvalidBatchEntryId`.
pub(crate) fn check_batch_ids(ids: &[&str]) -> Result<(), QueryError> {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let distinct: HashSet<_> = ids.iter().collect();
    let (code, text) = if ids.is_empty() {
        ("EmptyBatchRequest", "The batch request doesn't contain any entries.".to_owned())
    } else if ids.len() > MAX_ENTRIES {
        let text = "The batch request contains more entries than permissible.";
        ("TooManyEntriesInBatchRequest", text.to_owned())
    } else if distinct.len() < ids.len() {
        let text = "Two or more batch entries in the request have the same Id.";
        ("BatchEntryIdsNotDistinct", text.to_owned())
    } else if let Some(id) = ids.iter().find(|id| id.is_empty() || !id.bytes().all(is_legal)) {
        let text = "The Id of a batch entry in the batch request contains an impermissible character:";
        ("InvalidBatchEntryId", format!("{text} {id}"))
    } else if let Some(id) = ids.iter().find(|id| id.len() > MAX_ENTRY_ID) {
        ("InvalidBatchEntryId", format!("The Id of a batch entry in the batch request is too long: {id}"))
    } else {
        return Ok(());
    };
    Err(QueryError::new(400, code, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract 2.9.
    #[test]
    fn faults_of_ids_get_the_errors_of_aws() {
        let many: Vec<_> = (0..11).map(|number| number.to_string()).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        let long = "a".repeat(81);
        let table: [(&[&str], &str, &str); 5] = [
            (&[], "EmptyBatchRequest", "The batch request doesn't contain any entries."),
            (
                &many,
                "TooManyEntriesInBatchRequest",
                "The batch request contains more entries than permissible.",
            ),
            (
                &["a", "b", "a"],
                "BatchEntryIdsNotDistinct",
                "Two or more batch entries in the request have the same Id.",
            ),
            (
                &["message.id"],
                "InvalidBatchEntryId",
                "The Id of a batch entry in the batch request contains an impermissible character: message.id",
            ),
            (
                &[&long],
                "InvalidBatchEntryId",
                &format!("The Id of a batch entry in the batch request is too long: {long}"),
            ),
        ];
        for (ids, code, text) in table {
            let error = check_batch_ids(ids).unwrap_err();
            assert_eq!((error.status, &*error.code, &*error.message), (400, code, text));
        }
        assert_eq!(check_batch_ids(&["a-b_C1"]), Ok(()));
    }
}
