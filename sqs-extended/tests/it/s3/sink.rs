//! An S3 server for measurements: it discards uploads and returns the same bytes for every object, so that the server
//! costs little.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// The length of the block that every object repeats.
pub(crate) const BLOCK: usize = 256 << 10;

type Body = UnsyncBoxBody<Bytes, std::convert::Infallible>;

/// The block that every object repeats.
pub(crate) fn block() -> Bytes {
    (0..BLOCK).map(|index| b"sqs-extended "[index % 13]).collect()
}

/// Serves until the runtime ends. Every object has `length` bytes.
pub(crate) async fn serve(length: u64) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let block = Arc::new(block());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let block = Arc::clone(&block);
            let service = service_fn(move |request| answer(request, length, Bytes::clone(&block)));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service));
        }
    });
    Ok(address)
}

async fn answer(
    request: Request<Incoming>,
    length: u64,
    block: Bytes,
) -> Result<Response<Body>, hyper::Error> {
    let (head, mut body) = request.into_parts();
    while let Some(frame) = body.frame().await {
        frame?;
    }
    let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
    let response = Response::builder().header("etag", "\"sink\"");
    let answer = match head.method {
        Method::POST if query.starts_with("uploads") => response.body(text(
            "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>",
        )),
        Method::POST => {
            response.body(text("<CompleteMultipartUploadResult></CompleteMultipartUploadResult>"))
        }
        Method::GET => {
            let range = head.headers.get("range").and_then(|range| range.to_str().ok());
            let (from, to) = range.and_then(|range| bounds(range, length)).unwrap_or((0, length));
            let response = response.header("content-length", to - from);
            let last = to.saturating_sub(1);
            match range {
                None => response.body(bytes(block, from, to)),
                Some(_) => response
                    .status(StatusCode::PARTIAL_CONTENT)
                    .header("content-range", format!("bytes {from}-{last}/{length}"))
                    .body(bytes(block, from, to)),
            }
        }
        Method::PUT => response.body(text("")),
        _ => response.status(StatusCode::NO_CONTENT).body(text("")),
    };
    Ok(answer.unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// Parses `bytes=5-9` to 5 and 10.
fn bounds(range: &str, length: u64) -> Option<(u64, u64)> {
    let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
    let to = to.parse::<u64>().map_or(length, |last| last + 1);
    Some((from.parse().ok()?, to.min(length)))
}

fn text(text: &'static str) -> Body {
    Full::new(Bytes::from_static(text.as_bytes())).boxed_unsync()
}

fn bytes(block: Bytes, from: u64, to: u64) -> Body {
    let size = BLOCK as u64;
    let pieces = stream::iter((from / size..to.div_ceil(size)).map(move |number| {
        let start = usize::try_from(from.saturating_sub(number * size)).unwrap_or_default();
        let end = usize::try_from((to - number * size).min(size)).unwrap_or(BLOCK);
        Ok(Frame::data(block.slice(start..end)))
    }));
    StreamBody::new(pieces).boxed_unsync()
}
