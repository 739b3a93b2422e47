//! The body of a response: what s3s omits from errors, and what a fault does to it.

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::Response;
use http::header::{CONTENT_LENGTH, HeaderValue};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Body as _, Frame};
use s3s::{Body, StdError};
use tokio::time::sleep;

use super::pace;
use crate::http::{Break, Live};
use crate::s3::RequestContext;
use crate::s3::notifications::MALFORMED_XML;
use crate::service::faults::Damage;

/// The end of the body of an error.
const END: &str = "</Error>";

/// A body that a fault slows down, corrupts or truncates.
struct Damaged {
    body: Body,
    /// Bytes that were read but not sent.
    pending: Bytes,
    corrupts: bool,
    /// In bytes per second.
    pace: Option<u64>,
    /// The number of bytes to send before the connection breaks.
    left: Option<u64>,
}

/// Applies the part of a fault plan that changes the body of a response.
pub(super) fn damaged(response: Response<Body>, damage: Option<Damage>, pace: Option<u64>) -> Response<Live> {
    let truncates = damage == Some(Damage::Truncated);
    let is_changed = damage.is_some() || pace.is_some();
    if !truncates && (!is_changed || response.body().is_end_stream()) {
        return response.map(BodyExt::boxed_unsync);
    }
    let (mut head, body) = response.into_parts();
    let announced = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let length: Option<u64> = announced.or_else(|| body.size_hint().exact());
    if truncates {
        // An empty body could not be truncated.
        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(length.unwrap_or(0).max(1)));
    } else if let Some(length) = length {
        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    let left = truncates.then(|| length.unwrap_or(0) / 2);
    let body =
        Damaged { body, pending: Bytes::new(), corrupts: damage == Some(Damage::Corrupted), pace, left };
    let frames = stream::try_unfold(body, |mut body| async move {
        Ok(body.next().await?.map(|portion| (Frame::data(portion), body)))
    });
    Response::from_parts(head, StreamBody::new(frames).boxed_unsync())
}

impl Damaged {
    /// The next bytes to send; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, StdError> {
        while self.pending.is_empty() && self.left != Some(0) {
            let Some(read) = self.body.next().await.transpose()? else { break };
            self.pending = match read.split_first() {
                Some((first, rest)) if self.corrupts => [&[!first], rest].concat().into(),
                _ => read,
            };
            self.corrupts &= self.pending.is_empty();
        }
        if self.left.is_some_and(|left| left == 0 || self.pending.is_empty()) {
            // The connection flushes meanwhile.
            tokio::task::yield_now().await;
            return Err(Break::Cut.into());
        }
        if self.pending.is_empty() {
            return Ok(None);
        }
        let paced = self.pace.map_or(u64::MAX, |per_second| (per_second / 10).max(1));
        let most = usize::try_from(paced.min(self.left.unwrap_or(u64::MAX))).unwrap_or(usize::MAX);
        let portion = self.pending.split_to(self.pending.len().min(most));
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(portion.len() as u64);
        }
        if let Some(per_second) = self.pace {
            sleep(pace(portion.len(), per_second)).await;
        }
        Ok(Some(portion))
    }
}

/// Adds the elements that an operation reported, and the ids of the request, to the body of an error: s3s writes only code
/// and message.
pub(super) fn complete_error(mut response: Response<Body>, context: &RequestContext) -> Response<Body> {
    let body = response.body().bytes().unwrap_or_default();
    let Some(start) = std::str::from_utf8(&body).ok().and_then(|text| text.strip_suffix(END)) else {
        return response;
    };
    let mut text = start.to_owned();
    let mut add = |name: &str, value: &str| {
        let value = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        text.extend(["<", name, ">", &value, "</", name, ">"]);
    };
    // s3s itself sends this error without a message.
    if start.ends_with("<Code>MalformedXML</Code>") {
        add("Message", MALFORMED_XML);
    }
    for (name, value) in &*context.error_elements.lock() {
        add(name, value);
    }
    add("RequestId", &context.id);
    add("HostId", &context.host_id());
    response.headers_mut().remove(CONTENT_LENGTH);
    response.map(|_| Body::from(text + END))
}
