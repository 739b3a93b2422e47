//! The console: a page in the binary that uses this API.
//!
//! ```text
//! GET /               of a browser's address bar -> /_mock/console/
//! GET /_mock/console/ and the files of src/console, compressed once, when they are first asked for
//! ```
//!
//! Server-sent events that tell what changed, for pages that stay open.
//!
//! ```text
//! GET /_mock/events
//! event: state
//! data: {"queues": "..", "messages": "..", "requests": 17, "clock": {..}, ..}
//! ```
//! The stream looks at the server again and again and sends the state when it differs, so that requests pay nothing for
//! it and changes by time show too. Looking takes at most a twentieth of the time.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::ffi::OsStr;
use std::hash::Hash;
use std::hash::Hasher as _;
use std::io::Write as _;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    HeaderMap, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame};
use include_dir::{Dir, File, include_dir};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::{Instant, Sleep, sleep};

use crate::admin::server;
use crate::admin::{Answered, Refusal};
use crate::http::reply::{Break, Live};
use crate::services::Services;

/// The path of the console.
pub(crate) const ROOT: &str = "/_mock/console";

const HOME: HeaderValue = HeaderValue::from_static("/_mock/console/");

/// Nothing from elsewhere, and no script in the page.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/console");

/// The compressed files, by path.
static COMPRESSED: Mutex<BTreeMap<&Path, Bytes>> = Mutex::new(BTreeMap::new());

fn compressed(file: &'static File<'_>) -> Bytes {
    let compress = || {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let written = encoder.write_all(file.contents()).and_then(|()| encoder.finish());
        // Writing to memory cannot fail.
        written.map(Bytes::from).unwrap_or_default()
    };
    COMPRESSED.lock().entry(file.path()).or_insert_with(compress).clone()
}

fn content_type(file: &File<'_>) -> &'static str {
    match file.path().extension().and_then(OsStr::to_str) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        _ => "text/javascript; charset=utf-8",
    }
}

/// Whether a request comes from the address bar of a browser, which names no action.
pub(crate) fn is_of_address_bar(services: &Services, head: &Parts) -> bool {
    let is_root = head.method == Method::GET && head.uri.path() == "/" && head.uri.query().is_none();
    is_root && services.has_console && accepts(&head.headers, &ACCEPT, "text/html")
}

/// Sends a browser to the console.
pub(crate) fn to_console() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::FOUND;
    response.headers_mut().insert(LOCATION, HOME);
    response
}

/// `GET /_mock/console/..`.
pub(crate) fn file(services: &Services, head: &Parts) -> Answered {
    if !services.has_console {
        return Err(Refusal::not_found("this server has no console; --no-console turned it off"));
    }
    let path = head.uri.path().strip_prefix(ROOT).and_then(|path| path.strip_prefix('/'));
    let Some(path) = path else { return Ok(to_console()) };
    let path = if path.is_empty() { "index.html" } else { path };
    let file = FILES
        .get_file(path)
        .ok_or_else(|| Refusal::not_found(format!("the console has no file {path:?}")))?;
    let mut response = Response::new(Bytes::new());
    let fixed = [
        (CONTENT_TYPE, HeaderValue::from_static(content_type(file))),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (VARY, HeaderValue::from_static("accept-encoding")),
    ];
    response.headers_mut().extend(fixed);
    if accepts(&head.headers, &ACCEPT_ENCODING, "gzip") {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        *response.body_mut() = compressed(file);
    } else {
        *response.body_mut() = Bytes::from_static(file.contents());
    }
    Ok(response)
}

/// Whether a list in a header has a value that is not refused.
fn accepts(headers: &HeaderMap, name: &HeaderName, value: &str) -> bool {
    let lists = headers.get_all(name).iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        parts.next().is_some_and(|name| name.eq_ignore_ascii_case(value))
            && !parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

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
    let (requests, kept) = services.front.journal.latest();
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
        // Subscriptions that wait for a confirmation lapse when the clock jumps.
        "topics": revision((services.sns.actions.revision(), services.outgoing.log.last(), sqs.clock().setting())),
        // `null` if S3 is off.
        "buckets": buckets(services).map(|objects| revision((requests, objects))),
        "messages": messages,
        "deliveries": services.outgoing.log.last(),
    });
    let revision = revision((state.to_string(), sqs.clock().setting()));
    state["clock"] = server::state(sqs.clock());
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
pub(crate) fn stream(services: &Arc<Services>) -> Result<Response<Live>, Refusal> {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn found(directory: &Path, prefix: &str, all: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().into_string().unwrap());
            if entry.path().is_dir() {
                found(&entry.path(), &format!("{name}/"), all);
            } else {
                all.push(name);
            }
        }
    }

    fn files(directory: &'static Dir<'_>) -> Vec<&'static File<'static>> {
        directory.files().chain(directory.dirs().flat_map(files)).collect()
    }

    #[test]
    fn every_file_of_the_folder_is_served() {
        let mut all = Vec::new();
        found(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/console"), "", &mut all);
        all.sort();
        let mut served: Vec<_> = files(&FILES).iter().map(|file| file.path().to_str().unwrap()).collect();
        served.sort_unstable();
        assert_eq!(served, all);
    }

    #[test]
    fn files_have_at_most_100_kb_in_transit() {
        let bytes: usize = files(&FILES).into_iter().map(|file| compressed(file).len()).sum();
        assert!(bytes <= 100_000, "{bytes}");
    }

    #[test]
    fn weight_of_zero_refuses_an_encoding() {
        let accepts = |value| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
            super::accepts(&headers, &ACCEPT_ENCODING, "gzip")
        };
        assert!(accepts("br, GZIP;q=0.5") && accepts("gzip"));
        assert!(!accepts("gzip;q=0") && !accepts("br") && !accepts(""));
    }
}
