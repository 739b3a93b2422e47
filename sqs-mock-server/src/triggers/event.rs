//! What a trigger sends and reads: the SQS event of AWS Lambda, the answer of the function, and the filters of messages.
//!
//! ```text
//! messages -> Record (JSON, once) --filters--> Batches -> event -> function -> answer -> Verdict: which messages stay
//! ```
//! Sources: <https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html>,
//! <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html>

use std::collections::{BTreeMap, BTreeSet, HashMap};

use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};
use sqs_client::types::{Message, MessageAttributeValue, MessageSystemAttributeName};

use crate::config::file::excerpt;
use crate::control::arn::QueueArn;
use crate::sns::filter::{FilterInput, FilterPolicy, FilterScope};

/// The maximum size of an event, and of the answer of a function.
///
/// Source: <https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>
pub(crate) const MAX_PAYLOAD: usize = 6 << 20;

/// The bytes around the records of an event.
const FRAME: usize = r#"{"Records":[]}"#.len();

/// The maximum number of characters that an error quotes.
const QUOTED: usize = 200;

/// A received message, as one record of an event.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) message_id: String,
    pub(crate) receipt_handle: String,
    /// The message group of a FIFO queue.
    group: Option<String>,
    /// The members after the body, as JSON.
    rest: String,
    body: String,
}

/// The members of a record after its body, in the order of AWS.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rest<'m> {
    attributes: BTreeMap<&'m str, &'m str>,
    message_attributes: BTreeMap<&'m str, Attribute<'m>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    md5_of_message_attributes: Option<&'m str>,
    md5_of_body: &'m str,
    event_source: &'static str,
    #[serde(rename = "eventSourceARN")]
    event_source_arn: &'m str,
    aws_region: &'m str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Attribute<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    string_value: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binary_value: Option<String>,
    // SQS has no lists. AWS sends both members empty.
    string_list_values: [&'static str; 0],
    binary_list_values: [&'static str; 0],
    data_type: &'m str,
}

impl<'m> Attribute<'m> {
    fn of(value: &'m MessageAttributeValue) -> Self {
        let base64 = |bytes: &[u8]| base64_simd::STANDARD.encode_to_string(bytes);
        Self {
            string_value: value.string_value.as_deref(),
            binary_value: value.binary_value.as_ref().map(|blob| base64(blob.as_ref())),
            string_list_values: [],
            binary_list_values: [],
            data_type: &value.data_type,
        }
    }
}

impl Record {
    /// The record of a message with all its attributes. `arn` is the text of the ARN of the queue.
    pub(crate) fn of(message: Message, queue: &QueueArn, arn: &str) -> Self {
        let system = message.attributes.as_ref();
        let attributes = system.into_iter().flatten();
        let values = message.message_attributes.as_ref().into_iter().flatten();
        let rest = Rest {
            attributes: attributes.map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            message_attributes: values.map(|(name, value)| (name.as_str(), Attribute::of(value))).collect(),
            md5_of_message_attributes: message.md5_of_message_attributes.as_deref(),
            md5_of_body: message.md5_of_body.as_deref().unwrap_or_default(),
            event_source: "aws:sqs",
            event_source_arn: arn,
            aws_region: &queue.region,
        };
        let group = system.and_then(|system| system.get(&MessageSystemAttributeName::MessageGroupId));
        Self {
            // Texts and maps of texts always have a JSON form.
            rest: serde_json::to_string(&rest).unwrap_or_default(),
            group: group.cloned().filter(|_| queue.is_fifo()),
            message_id: message.message_id.unwrap_or_default(),
            receipt_handle: message.receipt_handle.unwrap_or_default(),
            body: message.body.unwrap_or_default(),
        }
    }

    /// The approximate size in an event.
    pub(crate) fn bytes(&self) -> usize {
        self.rest.len() + self.body.len() + self.receipt_handle.len()
    }

    /// The record as JSON, with this JSON as its body.
    fn json(&self, body: &str) -> String {
        let members = self.rest.strip_prefix('{').unwrap_or_default();
        let [id, handle] = [&self.message_id, &self.receipt_handle].map(|text| quote(text));
        format!("{{\"messageId\":{id},\"receiptHandle\":{handle},\"body\":{body},{members}")
    }

    /// As in an event: the body is a text.
    fn in_event(&self) -> String {
        self.json(&quote(&self.body))
    }

    /// As filters see it: a body that is a JSON object is that object.
    fn for_filters(&self) -> String {
        let is_object = serde_json::from_str::<Map<String, Value>>(&self.body).is_ok();
        if is_object { self.json(&self.body) } else { self.in_event() }
    }
}

/// A text as JSON, which every text has.
fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// The filters of a trigger. A message passes if it matches one of them, or if there are none.
#[derive(Debug, Default)]
pub(crate) struct Filters(Vec<FilterPolicy>);

impl Filters {
    /// Parses patterns of JSON, by the grammar and the limits of filter policies of SNS.
    ///
    /// # Errors
    /// The position of an invalid pattern, and why it is invalid.
    pub(crate) fn parse(patterns: &[String]) -> Result<Self, (usize, String)> {
        let parse = |(at, pattern): (usize, &String)| {
            let parsed = FilterPolicy::parse(pattern, FilterScope::MessageBody);
            parsed.map_err(|error| {
                (at, error.strip_prefix("FilterPolicy: ").map_or(error.clone(), str::to_owned))
            })
        };
        patterns.iter().enumerate().map(parse).collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn pass(&self, record: &Record) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let (text, none) = (record.for_filters(), HashMap::new());
        let input = FilterInput::new(&text, &none);
        self.0.iter().any(|filter| filter.matches(&input))
    }
}

/// Messages of one invocation.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) records: Vec<Record>,
    json: Vec<String>,
    bytes: usize,
}

