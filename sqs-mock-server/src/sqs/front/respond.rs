//! Encodes outputs and errors as HTTP responses.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode};
use sqs_client::operation::Operation;
use sqs_client::wire::protocol::{Detected, EncodedResponse, Protocol};
use sqs_client::wire::service_error::{ErrorCode, ServiceError};
use sqs_client::wire::sign::VerifyError;

use super::query_json;

/// The protocol of a response and, for the Query protocol, its format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) protocol: Protocol,
    /// Whether a Query response is JSON instead of XML.
    in_json: bool,
}

impl Style {
    /// The style that the headers of a request select.
    pub(crate) fn of(detected: &Detected, head: &Parts) -> Self {
        match detected {
            Detected::AwsJson(_) => Self { protocol: Protocol::AwsJson, in_json: false },
            Detected::Query => {
                Self { protocol: Protocol::Query, in_json: query_json::is_accepted(&head.headers) }
            }
        }
    }

    /// Encodes an output.
    pub(crate) fn output<O: Operation>(
        self,
        output: &O::Output,
        request_id: &str,
    ) -> Result<EncodedResponse, ServiceError> {
        let encoded = if self.in_json {
            query_json::encode::<O>(output, request_id).map_err(|error| error.to_string())
        } else {
            self.protocol.encode_response::<O>(output, request_id).map_err(|error| error.to_string())
        };
        encoded
            .map_err(|error| ServiceError::new(ErrorCode::InternalFailure, format!("{}: {error}", O::ACTION)))
    }
}

/// Converts an encoded response to HTTP.
pub(crate) fn answer(encoded: EncodedResponse) -> Response<Bytes> {
    let mut response = Response::new(encoded.body);
    *response.status_mut() =
        StatusCode::from_u16(encoded.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = encoded.headers;
    response
}

/// An error with the status of its code.
pub(crate) fn refuse(style: Style, error: &ServiceError, request_id: &str) -> Response<Bytes> {
    answer(if style.in_json {
        query_json::encode_error(error, request_id)
    } else {
        style.protocol.encode_error(error, request_id)
    })
}

/// An error that has an HTTP status but no SQS code. In AWS JSON, its `__type` has the namespace that AWS uses for
/// codes that are not shapes of the service; the Query protocol has the code as is.
pub(super) fn refuse_with_status(
    style: Style,
    status: StatusCode,
    code: &str,
    message: impl Into<String>,
    request_id: &str,
) -> Response<Bytes> {
    let error = ServiceError::new(ErrorCode::from_name(code), message);
    let mut response = refuse(style, &error, request_id);
    *response.status_mut() = status;
    if let (Protocol::AwsJson, ErrorCode::Other(code)) = (style.protocol, &error.code) {
        let type_name = format!("com.amazon.coral.service#{code}Exception");
        let body = serde_json::json!({ "__type": type_name, "message": error.message });
        *response.body_mut() = body.to_string().into();
    }
    response
}

/// The response to methods other than GET and POST.
pub(super) fn method_not_allowed(style: Style, request_id: &str) -> Response<Bytes> {
    let status = StatusCode::METHOD_NOT_ALLOWED;
    let message = "Only GET and POST are supported.";
    let mut response = refuse_with_status(style, status, "MethodNotAllowed", message, request_id);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST"));
    response
}

/// The response to a request without an action, such as opening a queue URL in a browser. The response of AWS to
/// requests that accept JSON is not recorded; they get the same one.
pub(super) fn no_action() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(b"<UnknownOperationException/>\n"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/xml"));
    response
}

/// The error of a request with a wrong signature.
pub(super) fn wrong_signature(error: &VerifyError, region: &str) -> ServiceError {
    let code = match error {
        VerifyError::Unsigned => {
            let message = format!("Access to the resource https://sqs.{region}.amazonaws.com/ is denied.");
            return ServiceError::new(ErrorCode::AccessDenied, message);
        }
        VerifyError::UnknownKey => ErrorCode::InvalidClientTokenId,
        VerifyError::Incomplete(_) => ErrorCode::IncompleteSignature,
        _ => ErrorCode::SignatureDoesNotMatch,
    };
    ServiceError::new(code, error.to_string())
}
