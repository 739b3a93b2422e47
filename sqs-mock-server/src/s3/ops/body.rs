//! Writes request bodies to files and verifies their checksums.

use http::HeaderMap;
use s3s::dto::StreamingBlob;
use s3s::{S3Error, S3ErrorCode, S3Result, StdError, TrailingHeaders, s3_error};

use super::chunks::Chunks;
use super::refused;
use crate::s3::store::{Algorithm, Bucket, Hashes, Written};

/// The largest body of a request in bytes: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>.
const MAX_BODY: u64 = 5 << 30;
/// The error of a body of which no bytes arrived within the body timeout.
pub(crate) const BODY_TIMEOUT: &str = "the request body timed out";

/// The checksums that a request declares.
#[derive(Debug, Default)]
pub(crate) struct ExpectedChecksum {
    algorithm: Option<Algorithm>,
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
    pub(super) fn of<T>(request: &s3s::S3Request<T>, fallback: Option<Algorithm>) -> S3Result<Self> {
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
    pub(super) async fn store(self, bucket: &Bucket, body: Option<StreamingBlob>) -> S3Result<Written> {
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
