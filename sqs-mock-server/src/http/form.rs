//! The form of a request.

use std::borrow::Cow;

use http::request::Parts;

/// The form of a Query request: from the URL, from the body, or from both.
pub(crate) fn form_text<'a>(head: &'a Parts, body: &'a [u8]) -> Cow<'a, [u8]> {
    match (head.uri.query().unwrap_or_default().as_bytes(), body) {
        (b"", body) => Cow::Borrowed(body),
        (query, b"") => Cow::Borrowed(query),
        (query, body) => Cow::Owned([query, b"&", body].concat()),
    }
}
