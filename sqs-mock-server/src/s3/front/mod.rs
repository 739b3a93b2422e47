//! S3 for sockets: what comes before s3s, which reads requests, and behind it.
//!
//! ```text
//! connection -> Front: upload (patience, pace) -> anonymous (unless keys are asked for) -> s3s -> gate -> operations
//!                      download (pace, break, garble) <------------------------------------+
//! ```
//! The gate asks faults for a plan as soon as s3s knows what is asked for, and leaves it in the slot of the request, where
//! bodies and the front find it.

mod anonymous;
mod chunked;
mod download;
mod gate;
mod hosts;
mod pace;
mod slot;
mod upload;

use std::sync::Arc;

use fastrand::Rng;
use http::header::{CONTENT_LENGTH, EXPECT, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::{Body as _, Incoming};
use parking_lot::Mutex;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, S3Error};

use super::journal::Journal;
use super::ops::Operations;
use super::store::Store;
use crate::clock::Clock;
use crate::faults::{Ending, Faults, S3Unapplied};
use crate::http::{Break, Keys, Limits, Site};
use crate::seed;

use download::Download;
use gate::{Gate, Guards};
use hosts::Hosts;
pub(super) use slot::Slot;
pub(super) use upload::TooSlow;
use upload::Upload;

/// What the front is made of.
pub(super) struct Parts {
    pub(super) store: Arc<Store>,
    pub(super) clock: Clock,
    pub(super) faults: Faults,
    pub(super) journal: Arc<Journal>,
    pub(super) limits: Limits,
    /// Who may call; anyone when absent.
    pub(super) keys: Option<Keys>,
    /// Who all buckets belong to.
    pub(super) account: String,
    pub(super) ids: Rng,
}

/// S3 for connections.
pub(super) struct Front {
    service: S3Service,
    journal: Arc<Journal>,
    limits: Limits,
    is_open: bool,
    ids: Mutex<Rng>,
}

impl Front {
    pub(super) fn new(parts: Parts) -> Self {
        let is_open = parts.keys.is_none();
        let mut builder = S3ServiceBuilder::new(Operations::new(Arc::clone(&parts.store), parts.clock));
        builder.set_host(Hosts::new(parts.store));
        builder.set_auth(Guards(parts.keys.unwrap_or_default()));
        builder.set_access(Gate { faults: parts.faults, account: parts.account, is_open });
        Self {
            service: builder.build(),
            journal: parts.journal,
            limits: parts.limits,
            is_open,
            ids: Mutex::new(parts.ids),
        }
    }

    async fn answer(&self, request: Request<Incoming>, slot: &Slot) -> Response<Body> {
        let (mut head, incoming) = request.into_parts();
        let waits = head.headers.contains_key(EXPECT);
        let upload = Upload::new(incoming, slot.clone(), self.limits.body_timeout, waits);
        let body = if self.is_open {
            anonymous::admit(&mut head, upload)
        } else {
            Ok(Body::http_body_unsync(upload))
        };
        head.extensions.insert(slot.clone());
        let answered = match body {
            Ok(body) => {
                self.service.call(Request::from_parts(head, body)).await.map_err(|error| format!("{error:?}"))
            }
            Err(error) => error.to_http_response().map_err(|error| error.to_string()),
        };
        // Who still sends would not read the answer, were the connection closed now.
        slot.drain(self.limits.body_timeout).await;
        answered.unwrap_or_else(|error| {
            tracing::error!(error, "a request to S3 cannot be answered");
            status(StatusCode::INTERNAL_SERVER_ERROR, String::new())
        })
    }
}

impl Site for Front {
    type Body = Download;

    /// # Cancel safety
    /// Dropped before its end, nothing is changed, or all is.
    async fn route(&self, request: Request<Incoming>) -> Result<Response<Download>, Break> {
        let slot = Slot::default();
        let mut witness = self.journal.witness(&slot);
        let is_head = request.method() == Method::HEAD;
        let mut response = self.answer(request, &slot).await;
        let id = seed::uuid(&mut self.ids.lock()).to_string();
        if let Ok(id) = HeaderValue::try_from(id) {
            response.headers_mut().insert(HeaderName::from_static("x-amz-request-id"), id);
        }
        match slot.unapplied() {
            Some(S3Unapplied::Reset) => return Err(Break::Reset),
            Some(S3Unapplied::Status(code, body)) => {
                response =
                    status(StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body);
            }
            Some(S3Unapplied::Refused { .. }) | None => {}
        }
        let ending = slot.ending();
        let has_body =
            !is_head && ![StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&response.status());
        if ending == Ending::Lost || (ending == Ending::Truncated && !has_body) {
            return Err(Break::Reset);
        }
        witness.answered(response.status());
        Ok(spoilt(response, ending, slot.pace()))
    }

    fn connected(&self) -> impl Drop + Send {
        self.journal.connection()
    }
}

/// An answer on its way, after a fault has had its way with it.
fn spoilt(mut response: Response<Body>, ending: Ending, pace: Option<u64>) -> Response<Download> {
    let announced =
        response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let length = announced.or_else(|| response.body().size_hint().exact());
    if ending == Ending::Truncated && length.unwrap_or(0) == 0 {
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(1));
    } else if let (Ending::Truncated, Some(length)) = (ending, length) {
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    response.map(|body| Download::new(body, ending, length, pace))
}

fn status(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
}

/// What s3s refuses a request with that cannot be read.
fn malformed(text: &'static str) -> S3Error {
    S3Error::with_message(s3s::S3ErrorCode::InvalidRequest, text)
}
