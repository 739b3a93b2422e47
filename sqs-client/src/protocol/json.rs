//! AWS JSON 1.0: the action in a header, one JSON object in the body.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-json.html>

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::objects::Objects;
use super::{DecodeError, EncodeError, json_write};
use crate::operation::{Action, Input, Operation, for_each_operation};
use crate::service_error::{ErrorCode, ServiceError};

/// The media type of requests and answers.
pub(super) const CONTENT_TYPE: &str = "application/x-amz-json-1.0";

macro_rules! targets {
    ($( $op:ident, $module:ident, $family:ident, $url:tt, $answer:tt, $special:tt, $doc:literal; )*) => {
        /// The value of `X-Amz-Target`.
        pub(super) const fn target(action: Action) -> &'static str {
            match action { $( Action::$op => concat!("AmazonSQS.", stringify!($op)), )* }
        }
    };
}
for_each_operation!(targets);

/// The action that a value of `X-Amz-Target` names.
pub(super) fn action(target: &str) -> Option<Action> {
    let (_, name) = target.split_once('.')?;
    Action::from_name(name).filter(|action| self::target(*action) == target)
}

/// Whether a `Content-Type` is one of AWS JSON, of any version.
pub(super) fn is_media_type(content_type: &str) -> bool {
    const PREFIX: &str = "application/x-amz-json-";
    content_type.trim_start().get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

/// Encodes a request body.
pub(super) fn encode<I: Input>(input: &I) -> Result<Vec<u8>, EncodeError> {
    // Names, ids and the URL of the queue take some too, and line ends in bodies two bytes instead of one.
    let messages = input.message_bytes();
    let mut body = Vec::with_capacity(512 + messages + messages / 8);
    json_write::write(input, &mut body).map_err(EncodeError::new)?;
    Ok(body)
}

/// Reads a request body; zero bytes stand for `{}`.
pub(super) fn read<I: Input>(body: &[u8]) -> Result<I, DecodeError> {
    if body.is_empty() {
        return Ok(I::default());
    }
    parse(body)
}

/// Encodes an answer: zero bytes for the void actions.
pub(super) fn encode_output<O: Operation>(output: &O::Output) -> Result<Vec<u8>, EncodeError> {
    if O::ACTION.is_void() {
        return Ok(Vec::new());
    }
    let mut body = Vec::with_capacity(512);
    json_write::write(output, &mut body).map_err(EncodeError::new)?;
    Ok(body)
}

/// Reads an answer. AWS answers a void action with zero bytes and clones with anything, so its body only must
/// not be the page of a proxy: taking that for a yes would lose the request.
pub(super) fn read_output<O: Operation>(body: &[u8]) -> Result<O::Output, DecodeError> {
    if !O::ACTION.is_void() {
        return parse(body);
    }
    match body.trim_ascii() {
        b"" | b"null" => Ok(O::Output::default()),
        object if object.starts_with(b"{") => Ok(O::Output::default()),
        _ => Err(DecodeError::new("the answer is a page, not one of the service")),
    }
}

/// Members and elements that one body may have; the largest legal one has about 1,000.
const MAX_PARTS: usize = 10_000;
/// Shorter bodies have no room for so many that their shapes need much memory.
const FEW_BYTES: usize = 64 * 1_024;

/// Whether a byte is between the parts of a body. Shapes skip what they do not know, however deep.
fn is_separator(byte: u8) -> bool {
    byte == b','
}

/// Whether a byte makes a node of a tree, which keeps everything: an object alone takes 600 bytes.
fn makes_node(byte: u8) -> bool {
    matches!(byte, b',' | b'{' | b'[')
}

/// Whether a body has more parts than any legal one. A list of `{}` takes 3 bytes an element here and 200 as shapes.
fn has_too_many_parts(body: &[u8], counts: impl Fn(u8) -> bool) -> bool {
    if body.len() <= FEW_BYTES {
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
        return Err(DecodeError::new(format!("the body has more than {MAX_PARTS} members and elements")));
    }
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(DecodeError::new("the body is not a JSON object"));
    }
    from_slice(body).or_else(|error| without_nulls(body).ok_or(DecodeError::new(error)))
}

