//! The floor: bare hyper with constant responses.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sqs_benchmarks::server::wait_for_input_end;
use tokio::net::TcpListener;

use crate::BoxError;
use crate::requests::{BATCH, BODY};

/// The argument that makes this program the floor; its port follows.
pub(crate) const CHILD: &str = "--floor";

const ID: &str = "0f1d4a86-9c9e-4f0a-8f43-0b8f2a6f7c55";
const MD5: &str = "5d41402abc4b2a76b9719d911017c592";
const HANDLE: &str = "AQEB9Cypoq8SYspIGBQiNl3zNgBjHoM6OTvs";

/// Constant responses with the sizes of those of sqs-mock-server.
struct Responses {
    send: Bytes,
    send_batch: Bytes,
    receive: Bytes,
    delete: Bytes,
    queue: Bytes,
}

impl Responses {
    fn new() -> Self {
        let list = |entry: &dyn Fn(usize) -> String| (0..BATCH).map(entry).collect::<Vec<_>>().join(",");
        let sent = list(&|id| format!(r#"{{"Id":"{id}","MessageId":"{ID}","MD5OfMessageBody":"{MD5}"}}"#));
        let body = "x".repeat(BODY);
        let message = format!(
            r#"{{"MessageId":"{ID}","ReceiptHandle":"{HANDLE}","MD5OfBody":"{MD5}","Body":"{body}"}}"#
        );
        let messages = list(&|_| message.clone());
        let deleted = list(&|id| format!(r#"{{"Id":"{id}"}}"#));
        Self {
            send: format!(r#"{{"MD5OfMessageBody":"{MD5}","MessageId":"{ID}"}}"#).into(),
            send_batch: format!(r#"{{"Successful":[{sent}]}}"#).into(),
            receive: format!(r#"{{"Messages":[{messages}]}}"#).into(),
            delete: format!(r#"{{"Successful":[{deleted}]}}"#).into(),
            queue: r#"{"QueueUrl":"http://127.0.0.1:9324/000000000000/peers"}"#.into(),
        }
    }

    fn to(&self, action: &[u8]) -> Bytes {
        match action {
            b"AmazonSQS.SendMessage" => self.send.clone(),
            b"AmazonSQS.SendMessageBatch" => self.send_batch.clone(),
            b"AmazonSQS.ReceiveMessage" => self.receive.clone(),
            b"AmazonSQS.DeleteMessageBatch" => self.delete.clone(),
            _ => self.queue.clone(),
        }
    }
}

/// Runs the floor until its input ends.
pub(crate) fn run(port: u16) -> Result<(), BoxError> {
    let responses: &'static Responses = Box::leak(Box::new(Responses::new()));
    std::thread::spawn(|| {
        wait_for_input_end();
        std::process::exit(0);
    });
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let service = service_fn(move |request| respond(request, responses));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    })
}

async fn respond(
    request: Request<Incoming>,
    responses: &'static Responses,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let action = request.headers().get("x-amz-target").cloned();
    // A client that disconnects within a request gets no response.
    let _ = request.into_body().collect().await;
    let body = responses.to(action.as_ref().map_or(b"", HeaderValue::as_bytes));
    let mut response = Response::new(Full::new(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
    response.headers_mut().insert("x-amzn-requestid", HeaderValue::from_static(ID));
    Ok(response)
}
