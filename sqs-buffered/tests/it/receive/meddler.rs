//! A transport that changes receives and their responses.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};

use bytes::Bytes;
use sqs_client::transport::{Transport, TransportFuture};

use super::super::base_client::BaseClient;
use super::super::rig::default_client;
use super::rig::Rig;

/// Changes receives and their responses. Receives are counted from 1.
#[derive(Clone)]
struct Meddler<T, F> {
    inner: T,
    /// A parameter that the service does not know.
    ignored: Option<&'static str>,
    change: F,
    receives: Arc<AtomicU32>,
}

impl<T, F> std::fmt::Debug for Meddler<T, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meddler")
    }
}

impl<T: Transport, F: Fn(u32, Bytes) -> Bytes + Send + Sync + 'static> Transport for Meddler<T, F> {
    fn send(&self, request: http::Request<Bytes>) -> TransportFuture<'_> {
        let target = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
        let is_receive = target.is_some_and(|target| target.ends_with("ReceiveMessage"));
        let request = match self.ignored.filter(|_| is_receive) {
            Some(name) => request.map(|body| without(name, &body)),
            None => request,
        };
        Box::pin(async move {
            let response = self.inner.send(request).await?;
            if !is_receive {
                return Ok(response);
            }
            let number = self.receives.fetch_add(1, Relaxed) + 1;
            Ok(response.map(|body| (self.change)(number, body)))
        })
    }
}

fn without(name: &str, body: &Bytes) -> Bytes {
    let mut body: serde_json::Value = serde_json::from_slice(body).unwrap();
    body.as_object_mut().unwrap().remove(name);
    body.to_string().into()
}

/// A client of a service that does not know this parameter of receives. Its responses are changed by this function.
pub(crate) fn ignoring(
    rig: &Rig,
    name: &'static str,
    change: impl Fn(u32, Bytes) -> Bytes + Send + Sync + 'static,
) -> BaseClient {
    let (inner, receives) = (rig.server.transport(), Arc::default());
    default_client(&rig.server, Meddler { inner, ignored: Some(name), change, receives })
}

/// A client whose responses of receives are changed by this function.
pub(crate) fn meddling(
    rig: &Rig,
    change: impl Fn(u32, Bytes) -> Bytes + Send + Sync + 'static,
) -> BaseClient {
    let transport =
        Meddler { inner: rig.server.transport(), ignored: None, change, receives: Arc::default() };
    default_client(&rig.server, transport)
}

/// Like [`meddling`], but damages the checksum of the message with this body, only the first time.
pub(crate) fn damaging_once(rig: &Rig, body: &'static str) -> BaseClient {
    let is_done = AtomicBool::new(false);
    meddling(rig, move |_, answer| {
        let mut answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
        for message in answer["Messages"].as_array_mut().into_iter().flatten() {
            if message["Body"] == body && !is_done.swap(true, Relaxed) {
                message["MD5OfBody"] = "0".repeat(32).into();
            }
        }
        answer.to_string().into()
    })
}
