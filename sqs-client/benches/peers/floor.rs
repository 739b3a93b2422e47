//! The floor: a bare hyper client with connection reuse. It encodes and signs the request once.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::HOST;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use sqs_client::config::Credentials;
use sqs_client::operation::Input;
use sqs_client::operation::receive_message::ReceiveMessageInput;
use sqs_client::operation::send_message::SendMessageInput;
use sqs_client::operation::send_message_batch::SendMessageBatchInput;
use sqs_client::types::SendMessageBatchRequestEntry;
use sqs_client::wire::protocol::{EncodedRequest, Protocol};
use sqs_client::wire::sign::{Signable, Signer};
use tokio::net::TcpStream;

use crate::BoxError;
use crate::canned::{Body, MESSAGES, queue_url};
use crate::options::Row;
use crate::peers::Exchange;

#[derive(Clone)]
pub(crate) struct Floor {
    authority: String,
    request: EncodedRequest,
    /// Idle connections. The lock is held only to push or pop one.
    idle: Arc<Mutex<Vec<SendRequest<Full<Bytes>>>>>,
}

impl Floor {
    pub(crate) fn new(row: Row, endpoint: &str, body: Body) -> Result<Self, BoxError> {
        let authority = endpoint.trim_start_matches("http://").to_owned();
        let mut request = encoded(row, &queue_url(endpoint), &body.text())?;
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", None, None, "bench");
        request.headers.insert(HOST, authority.parse()?);
        let signable = Signable { host: &authority, path: "/", body: &request.body };
        let now = std::time::SystemTime::UNIX_EPOCH;
        Signer::default().sign(signable, &mut request.headers, &credentials, "us-east-1", now)?;
        Ok(Self { authority, request, idle: Arc::default() })
    }

    async fn connection(&self) -> Result<SendRequest<Full<Bytes>>, BoxError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(idle) = idle {
            return Ok(idle);
        }
        let stream = TcpStream::connect(&self.authority).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

impl Exchange for Floor {
    async fn exchange(&self) -> Result<(), BoxError> {
        let mut request = Request::new(Full::new(self.request.body.clone()));
        *request.method_mut() = Method::POST;
        *request.headers_mut() = self.request.headers.clone();
        let mut connection = self.connection().await?;
        connection.ready().await?;
        let mut body = connection.send_request(request).await?.into_body();
        while let Some(frame) = body.frame().await {
            frame?;
        }
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(())
    }
}

fn encoded(row: Row, queue_url: &str, body: &str) -> Result<EncodedRequest, BoxError> {
    match row {
        Row::Send => encode(&SendMessageInput::builder().queue_url(queue_url).message_body(body).build()?),
        Row::Batch => {
            let entry = |id: usize| {
                SendMessageBatchRequestEntry::builder().id(id.to_string()).message_body(body).build()
            };
            let entries = (0..MESSAGES).map(entry).collect::<Result<_, _>>()?;
            let batch = SendMessageBatchInput::builder().queue_url(queue_url);
            encode(&batch.set_entries(Some(entries)).build()?)
        }
        Row::Receive => {
            let receive = ReceiveMessageInput::builder().queue_url(queue_url);
            encode(&receive.max_number_of_messages(10).wait_time_seconds(20).build()?)
        }
    }
}

fn encode(input: &impl Input) -> Result<EncodedRequest, BoxError> {
    Ok(Protocol::AwsJson.encode_request(input)?)
}
