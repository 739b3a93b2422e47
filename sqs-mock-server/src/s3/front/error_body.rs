//! Completes the bodies of errors: s3s writes only code and message.

use std::borrow::Cow;

use http::Response;
use http::header::CONTENT_LENGTH;
use s3s::Body;

use crate::s3::notifications::MALFORMED_XML;
use crate::s3::request_context::RequestContext;

const END: &str = "</Error>";

/// Adds the elements that an operation reported, and the ids of the request, to the body of an error.
pub(super) fn complete(response: Response<Body>, context: &RequestContext) -> Response<Body> {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let Some(text) = body.bytes().and_then(|bytes| completed(&bytes, context)) else {
        return Response::from_parts(head, body);
    };
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, Body::from(text))
}

fn completed(body: &[u8], context: &RequestContext) -> Option<String> {
    let mut text = std::str::from_utf8(body).ok()?.strip_suffix(END)?.to_owned();
    let mut add = |name: &str, value: &str| {
        text.extend(["<", name, ">"]);
        text.extend(value.chars().map(escaped));
        text.extend(["</", name, ">"]);
    };
    // s3s itself sends this error without a message.
    if body.ends_with(b"<Code>MalformedXML</Code></Error>") {
        add("Message", MALFORMED_XML);
    }
    for (name, value) in context.error_elements() {
        add(&name, &value);
    }
    add("RequestId", &context.id);
    add("HostId", &context.host_id());
    Some(text + END)
}

/// A character of a text in XML.
fn escaped(character: char) -> Cow<'static, str> {
    match character {
        '&' => "&amp;".into(),
        '<' => "&lt;".into(),
        '>' => "&gt;".into(),
        other => other.to_string().into(),
    }
}
