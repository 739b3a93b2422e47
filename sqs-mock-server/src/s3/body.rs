//! The bodies of requests and responses.
//!
//! Reads bodies of requests within time limits, verifies their checksums, and decodes those in `aws-chunked` encoding without
//! verifying signatures. Completes the bodies of errors, and applies faults to those of responses.
//!
//! ```text
//! 1000;chunk-signature=..\r\n <4096 bytes> \r\n .. 0;chunk-signature=..\r\n x-amz-checksum-crc32:AAAAAA==\r\n \r\n
//! ```
//!
//! See <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html>. s3s has a decoder, but it is private
//! and verifies the signatures of all chunks that have one.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, Uri};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Body as _, Frame, Incoming};
use s3s::dto::StreamingBlob;
use s3s::{Body, S3Error, S3ErrorCode, S3Result, StdError, TrailingHeaders, s3_error};
use sqs_client::wire::service_error::ErrorCode;
use tokio::time::{sleep, timeout};

use crate::control::arn::Resource;
use crate::control::faults::fault::Damage;
use crate::http::reply::{Break, Live};
use crate::s3::RequestContext;
use crate::s3::front::{INVALID_BUCKET_NAME, pace};
use crate::s3::notifications::MALFORMED_XML;
use crate::s3::ops::refused;
use crate::s3::store::bucket::Bucket;
use crate::s3::store::object::{Algorithm, Hashes, Written};

/// The most bytes of an unread body that are drained.
const MAX_REST: usize = 64 << 20;

/// A body that is not read to its end. On drop, the request keeps it for [`drain`].
struct Unread {
    /// `None` at the end.
    incoming: Option<Incoming>,
    context: Arc<RequestContext>,
    /// Whether the client waits for `100 Continue`, which the first read sends.
    expects_continue: bool,
}

impl Drop for Unread {
    fn drop(&mut self) {
        if let Some(rest) = self.incoming.take().filter(|rest| !rest.is_end_stream())
            && !self.expects_continue
        {
            *self.context.rest.lock() = Some(rest);
        }
    }
}

/// A body with a time limit for each read and, if a fault limits it, a pace.
pub(crate) fn limited(
    incoming: Incoming,
    context: Arc<RequestContext>,
    limit: Duration,
    expects_continue: bool,
) -> Body {
    if incoming.is_end_stream() {
        // s3s asks for the length of a signed body without `Content-Length`.
        return Body::empty();
    }
    let unread = Unread { incoming: Some(incoming), context, expects_continue };
    let frames = stream::try_unfold(unread, move |mut unread| async move {
        unread.expects_continue = false;
        let Some(incoming) = &mut unread.incoming else { return Ok(None) };
        let frame = match timeout(limit, incoming.frame()).await {
            Ok(frame) => frame.transpose().map_err(StdError::from),
            Err(_) => Err(BODY_TIMEOUT.into()),
        };
        if !matches!(frame, Ok(Some(_))) {
            unread.incoming = None;
        }
        let Some(frame) = frame? else { return Ok(None) };
        if let Some(per_second) = unread.context.plan.get().and_then(|plan| plan.pace) {
            sleep(pace(frame.data_ref().map_or(0, Bytes::len), per_second)).await;
        }
        Ok::<_, StdError>(Some((frame, unread)))
    });
    Body::http_body_unsync(StreamBody::new(frames))
}

/// Reads and discards the rest of the body, up to a size and a time limit.
pub(crate) async fn drain(context: &RequestContext, limit: Duration) {
    let Some(mut rest) = context.rest.lock().take() else { return };
    let read = async {
        let mut bytes = 0;
        while let Some(Ok(frame)) = rest.frame().await {
            bytes += frame.data_ref().map_or(0, Bytes::len);
            if bytes > MAX_REST {
                break;
            }
        }
    };
    // On timeout the connection is closed.
    let _ = timeout(limit, read).await;
}

/// The end of the body of an error.
const END: &str = "</Error>";

/// A body that a fault slows down, corrupts or truncates.
struct Damaged {
    body: Body,
    /// Bytes that were read but not sent.
    pending: Bytes,
    corrupts: bool,
    /// In bytes per second.
    pace: Option<u64>,
    /// The number of bytes to send before the connection breaks.
    left: Option<u64>,
}

