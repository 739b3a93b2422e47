//! AWS JSON 1.0: the action in a header, one JSON object in the body.
//!
//! Source: <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-json.html>

use serde::{Deserialize, Serialize};

use super::{DecodeError, EncodeError};
use crate::operation::{Action, Input, Operation};
use crate::service_error::{ErrorCode, ServiceError};

/// The media type of requests and answers.
pub(super) const CONTENT_TYPE: &str = "application/x-amz-json-1.0";
const TARGET_PREFIX: &str = "AmazonSQS.";

/// The value of `X-Amz-Target`.
pub(super) fn target(action: Action) -> String {
    format!("{TARGET_PREFIX}{action}")
}

/// The action that a value of `X-Amz-Target` names.
pub(super) fn action(target: &str) -> Option<Action> {
    Action::from_name(target.strip_prefix(TARGET_PREFIX)?)
}

/// Encodes a request body.
pub(super) fn encode<I: Input>(input: &I) -> Result<Vec<u8>, EncodeError> {
    serde_json::to_vec(input).map_err(EncodeError::new)
}

/// Reads a request body; zero bytes stand for `{}`.
pub(super) fn read<I: Input>(body: &[u8]) -> Result<I, DecodeError> {
    if body.is_empty() {
        return Ok(I::default());
    }
    // A struct of serde can also be read from a JSON array, which no service takes.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(DecodeError::new("the body is not a JSON object"));
    }
    serde_json::from_slice(body).map_err(DecodeError::new)
}

/// Encodes an answer: zero bytes for the void actions.
pub(super) fn encode_output<O: Operation>(output: &O::Output) -> Result<Vec<u8>, EncodeError> {
    if O::ACTION.is_void() {
        return Ok(Vec::new());
    }
    serde_json::to_vec(output).map_err(EncodeError::new)
}

/// Reads an answer. The body of a void action is not looked at: AWS sends zero bytes, clones send anything.
pub(super) fn read_output<O: Operation>(body: &[u8]) -> Result<O::Output, DecodeError> {
    if O::ACTION.is_void() {
        return Ok(O::Output::default());
    }
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(DecodeError::new("the answer is not a JSON object"));
    }
    serde_json::from_slice(body).map_err(DecodeError::new)
}

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(rename = "__type")]
    type_name: Option<String>,
    message: Option<String>,
    /// Some services write it with a capital letter.
    #[serde(rename = "Message")]
    capital_message: Option<String>,
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
    let body: Option<ErrorBody> = serde_json::from_slice(body).ok();
    let of_header = header.map(|value| value.split(';').next().unwrap_or(value).trim());
    let of_body = body.as_ref().and_then(|body| body.type_name.as_deref());
    // Also `Shape:http://..`, which AWS documents for `__type`.
    let of_body = of_body.map(|name| name.rsplit('#').next().unwrap_or(name).split(':').next().unwrap_or(name));
    let mut codes = of_header.into_iter().chain(of_body).filter(|name| !name.is_empty()).map(ErrorCode::from_name);
    let first = codes.next()?;
    let code = match first {
        ErrorCode::Other(_) => codes.next().filter(|code| !matches!(code, ErrorCode::Other(_))).unwrap_or(first),
        known => known,
    };
    Some(ServiceError { code, message: body.and_then(|body| body.message.or(body.capital_message)) })
}
