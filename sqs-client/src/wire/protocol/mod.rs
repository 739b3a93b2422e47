//! The two protocols of SQS, AWS JSON and Query, for clients and servers.
//!
//! To use a [`Client`](crate::Client), you need only [`Protocol`], for [`Builder::protocol`](crate::config::Builder::protocol).
//! The rest is for servers, proxies and test doubles. [`Detected`] is the protocol of a received request.
//!
//! ```text
//! client  Input  -> encode_request  -> bytes -> decode_request  -> Input   server
//! client  Output <- decode_response <- bytes <- encode_response <- Output  server
//! ```
//!
//! Each shape is declared once, in [`types`](crate::types), with serde impls for AWS JSON. The forms and XML of the Query
//! protocol use the same impls: `members` has a generic serializer and deserializer, and maps the member names that differ.
//!
//! ```
//! use sqs_client::operation::get_queue_url::GetQueueUrlInput;
//! use sqs_client::wire::protocol::Protocol;
//!
//! let input = GetQueueUrlInput::builder().queue_name("orders").build()?;
//! let request = Protocol::Query.encode_request(&input)?;
//! assert_eq!(&request.body[..], b"Action=GetQueueUrl&Version=2012-11-05&QueueName=orders");
//! assert_eq!(Protocol::Query.decode_request::<GetQueueUrlInput>(&request.body)?, input);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod json;
mod members;
mod query;
mod xml;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::types::HasMetadata;
use crate::wire::model::{Action, Input, Operation};
use crate::wire::service_error::{ServiceError, without_session_tokens};

pub use query::Form;
#[doc(hidden)]
pub use query::parameters;
pub(crate) use xml::Document;

const X_AMZ_TARGET: HeaderName = HeaderName::from_static("x-amz-target");
const X_AMZN_QUERY_MODE: HeaderName = HeaderName::from_static("x-amzn-query-mode");
const X_AMZN_QUERY_ERROR: HeaderName = HeaderName::from_static("x-amzn-query-error");
const X_AMZN_ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");
const X_AMZN_REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded; charset=utf-8");

/// The encoding of requests and responses.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Protocol {
    /// AWS JSON 1.0. All current AWS SDKs use it.
    #[default]
    AwsJson,
    /// The older Query protocol: form requests and XML responses. Some compatible services support only this one.
    Query,
}

/// An encoded request without host, date and signature.
#[derive(Clone, Debug)]
pub struct EncodedRequest {
    /// Content type and, for AWS JSON, the action.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// An encoded response.
#[derive(Clone, Debug)]
pub struct EncodedResponse {
    /// HTTP status.
    pub status: u16,
    /// Content type and request id. Errors in AWS JSON also have the query code.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Protocol {
    /// Encodes a request.
    ///
    /// # Errors
    /// None for the types of this crate.
    pub fn encode_request<I: Input>(self, input: &I) -> Result<EncodedRequest, EncodeError> {
        let mut headers = HeaderMap::with_capacity(8);
        let body = match self {
            Self::AwsJson => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(json::CONTENT_TYPE));
                headers.insert(
                    X_AMZ_TARGET,
                    HeaderValue::from_static(json::target(<I::Operation as Operation>::ACTION)),
                );
                headers.insert(X_AMZN_QUERY_MODE, HeaderValue::from_static("true"));
                json::encode(input)?
            }
            Self::Query => {
                headers.insert(CONTENT_TYPE, FORM);
                query::encode(input)?
            }
        };
        Ok(EncodedRequest { headers, body: body.into() })
    }

    /// Decodes the body of a request. If a form is in the URL, use [`Form`].
    ///
    /// # Errors
    /// The body cannot be parsed, or a member has the wrong type.
    pub fn decode_request<I: Input>(self, body: &[u8]) -> Result<I, DecodeError> {
        match self {
            Self::AwsJson => json::read(body),
            Self::Query => Form::parse(body)?.read(),
        }
    }

    /// Encodes a successful response.
    ///
    /// # Errors
    /// None for the types of this crate.
    pub fn encode_response<O: Operation>(
        self,
        output: &O::Output,
        request_id: &str,
    ) -> Result<EncodedResponse, EncodeError> {
        let body = match self {
            Self::AwsJson => json::encode_output::<O>(output)?,
            Self::Query => xml::encode::<O>(output, request_id)?,
        };
        Ok(EncodedResponse { status: 200, headers: self.response_headers(request_id), body: body.into() })
    }

    /// Encodes an error response.
    pub fn encode_error(self, error: &ServiceError, request_id: &str) -> EncodedResponse {
        let mut headers = self.response_headers(request_id);
        let body = match self {
            Self::AwsJson => {
                headers.insert(X_AMZN_QUERY_ERROR, ascii(json::query_error(&error.code)));
                json::encode_error(error)
            }
            Self::Query => xml::encode_error(error, request_id),
        };
        EncodedResponse { status: error.code.status(), headers, body: body.into() }
    }

    fn response_headers(self, request_id: &str) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(8);
        let content_type = match self {
            Self::AwsJson => json::CONTENT_TYPE,
            Self::Query => "text/xml",
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.insert(X_AMZN_REQUEST_ID, ascii(request_id.to_owned()));
        headers
    }

    /// Decodes the response to a request of this protocol.
    ///
    /// # Errors
    /// [`ResponseError::Service`] for an error response. [`ResponseError::Unreadable`] for anything else, such as the error
    /// page of a proxy or a truncated body.
    pub fn decode_response<O: Operation>(
        self,
        status: u16,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<O::Output, ResponseError> {
        let Accepted { document, request_id } = self.accepted(status, headers, body)?;
        let output = match document {
            None => json::read_output::<O>(body),
            Some(document) => document.read::<O>(),
        };
        match output {
            Ok(mut output) => {
                output.metadata_mut().request_id = request_id;
                Ok(output)
            }
            Err(error) => Err(ResponseError::unreadable(error, request_id)),
        }
    }

    /// Checks that are the same for all operations: the response is complete, and is not an error.
    fn accepted<'a>(
        self,
        status: u16,
        headers: &HeaderMap,
        body: &'a [u8],
    ) -> Result<Accepted<'a>, ResponseError> {
        let header_id = request_id(headers);
        if let Some(truncation) = truncation(headers, body) {
            return Err(ResponseError::unreadable(DecodeError::new(truncation), header_id));
        }
        let is_success = (200..300).contains(&status);
        if self == Self::AwsJson {
            if is_success {
                return Ok(Accepted { document: None, request_id: header_id });
            }
            let code = text_of(headers, &X_AMZN_QUERY_ERROR).or_else(|| text_of(headers, &X_AMZN_ERROR_TYPE));
            return Err(ResponseError::from_service(json::read_error(code, body), header_id, headers, body));
        }
        let document = match xml::Document::parse(body) {
            Ok(document) => document,
            Err(error) if is_success => return Err(ResponseError::unreadable(error, header_id)),
            Err(_) => return Err(ResponseError::from_service(None, header_id, headers, body)),
        };
        let request_id = header_id.or_else(|| document.request_id().map(str::to_owned));
        if !is_success {
            return Err(ResponseError::from_service(document.error(), request_id, headers, body));
        }
        Ok(Accepted { document: Some(document), request_id })
    }
}

