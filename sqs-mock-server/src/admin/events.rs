//! Server-sent events that tell what changed, for pages that stay open.
//!
//! ```text
//! GET /_mock/events
//! event: state
//! data: {"queues": "..", "messages": "..", "requests": 17, "clock": {..}, ..}
//! ```
//! The stream looks at the server again and again and sends the state when it differs, so that requests pay nothing for
//! it and changes by time show too. Looking takes at most a twentieth of the time.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame};
use serde_json::{Value, json};
use tokio::time::{Instant, Sleep, sleep};

use super::answer::Refusal;
use super::clock;
use crate::http::{Break, Live};
use crate::services::Services;

/// The minimum pause between two events.
const PAUSE: Duration = Duration::from_millis(250);
/// The pause is at least this many times as long as the look.
const SHARE: u32 = 20;
/// A comment after this time shows that the connection works, and finds readers that are gone.
const ALIVE: Duration = Duration::from_secs(15);

/// What a page can compare with the state before, where texts have no meaning except equality, and its revision, which
/// differs if something changed. A clock that runs is no change.
fn state_and_revision(services: &Services) -> (Value, String) {
    let sqs = services.sqs.service();
    let arns = sqs.queues();
    // The number of the latest request, and how many are kept.
    let (requests, kept) = services.journal.latest();
    let faults = sqs.faults().list();
    let faults = faults.iter().map(|fault| (fault.id(), fault.hits(), fault.is_spent()));
    let counts = arns.iter().map(|arn| sqs.counts(arn).unwrap_or_default());
    let counts = counts.map(|counts| [counts.available, counts.in_flight, counts.delayed]);
    let messages = revision(counts.collect::<Vec<_>>());
    let mut state = json!({
        "queues": revision((&arns, requests)),
        "requests": requests,
        "kept": kept,
        "faults": revision(faults.collect::<Vec<_>>()),
        // Deliveries that wait change by time, and so do the queues that get them.
        "topics": revision((requests, &messages)),
        // `null` if S3 is off.
        "buckets": buckets(services).map(|objects| revision((requests, objects))),
        "messages": messages,
    });
    let revision = revision((state.to_string(), sqs.clock().setting()));
    state["clock"] = clock::state(sqs.clock());
    (state, revision)
}

#[cfg(feature = "s3")]
fn buckets(services: &Services) -> Option<Vec<(String, usize)>> {
    services.s3().map(|s3| s3.sizes())
}

#[cfg(not(feature = "s3"))]
fn buckets(_: &Services) -> Option<Vec<(String, usize)>> {
    None
}

fn revision(of: impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The body of the stream. It ends when the server stops.
struct Stream {
    services: Arc<Services>,
    pause: Pin<Box<Sleep>>,
    /// The revision of the last event.
    sent: String,
    spoke: Instant,
}

impl Stream {
    /// The next event, if there is one now.
    fn next(&mut self) -> Option<Bytes> {
        let start = Instant::now();
        let (state, revision) = state_and_revision(&self.services);
        let event = if revision != self.sent {
            self.sent = revision;
            Some(format!("event: state\ndata: {state}\n\n").into())
        } else if start.duration_since(self.spoke) >= ALIVE {
            Some(Bytes::from_static(b": alive\n\n"))
        } else {
            None
        };
        if event.is_some() {
            self.spoke = start;
        }
        let end = Instant::now();
        let took = end.duration_since(start);
        self.pause.as_mut().reset(end + PAUSE.max(took * SHARE));
        event
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Break;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Break>>> {
        loop {
            if self.services.sqs.service().is_shut_down() {
                return Poll::Ready(None);
            }
            ready!(self.pause.as_mut().poll(cx));
            if let Some(event) = self.next() {
                return Poll::Ready(Some(Ok(Frame::data(event))));
            }
        }
    }
}

/// `GET /_mock/events`.
pub(super) fn stream(services: &Arc<Services>) -> Result<Response<Live>, Refusal> {
    if services.sqs.service().is_shut_down() {
        return Err(Refusal::stopping());
    }
    let body = Stream {
        services: Arc::clone(services),
        pause: Box::pin(sleep(Duration::ZERO)),
        sent: String::new(),
        spoke: Instant::now(),
    };
    let mut response = Response::new(body.map_err(Into::into).boxed_unsync());
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
