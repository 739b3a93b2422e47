//! AWS JSON 1.0: the action in a header, one JSON object in the body.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-json.html>

use std::io::Write as _;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::{self, Impossible, Serializer};
use serde_json::{Map, Value};

use super::members::{UnsupportedType, unsupported_types};
use super::{DecodeError, EncodeError};
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
    write(input, &mut body).map_err(EncodeError::new)?;
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
    write(output, &mut body).map_err(EncodeError::new)?;
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
    serde_json::from_slice(body)
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
    T::deserialize(value).ok()
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

/// Appends `shape` to `json`, as `serde_json` would. Long strings are faster.
pub(super) fn write(shape: &impl Serialize, json: &mut Vec<u8>) -> Result<(), UnsupportedType> {
    shape.serialize(ValueWriter(json))
}

/// Writes one value.
struct ValueWriter<'v>(&'v mut Vec<u8>);

/// Writes the elements of a list or the members of an object.
struct Collection<'v> {
    json: &'v mut Vec<u8>,
    end: u8,
    is_empty: bool,
}

impl<'v> ValueWriter<'v> {
    fn collection(self, begin: u8, end: u8) -> Collection<'v> {
        self.0.push(begin);
        Collection { json: self.0, end, is_empty: true }
    }
}

impl Collection<'_> {
    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), UnsupportedType> {
        if !std::mem::take(&mut self.is_empty) {
            self.json.push(b',');
        }
        value.serialize(ValueWriter(self.json))
    }

    fn member_value(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), UnsupportedType> {
        self.json.push(b':');
        value.serialize(ValueWriter(self.json))
    }
}

macro_rules! plain {
    ($($method:ident $type:ty),*) => {
        $( fn $method(self, value: $type) -> Result<(), UnsupportedType> {
            // Writing to a vector cannot fail.
            let _ = write!(self.0, "{value}");
            Ok(())
        } )*
    };
}

impl<'v> Serializer for ValueWriter<'v> {
    type Ok = ();
    type Error = UnsupportedType;
    type SerializeSeq = Collection<'v>;
    type SerializeTuple = Impossible<(), UnsupportedType>;
    type SerializeTupleStruct = Impossible<(), UnsupportedType>;
    type SerializeTupleVariant = Impossible<(), UnsupportedType>;
    type SerializeMap = Collection<'v>;
    type SerializeStruct = Collection<'v>;
    type SerializeStructVariant = Impossible<(), UnsupportedType>;

    plain!(serialize_bool bool, serialize_i32 i32, serialize_i64 i64);
    unsupported_types!();

    fn serialize_str(self, text: &str) -> Result<(), UnsupportedType> {
        write_text(text.as_bytes(), self.0);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), UnsupportedType> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), UnsupportedType> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Collection<'v>, UnsupportedType> {
        Ok(self.collection(b'[', b']'))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Collection<'v>, UnsupportedType> {
        Ok(self.collection(b'{', b'}'))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Collection<'v>, UnsupportedType> {
        Ok(self.collection(b'{', b'}'))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), UnsupportedType> {
        value.serialize(self)
    }
}

impl ser::SerializeSeq for Collection<'_> {
    type Ok = ();
    type Error = UnsupportedType;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), UnsupportedType> {
        self.element(value)
    }

    fn end(self) -> Result<(), UnsupportedType> {
        self.json.push(self.end);
        Ok(())
    }
}

impl ser::SerializeMap for Collection<'_> {
    type Ok = ();
    type Error = UnsupportedType;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), UnsupportedType> {
        self.element(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), UnsupportedType> {
        self.member_value(value)
    }

    fn end(self) -> Result<(), UnsupportedType> {
        self.json.push(self.end);
        Ok(())
    }
}

impl ser::SerializeStruct for Collection<'_> {
    type Ok = ();
    type Error = UnsupportedType;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        member: &'static str,
        value: &T,
    ) -> Result<(), UnsupportedType> {
        self.element(member)?;
        self.member_value(value)
    }

    fn end(self) -> Result<(), UnsupportedType> {
        self.json.push(self.end);
        Ok(())
    }
}

