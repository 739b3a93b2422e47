//! A raw HTTP client for well-formed and malformed requests.

use std::io;

use sqs_client::operation::{Input, Operation};
use sqs_client::wire::protocol::{Protocol, ResponseError};
use sqs_mock_server::MockSqs;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

pub(crate) const JSON: &str = "content-type: application/x-amz-json-1.0\r\n";
pub(crate) const FORM: &str = "content-type: application/x-www-form-urlencoded\r\n";

/// One connection.
pub(crate) struct Wire {
    stream: BufReader<TcpStream>,
    host: String,
}

/// One response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Wire {
    /// A server with the queue `q`, and a connection to it.
    pub(crate) async fn with_queue() -> (MockSqs, Self) {
        let server = MockSqs::start().await;
        let mut wire = Self::connect(&server).await;
        assert_eq!(wire.json("CreateQueue", r#"{"QueueName":"q"}"#).await.status, 200);
        (server, wire)
    }

    pub(crate) async fn connect(server: &MockSqs) -> Self {
        Self::open(server.endpoint_url()).await.expect("a connection")
    }

    /// Connects to a server that may have ended.
    pub(crate) async fn open(endpoint: &str) -> io::Result<Self> {
        let host = endpoint.trim_start_matches("http://").to_owned();
        let stream = TcpStream::connect(&host).await?;
        Ok(Self { stream: BufReader::new(stream), host })
    }

    /// Sends raw bytes.
    pub(crate) async fn write(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref()).await
    }

    /// The raw stream.
    pub(crate) fn stream(&mut self) -> &mut BufReader<TcpStream> {
        &mut self.stream
    }

    /// Closes the sending half.
    pub(crate) async fn half_close(&mut self) {
        self.stream.shutdown().await.expect("open so far");
    }

    /// Writes a request with the common headers.
    pub(crate) async fn request(&mut self, line: &str, headers: &str, body: &[u8]) -> io::Result<()> {
        let length = body.len();
        let host = &self.host;
        let head = format!("{line} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n{headers}\r\n");
        self.write([head.as_bytes(), body].concat()).await
    }

    /// Reads a response; `None` if the connection was closed.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return None;
        }
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let mut headers = http::HeaderMap::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line).await.ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            headers.append(http::HeaderName::try_from(name).ok()?, value.parse().ok()?);
        }
        let length = headers.get("content-length").map_or("0", |value| value.to_str().unwrap());
        let mut body = vec![0; length.parse().unwrap()];
        self.stream.read_exact(&mut body).await.ok()?;
        Some(Answer { status, headers, body })
    }

    /// Sends a request and reads its response.
    pub(crate) async fn exchange(&mut self, line: &str, headers: &str, body: &[u8]) -> Answer {
        self.request(line, headers, body).await.expect("the server accepts the request");
        self.answer().await.expect("the server responds")
    }

    /// Calls an action in AWS JSON.
    pub(crate) async fn json(&mut self, action: &str, body: impl AsRef<[u8]>) -> Answer {
        let headers = format!("{JSON}x-amz-target: AmazonSQS.{action}\r\n");
        self.exchange("POST /", &headers, body.as_ref()).await
    }

    /// Posts a form.
    pub(crate) async fn form(&mut self, path: &str, form: impl AsRef<[u8]>) -> Answer {
        self.exchange(&format!("POST {path}"), FORM, form.as_ref()).await
    }

    /// Gets a URL.
    pub(crate) async fn get(&mut self, target: &str) -> Answer {
        self.exchange(&format!("GET {target}"), "", b"").await
    }

    /// Calls an operation in a protocol.
    pub(crate) async fn call<I: Input>(
        &mut self,
        protocol: Protocol,
        input: I,
    ) -> Result<<I::Operation as Operation>::Output, ResponseError> {
        let encoded = protocol.encode_request(&input).expect("shapes can be encoded");
        let headers = encoded.headers.iter();
        let headers: Vec<_> =
            headers.map(|(name, value)| format!("{name}: {}\r\n", value.to_str().unwrap())).collect();
        let answer = self.exchange("POST /", &headers.concat(), &encoded.body).await;
        protocol.decode_response::<I::Operation>(answer.status, &answer.headers, &answer.body)
    }
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("responses are UTF-8")
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts an error in AWS JSON: status, shape, code of the Query protocol.
    pub(crate) fn refused_in_json(&self, status: u16, shape: &str, query_code: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), "application/x-amz-json-1.0");
        assert_eq!(self.header("x-amzn-query-error"), format!("{query_code};Sender"));
        assert_eq!(self.header("x-amzn-requestid").len(), 36);
        let body: serde_json::Value = serde_json::from_slice(&self.body).expect("errors are JSON");
        let type_name = body["__type"].as_str().unwrap_or_default();
        assert_eq!(type_name.rsplit('#').next(), Some(shape), "{body}");
    }

    /// Asserts an error that SQS does not define: `__type` has the namespace of generic errors.
    pub(crate) fn refused_by_http(&self, status: u16, code: &str) {
        self.refused_in_json(status, &format!("{code}Exception"), code);
        let type_name = format!(r#""__type":"com.amazon.coral.service#{code}Exception""#);
        assert!(self.text().contains(&type_name), "{}", self.text());
    }

    /// Asserts an error in XML: status and code.
    pub(crate) fn refused_in_xml(&self, status: u16, query_code: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), "text/xml");
        assert_eq!(self.header("x-amzn-requestid").len(), 36);
        let text = self.text();
        assert!(text.contains(&format!("<Type>Sender</Type><Code>{query_code}</Code>")), "{text}");
    }
}

/// Asserts that the server responds to new callers.
pub(crate) async fn still_answers(server: &MockSqs) {
    let answer = Wire::connect(server).await.json("CreateQueue", r#"{"QueueName":"alive"}"#).await;
    assert_eq!(answer.status, 200);
}

/// Sends a raw request, and reads until the server closes the connection. Blocks.
#[cfg(any(feature = "cli", feature = "s3"))]
pub(crate) fn ask(endpoint: &str, request: &str) -> String {
    let mut stream = std::net::TcpStream::connect(endpoint.trim_start_matches("http://")).unwrap();
    io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    io::read_to_string(stream).unwrap()
}