/// Applies the part of a fault plan that changes the body of a response.
pub(crate) fn damaged(response: Response<Body>, damage: Option<Damage>, pace: Option<u64>) -> Response<Live> {
    let truncates = damage == Some(Damage::Truncated);
    let is_changed = damage.is_some() || pace.is_some();
    if !truncates && (!is_changed || response.body().is_end_stream()) {
        return response.map(BodyExt::boxed_unsync);
    }
    let (mut head, body) = response.into_parts();
    let announced = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let length: Option<u64> = announced.or_else(|| body.size_hint().exact());
    if truncates {
        // An empty body could not be truncated.
        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(length.unwrap_or(0).max(1)));
    } else if let Some(length) = length {
        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    let left = truncates.then(|| length.unwrap_or(0) / 2);
    let body =
        Damaged { body, pending: Bytes::new(), corrupts: damage == Some(Damage::Corrupted), pace, left };
    let frames = stream::try_unfold(body, |mut body| async move {
        Ok(body.next().await?.map(|portion| (Frame::data(portion), body)))
    });
    Response::from_parts(head, StreamBody::new(frames).boxed_unsync())
}

impl Damaged {
    /// The next bytes to send; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, StdError> {
        while self.pending.is_empty() && self.left != Some(0) {
            let Some(read) = self.body.next().await.transpose()? else { break };
            self.pending = match read.split_first() {
                Some((first, rest)) if self.corrupts => [&[!first], rest].concat().into(),
                _ => read,
            };
            self.corrupts &= self.pending.is_empty();
        }
        if self.left.is_some_and(|left| left == 0 || self.pending.is_empty()) {
            // The connection flushes meanwhile.
            tokio::task::yield_now().await;
            return Err(Break::Cut.into());
        }
        if self.pending.is_empty() {
            return Ok(None);
        }
        let paced = self.pace.map_or(u64::MAX, |per_second| (per_second / 10).max(1));
        let most = usize::try_from(paced.min(self.left.unwrap_or(u64::MAX))).unwrap_or(usize::MAX);
        let portion = self.pending.split_to(self.pending.len().min(most));
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(portion.len() as u64);
        }
        if let Some(per_second) = self.pace {
            sleep(pace(portion.len(), per_second)).await;
        }
        Ok(Some(portion))
    }
}

/// The text of s3s for a request that is no operation of S3.
const UNKNOWN_OPERATION: &str = "<Message>Unknown operation</Message>";

/// The texts of errors that s3s sends without one:
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>.
fn default_message(code: &str) -> Option<&'static str> {
    Some(match code {
        "IncompleteBody" => {
            "You did not provide the number of bytes specified by the Content-Length HTTP header."
        }
        "InternalError" => "We encountered an internal error. Please try again.",
        "InvalidBucketName" => INVALID_BUCKET_NAME,
        "InvalidURI" => "Couldn't parse the specified URI.",
        "MalformedXML" => MALFORMED_XML,
        "MaxMessageLengthExceeded" => "Your request was too large.",
        "MethodNotAllowed" => "The specified method is not allowed against this resource.",
        "MissingContentLength" => "You must provide the Content-Length HTTP header.",
        "MissingRequestBodyError" => "Request body is empty.",
        "SignatureDoesNotMatch" => {
            "The request signature we calculated does not match the signature you provided. Check your key and signing \
             method."
        }
        _ => return None,
    })
}

/// The element that names what an error is about.
fn subject_element<'a>(
    code: &str,
    resource: Option<&'a Resource>,
    uri: &'a Uri,
) -> Option<(&'static str, Cow<'a, str>)> {
    match code {
        "BucketAlreadyOwnedByYou" | "BucketNotEmpty" | "InvalidBucketName" | "NoSuchBucket" => {
            Some(("BucketName", resource?.bucket()?.into()))
        }
        "NoSuchKey" => Some(("Key", resource?.key()?.into())),
        "NoSuchUpload" => {
            let mut parameters = form_urlencoded::parse(uri.query()?.as_bytes());
            Some(("UploadId", parameters.find(|(name, _)| name == "uploadId")?.1))
        }
        _ => None,
    }
}