/// Bytes per block.
const BLOCK: usize = 64;

fn needs_escape(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Appends `text` in quotes.
///
/// Whole blocks are checked for characters to escape, which compiles to vector instructions: plain text is written six times
/// as fast as by `serde_json`. Message bodies are often JSON, with a quote every few bytes. Such blocks are written byte by
/// byte without branches, as fast as by `serde_json`.
fn write_text(text: &[u8], json: &mut Vec<u8>) {
    json.push(b'"');
    let mut plain = 0;
    for (number, block) in text.chunks(BLOCK).enumerate() {
        if block.iter().fold(false, |any, byte| any | needs_escape(*byte)) {
            let start = number * BLOCK;
            json.extend_from_slice(&text[plain..start]);
            write_escaped(block, json);
            plain = start + block.len();
        }
    }
    json.extend_from_slice(&text[plain..]);
    json.push(b'"');
}

/// The letter after the backslash for each byte, or 0 for bytes that are not escaped.
const LETTERS: [u8; 256] = {
    let mut letters = [0; 256];
    let mut control = 0;
    while control < b' ' as usize {
        letters[control] = b'u';
        control += 1;
    }
    letters[0x08] = b'b';
    letters[0x0c] = b'f';
    letters[b'\n' as usize] = b'n';
    letters[b'\r' as usize] = b'r';
    letters[b'\t' as usize] = b't';
    letters[b'"' as usize] = b'"';
    letters[b'\\' as usize] = b'\\';
    letters
};

/// Appends one block.
fn write_escaped(block: &[u8], json: &mut Vec<u8>) {
    let mut escaped = [0; 2 * BLOCK];
    let mut length = 0;
    for byte in block {
        let letter = LETTERS[usize::from(*byte)];
        if letter == b'u' {
            json.extend_from_slice(&escaped[..length]);
            length = 0;
            // Writing to a vector cannot fail.
            let _ = write!(json, "\\u{byte:04x}");
            continue;
        }
        escaped[length] = b'\\';
        length += usize::from(letter != 0);
        escaped[length] = if letter == 0 { *byte } else { letter };
        length += 1;
    }
    json.extend_from_slice(&escaped[..length]);
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

#[cfg(test)]
mod json_write_tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use crate::operation::send_message_batch::SendMessageBatchInput;
    use crate::types::{MessageAttributeValue, SendMessageBatchRequestEntry};
    use crate::wire::protocol::json::write;

    fn written(shape: &impl serde::Serialize) -> String {
        let mut json = Vec::new();
        write(shape, &mut json).expect("a shape");
        String::from_utf8(json).expect("text")
    }

    #[test]
    fn each_character_is_written_as_by_serde_json_at_any_position() {
        let characters = (0..=0x17f).chain([0x2028, 0x2029, 0xfffd, 0x1f600]).filter_map(char::from_u32);
        for character in characters {
            for before in [0, 1, 62, 63, 64, 127] {
                let text = format!("{}{character}{character}b", "a".repeat(before));
                assert_eq!(
                    written(&text),
                    serde_json::to_string(&text).unwrap(),
                    "{character:?} at {before}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn shapes_are_written_as_by_serde_json(
            bodies in proptest::collection::vec("[ -~\\n\\t\"\\\\é]{0,200}", 0..4),
            delay in proptest::option::of(any::<i32>()),
            name in ".{0,80}",
            bytes in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let entry = |body: String| {
                let value = MessageAttributeValue::binary(bytes.clone());
                SendMessageBatchRequestEntry {
                    message_body: body,
                    delay_seconds: delay,
                    message_attributes: Some(HashMap::from([(name.clone(), value)])),
                    ..Default::default()
                }
            };
            let entries = bodies.into_iter().map(entry).collect();
            let input = SendMessageBatchInput { entries: Some(entries), ..Default::default() };
            prop_assert_eq!(written(&input), serde_json::to_string(&input).unwrap());
        }
    }
}
