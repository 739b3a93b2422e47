//! An HTTP server of a test, which answers when the test says so.

use std::convert::Infallible;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sqs_client::lambda::SqsEvent;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// An answer: status, headers and body.
pub(crate) type Reply = (u16, Vec<(&'static str, String)>, Vec<u8>);

/// A request that waits for its answer.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) head: Parts,
    pub(crate) body: Bytes,
    reply: oneshot::Sender<Reply>,
}

/// The server. It ends with its value.
#[derive(Debug)]
pub(crate) struct Hook {
    pub(crate) url: String,
    calls: mpsc::UnboundedReceiver<Call>,
    _tasks: JoinSet<()>,
}

impl Hook {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (sender, calls) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let sender = sender.clone();
                let service = service_fn(move |request| pass_on(sender.clone(), request));
                let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                connections.spawn(async move { drop(connection.await) });
            }
        });
        Self { url, calls, _tasks: tasks }
    }

    /// A hook that answers all requests alike.
    pub(crate) async fn that_answers(status: u16) -> String {
        let mut hook = Self::start().await;
        let url = hook.url.clone();
        tokio::spawn(async move {
            loop {
                hook.next().await.answer(status, "");
            }
        });
        url
    }

    /// The base URL.
    pub(crate) fn host(&self) -> &str {
        self.url.trim_end_matches("/hook")
    }

    /// The next request.
    pub(crate) async fn next(&mut self) -> Call {
        self.calls.recv().await.expect("the server runs")
    }

    /// Whether no request waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.calls.is_empty()
    }
}

/// Dropping the call breaks the connection.
async fn pass_on(
    sender: mpsc::UnboundedSender<Call>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let (reply, replied) = oneshot::channel();
    let _ = sender.send(Call { head, body, reply });
    let (status, headers, body) = match replied.await {
        Ok(reply) => reply,
        Err(_) => std::future::pending::<Result<Reply, Infallible>>().await.unwrap_or_default(),
    };
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    Ok(response.body(Full::from(body)).unwrap())
}

impl Call {
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    pub(crate) fn event(&self) -> SqsEvent {
        serde_json::from_slice(&self.body).expect("an SQS event")
    }

    /// The bodies of the messages.
    pub(crate) fn bodies(&self) -> Vec<String> {
        self.event().records.into_iter().map(|record| record.body).collect()
    }

    /// The id of the message with this body.
    pub(crate) fn id_of(&self, body: &str) -> String {
        let records = self.event().records;
        records.into_iter().find(|record| record.body == body).expect("such a message").message_id
    }

    pub(crate) fn answer(self, status: u16, body: &str) {
        self.reply((status, Vec::new(), body.into()));
    }

    pub(crate) fn reply(self, reply: Reply) {
        // The server may have ended the request.
        let _ = self.reply.send(reply);
    }
}
