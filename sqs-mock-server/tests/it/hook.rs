//! A web hook for tests: an HTTP server that remembers its requests.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// A request that arrived.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Arrived {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// A running web hook. Dropping it closes its port.
pub(crate) struct Hook {
    address: SocketAddr,
    arrived: Arc<Mutex<Vec<Arrived>>>,
    changed: Arc<Notify>,
    accepting: JoinHandle<()>,
}

impl Drop for Hook {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// An answer with a status.
pub(crate) fn status(status: u16) -> Response<Bytes> {
    Response::builder().status(status).body(Bytes::new()).unwrap()
}

impl Hook {
    /// A hook that accepts everything.
    pub(crate) async fn start() -> Self {
        Self::answering(|_, _| async { status(200) }).await
    }

    /// A hook whose answer depends on the number of the request, from 0, and the request.
    pub(crate) async fn answering<F>(answer: impl Fn(usize, Arrived) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response<Bytes>> + Send,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let arrived = Arc::<Mutex<Vec<Arrived>>>::default();
        let changed = Arc::<Notify>::default();
        let (all, notify, answer) = (Arc::clone(&arrived), Arc::clone(&changed), Arc::new(answer));
        let accepting = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (all, notify, answer) = (Arc::clone(&all), Arc::clone(&notify), Arc::clone(&answer));
                let service = service_fn(move |request: Request<Incoming>| {
                    let (all, notify, answer) = (Arc::clone(&all), Arc::clone(&notify), Arc::clone(&answer));
                    async move {
                        let (head, body) = request.into_parts();
                        let body = body.collect().await.unwrap().to_bytes();
                        let body = String::from_utf8(body.to_vec()).unwrap();
                        let request =
                            Arrived { path: head.uri.path().to_owned(), headers: head.headers, body };
                        let number = {
                            let mut all = all.lock().unwrap();
                            all.push(request.clone());
                            all.len() - 1
                        };
                        notify.notify_waiters();
                        Ok::<_, Infallible>(answer(number, request).await.map(Full::new))
                    }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, arrived, changed, accepting }
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap().clone()
    }

    /// Waits for this number of requests.
    pub(crate) async fn wait_for(&self, count: usize) -> Vec<Arrived> {
        let enough = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                let arrived = self.arrived();
                if arrived.len() >= count {
                    return arrived;
                }
                changed.await;
            }
        };
        let enough = tokio::time::timeout(Duration::from_secs(20), enough).await;
        enough.unwrap_or_else(|_| panic!("{} of {count} requests arrived", self.arrived().len()))
    }
}