/// A response whose output is not decoded yet.
struct Accepted<'a> {
    /// The body, in the Query protocol.
    document: Option<xml::Document<'a>>,
    request_id: Option<String>,
}

/// Detects truncated bodies, for transports that do not.
fn truncation(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    let expected: usize = text_of(headers, &CONTENT_LENGTH)?.parse().ok()?;
    (body.len() < expected).then(|| format!("the response ends after {} of {expected} bytes", body.len()))
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    text_of(headers, &X_AMZN_REQUEST_ID).map(str::to_owned)
}

fn text_of<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// A header value. Text that is not allowed in a header becomes `?`.
fn ascii(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("?"))
}

/// The protocol of a request and, for AWS JSON, its action.
///
/// A request with the header `X-Amz-Target` or the media type of AWS JSON uses AWS JSON. Any other request uses the Query
/// protocol.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Detected {
    /// AWS JSON. `Err` contains an unknown `X-Amz-Target`.
    AwsJson(Result<Action, String>),
    /// The Query protocol. The form contains the action.
    Query,
}

impl Detected {
    /// Detects the protocol from the headers of a request.
    pub fn from_headers(headers: &HeaderMap) -> Self {
        if let Some(target) = headers.get(X_AMZ_TARGET) {
            let target = String::from_utf8_lossy(target.as_bytes());
            return Self::AwsJson(json::action(&target).ok_or_else(|| target.into_owned()));
        }
        match text_of(headers, &CONTENT_TYPE) {
            Some(media) if json::is_media_type(media) => Self::AwsJson(Err(String::new())),
            _ => Self::Query,
        }
    }
}

/// A value cannot be encoded.
#[derive(Clone, Debug)]
pub struct EncodeError(Arc<str>);

impl EncodeError {
    #[expect(clippy::needless_pass_by_value, reason = "`map_err` passes a value")]
    pub(super) fn new(cause: impl ToString) -> Self {
        Self(cause.to_string().into())
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot encode: {}", self.0)
    }
}

impl std::error::Error for EncodeError {}

/// Maximum characters of received text that an error quotes.
const MAX_QUOTE: usize = 300;

/// Received bytes cannot be decoded.
#[derive(Clone, Debug)]
pub struct DecodeError(Arc<str>);

impl DecodeError {
    #[expect(clippy::needless_pass_by_value, reason = "`map_err` passes a value")]
    pub(crate) fn new(cause: impl ToString) -> Self {
        // Parsers quote what they cannot read.
        let text = without_session_tokens(&cause.to_string());
        Self(text.chars().take(MAX_QUOTE).collect::<String>().into())
    }

    /// An error response without an error code; its body is quoted.
    pub(crate) fn no_code(media: Option<&str>, body: &[u8]) -> Self {
        let media = media.unwrap_or("unknown type");
        let start = String::from_utf8_lossy(body.get(..MAX_QUOTE).unwrap_or(body));
        Self::new(format!("an error response without an error code, {media}: {}", start.trim()))
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecodeError {}

/// Why a response has no output.
#[derive(Clone, Debug)]
pub enum ResponseError {
    /// The service returned an error.
    Service {
        /// Code and message.
        error: ServiceError,
        /// The request id, if there is one.
        request_id: Option<String>,
    },
    /// The response is not a valid response of SQS.
    Unreadable {
        /// The decoding error.
        error: DecodeError,
        /// The request id, if there is one.
        request_id: Option<String>,
    },
}

impl ResponseError {
    /// A service error. Without one, the response is unreadable, and the error quotes the start of its body.
    fn from_service(
        error: Option<ServiceError>,
        request_id: Option<String>,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Self {
        if let Some(error) = error {
            return Self::Service { error: error.sanitized(), request_id };
        }
        let media = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok());
        Self::unreadable(DecodeError::no_code(media, body), request_id)
    }

    pub(super) fn unreadable(error: DecodeError, request_id: Option<String>) -> Self {
        Self::Unreadable { error, request_id }
    }
}