/// Adds a missing text, the elements that name the subject or that an operation reported, and the ids of the request to
/// the body of an error: s3s writes only code and message. Returns the code, too.
pub(crate) fn complete_error(
    mut response: Response<Body>,
    (method, uri): (&Method, &Uri),
    context: &RequestContext,
) -> (Response<Body>, Option<ErrorCode>) {
    let body = response.body().bytes().unwrap_or_default();
    let Some(start) = std::str::from_utf8(&body).ok().and_then(|text| text.strip_suffix(END)) else {
        return (response, None);
    };
    let own =
        format!("<Message>This server has no operation for {method} with this path and query.</Message>");
    let mut text = start.replace(UNKNOWN_OPERATION, &own);
    let mut add = |name: &str, value: &str| {
        // XML has no form for other control characters, which keys may have.
        if value.chars().any(|one| one.is_control() && !"\t\n\r".contains(one)) {
            return;
        }
        let value = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        text.extend(["<", name, ">", &value, "</", name, ">"]);
    };
    let code = start.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    let (code, rest) = code.unwrap_or_default();
    if let Some(message) = default_message(code).filter(|_| rest.is_empty()) {
        add("Message", message);
    }
    let resource = context.info.get().and_then(|info| info.resource.as_ref());
    if let Some((name, value)) = subject_element(code, resource, uri) {
        add(name, &value);
    }
    for (name, value) in &*context.error_elements.lock() {
        add(name, value);
    }
    add("RequestId", &context.id);
    add("HostId", &context.host_id());
    response.headers_mut().remove(CONTENT_LENGTH);
    // Not one of SQS, which has other names for some of these codes.
    let code = (!code.is_empty()).then(|| ErrorCode::Other(code.to_owned()));
    (response.map(|_| Body::from(text + END)), code)
}

/// The largest body of a request in bytes: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>.
const MAX_BODY: u64 = 5 << 30;

/// The error of a body of which no bytes arrived within the body timeout.
pub(crate) const BODY_TIMEOUT: &str = "the request body timed out";

/// The checksums that a request declares.
#[derive(Debug, Default)]
pub(crate) struct ExpectedChecksum {
    pub(crate) algorithm: Option<Algorithm>,
    /// In base64; `None` if the checksum is a trailer or missing.
    value: Option<String>,
    md5: Option<String>,
    /// The trailers of a body that s3s decodes.
    trailers: Option<TrailingHeaders>,
    /// The length of a body that s3s does not decode, because it does not verify the signature of the request.
    decoded_length: Option<u64>,
}

impl ExpectedChecksum {
    /// Reads the headers of a request. `fallback` is the algorithm if they name none.
    ///
    /// # Errors
    /// The length of an encoded body is missing or not a number, or the body is too long.
    pub(crate) fn of<T>(request: &s3s::S3Request<T>, fallback: Option<Algorithm>) -> S3Result<Self> {
        let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
        let given = Algorithm::ALL.into_iter().find_map(|one| Some((one, header(&one.header())?)));
        let trailer = || {
            let name = header("x-amz-trailer")?.trim();
            Algorithm::ALL.into_iter().find(|one| one.header().eq_ignore_ascii_case(name))
        };
        let named = || Algorithm::from_name(header("x-amz-sdk-checksum-algorithm")?);
        let algorithm = given.map(|(algorithm, _)| algorithm).or_else(trailer).or_else(named).or(fallback);
        let is_encoded = request.credentials.is_none()
            && header("x-amz-content-sha256").is_some_and(|value| value.starts_with("STREAMING-"));
        let number = |name: &str| header(name).and_then(|length| length.parse().ok());
        let decoded_length: Option<u64> = number("x-amz-decoded-content-length").filter(|_| is_encoded);
        if is_encoded && decoded_length.is_none() {
            let text = "x-amz-decoded-content-length is missing or not a number";
            return Err(s3_error!(InvalidRequest, "{text}"));
        }
        if decoded_length.or_else(|| number("content-length")).is_some_and(|length| length > MAX_BODY) {
            return Err(s3_error!(EntityTooLarge, "Your proposed upload exceeds the maximum allowed size"));
        }
        Ok(Self {
            algorithm,
            value: given.map(|(_, value)| value.to_owned()),
            md5: header("content-md5").map(str::to_owned),
            trailers: request.trailing_headers.clone(),
            decoded_length,
        })
    }

    /// Writes a body into a data file of the bucket.
    ///
    /// # Errors
    /// A checksum does not match, or the body is incomplete. Then, and on drop, the file is removed.
    pub(crate) async fn store(self, bucket: &Bucket, body: Option<StreamingBlob>) -> S3Result<Written> {
        let mut writer = bucket.data_writer().map_err(refused)?;
        let mut hashes = Hashes::new(self.algorithm);
        let mut trailers = HeaderMap::new();
        if let Some(body) = body {
            let mut chunks = Chunks::new(body, self.decoded_length);
            while let Some(chunk) = chunks.next().await.map_err(body_error)? {
                hashes.update(&chunk);
                writer.write(&chunk).await.map_err(refused)?;
            }
            trailers = chunks.trailers;
        }
        let written = writer.finish(hashes).await.map_err(refused)?;
        self.verify(&written, &trailers)?;
        Ok(written)
    }