fn from_slice<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let shape = T::deserialize(Objects(&mut deserializer))?;
    deserializer.end()?;
    Ok(shape)
}

/// Parses again with the members left out that are `null`, which services written in Go send for empty lists.
///
/// Optional members take `null` by themselves; this is for required ones, and only after the fast way failed.
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
    T::deserialize(Objects(value)).ok()
}

#[derive(Serialize)]
struct ErrorBodyRef<'a> {
    #[serde(rename = "__type")]
    type_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

/// The value of `x-amzn-query-error`, which gives the code of the Query protocol.
pub(super) fn query_error(code: &ErrorCode) -> String {
    format!("{};{}", code.query_code(), code.fault().as_str())
}

/// Encodes the body of a refusal.
pub(super) fn encode_error(error: &ServiceError) -> Vec<u8> {
    let body = ErrorBodyRef { type_name: error.code.type_name(), message: error.message.as_deref() };
    serde_json::to_vec(&body).unwrap_or_default()
}

/// Reads a refusal from the header `x-amzn-query-error` and the body, of which either may be missing.
///
/// The header's code counts first; where it is not known, the shape in `__type` may be.
pub(super) fn read_error(header: Option<&str>, body: &[u8]) -> Option<ServiceError> {
    let body = if has_too_many_parts(body, makes_node) { b"" } else { body };
    let body: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    let text = |member| body.get(member).and_then(Value::as_str);

    let of_header = header.map(|value| before(value, ';'));
    // `com.amazonaws.sqs#Shape`, and also `Shape:http://..`, which AWS documents for `__type`.
    let of_body = text("__type").map(|name| before(name.rsplit('#').next().unwrap_or(name), ':'));
    let names = of_header.into_iter().chain(of_body).filter(|name| !name.is_empty());
    let codes: Vec<_> = names.map(ErrorCode::from_name).collect();
    let known = codes.iter().find(|code| !matches!(code, ErrorCode::Other(_)));
    let code = known.or(codes.first())?.clone();
    // Some services write it with a capital letter.
    let message = text("message").or_else(|| text("Message")).map(str::to_owned);
    Some(ServiceError { code, message })
}

fn before(text: &str, separator: char) -> &str {
    text.split(separator).next().unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::send_message_batch::SendMessageBatchInput;

    #[test]
    fn a_body_of_many_tiny_elements_is_refused_before_it_grows() {
        let list = |elements: usize| format!(r#"{{"Entries":[{}]}}"#, vec!["{}"; elements].join(","));
        assert!(read::<SendMessageBatchInput>(list(9_000).as_bytes()).is_ok());
        assert!(read::<SendMessageBatchInput>(list(2_000_000).as_bytes()).is_err());
    }

    #[test]
    fn nulls_are_left_out_of_a_body_of_few_parts_alone() {
        let nested = format!("{}1{}", r#"{"a":"#.repeat(100), "}".repeat(100));
        let body = |elements: usize| {
            let other = vec![nested.as_str(); elements].join(",");
            format!(r#"{{"Entries":[{{"Id":null}}],"Other":[{other}]}}"#)
        };
        assert!(read::<SendMessageBatchInput>(body(90).as_bytes()).is_ok());
        assert!(read::<SendMessageBatchInput>(body(9_000).as_bytes()).is_err());
    }

    #[test]
    fn a_refusal_of_many_tiny_elements_is_not_read_before_it_grows() {
        let refusal =
            |elements: usize| format!(r#"{{"__type":"X","a":[{}]}}"#, vec!["{}"; elements].join(","));
        assert!(read_error(None, refusal(4_000).as_bytes()).is_some());
        assert!(read_error(None, refusal(2_000_000).as_bytes()).is_none());
    }

    #[test]
    fn what_stands_in_texts_is_not_counted() {
        let text = r#"\",{}["#.repeat(20_000);
        let body = format!(r#"{{"QueueUrl":"{text}"}}"#);
        let input = read::<SendMessageBatchInput>(body.as_bytes()).expect("one member");
        assert_eq!(input.queue_url().map(str::len), Some(100_000));
    }
}