impl Batch {
    /// Adds a record, unless the event would be too large. The first record is always taken.
    fn add(&mut self, mut record: Record) -> Result<(), Record> {
        let json = record.in_event();
        let bytes = self.bytes + json.len() + 1;
        if !self.records.is_empty() && FRAME + bytes > MAX_PAYLOAD {
            return Err(record);
        }
        // The event has them now.
        (record.rest, record.body) = (String::new(), String::new());
        self.bytes = bytes;
        self.json.push(json);
        self.records.push(record);
        Ok(())
    }

    /// The size of the event.
    pub(crate) fn bytes(&self) -> usize {
        FRAME + self.bytes
    }

    /// The body of the request. The records stay, their JSON is moved.
    pub(crate) fn take_event(&mut self) -> Vec<u8> {
        let records = std::mem::take(&mut self.json);
        format!("{{\"Records\":[{}]}}", records.join(",")).into_bytes()
    }
}

/// Messages that belong together: batches of one chain are invoked one after the other, and only while none fails.
pub(crate) type Chain = Vec<Batch>;

/// Splits records where an event would be too large, and those of a FIFO queue by their group, whose order is kept.
pub(crate) fn chains(records: Vec<Record>) -> Vec<Chain> {
    let mut chains: Vec<(Option<String>, Chain)> = Vec::new();
    for record in records {
        let at = chains.iter().position(|(group, _)| *group == record.group).unwrap_or(chains.len());
        if at == chains.len() {
            chains.push((record.group.clone(), vec![Batch::default()]));
        }
        let Some((_, chain)) = chains.get_mut(at) else { continue };
        let left = match chain.last_mut() {
            Some(batch) => batch.add(record).err(),
            None => Some(record),
        };
        if let Some(record) = left {
            let mut batch = Batch::default();
            // The first one always fits.
            let _ = batch.add(record);
            chain.push(batch);
        }
    }
    let in_order = |(group, chain): (Option<String>, Chain)| match group {
        Some(_) => vec![chain],
        None => chain.into_iter().map(|batch| vec![batch]).collect(),
    };
    chains.into_iter().flat_map(in_order).collect()
}

