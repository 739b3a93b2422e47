//! The server, in a separate process. It reads a request and sends a prepared response.

use std::convert::Infallible;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sqs_benchmarks::server::{Server, wait_for_input_end};
use sqs_client::wire::protocol::EncodedResponse;
use tokio::net::{TcpListener, TcpStream};

use crate::BoxError;
use crate::canned::{self, Body};
use crate::options::Row;

/// Starts a server. Returns it and its URL.
pub(crate) fn start(body: Body) -> Result<(Server, String), BoxError> {
    let mut server = Server::spawn_self(["--serve", body.as_str()])?;
    let url = server.read_line()?;
    Ok((server, url))
}

/// Serves until standard input ends. The parent process holds the other end.
pub(crate) fn run(body: Body) -> Result<(), BoxError> {
    let responses = Responses {
        send: canned::response(Row::Send, body)?,
        batch: canned::response(Row::Batch, body)?,
        receive: canned::response(Row::Receive, body)?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || runtime.block_on(serve(Arc::new(responses))));
    wait_for_input_end();
    Ok(())
}

async fn serve(responses: Arc<Responses>) -> Result<(), BoxError> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    println!("http://{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    loop {
        let (connection, _) = listener.accept().await?;
        connection.set_nodelay(true)?;
        tokio::spawn(serve_connection(connection, Arc::clone(&responses)));
    }
}

async fn serve_connection(connection: TcpStream, responses: Arc<Responses>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let response = responses.to(request.headers());
        async move {
            // Like SQS, reads the whole request before it responds.
            let mut body = request.into_body();
            while let Some(Ok(_)) = body.frame().await {}
            Ok::<_, Infallible>(response)
        }
    });
    // An error means that the client has disconnected.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(connection), service).await;
}

struct Responses {
    send: EncodedResponse,
    batch: EncodedResponse,
    receive: EncodedResponse,
}

impl Responses {
    fn to(&self, headers: &HeaderMap) -> Response<Full<Bytes>> {
        let target = headers.get("x-amz-target").map(http::HeaderValue::as_bytes).unwrap_or_default();
        let prepared = match target {
            b"AmazonSQS.SendMessage" => &self.send,
            b"AmazonSQS.SendMessageBatch" => &self.batch,
            _ => &self.receive,
        };
        let mut response = Response::new(Full::new(prepared.body.clone()));
        *response.headers_mut() = prepared.headers.clone();
        response
    }
}