    fn verify(self, written: &Written, trailers: &HeaderMap) -> S3Result<()> {
        if let Some(md5) = &self.md5 {
            let given = base64_simd::STANDARD.decode_to_vec(md5).unwrap_or_default();
            if given.len() != written.md5.len() {
                return Err(s3_error!(InvalidDigest, "The Content-MD5 you specified was invalid."));
            }
            if given != written.md5 {
                let text = "The Content-MD5 you specified did not match what we received.";
                return Err(s3_error!(BadDigest, "{text}"));
            }
        }
        let Some(checksum) = &written.checksum else { return Ok(()) };
        let name = checksum.algorithm.header();
        let find = |headers: &HeaderMap| Some(headers.get(&name)?.to_str().ok()?.trim().to_owned());
        let trailer =
            || self.trailers.map_or_else(|| find(trailers), |trailers| trailers.read(find).flatten());
        let given = self.value.or_else(trailer);
        match given {
            Some(given) if given != checksum.value => Err(s3_error!(
                BadDigest,
                "The {} you specified did not match the calculated checksum.",
                checksum.algorithm.name()
            )),
            _ => Ok(()),
        }
    }
}

/// The S3 error for a body that cannot be read to its end.
fn body_error(error: StdError) -> S3Error {
    // s3s wraps errors in types that are private; only their texts differ.
    let text = error.to_string();
    let (code, message) = if text.contains(BODY_TIMEOUT) {
        let message =
            "Your socket connection to the server was not read from or written to within the timeout period.";
        (S3ErrorCode::RequestTimeout, message)
    } else if text.contains("Sha256Mismatch") {
        let message = "The provided 'x-amz-content-sha256' header does not match what was computed.";
        (S3ErrorCode::BadDigest, message)
    } else if text.contains("SignatureMismatch") {
        (S3ErrorCode::SignatureDoesNotMatch, "A chunk of the body does not match its signature.")
    } else {
        (S3ErrorCode::IncompleteBody, "The request body terminated unexpectedly")
    };
    let mut refusal = S3Error::with_message(code, message);
    refusal.set_source(error);
    refusal
}

/// Limits: bytes in a line, and trailers.
const MAX_LINE: usize = 4096;

const MAX_TRAILERS: usize = 16;

/// The body of a request.
pub(crate) struct Chunks {
    body: StreamingBlob,
    /// The number of bytes after decoding; `None` if the body is not encoded.
    length: Option<u64>,
    /// Bytes that were read but not decoded.
    buffer: BytesMut,
    /// The number of bytes that are missing in the current chunk.
    left: u64,
    decoded: u64,
    /// Complete after the last bytes.
    pub(crate) trailers: HeaderMap,
}

fn malformed(text: &str) -> StdError {
    format!("the body is not valid aws-chunked encoding: {text}").into()
}

impl Chunks {
    pub(crate) fn new(body: StreamingBlob, length: Option<u64>) -> Self {
        Self { body, length, buffer: BytesMut::new(), left: 0, decoded: 0, trailers: HeaderMap::new() }
    }

