//! Writes request bodies to files and verifies their checksums.

use std::fmt;
use std::sync::Arc;

use futures_util::StreamExt as _;
use http::HeaderMap;
use parking_lot::Mutex;
use s3s::dto::StreamingBlob;
use s3s::{S3Error, S3Result, StdError, s3_error};

use super::Failed;
use crate::s3::store::{Algorithm, Bucket, Hashes, Written};

/// No bytes arrived within the body timeout.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::s3) struct BodyTimeout;

impl fmt::Display for BodyTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request body timed out")
    }
}

impl std::error::Error for BodyTimeout {}

/// Trailers of a request, set once its body has been read.
#[derive(Clone, Debug, Default)]
pub(in crate::s3) struct Trailers(pub(in crate::s3) Arc<Mutex<HeaderMap>>);

/// The checksums that a request declares.
#[derive(Debug)]
pub(super) struct ExpectedChecksum {
    algorithm: Option<Algorithm>,
    /// In base64; `None` if the checksum is a trailer or missing.
    value: Option<String>,
    md5: Option<String>,
    trailers: TrailerSource,
}

/// The source of a checksum that is not in a header.
#[derive(Debug)]
enum TrailerSource {
    Decoded(Option<Trailers>),
    Verified(s3s::TrailingHeaders),
}

impl ExpectedChecksum {
    /// Reads the headers of a request. `fallback` is the algorithm if they name none.
    pub(super) fn of<T>(request: &s3s::S3Request<T>, fallback: Option<Algorithm>) -> Self {
        let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
        let given = Algorithm::ALL.into_iter().find_map(|one| Some((one, header(one.header())?)));
        let trailer = || {
            let name = header("x-amz-trailer")?.trim();
            Algorithm::ALL.into_iter().find(|one| one.header().eq_ignore_ascii_case(name))
        };
        let named = || Algorithm::from_name(header("x-amz-sdk-checksum-algorithm")?);
        let algorithm = given.map(|(algorithm, _)| algorithm).or_else(trailer).or_else(named).or(fallback);
        let trailers = match &request.trailing_headers {
            Some(trailers) => TrailerSource::Verified(trailers.clone()),
            None => TrailerSource::Decoded(request.extensions.get::<Trailers>().cloned()),
        };
        Self {
            algorithm,
            value: given.map(|(_, value)| value.to_owned()),
            md5: header("content-md5").map(str::to_owned),
            trailers,
        }
    }

    /// Writes a body into a data file of the bucket.
    ///
    /// # Errors
    /// A checksum does not match, or the body is incomplete. Then, and on drop, the file is removed.
    pub(super) async fn store(self, bucket: &Bucket, body: Option<StreamingBlob>) -> S3Result<Written> {
        let mut writer = bucket.data_writer().await.map_err(Failed::from)?;
        let mut hashes = Hashes::new(self.algorithm);
        if let Some(mut body) = body {
            while let Some(chunk) = body.next().await {
                let chunk = chunk.map_err(body_error)?;
                hashes.update(&chunk);
                writer.write(&chunk).await.map_err(Failed::from)?;
            }
        }
        let written = writer.finish(hashes).await.map_err(Failed::from)?;
        self.verify(&written)?;
        Ok(written)
    }

    fn verify(self, written: &Written) -> S3Result<()> {
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
        let given = self.value.or_else(|| self.trailers.find(name));
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

impl TrailerSource {
    fn find(&self, name: &str) -> Option<String> {
        let find = |headers: &HeaderMap| Some(headers.get(name)?.to_str().ok()?.trim().to_owned());
        match self {
            Self::Decoded(trailers) => find(&trailers.as_ref()?.0.lock()),
            Self::Verified(trailers) => trailers.read(find).flatten(),
        }
    }
}

/// The S3 error for a body that cannot be read to its end.
fn body_error(error: StdError) -> S3Error {
    let text = error.to_string();
    if error.is::<BodyTimeout>() {
        let message =
            "Your socket connection to the server was not read from or written to within the timeout period.";
        return s3_error!(RequestTimeout, "{message}");
    }
    // The error types are private in s3s; only their texts differ.
    if text.contains("Sha256Mismatch") {
        return s3_error!(
            BadDigest,
            "The provided 'x-amz-content-sha256' header does not match what was computed."
        );
    }
    if text.contains("SignatureMismatch") {
        return s3_error!(SignatureDoesNotMatch, "A chunk of the body does not match its signature.");
    }
    let mut refusal = s3_error!(IncompleteBody, "The request body terminated unexpectedly");
    refusal.set_source(error);
    refusal
}
