//! AWS JSON 1.0: the action in a header, one JSON object in the body.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-json.html>

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::objects::ObjectsOnly;
use super::{DecodeError, EncodeError, json_write};
use crate::wire::model::{Action, Input, Operation, for_each_operation};
use crate::wire::service_error::{ErrorCode, ServiceError};

/// Media type of requests and responses.
pub(super) const CONTENT_TYPE: &str = "application/x-amz-json-1.0";

macro_rules! targets {
    ($( $op:ident, $module:ident, $family:ident, $url:tt, $answer:tt, $special:tt, $doc:literal; )*) => {
        /// The `X-Amz-Target` of an action.
        pub(super) const fn target(action: Action) -> &'static str {
            match action { $( Action::$op => concat!("AmazonSQS.", stringify!($op)), )* }
        }
    };
}
for_each_operation!(targets);

/// The action of an `X-Amz-Target`.
pub(super) fn action(target: &str) -> Option<Action> {
    let (_, name) = target.split_once('.')?;
    Action::from_name(name).filter(|action| self::target(*action) == target)
}

/// Whether a `Content-Type` is AWS JSON of any version.
pub(super) fn is_media_type(content_type: &str) -> bool {
    const PREFIX: &str = "application/x-amz-json-";
    content_type.trim_start().get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

/// Encodes a request body.
pub(super) fn encode<I: Input>(input: &I) -> Result<Vec<u8>, EncodeError> {
    // Reserves space for names, ids and the queue URL, and for escaped characters in bodies.
    let messages = input.message_bytes();
    let mut body = Vec::with_capacity(512 + messages + messages / 8);
    json_write::write(input, &mut body).map_err(EncodeError::new)?;
    Ok(body)
}

/// Decodes a request body. An empty body means `{}`.
pub(super) fn read<I: Input>(body: &[u8]) -> Result<I, DecodeError> {
    if body.is_empty() {
        return Ok(I::default());
    }
    parse(body)
}

/// Encodes a response. The body of an action without output is empty.
pub(super) fn encode_output<O: Operation>(output: &O::Output) -> Result<Vec<u8>, EncodeError> {
    if O::ACTION.is_void() {
        return Ok(Vec::new());
    }
    let mut body = Vec::with_capacity(512);
    json_write::write(output, &mut body).map_err(EncodeError::new)?;
    Ok(body)
}

/// Decodes a response. For an action without output, AWS sends an empty body and compatible services any JSON. Other
/// bodies are an error: the page of a proxy does not mean that the request succeeded.
pub(super) fn read_output<O: Operation>(body: &[u8]) -> Result<O::Output, DecodeError> {
    if !O::ACTION.is_void() {
        return parse(body);
    }
    match body.trim_ascii() {
        b"" | b"null" => Ok(O::Output::default()),
        object if object.starts_with(b"{") => Ok(O::Output::default()),
        _ => Err(DecodeError::new("the body is not a response of SQS: it must be empty or a JSON object")),
    }
}

/// Maximum number of members and elements in a body. The largest valid one has about 1,000.
const MAX_PARTS: usize = 10_000;
/// Bodies up to this size are not checked: their shapes cannot need much memory.
const UNCHECKED_BYTES: usize = 64 * 1_024;

/// Counts parts for shapes, which skip unknown members without allocating.
fn is_separator(byte: u8) -> bool {
    byte == b','
}

/// Counts parts for a `serde_json::Value`, which keeps everything. An object alone takes 600 bytes.
fn makes_node(byte: u8) -> bool {
    matches!(byte, b',' | b'{' | b'[')
}

/// Whether a body has more than [`MAX_PARTS`] parts. Limits memory: a list element `{}` is 3 bytes on the wire and 200 as a
/// shape.
fn has_too_many_parts(body: &[u8], counts: impl Fn(u8) -> bool) -> bool {
    if body.len() <= UNCHECKED_BYTES {
        return false;
    }
    let (mut parts, mut in_text, mut escaped) = (0, false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            part if !in_text && counts(*part) => parts += 1,
            _ => {}
        }
    }
    parts > MAX_PARTS
}

/// Parses one JSON object.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, DecodeError> {
    if has_too_many_parts(body, is_separator) {
        return Err(DecodeError::new(format!(
            "the body has more than {MAX_PARTS} JSON members and elements"
        )));
    }
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(DecodeError::new("the body is not a JSON object"));
    }
    from_slice(body).or_else(|error| without_nulls(body).ok_or(DecodeError::new(error)))
}

fn from_slice<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let shape = T::deserialize(ObjectsOnly(&mut deserializer))?;
    deserializer.end()?;
    Ok(shape)
}

/// Parses again without `null` members. Services written in Go send `null` for empty lists.
///
/// Only required members need this. It is slow, so it runs only after normal parsing has failed.
fn without_nulls<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|_, member| !member.is_null());
                members.values_mut().for_each(strip);
            }
            Value::Array(elements) => elements.iter_mut().for_each(strip),
            _ => {}
        }
    }
    if !body.windows(4).any(|bytes| bytes == b"null") || has_too_many_parts(body, makes_node) {
        return None;
    }
    let mut value = serde_json::from_slice(body).ok()?;
    strip(&mut value);
    T::deserialize(ObjectsOnly(value)).ok()
}

