//! Requests as bytes, and connections with one request in progress.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::BoxError;

/// The time limit of a response.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A request in AWS JSON with the headers of an SDK. None of the servers verifies the signature.
pub(crate) fn request(address: SocketAddr, action: &str, input: &str) -> Vec<u8> {
    let length = input.len();
    format!(
        "POST / HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/x-amz-json-1.0\r\n\
         x-amz-target: AmazonSQS.{action}\r\ncontent-length: {length}\r\nuser-agent: bench\r\n\
         x-amz-date: 20260102T030405Z\r\nauthorization: AWS4-HMAC-SHA256 \
         Credential=test/20260102/us-east-1/sqs/aws4_request, \
         SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature={:064}\r\n\r\n{input}",
        0
    )
    .into_bytes()
}

/// A connection, which is reopened after the server has closed it.
#[derive(Debug)]
pub(crate) struct Connection {
    address: SocketAddr,
    stream: Option<TcpStream>,
    buffer: Vec<u8>,
    body: Vec<u8>,
}

/// The parsed head of a response.
struct Head {
    /// Length of the head in bytes.
    length: usize,
    /// Length of the body in bytes; `None` if it is chunked.
    body: Option<usize>,
    status: u16,
    closes: bool,
}

impl Connection {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, stream: None, buffer: Vec::with_capacity(64 << 10), body: Vec::new() }
    }

    /// Sends a request and returns the response body. Fails if the status is not 200.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Result<&[u8], BoxError> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => connect(self.address)?,
        };
        stream.write_all(request)?;
        self.buffer.clear();
        let head = loop {
            read(&mut stream, &mut self.buffer)?;
            if let Some(head) = Head::parse(&self.buffer)? {
                break head;
            }
        };
        self.body.clear();
        loop {
            let rest = self.buffer.get(head.length..).unwrap_or_default();
            let complete = match head.body {
                Some(length) => rest.get(..length).map(|body| self.body.extend_from_slice(body)),
                None => dechunk(rest, &mut self.body)?,
            };
            if complete.is_some() {
                break;
            }
            read(&mut stream, &mut self.buffer)?;
        }
        let body = self.body.as_slice();
        if head.status != 200 {
            return Err(format!("status {}: {}", head.status, String::from_utf8_lossy(body)).into());
        }
        self.stream = (!head.closes).then_some(stream);
        Ok(body)
    }
}

fn connect(address: SocketAddr) -> Result<TcpStream, BoxError> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<(), BoxError> {
    let mut chunk = [0; 16 << 10];
    let count = stream.read(&mut chunk)?;
    if count == 0 {
        return Err("the server closed the connection before the end of the response".into());
    }
    buffer.extend_from_slice(chunk.get(..count).unwrap_or_default());
    Ok(())
}

impl Head {
    /// `None` until the head is complete.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, BoxError> {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
        let text = std::str::from_utf8(bytes.get(..end).unwrap_or_default())?;
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().parse()?;
        let closes = text.starts_with("HTTP/1.0");
        let mut head = Self { length: end + 4, body: Some(0), status, closes };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                head.body = Some(value.parse()?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                head.body = None;
            } else if name.eq_ignore_ascii_case("connection") {
                head.closes |= value.eq_ignore_ascii_case("close");
            }
        }
        Ok(Some(head))
    }
}

/// Decodes a chunked body; `None` until it is complete.
fn dechunk(mut rest: &[u8], body: &mut Vec<u8>) -> Result<Option<()>, BoxError> {
    body.clear();
    loop {
        let Some(end) = rest.windows(2).position(|two| two == b"\r\n") else { return Ok(None) };
        let size =
            usize::from_str_radix(std::str::from_utf8(rest.get(..end).unwrap_or_default())?.trim(), 16)?;
        let Some(chunk) = rest.get(end + 2..end + 4 + size) else { return Ok(None) };
        if size == 0 {
            return Ok(Some(()));
        }
        body.extend_from_slice(chunk.get(..size).unwrap_or_default());
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
}
