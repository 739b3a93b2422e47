//! Responses as XML documents.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};

use super::xml::Xml;
use crate::service::query_error::QueryError;

const X_AMZN_REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");

/// Writes the response to one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document<'a> {
    pub(super) namespace: &'static str,
    pub(super) request_id: &'a str,
}

impl Document<'_> {
    /// The response of an action: its result element, if it has one, and the request id.
    pub(super) fn answer(self, action: &str, result: Option<&Xml>) -> Response<Bytes> {
        self.write(StatusCode::OK, &format!("{action}Response"), |root| {
            if let Some(result) = result {
                root.element(&format!("{action}Result"), |inside| inside.append(result));
            }
            root.element("ResponseMetadata", |metadata| metadata.leaf("RequestId", self.request_id));
        })
    }

    /// An error.
    pub(super) fn error(self, error: &QueryError) -> Response<Bytes> {
        let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        self.write(status, "ErrorResponse", |root| {
            root.element("Error", |inside| {
                inside.leaf("Type", if error.is_of_sender() { "Sender" } else { "Receiver" });
                inside.leaf("Code", &error.code);
                inside.leaf("Message", &error.message);
            });
            root.leaf("RequestId", self.request_id);
        })
    }

    fn write(self, status: StatusCode, root: &str, inside: impl FnOnce(&mut Xml)) -> Response<Bytes> {
        let mut xml = Xml::default();
        xml.root(root, self.namespace, inside);
        let mut response = Response::new(Bytes::from(xml.into_text()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/xml"));
        if let Ok(id) = HeaderValue::try_from(self.request_id) {
            headers.insert(X_AMZN_REQUEST_ID, id);
        }
        response
    }
}