    /// The next decoded bytes; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, StdError> {
        let Some(length) = self.length else { return self.body.next().await.transpose() };
        let too_early = || malformed("it ends too early");
        if self.left == 0 {
            if self.decoded > 0 && !self.line().await?.ok_or_else(too_early)?.is_empty() {
                return Err(malformed("a chunk is longer than its size"));
            }
            let line = self.line().await?.ok_or_else(too_early)?;
            let size = std::str::from_utf8(&line).unwrap_or_default().split(';').next().unwrap_or_default();
            self.left = u64::from_str_radix(size, 16)
                .map_err(|_| malformed("a chunk size is not a hexadecimal number"))?;
            if self.left == 0 {
                return self.finish(length).await.map(|()| None);
            }
        }
        if self.buffer.is_empty() && !self.fill().await? {
            return Err(too_early());
        }
        let here = self.buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= here as u64;
        self.decoded += here as u64;
        Ok(Some(self.buffer.split_to(here).freeze()))
    }

    /// Reads the trailers, and checks that the body ends after them and has the declared length.
    async fn finish(&mut self, length: u64) -> Result<(), StdError> {
        // Some clients omit the empty line after the trailers.
        while let Some(line) = self.line().await? {
            if line.is_empty() {
                if !self.buffer.is_empty() || self.fill().await? {
                    return Err(malformed("bytes follow the last chunk"));
                }
                break;
            }
            self.trailer(&line)?;
        }
        let has_length = self.decoded == length;
        has_length.then_some(()).ok_or_else(|| malformed("its length is not x-amz-decoded-content-length"))
    }

    fn trailer(&mut self, line: &[u8]) -> Result<(), StdError> {
        let wrong = || malformed("a trailer is not a valid header");
        let line = std::str::from_utf8(line).map_err(|_| wrong())?;
        let (name, value) = line.split_once(':').ok_or_else(wrong)?;
        let name = HeaderName::try_from(name.trim()).map_err(|_| wrong())?;
        let value = HeaderValue::try_from(value.trim()).map_err(|_| wrong())?;
        if self.trailers.len() >= MAX_TRAILERS {
            return Err(malformed("there are more than 16 trailers"));
        }
        self.trailers.insert(name, value);
        Ok(())
    }

    /// The next line without its end; `None` if the body ends before it does.
    async fn line(&mut self) -> Result<Option<BytesMut>, StdError> {
        loop {
            if let Some(end) = self.buffer.windows(2).take(MAX_LINE).position(|pair| pair == b"\r\n") {
                let line = self.buffer.split_to(end);
                self.buffer.advance(2);
                return Ok(Some(line));
            }
            if self.buffer.len() > MAX_LINE {
                return Err(malformed("a line is longer than 4096 bytes"));
            }
            if !self.fill().await? {
                return Ok(None);
            }
        }
    }

    /// Reads more bytes; `false` at the end of the body.
    async fn fill(&mut self) -> Result<bool, StdError> {
        while let Some(bytes) = self.body.next().await.transpose()? {
            self.buffer.extend_from_slice(&bytes);
            if !bytes.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    //! Valid and invalid bodies, in pieces of any size.
    use futures_util::{FutureExt as _, stream};

    use super::*;

    const BODY: &[u8] =
    b"5;chunk-signature=abc\r\nhello\r\nA\r\n\r\n01234567\r\n0\r\nx-amz-checksum-crc32: AAA=\r\nx-b:1:2\r\n\r\n";

    fn decoded(body: &'static [u8], step: usize) -> Result<(Vec<u8>, HeaderMap), String> {
        let pieces = body.chunks(step).map(|piece| Ok::<_, std::io::Error>(Bytes::from_static(piece)));
        let mut chunks = Chunks::new(StreamingBlob::wrap(stream::iter(pieces.collect::<Vec<_>>())), Some(15));
        let read = async {
            let mut all = Vec::new();
            while let Some(bytes) = chunks.next().await? {
                all.extend_from_slice(&bytes);
            }
            Ok::<_, StdError>((all, chunks.trailers))
        };
        read.now_or_never().unwrap().map_err(|error| error.to_string())
    }

    #[test]
    fn chunks_and_trailers_are_decoded_from_pieces_of_any_size() {
        for step in 1..BODY.len() {
            let (bytes, trailers) = decoded(BODY, step).unwrap();
            assert_eq!(bytes, b"hello\r\n01234567", "{step}");
            assert_eq!(
                (&trailers["x-amz-checksum-crc32"], &trailers["x-b"]),
                (&"AAA=".parse().unwrap(), &"1:2".parse().unwrap())
            );
        }
    }

    #[test]
    fn invalid_body_is_rejected() {
        for (body, expected) in [
            (&b"hello\r\n"[..], "a chunk size is not a hexadecimal number"),
            (b"1\r\nhello\r\n", "a chunk is longer than its size"),
            (b"F\r\nhello", "it ends too early"),
            (b"5\r\nhello\r\n0\r\n\r\n", "its length is not x-amz-decoded-content-length"),
            (b"F\r\n0123456789abcde\r\n0\r\n\r\nmore", "bytes follow the last chunk"),
            (b"0\r\nnonsense\r\n\r\n", "a trailer is not a valid header"),
            (&[b'1'; 5000], "a line is longer than 4096 bytes"),
        ] {
            let text = format!("the body is not valid aws-chunked encoding: {expected}");
            assert_eq!(decoded(body, 7).unwrap_err(), text);
        }
    }
}
