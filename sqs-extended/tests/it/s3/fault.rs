//! A layer in front of the S3 server that records requests and injects faults.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use s3s::Body;
use s3s::service::S3Service;

/// A recorded request.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: http::HeaderMap,
    pub(crate) crc32: [u8; 4],
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The name of its operation.
    pub(crate) fn name(&self) -> &'static str {
        let has = |name: &str| self.query.split('&').any(|pair| pair.split('=').next() == Some(name));
        match self.method {
            Method::PUT if has("partNumber") => "UploadPart",
            Method::PUT => "PutObject",
            Method::POST if has("uploads") => "Create",
            Method::POST => "Complete",
            Method::DELETE if has("uploadId") => "Abort",
            Method::DELETE => "DeleteObject",
            Method::HEAD => "HeadObject",
            _ if has("list-type") => "List",
            _ => "GetObject",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    /// An error response with this status and code.
    Answer(u16, &'static str),
    /// An empty response with this status.
    Succeed(u16),
    /// The connection closes before S3 gets the request.
    ResetBefore,
    /// The connection closes after S3 has handled the request.
    ResetAfter,
    /// A proxy sends the request to S3 twice, and only the second response arrives.
    Repeat,
    /// The response body breaks off after this number of bytes.
    BreakAt(usize),
    /// S3 does not get the request, and no response is sent.
    Hang,
}

#[derive(Debug)]
struct Fault {
    name: &'static str,
    effect: Effect,
    times: usize,
    skip: usize,
}

/// Shared by the rig and its connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    waiting: Arc<Mutex<Vec<Fault>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    pub(crate) wake: Arc<tokio::sync::Notify>,
}

impl Faults {
    pub(crate) fn inject(&self, name: &'static str, effect: Effect, skip: usize, times: usize) {
        self.waiting.lock().unwrap().push(Fault { name, effect, times, skip });
    }

    /// Removes all faults.
    pub(crate) fn clear(&self) {
        self.waiting.lock().unwrap().clear();
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    fn pick(&self, name: &str) -> Option<Effect> {
        let mut faults = self.waiting.lock().unwrap();
        let fault = faults.iter_mut().find(|fault| fault.name == name && fault.times > 0)?;
        if fault.skip > 0 {
            fault.skip -= 1;
            return None;
        }
        fault.times -= 1;
        Some(fault.effect)
    }

    pub(crate) async fn call(
        self,
        request: Request<Incoming>,
        s3: S3Service,
    ) -> Result<Response<Body>, std::io::Error> {
        let broken = || std::io::Error::other("broken on purpose");
        let (head, body) = request.into_parts();
        let bytes = body.collect().await.map_err(|_| broken())?.to_bytes();
        let seen = Seen {
            method: head.method.clone(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            headers: head.headers.clone(),
            crc32: crc32(&bytes),
        };
        let name = seen.name();
        let effect = self.pick(name);
        self.seen.lock().unwrap().push(seen);
        self.wake.notify_waiters();
        match effect {
            Some(Effect::Answer(status, code)) => return Ok(answer(status, code)),
            Some(Effect::Succeed(status)) => {
                return Ok(Response::builder().status(status).body(Body::empty()).unwrap());
            }
            Some(Effect::ResetBefore) => return Err(broken()),
            Some(Effect::Hang) => std::future::pending().await,
            _ => {}
        }
        if let Some(Effect::Repeat) = effect {
            let first = Request::from_parts(head.clone(), Body::from(bytes.clone()));
            s3.call(first).await.map_err(|_| broken())?;
        }
        let answer = s3.call(Request::from_parts(head, Body::from(bytes))).await.map_err(|_| broken())?;
        // s3s-fs denies the end of an upload that it does not know. This is the response of S3.
        let is_unknown_upload = name == "Complete" && answer.status() == StatusCode::FORBIDDEN;
        let answer = if is_unknown_upload { self::answer(404, "NoSuchUpload") } else { answer };
        match effect {
            Some(Effect::ResetAfter) => Err(broken()),
            Some(Effect::BreakAt(bytes)) => Ok(broken_off(answer, bytes).await),
            _ => Ok(answer),
        }
    }
}

fn crc32(bytes: &[u8]) -> [u8; 4] {
    let crc = crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32IsoHdlc, bytes);
    u32::try_from(crc).unwrap().to_be_bytes()
}

fn answer(status: u16, code: &str) -> Response<Body> {
    let text = format!("<Error><Code>{code}</Code><Message>on purpose</Message></Error>");
    let response = Response::builder().status(status).header("x-amz-request-id", "R1");
    response.body(Body::from(text)).unwrap()
}

/// Cuts the body after `at` bytes and keeps the original `content-length`.
async fn broken_off(answer: Response<Body>, at: usize) -> Response<Body> {
    let (head, body) = answer.into_parts();
    let mut bytes = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
    bytes.truncate(at);
    let pieces = stream::iter([Ok(hyper::body::Frame::data(bytes))]);
    let end = stream::once(async {
        // hyper flushes the bytes before the error only if the body is pending once.
        tokio::task::yield_now().await;
        Err::<hyper::body::Frame<Bytes>, _>(std::io::Error::other("broken"))
    });
    Response::from_parts(head, Body::http_body_unsync(http_body_util::StreamBody::new(pieces.chain(end))))
}