#[derive(Serialize)]
struct ErrorBodyRef<'a> {
    #[serde(rename = "__type")]
    type_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    /// The message of an authorization error, whose name AWS capitalizes.
    #[serde(rename = "Message", skip_serializing_if = "Option::is_none")]
    denial: Option<&'a str>,
}

/// The value of `x-amzn-query-error`.
pub(super) fn query_error(code: &ErrorCode) -> String {
    format!("{};{}", code.query_code(), code.fault().as_str())
}

/// Encodes the body of an error response.
pub(super) fn encode_error(error: &ServiceError) -> Vec<u8> {
    let text = error.message.as_deref();
    let (message, denial) = if error.code == ErrorCode::AccessDenied { (None, text) } else { (text, None) };
    let body = ErrorBodyRef { type_name: error.code.type_name(), message, denial };
    serde_json::to_vec(&body).unwrap_or_default()
}

/// Reads an error from the header `x-amzn-query-error` and the body. Either may be missing.
///
/// Prefers the header's code. If it is unknown, a known shape in `__type` wins.
pub(super) fn read_error(header: Option<&str>, body: &[u8]) -> Option<ServiceError> {
    let body = if has_too_many_parts(body, makes_node) { b"" } else { body };
    let body: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    let text = |member| body.get(member).and_then(Value::as_str);

    let header_code = header.map(|value| shape_name(until(value, ';')));
    let body_code = text("__type").map(shape_name);
    let names = header_code.into_iter().chain(body_code).filter(|name| !name.is_empty());
    let codes: Vec<_> = names.map(ErrorCode::from_name).collect();
    let known = codes.iter().find(|code| !matches!(code, ErrorCode::Other(_)));
    let code = known.or(codes.first())?.clone();
    // Some services capitalize the name.
    let message = text("message").or_else(|| text("Message")).map(str::to_owned);
    Some(ServiceError { code, message })
}

/// The name in `com.amazonaws.sqs#Shape` or `Shape:http://..`: AWS documents both, for headers as well as bodies.
fn shape_name(text: &str) -> &str {
    let text = until(text, ':');
    text.rsplit('#').next().unwrap_or(text)
}

fn until(text: &str, separator: char) -> &str {
    text.split(separator).next().unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::send_message_batch::SendMessageBatchInput;

    #[test]
    fn body_with_too_many_elements_is_rejected() {
        let list = |elements: usize| format!(r#"{{"Entries":[{}]}}"#, vec!["{}"; elements].join(","));
        assert!(read::<SendMessageBatchInput>(list(9_000).as_bytes()).is_ok());
        assert!(read::<SendMessageBatchInput>(list(2_000_000).as_bytes()).is_err());
    }

    #[test]
    fn code_is_read_from_every_documented_form_of_header_and_body() {
        for text in [
            "ThrottlingException",
            "ThrottlingException:http://internal.amazon.com/coral/com.amazon.coral.availability/#x",
            "com.amazon.coral.availability#ThrottlingException",
            "com.amazon.coral.availability#ThrottlingException:http://internal.amazon.com/coral/",
        ] {
            let of_header = read_error(Some(text), b"{}").expect("a code");
            let of_body = read_error(None, format!(r#"{{"__type":"{text}"}}"#).as_bytes()).expect("a code");
            assert_eq!(
                (of_header.code, of_body.code),
                (ErrorCode::Throttling, ErrorCode::Throttling),
                "{text}"
            );
        }
        let of_query = read_error(Some("AWS.SimpleQueueService.NonExistentQueue;Sender"), b"{}");
        assert_eq!(of_query.expect("a code").code, ErrorCode::QueueDoesNotExist);
    }

    #[test]
    fn nulls_are_removed_only_from_bodies_with_few_parts() {
        let nested = format!("{}1{}", r#"{"a":"#.repeat(100), "}".repeat(100));
        let body = |elements: usize| {
            let other = vec![nested.as_str(); elements].join(",");
            format!(r#"{{"Entries":[{{"Id":null}}],"Other":[{other}]}}"#)
        };
        assert!(read::<SendMessageBatchInput>(body(90).as_bytes()).is_ok());
        assert!(read::<SendMessageBatchInput>(body(9_000).as_bytes()).is_err());
    }

    #[test]
    fn error_body_with_too_many_elements_is_not_read() {
        let error = |elements: usize| format!(r#"{{"__type":"X","a":[{}]}}"#, vec!["{}"; elements].join(","));
        assert!(read_error(None, error(4_000).as_bytes()).is_some());
        assert!(read_error(None, error(2_000_000).as_bytes()).is_none());
    }

    #[test]
    fn separators_inside_strings_do_not_count_as_parts() {
        let text = r#"\",{}["#.repeat(20_000);
        let body = format!(r#"{{"QueueUrl":"{text}"}}"#);
        let input = read::<SendMessageBatchInput>(body.as_bytes()).expect("one member");
        assert_eq!(input.queue_url().map(str::len), Some(100_000));
    }
}