/// What a URL leads to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Function {
    /// The invoke API of Lambda, as of cargo lambda, the Runtime Interface Emulator and SAM.
    Lambda,
    /// Any other URL, which takes the event as it is.
    Hook,
}

impl Function {
    /// By the path: that of the invoke API is `/<date>/functions/<name>/invocations`.
    pub(crate) fn of(path: &str) -> Self {
        let mut parts = path.split('/');
        let [start, date, functions, name, invocations] = [(); 5].map(|()| parts.next().unwrap_or_default());
        let is_date = date.split('-').map(str::len).eq([4, 2, 2])
            && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let is_invoke = start.is_empty() && is_date && !name.is_empty() && parts.next().is_none();
        if is_invoke && functions == "functions" && invocations == "invocations" {
            Self::Lambda
        } else {
            Self::Hook
        }
    }

    /// Reads the answer to an event of messages with these ids. Returns the ids of the messages that failed; all others
    /// succeeded. The body counts only if the function `reports` failed messages.
    ///
    /// # Errors
    /// The whole invocation failed, and why.
    pub(crate) fn read<'i>(
        self,
        ids: &BTreeSet<&'i str>,
        reports: bool,
        (status, function_error): (StatusCode, Option<&str>),
        body: &[u8],
    ) -> Result<BTreeSet<&'i str>, String> {
        if !status.is_success() {
            return Err(format!("status {status}{}", quoted(body)));
        }
        if self == Self::Lambda {
            if let Some(kind) = function_error {
                return Err(format!("the function failed ({}){}", excerpt(kind, QUOTED), quoted(body)));
            }
            if is_error(body) {
                return Err(format!("the function failed{}", quoted(body)));
            }
        }
        if reports { failed_items(ids, body) } else { Ok(BTreeSet::new()) }
    }
}

fn quoted(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body.get(..4 * QUOTED).unwrap_or(body));
    if text.trim().is_empty() { String::new() } else { format!(": {}", excerpt(text.trim(), QUOTED)) }
}

/// Whether a body is an error of a runtime. The Runtime Interface Emulator sends it without the header of Lambda.
fn is_error(body: &[u8]) -> bool {
    let value: Option<Map<String, Value>> = serde_json::from_slice(body).ok();
    value.is_some_and(|value| value.contains_key("errorType") && value.contains_key("errorMessage"))
}

/// The messages that `{"batchItemFailures":[{"itemIdentifier":"<message id>"}]}` names.
fn failed_items<'i>(ids: &BTreeSet<&'i str>, body: &[u8]) -> Result<BTreeSet<&'i str>, String> {
    if body.trim_ascii().is_empty() {
        return Ok(BTreeSet::new());
    }
    let invalid = |why: &str| format!("the answer is no batch response, since {why}{}", quoted(body));
    let response = serde_json::from_slice(body).map_err(|_| invalid("it is not JSON"))?;
    let items = match &response {
        Value::Null => return Ok(BTreeSet::new()),
        Value::Object(members) => members.get("batchItemFailures").unwrap_or(&Value::Null),
        _ => return Err(invalid("it is not a JSON object")),
    };
    let items = match items {
        Value::Null => return Ok(BTreeSet::new()),
        Value::Array(items) => items,
        _ => return Err(invalid("batchItemFailures is not a list")),
    };
    let failed = items.iter().map(|item| {
        let id = item.get("itemIdentifier").and_then(Value::as_str);
        let id = id.ok_or_else(|| invalid("an entry of batchItemFailures has no itemIdentifier"))?;
        let unknown = || invalid(&format!("the event has no message {}", excerpt(id, QUOTED)));
        ids.get(id).copied().ok_or_else(unknown)
    });
    failed.collect()
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
